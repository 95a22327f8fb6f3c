"""The shapes in the annotations are what the functions take and return."""

import subprocess
import sys
from collections.abc import Callable
from inspect import getmembers, isfunction

import pytest
import torch
from jaxtyping import TypeCheckError
from support.shapes import shape_checked

from rlvr.algorithms import advantages, kl, losses, masking, ratios, shaping

ROWS, WIDTH, VOCABULARY = 3, 5, 7
BT = torch.zeros(ROWS, WIDTH)
BTV = torch.zeros(ROWS, WIDTH, VOCABULARY)
MASK = torch.ones(ROWS, WIDTH, dtype=torch.bool)
SCORES = torch.zeros(ROWS)
INTEGERS = torch.ones(ROWS, dtype=torch.int64)
TOTALS = {"mode": "token_mean", "total_tokens": 1, "total_rows": 1, "constant": 1}

CALLS: dict[Callable, tuple[tuple, dict]] = {
    masking.action_mask: ((INTEGERS, INTEGERS, WIDTH), {}),
    masking.masked_sum: ((BT, MASK), {}),
    masking.masked_mean: ((BT, MASK), {}),
    masking.masked_variance: ((BT, MASK), {}),
    masking.whiten: ((BT, MASK), {"eps": 1e-8}),
    advantages.gae: ((BT, BT, MASK), {"gamma": 1.0, "gae_lambda": SCORES, "bootstrap_values": SCORES}),
    advantages.reward_to_go: ((BT, MASK), {"gamma": 1.0}),
    advantages.length_adaptive_lambda: ((INTEGERS,), {"alpha": 0.05}),
    advantages.group_normalized: ((SCORES, INTEGERS), {}),
    advantages.group_centered: ((SCORES, INTEGERS), {}),
    advantages.leave_one_out: ((SCORES, INTEGERS), {}),
    kl.k1: ((BT, BT), {}),
    kl.k2: ((BT, BT), {}),
    kl.k3: ((BT, BT), {}),
    kl.exact_kl: ((BTV, BTV), {}),
    ratios.log_ratios: ((BT, BT, MASK), {"level": "sequence"}),
    losses.clipped_surrogate: ((BT, BT), {"clip_low": 0.2, "clip_high": 0.2, "dual_clip": 3.0}),
    losses.value_losses: ((BT, BT, BT), {"clip": 0.2}),
    losses.aggregate: ((BT, MASK), TOTALS),
    losses.entropy: ((BTV,), {}),
    losses.explained_variance: ((BT, BT, MASK), {}),
    shaping.terminal_rewards: ((SCORES, MASK), {}),
    shaping.kl_shaped_rewards: ((BT, BT, BT, MASK), {"kl_coef": 0.1}),
}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_arguments_and_results_have_the_annotated_shapes(function: Callable):
    positional, keywords = CALLS[function]
    shape_checked(function)(*positional, **keywords)


several_tensors = [f for f, (positional, _) in CALLS.items() if sum(map(torch.is_tensor, positional)) > 1]


@pytest.mark.parametrize("function", several_tensors, ids=lambda function: function.__name__)
def test_tensors_of_different_sizes_are_refused(function: Callable):
    positional, keywords = CALLS[function]
    with pytest.raises(TypeCheckError):
        shape_checked(function)(positional[0][:1], *positional[1:], **keywords)


def test_a_mask_that_is_not_boolean_is_refused():
    with pytest.raises(TypeCheckError):
        shape_checked(masking.masked_sum)(BT, MASK.float())


def test_every_public_function_that_takes_tensors_is_covered():
    modules = [masking, advantages, kl, ratios, losses, shaping]
    public = {
        function
        for module in modules
        for name, function in getmembers(module, isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    assert public - set(CALLS) == {kl.adaptive_kl_coef}


def test_the_product_imports_without_jaxtyping():
    program = (
        "import sys; sys.modules['jaxtyping'] = None\n"
        "from rlvr.algorithms import advantages, kl, losses, masking, presets, ratios, schedules, shaping"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)

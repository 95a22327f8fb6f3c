import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support import slow_rl

from rlvr.algorithms.kl import adaptive_kl_coef, exact_kl, k1, k2, k3

THETA = [0.2, -0.3, 0.5]
REF = [0.0, 0.4, -0.1]
logit_rows = st.lists(st.floats(-4, 4), min_size=3, max_size=3)


def expected_value_and_gradient(estimator) -> tuple[float, list[float]]:
    """Enumerate the three actions: the value E[k], and the expected gradient of k as a loss at sampled actions."""
    theta = torch.tensor(THETA, dtype=torch.float64, requires_grad=True)
    logprobs = theta.log_softmax(0)
    losses = estimator(logprobs, torch.tensor(REF, dtype=torch.float64).log_softmax(0))
    expectation = (logprobs.exp().detach() * losses).sum()
    (gradient,) = torch.autograd.grad(expectation, theta)
    return expectation.item(), gradient.tolist()


def test_the_exact_kl_and_its_gradient():
    """checklist 10"""
    theta = torch.tensor(THETA, dtype=torch.float64, requires_grad=True)
    kl = exact_kl(theta, torch.tensor(REF, dtype=torch.float64))
    (gradient,) = torch.autograd.grad(kl, theta)
    assert kl.item() == pytest.approx(0.136817, abs=1e-6)
    assert gradient.tolist() == pytest.approx([0.000679, -0.184232, 0.183553], abs=1e-6)


def test_k1_is_unbiased_but_has_no_expected_gradient():
    """checklist 10"""
    value, gradient = expected_value_and_gradient(k1)
    assert value == pytest.approx(0.136817, abs=1e-6)
    assert gradient == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_k2_is_biased_but_has_the_exact_gradient():
    """checklist 10"""
    value, gradient = expected_value_and_gradient(k2)
    assert value == pytest.approx(0.128974, abs=1e-6)
    assert gradient == pytest.approx([0.000679, -0.184232, 0.183553], abs=1e-6)


def test_k3_is_unbiased_but_has_the_gradient_of_the_forward_kl():
    """checklist 10"""
    value, gradient = expected_value_and_gradient(k3)
    assert value == pytest.approx(0.136817, abs=1e-6)
    assert gradient == pytest.approx([0.043844, -0.234044, 0.1902], abs=1e-6)
    theta = torch.tensor(THETA, dtype=torch.float64, requires_grad=True)
    (forward,) = torch.autograd.grad(exact_kl(torch.tensor(REF, dtype=torch.float64), theta), theta)
    assert gradient == pytest.approx(forward.tolist())


@given(logit_rows, logit_rows)
def test_the_estimators_have_the_expectations_of_their_definitions(logits: list[float], ref_logits: list[float]):
    logprobs = torch.tensor(logits, dtype=torch.float64).log_softmax(0)
    ref_logprobs = torch.tensor(ref_logits, dtype=torch.float64).log_softmax(0)
    definitions = {k1: lambda x: x, k2: lambda x: x * x / 2, k3: lambda x: math.exp(-x) - 1 + x}
    for estimator, definition in definitions.items():
        actual = (logprobs.exp() * estimator(logprobs, ref_logprobs)).sum().item()
        assert actual == pytest.approx(slow_rl.expectation(definition, logits, ref_logits), abs=1e-9)


@given(st.lists(logit_rows, min_size=1, max_size=3), logit_rows)
def test_exact_kl_equals_its_sum(rows: list[list[float]], ref_logits: list[float]):
    logits = torch.tensor(rows, dtype=torch.float64)
    actual = exact_kl(logits, torch.tensor(ref_logits, dtype=torch.float64).expand_as(logits))
    assert actual.tolist() == pytest.approx([slow_rl.kl(row, ref_logits) for row in rows], abs=1e-9)


def test_every_divergence_is_zero_when_policy_and_reference_are_equal():
    """checklist 8"""
    logits = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    logprobs = logits.log_softmax(-1)
    for values in (k1(logprobs, logprobs), k2(logprobs, logprobs), k3(logprobs, logprobs), exact_kl(logits, logits)):
        assert (values == 0).all()


def test_k3_of_a_huge_log_ratio_is_finite_and_so_is_its_gradient():
    """checklist 11: clamping after exp gives a NaN gradient at log-ratio -120."""
    logprobs = torch.tensor([-120.0, 0.0], requires_grad=True)
    values = k3(logprobs, torch.tensor([0.0, -120.0]))
    (gradient,) = torch.autograd.grad(values.sum(), logprobs)
    assert values.isfinite().all()
    assert gradient.tolist() == [0.0, 0.0]


def test_k3_is_accurate_for_tiny_log_ratios():
    values = k3(torch.tensor([1e-4, -1e-4]), torch.zeros(2))
    torch.testing.assert_close(values, torch.full((2,), 5e-9), rtol=0.02, atol=0)


def test_exact_kl_is_computed_in_float32_from_bfloat16_logits():
    """checklist 30"""
    logits = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.bfloat16)
    assert exact_kl(logits, logits).dtype == torch.float32


def test_excluded_tokens_add_nothing_to_the_exact_kl_or_its_gradient():
    logits = torch.tensor([0.2, -0.3, float("-inf")], requires_grad=True)
    kl = exact_kl(logits, torch.tensor([0.0, 0.4, float("-inf")]))
    (gradient,) = torch.autograd.grad(kl, logits)
    assert kl.item() == pytest.approx(slow_rl.kl([0.2, -0.3], [0.0, 0.4]), abs=1e-6)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("estimator", [k1, k2, k3, exact_kl])
def test_the_gradients_are_those_of_the_formulas(estimator):
    logprobs, ref_logprobs = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert torch.autograd.gradcheck(estimator, (logprobs.requires_grad_(), ref_logprobs.requires_grad_()))


@pytest.mark.parametrize(("kl", "expected"), [(12.0, 0.100512), (6.0, 0.1), (3.0, 0.099488)])
def test_the_adaptive_coefficient_moves_towards_its_target(kl: float, expected: float):
    """checklist 12"""
    actual = adaptive_kl_coef(0.1, kl_per_sequence=kl, target=6.0, rollouts=256, horizon=10000.0)
    assert actual == pytest.approx(expected, abs=1e-9)

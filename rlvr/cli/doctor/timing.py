"""How long a warm-start step takes, measured on demonstrations without learning from them."""

import time
from collections.abc import Sequence

import torch

from rlvr.algorithms.masking import action_mask
from rlvr.cli.doctor.numerics import few_tokens
from rlvr.models.causal_lm import CausalLM
from rlvr.rollout.prompts import PromptEncoder
from rlvr.training.batches import right_pad
from tasks.types import Problem


def sft_step_s(
    policy: CausalLM, encoder: PromptEncoder, problems: Sequence[Problem], *, stop_id: int, batch_size: int
) -> float:
    """Return the time of one SFT step, scaled up from a few demonstrations.

    Args:
        problems: with demonstrations.
    """
    prompts = encoder.encode(problems[:batch_size])
    responses = encoder.encode_demonstrations([str(p.demonstration) for p in problems[:batch_size]])
    most_tokens = few_tokens(policy)
    rows: list[list[int]] = []
    prompt_lengths: list[int] = []
    tokens = 0
    for prompt, response in zip(prompts, responses, strict=True):
        tokens += len(prompt) + len(response) + 1
        if rows and tokens > most_tokens:
            break
        rows.append([*prompt, *response, stop_id])
        prompt_lengths.append(len(prompt))
    ids, lengths = right_pad(rows, policy.device)
    mask = action_mask(torch.tensor(prompt_lengths, device=policy.device), lengths, ids.shape[1])
    took_s = 0.0
    for _ in range(2):  # the first one is slow: memory is asked for, kernels are chosen
        started = time.perf_counter()
        (-policy.logprobs(ids, mask, temperature=1.0).mean()).backward()
        policy.module.zero_grad(set_to_none=True)
        took_s = time.perf_counter() - started
    return took_s * batch_size / len(rows)

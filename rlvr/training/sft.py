"""The supervised warm start: imitate demonstrations, so that PPO starts from a policy that is sometimes right."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from rlvr.algorithms.masking import action_mask
from rlvr.algorithms.schedules import learning_rate_factor
from rlvr.errors import NonFiniteLossError
from rlvr.models.causal_lm import CausalLM
from rlvr.tracking.metrics import Last, Mean, Metric
from rlvr.training.batches import micro_batches, right_pad


@dataclass(frozen=True, kw_only=True, slots=True)
class Demonstration:
    """A prompt and a response to imitate, as token ids; the response ends with a stop token."""

    prompt_ids: Sequence[int]
    response_ids: Sequence[int]


def warm_start(
    policy: CausalLM,
    next_demonstrations: Callable[[int], Sequence[Demonstration]],
    *,
    steps: int,
    batch_size: int,
    micro_batch_size: int,
    lr: float,
    warmup_steps: int,
    weight_decay: float,
    max_grad_norm: float,
) -> Iterator[list[Metric]]:
    """Train `policy` in place, one step each time the iterator is advanced, and yield the step's metrics.

    The loss is the cross-entropy of response tokens, mean over the batch's tokens; prompts are not learned.

    Args:
        next_demonstrations: gives that many demonstrations.

    Raises:
        NonFiniteLossError: the loss is no longer a number.
    """
    parameters = [p for p in policy.module.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=lr, betas=(0.9, 0.95), weight_decay=weight_decay)
    for step in range(steps):
        start = time.perf_counter()
        factor = learning_rate_factor(
            step, warmup_steps=warmup_steps, total_steps=steps, decay="cosine", final_frac=0.0
        )
        for group in optimizer.param_groups:
            group["lr"] = lr * factor
        demonstrations = next_demonstrations(batch_size)
        tokens, lengths = right_pad([[*d.prompt_ids, *d.response_ids] for d in demonstrations], policy.device)
        prompt_lengths = torch.tensor([len(d.prompt_ids) for d in demonstrations], device=policy.device)
        mask = action_mask(prompt_lengths, lengths, tokens.shape[1])
        total = int(mask.sum())
        loss_sum = 0.0
        for rows, width in micro_batches(torch.arange(len(tokens)), lengths.cpu(), micro_batch_size):
            logprobs = policy.logprobs(tokens[rows, :width], mask[rows, : width - 1], temperature=1.0)
            loss = -logprobs.sum() / total
            loss.backward()
            loss_sum += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(parameters, max_grad_norm).item()
        if not (math.isfinite(loss_sum) and math.isfinite(norm)):
            raise NonFiniteLossError(
                f"SFT step {step + 1}: the loss is {loss_sum}, its gradient norm {norm}; lower sft.lr"
            )
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield [
            Metric("sft/loss", Mean.of(loss_sum)),
            Metric("sft/lr", Last(lr * factor)),
            Metric("sft/grad_norm", Last(norm)),
            Metric("sft/tokens_per_s", Last(total / (time.perf_counter() - start))),
        ]

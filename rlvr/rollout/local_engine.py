"""Sampling with transformers in this process.

One prefill for each prompt, a key-value cache, and a batch that shrinks as responses end.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from rlvr.errors import NonFiniteLossError
from rlvr.models.causal_lm import CausalLM, cast_weights
from rlvr.rollout.types import Finish, Response, Sampling

COMPACT_WHEN_ENDED = 0.1
"""Ended rows are dropped from the batch once they are this share of it; dropping copies the cache."""


class LocalEngine:
    """A RolloutEngine over a policy in this process.

    Args:
        policy: sampled from in place; a policy with autocast is copied in the autocast dtype instead, which spares a
            cast for every token (the sampler's log-probabilities then differ from the trainer's by rounding, see the
            metric rollout/logprob_gap).
        tokenizer: decodes responses.
        stop_ids: tokens that end a response.
        batch_size: responses in flight at a time; 0 means all.
    """

    def __init__(self, policy: CausalLM, tokenizer: Any, *, stop_ids: Sequence[int], batch_size: int = 0) -> None:
        self._tokenizer = tokenizer
        self._stop_ids = torch.tensor(list(stop_ids), device=policy.device)
        self._batch_size = batch_size
        self._takes_positions = "position_ids" in inspect.signature(policy.module.forward).parameters
        self._copy: Any = None
        self._module: Any = None
        self.update_weights(policy)

    def update_weights(self, policy: CausalLM) -> None:
        """Sample from these weights from now on."""
        if policy.autocast is None:
            self._module = policy.module
            return
        if self._copy is None:
            with torch.random.fork_rng(devices=[]):  # its random weights are replaced at once
                self._copy = type(policy.module)(policy.module.config).eval()
            cast_weights(self._copy, policy.autocast)
            self._copy.to(policy.device)
        self._copy.load_state_dict(policy.module.state_dict())
        self._module = self._copy

    def generate(self, prompts: Sequence[Sequence[int]], sampling: Sampling, *, seed: int) -> list[Response]:
        """Return `samples_per_prompt` responses for each prompt, those of one prompt side by side."""
        generator = torch.Generator(device=self._stop_ids.device).manual_seed(seed)
        prompts_at_once = max(1, self._batch_size // sampling.samples_per_prompt) if self._batch_size else len(prompts)
        responses: list[Response] = []
        for start in range(0, len(prompts), max(1, prompts_at_once)):
            responses += self._generate_batch(prompts[start : start + prompts_at_once], sampling, generator)
        return responses

    @torch.inference_mode()
    def _generate_batch(
        self, prompts: Sequence[Sequence[int]], sampling: Sampling, generator: torch.Generator
    ) -> list[Response]:
        device = self._stop_ids.device
        samples = sampling.samples_per_prompt
        logits, cache, attention = self._prefill(prompts, sampling.max_new_tokens)
        if samples > 1:
            cache.batch_repeat_interleave(samples)
            logits = logits.repeat_interleave(samples, dim=0)
            attention = attention.repeat_interleave(samples, dim=0)
        width = attention.shape[1] - sampling.max_new_tokens
        total = len(prompts) * samples
        tokens = torch.zeros(total, sampling.max_new_tokens, dtype=torch.long, device=device)
        logprobs = torch.zeros(total, sampling.max_new_tokens, dtype=torch.float32, device=device)
        lengths = torch.full((total,), sampling.max_new_tokens, device=device)
        stopped = torch.zeros(total, dtype=torch.bool, device=device)
        rows = torch.arange(total, device=device)  # where each row of the shrinking batch belongs
        positions = attention[:, :width].sum(dim=1, keepdim=True)

        for step in range(sampling.max_new_tokens):
            chosen, chosen_logprobs = _draw(logits, sampling, generator)
            tokens[rows, step] = chosen
            logprobs[rows, step] = chosen_logprobs
            ended = torch.isin(chosen, self._stop_ids) & ~stopped[rows]
            lengths[rows[ended]] = step + 1
            stopped[rows[ended]] = True
            running = ~stopped[rows]
            remaining = int(running.sum())
            if remaining == 0 or step + 1 == sampling.max_new_tokens:
                break
            if remaining <= len(rows) * (1 - COMPACT_WHEN_ENDED):
                keep = running.nonzero()[:, 0]
                cache.batch_select_indices(keep)
                rows, chosen = rows[keep], chosen[keep]
                attention, positions = attention[keep], positions[keep]
            logits = self._module(
                input_ids=chosen[:, None],
                attention_mask=attention[:, : width + step + 1],
                cache=cache,
                use_cache=True,
                **self._position_ids(positions),
            ).logits[:, -1]
            positions = positions + 1
        return self._responses(prompts, samples, tokens, logprobs, lengths, stopped)

    def _prefill(self, prompts: Sequence[Sequence[int]], room: int) -> tuple[torch.Tensor, Any, torch.Tensor]:
        """Run the left-padded prompts; return the next logits [B V], the cache, and the attention mask [B P + room]."""
        width = max(len(prompt) for prompt in prompts)
        ids = torch.zeros(len(prompts), width, dtype=torch.long)
        attention = torch.ones(len(prompts), width + room, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt) :] = torch.tensor(prompt)
            attention[row, : width - len(prompt)] = 0
        ids, attention = ids.to(self._stop_ids.device), attention.to(self._stop_ids.device)
        prompt_mask = attention[:, :width]
        output = self._module(
            input_ids=ids,
            attention_mask=prompt_mask,
            use_cache=True,
            logits_to_keep=1,
            **self._position_ids((prompt_mask.cumsum(dim=1) - 1).clamp(min=0)),
        )
        logits = output.logits[:, -1]
        if not torch.isfinite(logits).all():
            raise NonFiniteLossError(
                "the policy's logits are no longer finite numbers, so nothing can be sampled; lower optimizer.lr"
            )
        return logits, output.cache, attention

    def _position_ids(self, positions: torch.Tensor) -> dict[str, torch.Tensor]:
        # Without them, absolute positions would count the left padding. Models with ALiBi or state spaces take none.
        return {"position_ids": positions} if self._takes_positions else {}

    def _responses(
        self,
        prompts: Sequence[Sequence[int]],
        samples: int,
        tokens: torch.Tensor,
        logprobs: torch.Tensor,
        lengths: torch.Tensor,
        stopped: torch.Tensor,
    ) -> list[Response]:
        token_rows, logprob_rows = tokens.tolist(), logprobs.tolist()
        cut = [row[:length] for row, length in zip(token_rows, lengths.tolist(), strict=True)]
        texts = self._tokenizer.batch_decode(cut, skip_special_tokens=True)
        prompt_ids = [tuple(prompt) for prompt in prompts]
        return [
            Response(
                prompt_ids=prompt_ids[row // samples],
                token_ids=tuple(ids),
                logprobs=tuple(logprob_rows[row][: len(ids)]),
                mask=(True,) * len(ids),
                text=texts[row],
                finish=Finish.STOP if ended else Finish.LENGTH,
            )
            for row, (ids, ended) in enumerate(zip(cut, stopped.tolist(), strict=True))
        ]


def _draw(logits: torch.Tensor, sampling: Sampling, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw one token for each row of `logits` [B V]; return ids [B] and their full-softmax log-probabilities [B]."""
    logits = logits.float()
    if sampling.temperature == 0.0:
        chosen = logits.argmax(dim=-1)
        return chosen, torch.log_softmax(logits, dim=-1).gather(-1, chosen[:, None])[:, 0]
    logprobs = torch.log_softmax(logits / sampling.temperature, dim=-1)
    allowed = logprobs
    if sampling.top_k:
        kth = logprobs.topk(min(sampling.top_k, logprobs.shape[-1]), dim=-1).values[:, -1:]
        allowed = allowed.masked_fill(logprobs < kth, -torch.inf)
    if sampling.top_p < 1.0:
        ordered, order = allowed.softmax(dim=-1).sort(dim=-1, descending=True)
        # A token stays while the mass before it is below top_p, so the likeliest always does.
        outside = ordered.cumsum(dim=-1) - ordered >= sampling.top_p
        allowed = allowed.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -torch.inf)
    chosen = torch.multinomial(allowed.exp(), 1, generator=generator)
    return chosen[:, 0], logprobs.gather(-1, chosen)[:, 0]

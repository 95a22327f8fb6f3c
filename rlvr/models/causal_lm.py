"""A transformers causal language model as a policy over right-padded batches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from rlvr.errors import ModelError
from rlvr.models.logprobs import token_statistics


def cast_weights(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """Store the weights of `module` in `dtype`, in place.

    Buffers stay as they are, unlike in module.to(dtype): rotary frequencies rounded to 16 bits turn far positions by
    whole radians, and from_pretrained keeps them in float32.
    """
    for parameter in module.parameters():
        parameter.data = parameter.data.to(dtype)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrunkOutput:
    """One forward pass, before the logits: those are made only where they are wanted."""

    hidden: torch.Tensor
    """[B L H] the last hidden states, after the final norm."""
    logits_at: Callable[[torch.Tensor], torch.Tensor]
    """Maps flat positions [N] into B * L to logits [N V], float32, before the temperature."""


class CausalLM:
    """Wraps any decoder-only AutoModelForCausalLM for log-probabilities with gradients.

    Dropout is off for good (the module stays in eval mode, which does not stop gradients), so that the policy that is
    trained is the one that sampled. Batches are right-padded: under causal attention no real token sees the padding, so
    neither an attention mask nor shifted position ids are needed, for rotary and absolute positions alike.

    Args:
        module: the transformers model.
        autocast: dtype of the matrix products over wider weights, None for the weights' own.
    """

    def __init__(self, module: Any, *, autocast: torch.dtype | None = None) -> None:
        self.module = module.eval()
        self.autocast = autocast
        self.hidden_size = int(module.get_output_embeddings().weight.shape[1])
        self.vocabulary_size = int(module.get_output_embeddings().weight.shape[0])
        self._splits = self._trunk_and_head_make_the_logits()

    @property
    def device(self) -> torch.device:
        return self.module.device

    @property
    def compute_dtype(self) -> torch.dtype:
        """Type in which the matrix products run."""
        return self.autocast or self.module.dtype

    def precision(self) -> torch.autocast:
        """Return the context in which forwards run."""
        return torch.autocast(self.device.type, dtype=self.autocast, enabled=self.autocast is not None)

    @torch.no_grad()
    def _trunk_and_head_make_the_logits(self) -> bool:
        # Some architectures scale or cap logits after the head (Gemma 2, Cohere, Granite). Asking is safer than a list.
        # A cap does next to nothing to an untrained model's small logits: the head is made to answer large ones.
        tokens = torch.arange(2, 8, device=self.device).remainder(self.vocabulary_size)[None]
        if not torch.isfinite(self.module(input_ids=tokens, use_cache=False).logits).all():
            raise ModelError("the model's logits are not finite on a six-token input; its weights are damaged")
        trunk = self.module.base_model(input_ids=tokens, use_cache=False).last_hidden_state
        calls: list[tuple[torch.Tensor, torch.Tensor]] = []

        def answer_large(_head: Any, inputs: tuple[torch.Tensor, ...], answer: torch.Tensor) -> torch.Tensor:
            large = torch.linspace(-1e3, 1e3, answer.numel(), device=answer.device).view_as(answer).to(answer.dtype)
            calls.append((inputs[0], large))
            return large

        hook = self.module.get_output_embeddings().register_forward_hook(answer_large)
        try:
            whole = self.module(input_ids=tokens, use_cache=False).logits
        finally:
            hook.remove()
        if len(calls) != 1 or calls[0][0].shape != trunk.shape:
            return False
        read, answered = calls[0]
        return torch.allclose(read, trunk, rtol=1e-3, atol=1e-3) and torch.equal(answered.float(), whole.float())

    def forward(self, tokens: torch.Tensor) -> TrunkOutput:
        """Run the model over right-padded `tokens` [B L]."""
        with self.precision():
            if self._splits:
                hidden = self.module.base_model(input_ids=tokens, use_cache=False).last_hidden_state
                flat = hidden.flatten(0, 1)
                head = self.module.get_output_embeddings()

                def logits_at(positions: torch.Tensor) -> torch.Tensor:
                    with self.precision():
                        return head(flat[positions]).float()
            else:
                whole = self.module(input_ids=tokens, use_cache=False, output_hidden_states=True)
                hidden = whole.hidden_states[-1]
                flat_logits = whole.logits.flatten(0, 1)

                def logits_at(positions: torch.Tensor) -> torch.Tensor:
                    return flat_logits[positions].float()

        return TrunkOutput(hidden=hidden.float(), logits_at=logits_at)

    def logprobs(self, tokens: torch.Tensor, mask: torch.Tensor, *, temperature: float) -> torch.Tensor:
        """Return log pi(tokens[t + 1] | tokens[: t + 1]) in nats as float32 [B T]; zero where `mask` [B T] is False."""
        return token_statistics(self.forward(tokens), tokens, mask, temperature=temperature).logprobs

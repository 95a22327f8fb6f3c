"""Tiny random models of several architectures, for tests that must hold on every decoder."""

from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    OPTConfig,
    PreTrainedConfig,
)

from rlvr.models.causal_lm import CausalLM

VOCABULARY = 41

# Weights are drawn wide (0.02 is usual), so that positions and earlier tokens move the log-probabilities by whole nats.
_SPREAD: dict[str, Any] = {"initializer_range": 0.3}
_IDS: dict[str, Any] = {"vocab_size": VOCABULARY, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
_CONFIGS: dict[str, PreTrainedConfig] = {
    "llama": LlamaConfig(
        **_IDS, **_SPREAD, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64,
    ),
    "gpt2": GPT2Config(**_IDS, **_SPREAD, n_embd=16, n_layer=2, n_head=2, n_positions=64),
    "gpt_neox": GPTNeoXConfig(
        **_IDS, **_SPREAD, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=64,
    ),
    "opt": OPTConfig(
        **_IDS, init_std=0.3, hidden_size=16, word_embed_proj_dim=8, ffn_dim=24, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=64,
    ),
    "gemma2": Gemma2Config(
        **_IDS, **_SPREAD, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=8, query_pre_attn_scalar=8, sliding_window=6, final_logit_softcapping=2.0,
        max_position_embeddings=64,
    ),
    "bloom": BloomConfig(**_IDS, **_SPREAD, hidden_size=16, n_layer=2, n_head=2),
}  # fmt: skip
ARCHITECTURES = tuple(_CONFIGS)
"""Rotary, absolute, partly rotary, projected, capped logits with a sliding window, ALiBi without position ids."""


def tiny_module(architecture: str = "llama", *, seed: int = 0, **changes: Any) -> Any:
    """Return a transformers model of one of ARCHITECTURES, in training mode as its class leaves it.

    Args:
        changes: of its configuration.
    """
    config = type(_CONFIGS[architecture])(**(_CONFIGS[architecture].to_dict() | changes))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AutoModelForCausalLM.from_config(config)


def tiny_policy(architecture: str = "llama", *, seed: int = 0, autocast: torch.dtype | None = None) -> CausalLM:
    """Return the same as a policy."""
    return CausalLM(tiny_module(architecture, seed=seed), autocast=autocast)


def random_tokens(rows: int, width: int, *, seed: int = 0) -> torch.Tensor:
    """Return [rows width] ids of ordinary tokens."""
    return torch.randint(2, VOCABULARY, (rows, width), generator=torch.Generator().manual_seed(seed))


class IdTokenizer:
    """Writes token ids as numbers: "3 17 1". Enough for what only decodes."""

    def batch_decode(self, rows: list[list[int]], *, skip_special_tokens: bool) -> list[str]:
        """Return one text per row of ids."""
        assert skip_special_tokens
        return [" ".join(map(str, row)) for row in rows]


def gradients(policy: CausalLM) -> torch.Tensor:
    """Return the gradients of all weights as one vector, zeros where there are none."""
    return torch.cat(
        [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in policy.module.parameters()]
    )

"""The sizes of a loaded model that its memory depends on."""

from typing import Any

from rlvr.cli.doctor.memory import Shape
from rlvr.models.causal_lm import CausalLM

_AFTER_THE_HEAD = ("final_logit_softcapping", "logit_scale", "logits_scaling")
"""What some architectures do to their logits, which are then made all at once."""


def shape_of(policy: CausalLM) -> Shape:
    """Read the sizes off a model and its configuration."""
    module: Any = policy.module
    config = module.config.get_text_config()
    hidden = policy.hidden_size
    heads = getattr(config, "num_attention_heads", None) or 1
    head_dim = getattr(config, "head_dim", None) or hidden // heads
    parameters = sum(parameter.numel() for parameter in module.parameters())
    weight_bytes = next(module.parameters()).element_size()
    return Shape(
        parameters=parameters,
        weight_bytes=weight_bytes,
        compute_bytes=policy.compute_dtype.itemsize,
        vocabulary=policy.vocabulary_size,
        layers=getattr(config, "num_hidden_layers", None) or 1,
        hidden=hidden,
        intermediate=getattr(config, "intermediate_size", None) or 4 * hidden,
        key_value=(getattr(config, "num_key_value_heads", None) or heads) * head_dim,
        splits_logits=not any(getattr(config, key, None) for key in _AFTER_THE_HEAD),
    )

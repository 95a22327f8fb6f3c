"""How much memory a run will hold at once: an estimate, in parts that name the key which makes them smaller."""

from collections.abc import Mapping
from dataclasses import dataclass

from rlvr.models.logprobs import CHUNK_LOGITS

_FLOAT_BYTES = 4
_LOGIT_COPIES = 4
"""Logits, their softmax, what the entropy keeps, and the gradient."""
_ACTIVATIONS_PER_HIDDEN = 14
"""Tensors as wide as the hidden state that a layer keeps for its backward: norms, q, k, v, attention, residuals."""
_ACTIVATIONS_PER_INTERMEDIATE = 4
_PROCESS_BYTES = 700_000_000
"""Python, torch and transformers before a model is loaded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The sizes of a model."""

    parameters: int
    weight_bytes: int
    """Of one weight."""
    compute_bytes: int
    """Of one number in the matrix products."""
    vocabulary: int
    layers: int
    hidden: int
    intermediate: int
    key_value: int
    """Numbers that one token adds to a layer's keys, and as many to its values."""
    splits_logits: bool
    """Whether logits are made in chunks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What the configuration asks of it, in rows and tokens."""

    sampled_rows: int
    """Responses in flight."""
    prompt_tokens: int
    """The longest prompt."""
    response_tokens: int
    """The longest response."""
    trained_rows: int
    """Of the largest forward and backward."""
    critic_parameters: int
    sampler_copies_weights: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Memory for one purpose."""

    bytes: float
    key: str
    """The configuration key that makes it smaller, with how."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryEstimate:
    """The most that is held at once."""

    parts: Mapping[str, Part]
    """Of the larger of the two phases, sampling and update."""
    phase: str

    @property
    def bytes(self) -> float:
        return sum(part.bytes for part in self.parts.values())

    @property
    def largest(self) -> tuple[str, Part]:
        return max(((name, part) for name, part in self.parts.items() if part.key), key=lambda named: named[1].bytes)


def estimate_memory(shape: Shape, load: Load) -> MemoryEstimate:
    """Add up what a step holds while it samples and while it updates, and return the larger."""
    weights = shape.parameters * shape.weight_bytes
    critic = load.critic_parameters * shape.weight_bytes
    smaller_model = "a smaller model"
    held = {
        "Python and torch": Part(bytes=_PROCESS_BYTES, key=""),
        "policy weights": Part(bytes=weights, key=smaller_model),
        "reference weights": Part(bytes=weights, key=smaller_model),
        "AdamW's two moments": Part(bytes=2 * (weights + critic), key=smaller_model),
        "critic": Part(bytes=critic, key='critic.kind = "shared"'),
        "sampler's copy of the weights": Part(
            bytes=shape.parameters * shape.compute_bytes if load.sampler_copies_weights else 0, key="model.autocast"
        ),
    }
    width = load.prompt_tokens + load.response_tokens
    cache = load.sampled_rows * width * shape.layers * 2 * shape.key_value * shape.compute_bytes
    batch_key = "a lower rollout.batch_size"
    sampling = held | {
        # Dropping ended rows copies a layer's cache at a time, growing it too.
        "key-value cache": Part(bytes=cache * (1 + 2 / max(1, shape.layers)), key=batch_key),
        "sampler's logits": Part(bytes=3 * load.sampled_rows * shape.vocabulary * _FLOAT_BYTES, key=batch_key),
    }
    tokens = load.trained_rows * width
    per_token = _ACTIVATIONS_PER_HIDDEN * shape.hidden + _ACTIVATIONS_PER_INTERMEDIATE * shape.intermediate
    # Under autocast many tensors are kept in both types.
    mixed = shape.compute_bytes != shape.weight_bytes
    activation_bytes = shape.compute_bytes + (shape.weight_bytes if mixed else 0)
    logits = load.trained_rows * load.response_tokens * shape.vocabulary
    if shape.splits_logits:
        logits = min(logits, max(CHUNK_LOGITS, shape.vocabulary))
    else:
        logits = tokens * shape.vocabulary
    micro_key = "a lower algorithm.micro_batch_size (and sft.micro_batch_size)"
    update = held | {
        "gradients": Part(bytes=weights + critic, key=smaller_model),
        "activations": Part(bytes=tokens * shape.layers * per_token * activation_bytes, key=micro_key),
        "logits": Part(bytes=_LOGIT_COPIES * logits * _FLOAT_BYTES, key=micro_key),
    }
    phases = [MemoryEstimate(parts=sampling, phase="sampling"), MemoryEstimate(parts=update, phase="updating")]
    return max(phases, key=lambda phase: phase.bytes)

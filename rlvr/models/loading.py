"""Policies from a folder, a GGUF file, a hub name, or built here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from rlvr.errors import ModelError
from rlvr.models.causal_lm import CausalLM, cast_weights
from rlvr.models.tiny import tiny_model, tiny_tokenizer


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedModel:
    """A policy with what turns text into its tokens and back."""

    policy: CausalLM
    tokenizer: PreTrainedTokenizerBase
    stop_ids: tuple[int, ...]
    """Tokens that end a response."""
    stop_id: int
    """The one of them that demonstrations end with: the tokenizer's EOS where it has one."""
    context_length: int
    """Longest prompt plus response, in tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TinyShape:
    """Size of the model that `name = "tiny"` builds."""

    hidden: int = 160
    layers: int = 4
    heads: int = 4


def load_model(
    name: str,
    *,
    dtype: torch.dtype = torch.float32,
    autocast: torch.dtype | None = None,
    device: str = "cpu",
    tiny: TinyShape | None = None,
    seed: int = 0,
) -> LoadedModel:
    """Load the policy `name`: "tiny", a Hugging Face folder, a .gguf file, or a hub name.

    Args:
        dtype: of the weights.
        autocast: of the matrix products, None for the weights' own.
        tiny: the size of the tiny model.
        seed: of the tiny model's weights.

    Raises:
        ModelError: nothing there, a format that cannot be read, or no EOS token.
    """
    transformers_logging.disable_progress_bar()  # on saving, too
    if name == "tiny":
        shape = tiny or TinyShape()
        tokenizer: Any = tiny_tokenizer()
        module: Any = tiny_model(tokenizer, hidden=shape.hidden, layers=shape.layers, heads=shape.heads, seed=seed)
        cast_weights(module, dtype)
    else:
        module, tokenizer = _load(name, dtype)
    stop_ids = _stop_ids(module, tokenizer)
    if not stop_ids:
        raise ModelError(
            f"model.name: {name!r} has no EOS token, in neither its tokenizer nor its generation config; "
            "without one a response can never end. Set eos_token in its tokenizer_config.json"
        )
    policy = CausalLM(module.to(device), autocast=autocast)
    return LoadedModel(
        policy=policy,
        tokenizer=tokenizer,
        stop_ids=stop_ids,
        stop_id=tokenizer.eos_token_id if isinstance(tokenizer.eos_token_id, int) else stop_ids[0],
        context_length=_context_length(module.config),
    )


def _load(name: str, dtype: torch.dtype) -> tuple[Any, Any]:
    path = Path(name).expanduser()
    looks_local = path.exists() or name.startswith((".", "/", "~")) or path.suffix == ".gguf"
    if looks_local and not path.exists():
        raise ModelError(f"model.name: no file or folder {name!r}")
    if path.is_dir() and not (path / "config.json").exists():
        raise ModelError(f"model.name: the folder {name!r} has no config.json; give a Hugging Face model folder")
    source = str(path) if looks_local else name
    gguf: dict[str, str] = {}
    if path.suffix == ".gguf":
        source, gguf = str(path.parent), {"gguf_file": path.name}
    part = "model"
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            source, dtype=dtype, ignore_mismatched_sizes=True, output_loading_info=True, **gguf
        )
        module, found = loaded
        part = "tokenizer"
        tokenizer = AutoTokenizer.from_pretrained(source, **gguf)
    except ImportError as error:
        raise ModelError(
            f"model.name: {name!r} needs another package: {error}; for GGUF files, pip install 'rlvr[gguf]'"
        ) from error
    except (OSError, ValueError, SafetensorError) as error:
        first_line = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(" :")
        raise ModelError(f"model.name: the {part} of {name!r} cannot be loaded: {first_line}") from error
    _check_weights(name, found)
    if gguf:
        _forget_quantization(module)
    return module, tokenizer


def _check_weights(name: str, found: Any) -> None:
    # What is missing or of another shape would be drawn at random, with no more than a warning.
    absent = sorted(found["missing_keys"]) + sorted(key for key, *_ in found["mismatched_keys"])
    if absent:
        raise ModelError(
            f"model.name: the weights of {name!r} do not fit its config.json: {len(absent)} are missing or of another "
            f"shape, for instance {absent[0]}; give a complete checkpoint of a causal language model"
        )


def _forget_quantization(module: Any) -> None:
    # The weights were widened on loading, but transformers takes the model for a quantised one and will not save it.
    if hasattr(module.config, "quantization_config"):
        del module.config.quantization_config
    module.hf_quantizer = None
    module.is_quantized = False


def _stop_ids(module: Any, tokenizer: Any) -> tuple[int, ...]:
    generation = getattr(module, "generation_config", None)
    found: set[int] = set()
    for value in (tokenizer.eos_token_id, getattr(generation, "eos_token_id", None)):
        if isinstance(value, int):
            found.add(value)
        elif value is not None:
            found.update(value)
    return tuple(sorted(found))


def _context_length(config: AutoConfig) -> int:
    for key in ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"):
        value = getattr(config, key, None)
        if isinstance(value, int) and value > 0:
            return value
    return 2**20

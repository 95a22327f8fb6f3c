"""Whether two names stand for the same model, told from files, before any weights are loaded."""

import hashlib
import re
from pathlib import Path

from huggingface_hub import try_to_load_from_cache
from transformers.utils.hub import cached_file

_PARTS = frozenset({".safetensors", ".bin", ".json", ".model", ".jinja", ".txt", ".tiktoken"})
"""Kinds of files in a model folder that decide what the model answers: weights, configuration, tokenizer."""


def model_digest(name: str) -> str | None:
    """Return a digest of a model folder, a .gguf file or a hub name; equal digests mean equal answers.

    It is the SHA-256 of the files' names and bytes, or for a hub name the commit that it stands for now, which may ask
    the hub. None where files cannot tell: the model "tiny", names that nothing is found under, and hub names that were
    never loaded here (ask again once they are).
    """
    path = Path(name).expanduser()
    if path.is_file():
        return f"file:{_sha256([path])}"
    if path.is_dir():
        return f"files:{_sha256(sorted(part for part in path.iterdir() if _is_part(part)))}"
    return None if name == "tiny" else _hub_commit(name)


def _is_part(path: Path) -> bool:
    return path.is_file() and path.suffix in _PARTS and not path.name.startswith(".")


def _sha256(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def _hub_commit(name: str) -> str | None:
    if name.startswith(".") or not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name, re.ASCII):
        return None
    if not isinstance(try_to_load_from_cache(name, "config.json"), str):
        return None
    try:
        config = cached_file(name, "config.json")
    except (OSError, ValueError):
        return None  # loading it will say what is wrong
    commit = Path(config).parent.name if config else ""
    return f"commit:{commit}" if re.fullmatch(r"[0-9a-f]{40}", commit) else None

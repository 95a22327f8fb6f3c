"""Checkpoints that are whole or absent: a Hugging Face policy beside all else the next step depends on.

checkpoints/step_000040/
    policy/              config, weights, tokenizer: loads with AutoModelForCausalLM
    critic.safetensors   head, and backbone where it has one
    trainer.pt           step, optimizer, sampler position, KL coefficient, generators
"""

import os
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from rlvr.errors import CheckpointError
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.tracking.atomic import fsync_path, fsync_tree
from rlvr.tracking.run_folder import complete_checkpoints


def save_policy(directory: Path, policy: CausalLM, tokenizer: Any) -> None:
    """Write a policy and its tokenizer as a Hugging Face folder."""
    policy.module.save_pretrained(directory)
    tokenizer.save_pretrained(directory)


def save_reference(directory: Path, policy: CausalLM, tokenizer: Any) -> None:
    """Write the SFT policy where a resumed run finds its reference, whole or not at all."""
    with _Staged(directory) as staged:
        save_policy(staged, policy, tokenizer)


def save_checkpoint(
    directory: Path, name: str, *, actor_critic: ActorCritic, tokenizer: Any, state: Mapping[str, Any], keep: int = 0
) -> Path:
    """Write a checkpoint and return its folder. An earlier one of the same name is left as it is: it holds the same.

    Args:
        state: of the trainer and the run; plain values and tensors.
        keep: afterwards delete all but this many of the latest; 0 keeps all.
    """
    target = directory / name
    if not target.exists():
        with _Staged(target) as staged:
            save_policy(staged / "policy", actor_critic.policy, tokenizer)
            if actor_critic.critic is not None:
                save_file(_critic_tensors(actor_critic), staged / "critic.safetensors")
            torch.save({**state, "generators": _generators()}, staged / "trainer.pt")
    for old in complete_checkpoints(directory)[:-keep] if keep else []:
        # Renamed first: a folder that a kill left half deleted must not look like a checkpoint.
        leaving = old.with_name(f".{old.name}.deleting")
        old.rename(leaving)
        shutil.rmtree(leaving)
    return target


def sweep_leftovers(directory: Path) -> None:
    """Remove what a killed run left of checkpoints that it was writing or deleting."""
    for path in directory.glob(".step_*"):
        shutil.rmtree(path)


def load_checkpoint(path: Path, actor_critic: ActorCritic) -> dict[str, Any]:
    """Load the critic in place and return the state that was saved; the process's generators are set as they were.

    The policy is an ordinary model folder, `path / "policy"`, and was loaded as one.

    Raises:
        CheckpointError: a part is missing or damaged, or belongs to another critic.
    """
    try:
        state = torch.load(path / "trainer.pt", weights_only=True)
        saved = load_file(path / "critic.safetensors") if actor_critic.critic is not None else {}
    except (OSError, EOFError, RuntimeError, UnpicklingError, SafetensorError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise CheckpointError(
            f"{path} cannot be read: {reason}; delete it to go on from the checkpoint before it, or start a new run"
        ) from error
    for name, tensor in _critic_tensors(actor_critic).items():
        if name not in saved or saved[name].shape != tensor.shape:
            raise CheckpointError(f"{path}/critic.safetensors is of another critic: it has no {name!r} of this shape")
        tensor.copy_(saved[name])
    _restore_generators(state.pop("generators"))
    return state


def _critic_tensors(actor_critic: ActorCritic) -> dict[str, torch.Tensor]:
    critic = actor_critic.critic
    if critic is None:
        return {}
    tensors = {f"head.{name}": tensor for name, tensor in critic.head.state_dict().items()}
    if critic.backbone is not None:
        trunk = critic.backbone.module.base_model
        tensors |= {f"backbone.{name}": tensor for name, tensor in trunk.state_dict().items()}
    return tensors


def _generators() -> dict[str, Any]:
    # Ours derive every seed from the step; these are the process-wide ones that a plug-in may draw from.
    version, keys, gauss = random.getstate()
    numpy_state = numpy.random.get_state(legacy=False)
    assert isinstance(numpy_state, dict)
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "python": [version, list(keys), gauss],
        "numpy": {**numpy_state, "state": {**numpy_state["state"], "key": numpy_state["state"]["key"].tolist()}},
    }


def _restore_generators(generators: Mapping[str, Any]) -> None:
    torch.set_rng_state(generators["torch"])
    if torch.cuda.is_available():
        torch.cuda.set_rng_state_all(generators["cuda"])
    version, keys, gauss = generators["python"]
    random.setstate((version, tuple(keys), gauss))
    state = generators["numpy"]
    key = numpy.asarray(state["state"]["key"], dtype=numpy.uint32)
    numpy.random.set_state({**state, "state": {**state["state"], "key": key}})


class _Staged:
    """A folder that is filled beside its place and put there in one rename, on disk before it shows."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._staging = target.with_name(f".{target.name}.writing")

    def __enter__(self) -> Path:
        shutil.rmtree(self._staging, ignore_errors=True)  # left by a run that was killed while saving
        self._staging.mkdir(parents=True)
        return self._staging

    def __exit__(self, exception_type: object, *_: object) -> None:
        if exception_type is not None:
            shutil.rmtree(self._staging, ignore_errors=True)
            return
        fsync_tree(self._staging)
        os.rename(self._staging, self._target)
        fsync_path(self._target.parent)

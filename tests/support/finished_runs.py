"""What two runs must have in common to be the same run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

RUN = (
    "run.steps=8", "rollout.max_new_tokens=24", "reward.no_answer=-0.5", "algorithm.kl_coef=0.05",
    'algorithm.kl_control="adaptive"', "algorithm.kl_target=0.1", "algorithm.kl_horizon=100",
)  # fmt: skip
"""Overrides, on top of TINY, under which all that a checkpoint must hold moves: policy, critic, KL coefficient."""

SLOW_VERIFIER = """
import time

from verifiers import load_verifier, register_verifier


@register_verifier("slow_numeric")
class SlowNumeric:
    def __init__(self):
        self._numeric = load_verifier("numeric")

    def verify(self, problem, response):
        time.sleep(0.03)
        return self._numeric.verify(problem, response)
"""
"""A plug-in whose verdicts are the numeric verifier's, late: it leaves time to hit a run in the middle."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def without_times(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of metrics or of an evaluation without what the clock says."""
    return {
        name: value
        for name, value in record.items()
        if not (name.startswith("time/") or name.endswith("_per_s") or name == "wall_s")
    }


def assert_same_run(found: Path, expected: Path) -> None:
    """Compare two finished run folders: weights, critic, trainer state, metrics and rollouts, bit for bit."""
    for name in ("metrics.jsonl", "evaluations.jsonl", "sft.jsonl"):
        assert [without_times(line) for line in lines(found / name)] == [
            without_times(line) for line in lines(expected / name)
        ], name
    for folder in ("rollouts", "responses", "probes"):
        names = sorted(path.name for path in (expected / folder).iterdir())
        assert sorted(path.name for path in (found / folder).iterdir()) == names
        for name in names:
            assert (found / folder / name).read_bytes() == (expected / folder / name).read_bytes(), name
    last = sorted(path.name for path in (expected / "checkpoints").iterdir())[-1]
    assert sorted(path.name for path in (found / "checkpoints").iterdir())[-1] == last
    for name in ("checkpoints/{}/policy/model.safetensors", "checkpoints/{}/critic.safetensors"):
        assert (found / name.format(last)).read_bytes() == (expected / name.format(last)).read_bytes(), name
    assert (found / "reference/model.safetensors").read_bytes() == (
        expected / "reference/model.safetensors"
    ).read_bytes()
    states = [torch.load(run / "checkpoints" / last / "trainer.pt", weights_only=True) for run in (found, expected)]
    for part in ("trainer", "generators"):
        _assert_equal(states[0][part], states[1][part], part)


def _assert_equal(found: Any, expected: Any, place: str) -> None:
    if isinstance(expected, torch.Tensor):
        assert torch.equal(found, expected), place
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), place
        for key, value in expected.items():
            _assert_equal(found[key], value, f"{place}/{key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), place
        for index, (one, other) in enumerate(zip(found, expected, strict=True)):
            _assert_equal(one, other, f"{place}/{index}")
    else:
        assert found == expected, place

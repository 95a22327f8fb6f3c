"""The audit of a run's verifier and of its held-out problems: made once, kept in its folder, told on its card."""

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlvr.config.models import Config
from rlvr.evaluation.contamination import contamination
from rlvr.evaluation.intervals import wilson
from rlvr.seeding import derive_seed
from rlvr.tracking.atomic import atomic_write
from rlvr.tracking.jsonl import to_json
from rlvr.tracking.progress import progress
from rlvr.tracking.run_folder import RunFolder
from sandbox.errors import SandboxError
from tasks.errors import TaskError
from tasks.types import Problem
from verifiers.attacks import Expected
from verifiers.audit import AuditReport, audit
from verifiers.errors import VerifierError
from verifiers.extract import UnknownAnswerFormatError
from verifiers.recipe import VerifierRecipe

WITHIN_S = 60.0
"""An audit takes no longer, the start of a process left out: verifiers that run programs may need seconds a call."""

_EXAMPLES = 3
_TEXT_KEPT = 200
_RATES = {"false_positive_rate": Expected.REJECTED, "false_negative_rate": Expected.ACCEPTED}


def audit_of(
    config: Config,
    folder: RunFolder,
    problems: Sequence[Problem],
    *,
    plugin_files: Sequence[Path] = (),
    within_s: float = WITHIN_S,
) -> dict[str, Any] | None:
    """Return the error rates of the run's verifier under attack, with 95 % intervals; see `rlvr audit` for the attacks.

    They are written to audit.json once and read from there afterwards. An audit that cannot be made never fails the
    run: the record then holds "failed", the reason, and is not kept.

    Args:
        problems: training problems, of which `tracking.audit_problems` are drawn.
        plugin_files: the user's, for the verifier is made in another process.
        within_s: a longer audit ends with what it has, and says so.

    Returns:
        {"verifiers": [record of each], "problems", "seconds"?}; None where tracking.audit_problems is 0.
    """
    if config.tracking.audit_problems == 0:
        return None
    if folder.audit_path.exists():
        return json.loads(folder.audit_path.read_text(encoding="utf-8"))
    rng = random.Random(derive_seed(config.run.seed, "audit"))
    count = min(config.tracking.audit_problems, len(problems))
    by_verifier: defaultdict[str, list[Problem]] = defaultdict(list)
    for index in rng.sample(range(len(problems)), count):
        by_verifier[problems[index].verifier].append(problems[index])
    try:
        record = {
            "problems": count,
            "verifiers": [
                _audit_record(_recipe(config, name, plugin_files), own, config.run.seed, within_s * len(own) / count)
                for name, own in by_verifier.items()
            ],
        }
    except (VerifierError, TaskError, SandboxError, UnknownAnswerFormatError) as error:
        return {"failed": str(error)}
    _keep(folder.audit_path, record)
    return record


def contamination_of(folder: RunFolder, train: Sequence[Problem], held_out: Sequence[Problem]) -> dict[str, Any]:
    """Return what the held-out problems share with the training problems; written to contamination.json once."""
    if folder.contamination_path.exists():
        return json.loads(folder.contamination_path.read_text(encoding="utf-8"))
    found = contamination(train, held_out)
    record = {**found.as_record(), "sentence": found.sentence()}
    _keep(folder.contamination_path, record)
    return record


def _keep(path: Path, record: Mapping[str, Any]) -> None:
    atomic_write(path, to_json(record, indent=2).encode("utf-8", "backslashreplace") + b"\n")


def _recipe(config: Config, name: str, plugin_files: Sequence[Path]) -> VerifierRecipe:
    task = config.task
    return VerifierRecipe(
        name=task.verifier or name,
        options=task.verifier_options,
        plugin_files=tuple(file.absolute() for file in plugin_files),
    )


def _audit_record(recipe: VerifierRecipe, problems: Sequence[Problem], seed: int, within_s: float) -> dict[str, Any]:
    recipe.make()  # here first, where what is wrong with it can be told
    with progress(f"audit {recipe.name}", len(problems), passing=True) as bar:
        report = audit(recipe.make, problems, seed=seed, within_s=within_s, advance=lambda: bar.advance({}))
    return {
        "verifier": recipe.name,
        "options": dict(recipe.options),
        "problems": len(problems),
        **{name: _rate(report, expected) for name, expected in _RATES.items()},
        "wrong_attacks": {name: tally.wrong for name, tally in report.tallies.items() if tally.wrong},
        "calls": report.calls,
        "errors": len(report.errors),
        "broken": report.broken,
        "p99_latency_s": report.latency_s(0.99) if report.latencies_s else None,
        "stopped_early": report.stopped_early,
        "out_of_time": report.out_of_time,
        "findings": [
            {
                "attack": finding.attack.name,
                "expected": finding.attack.expected,
                "problem": finding.problem_id,
                "response": finding.attack.response[:_TEXT_KEPT],
                "found": finding.call.found[:_TEXT_KEPT],
            }
            for finding in report.findings[:_EXAMPLES]
        ],
    }


def _rate(report: AuditReport, expected: Expected) -> dict[str, Any]:
    wrong, n = report.counts(expected)
    interval = wilson(wrong, n) if n else None
    return {
        "wrong": wrong,
        "n": n,
        "rate": wrong / n if n else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }

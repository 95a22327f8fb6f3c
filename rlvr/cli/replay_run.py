"""A run's stored responses judged again under a changed configuration."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlvr.cli import wiring
from rlvr.config.document import toml_value
from rlvr.config.models import Config
from rlvr.errors import RunFolderError
from rlvr.evaluation.problems_by_id import ProblemsById
from rlvr.evaluation.replay import (
    Changes,
    EvaluationChange,
    Rejudged,
    Rejudging,
    StepChange,
    evaluation_change,
    step_change,
    stored_responses,
)
from rlvr.evaluation.row_files import writing_lines
from rlvr.tracking.jsonl import to_line
from rlvr.tracking.progress import progress
from rlvr.tracking.run_folder import RunFolder
from tasks.types import Problem
from verifiers import Verifier

ROLLOUTS, HELD_OUT = "training rollouts", "held-out responses"
_MODES = ("greedy", "sampled")


@dataclass(kw_only=True, slots=True)
class Replayed:
    """What came of a replay."""

    judge: str
    """Who judged, in words."""
    flips_kept: int
    judged: int = 0
    """Different responses."""
    changes: dict[str, Changes] = field(default_factory=dict)
    """Of training rollouts and of held-out responses."""
    steps: list[StepChange] = field(default_factory=list)
    evaluations: list[EvaluationChange] = field(default_factory=list)
    flips: list[Rejudged] = field(default_factory=list)
    """The first ones of each kind."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Responses whose problem was not found, by its id."""
    unrecorded: int = 0
    """Evaluations whose responses were not stored."""

    def add(self, name: str, rejudged: Sequence[Rejudged]) -> float | None:
        """Count responses and return the share of flips so far."""
        changes = self.changes.setdefault(name, Changes())
        kept = changes.flipped
        for one in rejudged:
            changes.add(one)
            if one.flipped and kept < self.flips_kept:
                self.flips.append(one)
                kept += 1
        return changes.flipped / changes.n if changes.n else None


def replay_run(
    config: Config,
    folder: RunFolder,
    *,
    held_out_by_run: bool,
    steps: range,
    rollouts: bool,
    held_out: bool,
    out: Path | None,
    flips_kept: int,
    workers: int,
) -> Replayed:
    """Judge a run's rollouts and held-out responses with the verifiers and the reward that `config` names.

    Args:
        held_out_by_run: held-out responses go to `evaluation.verifier` where the run has one.
        steps: which steps' rollouts, and which evaluations.
        out: gets a line for every response; None for nowhere.

    Raises:
        RunFolderError: there is nothing to judge.
        ConfigError, TaskError, VerifierError: the task or the verifiers cannot be made.
    """
    recorded = [step for step in folder.steps_with_rollouts() if step in steps] if rollouts else []
    evaluations = [record for record in folder.read_evaluations() if record["step"] in steps] if held_out else []
    if not recorded and not evaluations:
        raise RunFolderError(f"{folder.path} has stored nothing that was asked for at these steps; see --steps, --what")
    task = wiring.build_task(config)
    train = wiring.problems_of(config, task, "train") if recorded else []
    tests = wiring.problems_of(config, task, config.evaluation.split) if evaluations else []
    verifiers = wiring.build_verifiers(config, [split for split in (train, tests) if len(split)])
    own = held_out_by_run and config.evaluation.verifier is not None
    held_out_verifiers = wiring.build_held_out_verifiers(config, tests, verifiers) if own else verifiers
    replayed = Replayed(judge=_words(config, own=own), flips_kept=flips_kept)

    def rejudging(problems: Sequence[Problem], judges: Mapping[str, Verifier]) -> Rejudging:
        return Rejudging(
            ProblemsById([problems]), judges, workers=workers, retries=config.rollout.judge_retries
        )  # fmt: skip

    with _lines_to(out) as write:
        if recorded:
            _replay_steps(recorded, folder, rejudging(train, verifiers), config, replayed, write)
        if evaluations:
            _replay_evaluations(evaluations, folder, rejudging(tests, held_out_verifiers), replayed, write)
    return replayed


def _replay_steps(
    steps: Sequence[int],
    folder: RunFolder,
    rejudging: Rejudging,
    config: Config,
    replayed: Replayed,
    write: Callable[[Sequence[Rejudged]], None],
) -> None:
    rule = wiring.build_reward_rule(config)
    with progress("replay steps", len(steps), passing=True) as bar:
        for step in steps:
            rejudged = list(rejudging.rejudge(stored_responses(folder.read_rollouts(step), f"step {step}")))
            write(rejudged)
            share = replayed.add(ROLLOUTS, rejudged)
            change = step_change(step, rejudged, rule)
            replayed.steps += [change] if change else []
            bar.advance({"flipped": share})
    _close(rejudging, replayed)


def _replay_evaluations(
    evaluations: Sequence[Mapping[str, Any]],
    folder: RunFolder,
    rejudging: Rejudging,
    replayed: Replayed,
    write: Callable[[Sequence[Rejudged]], None],
) -> None:
    with progress("replay evaluations", len(evaluations), passing=True) as bar:
        for record in evaluations:
            phase, step, share = record["phase"], record["step"], None
            for mode in _MODES:
                if not folder.responses_path(phase, step, mode).exists():
                    replayed.unrecorded += 1
                    continue
                rows = folder.read_responses(phase, step, mode)
                rejudged = list(rejudging.rejudge(stored_responses(rows, f"{phase} {step} {mode}")))
                write(rejudged)
                share = replayed.add(HELD_OUT, rejudged)
                change = evaluation_change(phase, step, mode, rejudged)
                replayed.evaluations += [change] if change else []
            bar.advance({"flipped": share})
    _close(rejudging, replayed)


def _close(rejudging: Rejudging, replayed: Replayed) -> None:
    replayed.judged += rejudging.judged
    replayed.unknown += rejudging.unknown


@contextmanager
def _lines_to(out: Path | None) -> Iterator[Callable[[Sequence[Rejudged]], None]]:
    if out is None:
        yield lambda rejudged: None
        return
    with writing_lines(out) as file:
        yield lambda rejudged: file.writelines(to_line(one.as_record()) for one in rejudged)


def _words(config: Config, *, own: bool) -> str:
    """Return who judges, in words."""

    def named(name: str | None, options: Mapping[str, Any]) -> str:
        shown = "the task's verifier" if name in (None, "task") else f"verifier {name}"
        return f"{shown} with {toml_value(options)}" if options else shown

    words = named(config.task.verifier, config.task.verifier_options)
    if own:
        words += f", held-out responses by {named(config.evaluation.verifier, config.evaluation.verifier_options)}"
    return words

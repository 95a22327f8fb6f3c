"""The held-out evaluations of a training run: measured, recorded in its folder, told, and sent to its trackers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlvr.cli.alarms import TRUNCATED_LIMIT, Alarms
from rlvr.cli.held_out import HeldOutVerifiers, evaluation_line, measure
from rlvr.config.models import Config
from rlvr.evaluation.sources import ResponseSource
from rlvr.tracking.held_out_numbers import held_out_numbers
from rlvr.tracking.metrics import Last, Mean, Metric
from rlvr.tracking.run_folder import RunFolder
from tasks.types import Problem


class RunEvaluations:
    """Measures a run's policy on held-out problems.

    Args:
        problems: of the evaluations before and after PPO; those during it take the first `evaluation.curve_problems`.
        alarms: are told of what a figure may hide.
    """

    def __init__(
        self,
        config: Config,
        folder: RunFolder,
        source: ResponseSource,
        problems: Sequence[Problem],
        judges: HeldOutVerifiers,
        alarms: Alarms,
    ) -> None:
        self._config = config
        self._folder = folder
        self._source = source
        self._problems = problems
        self._curve_problems = problems[: config.evaluation.curve_problems or len(problems)]
        self._judges = judges
        self._alarms = alarms

    def recorded(self, phase: str, step: int) -> bool:
        """Whether this evaluation was made before the run was stopped."""
        return any(record["phase"] == phase and record["step"] == step for record in self._folder.read_evaluations())

    def measure(
        self, phase: str, step: int, *, whole: bool, counts: Mapping[str, Any], note: Callable[[str], None]
    ) -> list[Metric]:
        """Measure greedy and sampled pass rates, record them with every response, and return the numbers for trackers.

        Args:
            phase: "base", "sft" or "ppo".
            whole: all problems, not only those of the curve.
            counts: what the record says besides: wall_s, and rollouts and tokens drawn so far.
            note: is given lines to show.
        """
        problems = self._problems if whole else self._curve_problems
        record: dict[str, Any] = {"step": step, "phase": phase, "split": self._config.evaluation.split}
        for mode, rate, rows in measure(self._config, self._source, problems, self._judges):
            record[mode] = rate.as_record()
            self._folder.write_responses(phase, step, mode, rows)
        record |= {"problems": len(problems), "train_pass_rate": self._train_pass_rate(step), **counts}
        self._folder.append_evaluation(record)
        note(evaluation_line(record))
        truncated = record["sampled"]["truncated_frac"]
        if truncated > TRUNCATED_LIMIT:
            note(f"warning: {self._alarms.truncation(truncated)}")
        for warning in self._alarms.after_evaluation(record):
            note(warning)
        return _metrics(record)

    def _train_pass_rate(self, step: int) -> float | None:
        """Return the mean pass rate on the training problems since the last evaluation."""
        before = [record["step"] for record in self._folder.read_evaluations() if record["step"] < step]
        since = [
            record["verify/pass_rate"]
            for record in self._folder.read_metrics()
            if max(before, default=0) < record["step"] <= step and record.get("verify/pass_rate") is not None
        ]
        return Mean.of(since).number


def _metrics(record: Mapping[str, Any]) -> list[Metric]:
    return [Metric(name, Last(number)) for name, number in held_out_numbers(record).items()]

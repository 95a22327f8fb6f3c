"""The probes that `rlvr inspect --probe` shows: the same held-out problems after every so many steps."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from rlvr.cli.inspect_rows import numbered, one_response, require_step, resolved
from rlvr.cli.inspect_tables import SHOWN, problem_lines, rollout_lines, rollout_record, step_lines
from rlvr.errors import ConfigError, RunFolderError
from rlvr.tracking.run_folder import RunFolder


def probes(folder: RunFolder, step: int | None, problem: str | None, sample: int | None) -> tuple[Any, list[str]]:
    """Return a probe as a record and as lines; a list of them where less than step and problem is given.

    Raises:
        RunFolderError: there are none, or none after that step.
        ConfigError: that problem, or that response to it, is not among them.
    """
    recorded = folder.steps_with_probes()
    if not recorded:
        raise RunFolderError(
            f"{folder.path} has recorded no probes: there was no evaluation yet, or tracking.probe_problems = 0 asks "
            "for none"
        )
    if step is None:
        by_step = {one: folder.read_probes(one) for one in recorded}
        if problem is None:
            summaries = [_summary(one, rows) for one, rows in by_step.items()]
            return summaries, ["held-out probes of the policy after so many steps", *step_lines(summaries)]
        rows = [{"step": one, **row} for one, found in by_step.items() for row in numbered(found)]
        name = resolved(problem, [row["problem"] for row in rows], "the set of probes")
        own = [row for row in rows if row["problem"] == name and sample in (None, row["sample"])]
        if not own:
            raise ConfigError(f"--sample: the probes have no response {sample} to {name}")
        return _table(own, ("step", *SHOWN))
    require_step(folder, step, recorded, "probes after")
    found = folder.read_probes(step)
    if problem is None:
        return _table(numbered(found), SHOWN)
    row, samples, texts = one_response(folder, found, problem, sample or 0, f"the probe after step {step}")
    record = rollout_record(row, step, samples, texts, probe=True)
    return record, list(rollout_lines(record))


def _table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> tuple[Any, list[str]]:
    record = [{name: row.get(name) for name in columns} for row in rows]
    return record, list(problem_lines(record))


def _summary(step: int, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the metrics of a step of training say, under their names."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if known else None

    return {
        "step": step,
        "verify/pass_rate": mean([row["outcome"] == "correct" for row in rows]),
        "reward/mean": mean([row["reward"] for row in rows]),
        "kl/per_response": mean([row["kl"] for row in rows]),
        "rollout/response_tokens": mean([len(row["token_ids"]) for row in rows]),
    }

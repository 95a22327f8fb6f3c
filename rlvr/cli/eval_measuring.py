"""An evaluation from its key to its folder: found there, gone on with, or made."""

import hashlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlvr.cli import wiring
from rlvr.cli.eval_subjects import Subject
from rlvr.cli.held_out import held_out_verifiers, measure, mode_seed, modes
from rlvr.cli.summary import code_commit, machine, software
from rlvr.config.models import Config
from rlvr.errors import EndpointError
from rlvr.evaluation.endpoint import Usage
from rlvr.evaluation.per_problem import problem_records
from rlvr.evaluation.store import EvaluationFolder, evaluation_key, folder_name, problems_digest
from tasks.types import Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """What is to be measured."""

    config: Config
    subject: Subject
    task: str
    problems: Sequence[Problem]
    wanted: tuple[str, ...]
    """Of "greedy" and "sampled"."""
    plugins: tuple[Path, ...] = ()

    def identity(self) -> dict[str, Any]:
        """Return everything that decides what is found."""
        config = self.config
        own, evaluation, rollout = config.task, config.evaluation, config.rollout
        return {
            **self.subject.identity(),
            "task": {"name": self.task, "options": own.options, "split": evaluation.split},
            "problems": problems_digest(self.problems),
            "prompts": {
                "chat_template": config.model.chat_template,
                "system_prompt": config.model.system_prompt,
            },
            "verifier": {"name": own.verifier, "options": own.verifier_options},
            "held_out_verifier": {"name": evaluation.verifier, "options": evaluation.verifier_options},
            "audit": evaluation.audit,
            "plugins": [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.plugins],
            "sampling": {
                "max_new_tokens": rollout.max_new_tokens,
                "temperature": rollout.temperature,
                "top_p": rollout.top_p,
                "top_k": rollout.top_k,
                "samples_per_problem": evaluation.samples_per_problem,
            },
            "seeds": {mode: mode_seed(config, mode) for mode in modes(config)},
        }

    def folder(self, directory: Path) -> EvaluationFolder:
        """Return its folder in `directory`, which may be there already."""
        key = evaluation_key(self.identity())
        name = folder_name(self.subject.short_name, self.task, self.config.evaluation.split, key)
        return EvaluationFolder.find(directory, name, key)

    def is_done(self, record: Mapping[str, Any] | None) -> bool:
        """Whether evaluation.json holds all that is wanted."""
        return record is not None and record["finished"] and set(self.wanted) <= record["modes"].keys()

    def measure_into(self, folder: EvaluationFolder, *, fresh: bool) -> dict[str, Any]:
        """Measure, going on from what the folder has, and return what evaluation.json then holds.

        Raises:
            EndpointError: with the way to go on.
        """
        samples = {mode: sampling.samples_per_prompt for mode, sampling in modes(self.config).items()}
        with folder.held(), _way_to_go_on(folder):
            verifiers = wiring.build_verifiers(self.config, [self.problems])
            judges = held_out_verifiers(self.config, self.problems, verifiers)
            with self.subject.responses() as source:
                record = (None if fresh else folder.read_record()) or self._new_record(folder)
                record |= {"finished": False, "commit": code_commit(), "versions": software(), "machine": machine()}
                progress = _Progress(self.subject, folder, record, replaces=fresh)
                progress.note()

                def done(mode: str) -> list[dict[str, Any]]:
                    if progress.replaces:
                        return []
                    expected = [(problem.id, sample) for problem in self.problems for sample in range(samples[mode])]
                    return folder.resume_rows(mode, expected, at_once=source.problems_at_once * samples[mode])

                try:
                    for mode, rate, _ in measure(
                        self.config, source, self.problems, judges, wanted=self.wanted, done=done, save=progress.save
                    ):
                        record["modes"][mode] = rate.as_record()
                        progress.note()
                except BaseException:
                    progress.note()  # what was answered of the batch that broke off has been paid for, too
                    raise
            record["modes"] = {mode: record["modes"][mode] for mode in samples if mode in record["modes"]}
            folder.write_problems(
                problem_records(self.problems, {mode: folder.read_rows(mode) for mode in record["modes"]})
            )
            record["finished"] = True
            folder.write_record(record)
        return record

    def _new_record(self, folder: EvaluationFolder) -> dict[str, Any]:
        config, identity = self.config, self.identity()
        rollout, evaluation = config.rollout, config.evaluation
        return {
            "name": folder.path.name,
            "key": evaluation_key(identity),
            "model": self.subject.title,
            "model_digest": self.subject.digest,
            **self.subject.facts(),
            "task": self.task,
            "task_options": config.task.options,
            "split": evaluation.split,
            "problems": len(self.problems),
            "verifier": evaluation.verifier or config.task.verifier or "task",
            "sampling": {
                "max_new_tokens": rollout.max_new_tokens,
                "top_p": rollout.top_p,
                "top_k": rollout.top_k,
            },
            "seed": config.run.seed,
            "seeds": identity["seeds"],
            "modes": {},
            "finished": False,
            "identity": identity,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "wall_s": 0.0,
        }


class _Progress:
    """Keeps time and cost in evaluation.json while rows come in, over any number of interruptions.

    Args:
        replaces: what the folder holds is forgotten, but only once there are rows to put in its place.
    """

    def __init__(self, subject: Subject, folder: EvaluationFolder, record: dict[str, Any], *, replaces: bool) -> None:
        self.replaces = replaces
        self._subject = subject
        self._folder = folder
        self._record = record
        self._start_s = time.perf_counter()
        self._wall_before_s = record["wall_s"]
        self._usage_before = Usage(**record.get("usage") or {})

    def save(self, mode: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Store a batch's rows."""
        if self.replaces:
            self._folder.clear()
            self.replaces = False
        # The cost first: what a kill in between loses is drawn, and paid for, again.
        self.note()
        self._folder.append(mode, rows)

    def note(self) -> None:
        """Store time and cost so far."""
        if self.replaces:
            return
        self._record["wall_s"] = self._wall_before_s + time.perf_counter() - self._start_s
        used = self._subject.usage()
        if used is not None:
            before, now = asdict(self._usage_before), asdict(used)
            self._record["usage"] = {name: before[name] + now[name] for name in now}
        self._folder.write_record(self._record)


@contextmanager
def _way_to_go_on(folder: EvaluationFolder) -> Iterator[None]:
    try:
        yield
    except EndpointError as error:
        folder.discard_if_blank()
        if not folder.path.exists():
            raise
        raise EndpointError(f"{error}\n{_go_on(folder)}") from error
    except KeyboardInterrupt:
        folder.discard_if_blank()
        if folder.path.exists():
            print(f"stopped; {_go_on(folder)}", file=sys.stderr)
        raise
    except BaseException:
        folder.discard_if_blank()
        raise


def _go_on(folder: EvaluationFolder) -> str:
    return f"what is done is in {folder.path}, and the same command, without --fresh, goes on from there"

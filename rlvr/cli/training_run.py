"""A whole run: warm start, frozen reference, PPO with evaluations and checkpoints, and its run folder."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlvr.cli import wiring
from rlvr.cli.alarms import Alarms
from rlvr.cli.card_facts import card_facts
from rlvr.cli.demonstrations import demonstrations
from rlvr.cli.held_out import held_out_verifiers
from rlvr.cli.interrupts import catching_interrupts
from rlvr.cli.run_evaluations import RunEvaluations
from rlvr.cli.summary import code_commit, peak_memory_mb, run_summary
from rlvr.config.models import Config
from rlvr.errors import JudgingFailedError, NonFiniteLossError, PromptTooLongError
from rlvr.evaluation.curves import plot_curves
from rlvr.evaluation.sources import EngineSource
from rlvr.models.causal_lm import CausalLM
from rlvr.models.loading import LoadedModel
from rlvr.models.reference import frozen_copy
from rlvr.rollout.records import rollout_records
from rlvr.rollout.types import Experience, Rollout
from rlvr.seeding import derive_seed
from rlvr.tracking.atomic import atomic_write
from rlvr.tracking.card import run_card
from rlvr.tracking.progress import Progress, progress
from rlvr.tracking.run_folder import RunFolder, complete_checkpoints
from rlvr.tracking.sinks import JsonlSink, Tracker
from rlvr.tracking.stopwatch import Stopwatch
from rlvr.tracking.trackers import check_trackers, open_trackers
from rlvr.training.checkpoint import load_checkpoint, save_checkpoint, save_reference, sweep_leftovers
from rlvr.training.sft import warm_start
from rlvr.training.trainer import Trainer
from tasks.sampling import ProblemSampler

_STAGES = ("rollout", "judge", "experience", "update")


class TrainingRun:
    """A run in its folder.

    Building it checks everything that can be checked before the first step: the task's data, the verifiers, the model.

    Args:
        config: the resolved configuration.
        folder: the run's folder; where it holds a checkpoint, the run goes on from the last complete one.
        plugin_files: what the user imported; a process that audits the verifier imports them too.
    """

    def __init__(self, config: Config, folder: RunFolder, *, plugin_files: Sequence[Path] = ()) -> None:
        self.config = config
        self.folder = folder
        self._plugin_files = tuple(plugin_files)
        self.alarms = Alarms(
            max_new_tokens=config.rollout.max_new_tokens, samples_per_prompt=config.rollout.samples_per_prompt
        )
        self._watch = Stopwatch()
        self._start_s = time.perf_counter()
        self._elapsed_before_s = 0.0
        self._peak_memory_before_mb = 0.0
        self._commit = code_commit()  # now: the checkout may have moved on by the time the run ends
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._trackers = Tracker([])
        check_trackers(config.tracking.trackers)
        wiring.prepare_process(config)
        task = wiring.build_task(config)
        self._train_problems = wiring.problems_of(config, task, "train")
        held_out = wiring.problems_of(config, task, config.evaluation.split)
        self._test_problems = held_out[: config.evaluation.problems or len(held_out)]
        self._verifiers = wiring.build_verifiers(config, [self._train_problems, self._test_problems])
        sweep_leftovers(folder.checkpoints_dir)
        checkpoints = complete_checkpoints(folder.checkpoints_dir)
        self._checkpoint = checkpoints[-1] if checkpoints else None
        has_reference = folder.reference_path.exists()
        source = self._checkpoint / "policy" if self._checkpoint else folder.reference_path if has_reference else None
        self._model: LoadedModel = wiring.build_model(config, str(source) if source else None)
        self._encoder = wiring.build_encoder(config, self._model)
        self._engine = wiring.build_engine(config, self._model)
        self._evaluations = RunEvaluations(
            config, folder, EngineSource(self._engine, self._encoder), self._test_problems,
            held_out_verifiers(config, self._test_problems, self._verifiers), self.alarms,
        )  # fmt: skip
        self._encoder.encode(self._test_problems)
        # A virtual sequence makes each problem when asked: its first ones stand for the rest.
        stored = isinstance(self._train_problems, list | tuple)
        self._encoder.encode(self._train_problems if stored else self._train_problems[:256])

    def run(self) -> int:
        """Run to the end, or until interrupted; return the exit code: 0, or 128 plus the signal's number."""
        done = 0 if self._checkpoint is None else int(self._checkpoint.name.removeprefix("step_"))
        self.folder.truncate_after(done)
        tracking = self.config.tracking
        # Before the warm start, so that a login that is missing costs nothing; and nothing is sent of a finished run.
        others = open_trackers(
            tracking.trackers if done < self.config.run.steps else [], self.folder,
            project=tracking.project, config=self.config.model_dump(), done_steps=done,
        )  # fmt: skip
        with closing(Tracker(others)) as self._trackers:
            trainer = self._trainer(self._reference())
            if self._checkpoint is not None:
                state = load_checkpoint(self._checkpoint, trainer.actor_critic)
                trainer.load_state_dict(state["trainer"])
                self._take_up(state)
            with closing(JsonlSink(self.folder.metrics_path)) as lines:
                trainer.tracker = Tracker([lines, *others])
                exit_code = self._ppo(trainer)
            self._write_summary(trainer, finished=exit_code == 0)
        return exit_code

    def _take_up(self, state: Mapping[str, Any]) -> None:
        """Go on counting where a checkpoint left off."""
        self._elapsed_before_s = state["elapsed_s"]
        self._watch.totals_s.update(state["stage_times_s"])
        self._started = state["started"]
        self._peak_memory_before_mb = state.get("peak_memory_mb", 0.0)
        self.alarms.remember(self.folder.read_metrics(), self.folder.read_evaluations(), state.get("warnings", []))

    def _reference(self) -> CausalLM:
        """Return the frozen reference; without one so far, make it by the warm start."""
        if self._checkpoint is not None:
            return frozen_copy(wiring.build_model(self.config, str(self.folder.reference_path)).policy)
        warm_starts = self.config.sft.steps > 0
        if not self.folder.reference_path.exists():
            if self.config.model.name != "tiny" or not warm_starts:
                self._evaluate("base", 0)
            if warm_starts:
                with self._watch.measure("sft"):
                    self._sft()
            save_reference(self.folder.reference_path, self._model.policy, self._model.tokenizer)
        self._engine.update_weights(self._model.policy)
        if warm_starts:
            self._evaluate("sft", 0)
        return frozen_copy(self._model.policy)

    def _sft(self) -> None:
        sft = self.config.sft
        next_demonstrations = demonstrations(
            ProblemSampler(self._train_problems, derive_seed(self.config.run.seed, "demonstrations")),
            self._encoder, self._model, task=self.config.task.name,
        )  # fmt: skip
        steps = warm_start(
            self._model.policy, next_demonstrations,
            steps=sft.steps, batch_size=sft.batch_size, micro_batch_size=sft.micro_batch_size, lr=sft.lr,
            warmup_steps=sft.warmup_steps, weight_decay=sft.weight_decay, max_grad_norm=sft.max_grad_norm,
        )  # fmt: skip
        self.folder.sft_metrics_path.unlink(missing_ok=True)
        tracker = Tracker([JsonlSink(self.folder.sft_metrics_path)])
        with progress("SFT", sft.steps, lines=10) as bar:
            for step, metrics in enumerate(steps, start=1):
                bar.advance({"loss": tracker.log(step, metrics)["sft/loss"]})
        tracker.close()

    def _trainer(self, reference: CausalLM) -> Trainer:
        return wiring.build_trainer(
            self.config, self._model, reference,
            problems=self._train_problems, verifiers=self._verifiers, encoder=self._encoder, engine=self._engine,
            tracker=Tracker([]), record=self._record,
        )  # fmt: skip

    def _record(self, step: int, rollouts: Sequence[Rollout], experience: Experience) -> None:
        every = self.config.tracking.rollouts_every
        if every and step % every == 0:
            with self._watch.measure("record"):
                self.folder.write_rollouts(step, rollout_records(rollouts, experience))

    def _ppo(self, trainer: Trainer) -> int:
        steps = self.config.run.steps
        with catching_interrupts() as interrupts, progress("PPO", steps, initial=trainer.step_number) as bar:
            interrupts.note = bar.note
            if trainer.step_number == 0:
                self._probe(trainer)
            while trainer.step_number < steps and not interrupts.requested:
                try:
                    numbers = trainer.step()
                except NonFiniteLossError as error:
                    raise self._explained(error, trainer) from error
                except (JudgingFailedError, PromptTooLongError):
                    self._save(trainer)  # the step did not touch the weights
                    raise
                self._after_step(trainer, numbers, bar)
                if interrupts.requested or self._is_due(self.config.checkpoint.every, trainer.step_number):
                    self._save(trainer)
            return 0 if trainer.step_number >= steps else interrupts.exit_code

    def _after_step(self, trainer: Trainer, numbers: dict[str, float | None], bar: Progress) -> None:
        step = trainer.step_number
        for stage in _STAGES:
            self._watch.totals_s[stage] += numbers[f"time/{stage}_s"] or 0.0
        bar.advance(
            {
                "reward": numbers["reward/mean"],
                "pass": numbers["verify/pass_rate"],
                "kl": numbers["kl/per_response"],
                "tokens": numbers["rollout/response_tokens"],
            }
        )
        for warning in self.alarms.after_step(step, numbers):
            bar.note(warning)
        if self._is_due(self.config.evaluation.every, step):
            self._evaluate("ppo", step, trainer, bar)
            self._probe(trainer)

    def _is_due(self, every: int, step: int) -> bool:
        return step == self.config.run.steps or (every > 0 and step % every == 0)

    def _evaluate(self, phase: str, step: int, trainer: Trainer | None = None, bar: Progress | None = None) -> None:
        """Measure the held-out pass rate and record it; before and after PPO on all problems."""
        if self._evaluations.recorded(phase, step):
            return
        drawn = {
            "rollouts": trainer.rollouts_drawn if trainer else 0,
            "tokens": trainer.tokens_drawn if trainer else 0,
        }
        with self._watch.measure("evaluate"):
            metrics = self._evaluations.measure(
                phase, step,
                whole=phase != "ppo" or step == self.config.run.steps,
                counts={**drawn, "wall_s": self._elapsed_s()}, note=bar.note if bar else print,
            )  # fmt: skip
        if phase != "base" or not self.config.sft.steps:  # of two evaluations at step 0 a chart takes one
            self._trackers.log(step, metrics)

    def _probe(self, trainer: Trainer) -> None:
        """Record what the policy answers to the same few held-out problems, token by token."""
        problems = self._test_problems[: self.config.tracking.probe_problems]
        if not problems:
            return
        with self._watch.measure("record"):
            try:
                rollouts, experience = trainer.probe(problems)
            except JudgingFailedError:
                return  # the evaluation has told already that responses could not be judged
            self.folder.write_probes(trainer.step_number, rollout_records(rollouts, experience))

    def _elapsed_s(self) -> float:
        return self._elapsed_before_s + time.perf_counter() - self._start_s

    def _save(self, trainer: Trainer) -> None:
        with self._watch.measure("checkpoint"):
            save_checkpoint(
                self.folder.checkpoints_dir, f"step_{trainer.step_number:06d}",
                actor_critic=trainer.actor_critic, tokenizer=self._model.tokenizer, state=self._state(trainer),
                keep=self.config.checkpoint.keep,
            )  # fmt: skip

    def _state(self, trainer: Trainer) -> dict[str, Any]:
        return {
            "trainer": trainer.state_dict(),
            "elapsed_s": self._elapsed_s(),
            "stage_times_s": dict(self._watch.totals_s),
            "started": self._started,
            "warnings": list(self.alarms.raised),
            "peak_memory_mb": self._peak_memory_mb(),
        }

    def _peak_memory_mb(self) -> float:
        return max(self._peak_memory_before_mb, peak_memory_mb())

    def _explained(self, error: NonFiniteLossError, trainer: Trainer) -> NonFiniteLossError:
        # Part of the step's minibatches may have been applied, so this is for looking at, not a checkpoint to resume
        # from.
        stopped = save_checkpoint(
            self.folder.path / "stopped", f"step_{trainer.step_number:06d}",
            actor_critic=trainer.actor_critic, tokenizer=self._model.tokenizer, state=self._state(trainer),
        )  # fmt: skip
        return NonFiniteLossError(
            f"step {trainer.step_number + 1}: {error}. The weights before that minibatch are in {stopped}; "
            f"the last checkpoint is untouched in {self.folder.checkpoints_dir}"
        )

    def _write_summary(self, trainer: Trainer, *, finished: bool) -> None:
        config = self.config
        summary = run_summary(
            config, self.folder,
            commit=self._commit, started=self._started, wall_s=self._elapsed_s(), steps=trainer.step_number,
            rollouts=trainer.rollouts_drawn, tokens=trainer.tokens_drawn, stage_times_s=self._watch.totals_s,
            peak_memory_mb=self._peak_memory_mb(), warnings=self.alarms.raised, finished=finished,
        )  # fmt: skip
        self.folder.write_summary(summary)  # before the card's audits, which take a while and may be interrupted
        summary |= card_facts(
            config, self.folder, self._train_problems, self._test_problems,
            plugin_files=self._plugin_files, audits=finished,
        )  # fmt: skip
        self.folder.write_summary(summary)
        plot_curves([self.folder.path], self.folder.curve_path)
        atomic_write(self.folder.card_path, run_card(summary, self.folder))

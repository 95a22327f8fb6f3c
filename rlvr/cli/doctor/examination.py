"""The doctor's round: every check in its order, on parts that are made once and shared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from rlvr.cli import wiring
from rlvr.cli.doctor.checks_config import check_config, check_evaluation, check_run_folder, existing_parent
from rlvr.cli.doctor.checks_data import check_demonstrations, check_prompt_lengths, check_splits
from rlvr.cli.doctor.checks_environment import check_environment
from rlvr.cli.doctor.checks_model import check_chat_template, check_special_tokens, check_text, check_weights
from rlvr.cli.doctor.checks_numerics import check_gaps, check_numerics
from rlvr.cli.doctor.checks_probe import check_probe, probe_numbers, setting_of
from rlvr.cli.doctor.checks_references import CONTROLS, check_references
from rlvr.cli.doctor.checks_resources import check_weights_fit, weight_files_bytes
from rlvr.cli.doctor.checks_sandbox import check_sandbox, code_verifiers
from rlvr.cli.doctor.findings import Finding, Level, note, ok, surviving
from rlvr.cli.doctor.judging import JudgingTime
from rlvr.cli.doctor.machine import Machine, this_machine
from rlvr.cli.doctor.numerics import (
    Numerics,
    alone_and_together,
    few_of,
    few_tokens,
    measure_numerics,
    sampled_alone_and_together,
)
from rlvr.cli.doctor.probe import Probe, draw_probe
from rlvr.cli.doctor.resources import resource_findings
from rlvr.cli.held_out import held_out_verifiers
from rlvr.config.models import Config
from rlvr.models.loading import LoadedModel
from rlvr.models.reference import frozen_copy
from rlvr.rollout.local_engine import LocalEngine
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.types import Rollout
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import Verifier

_REFERENCES = 64
"""Problems whose own answers are judged."""
_GREEDY_TOKENS = 8


class Examination:
    """Looks at a configuration and all that it names, and says what it finds, group by group.

    Writes nothing, and moves no weight. A part that cannot be made (the data, the model) is a blocker, and the checks
    that need it say that they were left out.

    Args:
        config: of the run to come.
        model: looked at in place of the configured model, for instance a run's latest checkpoint.
        problems: to ask in the probe.
        limit_s: time for the probe's sampling.
        new_run: whether a new run folder is going to be made.
        machine: the room there is; this machine's by default.
    """

    def __init__(
        self,
        config: Config,
        *,
        model: str | None = None,
        problems: int = 64,
        limit_s: float = 30.0,
        new_run: bool = True,
        machine: Machine | None = None,
    ) -> None:
        self._config = config
        self._model_name = model or config.model.name
        self._is_start = model is None
        self._wanted = problems
        self._limit_s = limit_s
        self._new_run = new_run
        self._machine = machine
        self._train: Sequence[Problem] = ()
        self._held_out: Sequence[Problem] = ()
        self._verifiers: Mapping[str, Verifier] = {}
        self._sandbox_works = True
        self._demonstration_time = JudgingTime()
        self._model: LoadedModel | None = None
        self._encoder: PromptEncoder | None = None
        self._engine: LocalEngine | None = None
        self._probe: Probe | None = None
        self._rollouts: list[Rollout] = []
        self._numerics: Numerics | None = None
        self.numbers: dict[str, Any] = {}
        """What was measured, by name, for programs."""

    def groups(self) -> Iterator[tuple[str, Iterator[Finding]]]:
        """Yield each group's title and its findings, which are to be read before the next group is asked for."""
        wiring.prepare_process(self._config)
        for title, findings, needs in (
            ("Environment", self._environment, ()),
            ("Data", self._data, ()),
            ("Sandbox", self._sandbox, ("data",)),
            ("Verifier", self._references, ("data", "sandbox")),
            ("Model and tokenizer", self._model_checks, ()),
            ("Prompts and demonstrations", self._texts, ("data", "model")),
            (f"Probe: what the policy does on {self._wanted} problems", self._look, ("data", "model", "verifier")),
            ("Numerics", self._numeric_checks, ("model", "probe")),
            ("Memory, disk and time", self._resources, ("model", "probe", "numerics")),
            ("Configuration", self._configuration, ()),
        ):
            missing = self._missing(needs)
            yield title, iter([_left_out(missing)]) if missing else surviving(findings())

    @property
    def _before_sft(self) -> bool:
        return self._config.sft.steps > 0 and self._is_start

    def _environment(self) -> Iterator[Finding]:
        yield from check_environment(self._config)
        if self._machine is None:
            self._machine = this_machine(wiring.device_of(self._config))

    def _data(self) -> Iterator[Finding]:
        config = self._config
        task = wiring.build_task(config)
        train = wiring.problems_of(config, task, "train")
        held_out = wiring.problems_of(config, task, config.evaluation.split)
        held_out = held_out[: config.evaluation.problems or len(held_out)]
        self._train, self._held_out = train, held_out
        drawn = config.run.steps * config.rollout.prompts_per_step
        yield from check_splits(train, held_out, split=config.evaluation.split, drawn=drawn)

    def _sandbox(self) -> Iterator[Finding]:
        names = {problem.verifier for problem in islice(self._train, 1000)}
        task = self._config.task
        try:
            runners = [
                found for name in names for found in code_verifiers(task.verifier or name, task.verifier_options)
            ]
        except VerifierError:
            yield _left_out("verifier, which cannot be made (see below)")
            return
        if not runners:
            yield ok("no program is run: the verifier needs no sandbox")
            return
        self._sandbox_works = False
        blocked = False
        for sandbox in {id(sandbox): sandbox for sandbox in (runner.sandbox for runner in runners)}.values():
            for finding in check_sandbox(sandbox):
                blocked |= finding.level is Level.BLOCKER
                yield finding
        self._sandbox_works = not blocked

    def _references(self) -> Iterator[Finding]:
        config = self._config
        held_out = self._held_out
        verifiers = wiring.build_verifiers(config, [self._train, held_out])
        judges = held_out_verifiers(config, held_out[:1000], verifiers)
        self._verifiers = verifiers
        if judges.audits:
            yield ok(f"audit verifiers load: {', '.join(judges.audits)}")
        for whose, problems, judging, name in (
            ("training", self._train, verifiers, config.task.verifier),
            ("held-out", held_out, judges.verifiers, config.evaluation.verifier or config.task.verifier),
        ):
            yield from check_references(
                list(islice(problems, _REFERENCES)),
                judging,
                whose=whose,
                control=name in CONTROLS,
                max_failed_frac=config.rollout.max_failed_frac,
                workers=config.rollout.judge_workers,
                demonstration_time=self._demonstration_time,
            )

    def _model_checks(self) -> Iterator[Finding]:
        config = self._config
        memory = self._machine.memory_bytes if self._machine else None
        too_large = list(check_weights_fit(weight_files_bytes(self._model_name), memory))
        yield from too_large
        if too_large:
            return
        model = wiring.build_model(config, self._model_name)
        if not self._is_start:
            yield note(f"looking at {self._model_name}, where the run goes on")
        yield from check_weights(model)
        yield from check_special_tokens(model)
        self._encoder = wiring.build_encoder(config, model)
        self._engine = wiring.build_engine(config, model)
        self._model = model

    def _texts(self) -> Iterator[Finding]:
        config, model, encoder = self._config, self._model, self._encoder
        assert model is not None
        assert encoder is not None
        yield from check_chat_template(model, encoder, self._train[0], setting=config.model.chat_template)
        yield from check_text(model, [*islice(self._train, 500), *islice(self._held_out, 500)])
        for problems in (self._train, self._held_out):
            yield check_prompt_lengths(
                encoder,
                problems,
                context_length=model.context_length,
                max_new_tokens=config.rollout.max_new_tokens,
                whose="training" if problems is self._train else "held-out",
            )
        yield from check_demonstrations(
            encoder,
            self._train,
            sft_steps=config.sft.steps if self._is_start else 0,
            context_length=model.context_length,
            max_new_tokens=config.rollout.max_new_tokens,
        )

    def _look(self) -> Iterator[Finding]:
        config = self._config
        assert self._model is not None
        assert self._encoder is not None
        assert self._engine is not None
        self._probe = draw_probe(
            self._train,
            self._verifiers,
            self._encoder,
            self._engine,
            wiring.build_sampling(config),
            rule=wiring.build_reward_rule(config),
            wanted=self._wanted,
            prompts_per_step=config.rollout.prompts_per_step,
            workers=config.rollout.judge_workers,
            seed=config.run.seed,
            limit_s=self._limit_s,
        )
        numbers = probe_numbers(self._probe)
        self.numbers |= numbers.as_record() | {"asked": self._probe.asked, "before_sft": self._before_sft}
        setting = setting_of(config, before_sft=self._before_sft, untrained=self._model_name == "tiny")
        yield from check_probe(self._probe, numbers, setting)
        self._rollouts = few_of(
            self._probe.rollouts,
            most_rows=config.algorithm.micro_batch_size or len(self._probe.rollouts),
            most_tokens=few_tokens(self._model.policy),
        )

    def _numeric_checks(self) -> Iterator[Finding]:
        config, model, engine = self._config, self._model, self._engine
        assert model is not None
        assert engine is not None
        rollouts = self._rollouts
        with torch.random.fork_rng(devices=[]):
            reference = frozen_copy(model.policy)
            actor_critic = wiring.build_actor_critic(config, model.policy, reference)
            algorithm = replace(wiring.build_algorithm(config), micro_batch_size=0)
            self._numerics = measure_numerics(
                rollouts, actor_critic, reference, algorithm, kl_coef=config.algorithm.kl_coef
            )
        dtype = model.policy.compute_dtype
        yield from check_numerics(self._numerics, rollouts, dtype)
        yield from check_gaps(
            dtype,
            alone_and_together=alone_and_together(model.policy, rollouts, temperature=algorithm.temperature),
            sampled_alone_and_together=sampled_alone_and_together(
                engine, rollouts, max_new_tokens=min(_GREEDY_TOKENS, config.rollout.max_new_tokens)
            ),
            sampler_gap=self._numerics.logprob_gap,
        )

    def _resources(self) -> Iterator[Finding]:
        assert self._model is not None
        assert self._encoder is not None
        assert self._probe is not None
        assert self._numerics is not None
        assert self._machine is not None
        yield from resource_findings(
            self._config, self._model, self._encoder, self._train, self._held_out, self._probe, self._rollouts,
            self._numerics, self._machine,
            disk=existing_parent(Path(self._config.run.dir)), before_sft=self._before_sft,
            demonstration_time=self._demonstration_time, numbers=self.numbers,
        )  # fmt: skip

    def _configuration(self) -> Iterator[Finding]:
        yield from check_config(self._config)
        if self._held_out:
            yield from check_evaluation(self._config, len(self._held_out))
        if self._new_run:
            yield from check_run_folder(self._config)

    def _missing(self, needs: Sequence[str]) -> str:
        """Return the first of what a group needs and could not be had, "" where all is there."""
        there = {
            "data": len(self._train) > 0,
            "sandbox": self._sandbox_works,
            "verifier": len(self._verifiers) > 0,
            "model": self._model is not None,
            "probe": len(self._rollouts) > 0,
            "numerics": self._numerics is not None,
        }
        return next((need for need in needs if not there[need]), "")


def _left_out(missing: str) -> Finding:
    return note(f"not looked at, for want of the {missing}")

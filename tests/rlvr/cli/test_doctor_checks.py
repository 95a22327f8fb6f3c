"""What the doctor says of environment, data, references and sandbox: healthy ones and broken ones."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
import torch
from support.tiny_runs import tiny_config

from rlvr.cli.doctor.checks_data import check_splits
from rlvr.cli.doctor.checks_environment import (
    check_requirements,
    check_siblings,
    device_finding,
    load_findings,
    threads_finding,
    wanted_extras,
)
from rlvr.cli.doctor.checks_references import check_references
from rlvr.cli.doctor.checks_sandbox import check_sandbox, code_verifiers
from rlvr.cli.doctor.findings import Finding, Level, duration, from_error, ok, percent, size, surviving
from rlvr.cli.doctor.judging import BrokenVerifierError, JudgingTime, Text, judge_safely
from rlvr.errors import ConfigError
from sandbox.errors import SandboxUnavailableError
from sandbox.fake_sandbox import FakeSandbox
from sandbox.local_sandbox import LocalSandbox
from sandbox.types import End, Execution
from tasks.types import AssertTests, MathAnswer, Problem
from verifiers import load_verifier
from verifiers.errors import BadReferenceError
from verifiers.types import Outcome, Verdict


def problem(name: str, prompt: str = "", *, gold: str = "4", demonstration: str | None = None) -> Problem:
    return Problem(
        id=name,
        prompt=prompt or f"{name}?",
        reference=MathAnswer(value=gold, answer_format="marker:#"),
        verifier="numeric",
        demonstration=demonstration,
    )


def levels(findings: Iterable[Finding]) -> list[Level]:
    return [finding.level for finding in findings]


def only(findings: Iterable[Finding], level: Level) -> Finding:
    """Return the one finding of a level."""
    (found,) = [finding for finding in findings if finding.level is level]
    return found


def healthy(findings: Sequence[Finding]) -> bool:
    return all(finding.level in (Level.OK, Level.NOTE) for finding in findings)


# findings


def test_a_finding_is_one_line_with_what_and_what_to_do():
    found = from_error(ConfigError("task.name: no such task; take another\nrun.seed: too large"))
    assert str(found) == "  BLOCKER  task.name: no such task  -  take another; run.seed: too large"


def test_an_error_becomes_the_last_finding_of_its_group():
    def failing(error: Exception) -> Iterator[Finding]:
        yield ok("first")
        raise error

    full = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB. GPU 0 has")
    for error, what in ((ConfigError("no; mend it"), "no"), (full, "CUDA out of memory")):
        first, last = surviving(failing(error))
        assert (first.level, last.level, last.what) == (Level.OK, Level.BLOCKER, what)
    with pytest.raises(ZeroDivisionError):
        list(surviving(failing(ZeroDivisionError())))


def test_shares_sizes_and_durations_are_readable():
    assert percent(0.5123) == "51.2 %"
    assert [size(found) for found in (12, 3.4e7, 2.51e9)] == ["1 MB", "34 MB", "2.5 GB"]
    assert [duration(found) for found in (4.21, 75, 720, 12000)] == ["4.2 s", "75 s", "12 min", "3 h 20 min"]


# environment

VERSIONS = {"torch": "2.13.0+cpu", "gguf": "0.19"}


def installed(name: str) -> str:
    if name not in VERSIONS:
        raise PackageNotFoundError(name)
    return VERSIONS[name]


def test_packages_that_fit_are_counted():
    found = list(check_requirements(["torch>=2.8,<2.14", 'gguf>=0.10; extra == "gguf"'], ["gguf"], installed))
    assert levels(found) == [Level.OK]
    assert "all 2 required packages" in found[0].what


def test_an_extra_is_not_asked_for_where_nothing_needs_it():
    (found,) = check_requirements(["torch>=2.8", 'wandb>=0.19; extra == "wandb"'], [], installed)
    assert found.level is Level.OK


def test_a_missing_extra_blocks_with_the_command_that_installs_it():
    (found,) = check_requirements(['wandb>=0.19; extra == "wandb"'], ["wandb"], installed)
    assert found.level is Level.BLOCKER
    assert found.advice == "pip install 'rlvr[wandb]'"


def test_a_tracker_that_the_metadata_does_not_know_is_looked_up_by_its_name():
    (found,) = check_requirements(["torch"], ["trackio"], installed)
    assert str(found) == "  BLOCKER  trackio is not installed, and the configuration uses it  -  pip install trackio"


def test_a_missing_package_blocks_and_a_version_that_does_not_fit_warns():
    missing, old = check_requirements(["docker>=7", "torch>=3"], [], installed)
    assert (missing.level, missing.advice) == (Level.BLOCKER, "pip install 'docker>=7'")
    assert old.level is Level.WARNING
    assert "torch 2.13.0+cpu is installed, rlvr wants >=3" in old.what


def test_extras_follow_from_the_configuration():
    config = tiny_config("model.name=some/model.gguf", "tracking.trackers=['wandb']")
    assert wanted_extras(config) == ["gguf", "wandb"]
    assert wanted_extras(tiny_config()) == []


def test_sibling_packages_that_are_not_ours_block(tmp_path: Path):
    assert levels(check_siblings(tmp_path)) == [Level.BLOCKER]


def test_more_threads_than_cores_warn_and_fewer_are_noted():
    assert threads_finding(8, 2).level is Level.WARNING
    assert threads_finding(8, 2).advice == "set run.threads = 2"
    assert threads_finding(1, 2).level is Level.NOTE
    assert threads_finding(2, 2).level is Level.OK


def test_a_gpu_left_unused_warns():
    assert device_finding("cpu", cuda=True).level is Level.WARNING
    assert device_finding("cuda", cuda=True).level is Level.OK


def test_a_busy_machine_is_noted_because_times_suffer():
    assert levels(load_findings(7.0, 2)) == [Level.NOTE]
    assert levels(load_findings(1.0, 2)) == []


# data


def test_disjoint_splits_are_healthy():
    train, held_out = [problem(f"train/{i}") for i in range(20)], [problem(f"test/{i}") for i in range(5)]
    assert healthy(list(check_splits(train, held_out, split="test", drawn=10)))


def test_a_held_out_prompt_among_the_training_prompts_warns_and_names_both():
    train = [problem("train/1", "What is 2 + 2?"), problem("train/2", "And 3?")]
    found = only(check_splits(train, [problem("test/1", "what is  2 + 2?")], split="test", drawn=1), Level.WARNING)
    assert "test/1 and train/1" in found.what
    assert "measures memory" in found.advice


def test_repeated_prompts_warn_of_both_splits():
    train, held_out = [problem(str(i), "the same") for i in range(3)], [problem(str(i), "too") for i in range(3)]
    told = [
        found.what for found in check_splits(train, held_out, split="test", drawn=1) if found.level is Level.WARNING
    ]
    assert told[0].startswith("66.7 % of the training problems repeat")
    assert told[1].startswith("66.7 % of the held-out problems repeat")


def test_many_passes_through_few_problems_are_noted():
    found = only(check_splits([problem("1")], [problem("2")], split="test", drawn=500), Level.NOTE)
    assert "500 times through" in found.what


# references

RIGHT = "2+2 is #4"


def references(problems: Sequence[Problem], *, verifier: object = None, control: bool = False) -> list[Finding]:
    return list(
        check_references(
            problems,
            {"numeric": verifier or load_verifier("numeric")},  # pyright: ignore[reportArgumentType]
            whose="training",
            control=control,
            max_failed_frac=0.1,
            workers=1,
            demonstration_time=JudgingTime(),
        )
    )


def test_gold_answers_and_demonstrations_that_are_accepted_are_healthy():
    assert levels(references([problem("1", demonstration=RIGHT)] * 3)) == [Level.OK, Level.OK]


class Refuses:
    def verify(self, problem: Problem, response: str) -> Verdict:
        return Verdict(outcome=Outcome.INCORRECT, score=0.0, detail="never right")


def test_a_verifier_that_refuses_the_gold_answers_blocks():
    found = references([problem("p/1")] * 3, verifier=Refuses())
    assert levels(found) == [Level.BLOCKER]
    assert "refuses the gold answer of 3 of 3 training problems, for instance p/1: never right" in found[0].what


def test_a_control_arm_may_refuse_them():
    assert levels(references([problem("1")] * 3, verifier=Refuses(), control=True)) == [Level.NOTE]


def test_references_that_cannot_be_read_block_above_the_limit():
    found = references([problem("p/1", gold="no number"), problem("p/2")])
    assert Level.BLOCKER in levels(found)
    assert "1 of 2 training problems cannot be judged, the first p/1" in found[0].what


def test_demonstrations_that_are_never_right_block_and_some_are_noted():
    wrong, right = problem("1", demonstration="#5"), problem("2", demonstration=RIGHT)
    assert levels(references([wrong, wrong])) == [Level.OK, Level.BLOCKER]
    assert levels(references([wrong, right])) == [Level.OK, Level.NOTE]
    assert levels(references([wrong] * 9 + [right])) == [Level.OK, Level.WARNING]


class Breaks:
    def verify(self, problem: Problem, response: str) -> Verdict:
        raise KeyError("answer")


def test_a_verifier_that_raises_anything_else_is_named_with_its_line():
    with pytest.raises(BrokenVerifierError, match=r"raised KeyError: 'answer' \(.*test_doctor_checks.py, line \d+\)"):
        judge_safely([problem("1")], [Text("")], {"numeric": Breaks()}, workers=1, time_spent=JudgingTime())


def test_each_verdict_is_timed():
    spent = JudgingTime()
    problems, responses = [problem("1")] * 3, [Text(RIGHT)] * 3
    judge_safely(problems, responses, {"numeric": load_verifier("numeric")}, workers=2, time_spent=spent)
    assert len(spent.latencies_s) == spent.responses == 3
    assert 0 < spent.each_s < 1


def test_a_verifier_that_cannot_judge_is_not_retried():
    calls = []

    class Fails:
        def verify(self, problem: Problem, response: str) -> Verdict:
            calls.append(1)
            raise BadReferenceError("no")

    judge_safely([problem("1")], [Text("")], {"numeric": Fails()}, workers=1, time_spent=JudgingTime())
    assert len(calls) == 1


# sandbox


def sandbox(stdout: bytes = b"42\n", **ended: object) -> FakeSandbox:
    execution = Execution(**{"end": End.EXITED, "exit_code": 0, "stdout": stdout, **ended})  # pyright: ignore
    return FakeSandbox(lambda program, limits: execution)


def test_a_sandbox_that_runs_a_program_is_healthy():
    assert levels(check_sandbox(sandbox())) == [Level.OK]


def test_a_slow_sandbox_warns():
    assert levels(check_sandbox(sandbox(), slow_s=0.0)) == [Level.WARNING]


def test_a_program_that_does_not_come_through_blocks():
    found = only(check_sandbox(sandbox(b"", exit_code=127, stderr=b"no python3")), Level.BLOCKER)
    assert "exit code 127: no python3" in found.what
    assert "rlvr sandbox check" in found.advice


def test_an_engine_that_does_not_answer_blocks():
    class Gone(FakeSandbox):
        def run(self, program, limits):
            raise SandboxUnavailableError("no Docker engine answers at unix:///x; start it")

    gone = Gone(lambda program, limits: Execution(end=End.EXITED))
    (found,) = check_sandbox(gone)
    assert (found.level, found.advice) == (Level.BLOCKER, "start it")


@pytest.mark.filterwarnings("ignore:LocalSandbox")
def test_a_sandbox_that_contains_nothing_warns():
    with closing(LocalSandbox()) as local:
        assert "does not contain programs" in only(check_sandbox(local), Level.WARNING).what


def test_verifiers_of_programs_are_found_inside_others():
    parts = [{"name": "function_tests", "options": {"sandbox": "local"}}, {"name": "length_penalty", "options": {}}]
    nested = {"verifier": "function_tests", "options": {"sandbox": "local"}}
    assert len(code_verifiers("shuffled", nested)) == 1
    assert len(code_verifiers("all", {"parts": parts[:1]})) == 1
    assert code_verifiers("numeric", {}) == []


def test_references_of_programs_are_read_without_running_any():
    tests = AssertTests(asserts=("assert f() == 1",))
    broken = AssertTests(asserts=())
    verifier = load_verifier("assert_tests")
    for reference, level in ((tests, Level.OK), (broken, Level.BLOCKER)):
        asked = Problem(id="c/1", prompt="f?", reference=reference, verifier="assert_tests")
        found = check_references(
            [asked], {"assert_tests": verifier}, whose="training", control=False, max_failed_frac=0.1, workers=1,
            demonstration_time=JudgingTime(),
        )  # fmt: skip
        assert levels(found) == [level]

"""Programs that read standard input and print."""

import pytest
from support.code_problems import code_problem, fenced
from support.docker_engine import require_docker

from sandbox import End, Execution, FakeSandbox, Sandbox, SandboxLostError
from tasks.types import AssertTests, Compare, StdinTests
from verifiers import BadReferenceError, Outcome, VerifierError, VerifierOptionError
from verifiers.code.outcome import word_of
from verifiers.code.stdin_tests import StdinTestsVerifier

SUMS = StdinTests(cases=(("1 2\n", "3\n"), ("4 5\n", "9\n"), ("-7 7\n", "0\n")))
SUM = "print(sum(map(int, input().split())))"
CHECKER = """
def check(inp, expected, out):
    print("debugging")
    low, high = map(int, out.split())
    return low + high == int(expected)
"""


def test_a_right_program_is_correct(sandbox: Sandbox):
    verdict = StdinTestsVerifier(sandbox=sandbox).verify(code_problem(SUMS), fenced(SUM))
    assert (verdict.outcome, verdict.score, verdict.answer) == (Outcome.CORRECT, 1.0, SUM)


def test_a_response_without_a_program_has_no_answer():
    verdict = StdinTestsVerifier(sandbox=FakeSandbox()).verify(code_problem(SUMS), SUM)
    assert verdict.outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize(
    ("program", "word", "passed"),
    [
        ("print(3)", "fail", 1),
        ("import sys; print(sum(map(int, input().split()))); sys.exit(3)", "error", 0),
        ("print(1/0)", "error", 0),
        ("print(", "error", 0),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "fail", 0),
        ("a = [0] * 10**10", "memory", 0),
        ("print('x' * 2**21)", "rejected", 0),
        (f"{SUM}\nprint('\\x1b[2K')", "fail", 0),
    ],
)
def test_a_wrong_program_is_not(sandbox: Sandbox, program: str, word: str, passed: int):
    verdict = StdinTestsVerifier(sandbox=sandbox).verify(code_problem(SUMS), fenced(program))
    assert (word_of(verdict), verdict.score) == (word, 0.0), verdict
    assert verdict.parts["tests passed"] == passed / 3


def test_partial_scores_are_the_share_of_passed_tests(sandbox: Sandbox):
    verdict = StdinTestsVerifier(sandbox=sandbox, partial=True).verify(code_problem(SUMS), fenced("print(3)"))
    assert verdict.score == pytest.approx(1 / 3)
    assert verdict.outcome is Outcome.INCORRECT


def test_out_of_time_is_timed_out_and_the_other_cases_are_left_out(sandbox: Sandbox):
    verifier = StdinTestsVerifier(sandbox=sandbox, wall_s=0.5)
    verdict = verifier.verify(code_problem(SUMS), fenced("import time; time.sleep(9)"))
    assert verdict.outcome is Outcome.TIMED_OUT
    assert "test 2" not in verdict.parts


def test_limits_of_the_problem_go_before_those_of_the_verifier():
    fake = FakeSandbox(lambda program, limits: Execution(end=End.TIMED_OUT))
    StdinTestsVerifier(sandbox=fake, wall_s=2, memory_mb=99, output_bytes=7).verify(code_problem(SUMS), fenced(SUM))
    own = StdinTests(cases=SUMS.cases, wall_s=1.5, memory_mb=64)
    StdinTestsVerifier(sandbox=fake, wall_s=2, cpu_s=0.5).verify(code_problem(own), fenced(SUM))
    (_, first), (_, second) = fake.calls
    assert (first.wall_s, first.cpu_s, first.memory_mb, first.output_bytes) == (2, 2, 99, 7)
    assert (second.wall_s, second.cpu_s, second.memory_mb) == (1.5, 0.5, 64)


def test_the_first_failure_can_end_the_run():
    fake = FakeSandbox(lambda program, limits: Execution(end=End.EXITED, exit_code=0))
    StdinTestsVerifier(sandbox=fake).verify(code_problem(SUMS), fenced(SUM))
    assert len(fake.calls) == 3
    StdinTestsVerifier(sandbox=fake, stop_at_first_failure=True).verify(code_problem(SUMS), fenced(SUM))
    assert len(fake.calls) == 4


def test_expected_output_never_enters_the_sandbox():
    fake = FakeSandbox(lambda program, limits: Execution(end=End.EXITED, exit_code=0))
    StdinTestsVerifier(sandbox=fake).verify(code_problem(StdinTests(cases=(("1", "SECRET"),))), fenced(SUM))
    ((program, _),) = fake.calls
    assert "SECRET" not in repr(program)


def test_a_checker_decides_in_the_sandbox(sandbox: Sandbox):
    reference = StdinTests(cases=(("10\n", "10"), ("7\n", "7")), compare=Compare(mode="checker", checker=CHECKER))
    verifier = StdinTestsVerifier(sandbox=sandbox)
    right = verifier.verify(code_problem(reference), fenced("n = int(input()); print(n - 2, 2)"))
    half = verifier.verify(code_problem(reference), fenced("n = int(input()); print(7, 0)"))
    nonsense = verifier.verify(code_problem(reference), fenced("print('True')"))
    crash = verifier.verify(code_problem(reference), fenced("1/0"))
    assert right.outcome is Outcome.CORRECT
    assert (half.outcome, half.parts["tests passed"]) == (Outcome.INCORRECT, 0.5)
    assert (word_of(nonsense), word_of(crash)) == ("fail", "error")


@pytest.mark.parametrize("checker", ["", "check = 1 +", "def chek(inp, expected, out): return True", "1/0"])
def test_a_checker_that_cannot_be_used_is_the_problems_mistake(sandbox: Sandbox, checker: str):
    reference = StdinTests(cases=(("1", "1"),), compare=Compare(mode="checker", checker=checker))
    with pytest.raises(BadReferenceError, match="toy/1"):
        StdinTestsVerifier(sandbox=sandbox).verify(code_problem(reference), fenced("print(1)"))


@pytest.mark.parametrize("reference", [None, AssertTests(asserts=("assert f",)), StdinTests(cases=())])
def test_a_reference_without_such_tests_is_the_problems_mistake(reference: object):
    with pytest.raises(BadReferenceError, match="toy/1"):
        StdinTestsVerifier(sandbox=FakeSandbox()).verify(code_problem(reference), fenced(SUM))


def test_a_failure_of_the_sandbox_is_no_verdict():
    fake = FakeSandbox(lambda program, limits: Execution(end=End.EXITED, exit_code=0), fail_on=[2])
    with pytest.raises(VerifierError, match="toy/1") as raised:
        StdinTestsVerifier(sandbox=fake).verify(code_problem(SUMS), fenced(SUM))
    assert isinstance(raised.value.__cause__, SandboxLostError)


def test_verifiers_of_the_same_settings_share_a_sandbox():
    require_docker()
    one, another = (StdinTestsVerifier(containers=1, docker={"start": "exec"}) for _ in range(2))
    assert one.sandbox is another.sandbox
    assert one.sandbox is not StdinTestsVerifier(containers=1).sandbox
    assert one.verify(code_problem(SUMS), fenced(SUM)).score == 1
    one.sandbox.close()


def test_a_docker_option_that_there_is_not_is_refused():
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.docker\.imgae.*image"):
        StdinTestsVerifier(docker={"imgae": "x"})


@pytest.mark.parametrize("options", [{"wall_s": 0}, {"memory_mb": -1}, {"containers": 0}, {"sandbox": "dokcer"}])
def test_an_option_out_of_range_is_refused(options: dict[str, object]):
    with pytest.raises(VerifierOptionError, match=f"verifier_options.{next(iter(options))}"):
        StdinTestsVerifier(**options)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("program", ["x = '\ud800'", "\x00", "# -*- coding: none -*-", "(" * 5000, "\ufeffprint(1)"])
def test_a_source_that_is_no_text_is_judged_all_the_same(sandbox: Sandbox, program: str):
    verdict = StdinTestsVerifier(sandbox=sandbox).verify(code_problem(SUMS), fenced(program))
    assert verdict.outcome in (Outcome.CRASHED, Outcome.INCORRECT)

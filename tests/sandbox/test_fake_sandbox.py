from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox import (
    End,
    Execution,
    FakeSandbox,
    Judge,
    Limits,
    Program,
    Sandbox,
    SandboxClosedError,
    SandboxError,
    SandboxUnavailableError,
)

HELLO = Program(argv=("python3", "main.py"), files={"main.py": b"print('hello')"})
SAYS_HELLO = Execution(end=End.EXITED, exit_code=0, stdout=b"hello\n")


def echo(program: Program, limits: Limits) -> Execution:
    return Execution(end=End.EXITED, exit_code=0, stdout=program.stdin)


def test_the_fake_keeps_the_sandbox_contract():
    assert isinstance(FakeSandbox(echo), Sandbox)


def test_a_function_answers_each_run():
    assert FakeSandbox(echo).run(Program(argv=("cat",), stdin=b"abc"), Limits()).stdout == b"abc"


def test_a_table_answers_the_programs_it_holds():
    assert FakeSandbox([(HELLO, SAYS_HELLO)]).run(HELLO, Limits()) == SAYS_HELLO


def test_a_program_missing_from_the_table_is_a_mistake_of_the_test():
    with pytest.raises(LookupError, match="cat"):
        FakeSandbox([(HELLO, SAYS_HELLO)]).run(Program(argv=("cat",)), Limits())


def test_calls_are_recorded_with_their_limits():
    fake = FakeSandbox(echo)
    fake.run(HELLO, Limits(wall_s=1.0))
    assert fake.calls == [(HELLO, Limits(wall_s=1.0))]


def test_chosen_calls_fail_and_are_recorded():
    fake = FakeSandbox(echo, fail_on={2}, error=SandboxUnavailableError("no engine"))
    fake.run(HELLO, Limits())
    with pytest.raises(SandboxUnavailableError):
        fake.run(HELLO, Limits())
    fake.run(HELLO, Limits())
    assert len(fake.calls) == 3


def test_a_closed_sandbox_refuses_to_run():
    fake = FakeSandbox(echo)
    fake.close()
    fake.close()
    with pytest.raises(SandboxClosedError):
        fake.run(HELLO, Limits())


JUDGE = Judge(source=b"print('right')", stdin=b"42")


def test_judged_runs_are_answered_and_recorded_apart():
    verdict = Execution(end=End.EXITED, exit_code=0, stdout=b"right\n")
    fake = FakeSandbox(echo, judged=lambda program, judge, limits: (SAYS_HELLO, verdict))
    fake.run(HELLO, Limits())
    assert fake.run_judged(HELLO, JUDGE, Limits(wall_s=2.0)) == (SAYS_HELLO, verdict)
    assert fake.calls == [(HELLO, Limits())]
    assert fake.judged_calls == [(HELLO, JUDGE, Limits(wall_s=2.0))]


def test_a_fake_without_judged_answers_says_so():
    with pytest.raises(LookupError, match="judged="):
        FakeSandbox(echo).run_judged(HELLO, JUDGE, Limits())


def test_calls_of_both_kinds_count_for_the_failures_ordered():
    fake = FakeSandbox(echo, judged=lambda program, judge, limits: (SAYS_HELLO, SAYS_HELLO), fail_on={2})
    fake.run(HELLO, Limits())
    with pytest.raises(SandboxError):
        fake.run_judged(HELLO, JUDGE, Limits())
    fake.run(HELLO, Limits())


def test_many_threads_get_exactly_the_failures_that_were_ordered():
    fake = FakeSandbox(echo, fail_on=range(1, 11))

    def fails(number: int) -> bool:
        try:
            return fake.run(Program(argv=("cat",), stdin=str(number).encode()), Limits()).stdout != str(number).encode()
        except SandboxError:
            return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(fails, range(200))) == 10
    assert len(fake.calls) == 200


@pytest.mark.parametrize("limits", [{"wall_s": 0.0}, {"memory_mb": -1}, {"cpu_s": float("nan")}])
def test_a_limit_that_is_not_positive_is_refused(limits: dict[str, float]):
    with pytest.raises(ValueError, match=next(iter(limits))):
        Limits(**limits)  # pyright: ignore[reportArgumentType]

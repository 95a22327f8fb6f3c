import threading
import time
from collections import Counter
from collections.abc import Sequence

import pytest

from rlvr.rollout.judge import judge
from rlvr.rollout.types import Finish, Response
from tasks.types import MathAnswer, Problem
from verifiers import load_verifier
from verifiers.errors import BadReferenceError, VerifierError
from verifiers.types import Outcome, Verdict


def problem(number: int, verifier: str = "made") -> Problem:
    return Problem(id=f"made/train/{number}", prompt="?", reference=number, verifier=verifier)


def response(text: str) -> Response:
    return Response(
        prompt_ids=(1,), token_ids=(2,), logprobs=(0.0,), mask=(True,), text=text, finish=Finish.STOP
    )  # fmt: skip


def numbered(count: int, verifier: str = "made") -> tuple[list[Problem], list[Response]]:
    """`count` problems, each with its own number as the response's text."""
    return [problem(n, verifier) for n in range(count)], [response(str(n)) for n in range(count)]


def right(answer: str) -> Verdict:
    return Verdict(outcome=Outcome.CORRECT, score=1.0, answer=answer)


class Echo:
    """Finds every response right and keeps its text."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        return right(response)


class Failing:
    """Fails on the given numbers: `times` times each, or for ever."""

    def __init__(self, numbers: Sequence[int], *, times: int | None = None) -> None:
        self.numbers = numbers
        self.times = times
        self.calls: Counter[int] = Counter()

    def verify(self, problem: Problem, response: str) -> Verdict:
        number = problem.reference
        self.calls[number] += 1
        if number in self.numbers and (self.times is None or self.calls[number] <= self.times):
            raise BadReferenceError(f"problem {problem.id}: broken")
        return right(response)


class Batched(Failing):
    """A batch verifier whose batch fails when any of its problems does."""

    def __init__(self, numbers: Sequence[int] = (), *, lost: int = 0) -> None:
        super().__init__(numbers)
        self.lost = lost
        self.batches: list[list[str]] = []

    def verify_batch(self, problems: Sequence[Problem], responses: Sequence[str]) -> list[Verdict]:
        self.batches.append(list(responses))
        if any(p.reference in self.numbers for p in problems):
            raise VerifierError("the batch failed")
        return [right(text) for text in responses][self.lost :]


def answers(judged: Sequence[Verdict | VerifierError]) -> list[str | None]:
    return [found.answer if isinstance(found, Verdict) else None for found in judged]


@pytest.mark.parametrize("workers", [1, 4])
def test_verdicts_come_in_the_order_of_the_responses(workers: int):
    class Slowing:
        def verify(self, problem: Problem, response: str) -> Verdict:
            time.sleep(0.002 * (10 - problem.reference))
            return right(response)

    problems, responses = numbered(10)
    assert answers(judge(problems, responses, {"made": Slowing()}, workers=workers)) == [str(n) for n in range(10)]


def test_a_real_verifier_judges_each_response_by_its_own_problem():
    problems = [
        Problem(id=f"p/{n}", prompt="?", reference=MathAnswer(value=str(n)), verifier="numeric") for n in (3, 4)
    ]
    judged = judge(problems, [response("It is 3"), response("It is 3")], {"numeric": load_verifier("numeric", {})})
    assert [found.outcome for found in judged if isinstance(found, Verdict)] == [Outcome.CORRECT, Outcome.INCORRECT]


def test_as_many_responses_are_judged_at_once_as_there_are_workers():
    """Each call waits for the others: with fewer threads this would time out."""
    barrier = threading.Barrier(3, timeout=20)

    class Waiting:
        def verify(self, problem: Problem, response: str) -> Verdict:
            barrier.wait()
            return right(response)

    problems, responses = numbered(6)
    assert answers(judge(problems, responses, {"made": Waiting()}, workers=3)) == [str(n) for n in range(6)]


def test_one_worker_calls_verifiers_in_the_callers_own_thread():
    threads = set()

    class Noting:
        def verify(self, problem: Problem, response: str) -> Verdict:
            threads.add(threading.current_thread())
            return right(response)

    judge(*numbered(5), {"made": Noting()}, workers=1)
    assert threads == {threading.current_thread()}


@pytest.mark.parametrize("workers", [1, 4])
def test_a_verifier_that_fails_is_tried_again(workers: int):
    """checklist 34: our own failure is retried before anything is lost."""
    verifier = Failing([1, 3], times=2)
    judged = judge(*numbered(5), {"made": verifier}, workers=workers, retries=2)
    assert answers(judged) == ["0", "1", "2", "3", "4"]
    assert verifier.calls == {0: 1, 1: 3, 2: 1, 3: 3, 4: 1}


def test_a_failure_that_stays_is_the_error_itself_and_costs_no_other_its_verdict():
    """checklist 34: a verifier's error is not a verdict, and no score."""
    verifier = Failing([2])
    judged = judge(*numbered(4), {"made": verifier}, retries=2)
    assert answers(judged) == ["0", "1", None, "3"]
    assert isinstance(judged[2], BadReferenceError)
    assert "made/train/2" in str(judged[2])
    assert verifier.calls[2] == 3


def test_without_retries_there_is_one_try():
    verifier = Failing([0])
    judge(*numbered(1), {"made": verifier}, retries=0)
    assert verifier.calls == {0: 1}


@pytest.mark.parametrize("workers", [1, 4])
def test_any_other_exception_is_a_bug_and_passes_through(workers: int):
    class Buggy:
        def verify(self, problem: Problem, response: str) -> Verdict:
            raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        judge(*numbered(3), {"made": Buggy()}, workers=workers)


def test_a_verifier_that_gives_no_verdict_is_named():
    """Nothing may be dropped in silence: the verdicts behind it would go to the wrong responses."""

    class Forgetful:
        def verify(self, problem: Problem, response: str) -> Verdict:
            return None  # pyright: ignore[reportReturnType]

    with pytest.raises(TypeError, match=r"verifier 'made' gave NoneType and not a Verdict on problem made/train/0"):
        judge(*numbered(1), {"made": Forgetful()})


def test_a_batch_verifier_gets_all_its_responses_in_one_call():
    verifier = Batched()
    judged = judge(*numbered(4), {"made": verifier})
    assert verifier.batches == [["0", "1", "2", "3"]]
    assert not verifier.calls
    assert answers(judged) == ["0", "1", "2", "3"]


def test_a_batch_that_fails_is_judged_one_by_one():
    verifier = Batched([1])
    judged = judge(*numbered(4), {"made": verifier}, retries=1)
    assert answers(judged) == ["0", None, "2", "3"]
    assert verifier.calls == {0: 1, 1: 2, 2: 1, 3: 1}


def test_a_batch_of_the_wrong_size_is_a_bug_that_names_the_verifier():
    with pytest.raises(TypeError, match=r"'made': verify_batch gave 3 verdicts for 4 responses"):
        judge(*numbered(4), {"made": Batched(lost=1)})


def test_problems_of_several_verifiers_keep_their_order():
    names = ["single", "batched", "single", "other", "batched"]
    problems = [problem(n, name) for n, name in enumerate(names)]
    responses = [response(str(n)) for n in range(5)]
    batched, other = Batched(), Batched()
    judged = judge(problems, responses, {"single": Echo(), "batched": batched, "other": other})
    assert answers(judged) == ["0", "1", "2", "3", "4"]
    assert batched.batches == [["1", "4"]]
    assert other.batches == [["3"]]


def test_no_responses_have_no_verdicts():
    assert judge([], [], {"made": Echo()}) == []

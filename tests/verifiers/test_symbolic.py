"""The mathematics verifier's contract: verdicts, declared places, hedges, options, limits, where it may be called."""

import asyncio
import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, Outcome, Verdict, VerifierOptionError, load_verifier
from verifiers.symbolic import MathVerifier

CORRECT, INCORRECT, NO_ANSWER, TIMED_OUT = Outcome.CORRECT, Outcome.INCORRECT, Outcome.NO_ANSWER, Outcome.TIMED_OUT
PATIENCE_S = 10.0
"""What a call may take on a busy machine whose limit is 1.5 s: the start of a worker included."""
BLOW_UPS = [
    r"9^{9^{9}}", r"10^{10^{10}}", r"9^{9^{9^{9}}}", r"2^{2^{2^{2^{2^{2}}}}}", r"100,000,000!", r"(10^6)!",
    r"\binom{10^9}{5 \cdot 10^8}", r"(a+b+c+d+e)^{200}", r"(x+1)^{100000}", r"\sum_{k=1}^{10^{12}} \frac{1}{k}",
    r"\int_0^1 \int_0^1 x^x dx dx", r"\cos(10^{10^{5}})", r"e^{" * 25 + "9" + "}" * 25, r"\ln" * 500 + "5",
    r"\sqrt" * 1000 + "2", r"\frac{1}{" * 1000 + "2" + "}" * 1000, "(" * 10_000 + "5" + ")" * 10_000, "\\{" * 10_000,
    "9" * 99_000, "0." + "1" * 90_000, "1+" * 49_000 + "1", "x^" * 700 + "2", "-" * 1400 + "5", "2" + "/1" * 700,
    r"\pm 1" * 400, "5\x00", "\x00" * 1000, "\ud800",
]  # fmt: skip


def problem(gold: str, answer_format: str = "boxed") -> Problem:
    reference = MathAnswer(value=gold, answer_format=answer_format)
    return Problem(id="toy/7", prompt="?", reference=reference, verifier="math")


def square_roots(verifier: MathVerifier, count: int) -> list[bool]:
    """Judge responses that need a worker: every other one is right."""
    answers = [rf"\boxed{{\sqrt{{{4 * number + number % 2 * 4}}}}}" for number in range(2, count + 2)]
    return [
        verifier.verify(problem(rf"2\sqrt{{{number}}}"), answer).outcome is CORRECT
        for number, answer in enumerate(answers, start=2)
    ]


def children() -> set[str]:
    tasks = Path("/proc/self/task").glob("*/children")
    return {child for task in tasks for child in task.read_text().split()}


@pytest.fixture(scope="module")
def verifier() -> MathVerifier:
    return MathVerifier()


# Verdicts


def test_a_right_answer_is_worth_one_and_says_why_in_one_line(verifier: MathVerifier):
    verdict = verifier.verify(problem(r"\frac{1}{2}"), r"So $\boxed{0.5}$.")
    assert verdict == Verdict(outcome=CORRECT, score=1.0, answer="0.5", detail=verdict.detail)
    assert "frac" in verdict.detail


@pytest.mark.parametrize(
    ("response", "outcome", "answer"),
    [
        (r"\boxed{3}", INCORRECT, "3"),
        (r"\boxed{two}", INCORRECT, "two"),
        (r"\boxed{a\\b" + "\n\x00c}", INCORRECT, "a\\\\b\n\x00c"),
        (r"\boxed{}", NO_ANSWER, None),
        ("1/2", NO_ANSWER, None),
        ("", NO_ANSWER, None),
    ],
)
def test_everything_else_is_worth_nothing(verifier: MathVerifier, response: str, outcome: Outcome, answer: str | None):
    verdict = verifier.verify(problem(r"\frac{1}{2}"), response)
    assert (verdict.outcome, verdict.score, verdict.answer) == (outcome, 0.0, answer)
    assert verdict.detail
    assert verdict.detail.isprintable()
    assert verdict.detail.isascii()


def test_a_comparison_in_a_worker_gives_the_same_kind_of_verdict(verifier: MathVerifier):
    right = verifier.verify(problem(r"2\sqrt{3}"), r"\boxed{\sqrt{12}}")
    wrong = verifier.verify(problem(r"2\sqrt{3}"), r"\boxed{\sqrt{13}}")
    assert (right.outcome, right.score, right.answer) == (CORRECT, 1.0, r"\sqrt{12}")
    assert (wrong.outcome, wrong.score, wrong.answer) == (INCORRECT, 0.0, r"\sqrt{13}")


def test_it_is_registered_by_name():
    assert isinstance(load_verifier("math", {"lenient": True, "decimal_digits": 4}), MathVerifier)


# Golds


@pytest.mark.parametrize(
    "gold", ["", "  ", "$$", r"\frac{1}{", "1, 2)", "5}", "1 +", "x =", r"\unknowncommand{3}", "\x00"]
)
def test_a_gold_answer_that_cannot_be_read_is_our_failure(verifier: MathVerifier, gold: str):
    with pytest.raises(BadReferenceError, match="problem toy/7: "):
        verifier.verify(problem(gold), r"\boxed{1}")
    with pytest.raises(BadReferenceError, match=r"the gold answer"):
        verifier.judge(gold, "1")


def test_a_reference_of_another_kind_is_our_failure(verifier: MathVerifier):
    for reference in ("5", None):
        with pytest.raises(BadReferenceError, match="toy/7"):
            verifier.verify(Problem(id="toy/7", prompt="?", reference=reference, verifier="math"), r"\boxed{5}")
    with pytest.raises(BadReferenceError, match="toy/7"):
        verifier.verify(problem("5", "no such format"), r"\boxed{5}")


@pytest.mark.parametrize("gold", [r"First $x = 3$, and so $\boxed{12}$.", "3 * 4 = 12\n#### 12", "The answer is 12."])
def test_a_whole_solution_as_gold_stands_for_its_answer(verifier: MathVerifier, gold: str):
    assert verifier.judge(gold, r"\boxed{12}").outcome is CORRECT
    assert verifier.judge(gold, r"\boxed{3}").outcome is INCORRECT


# Where the answer stands


@pytest.mark.parametrize(
    ("answer_format", "response"),
    [
        ("boxed", r"\boxed{12}"),
        ("marker:####", "so it is\n#### 12"),
        ("tag:answer", "<answer>12</answer>"),
        ("last_number", "so there are 12 of them"),
    ],
)
def test_only_the_declared_place_counts(verifier: MathVerifier, answer_format: str, response: str):
    assert verifier.verify(problem("12", answer_format), response).outcome is CORRECT
    hidden = verifier.verify(problem("12", answer_format), f"<think>{response}</think> I cannot say.")
    assert hidden.outcome is NO_ANSWER
    for elsewhere in {"boxed", "marker:####", "tag:answer"} - {answer_format}:
        assert verifier.verify(problem("12", elsewhere), response).outcome is NO_ANSWER
        assert MathVerifier(lenient=True).verify(problem("12", elsewhere), response).outcome is CORRECT


@pytest.mark.parametrize(
    ("gold", "response", "outcome"),
    [
        ("12", r"\boxed{12} \boxed{13}", INCORRECT),
        ("13", r"\boxed{12} \boxed{13}", INCORRECT),
        ("13", r"\boxed{12} is wrong, so \boxed{13}", INCORRECT),
        ("12", r"\boxed{12} \boxed{12.0} \boxed{\frac{24}{2}}", CORRECT),
        (r"2\sqrt{3}", r"\boxed{\sqrt{12}} \boxed{2\sqrt{3}}", CORRECT),
        (r"2\sqrt{3}", r"\boxed{\sqrt{13}} \boxed{2\sqrt{3}}", INCORRECT),
        ("12", r"\boxed{12 \text{ or } 13}", INCORRECT),
        ("12", r"\boxed{12, 13}", INCORRECT),
        ("12, 13", r"\boxed{12} and \boxed{13}", CORRECT),
        (r"\{12, 13\}", r"\boxed{13} \boxed{12}", CORRECT),
        ("12, 13", r"\boxed{12}", INCORRECT),
        ("12, 13", r"\boxed{12} \boxed{13} \boxed{14}", INCORRECT),
        ("12, 13", r"\boxed{12, 13} \boxed{12, 14}", INCORRECT),
        ("B", r"\boxed{B} \boxed{(B)}", CORRECT),
        ("B", r"\boxed{A} \boxed{B}", INCORRECT),
    ],
)
def test_several_boxes_must_say_the_same_or_be_the_parts(
    verifier: MathVerifier, gold: str, response: str, outcome: Outcome
):
    assert verifier.verify(problem(gold), response).outcome is outcome


# Options


@pytest.mark.parametrize(
    ("options", "gold", "answer", "accepted"),
    [
        ({"percent": "either"}, r"28\%", "28", True),
        ({"percent": "either"}, r"28\%", "0.28", True),
        ({"percent": "value"}, r"28\%", "28", False),
        ({"percent": "value"}, r"28\%", "0.28", True),
        ({"percent": "strict"}, r"28\%", "0.28", False),
        ({"percent": "strict"}, r"28\%", r"28.0\%", True),
        ({"units": "optional"}, r"12 \text{ cm}", "12", True),
        ({"units": "required"}, r"12 \text{ cm}", "12", False),
        ({"units": "required"}, r"12 \text{ cm}", "12 cm", True),
        ({"units": "required"}, r"12 \text{ cm}", "12 m", False),
        ({"names": "optional"}, "x = 5", "5", True),
        ({"names": "optional"}, "5", "x = 5", True),
        ({"names": "required"}, "x = 5", "5", False),
        ({"names": "required"}, "x = 5", "5 = x", True),
        ({"names": "required"}, "x = 5, y = 6", "5, 6", False),
        ({"names": "required"}, "x = 5, y = 6", "(5, 6)", False),
        ({"ordered_lists": False}, "1, 2", "2, 1", True),
        ({"ordered_lists": True}, "1, 2", "2, 1", False),
        ({"ordered_lists": True}, "1, 2", "1, 2.0", True),
        ({"ordered_lists": True}, r"\{1, 2\}", r"\{2, 1\}", True),
        ({"decimal_digits": 6}, r"\frac{1}{3}", "0.333333", True),
        ({"decimal_digits": 6}, r"\frac{1}{3}", "0.33333", False),
        ({"decimal_digits": 3}, r"\frac{1}{3}", "0.333", True),
        ({"decimal_digits": 3}, r"\pi", "3.15", False),
        ({"decimal_digits": 0}, r"\frac{1}{3}", "0.3333333333333333", False),
        ({"decimal_digits": 0}, r"\frac{1}{4}", "0.25", True),
    ],
)
def test_each_option_changes_what_it_says(options: dict[str, str | int], gold: str, answer: str, accepted: bool):
    verdict = load_verifier("math", options).verify(problem(gold), rf"\boxed{{{answer}}}")
    assert (verdict.outcome is CORRECT) == accepted


@pytest.mark.parametrize(
    "options",
    [{"wall_s": 0}, {"memory_mb": -1}, {"workers": 0}, {"decimal_digits": -1}, {"percent": "maybe"}, {"unit": "none"}],
)
def test_an_option_out_of_range_is_named(options: dict[str, str | int]):
    with pytest.raises(VerifierOptionError, match=next(iter(options))):
        load_verifier("math", options)


# Limits


def test_a_comparison_that_takes_too_long_is_timed_out():
    verifier = MathVerifier(wall_s=0.4)
    verdict = verifier.verify(problem("5"), r"\boxed{\int_0^1 \sin(\cos(\tan(x^x + \ln(1 + x^3)))) e^{\sin x} dx}")
    assert (verdict.outcome, verdict.score) == (TIMED_OUT, 0.0)
    assert "could not be compared" in verdict.detail
    assert verifier.verify(problem(r"2\sqrt{3}"), r"\boxed{\sqrt{12}}").outcome is CORRECT


@pytest.mark.parametrize("gold", ["7", "x^2 + 1", r"\sqrt{2}", "(1, 2)", r"\text{east}", "B", "May 5", "[1, 2)"])
def test_no_answer_takes_long_or_raises(verifier: MathVerifier, gold: str):
    for answer in BLOW_UPS:
        start = time.monotonic()
        assert verifier.verify(problem(gold), rf"\boxed{{{answer}}}").score == 0.0, answer[:40]
        assert time.monotonic() - start < PATIENCE_S, answer[:40]


@pytest.mark.parametrize(
    "answer",
    [
        "".join(rf"\sum_{{{name}=1}}^{{39}}" for name in "abcdfg") + "1",
        "]1" + "," * 29_000,
        "]" + "1,111" * 5_000,
        "1" * 29_000,
    ],
    ids=["nested sums", "French brackets and commas", "French brackets and numbers", "one long number"],
)
def test_what_is_read_without_a_worker_takes_time_that_is_linear_in_its_length(verifier: MathVerifier, answer: str):
    for gold in ("5", r"\text{east}"):
        start = time.process_time()
        assert verifier.verify(problem(gold), rf"\boxed{{{answer}}}").outcome is not CORRECT
        assert time.process_time() - start < 2.0


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch CANARY')", "exec(\"open('CANARY','w')\")", "open('CANARY', 'w')",
        r"\sqrt{2} + __import__('pathlib').Path('CANARY').touch()", "(lambda: open('CANARY','w'))()", r"\input{CANARY}",
        "{{7*7}}", "${jndi:CANARY}", r"\write18{touch CANARY}", "5; import os; os.mkdir('CANARY')",
    ],
)  # fmt: skip
def test_nothing_that_is_judged_is_executed(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    verifier = MathVerifier(workers=1)  # a worker that starts here
    assert verifier.verify(problem(r"\sqrt{2}"), rf"\boxed{{{text}}}").outcome is not CORRECT
    assert square_roots(verifier, 2) == [True, False]
    assert list(tmp_path.iterdir()) == []


# Where it may be called


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_no_process_is_started_before_a_comparison_needs_one():
    before = children()
    verifier = MathVerifier()
    for gold, answer in (("72", "72"), ("72", "72.0"), ("1/2", r"\frac{2}{4}"), ("(1, 2)", "(1, 2)"), ("B", "(B)")):
        assert verifier.verify(problem(gold), rf"\boxed{{{answer}}}").outcome is CORRECT
    assert children() == before
    assert verifier.verify(problem(r"2\sqrt{3}"), r"\boxed{\sqrt{12}}").outcome is CORRECT
    assert children() > before


def test_threads_share_it(verifier: MathVerifier):
    with ThreadPoolExecutor(8) as threads:
        findings = list(threads.map(lambda _: square_roots(verifier, 20), range(8)))
        blown_up = list(threads.map(lambda text: verifier.verify(problem("7"), rf"\boxed{{{text}}}"), BLOW_UPS))
    assert findings == [[True, False] * 10] * 8
    assert {verdict.score for verdict in blown_up} == {0.0}


def test_an_event_loop_may_call_it_directly_and_in_threads(verifier: MathVerifier):
    async def judge_all() -> list[list[bool]]:
        inside = square_roots(verifier, 4)
        return [inside, *await asyncio.gather(*[asyncio.to_thread(square_roots, verifier, 4) for _ in range(4)])]

    assert asyncio.run(judge_all()) == [[True, False] * 2] * 5


def test_a_copy_by_pickle_judges_alike():
    verifier = MathVerifier(percent="strict", lenient=True)
    copy = pickle.loads(pickle.dumps(verifier))
    assert square_roots(copy, 2) == [True, False]
    assert copy.verify(problem(r"28\%"), "The answer is 0.28.").outcome is INCORRECT


class Judged:
    """A data set that judges on access, as a worker of a DataLoader would."""

    def __init__(self, verifier: MathVerifier) -> None:
        self.verifier = verifier

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> tuple[int, bool]:
        return os.getpid(), all(square_roots(self.verifier, 2)[0::2])


def test_workers_of_a_data_loader_may_call_it(verifier: MathVerifier):
    from torch.utils.data import DataLoader

    assert square_roots(verifier, 2) == [True, False]  # so that a fork inherits live workers
    batches = list(DataLoader(Judged(verifier), batch_size=None, num_workers=2))  # type: ignore[arg-type]
    assert {process for process, _ in batches} != {os.getpid()}
    assert all(right for _, right in batches)
    assert square_roots(verifier, 2) == [True, False]


def test_a_second_opinion_is_asked_for_only_where_an_answer_is_not_understood():
    answer = r"\boxed{\operatorname{lcm}\{4, 6\} \textstyle \unknowncommand}"
    plain, asking = load_verifier("math"), load_verifier("math", {"second_opinion": True})
    assert "not understood" in plain.verify(problem("12"), answer).detail
    assert "math-verify" in asking.verify(problem("12"), answer).detail
    assert "math-verify" not in asking.verify(problem("12"), r"\boxed{13}").detail

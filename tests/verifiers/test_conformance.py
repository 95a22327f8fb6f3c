"""Every built-in verifier passes the suite, and every check of the suite fails a verifier that deserves it."""

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
from support.code_problems import fenced
from support.remembering_sandbox import RememberingSandbox

from tasks import CountdownTarget, MathAnswer, Problem
from tasks.types import AssertTests, FunctionCase, FunctionTests, PytestTests, StdinTests
from verifiers import BadReferenceError, Outcome, Verdict, VerifierError, load_verifier
from verifiers.code.programs import extract_program
from verifiers.conformance import Case, ConformanceError, self_check
from verifiers.exact import Exact
from verifiers.registry import verifier_names


def case(gold: str, answer_format: str, accepted: list[str], rejected: list[str]) -> Case:
    return case_of(f"toy/{gold}", MathAnswer(value=gold, answer_format=answer_format), accepted, rejected)


def case_of(id: str, reference: object, accepted: list[str], rejected: list[str]) -> Case:
    prompt = "How many legs do these animals have?"
    problem = Problem(id=id, prompt=prompt, reference=reference, verifier="toy")
    return Case(problem=problem, accepted=accepted, rejected=rejected)


BOXED = [
    case("72", "boxed", [r"So \boxed{72}.", r"\boxed{72.0}"], [r"\boxed{71}", r"\boxed{72} or \boxed{73}", "72"]),
    case("1/2", "boxed", [r"\boxed{\frac{1}{2}}", r"\boxed{0.5}"], [r"\boxed{2}"]),
]
TEXTS = [
    case("North East", "tag:answer", ["<answer>North  East</answer>"], ["<answer>North</answer>", "North East"]),
    case("South", "tag:answer", ["<answer>South</answer>"], ["<answer>south</answer>"]),
]
CHOICES = [
    case("C", "boxed", [r"\boxed{\text{(C)}}", r"\boxed{c.}"], [r"\boxed{B}", r"\boxed{C} \boxed{D}", r"\boxed{ABCD}"]),
    case("A, D", "boxed", [r"\boxed{A and D}"], [r"\boxed{A}"]),
]
PATTERNS = [
    case("gr[ae]y", "tag:answer", ["<answer>grey</answer>"], ["<answer>greyer</answer>", "grey"]),
    case("(a|a)*b", "tag:answer", ["<answer>aab</answer>"], ["<answer>aac</answer>"]),
]
JSON = [
    case('{"legs": 4}', "tag:answer", ['<answer>{"legs": 4.0}</answer>'], ['<answer>{"legs": "4"}</answer>']),
    case("[1, 2]", "tag:answer", ["<answer>[1,2]</answer>"], ["<answer>[2, 1]</answer>"]),
]
EXPRESSIONS = [
    case_of(
        "toy/24",
        CountdownTarget(numbers=(2, 3, 4), target=24),
        ["<answer>2 * 3 * 4</answer>", "<answer>(4 * 3) * 2 = 24</answer>"],
        ["<answer>24</answer>", "<answer>4! * (3 - 2)</answer>", "<answer>2 * 3 + 4</answer>", "2 * 3 * 4"],
    ),
    case_of(
        "toy/11", CountdownTarget(numbers=(5, 6), target=11), ["<answer>5 + 6</answer>"], ["<answer>5 * 6</answer>"]
    ),
]
THOUGHTS = [
    case(
        "72",
        "tag:answer",
        ["<think>8 * 9</think><answer>72</answer>"],
        ["<think>8 * 9</think><answer>71</answer>", "<answer>71</answer><answer>72</answer>", "<think>8 * 9</think>72"],
    )
]
FORMS = [
    case(
        "72",
        "tag:answer",
        ["<think>8 * 9</think><answer>72</answer>", "<think>?</think>\n<answer>71</answer>"],
        [
            "<answer>72</answer>",
            "<think>1</think><think>2</think><answer>72</answer>",
            "<think></think><answer></answer>",
        ],
    )
]
PRINTERS = [
    case_of(
        "toy/doubled",
        StdinTests(cases=(("4\n", "8\n"), ("0\n", "0\n"))),
        [fenced("print(2 * int(input()))"), fenced("import sys\nn = int(sys.stdin.read())\nprint(n + n)")],
        [fenced("print(8)"), fenced("print(int(input()))"), fenced("print(2 * input("), "print(2 * int(input()))", "8"],
    ),
    case_of("toy/echo", StdinTests(cases=(("4\n", "4\n"),)), [fenced("print(input())")], [fenced("print(5)")]),
]
FUNCTIONS = [
    case_of(
        "toy/following",
        FunctionTests(function="f", cases=(FunctionCase(arguments=(4,), expected=5),)),
        [fenced("def f(x):\n    return x + 1"), fenced("f = lambda x: -~x")],
        [fenced("def f(x):\n    return x"), fenced("def g(x):\n    return x + 1"), "def f(x):\n    return x + 1", "5"],
    ),
    case_of(
        "toy/preceding",
        FunctionTests(function="f", cases=(FunctionCase(arguments=(4,), expected=3),)),
        [fenced("def f(x):\n    return x - 1")],
        [],
    ),
]
ASSERTIONS = [
    replace(one, problem=replace(one.problem, reference=AssertTests(asserts=(f"assert f(4) == {value}",))))
    for one, value in zip(FUNCTIONS, (5, 3), strict=True)
]
TEST_MODULE = "from solution import f\ndef test_f(): assert f(4) == {}"
MODULES = [
    replace(one, problem=replace(one.problem, reference=PytestTests(source=TEST_MODULE.format(value))))
    for one, value in zip(FUNCTIONS, (5, 3), strict=True)
]
LENGTHS = [case("72", "tag:answer", ["72", "no matter what"], ["72" * 60])]


def remembering(cases: list[Case]) -> RememberingSandbox:
    """Return a sandbox that runs the programs of these cases, each once, and has every other end in a SyntaxError."""
    programs = [extract_program(response) for one in cases for response in (*one.accepted, *one.rejected)]
    return RememberingSandbox([program for program in programs if program is not None])


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What a built-in verifier is asked."""

    cases: list[Case]
    options: Mapping[str, object] = field(default_factory=dict)
    skip: tuple[str, ...] = ()
    wall_s: float = 2.0


SUITES: dict[str, Suite] = {
    "exact": Suite(cases=TEXTS),
    "numeric": Suite(cases=BOXED),
    "multiple_choice": Suite(cases=CHOICES),
    "regex": Suite(cases=PATTERNS, wall_s=4.0),
    "json_match": Suite(cases=JSON),
    "math": Suite(cases=BOXED, wall_s=4.0),
    "countdown": Suite(cases=EXPRESSIONS),
    "answer_format": Suite(cases=FORMS),
    "weighted": Suite(
        cases=THOUGHTS, options={"parts": [{"name": "numeric"}, {"name": "answer_format", "weight": 0.1}]}
    ),
    "all": Suite(cases=THOUGHTS, options={"parts": [{"name": "exact"}, {"name": "answer_format"}]}),
    "any": Suite(cases=THOUGHTS, options={"parts": [{"name": "exact"}, {"name": "numeric"}]}),
    # Short texts are right, whatever they say.
    "length_penalty": Suite(cases=LENGTHS, options={"max_length": 100, "cache": 50}, skip=("junk",)),
    "stdin_tests": Suite(cases=PRINTERS, options={"sandbox": remembering(PRINTERS)}, wall_s=10.0),
    "function_tests": Suite(cases=FUNCTIONS, options={"sandbox": remembering(FUNCTIONS)}, wall_s=10.0),
    "assert_tests": Suite(cases=ASSERTIONS, options={"sandbox": remembering(ASSERTIONS)}, wall_s=10.0),
    "pytest_tests": Suite(cases=MODULES, options={"sandbox": remembering(MODULES)}, wall_s=10.0),
    # The control arms judge nothing.
    "random": Suite(cases=TEXTS, skip=("accepts", "rejects", "junk")),
    "shuffled": Suite(cases=TEXTS, options={"verifier": "exact"}, skip=("accepts", "rejects", "junk", "batch")),
}


@pytest.mark.parametrize("name", verifier_names())
def test_built_in_verifiers_keep_their_promises(name: str):
    assert name in SUITES, "a new verifier needs cases here"
    suite = SUITES[name]
    self_check(load_verifier(name, suite.options), suite.cases, skip=suite.skip, wall_s=suite.wall_s)


class Broken:
    """Right on TEXTS in every way, but for what its subclasses do."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        return Exact().verify(problem, response)


class AcceptsNothing(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        Exact().verify(problem, response)
        return Verdict(outcome=Outcome.INCORRECT, score=0.0)


class AcceptsAnyTag(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        right = re.fullmatch(r"<answer>[\w ]+</answer>", response)
        return Verdict(outcome=Outcome.CORRECT, score=1.0) if right else verdict


class AcceptsTheGoldAnywhere(Broken):
    """Right but for a response that holds a second answer, which none of JUNK does."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        right = problem.reference.value in " ".join(response.split())
        return Verdict(outcome=Outcome.CORRECT if right else Outcome.NO_ANSWER, score=float(right))


class PaysWrongResponses(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        return Verdict(outcome=verdict.outcome, score=0.5 if verdict.outcome is not Outcome.NO_ANSWER else 0.0)


class AcceptsTheEcho(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        return Verdict(outcome=Outcome.CORRECT, score=1.0) if problem.prompt in response else verdict


class AcceptsLongText(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        return Verdict(outcome=Outcome.CORRECT, score=1.0) if len(response) > 50_000 else verdict


class TellsInLines(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        return Verdict(outcome=verdict.outcome, score=verdict.score, detail="one line\nand another")


class NamesItsOutcome(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        return Verdict(outcome=verdict.outcome.value, score=verdict.score)  # pyright: ignore[reportArgumentType]


class ForgetsToReturn(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        return verdict if verdict.outcome is not Outcome.NO_ANSWER else None  # pyright: ignore[reportReturnType]


class AnswersWithANumber(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        verdict = Exact().verify(problem, response)
        return Verdict(outcome=verdict.outcome, score=verdict.score, answer=72)  # pyright: ignore[reportArgumentType]


class EncodesStrictly(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        response.encode()
        return Exact().verify(problem, response)


class GivesUpOnDepth(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        if response.count("(") > 5000:
            raise VerifierError("too deep")
        return Exact().verify(problem, response)


class LeavesOnNul(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        if "\x00" in response:
            raise SystemExit(1)
        return Exact().verify(problem, response)


class Backtracks(Broken):
    """Exponential time, within a call of the regular expression engine, which holds the interpreter's lock."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        re.match(r"(a|a)*$", response)
        return Exact().verify(problem, response)


class Waits(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        if len(response) > 50_000:
            time.sleep(60)
        return Exact().verify(problem, response)


class Counts(Broken):
    def __init__(self) -> None:
        self.calls = 0

    def verify(self, problem: Problem, response: str) -> Verdict:
        self.calls += 1
        verdict = Exact().verify(problem, response)
        return Verdict(outcome=verdict.outcome, score=verdict.score, detail=f"call {self.calls}")


class SharesItsState(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        self.problem = problem
        time.sleep(1e-4)
        return Exact().verify(self.problem, response)


class HoldsALock(Broken):
    def __init__(self) -> None:
        self.lock = threading.Lock()


class ForgetsInPickles(Broken):
    def __init__(self) -> None:
        self.verifier = Exact()

    def __reduce__(self) -> tuple[object, ...]:
        return (AcceptsNothing, ())


class FailsOnForeignReferences(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        assert problem.reference.value
        return Exact().verify(problem, response)


class PaysNothingForForeignReferences(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        try:
            return Exact().verify(problem, response)
        except VerifierError:
            return Verdict(outcome=Outcome.INCORRECT, score=0.0)


class NamesNoProblem(Broken):
    def verify(self, problem: Problem, response: str) -> Verdict:
        if not isinstance(problem.reference, MathAnswer):
            raise BadReferenceError("the reference is bad")
        return Exact().verify(problem, response)


class Batches(Broken):
    def verify_batch(self, problems: list[Problem], responses: list[str]) -> list[Verdict]:
        return [self.verify(*pair) for pair in zip(problems, responses, strict=True)]


class LosesTheLast(Batches):
    def verify_batch(self, problems: list[Problem], responses: list[str]) -> list[Verdict]:
        return super().verify_batch(problems, responses)[:-1]


class NeedsABatch(Batches):
    def verify_batch(self, problems: list[Problem], responses: list[str]) -> list[Verdict]:
        assert problems
        return super().verify_batch(problems, responses)


class TurnsItsBatchAround(Batches):
    def verify_batch(self, problems: list[Problem], responses: list[str]) -> list[Verdict]:
        return super().verify_batch(problems, responses)[::-1]


@pytest.mark.parametrize("verifier", [Broken(), Batches()])
def test_what_the_broken_ones_are_made_of_is_sound(verifier: Broken):
    checks = self_check(verifier, TEXTS)
    assert ("batch" in checks) == isinstance(verifier, Batches)


@pytest.mark.parametrize(
    ("verifier", "expected"),
    [
        (AcceptsNothing(), {"accepts"}),
        (AcceptsAnyTag(), {"rejects"}),
        (AcceptsTheGoldAnywhere(), {"rejects", "bad_reference"}),
        (PaysWrongResponses(), {"rejects"}),
        (AcceptsTheEcho(), {"junk"}),
        (AcceptsLongText(), {"junk"}),
        (TellsInLines(), {"verdicts"}),
        (NamesItsOutcome(), {"accepts", "verdicts"}),
        (ForgetsToReturn(), {"verdicts"}),
        (AnswersWithANumber(), {"verdicts"}),
        (EncodesStrictly(), {"raises"}),
        (GivesUpOnDepth(), {"raises"}),
        (LeavesOnNul(), {"raises"}),
        (Counts(), {"deterministic", "threads", "picklable"}),
        (SharesItsState(), {"threads"}),
        (HoldsALock(), {"picklable"}),
        (ForgetsInPickles(), {"picklable"}),
        (FailsOnForeignReferences(), {"bad_reference"}),
        (PaysNothingForForeignReferences(), {"bad_reference"}),
        (NamesNoProblem(), {"bad_reference"}),
        (LosesTheLast(), {"batch"}),
        (NeedsABatch(), {"batch"}),
        (TurnsItsBatchAround(), {"batch"}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Broken) else None,
)
def test_a_broken_verifier_fails_the_checks_it_breaks(verifier: Broken, expected: set[str]):
    with pytest.raises(ConformanceError) as caught:
        self_check(verifier, TEXTS)
    assert {failure.check for failure in caught.value.failures} == expected
    assert all(len(failure.reason.splitlines()) == 1 for failure in caught.value.failures)


@pytest.mark.parametrize("verifier", [Backtracks(), Waits()])
def test_calls_that_take_too_long_are_found_and_left_behind(verifier: Broken):
    start_s = time.monotonic()
    with pytest.raises(ConformanceError) as caught:
        self_check(verifier, TEXTS, wall_s=0.2)
    assert {failure.check for failure in caught.value.failures} == {"time"}
    assert time.monotonic() - start_s < 30


def test_the_error_lists_each_failure_on_a_line_and_cuts_many_short():
    with pytest.raises(ConformanceError) as caught:
        self_check(FailsOnForeignReferences(), [case("North", "boxed", ["North"], [])])
    first, *lines = str(caught.value).splitlines()
    assert first == "FailsOnForeignReferences does not keep what a verifier promises:"
    assert lines[0].startswith("  accepts: accepted response 'North' to problem toy/North: no_answer")
    with pytest.raises(ConformanceError, match=r"  verdicts: and \d+ more like these"):
        self_check(TellsInLines(), TEXTS)


def test_skipped_checks_are_not_made():
    skip = {"deterministic", "threads", "picklable"}
    assert not skip & set(self_check(Counts(), TEXTS, skip=skip))


def test_what_is_no_verifier_fails_at_once():
    with pytest.raises(ConformanceError, match="contract: no method verify"):
        self_check("exact", TEXTS)  # pyright: ignore[reportArgumentType]


@dataclass
class AnyTag:
    """Judges the form alone, and never looks at the reference."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        right = re.fullmatch(r"<answer>\w[^<>]*</answer>", response)
        return Verdict(outcome=Outcome.CORRECT if right else Outcome.INCORRECT, score=float(bool(right)))


def test_a_verifier_that_needs_no_reference_need_not_refuse_a_foreign_one():
    self_check(AnyTag(), [Case(problem=TEXTS[0].problem, accepted=["<answer>5</answer>"], rejected=["5"])])


def test_a_mistake_in_the_call_is_named():
    with pytest.raises(ValueError, match="at least one case"):
        self_check(Exact(), [])
    with pytest.raises(ValueError, match="no check named pickle; known: accepts,"):
        self_check(Exact(), TEXTS, skip=["pickle"])

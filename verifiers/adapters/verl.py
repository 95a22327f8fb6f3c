r"""Verifiers as verl's `compute_score`, and a `compute_score` as a verifier.

    custom_reward_function.path=pkg://verifiers.adapters.verl custom_reward_function.name=compute_score

judges mathematics. Any other verifier goes into a file of its own, whose path and name verl is given:

    compute_score = make_compute_score(load_verifier("numeric"), answer_format="marker:####")

verl has no way to leave out a response. A gold answer that cannot be read therefore raises and stops the run: judge the
data set's gold answers by themselves before training. Any other failure is tried again first.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from tasks.types import Problem
from verifiers.adapters.exchange import RewardScale, gold_of, name_of, problem_of
from verifiers.errors import BadReferenceError, VerifierError
from verifiers.registry import load_verifier
from verifiers.types import Verdict, Verifier

ComputeScore = Callable[..., float]
"""Takes data_source, solution_str, ground_truth and extra_info, by position or by name."""

_BOXED = ("lighteval/MATH", "DigitalLearningGmbH/MATH-lighteval", "HuggingFaceH4/MATH-500", "hiyouga/geometry3k")
_DECLARED = {
    "openai/gsm8k": ("numeric", "marker:####"),
    "math_dapo": ("math", "marker:Answer:"),
    **dict.fromkeys(_BOXED, ("math", "boxed")),
}
_RETRIES = 2


def compute_score(
    data_source: str, solution_str: str, ground_truth: object, extra_info: Mapping[str, Any] | None = None
) -> float:
    """Return the score of a response in [0, 1], judged as mathematics.

    Where verl's own data sets tell the policy in which place to answer (after "####" in openai/gsm8k, after "Answer:"
    in math_dapo, in a box in MATH and geometry3k), the answer must stand there. For any other `data_source` the
    response is read leniently.

    Args:
        extra_info: as verl's data sets have it; "split", "index" and "question" are used, for messages alone.

    Raises:
        VerifierError: there is no verdict, for instance because the gold answer cannot be read.
    """
    name, answer_format = _DECLARED.get(data_source, ("math", "lenient"))
    return make_compute_score(_loaded(name), answer_format=answer_format)(
        data_source, solution_str, ground_truth, extra_info
    )


def make_compute_score(verifier: Verifier, *, answer_format: str) -> ComputeScore:
    """Return a `compute_score` that asks `verifier`, whatever the data source.

    Args:
        answer_format: where responses must put their answer; see tasks.MathAnswer.
    """

    def compute_score(
        data_source: str, solution_str: str, ground_truth: object, extra_info: Mapping[str, Any] | None = None
    ) -> float:
        extra = extra_info or {}
        place = [str(extra[key]) for key in ("split", "index") if key in extra]
        problem = problem_of(
            ground_truth,
            id="/".join([data_source, *place]),
            prompt=str(extra.get("question", "")),
            answer_format=answer_format,
            verifier="",
        )
        for _ in range(_RETRIES):
            try:
                return verifier.verify(problem, solution_str).score
            except BadReferenceError:
                raise
            except VerifierError:
                continue
        return verifier.verify(problem, solution_str).score

    return compute_score


def from_compute_score(
    function: Callable[..., float | Mapping[str, Any]],
    *,
    data_source: str,
    low: float = 0.0,
    high: float = 1.0,
    threshold: float | None = None,
) -> "VerlVerifier":
    """Return a verifier that asks a `compute_score` of verl's. What the function itself raises passes through.

    Args:
        data_source: what it is told, and may choose its rules by.
        low: its lowest score, which becomes score 0.
        high: its highest score, which becomes score 1.
        threshold: the score from which on a response is CORRECT; `high` by default.

    Raises:
        ValueError: not low < threshold <= high.
    """
    scale = RewardScale(low=low, high=high, threshold=high if threshold is None else threshold)
    return VerlVerifier(function, data_source=data_source, scale=scale)


class VerlVerifier:
    """A `compute_score` in the shape of a verifier; made by `from_compute_score`."""

    def __init__(
        self, function: Callable[..., float | Mapping[str, Any]], *, data_source: str, scale: RewardScale
    ) -> None:
        self._function = function
        self._data_source = data_source
        self._scale = scale

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return what the function finds on `response`.

        Raises:
            BadReferenceError: the reference is no MathAnswer.
            ValueError: the function gave a score outside of its scale.
        """
        found = self._function(
            data_source=self._data_source, solution_str=response, ground_truth=gold_of(problem), extra_info=None
        )
        score = found["score"] if isinstance(found, Mapping) else found
        return self._scale.verdict(score, problem, name_of(self._function))


@cache
def _loaded(name: str) -> Verifier:
    return load_verifier(name)

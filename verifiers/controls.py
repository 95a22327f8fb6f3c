"""Control arms: rewards that say nothing about the answer, to compare a run's gain with.

A policy may gain on held-out problems from the training itself, whatever is rewarded (arXiv 2506.10947 reports it of
random rewards). A run under one of these shows how much. Both are functions of their inputs alone, so that a resumed or
replayed run gives the same rewards; held-out problems are to be judged by the real verifier.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.types import Problem
from verifiers.errors import VerifierOptionError
from verifiers.nested import load_nested
from verifiers.types import BatchVerifier, Outcome, Verdict
from verifiers.verdicts import shown


class RandomControl:
    """Gives score 1 with a fixed probability, drawn by a hash of seed, problem and response; reads no reference.

    The same text to the same problem always earns the same. Over many passes through few problems a policy can
    therefore learn which texts are lucky: compare runs over fresh problems.

    Args:
        probability: how often a response is called right; take the real verifier's pass rate for the same variance.
        seed: another one draws other verdicts.

    Raises:
        VerifierOptionError: the probability is not between 0 and 1.
    """

    def __init__(self, *, probability: float = 0.5, seed: int = 0) -> None:
        _check_probability(probability)
        self._probability = probability
        self._seed = seed

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return a verdict that knows nothing."""
        return _drawn(self._probability, self._seed, problem, response)


class ShuffledControl:
    """Judges a batch with another verifier and hands the verdicts round among its responses, by a seeded permutation.

    The batch keeps its pass rate, scores and outcomes exactly, and no response's own verdict moves its reward: under a
    uniform permutation (not a derangement, which would anticorrelate) their covariance within the batch has mean 0. The
    answer of a verdict stays that of its own response. The permutation comes from a hash of the seed and the batch, so
    that nothing is remembered between calls and threads share nothing.

    A response judged alone has nobody to swap with. It gets a RandomControl verdict at `probability` instead, since its
    own would be the truth, which a control must not pay for. `rlvr train` judges a step's responses as one batch.

    Args:
        verifier: name of the verifier that judges.
        options: its options.
        seed: another one draws other permutations.
        probability: how often a response that is judged alone is called right.

    Raises:
        VerifierOptionError: the verifier cannot be loaded, or the probability is not between 0 and 1.
    """

    def __init__(
        self, *, verifier: str, options: Mapping[str, Any] | None = None, seed: int = 0, probability: float = 0.5
    ) -> None:
        if options is not None and not isinstance(options, Mapping):
            raise VerifierOptionError(f"task.verifier_options.options: expected a table, got {options!r}")
        _check_probability(probability)
        self._verifier = load_nested(
            verifier,
            options or {},
            name_key="task.verifier_options.verifier",
            options_key="task.verifier_options.options",
        )
        self._seed = seed
        self._probability = probability

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return a verdict that knows nothing."""
        return _drawn(self._probability, self._seed, problem, response)

    def verify_batch(self, problems: Sequence[Problem], responses: Sequence[str]) -> list[Verdict]:
        """Return the verdicts on all responses, each at the place of another; raises as the verifier does."""
        if len(problems) == 1:
            return [self.verify(problems[0], responses[0])]
        if isinstance(self._verifier, BatchVerifier):
            own = self._verifier.verify_batch(problems, responses)
        else:
            own = [
                self._verifier.verify(problem, response) for problem, response in zip(problems, responses, strict=True)
            ]
        batch = _digest(self._seed, [problem.id for problem in problems], list(responses))
        order = sorted(range(len(own)), key=lambda index: _digest(batch, index))
        return [
            Verdict(
                outcome=own[source].outcome,
                score=own[source].score,
                answer=verdict.answer,
                detail=f"control arm: the verdict on a response to {shown(problems[source].id)}",
                parts=own[source].parts,
            )
            for verdict, source in zip(own, order, strict=True)
        ]


def _drawn(probability: float, seed: int, problem: Problem, response: str) -> Verdict:
    right = int.from_bytes(_digest(seed, problem.id, response)) < probability * 2**64
    return Verdict(
        outcome=Outcome.CORRECT if right else Outcome.INCORRECT,
        score=float(right),
        detail="control arm: drawn at random",
    )


def _digest(*of: object) -> bytes:
    return hashlib.blake2b(ascii(of).encode("ascii"), digest_size=8).digest()


def _check_probability(probability: float) -> None:
    if not 0 <= probability <= 1:
        raise VerifierOptionError(f"task.verifier_options.probability: must be between 0 and 1, got {probability}")

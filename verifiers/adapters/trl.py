"""Verifiers as reward functions of TRL's trainers, and TRL's reward functions as verifiers.

    trainer = GRPOTrainer(..., reward_funcs=as_trl_reward(load_verifier("math")))
    verifier = from_trl_reward(trl.rewards.accuracy_reward)

Written for the contract of TRL 1.16. Its trainers call a reward function with keywords: `prompts`, `completions`,
`completion_ids`, each column of the data set, and some objects of the trainer's; they expect one number or None for
each response, and leave out of the loss what no reward function can judge.
"""

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tasks.types import Problem
from verifiers.adapters.exchange import RewardScale, gold_of, name_of, problem_of
from verifiers.errors import VerifierError
from verifiers.types import BatchVerifier, Verdict, Verifier

_LOG = logging.getLogger(__name__)
_NO_COLUMNS = ("trainer_state", "log_extra", "log_metric", "environments")


def as_trl_reward(
    verifier: Verifier,
    *,
    reference_column: str = "solution",
    answer_format: str = "boxed",
    problem: Callable[[Mapping[str, Any]], Problem] | None = None,
    correct: float = 1.0,
    incorrect: float = 0.0,
    name: str | None = None,
    workers: int = 4,
) -> "TrlReward":
    """Return a reward function that pays incorrect + score * (correct - incorrect).

    What the verifier cannot judge, for instance because a gold answer cannot be read, gets None and is counted.

    Args:
        reference_column: the data set's column of gold answers.
        answer_format: where responses must put their answer; see tasks.MathAnswer.
        problem: makes the problem of a row, for references that are no MathAnswer; gets "prompt" and the columns of the
            row, and takes the place of the two options above.
        name: what TRL calls its metrics after; the class of the verifier by default.
        workers: threads that call `verify`; a BatchVerifier gets one call with all responses instead.
    """
    return TrlReward(
        verifier,
        problem or _GoldColumn(column=reference_column, answer_format=answer_format),
        correct=correct,
        incorrect=incorrect,
        name=name or type(verifier).__name__,
        workers=workers,
    )


def from_trl_reward(
    function: Callable[..., Sequence[float | None]],
    *,
    column: str = "solution",
    columns: Callable[[Problem], Mapping[str, object]] | None = None,
    conversational: bool = True,
    low: float = 0.0,
    high: float = 1.0,
    threshold: float | None = None,
) -> "TrlVerifier":
    """Return a verifier that asks a TRL reward function.

    None from the function raises a VerifierError. What the function itself raises passes through. It must work without
    `completion_ids`, which are None, and without a trainer.

    Args:
        column: the name under which it wants the gold answer.
        columns: makes the columns of a problem, for references that are no MathAnswer; takes the place of `column`.
        conversational: whether it wants prompts and responses as lists of messages, as those in trl.rewards do.
        low: its lowest reward, which becomes score 0.
        high: its highest reward, which becomes score 1.
        threshold: the reward from which on a response is CORRECT; `high` by default.

    Raises:
        TypeError: the function is asynchronous.
        ValueError: not low < threshold <= high.
    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise TypeError("an asynchronous reward function cannot be a verifier; wrap it in a function that waits for it")
    scale = RewardScale(low=low, high=high, threshold=high if threshold is None else threshold)
    return TrlVerifier(function, columns or _GoldOf(column=column), conversational=conversational, scale=scale)


class TrlReward:
    """A verifier in the shape of a TRL reward function; made by `as_trl_reward`.

    A class and no closure, because some of TRL's trainers pickle their reward functions.
    """

    def __init__(
        self,
        verifier: Verifier,
        problem: Callable[[Mapping[str, Any]], Problem],
        *,
        correct: float,
        incorrect: float,
        name: str,
        workers: int,
    ) -> None:
        self.__name__ = name  # TRL's name for its metrics
        self.failed = 0
        """Responses that could not be judged so far."""
        self._verifier = verifier
        self._problem = problem
        self._correct = correct
        self._incorrect = incorrect
        self._workers = workers

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], completion_ids: object = None, **columns: Any
    ) -> list[float | None]:
        """Return the rewards, None where there is no verdict. Reports to the trainer what it found and what failed."""
        rows = [
            {"prompt": prompt, **{name: column[index] for name, column in columns.items() if name not in _NO_COLUMNS}}
            for index, prompt in enumerate(prompts)
        ]
        judged = self._judged(rows, [_text(completion) for completion in completions])
        errors = [verdict for verdict in judged if isinstance(verdict, VerifierError)]
        if errors and not self.failed:
            _LOG.warning("%s could not judge a response, which gets no reward: %s", self.__name__, errors[0])
        self.failed += len(errors)
        if log_metric := columns.get("log_metric"):
            log_metric(f"{self.__name__}/failed_frac", len(errors) / len(judged))
        if log_extra := columns.get("log_extra"):
            log_extra(f"{self.__name__}/verdict", [_in_words(verdict) for verdict in judged])
        return [
            None
            if isinstance(verdict, VerifierError)
            else self._incorrect + verdict.score * (self._correct - self._incorrect)
            for verdict in judged
        ]

    def _judged(self, rows: Sequence[Mapping[str, Any]], responses: Sequence[str]) -> list[Verdict | VerifierError]:
        if isinstance(self._verifier, BatchVerifier):
            try:
                return list(self._verifier.verify_batch([self._problem(row) for row in rows], responses))
            except VerifierError:
                pass  # one bad reference must not cost the others their verdict: each on its own
        with ThreadPoolExecutor(max_workers=self._workers) as pool:
            return list(pool.map(self._judge, rows, responses))

    def _judge(self, row: Mapping[str, Any], response: str) -> Verdict | VerifierError:
        try:
            return self._verifier.verify(self._problem(row), response)
        except VerifierError as error:
            return error


class TrlVerifier:
    """A TRL reward function in the shape of a verifier; made by `from_trl_reward`."""

    def __init__(
        self,
        function: Callable[..., Sequence[float | None]],
        columns: Callable[[Problem], Mapping[str, object]],
        *,
        conversational: bool,
        scale: RewardScale,
    ) -> None:
        self._function = function
        self._columns = columns
        self._conversational = conversational
        self._scale = scale

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return what the function finds on `response`.

        Raises:
            BadReferenceError: the reference is no MathAnswer.
            VerifierError: the function gave None.
            ValueError: it gave a reward outside of its scale.
        """
        return self.verify_batch([problem], [response])[0]

    def verify_batch(self, problems: Sequence[Problem], responses: Sequence[str]) -> list[Verdict]:
        """Return one verdict for each pair, in order, from one call. Raises as `verify` does."""
        if not problems:
            return []
        rows = [self._columns(problem) for problem in problems]
        prompts: list[Any] = [problem.prompt for problem in problems]
        completions: list[Any] = list(responses)
        if self._conversational:
            prompts = [[{"role": "user", "content": prompt}] for prompt in prompts]
            completions = [[{"role": "assistant", "content": response}] for response in responses]
        rewards = self._function(
            prompts=prompts,
            completions=completions,
            completion_ids=None,
            **{name: [row[name] for row in rows] for name in rows[0]},
        )
        name = name_of(self._function)
        if len(rewards) != len(problems):
            raise ValueError(f"{name} gave {len(rewards)} rewards for {len(problems)} responses")
        return [self._scale.verdict(reward, problem, name) for reward, problem in zip(rewards, problems, strict=True)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _GoldColumn:
    """Makes the problem of a row from its gold answer."""

    column: str
    answer_format: str

    def __call__(self, row: Mapping[str, Any]) -> Problem:
        if self.column not in row:
            raise ValueError(f"reference_column: no column {self.column!r} in the data set; it has {', '.join(row)}")
        gold = row[self.column]
        return problem_of(
            gold,
            id=str(row.get("id", f"with the gold answer {gold!r:.80}")),
            prompt=_text(row["prompt"]),
            answer_format=self.answer_format,
            verifier="",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _GoldOf:
    """Makes the one column that most reward functions want."""

    column: str

    def __call__(self, problem: Problem) -> Mapping[str, object]:
        return {self.column: gold_of(problem)}


def _text(conversation: Any) -> str:
    """Return the last message's text of a prompt or response, which may also be the text itself."""
    if isinstance(conversation, str):
        return conversation
    content = conversation[-1].get("content") if conversation else None
    if isinstance(content, list):  # blocks, as models with images have them
        return "".join(block.get("text", "") for block in content)
    return content or ""


def _in_words(verdict: Verdict | VerifierError) -> str:
    return str(verdict) if isinstance(verdict, VerifierError) else f"{verdict.outcome}: {verdict.detail}"

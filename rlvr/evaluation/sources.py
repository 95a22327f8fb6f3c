"""Where the responses of an evaluation come from: a policy in this process, or anything else that answers problems."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.types import Finish, RolloutEngine, Sampling
from tasks.types import Problem

PROBLEMS_AT_ONCE = 128
"""Of an evaluation of a policy in this process."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A response as far as judging and counting need it: text and lengths, no token ids."""

    text: str
    finish: Finish
    tokens: int
    """Of the response."""
    prompt_tokens: int
    seed: int | None = None
    """Of the request that it came from, where a source sends seeds of its own."""


class ResponseSource(Protocol):
    """Answers problems."""

    problems_at_once: int
    """Problems of one call to `respond`; each call has a seed of its own, and what it gave outlives a later failure."""

    def respond(self, problems: Sequence[Problem], sampling: Sampling, *, seed: int) -> list[Written]:
        """Return `samples_per_prompt` responses to each problem, those of one problem side by side."""
        ...


class EngineSource:
    """Responses of a RolloutEngine.

    Args:
        problems_at_once: another number draws other responses, for each call has a seed of its own.
    """

    def __init__(
        self, engine: RolloutEngine, encoder: PromptEncoder, *, problems_at_once: int = PROBLEMS_AT_ONCE
    ) -> None:
        self._engine = engine
        self._encoder = encoder
        self.problems_at_once = problems_at_once

    def respond(self, problems: Sequence[Problem], sampling: Sampling, *, seed: int) -> list[Written]:
        """Return the responses.

        Raises:
            PromptTooLongError, NonFiniteLossError: as the encoder and the engine.
        """
        return [
            Written(
                text=response.text,
                finish=response.finish,
                tokens=len(response.token_ids),
                prompt_tokens=len(response.prompt_ids),
            )
            for response in self._engine.generate(self._encoder.encode(problems), sampling, seed=seed)
        ]

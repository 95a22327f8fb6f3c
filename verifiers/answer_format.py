r"""Judge the form of a response alone: thinking in its tags, then the answer in its own, and nothing else."""

import re

from tasks.types import Problem
from verifiers.errors import VerifierOptionError
from verifiers.extract import extract_answer
from verifiers.types import Verdict
from verifiers.verdicts import correct, incorrect

_TAGS = ("<think>", "</think>", "<answer>", "</answer>")
_TAG = re.compile("|".join(_TAGS))


class AnswerFormat:
    r"""Accepts exactly <think>...</think><answer>...</answer>, with nothing but blanks around and between.

    DeepSeek-R1-Zero's format reward (arXiv 2501.12948, section 2.2.2) made strict: both parts say something, and none
    of the four tags occurs a second time anywhere, so that more tags never earn more. Tags are case-sensitive. What the
    answer says is not judged and no reference is read: combine it with a verifier that does (see verifiers.weighted).

    Args:
        prompt_opens_think: whether the chat template already ends the prompt with "<think>", so that the response
            begins inside it and must not open it again.
        min_think_characters: how much must be thought, blanks around it not counted.
        boxed: whether the answer must hold one \boxed{...}, balanced and not empty, and no second.

    Raises:
        VerifierOptionError: `min_think_characters` is negative.
    """

    def __init__(self, *, prompt_opens_think: bool = False, min_think_characters: int = 1, boxed: bool = False) -> None:
        if min_think_characters < 0:
            raise VerifierOptionError(
                f"task.verifier_options.min_think_characters: must be at least 0, got {min_think_characters}"
            )
        self._prompt_opens_think = prompt_opens_think
        self._min_think_characters = min_think_characters
        self._boxed = boxed

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`; its answer is what the answer tags hold."""
        text = f"<think>{response}" if self._prompt_opens_think else response
        for tag in _TAGS:
            if (count := text.count(tag)) != 1:
                opened = " (the prompt's included)" if self._prompt_opens_think and tag == "<think>" else ""
                return incorrect(None, f"{tag} occurs {count} times{opened}, not once")
        if [*_TAGS] != sorted(_TAGS, key=text.index):
            return incorrect(None, "the tags are not in order")
        before, thinking, between, answer, after = _TAG.split(text)
        if before.strip() or between.strip() or after.strip():
            return incorrect(None, "text outside the tags")
        answer = answer.strip()
        if len(thinking.strip()) < self._min_think_characters:
            return incorrect(answer or None, f"fewer than {self._min_think_characters} characters of thinking")
        if not answer:
            return incorrect(None, "the answer is empty")
        if self._boxed and not (answer.count("\\boxed") == 1 and extract_answer(answer, "boxed").text):
            return incorrect(answer, "the answer does not hold exactly one \\boxed{...} that says something")
        return correct(answer, "thinking, then an answer")

"""Ask for a sentence of so many words, and count them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks import Problem, TaskOptionError
from verifiers import BadReferenceError, Outcome, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class WordCount:
    """The reference of a problem: how many words a right response has."""

    words: int


class WordCountTask:
    """A sentence of each length from 1 to `longest` words; the even ones are the test problems."""

    name = "demo_word_count"

    def __init__(self, *, longest: int = 20) -> None:
        self._longest = longest

    def problems(self, split: str) -> Sequence[Problem]:
        if split not in ("train", "test"):
            raise TaskOptionError(f"task 'demo_word_count' has the splits 'train' and 'test', not {split!r}")
        return [
            Problem(
                id=f"{self.name}/{split}/{words}",
                prompt=f"Write {words} words.",
                reference=WordCount(words=words),
                verifier="demo_word_count",
                demonstration=" ".join(["word"] * words),
            )
            for words in range(2 if split == "test" else 1, self._longest + 1, 2)
        ]


class WordCountVerifier:
    """Compares the number of words with the wanted one."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        if not isinstance(problem.reference, WordCount):
            raise BadReferenceError(
                f"problem {problem.id}: this verifier needs a WordCount as the reference, not a"
                f" {type(problem.reference).__name__}"
            )
        words = len(response.split())
        if not words:
            return Verdict(outcome=Outcome.NO_ANSWER, score=0.0, detail="no words")
        if words != problem.reference.words:
            return Verdict(outcome=Outcome.INCORRECT, score=0.0, answer=str(words), detail="another number of words")
        return Verdict(outcome=Outcome.CORRECT, score=1.0, answer=str(words), detail="as many words as wanted")

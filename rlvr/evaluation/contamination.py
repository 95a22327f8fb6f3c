"""Whether held-out problems stand in the training problems: exact copies, and long runs of the same words."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from tasks.types import AssertTests, Problem, PytestTests

AT_MOST = 20_000
"""Training problems that are looked at; of more, so many at even distances."""

COMMON = 0.05
"""An n-gram in more than this share of the training problems is part of how they are put, not of what they ask."""

_FEWEST_COMMON = 2
_EXAMPLES = 5
_WORD = re.compile(r"\w+|[^\w\s.,;:!?'\"`()\[\]{}#|]")
"""A word, a number, or a sign that carries meaning, as in "3 + 4"; punctuation does not."""

Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """A held-out problem and the first training problem that has words of it."""

    held_out: str
    """Its id."""
    train: str
    share: float
    """Of the held-out problem's n-grams, how many occur in any training problem; 1 for a copy."""
    words: str
    """The first words that both have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """What held-out problems share with training problems."""

    n: int
    """Words of an n-gram."""
    held_out: int
    """Held-out problems."""
    train: int
    """Training problems that were looked at."""
    train_total: int
    """Training problems there are."""
    verbatim: int
    """Held-out problems whose whole prompt is a training prompt, letter case and spacing apart."""
    overlapping: int
    """Held-out problems that share an n-gram with training problems, copies not counted."""
    half: int
    """Of these, how many share half of their n-grams or more."""
    too_short: int
    """Held-out problems of fewer than n words of their own, of which only copies can be told."""
    common: int
    """Different n-grams left out because they belong to how the problems are put."""
    examples: tuple[Shared, ...]
    """Copies first, then the largest shares."""

    def as_record(self) -> dict[str, Any]:
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        shared = [{field.name: getattr(one, field.name) for field in fields(one)} for one in self.examples]
        return {**record, "examples": shared}

    def sentence(self) -> str:
        """Return it in one line of words."""
        among = f"{self.train:,} training problems"
        if self.train < self.train_total:
            among += f" (drawn evenly from {self.train_total:,})"
        words = (
            f"of {self.held_out:,} held-out prompts {self.verbatim:,} stand word for word among {among}; "
            f"{self.overlapping:,} more share {self.n} words in a row with one, {self.half:,} of them half of all they "
            "have"
        )
        if self.too_short:
            words += f"; {self.too_short:,} are too short for that and were looked up as a whole only"
        return words


def contamination(train: Sequence[Problem], held_out: Sequence[Problem], *, n: int = 13) -> Overlap:
    """Look for held-out problems in the training problems by their prompts and by what else of them is text.

    Copies are found by the whole normalised prompt, anything else by word n-grams (13 as in Brown et al. 2020, Language
    Models are Few-Shot Learners, appendix C). What the prompts of a task have in common is left out first: the words
    that most of them begin and end with, and every n-gram in more than 5 % of the training problems. Rewordings and
    translations are not found.

    Args:
        train: at most AT_MOST of them are looked at, so that a virtual sequence may be of any length.
        n: words in a row that are no accident.
    """
    looked_at = [train[i] for i in _even(len(train), AT_MOST)]
    prompts = [_words(problem.prompt) for problem in looked_at]
    prefix, suffix = _shared_ends(prompts, 1), _shared_ends(prompts, -1)
    texts = [[_words(text) for text in (problem.prompt, *_other_texts(problem))] for problem in held_out]
    wanted = {gram for own in texts for words in own for gram in _grams(words, n)}
    copies = {_whole(problem): "" for problem in held_out}
    document_counts: Counter[Words] = Counter()
    first_seen: dict[Words, str] = {}
    for problem, prompt in zip(looked_at, prompts, strict=True):
        if copies.get(_whole(problem)) == "":
            copies[_whole(problem)] = problem.id
        others = [problem.demonstration or "", *_other_texts(problem)]
        found = {gram for words in (prompt, *map(_words, others)) for gram in _grams(words, n) if gram in wanted}
        document_counts.update(found)
        for gram in found:
            first_seen.setdefault(gram, problem.id)
    limit = max(_FEWEST_COMMON, COMMON * len(looked_at))
    common = {gram for gram, count in document_counts.items() if count > limit}
    verbatim, overlapping, too_short = [], [], 0
    for problem, own in zip(held_out, texts, strict=True):
        bare = [_without_ends(own[0], prefix, suffix), *own[1:]]
        grams = [gram for words in bare for part in _uncommon(words, common, n) for gram in _grams(part, n)]
        too_short += not grams
        shared = [gram for gram in grams if gram in first_seen]
        copy = copies[_whole(problem)]
        if copy:
            verbatim.append(Shared(held_out=problem.id, train=copy, share=1.0, words=" ".join(own[0][: 2 * n])))
        elif shared:
            overlapping.append(
                Shared(
                    held_out=problem.id,
                    train=first_seen[shared[0]],
                    share=len(shared) / len(grams),
                    words=" ".join(shared[0]),
                )
            )
    overlapping.sort(key=lambda one: -one.share)
    return Overlap(
        n=n,
        held_out=len(held_out),
        train=len(looked_at),
        train_total=len(train),
        verbatim=len(verbatim),
        overlapping=len(overlapping),
        half=sum(one.share >= 0.5 for one in overlapping),
        too_short=too_short,
        common=len(common),
        examples=tuple([*verbatim, *overlapping][:_EXAMPLES]),
    )


def _even(length: int, at_most: int) -> Sequence[int]:
    """Return at most so many places, at even distances."""
    return range(length) if length <= at_most else [i * length // at_most for i in range(at_most)]


def _whole(problem: Problem) -> str:
    return " ".join(problem.prompt.casefold().split())


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.casefold()))


def _other_texts(problem: Problem) -> list[str]:
    """Return what of a reference is text, which a model that knows it could answer from."""
    match problem.reference:
        case AssertTests(asserts=asserts):
            return ["\n".join(asserts)]
        case PytestTests(source=source):
            return [source]
        case _:
            return []


def _grams(words: Words, n: int) -> Iterator[Words]:
    return (words[i : i + n] for i in range(len(words) - n + 1))


def _shared_ends(prompts: Sequence[Words], step: int) -> Words:
    """Return the words that most prompts begin with (step 1) or end with (step -1), in the order from that end."""
    left, shared = [prompt[::step] for prompt in prompts], []
    while left:
        place = len(shared)
        following = Counter(words[place] for words in left if len(words) > place)
        word, count = following.most_common(1)[0] if following else ("", 0)
        if 2 * count <= len(prompts):
            break
        shared.append(word)
        left = [words for words in left if len(words) > place and words[place] == word]
    return tuple(shared)


def _without_ends(words: Words, prefix: Words, suffix: Words) -> Words:
    start = next(
        (i for i, (a, b) in enumerate(zip(words, prefix, strict=False)) if a != b), min(len(words), len(prefix))
    )
    rest = words[start:]
    backwards = rest[::-1]
    end = next(
        (i for i, (a, b) in enumerate(zip(backwards, suffix, strict=False)) if a != b), min(len(rest), len(suffix))
    )
    return rest[: len(rest) - end]


def _uncommon(words: Words, common: set[Words], n: int) -> list[Words]:
    """Return the parts of a text between its common n-grams."""
    if not common:
        return [words]
    covered = {i + k for i, gram in enumerate(_grams(words, n)) if gram in common for k in range(n)}
    edges = [-1, *sorted(covered), len(words)]
    return [words[a + 1 : b] for a, b in pairwise(edges) if b - a > 1]

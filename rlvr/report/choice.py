"""Which of a step's rollouts a report shows: the same problem at several steps first, then contrasts."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_FIRST_LIST = b', "prompt_ids": ['
"""What comes before it in a record is short: what was asked, written and judged."""

RECURRING_SHARE = 0.5
"""Of a step's places, for problems that other steps have too; the rest is for contrasts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """What choosing needs of a rollout."""

    row: int
    """In the step's file, from 0."""
    problem: str
    sample: int
    """Which response to the problem in that step, from 0."""
    outcome: str | None
    truncated: bool
    advantage: float | None
    """Mean over tokens."""
    kl: float
    tokens: int


def outlines(lines: Iterable[bytes]) -> list[Outline]:
    """Return the outlines of a step's rollouts.

    Args:
        lines: of the step's file. They are not parsed as a whole: a step may hold hundreds of megabytes of numbers, of
            which one list is wanted.
    """
    seen: Counter[str] = Counter()
    found = []
    for row, line in enumerate(lines):
        record = json.loads(line.partition(_FIRST_LIST)[0].rstrip().removesuffix(b"}") + b"}")
        problem = str(record["problem"])
        advantages = [float(number) for number in _list(line, b"advantages") if number.strip() != b"null"]
        found.append(
            Outline(
                row=row,
                problem=problem,
                sample=seen[problem],
                outcome=record.get("outcome"),
                truncated=record.get("finish") == "length",
                advantage=sum(advantages) / len(advantages) if advantages else None,
                kl=record.get("kl") or 0.0,
                tokens=len(_list(line, b"token_ids")),
            )
        )
        seen[problem] += 1
    return found


def _list(line: bytes, name: bytes) -> list[bytes]:
    """Return the numbers of a list in a line; its name cannot be in a text, where quotes are escaped."""
    content = line.partition(b', "' + name + b'": [')[2].partition(b"]")[0]
    return content.split(b",") if content else []


def choose(steps: Mapping[int, Sequence[Outline]], problems: int) -> dict[int, dict[int, list[str]]]:
    """Return the rows to show at each step, most telling first, each with the reasons.

    Args:
        problems: places per step.
    """
    recurring = _recurring(steps)
    chosen: dict[int, dict[int, list[str]]] = {}
    for step, own in steps.items():
        again = _at_this_step(own, recurring)[: max(1, round(RECURRING_SHARE * problems))]
        places: dict[int, list[str]] = {}
        for row, reason in _in_turn(((outline.row, "recurs") for outline in again), _contrasts(own)):
            if row in places:
                if reason not in places[row]:
                    places[row].append(reason)
            elif len(places) < problems:
                places[row] = [reason]
            else:
                break
        chosen[step] = places
    return chosen


def _recurring(steps: Mapping[int, Sequence[Outline]]) -> dict[str, int]:
    """Return the problems that several steps have, with their place in the order of preference."""
    at = Counter(problem for own in steps.values() for problem in {outline.problem for outline in own})
    outcomes: dict[str, set[str | None]] = defaultdict(set)
    for own in steps.values():
        for outline in own:
            outcomes[outline.problem].add(outline.outcome)
    several = [problem for problem, count in at.items() if count > 1]
    # At more steps first, then those that came out differently: there something was learned or lost.
    several.sort(key=lambda problem: (-at[problem], -len(outcomes[problem]), problem))
    return {problem: place for place, problem in enumerate(several)}


def _at_this_step(own: Sequence[Outline], recurring: Mapping[str, int]) -> list[Outline]:
    """Return the step's recurring rollouts in order of preference, of a problem first one of each outcome."""
    by_problem: dict[str, list[Outline]] = defaultdict(list)
    for outline in own:
        if outline.problem in recurring:
            by_problem[outline.problem].append(outline)
    found = []
    for problem in sorted(by_problem, key=lambda name: recurring[name]):
        of_each: dict[str | None, Outline] = {}
        for outline in by_problem[problem]:
            of_each.setdefault(outline.outcome, outline)
        found += of_each.values()
    return found


def _contrasts(own: Sequence[Outline]) -> Iterator[tuple[int, str]]:
    """Yield rows with the reason to show them: the first of each kind, then the second of each, and so on."""
    rated = [outline for outline in own if outline.advantage is not None]
    by_advantage = sorted(rated, key=lambda outline: outline.advantage or 0.0)
    kinds = {
        "right": [outline for outline in own if outline.outcome == "correct"],
        "wrong": [outline for outline in own if outline.outcome == "incorrect"],
        "high advantage": by_advantage[::-1],
        "low advantage": by_advantage,
        "high KL": sorted((outline for outline in own if outline.kl > 0), key=lambda outline: -outline.kl),
        "cut off": [outline for outline in own if outline.truncated],
        "failed": [outline for outline in own if outline.outcome in ("crashed", "timed_out", "no_answer")],
        "long": sorted(own, key=lambda outline: -outline.tokens),
    }
    for depth in range(len(own)):
        for reason, ranked in kinds.items():
            if depth < len(ranked):
                yield ranked[depth].row, reason


def _in_turn(*sources: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    waiting = list(sources)
    while waiting:
        for source in list(waiting):
            item = next(source, None)
            if item is None:
                waiting.remove(source)
            else:
                yield item

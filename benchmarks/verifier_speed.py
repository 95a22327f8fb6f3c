"""Verifications per second, ours and math-verify's in turns on one core.

Both get the same pairs of gold answer and response. math-verify is called in its fastest way: its gold answers are
parsed once, outside the clock, as ours are cached; its timeouts are off, so that no signal is set; and it is given the
answer alone, while ours has to find it in the response. A second figure gives it the whole response.
"""

import json
import logging
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.types import MathAnswer, Problem
from verifiers.symbolic import MathVerifier
from verifiers.types import Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A gold answer and a response to judge."""

    gold: str
    answer: str
    response: str
    answer_format: str


def pairs_of_gsm8k(file: Path, *, count: int = 1000) -> list[Pair]:
    """Return worked solutions that end in the gold answer, in some other form of it, or in another problem's."""
    generator = random.Random(0)
    rows = [json.loads(line)["answer"].rpartition("####") for line in file.read_text().splitlines()]
    rows = generator.sample([(working.strip(), gold.strip()) for working, _, gold in rows], count)
    golds = [gold for _, gold in rows]
    pairs = []
    for working, gold in rows:
        number = int(gold.replace(",", ""))
        for answer in (gold, generator.choice((f"{number:,}", f"{number}.0", f"${number}")), generator.choice(golds)):
            pairs.append(
                Pair(gold=gold, answer=answer, response=f"{working}\n#### {answer}", answer_format="marker:####")
            )
    return pairs


def pairs_of_math500(file: Path) -> list[Pair]:
    """Return boxed answers: the gold as it is, in another style, and those of three other problems."""
    generator = random.Random(0)
    golds = [json.loads(line)["answer"] for line in file.read_text().splitlines()]
    pairs = []
    for gold in golds:
        for answer in (gold, _restyled(gold, generator), *generator.sample(golds, 3)):
            pairs.append(
                Pair(
                    gold=gold,
                    answer=answer,
                    response=f"Putting the parts together, we find\n\\[\\boxed{{{answer}}}.\\]",
                    answer_format="boxed",
                )
            )
    return pairs


def _restyled(gold: str, generator: random.Random) -> str:
    styles: Sequence[Callable[[str], str]] = (
        lambda text: text.replace("\\frac", "\\dfrac"),
        lambda text: text.replace(" ", ""),
        lambda text: text.replace("(", "\\left(").replace(")", "\\right)") if "\\left" not in text else text,
        lambda text: f" {text} ",
        lambda text: text.replace("+", " + ").replace("-", " - "),
    )
    return generator.choice(styles)(gold)


def measure(sets: Mapping[str, Sequence[Pair]], *, rounds: int) -> dict[str, Any]:
    """Return, for each set of pairs, what each verifier did in `rounds` turns on one core."""
    logging.disable(logging.WARNING)  # math-verify warns that its timeouts are off
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})  # worker processes inherit it
    return {name: _measured(pairs, rounds) for name, pairs in sets.items()}


def _measured(pairs: Sequence[Pair], rounds: int) -> dict[str, Any]:
    runners = {
        "rlvr": _ours(pairs),
        "math_verify": _math_verify(pairs, whole=False),
        "math_verify_whole": _math_verify(pairs, whole=True),
    }
    times: dict[str, list[float]] = {name: [] for name in runners}
    per_second: dict[str, list[float]] = {name: [] for name in runners}
    accepted = {}
    for _ in range(rounds):
        for name, run in runners.items():
            walls, accepted[name] = run()
            times[name] += walls
            per_second[name].append(len(pairs) / sum(walls))
    figures = {
        name: {
            "per_second": round(sorted(per_second[name])[rounds // 2], 1),
            "per_second_by_round": [round(rate, 1) for rate in per_second[name]],
            **{f"p{share}_ms": round(1e3 * _quantile(times[name], share / 100), 4) for share in (50, 99)},
            "slowest_ms": round(1e3 * max(times[name]), 2),
            "accepted": accepted[name],
        }
        for name in runners
    }
    return {
        "pairs": len(pairs),
        "rounds": rounds,
        **figures,
        "ratio": round(figures["rlvr"]["per_second"] / figures["math_verify"]["per_second"], 2),
        "ratio_whole": round(figures["rlvr"]["per_second"] / figures["math_verify_whole"]["per_second"], 2),
    }


Run = Callable[[], tuple[list[float], int]]


def _ours(pairs: Sequence[Pair]) -> Run:
    verifier = MathVerifier(workers=1)
    verifier.judge(r"\sqrt{2}", r"\boxed{\sqrt{3}}")  # starts the worker
    problems = [
        Problem(
            id=str(index),
            prompt="",
            reference=MathAnswer(value=pair.gold, answer_format=pair.answer_format),
            verifier="math",
        )
        for index, pair in enumerate(pairs)
    ]

    def run() -> tuple[list[float], int]:
        walls, right = [], 0
        for problem, pair in zip(problems, pairs, strict=True):
            start = time.perf_counter()
            verdict = verifier.verify(problem, pair.response)
            walls.append(time.perf_counter() - start)
            right += verdict.outcome is Outcome.CORRECT
        return walls, right

    return run


def _math_verify(pairs: Sequence[Pair], *, whole: bool) -> Run:
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

    boxed = pairs[0].answer_format == "boxed"
    latex = LatexExtractionConfig(boxed_match_priority=0)
    configs = [latex] if boxed else [ExprExtractionConfig()]
    golds = {
        pair.gold: parse(f"${pair.gold}$", [latex, ExprExtractionConfig()], parsing_timeout=None) for pair in pairs
    }

    def run() -> tuple[list[float], int]:
        walls, right = [], 0
        for pair in pairs:
            if whole:
                text = pair.response
            else:
                text = f"${pair.answer}$" if boxed else pair.answer
            start = time.perf_counter()
            found = verify(golds[pair.gold], parse(text, configs, parsing_timeout=None), timeout_seconds=None)
            walls.append(time.perf_counter() - start)
            right += bool(found)
        return walls, right

    return run


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]

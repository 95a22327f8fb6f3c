"""The page of the verifier's measured speed and accuracy."""

from collections.abc import Mapping
from typing import Any

from benchmarks.verifier_accuracy import PEERS

_NAMES = {"rlvr": "rlvr `math`", **PEERS}


def page(speed: Mapping[str, Any], accuracy: Mapping[str, Any]) -> str:
    """Return the page as Markdown."""
    scores = accuracy["scores"]
    return "\n".join(
        [
            "# The mathematics verifier, measured",
            "",
            "## Verdicts on labelled cases",
            "",
            _preface(scores["rlvr"]["groups"]),
            "",
            *_groups(scores),
            "",
            "By kind, right of all that are not debatable:",
            "",
            *_kinds(scores),
            "",
            _left_over(accuracy),
            "",
            "## Speed",
            "",
            *_speed(speed),
            "",
            _origin("Verdicts", accuracy, "benchmarks/results/verifier_accuracy.json"),
            "",
            _origin("Speed", speed, "benchmarks/results/verifier_speed.json"),
            "",
        ]
    )


def _preface(groups: Mapping[str, Any]) -> str:
    return (
        f"{groups['all']['n'] + groups['debatable']['n']} labelled pairs of gold answer and whole response, each "
        "judged by `MathVerifier().judge(gold, response)`, which looks for the answer wherever a response may "
        "announce it. A call that gives no verdict counts as a rejection. Intervals are 95 % Wilson. *Hostile* are "
        "responses written to be accepted though wrong, or to hang; *debatable* those where users may differ: "
        "`docs/verifiers.md` decides them, and the first three columns leave them out."
    )


def _groups(scores: Mapping[str, Any]) -> list[str]:
    rows = [
        "| | all | benign | hostile accepted though wrong | debatable | calls of 5 s or more | hangs of 10 s or more "
        "| slowest call |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, score in scores.items():
        groups = score["groups"]
        rows.append(
            f"| {_NAMES[name]} | {_interval(groups['all'])} | {_interval(groups['benign'])} "
            f"| {score['hostile_false_positives']} of {groups['hostile']['n']} | {groups['debatable']['rate']:.3f} "
            f"| {score['slow_calls']} | {score['hangs']} | {score['slowest_s']:.2f} s |"
        )
    return rows


def _interval(rate: Mapping[str, Any]) -> str:
    return f"{rate['rate']:.3f} [{rate['low']:.3f}, {rate['high']:.3f}]"


def _kinds(scores: Mapping[str, Any]) -> list[str]:
    rows = [f"| kind | n | {' | '.join(_NAMES[name] for name in scores)} |", "|---|---" + "|---" * len(scores) + "|"]
    for kind, ours in scores["rlvr"]["kinds"].items():
        rows.append(
            f"| {kind} | {ours['n']} | {' | '.join(str(score['kinds'][kind]['right']) for score in scores.values())} |"
        )
    return rows


def _left_over(accuracy: Mapping[str, Any]) -> str:
    wrong = accuracy["wrong"]
    return f"Where ours differs from the label: {', '.join(f'`{name}`' for name in wrong) or 'nowhere'}."


def _speed(speed: Mapping[str, Any]) -> list[str]:
    rows = [
        "One core, one run, both in turns; the median of the rounds. math-verify is called in its fastest way: gold "
        "answers parsed beforehand, timeouts off, and given the answer alone, while ours finds it in the response; the "
        "last column gives it the whole response as well.",
        "",
        "| pairs | | verifications/s | p50 | p99 | slowest | ratio | ratio, whole response to both |",
        "|---|---|---|---|---|---|---|---|",
    ]
    titles = {"gsm8k": "GSM8K-like", "math500": "MATH-500"}
    for name, found in speed["sets"].items():
        for who, title in (("rlvr", "rlvr `math`"), ("math_verify", "math-verify")):
            figures = found[who]
            ratios = f"{found['ratio']:.1f} | {found['ratio_whole']:.1f}" if who == "rlvr" else " | "
            rows.append(
                f"| {titles[name]} ({found['pairs']}) | {title} | {figures['per_second']:,.0f} "
                f"| {figures['p50_ms']:.3f} ms | {figures['p99_ms']:.3f} ms | {figures['slowest_ms']:.1f} ms "
                f"| {ratios} |"
            )
    return rows


def _origin(what: str, result: Mapping[str, Any], file: str) -> str:
    return (
        f"{what}: {result['machine']['cpus']} CPUs, {result['machine']['platform']}, commit `{result['commit']}`; "
        f"`{result['command']}`; the numbers are in `{file}`."
    )

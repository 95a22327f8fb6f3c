r"""Measure the mathematics verifier beside math-verify and TRL: speed on one core, and verdicts on labelled cases.

    python -m benchmarks.verifiers speed --gsm8k ../shared/data/gsm8k_test.jsonl \
        --math500 ../shared/data/math500.jsonl --out benchmarks/results/verifier_speed.json
    python -m benchmarks.verifiers accuracy --cases ../shared/cases/math_public.jsonl \
        --peer-python ../trl-venv/bin/python --out benchmarks/results/verifier_accuracy.json
    python -m benchmarks.verifiers page --speed benchmarks/results/verifier_speed.json \
        --accuracy benchmarks/results/verifier_accuracy.json --page docs/results/verifiers.md
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.stamp import stamp
from benchmarks.verifier_accuracy import judged_by_peers, judged_by_us, read_cases, scores
from benchmarks.verifier_page import page
from benchmarks.verifier_speed import measure, pairs_of_gsm8k, pairs_of_math500


def main() -> None:
    """Run the subcommand of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed", help="verifications per second, one core, both in turns")
    speed.add_argument("--gsm8k", type=Path, required=True)
    speed.add_argument("--math500", type=Path, required=True)
    speed.add_argument("--rounds", type=int, default=5, help="turns that each verifier takes (default 5)")
    speed.add_argument("--out", type=Path, required=True)
    accuracy = commands.add_parser("accuracy", help="verdicts on labelled cases")
    accuracy.add_argument("--cases", type=Path, required=True)
    accuracy.add_argument("--peer-python", type=Path, help="a Python that has math-verify and trl")
    accuracy.add_argument("--peer", type=Path, default=Path("../shared/peers/math_verify_peer.py"))
    accuracy.add_argument("--peer-results", type=Path, help="what the peer script wrote, instead of running it")
    accuracy.add_argument("--out", type=Path, required=True)
    write = commands.add_parser("page", help="the page of both results")
    write.add_argument("--speed", type=Path, required=True)
    write.add_argument("--accuracy", type=Path, required=True)
    write.add_argument("--page", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.command == "speed":
        _save(arguments.out, _speed(arguments))
    elif arguments.command == "accuracy":
        _save(arguments.out, _accuracy(arguments))
    else:
        found = (json.loads(file.read_text()) for file in (arguments.speed, arguments.accuracy))
        arguments.page.write_text(page(*found))
        print(f"wrote {arguments.page}")


def _speed(arguments: argparse.Namespace) -> dict[str, Any]:
    sets = {"gsm8k": pairs_of_gsm8k(arguments.gsm8k), "math500": pairs_of_math500(arguments.math500)}
    return {**stamp("benchmarks.verifiers"), "sets": measure(sets, rounds=arguments.rounds)}


def _accuracy(arguments: argparse.Namespace) -> dict[str, Any]:
    cases = read_cases(arguments.cases)
    found = {"rlvr": judged_by_us(cases)}
    results = arguments.peer_results
    with tempfile.TemporaryDirectory() as folder:
        if results is None and arguments.peer_python is not None:
            results = Path(folder) / "peers.jsonl"
            subprocess.run(
                [arguments.peer_python, arguments.peer, "--cases", arguments.cases, "--out", results], check=True
            )
        if results is not None:
            found |= judged_by_peers(results)
    return {
        **stamp("benchmarks.verifiers"),
        "cases": arguments.cases.name,
        "scores": {name: scores(cases, verdicts) for name, verdicts in found.items()},
        "wrong": [case.id for case in cases if (found["rlvr"][case.id].accepted is True) != case.correct],
    }


def _save(out: Path, result: dict[str, Any]) -> None:
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()

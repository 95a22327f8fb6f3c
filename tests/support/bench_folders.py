"""Finished runs with made-up responses, where a bench would have put them; and a `train` that only pretends."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlvr.evaluation.pass_rate import pass_rate
from rlvr.tracking.metrics import Mean, Metric
from rlvr.tracking.run_folder import RunFolder
from rlvr.tracking.sinks import JsonlSink, Tracker

PRETENDING_RLVR = """
import json, os, signal, sys, time, tomllib
from pathlib import Path

assert sys.argv[1] == "train"
if sys.argv[2] == "--resume":
    folder, resumed = Path(sys.argv[3]), True
    text = (folder / "config.toml").read_text()
else:
    text, resumed = Path(sys.argv[2]).read_text(), False
    run = tomllib.loads(text)["run"]
    folder = Path(run["dir"]) / run["name"]
stopped = False


def stop(*_):
    global stopped
    stopped = True


signal.signal(signal.SIGINT, stop)
config = tomllib.loads(text)
folder.mkdir(parents=True, exist_ok=True)
(folder / "config.toml").write_text(text)
(folder / "pid").write_text(str(os.getpid()))
print("resumed" if resumed else "started", "with", *sys.argv[3:], flush=True)
print("Traceback (most recent call last):" if config["run"]["steps"] == 13 else "training", flush=True)
if config["run"]["steps"] == 13:
    print("error: thirteen steps bring bad luck")
    sys.exit(2)
if config["run"]["steps"] == 14:
    os.kill(os.getpid(), signal.SIGKILL)
while config["run"]["steps"] == 99 and not stopped and not resumed:
    time.sleep(0.01)
(folder / "summary.json").write_text(json.dumps({"finished": not stopped, "wall_s": 2.0}))
sys.exit(130 if stopped else 0)
"""
"""Ends at once; 13 steps fail, 14 are killed, and 99 go on until Ctrl-C, or until they are resumed."""


def judged_rows(outcomes: Sequence[str | None], *, samples: int = 1) -> list[dict[str, Any]]:
    """Return the rows of an evaluation, `samples` for each problem in turn."""
    return [
        {
            "problem": f"toy/test/{index // samples}", "sample": index % samples, "prompt": "?", "text": "#1",
            "finish": "stop", "tokens": 3, "prompt_tokens": 2, "outcome": outcome, "score": float(outcome == "correct"),
            "answer": "1", "detail": "", "audit": {},
        }
        for index, outcome in enumerate(outcomes)
    ]  # fmt: skip


def finished_run(
    path: Path,
    curve: Sequence[int],
    *,
    n: int = 50,
    config_toml: str = "",
    seed: int = 0,
    rewarded: float = 0.5,
    rollouts_per_step: int = 100,
) -> RunFolder:
    """Make a finished run whose evaluations, one a step from step 0, had these numbers of right answers of `n`.

    Problem by problem the responses of one seed keep their order of difficulty.
    """
    folder = RunFolder.create(path, config_toml)
    hard = list(range(n))
    random.Random(seed).shuffle(hard)
    for step, right in enumerate(curve):
        solved = set(hard[:right])
        rows = judged_rows(["correct" if index in solved else "incorrect" for index in range(n)])
        phase = "ppo" if step else "base"
        record: dict[str, Any] = {"step": step, "phase": phase, "split": "test", "problems": n}
        for mode, temperature in (("greedy", 0.0), ("sampled", 1.0)):
            folder.write_responses(phase, step, mode, rows)
            record[mode] = pass_rate(rows, temperature=temperature).as_record()
        folder.append_evaluation({**record, "rollouts": step * rollouts_per_step, "tokens": 0, "wall_s": 1.0 + step})
    tracker = Tracker([JsonlSink(folder.metrics_path)])
    for step in range(1, len(curve)):
        tracker.log(step, [Metric("verify/pass_rate", Mean(rewarded * 100, 100))])
    tracker.close()
    steps = len(curve) - 1
    summary = {"name": folder.name, "steps": steps, "rollouts": steps * rollouts_per_step, "tokens": 0, "wall_s": 60.0}
    folder.write_summary({**summary, "commit": "52ad885", "finished": True})
    return folder

"""Make the stored run and the stored payload anew: `python tests/golden/renew.py [--run]`.

Without --run the run stays as it is and only payload.json is written from it: do that after a change of what a report
says, and read the difference before committing it. With --run a tiny run is trained first (half a minute), which is
needed only when run folders change.
"""

import json
import os
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent
OVERRIDES = (
    'run.name="run"', "run.steps=8", "model.tiny_hidden=64", "model.tiny_layers=2", "sft.steps=800", "sft.lr=4e-3",
    "optimizer.lr=2e-4", "rollout.prompts_per_step=16", "rollout.samples_per_prompt=2", "rollout.max_new_tokens=24",
    "evaluation.samples_per_problem=2", "evaluation.audit={math={}}", "tracking.rollouts_every=2",
    "tracking.audit_problems=0",
)  # fmt: skip
MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def train_run() -> None:
    """Train the tiny run and keep its text files, rollouts, responses and tokenizer: weights are not read."""
    from support.tiny_runs import tiny_config

    from rlvr.cli.training_run import TrainingRun
    from rlvr.config.document import annotated_toml
    from rlvr.tracking.run_folder import RunFolder

    config = tiny_config(*OVERRIDES)
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder.create(Path(place, "run"), annotated_toml(config))
        TrainingRun(config, folder).run()
        weights = shutil.ignore_patterns("*.safetensors", "checkpoints", "*.png", "README.md", "sft.jsonl")
        shutil.rmtree(GOLDEN / "run", ignore_errors=True)
        shutil.copytree(folder.path, GOLDEN / "run", ignore=weights)


def golden_payload() -> dict[str, Any]:
    """Return the payload of the stored run, without what another day or version changes. Run it in this folder."""
    from rlvr.report.payload import build_payload
    from rlvr.tracking.run_folder import RunFolder

    payload = build_payload([RunFolder.open(Path("run"))], texts_bytes=9_000, problems=4, made=MADE)
    return payload | {"version": "any"}


if __name__ == "__main__":
    sys.path[:0] = [str(GOLDEN.parents[1]), str(GOLDEN.parent)]
    if "--run" in sys.argv:
        train_run()
    os.chdir(GOLDEN)
    text = json.dumps(golden_payload(), indent=1, ensure_ascii=True)
    Path("payload.json").write_text(text + "\n", encoding="utf-8")

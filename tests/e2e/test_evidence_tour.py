"""Every command of docs/evidence.md, run as it stands there, in an empty folder that has the examples."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence.md"
_COMMAND = re.compile(r"^    (rlvr (?:[^\n\\]|\\\n)*)", re.MULTILINE)  # with continued lines
COMMANDS = [re.sub(r"\s+#.*", "", command) for command in _COMMAND.findall(PAGE.read_text())]
PATIENCE_S = 600


@pytest.mark.slow
def test_the_tour_goes_as_the_page_says(tmp_path: Path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed: dict[str, str] = {}
    for command in COMMANDS:
        process = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
        printed[command] = process.stdout + process.stderr

    def output(start: str) -> str:
        (found,) = [text for command, text in printed.items() if command.startswith(start)]
        return found

    assert "nothing stands in the way of this run" in output("rlvr doctor")
    assert "is better than A" in output("rlvr compare runs/a@sft runs/a")
    assert "Reward hacking suspected" in output("rlvr train examples/tour.toml run.name=hacked")
    made = re.findall(r"--out (\S+)", " ".join(COMMANDS))
    for name in ["runs/a/report.html", "runs/a/README.md", *made]:
        assert (tmp_path / name).stat().st_size > 1000, name
    assert len(list((tmp_path / "evals").iterdir())) == 1


def test_the_tour_shows_every_command_that_makes_evidence():
    shown = {command.split()[1] for command in COMMANDS}
    assert shown >= {"doctor", "train", "report", "compare", "plot", "eval", "inspect", "replay"}

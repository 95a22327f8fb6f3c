import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import sys, time
start = time.process_time()
import {package}
spent = time.process_time() - start
heavy = sorted({{"torch", "transformers", "datasets", "numpy", "sympy", "pydantic"}} & sys.modules.keys())
print(spent, ",".join(heavy))
"""


@pytest.mark.parametrize("package", ["tasks", "verifiers", "sandbox", "tasks.gsm8k", "verifiers.numeric"])
def test_importing_the_package_is_quick_and_pulls_in_nothing_heavy(package: str):
    spent_s = []
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", MEASURE.format(package=package)],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        spent, _, heavy = run.stdout.strip().partition(" ")
        assert heavy == ""
        spent_s.append(float(spent))
    assert min(spent_s) < 0.3

"""What the documentation says of coverage is what was simulated."""

import json
from pathlib import Path

from benchmarks.interval_coverage import CASES, coverage, table

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_table_of_the_committed_record():
    record = json.loads((ROOT / "benchmarks/results/interval_coverage.json").read_text())
    assert table(record) in (ROOT / "docs/comparison.md").read_text()
    assert f"{record['times']:,}" in (ROOT / "docs/comparison.md").read_text()


def test_a_short_simulation_agrees_with_the_record():
    record = json.loads((ROOT / "benchmarks/results/interval_coverage.json").read_text())
    row = record["cases"][6]
    found = coverage(CASES[6], times=300, seed=1)
    assert abs(found["cluster_wilson"] - row["cluster_wilson"]) < 0.05

"""How often 95 % intervals of pass rates hold the truth: simulated evaluations of policies whose pass rates are known.

python -m benchmarks.interval_coverage --out benchmarks/results/interval_coverage.json
"""

import argparse
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.stamp import stamp
from rlvr.evaluation.intervals import Interval, cluster_wilson
from rlvr.evaluation.pass_at_k import pass_at_k
from rlvr.tracking.atomic import atomic_write
from rlvr.tracking.jsonl import to_json

Rates = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Problems whose pass rates are drawn from Beta(a, b)."""

    a: float
    b: float
    problems: int
    samples: int
    k: int

    @property
    def truth(self) -> float:
        """pass@k over all such problems: 1 - E[(1 - p)^k]."""
        return 1 - math.prod((self.b + i) / (self.a + self.b + i) for i in range(self.k))


CASES = (
    Case(a=0.5, b=0.5, problems=20, samples=8, k=1),
    Case(a=0.3, b=1.5, problems=30, samples=4, k=1),
    Case(a=2, b=2, problems=50, samples=4, k=4),
    Case(a=0.2, b=4, problems=50, samples=4, k=1),
    Case(a=0.05, b=0.95, problems=50, samples=4, k=1),
    Case(a=2, b=2, problems=50, samples=16, k=8),
    Case(a=0.5, b=0.5, problems=100, samples=4, k=1),
    Case(a=0.3, b=1.5, problems=200, samples=8, k=4),
    Case(a=1, b=2, problems=500, samples=4, k=1),
)


def percentile_bootstrap(means: Rates, *, resamples: int = 2000) -> Interval:
    """Return the usual bootstrap interval: problems drawn with replacement, quantiles of their mean."""
    n = len(means)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=resamples)
    low, high = np.quantile(counts @ means / n, [0.025, 0.975])
    return Interval(low=float(low), high=float(high))


METHODS: dict[str, Callable[[Rates], Interval]] = {
    "percentile_bootstrap": percentile_bootstrap,
    "cluster_wilson": lambda means: cluster_wilson(means.tolist()),
}


def coverage(case: Case, *, times: int, seed: int) -> dict[str, float]:
    """Return by method the share of simulated evaluations whose interval holds the truth."""
    generator = np.random.default_rng(seed)
    estimates = np.array([pass_at_k(case.samples, right, case.k) for right in range(case.samples + 1)])
    covered = dict.fromkeys(METHODS, 0)
    for _ in range(times):
        rights = generator.binomial(case.samples, generator.beta(case.a, case.b, size=case.problems))
        for name, method in METHODS.items():
            interval = method(estimates[rights])
            covered[name] += interval.low <= case.truth <= interval.high
    return {name: count / times for name, count in covered.items()}


def table(record: dict[str, Any]) -> str:
    """Return the record as a Markdown table."""
    rows = [
        f"| Beta({row['a']:g}, {row['b']:g}) | {row['problems']} | {row['samples']} | pass@{row['k']} | "
        f"{row['truth']:.1%} | {row['percentile_bootstrap']:.1%} | {row['cluster_wilson']:.1%} |".replace("%", " %")
        for row in record["cases"]
    ]
    columns = (
        "rates of problems", "problems", "responses each", "quantity", "true value", "percentile bootstrap",
        "clustered Wilson",
    )  # fmt: skip
    return "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *rows])


def main() -> None:
    """Run the simulation and write its record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.json")
    parser.add_argument("--times", type=int, default=2000, help="simulated evaluations of each case")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    cases = [
        {**asdict(case), "truth": case.truth, **coverage(case, times=arguments.times, seed=arguments.seed)}
        for case in CASES
    ]
    record = {**stamp("benchmarks.interval_coverage"), "times": arguments.times, "cases": cases}
    atomic_write(arguments.out, to_json(record, indent=2) + "\n")
    print(table(record))


if __name__ == "__main__":
    main()

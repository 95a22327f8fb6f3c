"""What a comparison means, in words that need no statistics."""

from rlvr.evaluation.curve_statistics import Reached
from rlvr.evaluation.paired import Difference
from rlvr.evaluation.pass_rate import Rate
from rlvr.evaluation.run_curve import Axis


def sentence(a: str, b: str, difference: Difference, needed: int | None, *, p: float | None) -> str:
    """Return whether b differs from a, by how much, how sure that is, and what it would take to be sure.

    Args:
        a, b: names.
        needed: problems for 80 % power at the observed difference.
        p: of the exact test, if there is one; where it and the interval disagree the sentence says so.
    """
    low, high = difference.interval.low, difference.interval.high
    if difference.distinguishable:
        better = difference.value > 0
        ends = (low, high) if better else (-high, -low)
        text = (
            f"B ({b}) is {'better' if better else 'worse'} than A ({a}) by {points(abs(difference.value))} points, "
            f"95 % interval {points(ends[0])} to {points(ends[1])}, at n = {difference.n:,} problems"
        )
        if p is not None and p >= 0.05:
            text += f"; but the exact test is not sure ({p_text(p)}): measure more problems"
        return text
    text = (
        f"not distinguishable at this n = {difference.n:,}: B ({b}) minus A ({a}) is "
        f"{signed_points(difference.value)} points, 95 % interval {signed_points(low)} to {signed_points(high)}; "
    )
    if p is not None and p < 0.05:
        text += f"but the exact test sees one ({p_text(p)}): measure more problems; "
    if needed is None:
        return text + "both are right equally often, so no number of problems is known to tell them apart"
    return text + (
        f"to see a difference of {points(abs(difference.value))} points at 80 % power about {rounded(needed)} "
        "problems would be needed"
    )


def several_note(count: int) -> str:
    """Return what to keep in mind when several comparisons are read at once."""
    return (
        f"{count} comparisons are shown: each alone errs 1 time in 20, so the chance that one of them does is larger. "
        f"To be 95 % sure of all, count only p below {0.05 / count:.3g} (Bonferroni), or choose one before looking."
    )


SEEDS_NOTE = (
    "The intervals count which problems were drawn, and not that training with another seed gives another policy: "
    "for that, train several seeds of each (`rlvr bench`)."
)


def rate_text(rate: Rate) -> str:
    """Return a rate with its interval: "51.2 % [46.8, 55.6]"."""
    return f"{points(rate.value)} % [{points(rate.interval.low)}, {points(rate.interval.high)}]"


def difference_text(difference: Difference) -> str:
    """Return a difference with its interval: "+4.2 points [+1.1, +7.3]"."""
    low, high = signed_points(difference.interval.low), signed_points(difference.interval.high)
    return f"{signed_points(difference.value)} points [{low}, {high}]"


def p_text(p: float) -> str:
    """Return a p as it is said: "p = 0.021", "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def flips_text(gained: int, lost: int, *, p: float | None, samples: tuple[int, int]) -> str:
    """Return how many problems flipped each way, and what chance alone would make of it.

    Args:
        samples: responses per problem of A and of B.
    """
    if samples == (1, 1):
        text = f"{gained:,} gained (only B is right), {lost:,} lost (only A is right)"
        return text if p is None else f"{text}; exact McNemar test {p_text(p)}"
    text = f"B is right more often on {gained:,} problems, less often on {lost:,}"
    if p is not None:
        return f"{text}; exact paired permutation test {p_text(p)}"
    return (
        f"{text}; with {samples[0]} and {samples[1]} responses per problem these counts say nothing about who is better"
    )


def left_out_text(only_a: int, only_b: int, unjudged: int) -> str:
    """Return how many problems are not compared, and why; "" where all are."""
    counts = ((only_a, "only of A"), (only_b, "only of B"), (unjudged, "that could not be judged"))
    return ", ".join(f"{count:,} {why}" for count, why in counts if count)


def range_text(first: float, last: float, x: Axis) -> str:
    """Return a range of a curve: "0 to 12,300 rollouts"."""
    return f"{place_text(first, x).split()[0]} to {place_text(last, x)}"


def place_text(value: float, x: Axis) -> str:
    """Return a place on a curve with its unit: "12,300 rollouts", "4.5 min"."""
    if x == "wall_s":
        return f"{value / 60:.1f} min"
    return f"{value:,.0f} {'steps' if x == 'step' else x}"


def reached_text(reached: Reached | None, x: Axis) -> str:
    """Return where a curve reaches a threshold, with its interval."""
    if reached is None:
        return "not reached"
    high = "not reached" if reached.high is None else place_text(reached.high, x).split()[0]
    return f"{place_text(reached.value, x)} [{place_text(reached.low, x).split()[0]} to {high}]"


def points(value: float) -> str:
    """Return a share as percentage points: "4.2"."""
    return f"{100 * value + 0.0:.1f}"


def signed_points(value: float) -> str:
    """Return a difference of shares as percentage points with its sign: "+4.2"."""
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else text


def rounded(count: int) -> str:
    """Return a number with as many digits as an estimate deserves: "1,900"."""
    size = 10 ** max(0, len(str(count)) - 2)
    return f"{-(-count // size) * size:,}"

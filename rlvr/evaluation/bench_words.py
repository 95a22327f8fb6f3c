"""What the numbers of a bench mean, in words."""

from rlvr.evaluation import comparison_words as words
from rlvr.evaluation.over_seeds import SeedMean

_CONTROLS = {
    "random_reward": "what training alone gives when the reward is drawn at random",
    "shuffled_reward": "what training gives when each response earns the verdict on another",
    "format_only": "what rewarding the form of a response gives, whatever it answers",
    "lr_zero": "what measuring again gives without any learning",
}


def rate(mean: SeedMean | None) -> str:
    """Return a pass rate with its interval: "51.2 % [46.8, 55.6]"."""
    if mean is None:
        return "-"
    low, high = words.points(mean.interval.low), words.points(mean.interval.high)
    return f"{words.points(mean.value)} % [{low}, {high}]"


def points(mean: SeedMean | None) -> str:
    """Return a difference in percentage points with its interval: "+25.8 [22.1, 29.5]"."""
    if mean is None:
        return "-"
    low, high = words.signed_points(mean.interval.low), words.signed_points(mean.interval.high)
    return f"{words.signed_points(mean.value)} [{low}, {high}]"


def control_sentence(
    control: str,
    gain: SeedMean,
    *,
    main: str,
    main_gain: SeedMean | None,
    lead: SeedMean | None,
    changed: int,
    never_rewarded: bool,
) -> str:
    """Return what a control arm says about the gain of the main arm.

    Args:
        control: the arm's name.
        lead: how much higher the main arm ended, over the same problems and seeds.
        changed: on how many problems, over all seeds, it is right more or less often after training than before.
        never_rewarded: no training response of the control earned anything.
    """
    plain = "" if gain.distinguishable else ", not distinguishable from none"
    low, high = (words.signed_points(edge) for edge in (gain.interval.low, gain.interval.high))
    text = (
        f"{control} {'lost' if gain.value < 0 else 'gained'} {words.points(abs(gain.value))} points, greedy "
        f"(95 % interval of the change [{low}, {high}]{plain}): {_CONTROLS[control]}."
    )
    if control == "lr_zero" and changed:
        text += (
            f" It must be 0, and {changed} answers changed: find out why the same weights were measured differently "
            "before trusting this table."
        )
    if never_rewarded:
        text += " No response of it was ever rewarded, so it shows training without any reward."
    if lead is None or main_gain is None:
        return text
    if not lead.distinguishable:
        return f"{text} {main} ({points(main_gain)}) is not distinguishable from it here."
    side = "higher" if lead.value > 0 else "lower"
    edges = sorted((abs(lead.interval.low), abs(lead.interval.high)))
    return (
        f"{text} {main} ({points(main_gain)}) ended {words.points(abs(lead.value))} points "
        f"[{words.points(edges[0])}, {words.points(edges[1])}] {side}."
    )

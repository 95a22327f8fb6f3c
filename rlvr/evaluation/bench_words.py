"""What the numbers of a bench mean, in words."""

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
    return f"{_number(mean.value)} % [{_number(mean.interval.low)}, {_number(mean.interval.high)}]"


def points(mean: SeedMean | None) -> str:
    """Return a difference in percentage points with its interval: "+25.8 [22.1, 29.5]"."""
    if mean is None:
        return "-"
    return f"{_number(mean.value, '+')} [{_number(mean.interval.low, '+')}, {_number(mean.interval.high, '+')}]"


def control_sentence(
    control: str,
    gain: SeedMean,
    *,
    main: str,
    main_gain: SeedMean | None,
    lead: SeedMean | None,
    never_rewarded: bool,
) -> str:
    """Return what a control arm says about the gain of the main arm.

    Args:
        control: the arm's name.
        lead: how much higher the main arm ended, over the same problems and seeds.
        never_rewarded: no training response of the control earned anything.
    """
    plain = "" if gain.distinguishable else ", not distinguishable from none"
    low, high = (_number(edge, "+") for edge in (gain.interval.low, gain.interval.high))
    text = (
        f"{control} {'lost' if gain.value < 0 else 'gained'} {_number(abs(gain.value))} points, greedy (95 % interval "
        f"of the change [{low}, {high}]{plain}): {_CONTROLS[control]}."
    )
    if control == "lr_zero" and gain.distinguishable:
        text += " It must be 0: find out why the same weights were measured differently before trusting this table."
    if never_rewarded:
        text += " No response of it was ever rewarded, so it shows training without any reward."
    if lead is None or main_gain is None:
        return text
    if not lead.distinguishable:
        return f"{text} {main} ({points(main_gain)}) is not distinguishable from it here."
    side = "higher" if lead.value > 0 else "lower"
    edges = sorted((abs(lead.interval.low), abs(lead.interval.high)))
    return (
        f"{text} {main} ({points(main_gain)}) ended {_number(abs(lead.value))} points "
        f"[{_number(edges[0])}, {_number(edges[1])}] {side}."
    )


def _number(share: float, sign: str = "") -> str:
    text = f"{100 * share:{sign}.1f}"
    return text.replace("-", "+" if sign else "") if float(text) == 0 else text

"""What the card says of the paired gain."""

from rlvr.tracking.card_evidence import paired_gain


def test_a_gain_has_its_p_and_one_for_which_there_is_no_exact_test_has_none():
    difference = {"value": 0.5, "low": 0.25, "high": 0.75}
    found = {"n": 8, "gained": 5, "lost": 1, "difference": difference}
    text = paired_gain({"paired": {"greedy": {**found, "p": 0.21875}, "sampled": {**found, "p": None}}})
    assert "| greedy | 8 | 5 | 1 | +50.0 [+25.0, +75.0] | 0.2188 |" in text
    assert "| sampled | 8 | 5 | 1 | +50.0 [+25.0, +75.0] | - |" in text

from rlvr.tracking.rates import rate_text


def test_a_rate_is_written_with_its_interval_where_it_has_one():
    assert rate_text({"pass_rate": 0.5118, "low": 0.468, "high": 0.556}) == "51.2 % [46.8, 55.6]"
    assert rate_text({"pass_rate": 0.5, "low": None, "high": None}) == "50.0 %"
    assert rate_text({"pass_rate": None}) is None
    assert rate_text(None) is None

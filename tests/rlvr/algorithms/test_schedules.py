import pytest

from rlvr.algorithms.schedules import learning_rate_factor


def factors(**options) -> list[float]:
    return [learning_rate_factor(step, **options) for step in range(options["total_steps"])]


def test_warm_up_starts_at_one_part_and_ends_at_the_peak():
    actual = factors(warmup_steps=4, total_steps=6, decay="none", final_frac=0.1)
    assert actual == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 1.0])


def test_linear_decay_ends_at_its_final_share_on_the_last_step():
    actual = factors(warmup_steps=1, total_steps=5, decay="linear", final_frac=0.2)
    assert actual == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2])


def test_cosine_decay_is_halfway_in_the_middle():
    actual = factors(warmup_steps=0, total_steps=5, decay="cosine", final_frac=0.2)
    assert actual[0] == pytest.approx(1.0)
    assert actual[2] == pytest.approx(0.6)
    assert actual[4] == pytest.approx(0.2)
    assert actual == sorted(actual, reverse=True)


def test_without_warm_up_the_first_step_takes_the_peak():
    assert factors(warmup_steps=0, total_steps=3, decay="linear", final_frac=0.0) == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize("decay", ["none", "linear", "cosine"])
def test_a_single_step_takes_the_peak(decay: str):
    assert factors(warmup_steps=0, total_steps=1, decay=decay, final_frac=0.1) == [1.0]


@pytest.mark.parametrize("decay", ["linear", "cosine"])
def test_a_run_shorter_than_its_warm_up_only_warms_up(decay: str):
    assert factors(warmup_steps=4, total_steps=2, decay=decay, final_frac=0.1) == pytest.approx([0.25, 0.5])


@pytest.mark.parametrize("decay", ["linear", "cosine"])
def test_after_the_last_step_the_final_share_stays(decay: str):
    actual = learning_rate_factor(99, warmup_steps=2, total_steps=10, decay=decay, final_frac=0.1)
    assert actual == pytest.approx(0.1)


def test_an_unknown_decay_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match='"none", "linear" or "cosine"'):
        learning_rate_factor(0, warmup_steps=1, total_steps=2, decay="exponential", final_frac=0.0)

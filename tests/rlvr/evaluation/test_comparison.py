"""What a comparison finds, on evaluations whose every verdict is known."""

import json
from pathlib import Path

import pytest
from support.measured_runs import CONFIG, made_evaluation, made_run, rows_of

from rlvr.errors import ConfigError, RunFolderError
from rlvr.evaluation.comparison import Comparison, compare
from rlvr.evaluation.measured import load_measured
from rlvr.evaluation.paired import mcnemar, sign_flip_p


def greedy_pair(tmp_path: Path, a: dict[int, str], b: dict[int, str], **columns) -> Comparison:
    paths = [
        made_evaluation(tmp_path / name, {"greedy": rows_of(own)}, **columns) for name, own in (("a", a), ("b", b))
    ]
    return compare(*(load_measured(str(path)) for path in paths))


def test_problems_are_paired_by_id_and_those_of_one_side_are_counted(tmp_path: Path):
    a = {1: "c", 2: "i", 3: "c", 4: "i", 9: "c"}
    b = {4: "c", 3: "i", 2: "c", 1: "c", 5: "c", 6: "c"}
    found = greedy_pair(tmp_path, a, b).modes["greedy"]
    assert (found.n, found.only_a, found.only_b, found.unjudged) == (4, 1, 2, 0)
    assert (found.rate.a.value, found.rate.b.value, found.rate.difference.value) == (0.5, 0.75, 0.25)
    assert [flip.problem for flip in found.gained] == ["made/test/2", "made/test/4"]
    assert [flip.problem for flip in found.lost] == ["made/test/3"]
    assert found.p == mcnemar(2, 1)


def test_a_flip_says_where_both_responses_lie(tmp_path: Path):
    comparison = greedy_pair(tmp_path, {1: "c", 2: "i"}, {2: "c", 1: "c"})
    [flip] = comparison.modes["greedy"].gained
    for place, line in ((flip.a, 2), (flip.b, 1)):
        assert place.line == line
        assert json.loads(place.path.read_text().splitlines()[line - 1]) == place.row
    assert (flip.a.row["answer"], flip.b.row["answer"], flip.prompt) == ("8", "7", "What is problem 2?")


def test_what_could_not_be_judged_on_one_side_is_left_out(tmp_path: Path):
    comparison = greedy_pair(tmp_path, {1: "?", 2: "i", 3: "c"}, {1: "c", 2: "c", 3: "c"})
    found = comparison.modes["greedy"]
    assert (found.n, found.unjudged, len(found.gained)) == (2, 1, 1)
    assert "1 responses of a could not be judged and are left out" in comparison.warnings


def test_sampled_responses_are_compared_by_rate_and_pass_at_k(tmp_path: Path):
    a, b = {1: "ciii", 2: "cccc", 3: "iiii"}, {1: "ccci", 2: "ccci", 3: "iiii"}
    paths = [made_evaluation(tmp_path / name, {"sampled": rows_of(own)}) for name, own in (("a", a), ("b", b))]
    found = compare(*(load_measured(str(path)) for path in paths)).modes["sampled"]
    assert (found.rate.a.value, found.rate.b.value) == pytest.approx((5 / 12, 6 / 12))
    assert list(found.pass_at_k) == [2, 4]
    assert found.pass_at_k[2].a.value == pytest.approx((0.5 + 1 + 0) / 3)
    assert found.pass_at_k[4].difference.value == 0.0
    [gained], [lost] = found.gained, found.lost
    assert (gained.a_rate, gained.b_rate, gained.a.row["outcome"], gained.b.row["outcome"]) == (
        0.25, 0.75, "incorrect", "correct",
    )  # fmt: skip
    assert (lost.a.row["outcome"], lost.b.row["outcome"], lost.b.line) == ("correct", "incorrect", 8)
    assert found.p == sign_flip_p([2, -1, 0])


def test_the_largest_changes_come_first(tmp_path: Path):
    a, b = {1: "iiii", 2: "iiii", 3: "iiii"}, {1: "ciii", 2: "cccc", 3: "ccii"}
    paths = [made_evaluation(tmp_path / name, {"sampled": rows_of(own)}) for name, own in (("a", a), ("b", b))]
    found = compare(*(load_measured(str(path)) for path in paths)).modes["sampled"]
    assert [flip.problem[-1] for flip in found.gained] == ["2", "3", "1"]


def test_with_different_numbers_of_responses_there_is_no_exact_test(tmp_path: Path):
    """One response is right or wrong, four are often in between: counts of flips would favour the one with one."""
    a = made_evaluation(tmp_path / "a", {"sampled": rows_of({1: "c", 2: "i", 3: "c"})})
    b = made_evaluation(tmp_path / "b", {"sampled": rows_of({1: "ccci", 2: "ciii", 3: "ccci"})})
    found = compare(load_measured(str(a)), load_measured(str(b))).modes["sampled"]
    assert (found.p, found.samples, dict(found.pass_at_k)) == (None, (1, 4), {})


def test_a_response_that_could_not_be_judged_does_not_cost_the_exact_test(tmp_path: Path):
    """Its problem has other numbers on both sides and is left out of the test alone."""
    a, b = {1: "ciii", 2: "ccci", 3: "iiii"}, {1: "ccii", 2: "cc?i", 3: "ciii"}
    paths = [made_evaluation(tmp_path / name, {"sampled": rows_of(own)}) for name, own in (("a", a), ("b", b))]
    found = compare(*(load_measured(str(path)) for path in paths)).modes["sampled"]
    assert (found.n, found.samples, found.p) == (3, (4, 4), sign_flip_p([1, 1]))


def test_thirds_that_cancel_are_no_difference(tmp_path: Path):
    a, b = {1: "cci", 2: "cii"}, {1: "ccc", 2: "iii"}
    paths = [made_evaluation(tmp_path / name, {"sampled": rows_of(own)}) for name, own in (("a", a), ("b", b))]
    found = compare(*(load_measured(str(path)) for path in paths)).modes["sampled"]
    assert (found.rate.difference.value, found.problems_needed) == (0.0, None)


def test_two_runs_of_one_name_are_told_apart_by_their_parents(tmp_path: Path):
    for arm in ("ppo", "grpo"):
        (tmp_path / arm).mkdir()
        learning_run(tmp_path / arm / "seed-0", {0: 10, 10: 20})
    a, b = (load_measured(str(tmp_path / arm / "seed-0")) for arm in ("ppo", "grpo"))
    assert "B (grpo/seed-0) minus A (ppo/seed-0)" in compare(a, b).sentence
    a, b = (load_measured(f"{tmp_path / arm / 'seed-0'}@sft") for arm in ("ppo", "grpo"))
    assert "B (grpo/seed-0@sft) minus A (ppo/seed-0@sft)" in compare(a, b).sentence


def test_where_the_exact_test_sees_what_the_interval_does_not_the_sentence_says_so(tmp_path: Path):
    a = dict.fromkeys(range(1000), "c") | dict.fromkeys(range(29), "i")
    b = dict.fromkeys(range(1000), "c") | dict.fromkeys(range(29, 44), "i")
    comparison = greedy_pair(tmp_path, a, b)
    assert not comparison.modes["greedy"].rate.difference.distinguishable
    assert "but the exact test sees one (p = 0.049): measure more problems" in comparison.sentence


def test_where_the_interval_sees_what_the_exact_test_does_not_the_sentence_says_so(tmp_path: Path):
    a = dict.fromkeys(range(200), "c") | dict.fromkeys(range(5), "i")
    comparison = greedy_pair(tmp_path, a, dict.fromkeys(range(200), "c"))
    assert comparison.sentence.endswith("but the exact test is not sure (p = 0.062): measure more problems")


def test_a_clear_difference_is_said_in_words(tmp_path: Path):
    a = dict.fromkeys(range(100), "i") | dict.fromkeys(range(40), "c")
    b = dict.fromkeys(range(100), "i") | dict.fromkeys(range(70), "c")
    comparison = greedy_pair(tmp_path, a, b)
    low, high = (100 * end for end in (comparison.modes["greedy"].rate.difference.interval.low,
                                       comparison.modes["greedy"].rate.difference.interval.high))  # fmt: skip
    assert comparison.sentence == (
        f"B (b) is better than A (a) by 30.0 points, 95 % interval {low:.1f} to {high:.1f}, at n = 100 problems"
    )
    back = compare(comparison.b, comparison.a)
    assert back.sentence.startswith("B (a) is worse than A (b) by 30.0 points, 95 % interval ")


def test_a_difference_that_cannot_be_told_says_what_it_would_take(tmp_path: Path):
    a = dict.fromkeys(range(200), "i") | dict.fromkeys(range(100), "c")
    b = dict.fromkeys(range(200), "i") | dict.fromkeys(range(10, 114), "c")
    comparison = greedy_pair(tmp_path, a, b)
    found = comparison.modes["greedy"]
    assert (len(found.gained), len(found.lost), found.problems_needed) == (14, 10, 2353)
    assert "not distinguishable at this n = 200: B (b) minus A (a) is +2.0 points" in comparison.sentence
    assert comparison.sentence.endswith(
        "to see a difference of 2.0 points at 80 % power about 2,400 problems would be needed"
    )


def test_no_difference_has_no_number_of_problems(tmp_path: Path):
    comparison = greedy_pair(tmp_path, {1: "c", 2: "i"}, {1: "c", 2: "i"})
    assert comparison.modes["greedy"].problems_needed is None
    assert comparison.sentence.endswith("so no number of problems is known to tell them apart")


def test_another_task_or_split_is_refused(tmp_path: Path):
    rows = {"greedy": rows_of({1: "c"})}
    a = load_measured(str(made_evaluation(tmp_path / "a", rows)))
    for column in ("task", "split"):
        b = load_measured(str(made_evaluation(tmp_path / column, rows, **{column: "other"})))
        with pytest.raises(ConfigError, match=f"a was measured on {column} .* and {column} on {column} other"):
            compare(a, b)


def test_no_problem_in_common_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"no problem in common .greedy: 1 and 2 problems, such as made/test/1"):
        greedy_pair(tmp_path, {1: "c"}, {2: "c", 3: "c"})
    with pytest.raises(ConfigError, match="no problem in common could be judged for both"):
        greedy_pair(tmp_path / "again", {1: "?"}, {1: "c"})


def test_a_mode_that_one_lacks_is_refused(tmp_path: Path):
    a = load_measured(str(made_evaluation(tmp_path / "a", {"greedy": rows_of({1: "c"})})))
    b = load_measured(str(made_evaluation(tmp_path / "b", {"sampled": rows_of({1: "c"})})))
    with pytest.raises(ConfigError, match="a and b have no mode in common"):
        compare(a, b)
    with pytest.raises(ConfigError, match="a was not measured sampled; it has greedy"):
        compare(a, b, modes=["sampled"])


def test_what_would_be_unfair_is_warned_of(tmp_path: Path):
    a = made_evaluation(tmp_path / "a", {"greedy": rows_of({1: "c", 2: "c"})}, finished=False)
    b = made_evaluation(
        tmp_path / "b", {"greedy": rows_of({1: "c"}) + rows_of({2: "c"}, prompt="Anything else?")},
        verifier="math", sampling={"max_new_tokens": 64},
    )  # fmt: skip
    warnings = "\n".join(compare(load_measured(str(a)), load_measured(str(b))).warnings)
    assert "the evaluation a was cut short" in warnings
    assert 'verifier differs (A "task", B "math"): the difference may be the judges\'' in warnings
    assert "max_new_tokens differs (A 16, B 64): the one with the lower limit has more responses cut off" in warnings
    assert "1 of 2 problems have another prompt in B than in A, made/test/2 the first" in warnings


def test_the_same_measurement_twice_is_warned_of(tmp_path: Path):
    a = load_measured(str(made_evaluation(tmp_path / "a", {"greedy": rows_of({1: "c"})})))
    assert compare(a, a).warnings == ["a and a are the same measurement"]


def learning_run(path: Path, solved: dict[int, int], **columns):
    """A run of 40 problems of which so many are solved at a step."""
    points = {
        ("ppo" if step else "sft", step): dict.fromkeys(range(40), "i") | dict.fromkeys(range(count), "c")
        for step, count in solved.items()
    }
    return made_run(path, points, **columns)


def test_two_runs_are_also_compared_by_their_curves(tmp_path: Path):
    learning_run(tmp_path / "slow", {0: 10, 10: 20, 20: 30, 30: 38})
    learning_run(tmp_path / "fast", {0: 10, 10: 36, 20: 38})
    comparison = compare(load_measured(str(tmp_path / "slow")), load_measured(str(tmp_path / "fast")), threshold=0.75)
    curve = comparison.curves["greedy"]
    assert (curve.x, curve.first, curve.last, curve.problems) == ("rollouts", 0, 2000, 40)
    assert curve.a_area.value == pytest.approx((10 / 2 + 20 + 30 / 2) / 2 / 40)
    assert curve.b_area.value == pytest.approx((10 / 2 + 36 + 38 / 2) / 2 / 40)
    assert curve.difference.value == pytest.approx(curve.b_area.value - curve.a_area.value)
    assert curve.difference.distinguishable
    assert curve.a_reached is not None
    assert curve.b_reached is not None
    assert curve.a_reached.value == pytest.approx(2000)
    assert curve.b_reached.value == pytest.approx(1000 * 20 / 26)
    by_time = compare(comparison.a, comparison.b, x="wall_s").curves["greedy"]
    assert (by_time.first, by_time.last) == (60, 100)


def test_moments_of_two_runs_are_compared_without_their_curves(tmp_path: Path):
    for name in "ab":
        learning_run(tmp_path / name, {0: 10, 10: 20, 20: 30})
    assert not compare(load_measured(f"{tmp_path}/a@10"), load_measured(f"{tmp_path}/b@10")).curves
    assert compare(load_measured(f"{tmp_path}/a"), load_measured(f"{tmp_path}/b")).curves


def test_a_damaged_file_of_a_curve_is_named(tmp_path: Path):
    for name in "ab":
        learning_run(tmp_path / name, {0: 10, 10: 20, 20: 30})
    path = tmp_path / "b" / "responses" / "ppo_000010_greedy.jsonl.gz"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(RunFolderError, match=r"ppo_000010_greedy\.jsonl\.gz: cannot be read to its end"):
        compare(load_measured(f"{tmp_path}/a"), load_measured(f"{tmp_path}/b"))


def test_the_moments_of_one_run_have_no_curves_to_compare(tmp_path: Path):
    run = learning_run(tmp_path / "a", {0: 10, 10: 20}).path
    assert not compare(load_measured(f"{run}@sft"), load_measured(f"{run}")).curves
    assert not compare(load_measured(f"{run}@10"), load_measured(f"{run}")).curves


def test_an_x_that_was_not_recorded_is_told(tmp_path: Path):
    learning_run(tmp_path / "a", {0: 10, 10: 20})
    learning_run(tmp_path / "b", {0: 10, 10: 20})
    path = tmp_path / "b" / "evaluations.jsonl"
    path.write_text("".join(json.dumps({**json.loads(line), "tokens": None}) + "\n" for line in path.open()))
    a, b = load_measured(str(tmp_path / "a")), load_measured(str(tmp_path / "b"))
    with pytest.raises(ConfigError, match="b has evaluations without tokens; take --x step"):
        compare(a, b, x="tokens")
    assert compare(a, b, x="step").curves["greedy"].last == 10


def test_a_run_stopped_before_its_last_evaluation_is_named_as_what_it_is(tmp_path: Path):
    run = made_run(tmp_path / "a", {("sft", 0): {1: "c", 2: "i"}, ("ppo", 10): {1: "c"}}).path
    [warning] = compare(load_measured(str(run)), load_measured(f"{run}@10")).warnings
    assert warning.startswith("a is compared as it was before PPO, its last evaluation on all problems")


def test_task_options_of_runs_are_watched(tmp_path: Path):
    for name, digits in (("a", 2), ("b", 3)):
        learning_run(
            tmp_path / name, {0: 10}, config=CONFIG.replace("options = {}", f"options = {{digits = {digits}}}")
        )
    found = compare(load_measured(str(tmp_path / "a@sft")), load_measured(str(tmp_path / "b@sft"))).warnings
    assert found == [
        'task_options differs (A {"digits": 2}, B {"digits": 3}): the same ids may stand for other problems'
    ]


def test_the_record_is_plain_json_with_the_answer_in_words(tmp_path: Path):
    learning_run(tmp_path / "a", {0: 10, 10: 20})
    learning_run(tmp_path / "b", {0: 10, 10: 36})
    comparison = compare(load_measured(str(tmp_path / "a")), load_measured(str(tmp_path / "b")))
    record = json.loads(json.dumps(comparison.as_record()))
    assert record["sentence"] == record["modes"]["greedy"]["sentence"] == comparison.sentence
    assert (record["a"]["name"], record["b"]["step"]) == ("a", 10)
    assert record["modes"]["greedy"]["difference"]["distinguishable"] is True
    assert set(record["curves"]["sampled"]) >= {"a_area", "b_area", "difference", "a_reached", "b_reached"}
    assert record["modes"]["greedy"]["gained"][0]["a"]["text"] == "It is i."

import json
import math
from collections.abc import Sequence

from support.report_runs import rollout_record

from rlvr.report.choice import Outline, choose, outlines
from rlvr.tracking.jsonl import to_line


def outline(row: int, problem: str | None = None, **changes) -> Outline:
    fields = {"outcome": "correct", "truncated": False, "advantage": 0.0, "kl": 0.0, "tokens": 5, "sample": 0}
    return Outline(row=row, problem=problem or f"only/{row}", **{**fields, **changes})


def reasons(own: Sequence[Outline], most: int = 8) -> dict[int, list[str]]:
    return choose({1: own}, most)[1]


def test_problems_that_recur_at_several_steps_are_taken_at_each():
    steps = {step: [*(outline(row, f"{step}/{row}") for row in range(20)), outline(20, "again")] for step in (1, 2, 3)}
    for rows in choose(steps, 4).values():
        assert rows[20][0] == "recurs"
        assert len(rows) == 4


def test_problems_at_more_steps_are_preferred():
    steps = {step: [outline(0, "always"), outline(1, "twice" if step < 3 else "once")] for step in (1, 2, 3)}
    assert [next(iter(rows)) for rows in choose(steps, 2).values()] == [0, 0, 0]


def test_recurring_problems_leave_room_for_contrasts():
    own = [outline(row, f"again/{row}", outcome="incorrect") for row in range(20)]
    steps = {1: [*own, outline(20, "right")], 2: own}
    rows = choose(steps, 8)[1]
    assert sum("recurs" in why for why in rows.values()) == 4
    assert "right" in rows[20]


def test_right_and_wrong_extremes_cut_and_failed_rollouts_are_shown():
    own = [
        *(outline(row, advantage=0.1 * row) for row in range(10)),
        outline(10, outcome="incorrect", advantage=-1.0),
        outline(11, advantage=9.0),
        outline(12, kl=50.0),
        outline(13, truncated=True),
        outline(14, outcome="timed_out"),
        outline(15, tokens=900),
    ]
    found = reasons(own)
    assert found[10] == ["wrong", "low advantage"]
    assert {row: why for row, why in found.items() if row > 10} == {
        11: ["high advantage"], 12: ["high KL"], 13: ["cut off"], 14: ["failed"], 15: ["long"],
    }  # fmt: skip


def test_of_a_recurring_problem_one_of_each_outcome_comes_first():
    own = [outline(0, "p"), outline(1, "p", sample=1), outline(2, "p", sample=2, outcome="incorrect")]
    rows = choose({1: own, 2: [outline(0, "p")]}, 4)[1]
    assert [row for row, why in rows.items() if "recurs" in why] == [0, 2]


def test_fewer_rollouts_than_places_are_all_shown():
    assert sorted(reasons([outline(row) for row in range(3)])) == [0, 1, 2]


def test_outlines_read_what_they_need_out_of_a_line_as_parsing_it_would():
    records = [
        rollout_record("p/0", [1, 2, 3], advantage=0.5, finish="length", kl=1.25),
        rollout_record("p/1", [4], outcome="incorrect", advantage=-1.0),
        # A text that looks like the record's own lists must not be taken for them.
        rollout_record("p/0", [], text='"prompt_ids": [1, 2], "advantages": [7.0], "token_ids": [1, 2]', kl=0.0),
    ]
    first, second, third = outlines([to_line(record) for record in records])
    assert (first.problem, first.sample, first.tokens, first.advantage) == ("p/0", 0, 3, 0.5)
    assert (first.truncated, first.kl) == (True, 1.25)
    assert (second.outcome, second.truncated, second.tokens, second.advantage) == ("incorrect", False, 1, -1.0)
    assert (third.problem, third.sample, third.row, third.tokens, third.advantage) == ("p/0", 1, 2, 0, None)


def test_outlines_read_records_without_token_lists():
    (found,) = outlines([json.dumps({"problem": "p/0", "reward": 1.0}).encode()])
    assert (found.problem, found.outcome, found.advantage, found.tokens) == ("p/0", None, None, 0)


def test_advantages_that_were_not_finite_are_in_no_mean():
    some = rollout_record("p/0", [1, 2, 3], advantages=[math.nan, 1.0, 2.0])
    none = rollout_record("p/1", [1], advantages=[math.inf])
    assert [one.advantage for one in outlines([to_line(some), to_line(none)])] == [1.5, None]

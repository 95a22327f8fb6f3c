from collections.abc import Sequence

from rlvr.report.choice import Outline
from rlvr.report.probe_choice import choose_probes


def step_of(outcomes: Sequence[tuple[str, str]]) -> list[Outline]:
    """Return a step's outlines from problems and outcomes."""
    return [
        Outline(row=row, problem=problem, sample=0, outcome=outcome, truncated=False, advantage=0.0, kl=0.0, tokens=3)
        for row, (problem, outcome) in enumerate(outcomes)
    ]


def course(**outcomes: str) -> dict[int, list[Outline]]:
    """Return steps from the outcomes of each problem over the course, "r" right and "w" wrong."""
    names = {"r": "correct", "w": "incorrect"}
    count = len(next(iter(outcomes.values())))
    return {
        10 * place: step_of([(problem, names[marks[place]]) for problem, marks in outcomes.items()])
        for place in range(count)
    }


def test_problems_that_changed_most_between_first_and_last_come_first_at_every_step():
    chosen = choose_probes(course(always="rrr", lost="rww", swings="wrw", never="www", learned="wwr"), 24)
    assert {tuple(rows) for rows in chosen.values()} == {(4, 1, 2, 0, 3)}
    assert chosen[10] == {
        4: ["more often right at the end"], 1: ["less often right at the end"], 2: ["verdict came and went"],
        0: [], 3: [],
    }  # fmt: skip


def test_places_go_to_one_response_of_every_problem_and_then_to_other_outcomes():
    own = [("a", "incorrect"), ("a", "incorrect"), ("a", "correct"), ("b", "correct"), ("b", "correct")]
    steps = {0: step_of(own), 5: step_of(own)}
    assert [list(choose_probes(steps, places)[5]) for places in (2, 4, 9)] == [[0, 3], [0, 3, 2, 4], [0, 3, 2, 4, 1]]


def test_a_problem_missing_at_a_step_is_left_out_there():
    steps = {0: step_of([("a", "correct"), ("b", "correct")]), 5: step_of([("b", "correct")])}
    assert [list(rows) for rows in choose_probes(steps, 9).values()] == [[0, 1], [0]]


def test_no_steps_no_choice():
    assert choose_probes({}, 9) == {}

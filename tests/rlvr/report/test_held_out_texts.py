from pathlib import Path

import pytest

from rlvr.report import held_out_texts as module
from rlvr.report.budget import Budget
from rlvr.report.held_out_texts import held_out_texts
from rlvr.tracking.run_folder import RunFolder

PLENTY = 1_000_000.0
KINDS = {"gained": "01", "lost": "10", "never": "00", "always": "11"}


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", "")


def evaluate(folder: RunFolder, step: int, outcomes: dict[str, str | None], text: str = "12") -> dict:
    phase = "ppo" if step else "sft"
    rows = [
        {"problem": name, "prompt": f"{name}?", "text": text, "finish": "stop", "outcome": outcome, "answer": "12",
         "detail": "equals"}
        for name, outcome in outcomes.items()
    ]  # fmt: skip
    folder.write_responses(phase, step, "greedy", rows)
    return {"phase": phase, "step": step, "split": "test"}


def by_kind(folder: RunFolder, each: int = 1) -> list[dict]:
    outcome = {"0": "incorrect", "1": "correct"}
    return [
        evaluate(
            folder,
            10 * place,
            {f"{kind}/{n}": outcome[rights[place]] for kind, rights in KINDS.items() for n in range(each)},
        )
        for place in (0, 1)
    ]


def test_each_problem_comes_with_its_answer_at_every_evaluation(run: RunFolder):
    shown, notes = held_out_texts(run, by_kind(run), Budget(PLENTY))
    assert notes == []
    (gained,) = [problem for problem in shown if problem["id"] == "gained/0"]
    assert gained["prompt"] == "gained/0?"
    assert [(answer["step"], answer["phase"], answer["outcome"]) for answer in gained["answers"]] == [
        (0, "sft", "incorrect"), (10, "ppo", "correct"),
    ]  # fmt: skip
    assert gained["answers"][0]["text"] == "12"


def test_gained_and_lost_problems_take_turns_with_the_others(run: RunFolder):
    shown, (note,) = held_out_texts(run, by_kind(run, each=40), Budget(PLENTY))
    assert [problem["id"].split("/")[0] for problem in shown[:5]] == ["gained", "lost", "never", "always", "gained"]
    assert len(shown) == module.MAX_PROBLEMS
    assert "of 160 held-out problems" in note


def test_only_problems_that_all_evaluations_asked_are_compared(run: RunFolder):
    records = [evaluate(run, 0, {"a": "correct", "b": "correct"}), evaluate(run, 5, {"a": None})]
    shown, _ = held_out_texts(run, records, Budget(PLENTY))
    assert [(problem["id"], problem["answers"][1]["outcome"]) for problem in shown] == [("a", None)]


def test_many_evaluations_are_thinned_to_the_first_the_last_and_some_between(run: RunFolder):
    records = [evaluate(run, step, {"a": "correct"}) for step in range(40)]
    shown, _ = held_out_texts(run, records, Budget(PLENTY))
    steps = [answer["step"] for answer in shown[0]["answers"]]
    assert (steps[0], steps[-1], len(steps)) == (0, 39, module.MAX_EVALUATIONS)


def test_a_budget_is_kept(run: RunFolder):
    budget = Budget(2_000)
    shown, (note,) = held_out_texts(run, by_kind(run, each=40), budget)
    assert 0 < len(shown) < module.MAX_PROBLEMS
    assert budget.left_bytes >= 0
    assert f"{len(shown)} are in the page" in note


def test_long_texts_lose_their_middle(run: RunFolder):
    text = "a" * 10_000 + "b" * 10_000
    records = [evaluate(run, 0, {"a": "correct"}, text)]
    ((problem,), _) = held_out_texts(run, records, Budget(PLENTY))
    shown = problem["answers"][0]["text"]
    assert "[... 8,000 characters left out ...]" in shown
    assert (shown[0], shown[-1], len(shown) < 12_100) == ("a", "b", True)


def test_runs_that_kept_no_responses_show_none(run: RunFolder):
    assert held_out_texts(run, [], Budget(PLENTY)) == ([], [])
    assert held_out_texts(run, [{"phase": "sft", "step": 0, "split": "test"}], Budget(PLENTY)) == ([], [])

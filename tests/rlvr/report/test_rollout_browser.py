import math
from pathlib import Path

import pytest
from support.report_runs import golden_copy, rollout_record

from rlvr.errors import RunFolderError
from rlvr.models.tiny import tiny_tokenizer
from rlvr.report import shown_rollouts
from rlvr.report.budget import Budget
from rlvr.report.rollout_browser import rollout_browser
from rlvr.report.token_texts import TokenTexts, run_tokenizer
from rlvr.tracking.run_folder import RunFolder

PLENTY = 10_000_000.0


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder.create(tmp_path / "run", "")
    tiny_tokenizer().save_pretrained(folder.reference_path)
    return folder


def texts(folder: RunFolder) -> TokenTexts:
    found = run_tokenizer(folder)
    assert found is not None
    return found


def browse(folder: RunFolder, *, size_bytes: float = PLENTY, problems: int = 24, critic: bool = True):
    return rollout_browser(folder, texts(folder), Budget(size_bytes), problems=problems, critic=critic)


def test_every_number_of_a_token_is_that_of_the_record(run: RunFolder):
    record = rollout_record("p/0", [5, 6, 1], seed=4)
    run.write_rollouts(3, [record])
    browser, _ = browse(run)
    assert browser is not None
    (response,) = browser["responses"]
    assert browser["steps"] == [3]
    assert browser["problems"] == [{"id": "p/0", "prompt": "p/0?"}]
    assert (response["step"], response["problem"], response["sample"]) == (3, 0, 0)
    assert response["value"] == pytest.approx(record["values"], rel=1e-3)
    assert response["entropy"] == pytest.approx(record["entropies"], rel=1e-3)
    kl = [p - q for p, q in zip(record["old_logprobs"], record["ref_logprobs"], strict=True)]
    assert response["kl_token"] == pytest.approx(kl, rel=1e-3)
    assert response["ratio"] == pytest.approx([math.exp(value) for value in record["update_log_ratios"]], rel=1e-3)
    assert len(response["tokens"]) == 3
    assert response["tokens"][2] == "<eos>"
    assert "mask" not in response
    assert "omitted" not in response


def test_records_of_older_versions_have_null_for_what_they_lack(run: RunFolder):
    record = rollout_record("p/0", [5, 6])
    for name in ("entropies", "exact_kls", "update_log_ratios"):
        del record[name]
    run.write_rollouts(1, [record])
    browser, _ = browse(run, critic=False)
    assert browser is not None
    (response,) = browser["responses"]
    assert [response[name] for name in ("entropy", "exact_kl", "ratio", "value")] == [None] * 4
    assert response["advantage"] == [1, 1]


def test_tokens_that_the_policy_did_not_write_are_marked(run: RunFolder):
    run.write_rollouts(1, [rollout_record("p/0", [5, 6], mask=[True, False])])
    browser, _ = browse(run)
    assert browser is not None
    assert browser["responses"][0]["mask"] == [True, False]


def test_a_prompt_is_given_as_encoded_where_that_differs(run: RunFolder):
    ids = tiny_tokenizer()("p/0?").input_ids
    run.write_rollouts(
        1, [rollout_record("p/0", [5], prompt_ids=ids), rollout_record("p/1", [5], prompt_ids=[1, *ids])]
    )
    browser, _ = browse(run)
    assert browser is not None
    assert [response.get("prompt") for response in browser["responses"]] == [None, "<eos>p/0?"]


def test_problems_at_several_steps_come_first_and_are_shown_at_each(run: RunFolder):
    for step in range(1, 4):
        own = [rollout_record(f"{step}/{row}", [5, 6]) for row in range(10)]
        run.write_rollouts(step, [*own, rollout_record("again", [5])])
    browser, _ = browse(run, problems=4)
    assert browser is not None
    assert browser["problems"][0]["id"] == "again"
    assert [response["step"] for response in browser["responses"] if response["problem"] == 0] == [1, 2, 3]
    assert len(browser["responses"]) == 12


def test_steps_are_the_first_the_last_and_those_evenly_between(run: RunFolder):
    for step in range(1, 101):
        run.write_rollouts(step, [rollout_record(f"p/{step}", [5, 6])])
    browser, notes = browse(run)
    assert browser is not None
    assert (browser["steps"][0], browser["steps"][-1], len(browser["steps"])) == (1, 100, 12)
    gaps = [b - a for a, b in zip(browser["steps"], browser["steps"][1:], strict=False)]
    assert set(gaps) <= {9}
    assert "12 of 100 recorded steps" in notes[0]


def test_a_small_budget_is_kept_and_leaves_something_of_the_first_and_last_step(run: RunFolder):
    for step in range(1, 31):
        run.write_rollouts(step, [rollout_record(f"{step}/{row}", [5] * 300, seed=row) for row in range(8)])
    budget = Budget(80_000)
    browser, _ = rollout_browser(run, texts(run), budget, problems=8, critic=True)
    assert browser is not None
    assert budget.left_bytes >= 0
    assert {1, 30} <= set(browser["steps"])
    assert len(browser["steps"]) == shown_rollouts.FEWEST_STEPS


def test_no_room_no_rollouts_and_a_note(run: RunFolder):
    run.write_rollouts(1, [rollout_record("p/0", [5, 6])])
    for size_bytes in (0.0, 10.0):
        browser, (note,) = browse(run, size_bytes=size_bytes)
        assert browser is None
        assert "raise --max-mb" in note


def test_a_run_without_rollouts_or_tokenizer_has_no_browser(run: RunFolder):
    assert browse(run) == (None, [])
    run.write_rollouts(1, [rollout_record("p/0", [5, 6])])
    browser, (note,) = rollout_browser(run, None, Budget(PLENTY), problems=4, critic=True)
    assert browser is None
    assert "no tokenizer is saved yet" in note


def test_the_middle_of_a_very_long_response_is_left_out_and_counted(run: RunFolder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shown_rollouts, "MAX_TOKENS", 10)
    run.write_rollouts(1, [rollout_record("p/0", [5 + place % 50 for place in range(1010)], mask=[False] * 1010)])
    browser, notes = browse(run)
    assert browser is not None
    (response,) = browser["responses"]
    assert response["omitted"] == 1000
    assert response["tokens"][5] == " [... 1,000 tokens left out ...] "
    for name in ("advantage", "ratio", "kl_token", "mask"):
        assert len(response[name]) == len(response["tokens"]) == 11
        assert response[name][5] is None
    assert any("middle of 1 responses" in note for note in notes)


def test_an_enormous_ratio_stays_a_number(run: RunFolder):
    run.write_rollouts(1, [rollout_record("p/0", [5], update_log_ratios=[900.0])])
    browser, _ = browse(run)
    assert browser is not None
    assert browser["responses"][0]["ratio"] == [pytest.approx(math.exp(80.0), rel=1e-3)]


def test_token_texts_of_the_stored_run_are_its_responses(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    browser, _ = browse(folder)
    assert browser is not None
    stored = {record["text"] for step in folder.steps_with_rollouts() for record in folder.read_rollouts(step)}
    for response in browser["responses"]:
        assert "".join(response["tokens"]).removesuffix("<eos>") in stored


def test_numbers_that_were_not_finite_are_null(run: RunFolder):
    odd = {name: [None, 0.5] for name in ("old_logprobs", "update_log_ratios", "advantages", "exact_kls")}
    run.write_rollouts(1, [rollout_record("p/0", [5, 6], **odd)])
    browser, _ = browse(run)
    assert browser is not None
    (response,) = browser["responses"]
    for name in ("logprob", "kl_token", "ratio", "advantage", "exact_kl"):
        assert response[name][0] is None
        assert response[name][1] is not None


def test_probes_are_told_apart_from_the_rollouts_of_their_step(run: RunFolder):
    run.write_rollouts(5, [rollout_record("train/0", [5, 6])])
    for step, outcome in ((0, "incorrect"), (5, "correct")):
        run.write_probes(step, [rollout_record("test/0", [5, 6], outcome=outcome, policy_step=step)])
    browser, notes = browse(run)
    assert browser is not None
    assert (browser["steps"], browser["probe_steps"]) == ([5], [0, 5])
    assert [problem["id"] for problem in browser["problems"]] == ["test/0", "train/0"]
    found = [(one["step"], one["problem"], one.get("probe", False)) for one in browser["responses"]]
    assert found == [(5, 1, False), (0, 0, True), (5, 0, True)]
    assert "1 of 1 rollouts of 1 of 1 recorded steps; `rlvr inspect`" in notes[0]
    assert "2 of 2 held-out probes of 2 of 2 recorded steps; `rlvr inspect --probe`" in notes[1]


def test_a_probe_has_every_number_but_a_ratio(run: RunFolder):
    run.write_rollouts(1, [rollout_record("train/0", [5, 6])])
    run.write_probes(1, [rollout_record("test/0", [5, 6])])
    browser, _ = browse(run)
    assert browser is not None
    rollout, probe = browser["responses"]
    lists = {name for name, values in rollout.items() if isinstance(values, list)} - {"why"}
    assert {name for name in lists if probe[name] is None} == {"ratio"}


def test_a_run_without_recorded_rollouts_shows_its_probes(run: RunFolder):
    run.write_probes(0, [rollout_record("test/0", [5, 6])])
    browser, notes = browse(run)
    assert browser is not None
    assert (browser["steps"], browser["probe_steps"], len(notes)) == ([], [0], 1)


def test_probes_of_many_evaluations_are_thinned_evenly_and_keep_the_first_and_the_last(run: RunFolder):
    for step in range(0, 300, 10):
        run.write_probes(step, [rollout_record("test/0", [5, 6])])
    browser, _ = browse(run)
    assert browser is not None
    steps = browser["probe_steps"]
    assert (steps[0], steps[-1], len(steps)) == (0, 290, 12)


def test_probes_leave_room_to_the_rollouts_and_follow_the_same_problems(run: RunFolder):
    for step in range(1, 11):
        run.write_rollouts(step, [rollout_record(f"{step}/{row}", [5] * 200, seed=row) for row in range(8)])
        run.write_probes(step, [rollout_record(f"test/{row}", [5] * 200, seed=step) for row in range(8)])
    budget = Budget(150_000)
    browser, _ = rollout_browser(run, texts(run), budget, problems=8, critic=True)
    assert browser is not None
    assert budget.left_bytes >= 0
    probes = [one for one in browser["responses"] if "probe" in one]
    assert len(probes) >= 8
    assert len(browser["responses"]) - len(probes) >= 8
    first = [one["problem"] for one in probes if one["step"] == 1]
    last = [one["problem"] for one in probes if one["step"] == 10]
    # The last place that the page has room for may be at some of the steps only.
    assert 0 <= len(first) - len(last) <= 1
    assert first[: len(last)] == last


def test_a_damaged_file_is_an_error_of_the_user(run: RunFolder):
    run.write_rollouts(1, [rollout_record(f"p/{row}", [5, 6]) for row in range(50)])
    content = run.rollouts_path(1).read_bytes()
    run.rollouts_path(1).write_bytes(content[: len(content) // 2])
    with pytest.raises(RunFolderError, match=r"step_000001\.jsonl\.gz: cannot be read to its end"):
        browse(run)

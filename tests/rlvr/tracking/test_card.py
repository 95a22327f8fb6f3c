import pytest
from huggingface_hub import ModelCard
from support.run_folders import evaluation, fabricated_run, fabricated_summary

from rlvr.tracking.card import run_card
from rlvr.tracking.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    return fabricated_run(tmp_path / "arithmetic-ppo-1", steps=10)


def test_the_card_opens_with_front_matter(folder):
    lines = run_card(fabricated_summary(), folder).splitlines()
    assert lines[0] == "---"
    front = lines[1 : lines.index("---", 1)]
    assert "library_name: transformers" in front
    assert "- ppo" in front


@pytest.mark.parametrize(
    ("model", "is_named"),
    [
        ("owner/some-model-0.5B", True),
        ("tiny", False),
        ("./models/mine", False),
        ("/models/mine", False),
        ("a/b/c", False),
        ("models/m.gguf", False),
    ],
)
def test_only_a_name_of_the_hub_is_a_base_model(folder, model, is_named):
    card = run_card({**fabricated_summary(), "model": model}, folder)
    assert (f'base_model: "{model}"' in card) is is_named


def test_the_table_has_a_row_with_interval_and_n_for_each_phase(folder):
    rows = [line for line in run_card(fabricated_summary(), folder).splitlines() if "n = 200" in line]
    assert len(rows) == 3
    assert rows[0].startswith("| before: base model | 1.0 % [0.0, 8.0], n = 200 |")
    assert rows[2] == (
        "| after: PPO | 90.0 % [83.0, 97.0], n = 200 | 80.0 % [73.0, 87.0], n = 200, T = 1, 4 per problem |"
    )


def test_the_card_says_how_far_the_run_came_from_sft(folder):
    assert "**50.0 % before, 90.0 % after**" in run_card(fabricated_summary(), folder)


def test_only_files_that_exist_are_named(folder):
    card = run_card(fabricated_summary(), folder)
    assert "`metrics.jsonl`" in card
    assert "curve.png" not in card
    assert "`sft.jsonl`" not in card
    folder.curve_path.write_bytes(b"png")
    assert "](curve.png)" in run_card(fabricated_summary(), folder)


def test_the_card_tells_how_to_go_on(folder):
    card = run_card(fabricated_summary(), folder)
    for command in ("rlvr train --resume", "rlvr eval", "rlvr plot"):
        assert f"{command} {folder.path}" in card


def test_an_unfinished_run_and_its_warnings_are_shown(folder):
    card = run_card({**fabricated_summary(), "finished": False}, folder)
    assert "has not finished" in card
    assert "> **Warning:** docker was not used" in card


def test_a_summary_with_only_what_is_known_at_the_start_makes_a_card(folder):
    known = ("name", "task", "model", "algorithm", "seed")
    card = run_card({key: value for key, value in fabricated_summary().items() if key in known}, folder)
    assert card.startswith("---\n")
    assert "None" not in card


def loaded(summary, folder) -> ModelCard:
    folder.card_path.write_text(run_card(summary, folder))
    return ModelCard.load(folder.card_path)


def test_the_pass_rates_after_training_are_the_models_results(folder):
    summary = fabricated_summary()
    sampled = summary["pass_rate"]["ppo"]["sampled"]
    sampled["pass_at_k"] = {str(k): {"value": 0.8 + k / 100, "low": 0.7, "high": 0.9} for k in (1, 2, 4)}
    data = loaded(summary, folder).data
    assert data.model_name == "arithmetic-ppo-1"
    assert data.eval_results is not None
    found = [(result.metric_type, result.metric_name, result.metric_value) for result in data.eval_results]
    assert found == [
        ("pass@1", "pass@1 (greedy)", 0.9), ("pass@1", "pass@1 (sampled)", 0.8), ("pass@4", "pass@4 (sampled)", 0.84),
    ]  # fmt: skip
    first = data.eval_results[0]
    assert (first.task_type, first.dataset_name, first.dataset_split) == ("text-generation", "arithmetic", "test")
    assert first.metric_args is not None
    assert first.metric_args["confidence_interval_95"] == [0.83, 0.97]


def test_a_run_without_results_is_a_model_card_all_the_same(folder):
    assert loaded({**fabricated_summary(), "pass_rate": {}}, folder).data.eval_results is None


def test_names_cannot_break_the_card(folder):
    name = 'a: "b" | <img src=x>\n---\n# c\x1b[31m'
    summary = {**fabricated_summary(), "name": name, "task": name, "model": name, "machine": name, "warnings": [name]}
    summary["config_changes"] = {"task.options": name}
    card = loaded(summary, folder)
    assert card.data.model_name == name
    outside_code = "".join(card.text.split("`")[::2])
    assert "<img" not in outside_code.replace("\\<img", "")
    tables = [line for line in card.text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in tables} <= {3, 4, 7}
    assert "\n# c" not in card.text


def test_the_curve_is_a_table_that_long_runs_thin_out(tmp_path):
    folder = fabricated_run(tmp_path / "long", steps=100, evaluate_every=2)
    card = run_card(fabricated_summary(), folder)
    rows = [line for line in card.splitlines() if line.startswith(("| base |", "| sft |", "| ppo |"))]
    assert len(rows) == 12
    assert rows[-1].startswith("| ppo | 100 | 51,200 | - | 90.0 % [83.0, 97.0] |")
    assert "12 of 52 evaluations" in card


def test_the_audit_shows_rates_with_counts_and_what_was_got_wrong(folder):
    rates = {"wrong": 3, "n": 60, "rate": 0.05, "low": 0.017, "high": 0.137}
    none = {"wrong": 0, "n": 0, "rate": None, "low": None, "high": None}
    finding = {"attack": "near-miss", "expected": "rejected", "problem": "p/1", "response": "#1|2", "found": "correct"}
    audited = {
        "verifier": "loose", "problems": 2, "false_positive_rate": rates, "false_negative_rate": none, "errors": 1,
        "broken": 0, "wrong_attacks": {"near-miss": 3}, "findings": [finding], "out_of_time": True,
    }  # fmt: skip
    card = run_card({**fabricated_summary(), "audit": {"problems": 2, "verifiers": [audited]}}, folder)
    assert "| `loose` | 2 | 5.0 % [1.7, 13.7], 3 of 60 | not measurable | 1 | 0 |" in card
    assert "`loose` was wrong on: near-miss 3." in card
    assert "- near-miss, to be rejected: `#1\\|2` was found correct" in card
    assert "ended before all attacks were made: its time was over" in card


def test_an_audit_that_could_not_be_made_is_told(folder):
    card = run_card({**fabricated_summary(), "audit": {"failed": "no engine"}}, folder)
    assert "It could not be audited: no engine" in card
    assert "none of these attacks succeeded" not in card


def test_the_gaps_to_audit_verifiers_and_to_training_are_told(folder):
    record = evaluation(20, "ppo", 180, 160)
    record["sampled"]["audit"] = {"math": {"pass_rate": 0.6, "low": 0.5, "high": 0.7, "n": 200, "failed": 0}}
    folder.append_evaluation({**record, "train_pass_rate": 0.9})
    card = run_card(fabricated_summary(), folder)
    assert "`math`, which does not feed the reward, calls 60.0 % [50.0, 70.0]" in card
    assert "a gap of +20.0 points" in card
    assert "90.0 %, +10.0 points against the sampled held-out rate of 80.0 %" in card


def test_the_card_says_that_it_is_one_seed_and_who_judged(folder):
    judged = {
        **fabricated_summary(),
        "verifier": {"names": ["numeric"], "options": {"abs_tol": "0.5"}, "held_out": None},
    }
    card = run_card(judged, folder)
    assert "one run with one seed (7)" in card
    assert "Reward: `numeric` with `abs_tol = 0.5`." in card
    assert "what fools the one fools the other" in card
    told = run_card({**judged, "verifier": {**judged["verifier"], "held_out": "math"}}, folder)
    assert "Held-out responses: `math`." in told
    assert "what fools the one" not in told

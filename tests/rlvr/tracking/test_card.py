import pytest
from support.run_folders import fabricated_run, fabricated_summary

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
    assert '- "ppo"' in front


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

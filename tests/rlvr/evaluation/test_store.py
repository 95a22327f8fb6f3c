"""The folder of an evaluation: what a kill leaves of it, and when it is the one that is wanted."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.processes import HOME

from rlvr.errors import RunFolderError
from rlvr.evaluation.per_problem import problem_records
from rlvr.evaluation.store import EvaluationFolder, evaluation_key, folder_name, problems_digest
from rlvr.tracking.jsonl import to_line
from tasks.types import MathAnswer, Problem

EXPECTED = [(f"p{problem}", sample) for problem in range(5) for sample in range(2)]
AT_ONCE = 4
"""Rows of a batch: two problems with two samples each; the last batch has one problem."""


def row(problem: str, sample: int, **more: object) -> dict[str, object]:
    return {"problem": problem, "sample": sample, "text": "so 3\n\ud800", "outcome": "correct", "answer": "3", **more}


ROWS = [row(*expected) for expected in EXPECTED]
CONTENT = b"".join(map(to_line, ROWS))


def folder(path: Path) -> EvaluationFolder:
    path.mkdir(parents=True, exist_ok=True)
    return EvaluationFolder(path)


@given(cut=st.integers(0, len(CONTENT)))
def test_wherever_a_kill_cuts_the_file_the_whole_batches_before_it_are_kept(tmp_path_factory, cut: int):
    own = folder(tmp_path_factory.mktemp("cut"))
    own.rows_path("greedy").write_bytes(CONTENT[:cut])
    kept = own.resume_rows("greedy", EXPECTED, at_once=AT_ONCE)
    whole_lines = CONTENT[:cut].count(b"\n")
    assert len(kept) == (10 if whole_lines == 10 else whole_lines - whole_lines % AT_ONCE)
    own.append("greedy", ROWS[len(kept) :])
    assert own.rows_path("greedy").read_bytes() == CONTENT


def test_nothing_is_kept_of_an_evaluation_that_has_not_begun(tmp_path: Path):
    own = folder(tmp_path)
    assert own.resume_rows("sampled", EXPECTED, at_once=AT_ONCE) == []
    assert own.read_rows("sampled") == []


def test_rows_that_are_not_the_expected_ones_are_made_again(tmp_path: Path):
    own = folder(tmp_path)
    own.append("greedy", [*ROWS[:5], row("another", 1), *ROWS[6:]])
    assert len(own.resume_rows("greedy", EXPECTED, at_once=AT_ONCE)) == 4
    assert own.rows_path("greedy").read_bytes() == b"".join(map(to_line, ROWS[:4]))


def test_rows_beyond_the_last_problem_are_cut_off(tmp_path: Path):
    own = folder(tmp_path)
    own.append("greedy", [*ROWS, row("p5", 0)])
    assert len(own.resume_rows("greedy", EXPECTED, at_once=AT_ONCE)) == 10
    assert own.rows_path("greedy").read_bytes() == CONTENT


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path):
    own = folder(tmp_path)
    own.rows_path("greedy").write_bytes(CONTENT.replace(b"}\n", b"\n", 1))
    with pytest.raises(RunFolderError, match=r"greedy\.jsonl, line 1 is not a JSON object"):
        own.resume_rows("greedy", EXPECTED, at_once=AT_ONCE)


def test_a_folder_is_found_by_its_key_whatever_the_model_was_called(tmp_path: Path):
    key = evaluation_key({"model": "x"})
    first = EvaluationFolder.find(tmp_path / "evals", folder_name("mine", "gsm8k", "test", key), key)
    assert not first.path.exists()
    with first.held():
        first.write_record({"key": key})
    assert EvaluationFolder.find(tmp_path / "evals", folder_name("copy", "gsm8k", "test", key), key).path == first.path


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path):
    name = folder_name("mine", "gsm8k", "test", "a" * 64)
    folder(tmp_path / name).write_record({"key": "a" * 8 + "b" * 56})
    with pytest.raises(RunFolderError, match=r"holds something else already; move it away, or take another --dir"):
        EvaluationFolder.find(tmp_path, name, "a" * 64)


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_damaged_record_is_named(tmp_path: Path, content: str):
    own = folder(tmp_path)
    own.record_path.write_text(content)
    with pytest.raises(RunFolderError, match=r"evaluation\.json .*; restore it or remove the folder"):
        own.read_record()


def test_two_processes_do_not_write_to_one_folder(tmp_path: Path):
    own, other = EvaluationFolder(tmp_path / "e"), EvaluationFolder(tmp_path / "e")
    with own.held(), pytest.raises(RunFolderError, match="being made by another process"), other.held():
        pass
    with other.held():
        pass


def test_a_folder_without_a_single_row_is_removed_and_one_with_rows_or_other_things_is_not(tmp_path: Path):
    blank, begun, foreign = (folder(tmp_path / name) for name in ("blank", "begun", "foreign"))
    for own in (blank, begun, foreign):
        own.write_record({"key": "k"})
    begun.append("greedy", ROWS[:1])
    (foreign.path / "notes.txt").write_text("mine")
    for own in (blank, begun, foreign):
        own.discard_if_blank()
    assert not blank.path.exists()
    assert begun.read_record() == {"key": "k"}
    assert (foreign.path / "notes.txt").exists()


def test_what_was_measured_can_be_forgotten(tmp_path: Path):
    own = folder(tmp_path)
    own.write_record({"key": "k"})
    own.append("greedy", ROWS)
    own.write_problems([{"id": "p0"}])
    own.clear()
    assert list(tmp_path.iterdir()) == []


def test_the_key_depends_on_every_part_and_not_on_their_order():
    identity = {"model": "x", "sampling": {"temperature": 1.0, "top_p": 0.9}}
    assert evaluation_key(identity) == evaluation_key(dict(reversed(identity.items())))
    others = [{**identity, "model": "y"}, {**identity, "sampling": {"temperature": 1.0, "top_p": 0.8}}]
    assert len({evaluation_key(one) for one in [identity, *others]}) == 3


@dataclass(frozen=True)
class Wrapped:
    inner: object


def test_equal_problems_have_equal_digests_and_others_have_not():
    one = Problem(id="p", prompt="1+1", verifier="exact", reference=MathAnswer(value="2"))
    changes = [
        replace(one, id="q"), replace(one, prompt="1+2"), replace(one, verifier="math"),
        replace(one, reference=MathAnswer(value="3")),
    ]  # fmt: skip
    assert problems_digest([one]) == problems_digest([replace(one, demonstration="2", metadata={"a": 1})])
    assert len({problems_digest([each]) for each in [one, *changes]}) == 5
    # A plug-in's reference that shows its address would otherwise be another one in each process.
    odd = [replace(one, reference=Wrapped(object())) for _ in range(2)]
    assert problems_digest(odd[:1]) == problems_digest(odd[1:])


def test_references_that_hold_sets_have_the_same_digest_in_every_process():
    code = (
        "from rlvr.evaluation.store import problems_digest; from tasks.types import Problem;"
        "reference = {'accepted': (frozenset('abcdefgh'), 1)};"
        "print(problems_digest([Problem(id='p', prompt='?', verifier='own', reference=reference)]))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(HOME)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1


@given(st.text(), st.text(min_size=1))
def test_names_of_folders_are_safe(model: str, task: str):
    name = folder_name(model, task, "test", "0123456789")
    assert name.endswith("-test-01234567")
    assert name.isascii()
    assert not set(name) & set("/\\: \n")
    assert not name.startswith((".", "-"))


def test_each_problem_has_a_line_with_its_answers_and_how_often_they_came():
    problems = [
        Problem(id=name, prompt=f"ask {name}", verifier="exact", reference=MathAnswer(value="3")) for name in ("a", "b")
    ]
    greedy = [row("a", 0), row("b", 0, outcome="no_answer", answer=None)]
    sampled = [
        row("a", 0, answer="4", outcome="incorrect"), row("a", 1), row("a", 2),
        {"problem": "b", "sample": 0, "outcome": None, "error": "the worker died"},
        row("b", 1, outcome="no_answer", answer=None), row("b", 2),
    ]  # fmt: skip
    records = problem_records(problems, {"greedy": greedy, "sampled": sampled})
    assert records == [
        {
            "id": "a", "prompt": "ask a", "greedy": "correct", "greedy_answer": "3", "judged": 3, "correct": 2,
            "answers": {"3": 2, "4": 1},
        },
        {
            "id": "b", "prompt": "ask b", "greedy": "no_answer", "greedy_answer": None, "judged": 2, "correct": 1,
            "answers": {"3": 1},
        },
    ]  # fmt: skip
    assert list(json.loads(json.dumps(records[0]["answers"]))) == ["3", "4"]

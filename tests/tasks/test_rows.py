import gzip
import json
from pathlib import Path

import pytest

from tasks import TaskDataError
from tasks.rows import Row, is_local, read_rows

ROWS = [{"question": "1+1?", "answer": "2"}, {"question": "2+2?", "answer": 4}]


def lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def parquet(path: Path) -> str:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist([{"question": "1+1?", "answer": "2"}]), path)
    return str(path)


def test_json_lines_are_read(tmp_path: Path):
    rows = read_rows(write(tmp_path / "a.jsonl", lines(ROWS)))
    assert [dict(row.values) for row in rows] == ROWS


def test_packed_json_lines_are_read(tmp_path: Path):
    rows = read_rows(write(tmp_path / "a.jsonl.gz", gzip.compress(lines(ROWS))))
    assert [dict(row.values) for row in rows] == ROWS


def test_a_json_list_is_read(tmp_path: Path):
    rows = read_rows(write(tmp_path / "a.json", json.dumps(ROWS).encode()))
    assert [row.number for row in rows] == [1, 2]


def test_parquet_is_read(tmp_path: Path):
    assert dict(read_rows(parquet(tmp_path / "a.parquet"))[0].values) == ROWS[0]


def test_blank_lines_and_a_byte_order_mark_do_not_matter(tmp_path: Path):
    rows = read_rows(write(tmp_path / "a.jsonl", b"\xef\xbb\xbf" + lines(ROWS[:1]) + b"\n  \n" + lines(ROWS[1:])))
    assert [row.number for row in rows] == [1, 4]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", lines(ROWS) + b'{"question": }\n', r"a\.jsonl, line 3: not valid JSON: .* column 14"),
        ("a.jsonl", lines(ROWS) + b"[1]\n", r"a\.jsonl, row 3: expected an object with named columns, found a list"),
        ("a.jsonl", b'{"question": "caf\xe9"}\n', r"a\.jsonl, line 1: not UTF-8"),
        ("a.jsonl", b"\n", r"a\.jsonl has no rows"),
        ("a.json", b"[]", r"a\.json has no rows"),
        ("a.json", b'{"rows": []}', r"a\.json: expected a list of objects, found an object"),
        ("a.json", b'[\n{"a": 1},\n{"a" 2}]', r"a\.json: not valid JSON: .* line 3, column 6"),
        ("a.jsonl.gz", b"not packed", r"a\.jsonl\.gz: not a whole gzip file"),
        ("a.jsonl.gz", gzip.compress(lines(ROWS) * 50)[:-20], r"a\.jsonl\.gz: not a whole gzip file"),
        ("a.parquet", b"nonsense", r"a\.parquet: not a parquet file"),
        ("a.csv", b"question,answer\n", r"a\.csv: cannot read this kind of file; give one of \.jsonl"),
    ],
)
def test_bad_data_is_refused_with_file_and_place(tmp_path: Path, name: str, data: bytes, message: str):
    source = write(tmp_path / name, data)
    with pytest.raises(TaskDataError, match=message) as caught:
        read_rows(source)
    assert "\n" not in str(caught.value)


def test_a_folder_is_refused(tmp_path: Path):
    with pytest.raises(TaskDataError, match="is a folder"):
        read_rows(tmp_path)


@pytest.mark.parametrize(
    "source", ["nowhere.jsonl", "data/nowhere.jsonl", "./nowhere", "/data/nowhere", "../a/b", "a/b/c", "x.csv", "~/y"]
)
def test_what_looks_like_a_path_is_never_asked_from_the_hub(source: str):
    with pytest.raises(TaskDataError, match="no such file"):
        read_rows(source)


@pytest.mark.parametrize("source", ["openai/gsm8k", "ChilleD/SVAMP", "gsm8k", "HuggingFaceH4/MATH-500", "a/b.v1.2"])
def test_a_hub_id_is_no_path(source: str):
    assert not is_local(source)


def test_a_hub_id_without_a_connection_is_one_clear_line(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("datasets")
    import datasets.config
    import huggingface_hub.constants

    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(TaskDataError, match=r"nobody/nothing-here \(test\): cannot be read from the hub") as caught:
        read_rows("nobody/nothing-here", split="test")
    assert "\n" not in str(caught.value)


def row(**values: object) -> Row:
    return Row(values=values, source="data/train.jsonl", number=17)


def test_a_missing_column_is_answered_with_the_columns_and_the_option():
    with pytest.raises(TaskDataError) as caught:
        row(prompt="p", answer="a").text("question", option="question_field")
    assert str(caught.value) == (
        "data/train.jsonl, row 17: no column 'question'; columns seen: ['prompt', 'answer']; "
        "set task.options.question_field"
    )


@pytest.mark.parametrize("value", [None, True, ["a"], {"a": 1}, "", "  "])
def test_a_column_without_text_or_number_is_refused(value: object):
    with pytest.raises(TaskDataError, match="row 17: column 'answer'"):
        row(answer=value).text("answer")


def test_a_number_is_written_out():
    assert row(answer=145.5).text("answer") == "145.5"

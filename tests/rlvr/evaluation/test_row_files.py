import gzip
import io
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from rlvr.errors import RlvrError
from rlvr.evaluation.row_files import partial_path, read_lines, writing_lines


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_what_was_written_is_read(name: str, tmp_path: Path):
    with writing_lines(tmp_path / "new" / name) as file:
        file.write(b"a\nb\n")
    assert list(read_lines(tmp_path / "new" / name)) == [b"a\n", b"b\n"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == [name]


def test_a_name_in_gz_is_compressed(tmp_path: Path):
    with writing_lines(tmp_path / "rows.jsonl.gz") as file:
        file.write(b"a\n")
    assert gzip.decompress((tmp_path / "rows.jsonl.gz").read_bytes()) == b"a\n"


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_until_it_is_whole_the_file_is_partial_and_the_old_one_stays(name: str, tmp_path: Path):
    path = tmp_path / name
    with writing_lines(path) as file:
        file.write(b"old\n")
    with suppress(KeyboardInterrupt), writing_lines(path) as file:
        file.write(b"new\n")
        raise KeyboardInterrupt
    assert list(read_lines(path)) == [b"old\n"]
    kept = partial_path(path).read_bytes()
    assert (gzip.decompress(kept) if name.endswith(".gz") else kept) == b"new\n"


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb")))
    assert list(read_lines(Path("-"))) == [b"a\n", b"b"]


def test_a_torn_gzip_file_gives_its_rows_and_then_an_error(tmp_path: Path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"a\n" * 10)[:-6])
    lines = read_lines(path)
    assert next(lines) == b"a\n"
    with pytest.raises(RlvrError, match=r"rows.jsonl.gz: cannot be read to its end"):
        list(lines)

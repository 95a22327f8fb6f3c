import pytest

from rlvr.tracking.atomic import atomic_write, fsync_tree, replacing


def test_text_and_bytes_replace_what_was_there(tmp_path):
    path = tmp_path / "note"
    atomic_write(path, "first \u00e9")
    assert path.read_text(encoding="utf-8") == "first \u00e9"
    atomic_write(path, b"\x00second")
    assert path.read_bytes() == b"\x00second"


def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "note"
    atomic_write(path, "old")

    def fail_half_way():
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_half_way()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["note"]


def test_the_new_file_is_not_visible_before_it_is_whole(tmp_path):
    path = tmp_path / "note"
    with replacing(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"


def test_a_tree_is_synced_without_changing_it(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "weights").write_bytes(b"123")
    fsync_tree(tmp_path)
    assert (tmp_path / "a" / "b" / "weights").read_bytes() == b"123"

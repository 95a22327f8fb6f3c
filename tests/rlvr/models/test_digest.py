import shutil
from pathlib import Path

import pytest

from rlvr.models.digest import model_digest
from rlvr.models.tiny import tiny_model, tiny_tokenizer


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder as `save_pretrained` writes it."""
    path, tokenizer = tmp_path_factory.mktemp("model"), tiny_tokenizer()
    tiny_model(tokenizer, hidden=16, layers=1, heads=2, seed=0).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "elsewhere"))


def test_a_copy_is_the_same_model(saved: Path, copy: Path):
    (copy / "README.md").write_text("a copy")
    (copy / ".cache").mkdir()
    assert model_digest(str(copy)) == model_digest(str(saved))


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_another_byte_in_weights_configuration_or_tokenizer_is_another_model(saved: Path, copy: Path, name: str):
    content = bytearray((copy / name).read_bytes())
    content[-2] ^= 1
    (copy / name).write_bytes(content)
    assert model_digest(str(copy)) != model_digest(str(saved))


def test_a_chat_template_that_is_added_makes_another_model(saved: Path, copy: Path):
    (copy / "chat_template.jinja").write_text("{{ messages }}")
    assert model_digest(str(copy)) != model_digest(str(saved))


def test_a_single_file_is_told_by_its_bytes(tmp_path: Path):
    first, second = tmp_path / "a.gguf", tmp_path / "b.gguf"
    first.write_bytes(b"GGUF1")
    second.write_bytes(b"GGUF2")
    digests = {model_digest(str(first)), model_digest(str(second))}
    assert len(digests) == 2
    assert None not in digests


@pytest.mark.parametrize("name", ["tiny", "./nothing", "/no/such/folder", "no such name"])
def test_what_files_cannot_tell_has_no_digest(name: str):
    assert model_digest(name) is None


def test_a_hub_name_stands_for_the_commit_that_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    commit = "0123456789abcdef0123456789abcdef01234567"
    found = tmp_path / "models--someone--model" / "snapshots" / commit / "config.json"
    for name in ("cached_file", "try_to_load_from_cache"):
        monkeypatch.setattr(f"rlvr.models.digest.{name}", lambda name, file: str(found))
    assert model_digest("someone/model") == f"commit:{commit}"


def test_a_hub_name_that_was_never_loaded_is_not_asked_for(monkeypatch: pytest.MonkeyPatch):
    def asked(*_: object) -> str:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("rlvr.models.digest.cached_file", asked)
    assert model_digest("someone/never-loaded-here") is None

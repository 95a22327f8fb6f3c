import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from support.tiny_models import random_tokens
from transformers import AutoModelForCausalLM, AutoTokenizer

from rlvr.errors import ModelError
from rlvr.models.loading import LoadedModel, TinyShape, load_model

SHAPE = TinyShape(hidden=16, layers=1, heads=2)


def tiny(**options: object) -> LoadedModel:
    return load_model("tiny", tiny=SHAPE, **options)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved tiny model with its tokenizer."""
    model = tiny()
    model.policy.module.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    return tmp_path


def rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_seed_gives_the_same_tiny_model_and_another_seed_another():
    tokens = random_tokens(1, 6)
    first, again, other = (tiny(seed=seed).policy.forward(tokens).hidden for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_building_the_tiny_model_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    tiny(seed=7)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_saved_tiny_model_loads_with_the_auto_classes_and_has_the_same_logits(tmp_path: Path, dtype: torch.dtype):
    """Positions far out, where coarse rotary frequencies would show."""
    model, tokens = tiny(dtype=dtype), random_tokens(1, 400)
    model.policy.module.save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=dtype)
    assert torch.equal(loaded(input_ids=tokens).logits, model.policy.module(input_ids=tokens).logits)


def test_a_saved_tokenizer_loads_with_the_auto_class_and_gives_the_same_ids(folder: Path):
    text, before = "12+34=\n5 #46 ~{}\\'  x", tiny().tokenizer
    after = AutoTokenizer.from_pretrained(folder)
    assert after(text)["input_ids"] == before(text)["input_ids"]
    assert after.decode(after(text)["input_ids"]) == text
    assert (after.eos_token_id, after.pad_token_id) == (before.eos_token_id, before.pad_token_id)


def test_a_folder_loads_with_the_weights_that_were_saved(folder: Path):
    tokens = random_tokens(1, 6)
    loaded = load_model(str(folder))
    assert torch.equal(loaded.policy.forward(tokens).hidden, tiny().policy.forward(tokens).hidden)
    assert loaded.context_length == 512
    assert loaded.stop_ids == (loaded.tokenizer.eos_token_id,)


def test_a_folder_loads_in_the_wanted_precision(folder: Path):
    assert load_model(str(folder), dtype=torch.bfloat16).policy.module.dtype == torch.bfloat16


def test_every_token_of_the_generation_config_that_ends_a_text_is_a_stop_token(folder: Path):
    """Llama 3 and Qwen end a turn with another token than the tokenizer's EOS."""
    rewrite(folder / "generation_config.json", eos_token_id=[5, 7])
    loaded = load_model(str(folder))
    assert loaded.stop_ids == (1, 5, 7)
    assert loaded.stop_id == loaded.tokenizer.eos_token_id == 1


def test_a_model_without_eos_is_refused_with_what_to_do(folder: Path):
    for name in ("tokenizer_config.json", "generation_config.json", "config.json"):
        rewrite(folder / name, eos_token=None, eos_token_id=None)
    with pytest.raises(ModelError, match=r"no EOS token.*Set eos_token in its tokenizer_config\.json"):
        load_model(str(folder))


@pytest.mark.parametrize("name", ["/no/such/folder", "./nowhere", "missing.gguf"])
def test_a_path_that_is_not_there_is_named(name: str):
    with pytest.raises(ModelError, match=rf"no file or folder '{name}'"):
        load_model(name)


def test_a_folder_without_a_config_is_named(tmp_path: Path):
    with pytest.raises(ModelError, match=r"has no config\.json; give a Hugging Face model folder"):
        load_model(str(tmp_path))


def cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])


def remove_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        cut_weights,
        remove_tokenizer,
        lambda folder: (folder / "model.safetensors").unlink(),
        lambda folder: (folder / "config.json").write_text("{"),
        lambda folder: rewrite(folder / "config.json", model_type="no_such_type"),
        lambda folder: rewrite(folder / "config.json", model_type="t5"),
        lambda folder: rewrite(folder / "config.json", hidden_size=32),
        lambda folder: rewrite(folder / "config.json", num_hidden_layers=2),
        lambda folder: (folder / "tokenizer.json").write_text("{"),
    ],
    ids=[
        "cut weights",
        "no tokenizer",
        "no weights",
        "config",
        "unknown type",
        "not a decoder",
        "sizes",
        "layers",
        "tokenizer",
    ],
)
def test_a_damaged_folder_is_refused_in_one_line_that_names_it(folder: Path, damage: Callable[[Path], object]):
    damage(folder)
    with pytest.raises(ModelError) as refused:
        load_model(str(folder))
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not str(refused.value).rstrip().endswith(":")


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path):
    (tmp_path / "model.gguf").write_bytes(b"not one")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_model(str(tmp_path / "model.gguf"))


@pytest.mark.slow
def test_a_gguf_file_loads_and_can_be_saved(tmp_path: Path):
    """transformers refuses to save what it takes for a quantised model."""
    path = os.environ.get("RLVR_TEST_GGUF")
    if not path:
        pytest.skip("set RLVR_TEST_GGUF to a .gguf file of a small model")
    model = load_model(path)
    tokens = random_tokens(1, 8)
    logprobs = model.policy.logprobs(tokens, torch.ones(1, 7, dtype=torch.bool), temperature=1.0)
    model.policy.module.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    again = load_model(str(tmp_path))
    assert torch.equal(again.policy.logprobs(tokens, torch.ones(1, 7, dtype=torch.bool), temperature=1.0), logprobs)
    assert again.stop_ids == model.stop_ids
    text = "Tom has 3 apples."
    assert again.tokenizer(text)["input_ids"] == model.tokenizer(text)["input_ids"]

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from rlvr.models.tiny import tiny_tokenizer
from rlvr.report.token_texts import TokenTexts, _byte_alphabet, run_tokenizer
from rlvr.tracking.run_folder import RunFolder


def byte_level() -> tuple[Tokenizer, TokenTexts]:
    """One token for each byte, and some whole words, as GPT-2's tokenizer has them."""
    pieces = [*_byte_alphabet(), "\u0120the", "\u0120answer"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    merges = [("\u0120", "t"), ("\u0120t", "h"), ("\u0120th", "e")]
    vocabulary |= {"".join(pair): len(vocabulary) + place for place, pair in enumerate(merges[:2])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    tokenizer.add_special_tokens(["<eos>"])
    return tokenizer, TokenTexts(tokenizer)


def words_with_metaspace() -> tuple[Tokenizer, TokenTexts]:
    vocabulary = {piece: number for number, piece in enumerate(["<unk>", "\u2581The", "\u2581answer", "s", "\u2581"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.decoder = decoders.Metaspace()  # type: ignore[assignment]
    return tokenizer, TokenTexts(tokenizer)


@pytest.mark.parametrize(
    "text", ["plain", " the answer", "tabs\tand\nlines", "caf\u00e9 \u2014 \u4f60\u597d", "\U0001f600!"]
)
def test_token_texts_put_together_are_the_text_apart_from_bytes_shown_as_such(text: str):
    tokenizer, texts = byte_level()
    parts = texts.of_response(tokenizer.encode(text).ids, text)
    assert all(parts)
    assert "".join(part for part in parts if not part.startswith("<")) == text


def test_characters_of_several_tokens_show_their_first_bytes_and_then_themselves():
    tokenizer, texts = byte_level()
    assert texts.of_response(tokenizer.encode("a\u20ac").ids, "a\u20ac") == ["a", "<E2>", "<82>", "\u20ac"]


def test_bytes_that_are_no_character_still_show():
    tokenizer, texts = byte_level()
    (lead,) = [number for piece, number in tokenizer.get_vocab().items() if piece == "\u00e2"]
    parts = texts.of_response([lead, lead], "\ufffd\ufffd")
    assert len(parts) == 2
    assert all(parts)


def test_special_tokens_show_as_they_are_called():
    tokenizer, texts = byte_level()
    end = tokenizer.token_to_id("<eos>")
    assert texts.of_response([*tokenizer.encode("hi").ids, end], "hi") == ["h", "i", "<eos>"]
    assert texts.of_prompt([end, *tokenizer.encode("hi").ids]) == "<eos>hi"


def test_spaces_that_a_decoder_strips_at_the_beginning_are_kept_within():
    _, texts = words_with_metaspace()
    assert texts.of_response([1, 2, 3], "The answers") == ["The", " answer", "s"]


def test_ids_beyond_the_vocabulary_show_as_numbers():
    _, texts = byte_level()
    assert texts.of_response([99_999], "") == ["<99999>"]


def test_the_tiny_tokenizer_gives_one_character_a_token(tmp_path: Path):
    tokenizer = tiny_tokenizer()
    folder = RunFolder.create(tmp_path / "run", "")
    assert run_tokenizer(folder) is None
    tokenizer.save_pretrained(folder.reference_path)
    texts = run_tokenizer(folder)
    assert texts is not None
    ids = [*tokenizer("1+1=2").input_ids, tokenizer.eos_token_id]
    assert texts.of_response(ids, "1+1=2") == [*"1+1=2", "<eos>"]


def test_a_checkpoint_will_do_where_there_is_no_reference(tmp_path: Path):
    folder = RunFolder.create(tmp_path / "run", "")
    tiny_tokenizer().save_pretrained(folder.checkpoints_dir / "step_000002" / "policy")
    assert run_tokenizer(folder) is not None
    assert json.loads((folder.checkpoints_dir / "step_000002/policy/tokenizer.json").read_text())

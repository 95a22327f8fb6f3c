import string

from rlvr.models.tiny import tiny_tokenizer

KNOWN = [character for character in string.printable if character not in "\t\r\x0b\x0c"]


def test_every_printable_character_survives_the_way_through_the_tokenizer():
    tokenizer = tiny_tokenizer()
    for character in KNOWN:
        ids = tokenizer(character)["input_ids"]
        assert len(ids) == 1
        assert tokenizer.decode(ids) == character


def test_a_text_survives_character_by_character_spaces_included():
    tokenizer = tiny_tokenizer()
    text = "  7+5=12 , 4+8+1=13 . don't # 432\n\n<eo s> " + "".join(KNOWN)
    ids = tokenizer(text)["input_ids"]
    assert len(ids) == len(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.batch_decode([ids], skip_special_tokens=True) == [text]


def test_characters_that_it_does_not_have_are_one_unknown_token_each():
    tokenizer = tiny_tokenizer()
    assert tokenizer("a\u00e9\t\U0001f600")["input_ids"][1:] == [tokenizer.unk_token_id] * 3


def test_pad_end_and_unknown_are_three_different_tokens():
    """checklist 1: the pad id differs from the EOS id."""
    tokenizer = tiny_tokenizer()
    assert [tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id] == [0, 1, 2]


def test_special_tokens_are_left_out_of_decoded_text():
    tokenizer = tiny_tokenizer()
    ids = [*tokenizer("#7")["input_ids"], tokenizer.eos_token_id]
    assert tokenizer.decode(ids, skip_special_tokens=True) == "#7"

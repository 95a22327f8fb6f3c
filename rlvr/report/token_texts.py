"""Every token's own text, as the run's tokenizer writes it."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from rlvr.tracking.run_folder import RunFolder, complete_checkpoints

_UNFINISHED = "\ufffd"
"""What a decoder gives for a character of which a part is still to come."""
_CONTEXT = 4
"""Tokens before one that its text may depend on, as the space at a word's start does."""


def run_tokenizer(folder: RunFolder) -> "TokenTexts | None":
    """Return the texts of the tokens of a run, by the tokenizer saved with its models; None before one is saved."""
    policies = [checkpoint / "policy" for checkpoint in reversed(complete_checkpoints(folder.checkpoints_dir))]
    for path in (folder.reference_path, *policies):
        if (path / "tokenizer.json").is_file():
            return TokenTexts.load(path / "tokenizer.json")
    return None


class TokenTexts:
    """Splits a response's text into those of its tokens.

    Put together they are the response's text, except where a character is made of several tokens: its first ones then
    show as bytes ("<F0 9F>"), and the last as the character; and special tokens show as they are called ("<eos>").
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        added = tokenizer.get_added_tokens_decoder()
        self._special = {number: token.content for number, token in added.items() if token.special}
        self._alone: dict[int, str] = {}

    @classmethod
    def load(cls, path: Path) -> "TokenTexts":
        return cls(Tokenizer.from_file(str(path)))

    def of_prompt(self, ids: Sequence[int]) -> str:
        """Return a prompt as it was encoded, its special tokens visible."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=False)

    def of_response(self, ids: Sequence[int], text: str) -> list[str]:
        """Return the text of each token.

        Args:
            text: the response's, against which the parts are checked.
        """
        simple = [self._special.get(number) or self._lone(number) for number in ids]
        plain = "".join(part for number, part in zip(ids, simple, strict=True) if number not in self._special)
        if plain == text and all(simple) and _UNFINISHED not in plain:
            return simple
        return self._in_context(ids)

    def _lone(self, number: int) -> str:
        if number not in self._alone:
            self._alone[number] = self._decode([number])
        return self._alone[number]

    def _in_context(self, ids: Sequence[int]) -> list[str]:
        texts: list[str] = []
        context: list[int] = []
        pending: list[int] = []
        for number in ids:
            if number in self._special:
                texts.append(self._special[number])
                context, pending = [], []
                continue
            pending.append(number)
            before = self._decode(context)
            now = self._decode([*context, *pending])
            if now.endswith(_UNFINISHED) and len(pending) < _CONTEXT:
                texts.append(self._piece(number))
                continue
            # A decoder may take back a character of the context, but then only blanks at its end.
            texts.append(now[len(before) :] or self._piece(number))
            context, pending = [*context, *pending][-_CONTEXT:], []
        return texts

    def _decode(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(list(ids), skip_special_tokens=True) if ids else ""

    def _piece(self, number: int) -> str:
        """Return a token that has no text of its own as its bytes, or as the vocabulary spells it."""
        piece = self._tokenizer.id_to_token(number)
        if piece is None:
            return f"<{number}>"  # beyond the tokenizer: models often have more rows than it has tokens
        found = [_BYTES.get(character) for character in piece]
        if found and None not in found:
            return f"<{' '.join(f'{byte:02X}' for byte in found)}>"
        return piece


def _byte_alphabet() -> dict[str, int]:
    """Return the bytes by the characters that byte-level tokenizers write them as (those of GPT-2).

    Printable bytes are themselves; the others, in order, are the characters from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


_BYTES = _byte_alphabet()

"""Find the program in a response.

It stands in a fenced block (``` or ~~~) marked python, py or python3, or not marked at all, after the reasoning:
neither what comes before the last </think> counts, nor an unclosed <think> and what follows it. Of several blocks the
last one that defines the function the problem names is taken, else the last marked one, else the last. A block that is
never closed reaches to the end. The whole function is expected, not its body alone; blocks are never put together.

Nothing is parsed as Python: a program's source is not safe to parse outside the sandbox.
"""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)")
_PYTHON = re.compile(r"py(?:thon)?[\d.]*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block:
    marked: bool
    program: str


def extract_program(response: str, *, defines: str | None = None, lenient: bool = False) -> str | None:
    """Return the program in `response`, None where there is none.

    Args:
        defines: the function or class that the problem asks for.
        lenient: take the whole text where it has no fenced block at all.
    """
    text = response.rpartition("</think>")[2].partition("<think>")[0]
    blocks, fenced = _blocks(text)
    if not fenced and lenient and text.strip():
        return text
    blocks = [block for block in blocks if block.program.strip()]
    if not blocks:
        return None
    if defines is not None:
        definition = re.compile(rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{re.escape(defines)}\b", re.MULTILINE)
        assignment = re.compile(rf"^{re.escape(defines)}[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
        for pattern in (definition, assignment):
            for block in reversed(blocks):
                if pattern.search(block.program):
                    return block.program
    marked = [block for block in blocks if block.marked]
    return (marked or blocks)[-1].program


def _blocks(text: str) -> tuple[list[_Block], bool]:
    """Return the blocks that may hold Python, and whether there is a block of any kind."""
    blocks: list[_Block] = []
    fenced = False
    lines = iter(text.split("\n"))  # not splitlines(): a string in a program may hold U+2028
    for line in lines:
        opening = _FENCE.fullmatch(line.rstrip())
        if opening is None:
            continue
        indent, fence, info = opening.groups()
        fenced = True
        closing = re.compile(rf"[ \t]*{re.escape(fence[0])}{{{len(fence)},}}\s*")
        inside: list[str] = []
        for inner in lines:
            if closing.fullmatch(inner):
                break
            inside.append(inner.removeprefix(indent))
        language = info.replace("{", " ").replace("}", " ").replace(".", " ", 1).split() if info.strip() else []
        marked = bool(language) and _PYTHON.fullmatch(language[0]) is not None
        if marked or not language:
            blocks.append(_Block(marked=marked, program="\n".join(inside)))
    return blocks, fenced

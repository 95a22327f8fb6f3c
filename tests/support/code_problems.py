"""Problems whose answers are programs, and responses that hold programs."""

from typing import Any

from tasks import Problem


def code_problem(reference: Any, verifier: str = "toy") -> Problem:
    """Return a problem with that reference."""
    return Problem(id="toy/1", prompt="Write a program.", reference=reference, verifier=verifier)


def fenced(program: str) -> str:
    """Return a response that holds the program in a block."""
    return f"Here it is:\n```python\n{program}\n```\nThat is all."

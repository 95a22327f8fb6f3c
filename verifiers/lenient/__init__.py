"""Find the answer in any model's free-form response: what "lenient" means as an answer format."""

from verifiers.lenient.finding import find_answer

__all__ = ["find_answer"]

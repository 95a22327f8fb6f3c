"""From a problem to the prompt's token ids."""

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError

from rlvr.errors import ModelError, PromptTooLongError
from tasks.types import Problem


class PromptEncoder:
    """Turns problems into prompts for one tokenizer.

    Args:
        tokenizer: a transformers tokenizer.
        chat_template: "auto" (used when the tokenizer has one), "on" or "off".
        system_prompt: system message; None leaves what the template does by itself, "" gives an empty system message.
        context_length: of the model, in tokens.
        max_new_tokens: room a response needs.

    Raises:
        ModelError: the template is wanted and there is none, or a response may fill the whole context.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        chat_template: str = "auto",
        system_prompt: str | None = None,
        context_length: int,
        max_new_tokens: int,
    ) -> None:
        has_template = bool(getattr(tokenizer, "chat_template", None))
        if chat_template == "on" and not has_template:
            raise ModelError('model.chat_template: "on", but the tokenizer has no chat template; set "auto" or "off"')
        self._tokenizer = tokenizer
        self._uses_template = has_template and chat_template != "off"
        self._system_prompt = system_prompt
        self._longest = context_length - max_new_tokens
        if self._longest < 1:
            raise ModelError(
                f"rollout.max_new_tokens: {max_new_tokens} leaves no room for a prompt in the model's context of "
                f"{context_length} tokens; lower it"
            )
        self._context = f"{context_length} tokens of context less {max_new_tokens} for the response"

    def text(self, problem: Problem) -> str:
        """Return the prompt as the policy sees it, chat template included.

        Raises:
            ModelError: the template refuses it.
        """
        if not self._uses_template:
            return problem.prompt
        messages = [{"role": "user", "content": problem.prompt}]
        if self._system_prompt is not None:
            messages.insert(0, {"role": "system", "content": self._system_prompt})
        try:
            return self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except TemplateError as error:  # some templates refuse a system message
            raise ModelError(
                f"problem {problem.id}: the chat template failed: {error}; remove model.system_prompt if it is set, or "
                'set model.chat_template = "off"'
            ) from error

    def encode(self, problems: Sequence[Problem]) -> list[list[int]]:
        """Return the prompts' token ids.

        Raises:
            PromptTooLongError: a prompt is empty, or leaves less than max_new_tokens of the model's context.
        """
        texts = [self.text(problem) for problem in problems]
        # The template writes its own special tokens; a second BOS would be one that the model never saw.
        encoded = self._tokenizer(texts, add_special_tokens=not self._uses_template)["input_ids"]
        for problem, ids in zip(problems, encoded, strict=True):
            if not ids:
                raise PromptTooLongError(f"problem {problem.id}: its prompt has no tokens; leave it out of the data")
            if len(ids) > self._longest:
                raise PromptTooLongError(
                    f"problem {problem.id}: its prompt has {len(ids)} tokens, but only {self._longest} fit "
                    f"({self._context}); lower rollout.max_new_tokens, or leave such problems out of the data"
                )
        return encoded

    def encode_demonstrations(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of demonstrations, without special tokens."""
        return self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]

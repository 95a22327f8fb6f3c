"""What the warm start imitates: problems' demonstrations as tokens."""

from collections.abc import Callable

from rlvr.errors import ConfigError, PromptTooLongError
from rlvr.models.loading import LoadedModel
from rlvr.rollout.prompts import PromptEncoder
from rlvr.training.sft import Demonstration
from tasks.sampling import ProblemSampler


def demonstrations(
    sampler: ProblemSampler, encoder: PromptEncoder, model: LoadedModel, *, task: str
) -> Callable[[int], list[Demonstration]]:
    """Return what draws so many demonstrations; problems without one are passed over.

    Args:
        task: its name, for messages.

    Raises (when drawing):
        ConfigError: a whole draw of problems has no demonstration.
        PromptTooLongError: prompt and demonstration do not fit the model's context.
    """

    def draw(count: int) -> list[Demonstration]:
        problems = []
        while len(problems) < count:
            drawn = [p for p in sampler.next(count) if p.demonstration is not None]
            if not drawn:
                raise ConfigError(
                    f"sft.steps: of {count} problems of task {task!r} none has a demonstration; "
                    "set sft.steps = 0, or give the task demonstrations"
                )
            problems += drawn
        problems = problems[:count]
        responses = encoder.encode_demonstrations([str(p.demonstration) for p in problems])
        prompts = encoder.encode(problems)
        for problem, prompt, response in zip(problems, prompts, responses, strict=True):
            length = len(prompt) + len(response) + 1
            if length > model.context_length:
                raise PromptTooLongError(
                    f"problem {problem.id}: prompt and demonstration have {length} tokens, the model's context "
                    f"{model.context_length}; leave such problems out of the data"
                )
        return [
            Demonstration(prompt_ids=prompt, response_ids=[*response, model.stop_id])
            for prompt, response in zip(prompts, responses, strict=True)
        ]

    return draw

"""Responses of a model behind an OpenAI-compatible endpoint: vLLM, SGLang, llama.cpp, Ollama, a hosted service."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from rlvr.errors import EndpointError
from rlvr.evaluation.endpoint_errors import endpoint_error, refusal
from rlvr.evaluation.sources import Written
from rlvr.rollout.types import Finish, Sampling
from rlvr.seeding import derive_seed
from tasks.types import Problem

Found = TypeVar("Found")

_BATCHES_IN_FLIGHT = 4
_SEED_MASK = 2**31 - 1
"""Seeds are sent as 31 bits, for some servers keep them in 32."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """How a server is talked to.

    A request is tried again, with growing pauses or after the time that the server asks for, when it is refused for now
    (HTTP 408, 409, 429), fails on the server's side (5xx), or is not answered.
    """

    url: str
    """Up to and without "/chat/completions"; most end in "/v1"."""
    api_key: str | None = None
    completions: bool = False
    """Ask /completions with the bare prompt, for base models, in place of /chat/completions."""
    system_prompt: str | None = None
    sends_seeds: bool = True
    """False for servers that a seed breaks: vLLM 0.32 on a CPU stops for good ("CPU Generator does not use offset")."""
    concurrency: int = 8
    """Requests in flight."""
    retries: int = 6
    timeout_s: float = 600.0
    """Of one request."""
    requests_per_minute: float | None = None
    """Retries included; they are spaced evenly."""

    @property
    def shown_url(self) -> str:
        """The URL without a user name and password in it, which are nobody else's business."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(kw_only=True, slots=True)
class Usage:
    """What an endpoint was asked and what it counted: a request's prompt counts once, whatever number of responses."""

    requests: int = 0
    """Answered ones."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    """Answers without token counts."""


class EndpointSource:
    """A ResponseSource over an endpoint. Close it after use.

    Every request carries a seed derived from the evaluation's, unless told otherwise; servers may ignore it, and few
    promise equal responses.
    Several responses to a problem are asked for by `n`, and one by one from a server that does not know it. The server
    counts the tokens of responses that came by `n` together: each gets an equal part, so that sums and means are right,
    and a single response's count is not.

    Args:
        model: as the server calls it.

    Raises:
        EndpointError: the package `openai` is not installed.
    """

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self.model = model
        self.usage = Usage()
        self.problems_at_once = _BATCHES_IN_FLIGHT * endpoint.concurrency
        self._endpoint = endpoint
        self._client = _client(endpoint)
        self._runner = asyncio.Runner()
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._takes_n = True
        self._limit_name = "max_tokens"

    def close(self) -> None:
        """Close the connections."""
        self._runner.run(self._client.close())
        self._runner.close()

    def respond(self, problems: Sequence[Problem], sampling: Sampling, *, seed: int) -> list[Written]:
        """Return `samples_per_prompt` responses to each problem, those of one problem side by side.

        Raises:
            EndpointError: the server refuses, or does not answer after all retries.
        """
        return self._runner.run(self._respond(problems, sampling, seed))

    async def _respond(self, problems: Sequence[Problem], sampling: Sampling, seed: int) -> list[Written]:
        asked = [
            self._responses(problem, sampling, derive_seed(seed, "endpoint", index))
            for index, problem in enumerate(problems)
        ]
        return [written for own in await _all(asked) for written in own]

    async def _responses(self, problem: Problem, sampling: Sampling, seed: int) -> list[Written]:
        wanted = sampling.samples_per_prompt
        seeds = [derive_seed(seed, "call", index) & _SEED_MASK for index in range(wanted)]
        found: list[Written] = []
        if wanted > 1 and self._takes_n:
            try:
                found = await self._ask(problem, sampling, n=wanted, seed=seeds[0])
            except _RefusedError:
                found = []  # perhaps for its n: what else may be wrong shows below
            self._takes_n = self._takes_n and len(found) == wanted
        single = [self._ask(problem, sampling, n=1, seed=own) for own in seeds[len(found) :]]
        try:
            return found + [written for own in await _all(single) for written in own]
        except _RefusedError as refused:
            raise refused.told from refused

    async def _ask(self, problem: Problem, sampling: Sampling, *, n: int, seed: int) -> list[Written]:
        """Return the responses to one request: n of them, or fewer where the server heeds no n."""
        import openai

        async with self._slots:
            # While this one waited for its slot, another may have learned that the server takes no n.
            n = n if self._takes_n else 1
            try:
                answer = await self._send(problem, sampling, n, seed)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                raise _RefusedError(self._told(error, problem)) from error
            except openai.OpenAIError as error:
                raise self._told(error, problem) from error
            except ValueError as error:
                raise EndpointError(
                    f"{self._endpoint.shown_url}: its answer is not JSON; check the URL, most end in /v1"
                ) from error
        choices = getattr(answer, "choices", None)
        if not choices:
            raise EndpointError(
                f"{self._endpoint.shown_url}: its answer holds no choices, so it is no OpenAI-compatible endpoint; "
                "check the URL, most end in /v1"
            )
        return self._written(choices[:n], answer.usage, seed)

    async def _send(self, problem: Problem, sampling: Sampling, n: int, seed: int) -> Any:
        import openai

        try:
            return await self._request(problem, sampling, n, seed)
        except openai.BadRequestError as error:
            # What OpenAI's reasoning models want the limit to be called.
            if self._limit_name == "max_tokens" and "max_completion_tokens" in refusal(error):
                self._limit_name = "max_completion_tokens"
                return await self._request(problem, sampling, n, seed)
            raise

    def _request(self, problem: Problem, sampling: Sampling, n: int, seed: int) -> Awaitable[Any]:
        endpoint = self._endpoint
        # top_p goes along at 1 too: servers take one left out from the model's generation_config.json.
        settings: dict[str, Any] = {
            "model": self.model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._limit_name: sampling.max_new_tokens,
        }
        if endpoint.sends_seeds:
            settings["seed"] = seed
        if n > 1:
            settings["n"] = n
        if sampling.top_k:
            settings["extra_body"] = {"top_k": sampling.top_k}  # vLLM's and SGLang's, not OpenAI's
        if endpoint.completions:
            return self._client.completions.create(prompt=problem.prompt, **settings)
        messages = [{"role": "user", "content": problem.prompt}]
        if endpoint.system_prompt is not None:
            messages.insert(0, {"role": "system", "content": endpoint.system_prompt})
        return self._client.chat.completions.create(messages=messages, **settings)

    def _written(self, choices: Sequence[Any], usage: Any, seed: int) -> list[Written]:
        prompt_tokens = getattr(usage, "prompt_tokens", None) or 0
        completion_tokens = getattr(usage, "completion_tokens", None) or 0
        self.usage.requests += 1
        self.usage.prompt_tokens += prompt_tokens
        self.usage.completion_tokens += completion_tokens
        self.usage.uncounted += usage is None
        each, left = divmod(completion_tokens, len(choices))
        return [
            Written(
                text=(choice.text if self._endpoint.completions else choice.message.content) or "",
                finish=Finish.LENGTH if choice.finish_reason == "length" else Finish.STOP,
                tokens=each + (index < left),
                prompt_tokens=prompt_tokens,
                seed=seed if self._endpoint.sends_seeds else None,
            )
            for index, choice in enumerate(choices)
        ]

    def _told(self, error: Any, problem: Problem) -> EndpointError:
        return endpoint_error(
            error, url=self._endpoint.shown_url, tries=self._endpoint.retries + 1, problem_id=problem.id
        )  # fmt: skip


class _RefusedError(Exception):
    """The server does not understand the request, or does not want it as it is."""

    def __init__(self, told: EndpointError) -> None:
        super().__init__(str(told))
        self.told = told


def served_models(endpoint: Endpoint) -> list[str]:
    """Return the names of the models that the server offers.

    Raises:
        EndpointError: it does not say.
    """
    openai = _openai()

    async def ask() -> list[str]:
        async with _client(endpoint) as client:
            return [model.id for model in (await client.models.list()).data or []]

    try:
        return asyncio.run(ask())
    except openai.OpenAIError as error:
        raise endpoint_error(error, url=endpoint.shown_url, tries=endpoint.retries + 1) from error
    except (ValueError, AttributeError) as error:
        raise EndpointError(
            f"{endpoint.shown_url}/models lists no models; check the URL, most end in /v1, or give --endpoint-model"
        ) from error


def _openai() -> ModuleType:
    try:
        import openai
    except ImportError as error:
        raise EndpointError(f"endpoints need another package: {error}; pip install 'rlvr[endpoint]'") from error
    return openai


def _client(endpoint: Endpoint) -> Any:
    openai = _openai()
    hooks = [_Pace(endpoint.requests_per_minute)] if endpoint.requests_per_minute else []
    return openai.AsyncOpenAI(
        base_url=endpoint.url,
        api_key=endpoint.api_key or "none",  # servers of one's own want none, but the client insists
        max_retries=endpoint.retries,
        timeout=endpoint.timeout_s,
        # A hook sees every request that is sent, the client's own retries too.
        http_client=openai.DefaultAsyncHttpxClient(event_hooks={"request": hooks}),
    )


class _Pace:
    """Holds requests back so that no more than so many are sent in a minute."""

    def __init__(self, requests_per_minute: float) -> None:
        self._interval_s = 60.0 / requests_per_minute
        self._next_s = 0.0

    async def __call__(self, request: object) -> None:
        now_s = time.monotonic()
        start_s = max(now_s, self._next_s)
        self._next_s = start_s + self._interval_s
        await asyncio.sleep(start_s - now_s)


async def _all(asked: Sequence[Awaitable[Found]]) -> list[Found]:
    """Return what each gives, in order; after the first exception the others are given up."""
    tasks = [asyncio.ensure_future(one) for one in asked]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise

"""What a server that answers for a model did wrong, and what to do about it, in one line."""

from typing import TYPE_CHECKING, Any

from rlvr.errors import EndpointError

if TYPE_CHECKING:
    import openai

_SHOWN = 300
_LONGEST_PAUSE_S = 120.0
"""The client gives up at once where a server asks for a longer one."""


def endpoint_error(
    error: "openai.OpenAIError", *, url: str, tries: int, problem_id: str | None = None
) -> EndpointError:
    """Return an error of the `openai` package as one of ours.

    Args:
        tries: how often a request is made before it is given up.
        problem_id: whose request it was.
    """
    import openai

    about = f", problem {problem_id}" if problem_id else ""
    if isinstance(error, openai.APITimeoutError):
        return EndpointError(f"{url}{about}: no answer in time, {tries} tries; raise --timeout or lower --concurrency")
    if isinstance(error, openai.APIConnectionError):
        reason = _shortened(str(error.__cause__ or error))
        return EndpointError(f"{url}{about}: not reached, {tries} tries ({reason}); check that the server runs there")
    if isinstance(error, openai.APIStatusError):
        code, pause_s = error.status_code, _pause_s(error)
        if pause_s > _LONGEST_PAUSE_S:
            return EndpointError(
                f"{url}{about}: refused, HTTP {code}: {_said(error)}; it asks for a pause of {pause_s:.0f} s, so come "
                "back after it, and set --requests-per-minute"
            )
        again = f"after {tries} tries" if code in (408, 409, 429) or code >= 500 else "and would again"
        return EndpointError(f"{url}{about}: refused {again}, HTTP {code}: {_said(error)}; {_advice(code)}")
    return EndpointError(f"{url}{about}: {_shortened(str(error))}")


def refusal(error: "openai.APIStatusError") -> str:
    """Return what the server says about a request that it refuses."""
    return _said(error)


def _pause_s(error: "openai.APIStatusError") -> float:
    """Return how long the server wants to be left alone, 0 where it does not say so in seconds."""
    try:
        return float(error.response.headers.get("retry-after", 0))
    except ValueError:
        return 0.0  # a date


def _advice(code: int) -> str:
    match code:
        case 401 | 403:
            return "check the key in OPENAI_API_KEY, or name the variable that holds it by --api-key-env"
        case 404:
            return "check the URL, most end in /v1, and the name given by --endpoint-model"
        case 408 | 409 | 429:
            return "lower --concurrency, set --requests-per-minute, or raise --retries"
        case _ if code >= 500:
            return "see the server's log, or raise --retries"
    return "change what it objects to, for instance rollout.max_new_tokens, rollout.top_k or model.system_prompt"


def _said(error: "openai.APIStatusError") -> str:
    body: Any = error.body
    while isinstance(body, dict):
        body = next((body[name] for name in ("error", "message", "detail") if body.get(name)), None)
    return _shortened(body if isinstance(body, str) else error.response.text or error.message)


def _shortened(text: str) -> str:
    """Return a server's words in one printable line."""
    line = " ".join(text.split())
    line = "".join(character if character.isprintable() else "?" for character in line)
    return (line if len(line) <= _SHOWN else f"{line[:_SHOWN]}...").rstrip(".;: ") or "without a word"

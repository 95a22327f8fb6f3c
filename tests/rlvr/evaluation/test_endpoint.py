"""Responses of a model behind a real HTTP server on this machine."""

import sys
import time
from contextlib import closing
from typing import Any

import pytest
from support.endpoint_server import (
    RETRY_SOON,
    Asked,
    EndpointServer,
    Reply,
    answered,
    refused,
    serving,
)

from rlvr.errors import EndpointError
from rlvr.evaluation.endpoint import Endpoint, EndpointSource, Usage, served_models
from rlvr.evaluation.sources import Written
from rlvr.rollout.types import Finish, Sampling
from tasks.types import MathAnswer, Problem

pytest.importorskip("openai", reason="endpoints need the extra rlvr[endpoint]")


@pytest.fixture(autouse=True)
def _direct_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def problems(count: int) -> list[Problem]:
    return [
        Problem(id=f"made/test/{i}", prompt=f"ask {i}", verifier="exact", reference=MathAnswer(value=str(i)))
        for i in range(count)
    ]


def respond(
    server: EndpointServer, count: int = 1, *, samples: int = 1, sampling: dict[str, Any] | None = None, **options: Any
) -> tuple[list[Written], Usage]:
    options.setdefault("retries", 3)
    with closing(EndpointSource(Endpoint(url=server.url, **options), "m")) as source:
        drawn = Sampling(max_new_tokens=20, samples_per_prompt=samples, **(sampling or {}))
        return source.respond(problems(count), drawn, seed=3), source.usage


def echo(asked: Asked, _: int) -> Reply:
    """Answer with the question, as often as is asked for."""
    n = asked.body.get("n", 1)
    return answered(*[f"{asked.prompt} / {i}" for i in range(n)], usage=(7, 5 * n + 1))


def test_a_request_says_all_that_the_sampling_says():
    with serving(echo) as server:
        respond(server, samples=1, sampling={"temperature": 0.7, "top_p": 0.9, "top_k": 5}, system_prompt="Be brief.")
    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "ask 0"},
    ]
    told = {name: asked.body[name] for name in ("model", "temperature", "top_p", "top_k", "max_tokens")}
    assert told == {"model": "m", "temperature": 0.7, "top_p": 0.9, "top_k": 5, "max_tokens": 20}
    assert 0 <= asked.body["seed"] < 2**31
    assert "n" not in asked.body


def test_without_a_top_k_none_is_sent_for_not_all_servers_know_it():
    with serving(echo) as server:
        respond(server)
    assert "top_k" not in server.asked[0].body
    assert server.asked[0].body["top_p"] == 1.0


def test_the_key_is_sent_as_the_bearers():
    with serving(echo) as server:
        respond(server, api_key="secret")
    assert server.asked[0].headers["authorization"] == "Bearer secret"


def test_base_models_get_the_bare_prompt():
    with serving(echo) as server:
        written, _ = respond(server, completions=True)
    assert server.asked[0].path == "/v1/completions"
    assert server.asked[0].body["prompt"] == "ask 0"
    assert written[0].text == "ask 0 / 0"


def test_responses_lie_in_the_order_of_the_problems_whichever_comes_first():
    def slower_at_first(asked: Asked, _: int) -> Reply:
        return answered(asked.prompt, delay_s=0.05 * (asked.prompt == "ask 0"))

    with serving(slower_at_first) as server:
        written, _ = respond(server, 6)
    assert [one.text for one in written] == [f"ask {i}" for i in range(6)]


def test_one_request_brings_all_responses_where_the_server_knows_n():
    with serving(echo) as server:
        written, usage = respond(server, 2, samples=3)
    assert len(server.asked) == 2
    assert [one.text for one in written] == [f"ask {p} / {i}" for p in range(2) for i in range(3)]
    assert usage == Usage(requests=2, prompt_tokens=14, completion_tokens=32)
    assert [one.tokens for one in written[:3]] == [6, 5, 5]  # 16 for the three together
    assert written[0].seed == written[1].seed == next(a for a in server.asked if a.prompt == "ask 0").body["seed"]


@pytest.mark.parametrize("server_does", ["ignores it", "refuses it"])
def test_responses_are_asked_for_one_by_one_where_it_does_not(server_does: str):
    def no_n(asked: Asked, _: int) -> Reply:
        if asked.body.get("n", 1) > 1 and server_does == "refuses it":
            return refused(400, "n must be 1")
        return answered(f"seed {asked.body['seed']}")

    with serving(no_n) as server:
        written, usage = respond(server, 3, samples=4, concurrency=1)
    assert len(written) == 12
    assert len({one.text for one in written}) == 12  # each with a seed of its own
    assert all(one.text == f"seed {one.seed}" for one in written)
    assert usage.requests == 12
    assert sum(asked.body.get("n", 1) > 1 for asked in server.asked) == 1


def test_a_server_that_a_seed_breaks_is_sent_none():
    with serving(echo) as server:
        (written,), _ = respond(server, sends_seeds=False)
    assert written.seed is None
    assert "seed" not in server.asked[0].body


def test_the_same_evaluation_sends_the_same_seeds():
    with serving(echo) as server:
        once, _ = respond(server, 4)
        again, _ = respond(server, 4, concurrency=1)
    assert [one.seed for one in once] == [one.seed for one in again]
    assert len({one.seed for one in once}) == 4


@pytest.mark.parametrize(
    ("finish", "text", "expected"),
    [
        ("length", "half", (Finish.LENGTH, "half")), ("stop", None, (Finish.STOP, "")),
        ("tool_calls", "x", (Finish.STOP, "x")),
    ],
)  # fmt: skip
def test_how_a_response_ended_is_kept_and_no_content_is_an_empty_text(finish: str, text: str | None, expected: tuple):
    with serving(lambda *_: answered(text, finish=finish)) as server:
        [written], _ = respond(server)
    assert (written.finish, written.text) == expected
    assert (written.tokens, written.prompt_tokens) == (5, 7)


def test_an_answer_without_counts_is_told_apart_from_one_of_no_tokens():
    with serving(lambda *_: answered("x", usage=None)) as server:
        _, usage = respond(server)
    assert usage == Usage(requests=1, uncounted=1)


def test_openais_own_name_for_the_length_limit_is_taken_where_a_model_insists():
    def insists(asked: Asked, _: int) -> Reply:
        if "max_tokens" in asked.body:
            return refused(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return answered(str(asked.body["max_completion_tokens"]))

    with serving(insists) as server:
        written, _ = respond(server, 3, concurrency=1)
    assert [one.text for one in written] == ["20"] * 3
    assert len(server.asked) == 4  # it is remembered


@pytest.mark.parametrize(
    "hiccup",
    [
        refused(429, "slow down", **RETRY_SOON), refused(500, "oops", **RETRY_SOON), refused(503, "busy", **RETRY_SOON),
        Reply(drops=True),
    ],
    ids=["429", "500", "503", "dropped connection"],
)  # fmt: skip
def test_what_fails_for_now_is_tried_again(hiccup: Reply):
    with serving(lambda asked, before: hiccup if before == 0 else echo(asked, before)) as server:
        written, usage = respond(server)
    assert (written[0].text, len(server.asked), usage.requests) == ("ask 0 / 0", 2, 1)


def test_the_server_says_how_long_to_wait():
    wait = refused(429, "slow down", **{"Retry-After": "0.9"})
    with serving(lambda asked, before: wait if before == 0 else echo(asked, before)) as server:
        respond(server)
    assert server.asked[1].at_s - server.asked[0].at_s >= 0.9  # the client's own first pause is half a second


def test_what_keeps_failing_ends_with_the_servers_words_and_what_to_do():
    with (
        serving(lambda *_: refused(429, "Rate limit\nreached.", **RETRY_SOON)) as server,
        pytest.raises(EndpointError) as caught,
    ):
        respond(server, retries=2)
    assert str(caught.value) == (
        f"{server.url}, problem made/test/0: refused after 3 tries, HTTP 429: Rate limit reached; lower --concurrency, "
        "set --requests-per-minute, or raise --retries"
    )
    assert len(server.asked) == 3


def test_a_pause_longer_than_the_client_makes_is_told_and_not_called_many_tries():
    wait = refused(429, "Daily limit reached.", **{"Retry-After": "3600"})
    with serving(lambda *_: wait) as server, pytest.raises(EndpointError) as caught:
        respond(server, retries=2)
    assert str(caught.value) == (
        f"{server.url}, problem made/test/0: refused, HTTP 429: Daily limit reached; it asks for a pause of 3600 s, so "
        "come back after it, and set --requests-per-minute"
    )
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "change what it objects to"), (422, "change what it objects to"), (401, "OPENAI_API_KEY"),
        (403, "--api-key-env"), (404, "most end in /v1"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("samples", [1, 2])
def test_a_refusal_for_good_is_not_repeated(status: int, advice: str, samples: int):
    with (
        serving(lambda *_: refused(status, "no such thing")) as server,
        pytest.raises(EndpointError, match=f"HTTP {status}: no such thing; .*{advice}"),
    ):
        respond(server, samples=samples)
    assert len(server.asked) <= 3


def test_a_server_that_is_too_slow_is_given_up():
    with (
        serving(lambda *_: answered("late", delay_s=0.5)) as server,
        pytest.raises(EndpointError, match=r"problem made/test/0: no answer in time, 1 tries; raise --timeout"),
    ):
        respond(server, retries=0, timeout_s=0.1)


def test_a_password_in_the_url_is_not_repeated():
    with (
        serving(lambda *_: refused(403, "no")) as server,
        pytest.raises(EndpointError) as caught,
        closing(EndpointSource(Endpoint(url=server.url.replace("//", "//me:sesame@"), retries=0), "m")) as source,
    ):
        source.respond(problems(1), Sampling(max_new_tokens=4), seed=0)
    assert str(caught.value).startswith(f"{server.url}, problem")


def test_a_server_that_is_not_there_is_named():
    with serving(echo) as server:
        pass
    with pytest.raises(EndpointError, match=rf"^{server.url}, problem made/test/0: not reached, 1 tries .*server runs"):
        respond(server, retries=0)


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", {"hello": 1}, {"choices": []}])
def test_an_answer_in_no_such_form_points_at_the_url(body: object):
    with serving(lambda *_: Reply(body=body)) as server, pytest.raises(EndpointError, match="most end in /v1"):
        respond(server)


def test_after_a_refusal_nothing_more_is_asked():
    def first_refuses(asked: Asked, before: int) -> Reply:
        return refused(401, "no key") if before == 0 else answered("x", delay_s=0.02)

    with serving(first_refuses) as server, pytest.raises(EndpointError):
        respond(server, 40, concurrency=2)
    assert len(server.asked) <= 8


def test_no_more_than_so_many_requests_are_in_flight():
    with serving(lambda asked, _: answered(asked.prompt, delay_s=0.02)) as server:
        respond(server, 20, concurrency=5)
    assert 2 <= server.most_in_flight <= 5


def test_samples_asked_for_one_by_one_share_the_slots():
    with serving(lambda asked, _: answered("x", delay_s=0.01)) as server:
        respond(server, 4, samples=5, concurrency=3)
    assert server.most_in_flight <= 3


def test_requests_are_spaced_so_as_to_keep_the_limit_retries_included():
    def fails_twice(asked: Asked, before: int) -> Reply:
        return refused(500, "oops", **RETRY_SOON) if before < 2 else echo(asked, before)

    with serving(fails_twice) as server:
        start_s = time.monotonic()
        respond(server, 4, requests_per_minute=600)
    assert len(server.asked) == 6
    assert server.asked[-1].at_s - start_s >= 5 * 0.1


def test_a_source_can_be_asked_again():
    with serving(echo) as server, closing(EndpointSource(Endpoint(url=server.url), "m")) as source:
        sampling = Sampling(max_new_tokens=4)
        assert source.respond(problems(2), sampling, seed=1)[0].text == "ask 0 / 0"
        assert source.respond(problems(2), sampling, seed=2)[1].text == "ask 1 / 0"
        assert source.usage.requests == 4


def test_the_server_lists_its_models():
    with serving(echo, models=("a", "b/c")) as server:
        assert served_models(Endpoint(url=server.url)) == ["a", "b/c"]
        with pytest.raises(EndpointError, match="most end in /v1"):
            served_models(Endpoint(url=server.url.removesuffix("/v1") + "/nothing", retries=0))


def test_a_missing_package_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(EndpointError, match=r"pip install 'rlvr\[endpoint\]'"):
        EndpointSource(Endpoint(url="http://127.0.0.1:1/v1"), "m")


def test_giving_up_does_not_wait_for_what_is_still_running():
    def one_refused(asked: Asked, _: int) -> Reply:
        return refused(400, "no") if asked.prompt == "ask 3" else answered("x", delay_s=4.0)

    with serving(one_refused) as server:
        start_s = time.monotonic()
        with pytest.raises(EndpointError):
            respond(server, 4)
        assert time.monotonic() - start_s < 3.5

"""A real HTTP server that speaks as much of the OpenAI API as an evaluation asks for, and misbehaves on request."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request as it came in."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    """By their names in lower case."""
    at_s: float

    @property
    def prompt(self) -> str:
        """What the user asks."""
        return self.body["prompt"] if "prompt" in self.body else self.body["messages"][-1]["content"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What the server does about a request."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drops: bool = False
    """Close the connection without a word."""


RETRY_SOON = {"retry-after-ms": "10"}
"""Headers that let a client try again at once, so that tests are quick."""


def refused(status: int, message: str, **headers: str) -> Reply:
    """Return a refusal in the OpenAI API's form."""
    return Reply(status=status, body={"error": {"message": message, "type": "x"}}, headers=headers)


def answered(
    *texts: str | None, finish: str = "stop", usage: tuple[int, int] | None = (7, 5), delay_s: float = 0.0
) -> Reply:
    """Return these texts as choices, for chat and for plain completions.

    Args:
        usage: prompt tokens, and completion tokens of all choices together; None leaves the count out.
    """
    choices = [
        {"index": i, "text": text, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        for i, text in enumerate(texts)
    ]
    body: dict[str, Any] = {"id": "a", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(body=body, delay_s=delay_s)


class EndpointServer:
    """Answers requests as `behave` says, and remembers them.

    Args:
        behave: is given a request and how many came before it.
        models: what GET /models lists.
    """

    def __init__(self, behave: Callable[[Asked, int], Reply], models: tuple[str, ...] = ("m",)) -> None:
        self.behave = behave
        self.models = models
        self.asked: list[Asked] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, path: str, content: bytes, headers: Mapping[str, str]) -> Reply:
        """Return what a request gets, after its delay."""
        if path == "/v1/models":
            return Reply(body={"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})
        if not path.endswith("/completions"):
            return refused(404, "there is no such page")
        asked = Asked(
            path=path,
            body=json.loads(content),
            headers={name.lower(): value for name, value in headers.items()},
            at_s=time.monotonic(),
        )
        with self._lock:
            before = len(self.asked)
            self.asked.append(asked)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            reply = self.behave(asked, before)
            time.sleep(reply.delay_s)
            return reply
        finally:
            with self._lock:
                self._in_flight -= 1

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._reply(b"{}")

            def do_POST(self) -> None:
                self._reply(self.rfile.read(int(self.headers["Content-Length"])))

            def _reply(self, content: bytes) -> None:
                reply = server.reply(self.path, content, dict(self.headers.items()))
                if reply.drops:
                    self.close_connection = True
                    return
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    kind = "text/html" if isinstance(reply.body, bytes) else "application/json"
                    for name, value in {"Content-Type": kind, **reply.headers, "Content-Length": len(body)}.items():
                        self.send_header(name, str(value))
                    self.end_headers()
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):  # the client has given up
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@contextmanager
def serving(behave: Callable[[Asked, int], Reply], models: tuple[str, ...] = ("m",)) -> Iterator[EndpointServer]:
    """Run a server for the length of the block."""
    server = EndpointServer(behave, models)
    try:
        yield server
    finally:
        server.close()

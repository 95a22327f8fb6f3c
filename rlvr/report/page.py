"""One self-contained HTML page from a report's payload: no network, no library, and no text of a response as markup."""

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

SCRIPTS = (
    "page.js", "charts.js", "curves.js", "metrics.js", "tokens.js", "kinds.js", "browser.js", "heldout.js",
    "summary.js", "report.js",
)  # fmt: skip
"""The page's JavaScript, in the order in which it is joined into one module."""


def render_page(payload: Mapping[str, Any]) -> str:
    """Return the report page of `payload` (its keys are described in payload.py).

    The payload travels as base64 of gzipped JSON, so nothing in it can end the element that holds it; the page shows
    all of it through text nodes, and its content security policy lets no script run but its own and no request leave.
    The same payload gives the same page. Numbers that are not finite become null.
    """
    style, script = _source("report.css"), "\n".join(_source(name) for name in SCRIPTS)
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=_encodable(str(payload.get("title") or "rlvr report")),
            headlines=[_encodable(text) for text in _headlines(payload)],
            refresh_s=math.ceil(payload.get("refresh_s") or 0),
            version=_encodable(str(payload.get("version") or "")),
            # Our own files, not data: the only two places where text goes into the page as it is.
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            payload=_packed(payload),
        )
    )


def _headlines(payload: Mapping[str, Any]) -> list[str]:
    return [str(run["headline"]["text"]) for run in payload.get("runs") or [] if run.get("headline")]


def _packed(payload: Mapping[str, Any]) -> str:
    text = json.dumps(_finite(payload), separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), mtime=0)).decode("ascii")


def _finite(value: Any) -> Any:
    # JSON has no NaN: Python would write one and the browser refuse the whole payload.
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def _encodable(text: str) -> str:
    # Lone surrogates, which a decoder of model output can make, cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("rlvr.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip


def _source(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None
    text, _, _ = environment.loader.get_source(environment, name)
    return text

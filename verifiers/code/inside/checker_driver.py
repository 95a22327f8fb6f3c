"""Run a problem's trusted checker on what a program printed.

Reads {"checker": source, "cases": [[input, expected, printed], ...]} from standard input and writes a line of JSON for
each case, {"accepted": bool, "reason": text}, or {"problem": text} where the checker itself cannot be used.
"""

import json
import os
import sys
from typing import Any


def main() -> None:
    """Run the checker on all cases."""
    job = json.load(sys.stdin)
    out = os.dup(1)
    os.dup2(2, 1)  # what the checker prints is no answer
    namespace: dict[str, Any] = {"__name__": "checker"}
    try:
        exec(compile(job["checker"], "<checker>", "exec"), namespace)
        check = namespace["check"]
    except KeyError:
        _say(out, {"problem": "it defines no function check(inp, expected, out)"})
        return
    except BaseException as error:  # whatever it is, it is the finding
        _say(out, {"problem": f"{type(error).__name__}: {error}"})
        return
    for given, expected, printed in job["cases"]:
        try:
            accepted, reason = bool(check(given, expected, printed)), "the checker says no"
        except Exception as error:
            # Mostly a number that is none: a checker reads what a program printed.
            accepted, reason = False, f"the checker raised {type(error).__name__}: {error}"
        _say(out, {"accepted": accepted, "reason": reason})


def _say(out: int, answer: dict[str, Any]) -> None:
    line = json.dumps(answer).encode() + b"\n"
    while line:
        line = line[os.write(out, line) :]

import io
import re

import pytest

from rlvr.tracking.progress import duration, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines_of(steps: int, *, initial: int = 0, lines: int | None = None, count: int = 1) -> list[str]:
    stream = io.StringIO()
    with progress("step", steps, initial=initial, lines=lines, stream=stream) as bar:
        for _ in range(initial, steps, count):
            bar.advance({"reward": 0.512, "pass": 0.512, "kl": None}, count)
    return stream.getvalue().splitlines()


def test_a_log_file_gets_one_readable_line_per_step():
    lines = lines_of(12)
    assert len(lines) == 12
    assert re.fullmatch(r"step  3/12  reward 0\.512  pass 51\.2 %  kl -  \S+ s/step  left 0s", lines[2])
    assert "left" not in lines[-1]


def test_a_resumed_phase_counts_on():
    assert lines_of(12, initial=9)[0].startswith("step 10/12 ")


@pytest.mark.parametrize(("steps", "count"), [(300, 1), (300, 7), (95, 1), (10, 1), (3, 1)])
def test_a_long_phase_is_thinned_but_shows_its_first_and_last_step(steps, count):
    lines = lines_of(steps, lines=10, count=count)
    assert min(steps, 10) <= len(lines) <= 13
    assert lines[0].split("/")[0].split()[-1] == str(count)
    assert "left" not in lines[-1]


def test_notes_stand_on_their_own_line_in_a_log_file():
    stream = io.StringIO()
    with progress("step", 2, stream=stream) as bar:
        bar.note("warning: no reference")
    assert stream.getvalue() == "warning: no reference\n"


def test_a_terminal_gets_a_bar_with_the_numbers_and_notes_above_it():
    stream = Terminal()
    with progress("step", 2, stream=stream) as bar:
        bar.advance({"reward": 0.5, "pass": 0.25})
        bar.note("warning: no reference")
        bar.advance({"reward": 1.0, "pass": 0.75})
    shown = stream.getvalue()
    assert "2/2" in shown
    assert "reward 1.000  pass 75.0 %" in shown
    assert re.search(r"(^|[\r\n])warning: no reference\n", shown)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0s"), (59.6, "1m00s"), (108, "1m48s"), (7500, "2h05m")])
def test_durations_read_as_people_write_them(seconds, text):
    assert duration(seconds) == text


def test_a_passing_phase_without_a_terminal_is_silent_until_it_takes_long(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("rlvr.tracking.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    with progress("evaluate", 3, passing=True, stream=stream) as bar:
        for seconds in (1.0, 12.0, 13.0):
            now[0] = seconds
            bar.advance({})
    assert stream.getvalue().splitlines() == ["evaluate 2/3  6 s/step  left 6s"]

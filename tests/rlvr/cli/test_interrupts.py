import os
import signal

import pytest

from rlvr.cli.interrupts import catching_interrupts


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_remembered_and_told(number: signal.Signals, code: int):
    notes: list[str] = []
    with catching_interrupts() as interrupts:
        interrupts.note = notes.append
        assert not interrupts.requested
        os.kill(os.getpid(), number)
        assert interrupts.requested
        assert interrupts.exit_code == code
    assert notes == ["stopping: this step is finished and saved first; once more exits at once"]


def test_the_handlers_from_before_come_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(ZeroDivisionError), catching_interrupts():
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before

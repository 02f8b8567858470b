"""For all tests of training: signals as a program usually finds them, however the tests were started."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from train.stopping import SIGNALS


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """Under `nohup` or a shell's `&` some are ignored, and would stay so."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)

"""Signals as a program usually finds them, however the tests were started: for tests of commands."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from millebornes_env.stopping import SIGNALS


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """Under `nohup` or a shell's `&` some are ignored, and would stay so."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)

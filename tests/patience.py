"""How long tests wait for other processes. Nothing here says how fast a machine has to be."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

SECONDS_OF_A_HANG = 1800.0
"""Who has not answered after half an hour never will: the only use of a time-out in these tests."""

SECONDS_BETWEEN_LOOKS = 0.02


def wait_until(
    has_happened: Callable[[], bool], process: subprocess.Popen[bytes], what: str = "it was waited for"
) -> None:
    """Wait until a process has done something that can be seen from here.

    Args:
        has_happened: looks whether it has.
        process: is expected to go on running until then.
        what: names it in the failure.

    Raises:
        AssertionError: the process ended before, or nothing happened for half an hour.
    """
    end = time.monotonic() + SECONDS_OF_A_HANG
    while not has_happened():
        assert process.poll() is None, f"the process ended with {process.returncode} before {what}"
        assert time.monotonic() < end, f"the process hangs before {what}"
        time.sleep(SECONDS_BETWEEN_LOOKS)

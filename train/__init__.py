"""Scripts that learn: `selfplay`, `maskable_ppo`, `exploit`, `average`; `common` is what they share."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from types import FrameType

# Before PyTorch is imported: its threads spin for some 30 us while they wait for each other, and then sleep.
# Spinning on would take the cores from the environment's threads and from everybody else (on a machine that
# others use too, it made MaskablePPO seven times slower); sleeping at once costs a third of the speed.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


def _stop_at_once(number: int, frame: FrameType | None) -> None:
    """End the process: nothing has been begun yet."""
    with contextlib.suppress(OSError):
        os.write(2, b"error: interrupted\n")
    os._exit(128 + number)


# While `python -m train.selfplay` looks for the script, its name is "-m". The script then imports PyTorch for
# seconds; Ctrl-C meanwhile ends in a sentence, not in a traceback. Later `apply_action` handles it.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _stop_at_once)

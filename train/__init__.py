"""Training scripts, and the code that they share in `common`."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from types import FrameType

# Set before PyTorch is imported: its waiting threads spin for some 30 us, and then sleep. Longer spinning
# takes the cores from the environment's threads and from other processes (it made MaskablePPO seven times
# slower on a shared machine); sleeping immediately costs a third of the speed.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


def _exit_on_signal(number: int, frame: FrameType | None) -> None:
    """End the process; nothing needs cleaning up yet."""
    with contextlib.suppress(OSError):
        os.write(2, b"error: interrupted\n")
    os._exit(128 + number)


# While `python -m train.selfplay` looks for the script, `sys.argv[0]` is "-m". Importing PyTorch takes
# seconds; Ctrl-C during that time prints a sentence, not a traceback. Later `run_command` handles it.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _exit_on_signal)

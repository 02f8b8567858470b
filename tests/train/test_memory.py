"""Freed memory is kept for the next batch; a limit that is too low is an error."""

from __future__ import annotations

import subprocess
import sys

import pytest

from train.common import memory

# In a process of its own: how memory is kept cannot be taken back.
PROGRAM = """
import ctypes, resource
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: small pages, however the system is set
import numpy as np
from train.common.memory import keep_freed_memory
if {kept}:
    assert keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for turn in range(9):
    if turn == 6:
        before = faults()
    rows = np.ones(10_000_000, np.float32)  # more than what the C library would keep by itself
    del rows
print(faults() - before)
"""


def faults_of_batches(kept: bool) -> int:
    program = PROGRAM.format(kept=kept)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of glibc")
def test_memory_that_is_freed_is_not_fetched_anew() -> None:
    assert faults_of_batches(kept=True) < 1_000
    assert faults_of_batches(kept=False) > 10_000


def test_a_limit_on_the_address_space_that_is_too_low_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under such limits libraries abort, hang, or stop the process as if by Ctrl-C."""
    resource = pytest.importorskip("resource")
    memory.check_address_space()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 40, 1 << 40))
    memory.check_address_space()
    monkeypatch.setattr(memory, "ADDRESS_SPACE", 1 << 60)
    with pytest.raises(ValueError, match=r"limited to 1,048,576 MiB \(ulimit -v\).*raise the limit"):
        memory.check_address_space()

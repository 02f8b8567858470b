"""Freed memory is kept for the next batch."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: how memory is kept cannot be taken back.
PROGRAM = """
import ctypes, resource
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: small pages, however the system is set
import torch
from train.common.memory import keep_freed_memory
if {kept}:
    assert keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for turn in range(60):
    if turn == 40:
        before = faults()
    rows = torch.ones(16_000_000)  # more than what the C library would keep by itself
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

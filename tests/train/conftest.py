"""PyTorch gets one thread: for small networks, threads wait for each other longer than they work."""

from __future__ import annotations

import pytest

import train  # noqa: F401 - says how long threads of OpenMP spin, before PyTorch loads it

import torch  # isort: skip


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)

"""Time-outs of tests that wait for other processes; they demand no speed of the machine."""

from __future__ import annotations

SECONDS_OF_A_HANG = 1800
"""A process silent for half an hour hangs."""

SECONDS_OF_A_PAGE = 120
"""A page silent for two minutes hangs; its lane tries each test once more."""

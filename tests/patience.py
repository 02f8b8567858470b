"""The time-out of tests that wait for other processes; it demands no speed of the machine."""

from __future__ import annotations

SECONDS_OF_A_HANG = 1800
"""A process silent for half an hour hangs: the only use of a time-out in these tests."""

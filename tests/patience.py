"""How long tests wait for other processes. Nothing here says how fast a machine has to be."""

from __future__ import annotations

SECONDS_OF_A_HANG = 1800
"""Who has not answered after half an hour never will: the only use of a time-out in these tests."""

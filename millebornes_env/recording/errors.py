"""What can be wrong with recorded data."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class RecordingError(MilleBornesError):
    """A folder or file that is not what was recorded, or a recording that cannot be; the message says why."""

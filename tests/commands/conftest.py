"""Every test here has the usual signals."""

from __future__ import annotations

from tests.usual_signals import usual_signals

__all__ = ["usual_signals"]

"""Errors in a question's options, files or pages."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class ResearchError(MilleBornesError):
    """A question cannot be answered as it was asked; the message says why, and what to do."""

"""Exceptions for invalid studies and for invalid messages from a page."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class StudyError(MilleBornesError):
    """A study that cannot be, or a folder that holds none; the message says what to do."""


class JournalError(StudyError):
    """The lines of a session cannot be written, or are damaged; the message names the file."""


class MessageError(MilleBornesError):
    """A page sent what makes no sense; nothing was done, and the message says why."""

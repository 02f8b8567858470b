"""Exceptions of the table in the browser."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class TableError(MilleBornesError):
    """A message to the table that makes no sense there; the error says what was expected."""


class ServerError(MilleBornesError):
    """The page cannot be served: the port is taken, or there is no such port."""

"""The messages that a page may send to a study; anything else is an error.

A message is a JSON object with exactly these entries:

    {"type": "join", "token": "..."}                                 the first message
    {"type": "begin", "id": 1, "game": 0}                            ready for this game
    {"type": "play", "id": 2, "decision": 0, "action": 13, "ms": 810}
    {"type": "next_round", "id": 3}
    {"type": "why_not", "id": 4, "card": 3, "target_team": 1}

A message names no seat: the token identifies the sender.
"""

from __future__ import annotations

import json
import time
from typing import Any, Final

from millebornes_env.errors import PlayError, shown

MOST_BYTES: Final = 4096
"""Size limit of a message; the longest of a page has about 100 bytes."""

_MOST: Final = 2**31 - 1
_LONGEST_TOKEN: Final = 100
_SHAPES: Final[dict[str, dict[str, str]]] = {
    "join": {"token": "text"},
    "begin": {"id": "number", "game": "number"},
    "play": {"id": "number", "decision": "number", "action": "number", "ms": "number or null"},
    "next_round": {"id": "number"},
    "why_not": {"id": "number", "card": "number", "target_team": "number, text or null"},
}
"""The entries of each message besides `type`, and their types."""


def read_message(text: object) -> dict[str, Any]:
    """Parse and check a message.

    Args:
        text: the text of the message; None for a frame of bytes.

    Raises:
        PlayError: it is not a valid message.
    """
    if not isinstance(text, str):
        raise PlayError("a message is text, not bytes")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise PlayError("a message is a JSON object") from None
    if not isinstance(message, dict):
        raise PlayError("a message is a JSON object")
    kind = message.get("type")
    shape = _SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise PlayError(f"there is no message {shown(kind)}; they are {', '.join(_SHAPES)}")
    for name in message:
        if name != "type" and name not in shape:
            raise PlayError(f"{kind}: there is no entry {shown(name)}; there are {', '.join(shape)}")
    for name, wanted in shape.items():
        if name not in message:
            raise PlayError(f"{kind}: the entry {name!r} is missing")
        if not _is(message[name], wanted):
            raise PlayError(f"{kind}: the entry {name!r} is {shown(message[name])}; it must be a {wanted}")
    return message


def _is(value: object, wanted: str) -> bool:
    if value is None:
        return "null" in wanted
    if isinstance(value, str):
        return "text" in wanted and len(value) <= _LONGEST_TOKEN
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return "number" in wanted and 0 <= value <= _MOST


class Allowance:
    """A limit on the rate of messages (a token bucket)."""

    def __init__(self, burst: int, per_second: float, clock: Any = time.monotonic) -> None:
        """Allow a burst of messages, and `per_second` messages per second after that."""
        self._most, self._rate, self._clock = burst, per_second, clock
        self._left, self._at = float(burst), clock()

    def takes(self) -> bool:
        """Count a message and return True, or return False if it is not allowed."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

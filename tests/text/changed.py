"""Views of which one entry was changed, at any level: by accident, or by somebody who tries."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 255, 2**31, 10**30, -(10**30), 1.0, 0.5, float("nan"), float("inf")),
    *("", "x", "25 km", "Roll", "play", "claim", "round over", "you", "match", "x" * 10_000, "\0", "\ud800"),
    *([], {}, [[]], [0], ["25 km"], {"25 km": 1}, {"x": []}, {1: 2}, {None: 0}, (), b"x", object(), print),
    *(np.int64(3), np.zeros(3), np.array(["a"]), 1j, range(3), {1}),
)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all entries of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [path] if path else []
    for key, one in inner:
        found += places_of(one, (*path, key))
    return found


def changed(view: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """A copy with one entry changed, removed, renamed, doubled or added, and its path."""
    found = copy.deepcopy(view)
    *before, last = path = rng.choice(places_of(found))
    holder: Any = found
    for key in before:
        holder = holder[key]
    kind = rng.choice(["change", "change", "change", "remove", "rename", "add"])
    if kind == "change":
        holder[last] = rng.choice(VALUES)
    elif kind == "remove":
        del holder[last]
    elif isinstance(holder, list):
        holder.insert(last, copy.deepcopy(holder[last]) if kind == "add" else rng.choice(VALUES))
    elif kind == "rename":
        holder[rng.choice([f"{last}x", str(last).upper(), 3, None])] = holder.pop(last)
    else:
        holder[rng.choice(["x", "99", "-1", "007", 5, (1, 2)])] = rng.choice(VALUES)
    return found, path

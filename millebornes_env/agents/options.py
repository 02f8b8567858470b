"""The options of agents: the arguments of their classes other than table and seed.

`Between` in the annotation of an option gives the range of its values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from millebornes_env.errors import AgentError, shown


class Between(NamedTuple):
    """The smallest and largest value of an option, for its annotation."""

    least: float
    most: float


def check_ranges(name: str, maker: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise if an option is out of its range; `maker`, a class or a function, declares the ranges.

    Raises:
        AgentError: an option is out of its range.
    """
    for option, bounds in ranges_of(maker).items():
        if option not in options:
            continue
        value = options[option]
        if not isinstance(value, (int, float, np.number)) or not bounds.least <= value <= bounds.most:
            raise AgentError(
                f"{shown(name)}: the option {option} is {shown(value)}; it must be from {bounds.least:,} "
                f"to {bounds.most:,}"
            )


def check_arguments(maker: type[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Call `check_ranges` for the arguments of a class, which itself rejects unknown arguments.

    Raises:
        AgentError: an option is out of its range.
    """
    if ranges_of(maker):
        try:
            given = inspect.signature(maker.__init__).bind_partial(None, *args, **kwargs)
        except TypeError:
            return
        check_ranges(getattr(maker, "name", maker.__name__), maker, given.arguments)


def signature_of(maker: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function, or of a class that makes an agent.

    For a class this is the signature of `__init__`; Python 3.11.2 would use `BaseAgent.__new__`, which
    accepts any arguments.
    """
    own: Any = maker.__init__ if inspect.isclass(maker) else None
    if own is None or own is object.__init__:
        return inspect.signature(maker)
    signature = inspect.signature(own)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def defaults_of(maker: Callable[..., Any]) -> dict[str, Any]:
    """Return the options of an agent and their defaults; "" for an option without a default."""
    return {
        name: "" if parameter.default in (inspect.Parameter.empty, None) else parameter.default
        for name, parameter in signature_of(maker).parameters.items()
        if name not in ("table", "seed")
        and parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }


def ranges_of(maker: Callable[..., Any]) -> dict[str, Between]:
    """Return the options of an agent that declare a range."""
    function: Any = maker.__init__ if inspect.isclass(maker) else maker
    try:
        hints = get_type_hints(function, include_extras=True)
    except (AttributeError, NameError, TypeError):  # annotations that do not evaluate
        return {}
    return {
        name: bounds
        for name, hint in hints.items()
        for bounds in getattr(hint, "__metadata__", ())
        if isinstance(bounds, Between)
    }

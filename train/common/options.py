"""Options of the trainers: read from the command line, old names, and what is refused, in words."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import tyro

from millebornes_env.agents.policy.network import MAX_LAYERS, MAX_UNITS

Options = TypeVar("Options")

OLD_NAMES: Final = {
    "decisions": "total_timesteps",
    "entropy": "ent_coef",
    "final_entropy": "final_ent_coef",
    "value_coefficient": "vf_coef",
    "max_gradient": "max_grad_norm",
    "average": "ema_decay",
}
"""Options that were renamed on 2026-11-22: older checkpoints hold the old names."""


def renamed_options(config: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run, as its checkpoint holds them, by today's names."""
    return {OLD_NAMES.get(name, name): value for name, value in config.items()}


def parse_options(options: type[Options], description: str | None) -> Options:
    """Read the command line.

    Args:
        options: the dataclass of the command's options.
        description: for --help.

    Raises:
        ValueError: an option is given by its old name; the message says the new one.
        SystemExit: after --help, and after a wrong option, about which tyro has printed what is wrong.
    """
    refuse_old_options(options, sys.argv[1:])
    return tyro.cli(options, description=description)


def refuse_old_options(options: type, arguments: Sequence[str]) -> None:
    """Refuse the old name of an option, and say the new one.

    Args:
        options: the dataclass of the command's options.
        arguments: of the command line.

    Raises:
        ValueError: an argument is the old name of one of these options.
    """
    ours = {field.name for field in dataclasses.fields(options)}
    for argument in arguments:
        name = argument.partition("=")[0].removeprefix("--").replace("-", "_")
        if argument.startswith("--") and name not in ours and OLD_NAMES.get(name) in ours:
            raise ValueError(f"{_option(name)} is called {_option(OLD_NAMES[name])} now")


def check_counts(args: object, *names: str) -> None:
    """Refuse options that are less than 1.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if getattr(args, name) < 1:
            raise ValueError(f"{_option(name)} is {getattr(args, name)}; it must be 1 or more")


def check_shares(args: object, *names: str) -> None:
    """Refuse options that do not lie in 0 to 1, NaN among them.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if not 0.0 <= getattr(args, name) <= 1.0:
            raise ValueError(f"{_option(name)} is {getattr(args, name)}; it must lie in 0 to 1")


def check_amounts(args: object, *names: str) -> None:
    """Refuse options that are negative or not finite.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if not (math.isfinite(getattr(args, name)) and getattr(args, name) >= 0.0):
            raise ValueError(f"{_option(name)} is {getattr(args, name)}; it must be a number, 0 or more")


def check_hidden(widths: Sequence[int]) -> None:
    """Refuse hidden layers that no agent could play.

    Raises:
        ValueError: too many, too wide, or of no width.
    """
    if len(widths) >= MAX_LAYERS:
        raise ValueError(f"--hidden is given {len(widths)} times; agents play {MAX_LAYERS - 1} at most")
    for width in widths:
        if not 1 <= width <= MAX_UNITS:
            raise ValueError(f"--hidden is {width}; a layer has 1 to {MAX_UNITS} units")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"

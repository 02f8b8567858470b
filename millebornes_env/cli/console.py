"""Option parsing for commands, and their consoles for tables and progress."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Final, TextIO, TypeVar, Union, get_args, get_origin

import tyro
from rich.console import Console
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

Options = TypeVar("Options")


def read_options(
    options: type[Options],
    prog: str,
    arguments: Sequence[str] | None = None,
    description: str | None = None,
) -> Options:
    """Parse a command line with tyro; the help shows `INT` and `STR ...`, not `{None}|INT` and brackets.

    `description` is that of the program, by default the docstring of the dataclass `options`.
    """
    with _PLAIN_NAMES:
        return tyro.cli(options, prog=prog, args=arguments, description=description)


_PLAIN_NAMES: Final = ConstructorRegistry()


@_PLAIN_NAMES.primitive_rule
def _optional(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """Show an optional value by its type: `INT` for `int | None`."""
    options = [one for one in get_args(info.type) if one is not NoneType]
    if (
        get_origin(info.type) not in (Union, UnionType)
        or len(options) != 1
        or NoneType not in get_args(info.type)
    ):
        return None
    result = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(options[0], info.markers))
    if not isinstance(result, PrimitiveConstructorSpec):
        return None
    inner: PrimitiveConstructorSpec[Any] = result
    return dataclasses.replace(
        inner,
        is_instance=lambda value: value is None or inner.is_instance(value),
        str_from_instance=lambda value: ["None"] if value is None else inner.str_from_instance(value),
    )


@_PLAIN_NAMES.primitive_rule
def _several(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """Show any number of values as `STR ...`."""
    contained = get_args(info.type)
    if info.type_origin is not tuple or contained[1:] != (...,) or tyro.conf.UseAppendAction in info.markers:
        return None
    result = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(contained[0], info.markers))
    if not isinstance(result, PrimitiveConstructorSpec) or result.nargs != 1 or result.choices is not None:
        return None
    inner: PrimitiveConstructorSpec[Any] = result
    return PrimitiveConstructorSpec(
        nargs="*",
        metavar=f"{inner.metavar} ...",
        instance_from_str=lambda texts: tuple(inner.instance_from_str([text]) for text in texts),
        is_instance=lambda values: isinstance(values, tuple) and all(map(inner.is_instance, values)),
        str_from_instance=lambda values: [
            text for value in values for text in inner.str_from_instance(value)
        ],
    )


def table_console(piped_width: int) -> Console:
    """Return the console for tables: as wide as the terminal, or of a fixed width for files and pipes."""
    console = Console()
    return console if console.is_terminal else Console(width=piped_width)


def progress_console() -> Console:
    """Return the console for progress: stderr, ignoring errors."""
    return Console(file=_Forgiving(sys.stderr), force_jupyter=False)  # type: ignore[arg-type]


class _Forgiving:
    """A stream that ignores write errors: a progress bar must not stop hours of work."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, ignoring errors."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, ignoring errors."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

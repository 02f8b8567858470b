"""Agent specs: `name:option=value,option=value`, a run folder, or a user's own class.

Each may be followed by `+search`. A class is named by its file or module: `my_file.py:Class:option=value`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from millebornes_env.agents.options import check_ranges, defaults_of
from millebornes_env.agents.policy import files as policy_files
from millebornes_env.errors import AgentError, shown

SEARCH_SUFFIX: Final = "+search"
"""The suffix of a compiled agent's spec that adds a search over it; options follow after a colon."""

FOLDER: Final = "folder"
"""The option for a run folder; its name may be omitted."""
ROLLOUT: Final = "rollout"
"""The option that names another agent."""
POLICY: Final = "policy"
ROLLOUT_SEPARATORS: Final = ";+"
"""Separators of a rollout agent's options, in place of commas: `search:rollout=arnold:debian+openbsd,z=3`."""


class ClassName(NamedTuple):
    """A user's class, as named in a spec.

    Attributes:
        source: path of a file that ends in `.py`, or name of a module.
        name: name of the class; empty if only the file was named.
        options: the text after the class.
        is_file: True if the source is a file.
    """

    source: str
    name: str
    options: str
    is_file: bool


def is_folder(text: str) -> bool:
    """Return True if the folder exists; an empty text is not a folder (nor the current one)."""
    return bool(text) and policy_files.is_folder(text)


def is_file(text: str) -> bool:
    """Return True if the file exists."""
    try:
        return os.path.isfile(text)
    except ValueError:  # a NUL in the name
        return False


def is_path(text: str) -> bool:
    """Return True if a text that is not an agent's name is the path of a folder."""
    return is_folder(text) or ("/" in text and split_class(text) is None)


def split_class(spec: str) -> ClassName | None:
    """Split a spec into the file or module, the class and its options; None: it names no class, or a folder.

    A path may have any name, so the first existing file is used.
    """
    if is_folder(spec):
        return None
    ends = [result.end() for result in re.finditer(r"\.py(?=:|$)", spec)]
    if ends:
        end = next((end for end in ends if is_file(spec[:end])), ends[0])
        name, _, options = spec[end + 1 :].partition(":")
        return ClassName(spec[:end], name, options, is_file=True)
    source, _, rest = spec.partition(":")
    name, _, options = rest.partition(":")
    if not (name.isidentifier() and all(part.isidentifier() for part in source.split("."))):
        return None
    return ClassName(source, name, options, is_file=False)


def split_search(spec: str) -> tuple[str, str | None]:
    """Split a spec `X+search:options` into X and the options; None as the options without a search.

    A run folder whose name ends in `+search` takes precedence.
    """
    rollout, result, options = spec.rpartition(SEARCH_SUFFIX)
    if not (rollout and result) or options[:1] not in ("", ":"):
        return spec, None
    folder = spec.removeprefix(f"{POLICY}:")
    if is_folder(folder) or is_folder(split_policy(folder)[0]):
        return spec, None
    return rollout, options[1:]


def split_policy(text: str) -> tuple[str, list[str]]:
    """Split the options of a policy into the folder and the other options.

    A folder may have any name: if the whole text is an existing folder, it is used. Otherwise known options
    are removed at both ends, and the rest is the folder.
    """
    parts = text.split(",")
    before = next((index for index, part in enumerate(parts) if not _is_mode(part)), len(parts))
    behind = next((index for index, part in enumerate(reversed(parts)) if not _is_mode(part)), 0)
    result = parts[before : len(parts) - behind], parts[:before] + parts[len(parts) - behind :]
    for first in range(before + 1):
        for end in range(len(parts), len(parts) - behind - 1, -1):
            folder = ",".join(parts[first:end]).removeprefix(f"{FOLDER}=")
            if is_folder(folder):
                return folder, parts[:first] + parts[end:]
    return ",".join(result[0]).removeprefix(f"{FOLDER}="), result[1]


def _is_mode(part: str) -> bool:
    return part.startswith("mode=")


def options_of(spec: str, maker: Callable[..., Any], text: str) -> dict[str, Any]:
    """Parse the options in `text`, with the types of their defaults and within their ranges.

    Raises:
        AgentError: an option of the `spec` is unknown, is given twice, or has an invalid value.
    """
    known = defaults_of(maker)
    options: dict[str, Any] = {}
    for part in _parts(spec, text, known):
        name, equals, value = part.partition("=")
        if name not in known:
            raise AgentError(
                f"{shown(spec)}: unknown option {shown(name)}; the options are {', '.join(known) or 'none'}"
            )
        if name in options:
            raise AgentError(f"{shown(spec)}: the option {name} is given twice")
        try:
            options[name] = _value(value, known[name], equals)
        except (ValueError, KeyError, OverflowError, TypeError):
            raise AgentError(
                f"{shown(spec)}: the option {name} is {shown(value)}; it must be like {known[name]!r}"
            ) from None
    check_ranges(spec, maker, options)
    return options


def _parts(spec: str, text: str, known: Mapping[str, Any]) -> list[str]:
    """Split a text at its commas, except for those in the name of a folder."""
    if FOLDER in known:
        return _parts_of_policy(spec, text, known)
    left, parts = [part for part in text.split(",") if part], []
    while left:
        count = _parts_of_rollout(left) if left[0].startswith(f"{ROLLOUT}=") else 1
        parts.append(",".join(left[:count]))
        left = left[count:]
    return parts


def _parts_of_rollout(parts: Sequence[str]) -> int:
    """Count the leading parts that form the folder or file of a rollout agent; 1 if none do."""
    for count in range(len(parts), 0, -1):
        agent = ",".join(parts[:count]).partition("=")[2]
        named = split_class(agent)
        if named is not None and named.is_file and "," not in named.options and is_file(named.source):
            return count
        if is_folder(agent) or is_folder(split_policy(agent.removeprefix(f"{POLICY}:"))[0]):
            return count
    return 1


def _parts_of_policy(spec: str, text: str, known: Mapping[str, Any]) -> list[str]:
    folder, options = split_policy(text)
    if not is_folder(folder):
        shorter = folder
        while "," in shorter:  # an existing folder followed by an unknown option
            shorter, _, rest = shorter.rpartition(",")
            if is_folder(shorter):
                name = rest.partition("=")[0]
                raise AgentError(
                    f"{shown(spec)}: unknown option {shown(name)}; the options are {', '.join(known)}"
                )
    return ([f"{FOLDER}={folder}"] if folder else []) + options


def _value(text: str, default: Any, equals: str) -> Any:
    """Parse the value of an option, with the type of its default; a boolean option needs no value."""
    if isinstance(default, bool):
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
            text.lower() if equals else "1"
        ]
    return type(default)(text)


def rollout_spec(rollout: str) -> str:
    """Convert the spec of a rollout agent to one for `agents.load`, with commas between its options.

    In the path of a folder ROLLOUT_SEPARATORS are ordinary characters, except before `mode=` and `folder=`.
    """
    name, colon, rest = rollout.partition(":")
    if is_folder(rest) or is_folder(rollout):
        return rollout
    either = f"[{re.escape(ROLLOUT_SEPARATORS)}]"
    named = split_class(rollout)
    if named is not None and named.options:
        options = re.sub(either, ",", named.options)
        return f"{named.source}:{named.name}:{options}"
    if named is not None and named.is_file:
        return rollout
    if name == POLICY or is_path(rollout):
        return f"{name}{colon}" + re.sub(rf"{either}(?=(?:mode|{FOLDER})=)", ",", rest)
    return f"{name}{colon}" + re.sub(either, ",", rest)

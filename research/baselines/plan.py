"""The plan, a YAML file of methods with their decks, budgets and options."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from millebornes_env._util.command_line import sentence
from millebornes_env.errors import MilleBornesError, MissingExtraError, shown
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as game_of

T = TypeVar("T")
PROTOCOL: Final = 1
"""Version of the protocol (docs/research/protocol.md) that this code measures."""
_ENTRIES: Final = ("run", "decks", "seeds", "options")  # of a method
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+=.-]*")
"""Files are named after methods."""


@dataclass(frozen=True)
class Method:
    """A method that produces a policy.

    Attributes:
        name: name in tables.
        run: name of the function that runs it, a key of `research.baselines.methods.RUNS`.
        decks: budget of decisions by deck; 0 for a method that does not learn.
        seeds: largest number of seeds by deck; 1 for a deterministic method.
        options: options of the function.
    """

    name: str
    run: str
    decks: Mapping[str, int]
    seeds: Mapping[str, int]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """A plan of methods.

    Attributes:
        methods: the methods, in the order of the file.
        protocol: version of the protocol that the plan follows; 0 for a plan of one's own.
    """

    methods: Sequence[Method]
    protocol: int = 0


def read_plan(path: Path, runs: Mapping[str, type], learners: Collection[str] = ()) -> Plan:
    """Read a plan.

    Args:
        path: path of the YAML file.
        runs: names of the functions that run methods, with the dataclasses of their options.
        learners: names of the functions that need a budget of decisions.

    Raises:
        MilleBornesError: the plan is invalid; the message names the entry and its valid values.
        MissingExtraError: PyYAML is not installed.
    """
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of(f"the plan {str(path)!r}", missing, "train") from None
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise MilleBornesError(f"the plan {str(path)!r} cannot be read ({sentence(error)})") from None
    methods = content.get("methods") if isinstance(content, dict) else None
    if not isinstance(methods, dict) or not methods:
        raise MilleBornesError(f"the plan {str(path)!r} has no entry 'methods': add one with the methods")
    protocol = content.get("protocol", 0)
    if protocol not in (0, PROTOCOL):
        raise MilleBornesError(
            f"the plan {str(path)!r} follows protocol {shown(protocol)}; this version measures protocol "
            f"{PROTOCOL}: use the version of millebornes_env that the plan comes from, or leave the entry out"
        )
    result = [_method(str(path), str(name), given, runs) for name, given in methods.items()]
    for number, method in enumerate(result):
        where = f"{path}, method {shown(method.name)}"
        if method.run in learners and 0 in method.decks.values():
            raise MilleBornesError(f"{where}: a deck has 0 decisions; {method.run} needs 1 or more")
        _check_over(where, checked(runs[method.run], method.options, where), method, result[:number])
    return Plan(result, int(protocol))


def _check_over(where: str, options: Any, method: Method, above: Sequence[Method]) -> None:
    """Check that the method whose network is reused comes earlier, on the same decks."""
    over = getattr(options, "over", None)
    if not over:
        return
    learned = {deck: one.seeds[deck] for one in above if one.name == over for deck in one.decks}
    if missing := [deck for deck in method.decks if deck not in learned]:
        raise MilleBornesError(
            f"{where}: over is {shown(over)}; it must be a method above it in the plan that learns "
            f"{missing[0]}, too"
        )
    if fewer := [deck for deck in method.decks if learned[deck] < method.seeds[deck]]:
        raise MilleBornesError(
            f"{where}: it has {method.seeds[fewer[0]]} seeds on {fewer[0]}, but {over}, whose networks it "
            f"uses, has {learned[fewer[0]]}: give at most as many"
        )


def _method(path: str, name: str, given: Any, runs: Mapping[str, type]) -> Method:
    where = f"{path}, method {shown(name)}"
    if not _NAME.fullmatch(name):
        raise MilleBornesError(f"{where}: a name consists of letters, digits and _ + = . -")
    if not isinstance(given, dict):
        raise MilleBornesError(f"{where}: it is {shown(given)}; it needs 'run' and 'decks'")
    if unknown := sorted(set(map(str, given)) - set(_ENTRIES)):
        raise MilleBornesError(
            f"{where}: there is no entry {shown(unknown[0])}; there are {', '.join(_ENTRIES)}"
        )
    run, decks, seeds = given.get("run"), given.get("decks"), given.get("seeds", 10)
    if not isinstance(run, str) or run not in runs:
        raise MilleBornesError(f"{where}: run is {shown(run)}; it may be {', '.join(runs)}")
    if not isinstance(decks, dict) or not decks:
        raise MilleBornesError(
            f"{where}: decks is {shown(decks)}; it needs decks and decisions, as 'mini7: 100000'"
        )
    of_decks = {deck: _of_deck(where, deck, given, seeds) for deck, given in decks.items()}
    options = given.get("options") or {}
    checked(runs[str(run)], options, where)
    samples = {deck: result[0] for deck, result in of_decks.items()}
    return Method(name, str(run), samples, {deck: of[1] for deck, of in of_decks.items()}, dict(options))


def _of_deck(where: str, deck: Any, given: Any, seeds: Any) -> tuple[int, int]:
    """Parse decisions and seeds of a deck: `mini7: 1000`, or `mini7: {samples: 1000, seeds: 3}`."""
    try:
        sheet = find_edition(deck)
        game_of(sheet.game).hook("solving.solvable", "the exploitability of policies")(sheet)
    except (MilleBornesError, TypeError) as error:
        raise MilleBornesError(f"{where}, deck {shown(deck)}: {sentence(error)}") from None
    if isinstance(given, dict) and set(given) <= {"samples", "seeds"}:
        given, seeds = given.get("samples", 0), given.get("seeds", seeds)
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise MilleBornesError(f"{where}, deck {deck}: seeds is {shown(seeds)}; it must be 1 or more")
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise MilleBornesError(
            f"{where}, deck {deck}: {shown(given)} is not a number of decisions, 0 or more"
        )
    return given, seeds


def checked(options: type[T], given: Any, where: str) -> T:
    """Build a dataclass of options from the values of a file.

    Args:
        options: the dataclass; each of its fields has a default.
        given: values by name.
        where: location of the values, for the message.

    Raises:
        MilleBornesError: there is no such option, or its value has another type than the default.
    """
    if not isinstance(given, Mapping):
        raise MilleBornesError(f"{where}: options is {shown(given)}; it must be names and values")
    fields = {field.name: field for field in dataclasses.fields(options)}  # type: ignore[arg-type]
    values = {}
    for name, value in given.items():
        if name not in fields:
            raise MilleBornesError(
                f"{where}: there is no option {shown(name)}; there are {', '.join(sorted(fields))}"
            )
        default = fields[name].default
        values[name] = tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value
        if not _is_like(values[name], default):
            raise MilleBornesError(
                f"{where}: {name} is {shown(value)}; it must be {_kind(default)}, such as {default!r}"
            )
    return options(**values)


def _is_like(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, tuple) and isinstance(value, tuple):
        return all(_is_like(one, default[0]) for one in value) if default else True
    return isinstance(value, type(default))


def _kind(default: Any) -> str:
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "text", tuple: "a list"}
    return kinds[type(default)]

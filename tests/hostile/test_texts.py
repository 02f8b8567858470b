"""Every argument of notation and JSON Lines with every wrong value: refused, or fine.

`tests/notation` changes the words and entries of texts and files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from millebornes_env import vector_env
from millebornes_env.notation import (
    Play,
    Position,
    Record,
    read_action,
    read_jsonl,
    read_position,
    read_record,
    record_of,
    replay,
    write_action,
    write_jsonl,
    write_position,
    write_record,
)
from tests.hostile.table import Argument, judge_all, of_arrays
from tests.hostile.values import LAYOUTS, SAME_LAYOUTS, SHAPES

INDEX = "0|1|int8(1)|scalar array"
NO_ITEMS = "no text|[]|{}|no numbers"
FILES = "blank|x|text 0|lines|str_|Path"
"""Names that files may have."""
SAME_STATES = (SAME_LAYOUTS | {"broadcast"}) - {"list", "big-endian"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Texts:
    """A position, the record of a game from there, and what they are written as."""

    def __init__(self) -> None:
        env = vector_env(1, seed=3, autoreset_mode="disabled")
        env.reset()
        self.position = Position(env.edition, env.rules, env.get_states())
        actions = []
        while not env.games.buffers.terminations[0]:
            actions.append(int(env.sample_actions()[0]))
            env.step(actions[-1:])
        self.actions = actions
        self.record = record_of(self.position, actions)
        self.position_text, self.record_text = str(self.position), str(self.record)

    def is_untouched(self) -> bool:
        return str(self.position) == self.position_text and str(self.record) == self.record_text

    def check(self, result: Any) -> None:
        """Check that a result, once written, reads back the same."""
        if isinstance(result, Position):
            assert read_position(str(result), edition=result.edition) == result
        if isinstance(result, Record):
            assert read_record(str(result), edition=result.position.edition).plays == result.plays


ONE = Texts()
"""Tests do not change it; making one plays a round."""


def text(name: str, call: Callable[[Texts, Any], Any], fine: str = "", **more: Any) -> Argument:
    return Argument(name, lambda: ONE, call, frozenset(filter(None, fine.split("|"))), **more)


def with_state(world: Texts, state: Any) -> Position:
    return Position(world.position.edition, world.position.rules, state)


NOTATION = [
    text("read_position(text)", lambda _, value: read_position(value)),
    text("read_position(edition)", lambda world, value: read_position("", edition=value)),
    text("read_position(players)", lambda world, value: read_position("", players=value)),
    text("read_position(teams)", lambda world, value: read_position("", teams=value)),
    text("read_record(text)", lambda _, value: read_record(value)),
    text("read_record(edition)", lambda _, value: read_record("", edition=value)),
    text("read_action(text)", lambda world, value: read_action(value, world.position.rules, 0)),
    text("read_action(rules)", lambda _, value: read_action("25", value, 0)),
    text("read_action(seat)", lambda world, value: read_action("25", world.position.rules, value), INDEX),
    text("write_action(action)", lambda world, value: write_action(value, world.position.rules, 0), INDEX),
    text("write_action(rules)", lambda _, value: write_action(0, value, 0)),
    text("write_action(seat)", lambda world, value: write_action(0, world.position.rules, value), INDEX),
    text(
        "write_position(state)",
        lambda world, value: write_position(value, world.position.edition, world.position.rules),
    ),
    text(
        "write_position(state as an array)",
        lambda world, value: write_position(value, world.position.edition, world.position.rules),
        "|".join(SAME_STATES | {"one row", "a dimension more", "a dimension behind"}),
        values=of_arrays(lambda world: world.position.state),
    ),
    text(
        "write_position(edition)",
        lambda world, value: write_position(world.position.state, value, world.position.rules),
    ),
    text(
        "write_position(rules)",
        lambda world, value: write_position(world.position.state, world.position.edition, value),
    ),
    text("str(Position(state))", lambda world, value: str(with_state(world, value))),
    text("record_of(position)", lambda _, value: record_of(value, [])),
    text("record_of(its state)", lambda world, value: record_of(with_state(world, value), [])),
    text(
        "record_of(its state as an array)",
        lambda world, value: record_of(with_state(world, value), []),
        "|".join(SAME_STATES),
        values=of_arrays(lambda world: world.position.state, LAYOUTS | SHAPES),
    ),
    text("record_of(actions)", lambda world, value: record_of(world.position, value), NO_ITEMS),
    text("record_of(an action)", lambda world, value: record_of(world.position, [value])),
    text("Record(position)", lambda world, value: Record(value, ())),
    text("Record(plays)", lambda world, value: Record(world.position, value)),
    text("write_record(record)", lambda _, value: write_record(value)),
    text("replay(record)", lambda _, value: list(replay(value))),
    text(
        "replay(a play's seat)",
        lambda world, value: list(replay(Record(world.position, (Play(value, world.actions[0]),)))),
        "0|scalar array",
    ),
    text(
        "replay(a play's action)",
        lambda world, value: list(replay(Record(world.position, (Play(0, value),)))),
    ),
    text(
        "write_record(a result)",
        lambda world, value: write_record(Record(world.position, world.record.plays, value)),
        "None",
    ),
    text("read_jsonl(path)", lambda _, value: list(read_jsonl(value)), also=(OSError,)),
    text(
        "write_jsonl(path)", lambda world, value: write_jsonl(value, [world.record]), FILES, also=(OSError,)
    ),
    text("write_jsonl(records)", lambda _, value: write_jsonl("some.jsonl", value), NO_ITEMS),
    text("write_jsonl(a record)", lambda world, value: write_jsonl("some.jsonl", [world.record, value])),
]


def test_notation_and_json_lines() -> None:
    judge_all(NOTATION)

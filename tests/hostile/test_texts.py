"""Every argument of notation, JSON Lines and SB3's faces with every wrong value: refused, or fine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from millebornes_env import vector_env
from millebornes_env.errors import ResetNeededError
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
from tests.envs.playing import snapshot
from tests.hostile.table import Argument, check_games, judge_all, of_arrays
from tests.hostile.values import LAYOUTS, SAME_LAYOUTS, SAME_NUMBERS, SHAPES

INDEX = "0|1|int8(1)|scalar array"
NO_ITEMS = "no text|[]|{}|no numbers"
FILES = "blank|x|text 0|lines|braces|str_|Path"
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
        """What was read is written, and reads back the same."""
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


def written(**entries: Any) -> list[Record]:
    """A file of JSON Lines with one entry of the record changed, and read."""
    record = {"format": 1, "position": {}, "plays": []} | entries
    try:
        line = json.dumps(record, default=repr, skipkeys=True)
    except (ValueError, RecursionError):  # not to be written as JSON
        line = json.dumps(record | dict.fromkeys(entries, "x"))
    Path("one.jsonl").write_text(line, encoding="utf-8")
    return list(read_jsonl("one.jsonl"))


KINDS: dict[str, Callable[[Texts], bytes]] = {
    "empty": lambda _: b"",
    "blank lines": lambda _: b"\n\n \r\n",
    "zeros": lambda _: b"\0" * 10_000,
    "UTF-16": lambda world: world.record_text.encode("utf-16"),
    "Latin-1": lambda _: b"\xe9t\xe9",
    "two byte order marks": lambda _: b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "deep list": lambda _: b"[" * 200_000,
    "deep object": lambda _: b'{"plays":' * 200_000,
    "a number": lambda _: b"5",
    "NaN": lambda _: b'{"format": NaN}',
    "endless line": lambda _: b'"' + b"x" * (1 << 24) + b"x",
    "twice": lambda _: b'{"plays": [], "plays": []}',
    "cut off": lambda world: json.dumps({"format": 1, "position": world.position_text}).encode()[:-9],
    "surrogates": lambda _: b'{"format": 1, "position": {"\\ud800": "\\udfff"}, "plays": []}',
    "huge number": lambda _: b'{"format": ' + b"9" * 10_000 + b"}",
    "a picture": lambda _: b"\x89PNG\r\n\x1a\n\0\0\0",
}


def read_bytes(content: bytes) -> list[Record]:
    Path("some.jsonl").write_bytes(content)
    return list(read_jsonl("some.jsonl"))


def replaced(line: int, words: str) -> Callable[[Texts], str]:
    """The position with the words of one of its lines changed."""

    def change(world: Texts) -> str:
        lines = world.position_text.splitlines()
        name = lines[line % len(lines)].partition(":")[0]
        lines[line % len(lines)] = f"{name}: {words}"
        return "\n".join(lines)

    return change


WORDS = ("", "-1", "none none", "9" * 20, "1.5", "25 25x", "\0", "stop on", "seat 9", "key", "(top unknown)")
CHANGED_LINES = {f"line {line}: {words!r}": replaced(line, words) for line in range(16) for words in WORDS}

NOTATION = [
    text("read_position(text)", lambda _, value: read_position(value)),
    text("read_position(changed)", lambda _, value: read_position(value), values=CHANGED_LINES),
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
    text("read_jsonl(content)", lambda _, value: read_bytes(value), "empty|blank lines", values=KINDS),
    text("read_jsonl(format)", lambda _, value: written(format=value)),
    text("read_jsonl(a position)", lambda _, value: written(position=value)),
    text("read_jsonl(plays)", lambda _, value: written(plays=value)),
    text("read_jsonl(a play)", lambda _, value: written(plays=[value])),
    text("read_jsonl(a result)", lambda _, value: written(result=value)),
    text(
        "write_jsonl(path)", lambda world, value: write_jsonl(value, [world.record]), FILES, also=(OSError,)
    ),
    text("write_jsonl(records)", lambda _, value: write_jsonl("some.jsonl", value), NO_ITEMS),
    text("write_jsonl(a record)", lambda world, value: write_jsonl("some.jsonl", [world.record, value])),
]


def test_notation_and_json_lines() -> None:
    judge_all(NOTATION)


# Stable-Baselines3 ------------------------------------------------------------------------------------------

INDICES = f"None|[0]|[0, 0, 0]|set|generator|{NO_ITEMS}|{INDEX}"
SEEDS = f"2**31|2**63|{INDEX}"


def good(rows: Any, masks: Any) -> Any:
    return masks.argmax(axis=1)


class Learners:
    """An environment of Stable-Baselines3 and its twin, some steps on."""

    def __init__(self) -> None:
        from millebornes_env.envs.sb3 import OpponentVecEnv  # noqa: PLC0415 - it takes PyTorch along

        self.env, self.twin = (OpponentVecEnv(vector_env(4, seed=1), [good]) for _ in range(2))
        for env in (self.env, self.twin):
            env.reset()
            env.step(env.action_masks().argmax(axis=1))

    def is_untouched(self) -> bool:
        for env in (self.env, self.twin):
            env.step(env.action_masks().argmax(axis=1))
        return (
            snapshot(self.env.games) == snapshot(self.twin.games)
            and self.env._decisions.tolist() == self.twin._decisions.tolist()
            and self.env._returns.tolist() == self.twin._returns.tolist()
        )

    def check(self, result: Any) -> None:
        if good in getattr(result, "_opponents", []):
            result.reset()
            result.step(result.action_masks().argmax(axis=1))
            check_games(result.games)
        self.env.reset()
        assert self.env.action_masks().any(axis=1).all()
        assert (self.env.games.agent_selection == self.env.seats).all()


class AfterResets(Learners):
    """Its calls end with a reset, so that it is not where its twin is."""

    def is_untouched(self) -> bool:
        self.env.reset()
        return True


def answered(world: Any, value: Any) -> Any:
    """An opponent answers the value: the environment asks for a reset then, and shows nobody's hand."""
    env = world.env
    env.reset()
    env._opponents = [lambda rows, masks: value]
    try:
        for _ in range(200):  # one of the first is played in some game
            env.step(env.action_masks().argmax(axis=1))
    except Exception:
        env._opponents = [good]
        for use in (env.action_masks, lambda: env.step(env.games.sample_actions()), env.step_wait):
            with pytest.raises(ResetNeededError):
                use()
        env.reset()
        env.step(env.action_masks().argmax(axis=1))
        check_games(env.games)
        raise


def test_stable_baselines3() -> None:
    sb3 = pytest.importorskip("millebornes_env.envs.sb3", exc_type=ImportError)
    versus, alone, functions = sb3.OpponentVecEnv, sb3.SelfPlayVecEnv, "a function|a class"

    def face(name: str, call: Callable[[Any, Any], Any], fine: str = "", **more: Any) -> Argument:
        return Argument(name, Learners, call, frozenset(filter(None, fine.split("|"))), **more)

    def fresh() -> Any:
        return vector_env(4, seed=1)

    def with_action(world: Any, value: Any) -> Any:
        return world.env.step([*world.env.action_masks().argmax(axis=1)[1:].tolist(), value])

    judge_all(
        [
            face("OpponentVecEnv(games)", lambda _, value: versus(value, [good])),
            face("OpponentVecEnv(opponents)", lambda _, value: versus(fresh(), value)),
            face("OpponentVecEnv(an opponent)", lambda _, value: versus(fresh(), [value]), functions),
            face("seat", lambda _, value: versus(fresh(), [good], seat=value), f"None|{INDEX}"),
            face("render_mode", lambda _, value: versus(fresh(), [good], render_mode=value), "None"),
            face("SelfPlayVecEnv(games)", lambda _, value: alone(value)),
            face("SelfPlayVecEnv(sparring)", lambda _, value: alone(fresh(), sparring=value), "[]"),
            face(
                "sparring_share",
                lambda _, value: alone(fresh(), sparring=[good], sparring_share=value),
                "0|1|1.0|float64(1)|int8(1)",
            ),
            face("set_policy(policy)", lambda _, value: alone(fresh()).set_policy(value), functions),
            face("uniform_policy(seed)", lambda _, value: sb3.uniform_policy(value), SEEDS),
            face("step(actions)", lambda world, value: world.env.step(value)),
            face(
                "step(as an array)",
                lambda world, value: world.env.step(value),
                "|".join(SAME_NUMBERS),
                values=of_arrays(lambda world: world.env.action_masks().argmax(axis=1)),
            ),
            face("step(an action)", with_action),
            face("seed(seed)", lambda world, value: world.env.seed(value), f"None|{SEEDS}"),
            face("get_attr(indices)", lambda world, value: world.env.get_attr("seats", value), INDICES),
            face("set_attr(indices)", lambda world, value: world.env.set_attr("seats_of", 1, value), INDICES),
            face(
                "env_method(indices)",
                lambda world, value: world.env.env_method("action_masks", indices=value),
                INDICES,
            ),
            face("env_is_wrapped", lambda world, value: world.env.env_is_wrapped(dict, value), INDICES),
        ]
    )
    judge_all([Argument("an opponent's answer", AfterResets, answered)])

"""Every argument of agents and entry of a run folder with wrong values: refused in words, or fine."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents import AGENTS, load
from millebornes_env.agents.options import defaults_of
from millebornes_env.agents.protocol import Table
from tests.envs.playing import look, started
from tests.hostile.table import Argument, Games, Nothing, judge_all, of_arrays
from tests.hostile.values import SAME_NUMBERS

ONE_ENV = vector_env(1)
TABLE = Table.of(ONE_ENV)
SEEDS = {"0", "1", "int8(1)", "scalar array", "2**31", "2**63"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# Loading and making -----------------------------------------------------------------------------------------

OPTION_VALUES = (
    *("", "x", "-1", "9" * 20, "9" * 5000, "nan", "-inf", "1e300", "1e-300", "1.5", "\0", "\ud800"),
    *("0x10", "1_0", "\u0663", " 1", "true", "None", "a=b", "a:b", "+search", "x" * 5000),
)
WHOLE = {"1_0", "\u0663", " 1"}
"""What Python reads as a whole number."""
FINE_OPTIONS: dict[str, set[str]] = {
    **{
        name: {"true"}
        for name in ("extends", "score", "debian", "openbsd", "carry_need", "higher_base", "right_of_way")
    },
    **dict.fromkeys(("pile", "risk", "reserve", "cards", "near", "threads", "window"), WHOLE),
    **{name: WHOLE - {" 1"} for name in ("rollouts", "candidates")},
    "epsilon": {" 1"},
    "temperature": {"1.5", *WHOLE},
    **{name: {"1e-300", "1.5", *WHOLE} for name in ("z", "ms")},
    "sees": {""},
    "which": {"", "+search"},
}


def named(text: str) -> str:
    return repr(text)[:20]


def with_option(name: str, option: str) -> Argument:
    """An option of an agent, written down."""
    return Argument(
        f"load({name}:{option}=...)",
        Nothing,
        lambda _, value: load(f"{name}:{option}={value}", ONE_ENV),
        {named(value) for value in FINE_OPTIONS.get(option, ())},
        values={named(value): lambda _, value=value: value for value in OPTION_VALUES},
    )


class Names(Nothing):
    """The agents that have a name; what a case has added is forgotten."""

    def __init__(self) -> None:
        self.agents = dict(AGENTS)

    def is_untouched(self) -> bool:
        return self.agents == AGENTS

    def check(self, result: Any) -> None:
        AGENTS.clear()
        AGENTS.update(self.agents)


def test_loading_and_making() -> None:
    registered = {"x", "text 0", "braces", "long text", "str_"}
    calls: Iterable[tuple[str, Any, set[str], Any]] = (
        ("load(spec)", lambda _, value: load(value, ONE_ENV), set(), Nothing),
        ("load(env)", lambda _, value: load("greedy", value), set(), Nothing),
        ("load(seed)", lambda _, value: load("random", ONE_ENV, value), SEEDS, Nothing),
        ("make(table)", lambda _, value: agents.make("greedy", value), set(), Nothing),
        ("make(seed)", lambda _, value: agents.make("greedy", TABLE, value), SEEDS, Nothing),
        ("register(name)", lambda _, value: agents.register(value, AGENTS["greedy"]), registered, Names),
        (
            "register(make)",
            lambda _, value: agents.register("holder", value),
            {"a class", "a function"},
            Names,
        ),
        ("Table.of(env)", lambda _, value: Table.of(value), set(), Nothing),
    )
    judge_all(Argument(name, begin, call, fine) for name, call, fine, begin in calls)


def test_options_of_agents() -> None:
    judge_all(
        with_option(name, option)
        for name, maker in AGENTS.items()
        for option in (*defaults_of(maker), "no_such_option")
    )


# Asking -----------------------------------------------------------------------------------------------------


class Asked(Games):
    """An agent at a table, and its twin."""

    agents: ClassVar[dict[str, tuple[VectorEnv, Any, Any]]] = {}

    def __init__(self, spec: str) -> None:
        self.spec = spec
        if spec not in self.agents:
            env = started(4, steps=3)
            self.agents[spec] = env, *(self.made(spec, env) for _ in range(2))
        self.env, self.agent, self.other = self.agents[spec]
        self.rows, self.masks = look(self.env)["observation"].copy(), look(self.env)["action_mask"].copy()

    @staticmethod
    def made(spec: str, env: VectorEnv) -> Any:
        agent: Any = load(spec, env, 3)
        if spec == "human":
            agent.source, agent.sink = io.StringIO("1\n" * 10_000), io.StringIO()
        return agent

    def is_untouched(self) -> bool:
        for agent in (self.agent, self.other):
            if hasattr(agent, "forget"):
                agent.forget()
        chosen, others = (agent.act(self.rows, self.masks) for agent in (self.agent, self.other))
        return bool((chosen == others).all())

    def check(self, result: Any) -> None:
        """What it returned are actions: legal ones wherever it was asked about these games."""
        assert isinstance(result, np.ndarray)
        assert result.ndim >= 1
        chosen = self.agent.act(self.rows, self.masks)
        assert (self.masks[np.arange(len(self.rows)), chosen] == 1).all()
        if self.spec == "random":  # it has drawn numbers that its twin has not
            del self.agents[self.spec]


ANY_MASK = {
    *("bool", "broadcast", "all 127", "all -128", "all -2", "largest", "smallest", "largest uint64"),
    "chance",
}
"""Masks of whole numbers: what is not 0 is legal."""
SLOT_IDS = {*SAME_NUMBERS, "broadcast", "all 127", "chance"}


def of_act(spec: str) -> Iterator[Argument]:
    """The arguments of `act`."""
    name, is_human = spec.partition(":")[0], spec == "human"

    def argument(what: str, call: Any, fine: Iterable[str], **more: Any) -> Argument:
        return Argument(f"{name}.act({what})", lambda: Asked(spec), call, fine, **more)

    def of_rows(world: Any, value: Any) -> Any:
        return world.agent.act(value, world.masks)

    def of_masks(world: Any, value: Any) -> Any:
        return world.agent.act(world.rows, value)

    def of_slots(world: Any, value: Any) -> Any:
        return world.agent.act(world.rows, world.masks, slot_ids=value)

    same = {*SAME_NUMBERS, "float32", "broadcast", *({"bool"} if is_human else ())}
    yield argument("observations", of_rows, ())
    yield argument("observations as an array", of_rows, same, values=of_arrays(lambda world: world.rows))
    yield argument("masks", of_masks, () if is_human else {"None"})
    masks = of_arrays(lambda world: world.masks)
    yield argument("masks as an array", of_masks, {*SAME_NUMBERS, *ANY_MASK}, values=masks)
    yield argument("slot_ids", of_slots, {"None", "memoryview"})
    slots = of_arrays(lambda _: np.arange(4))
    yield argument("slot_ids as an array", of_slots, SLOT_IDS, values=slots)


SEARCH = "search:rollout=greedy,rollouts=2,threads=1"


@pytest.mark.parametrize("spec", ["greedy", "random", "strategist", "arnold", "champion", "human", SEARCH])
def test_asking(spec: str) -> None:
    judge_all(of_act(spec))


def act_on(world: Any, states: Any = None, seats: Any = None, slot_ids: Any = None) -> Any:
    games = world.env.get_states() if states is None else states[0]
    seats = world.env.agent_selection.astype(np.int32) if seats is None else seats[0]
    return world.agent.act_on(games, seats, np.arange(4) if slot_ids is None else slot_ids[0])


def test_search_on_states() -> None:
    same_states = {"read-only", "not aligned", "far apart", "backwards", "Fortran", "masked", "recarray"}
    arrays: dict[str, tuple[Callable[[Any], Any], set[str]]] = {
        "states": (lambda world: world.env.get_states(), same_states),
        "seats": (lambda world: world.env.agent_selection.astype(np.int32), set(SAME_NUMBERS)),
        "slot_ids": (lambda _: np.arange(4), SLOT_IDS),
    }

    def argument(name: str, what: str, fine: Iterable[str], **more: Any) -> Argument:
        def call(world: Any, value: Any) -> Any:
            return act_on(world, **{name: [value]})

        return Argument(f"search.act_on({name}{what})", lambda: Asked(SEARCH), call, fine, **more)

    for name, (good, fine) in arrays.items():
        judge_all(
            [
                argument(name, "", {"None", "memoryview"} if name == "slot_ids" else ()),
                argument(name, " as an array", fine, values=of_arrays(good)),
            ]
        )


class Network(Asked):
    """A policy whose network is asked by itself."""

    def __init__(self) -> None:
        super().__init__("champion")

    def check(self, result: Any) -> None:
        assert isinstance(result, np.ndarray)
        assert np.isfinite(result).all()


def test_networks() -> None:
    any_rows = {"bool", "broadcast", "none", "one short", "one more", "40,000 rows"}
    calls: dict[str, tuple[Any, Any, set[str]]] = {
        "inputs(observations)": (
            lambda world, value: world.agent.inputs(value),
            lambda world: world.rows,
            {"float32", *any_rows},
        ),
        "probabilities(observations)": (
            lambda world, value: world.agent.probabilities(value, world.masks),
            lambda world: world.rows,
            {"float32", "bool", "broadcast"},
        ),
        "probabilities(masks)": (
            lambda world, value: world.agent.probabilities(world.rows, value),
            lambda world: world.masks,
            ANY_MASK,
        ),
        **{
            f"{name}(inputs)": (
                lambda world, value, name=name: getattr(world.agent, name)(value),
                lambda world: world.agent.inputs(world.rows),
                {"float32", *any_rows, *ANY_MASK},
            )
            for name in ("logits", "values")
        },
    }
    for name, (call, good, fine) in calls.items():
        judge_all(
            [
                Argument(f"champion.{name}", Network, call),
                Argument(f"champion.{name} as an array", Network, call, SAME_NUMBERS | fine, of_arrays(good)),
            ]
        )


# Run folders ------------------------------------------------------------------------------------------------

RUN = Path("run")


class Run(Nothing):
    """A run folder that is as it should be; what a case has spoiled is written anew before the next."""

    def __init__(self) -> None:
        from tests.agents.policies import network_for, write_run  # noqa: PLC0415 - an extra

        write_run(RUN, ONE_ENV, network_for(ONE_ENV))
        self.good = {file.name: file.read_bytes() for file in RUN.iterdir()}
        self.description = json.loads(self.good["policy.json"])

    def is_untouched(self) -> bool:
        self.check(load("run", ONE_ENV))
        return True

    def check(self, result: Any) -> None:
        observations = vector_env(4).reset(seed=1)[0]
        chosen = result.act(observations["observation"], observations["action_mask"])
        assert (observations["action_mask"][np.arange(4), chosen] == 1).all()


JSON_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1.0, 1.5, 1e300, 10**20, "", "x", "\0", "2", "\ud800"),
    *([], {}, [[]], [None], [1], {"a": 1}, ["x" * 1000] * 3),
)
KEYS = (
    *("format", "editions", "players", "teams", "view", "observation_version", "features", "num_inputs"),
    *("num_actions", "activation", "num_layers", "value"),
)
FINE_ENTRIES = {
    **{key: {"2"} for key in ["format", "players", "teams", "observation_version"]},
    "features": {"False"},
    "value": {"None"},
}


def with_entry(world: Run, key: str, value: Any) -> Any:
    try:
        (RUN / "policy.json").write_text(json.dumps(world.description | {key: value}), encoding="utf-8")
        return load("run", ONE_ENV)
    finally:
        (RUN / "policy.json").write_bytes(world.good["policy.json"])


CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "zeros": b"\0" * 1000,
    "UTF-16": '{"format": 2}'.encode("utf-16"),
    "deep list": b"[" * 200_000,
    "huge number": b'{"format": ' + b"9" * 10_000 + b"}",
    "NaN": b'{"format": NaN}',
    "a picture": b"\x89PNG\r\n\x1a\n",
    "a number": b"5",
    "no end": b'{"format": 2',
    "a size beyond": (2**63).to_bytes(8, "little") + b"{}",
    "a small size": (1).to_bytes(8, "little") + b"{}",
}
KINDS_OF_FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
} | {name: lambda path, content=content: path.write_bytes(content) for name, content in CONTENTS.items()}


def with_file(world: Run, name: str, make: Callable[[Path], object]) -> Any:
    path = RUN / name
    path.unlink()
    try:
        make(path)
        return load("run", ONE_ENV)
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(world.good[name])


def test_run_folders() -> None:
    entries = {repr(value)[:20]: lambda _, value=value: value for value in JSON_VALUES}
    files = {kind: lambda _, make=make: make for kind, make in KINDS_OF_FILES.items()}
    for key in KEYS:
        judge_all(
            [
                Argument(
                    f"policy.json: {key}",
                    Run,
                    lambda world, value, key=key: with_entry(world, key, value),
                    FINE_ENTRIES.get(key, set()),
                    values=entries,
                )
            ]
        )
    for name in ("policy.json", "policy.safetensors"):
        judge_all(
            [
                Argument(
                    f"file {name}",
                    Run,
                    lambda world, make, name=name: with_file(world, name, make),
                    values=files,
                )
            ]
        )

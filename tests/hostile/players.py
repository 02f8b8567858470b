"""Every argument of agents: how they are loaded, made and asked; run folders and what may stand in them."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from millebornes_env import agents, vector_env
from millebornes_env.agents import AGENTS, load
from millebornes_env.agents.human.agent import HumanAgent
from millebornes_env.agents.options import defaults_of
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import Table
from tests.agents.policies import network_for, write_run
from tests.envs.playing import look
from tests.hostile.table import Argument, Games, Nothing, of_arrays
from tests.hostile.values import ARRAYS, SAME_NUMBERS
from tests.hostile.vector import INDEX

FACE = "run folders and agents"
ONE_ENV = vector_env(1)
TABLE = Table.of(ONE_ENV)
RUN = "run"


def arguments(
    name: str, call: Callable[[Any, Any], Any], fine: Any = (), begin: Any = Nothing, **more: Any
) -> Argument:
    return Argument(FACE, name, begin, call, frozenset(fine), **more)


# Loading and making -----------------------------------------------------------------------------------------

SEEDS = {"2**31", "2**63", *INDEX}
OPTION_VALUES = (
    *("", "x", "-1", "9" * 20, "9" * 5000, "nan", "inf", "-inf", "1e300", "1e-300", "1.5", "\0", "\ud800"),
    *("0x10", "1_0", "\u0663", " 1", "true", "None", "a=b", "a:b", "+search", "x" * 5000),
)
WHOLE = {"1_0", "\u0663", " 1"}
"""What Python reads as a whole number."""
FINE_OPTIONS: dict[str, set[str]] = {
    **dict.fromkeys(  # noqa: RUF024 - nobody changes them
        ("extends", "score", "debian", "openbsd", "carry_need", "higher_base", "right_of_way"), {"true"}
    ),
    **dict.fromkeys(("pile", "risk", "reserve", "cards", "near", "threads", "window"), WHOLE),
    **dict.fromkeys(("rollouts", "candidates"), WHOLE - {" 1"}),
    "epsilon": {" 1"},
    "temperature": {"1.5", *WHOLE},
    **dict.fromkeys(("z", "ms"), {"1e-300", "1.5", *WHOLE}),  # noqa: RUF024 - nobody changes them
    "sees": {""},
    "which": {"", "+search"},
}


def with_option(name: str, option: str) -> Argument:
    """An option of an agent, written down."""
    return arguments(
        f"load({name}:{option}=...)",
        lambda _, value: load(f"{name}:{option}={value}", ONE_ENV),
        {repr(value)[:20] for value in FINE_OPTIONS.get(option, ())},
        values={repr(value)[:20]: lambda _, value=value: value for value in OPTION_VALUES},
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


REGISTERED = {"x", "text 0", "braces", "long text", "str_", "WrongText"}


loading = [
    arguments("load(spec)", lambda _, value: load(value, ONE_ENV)),
    arguments("load(env)", lambda _, value: load("greedy", value)),
    arguments("load(seed)", lambda _, value: load("random", ONE_ENV, value), SEEDS),
    arguments("make(table)", lambda _, value: agents.make("greedy", value)),
    arguments("make(seed)", lambda _, value: agents.make("greedy", TABLE, value), SEEDS),
    arguments("register(name)", lambda _, value: agents.register(value, AGENTS["greedy"]), REGISTERED, Names),
    arguments(
        "register(make)", lambda _, value: agents.register("holder", value), {"a class", "a function"}, Names
    ),
    arguments("Table.of(env)", lambda _, value: Table.of(value)),
    *(
        with_option(name, option)
        for name, maker in AGENTS.items()
        for option in (*defaults_of(maker), "no_such_option")
    ),
]


# Asking -----------------------------------------------------------------------------------------------------


class Asked(Games):
    """An agent at a table, and its twin."""

    spec = "greedy"

    def __init__(self) -> None:
        super().__init__()
        self.agent, self.other = self.made(), self.made()
        self.rows, self.masks = look(self.env)["observation"].copy(), look(self.env)["action_mask"].copy()

    def made(self) -> Any:
        agent = load(self.spec, self.env, 3)
        if isinstance(agent, HumanAgent):
            agent.source, agent.sink = io.StringIO("1\n" * 1000), io.StringIO()
        return agent

    def is_untouched(self) -> bool:
        chosen, others = (agent.act(self.rows, self.masks) for agent in (self.agent, self.other))
        return bool((chosen == others).all())

    def check(self, result: Any) -> None:
        """What it returned are actions: legal ones wherever it was asked about these games."""
        assert isinstance(result, np.ndarray)
        assert result.ndim >= 1
        chosen = self.agent.act(self.rows, self.masks)
        assert (self.masks[np.arange(len(self.rows)), chosen] == 1).all()


class AskedRandom(Asked):
    spec = "random"


class AskedStrategist(Asked):
    spec = "strategist"


class AskedArnold(Asked):
    spec = "arnold"


class AskedChampion(Asked):
    spec = "champion"


class AskedHuman(Asked):
    spec = "human"


class AskedSearch(Asked):
    spec = "search:rollout=greedy,rollouts=2,threads=1"


ANY_MASK = {
    "bool",
    "broadcast",
    "all 127",
    "all -128",
    "all -2",
    "largest",
    "smallest",
    "largest uint64",
    "chance",
}
"""Masks of whole numbers: what is not 0 is legal."""


def asking(begin: type[Asked]) -> list[Argument]:
    name = begin.spec.partition(":")[0]
    looks_at_ranges_only = {"bool"} if begin is AskedHuman else set()
    return [
        arguments(
            f"{name}.act(observations)", lambda world, value: world.agent.act(value, world.masks), (), begin
        ),
        arguments(
            f"{name}.act(observations as an array)",
            lambda world, value: world.agent.act(value, world.masks),
            {*SAME_NUMBERS, "float32", "float64", "broadcast", *looks_at_ranges_only},
            begin,
            values=of_arrays(ARRAYS, lambda world: world.rows),
        ),
        arguments(
            f"{name}.act(masks)",
            lambda world, value: world.agent.act(world.rows, value),
            {"None"} - ({"None"} if begin is AskedHuman else set()),
            begin,
        ),
        arguments(
            f"{name}.act(masks as an array)",
            lambda world, value: world.agent.act(world.rows, value),
            {*SAME_NUMBERS, *ANY_MASK},
            begin,
            values=of_arrays(ARRAYS, lambda world: world.masks),
        ),
        arguments(
            f"{name}.act(slot_ids)",
            lambda world, value: world.agent.act(world.rows, world.masks, slot_ids=value),
            {"None", "memoryview"},
            begin,
        ),
        arguments(
            f"{name}.act(slot_ids as an array)",
            lambda world, value: world.agent.act(world.rows, world.masks, slot_ids=value),
            {*SAME_NUMBERS, "broadcast", "all 127", "chance"},
            begin,
            values=of_arrays(ARRAYS, lambda _: np.arange(4)),
        ),
    ]


def act_on(world: Any, states: Any = None, seats: Any = None, slot_ids: Any = None) -> Any:
    games = world.env.get_states() if states is None else states[0]
    seats = world.env.agent_selection.astype(np.int32) if seats is None else seats[0]
    return world.agent.act_on(games, seats, np.arange(4) if slot_ids is None else slot_ids[0])


SAME_STATES = {"read-only", "not aligned", "far apart", "backwards", "Fortran", "masked", "recarray"}

searching = [
    *(
        arguments(
            f"search.act_on({name})",
            lambda world, value, name=name: act_on(world, **{name: [value]}),
            {"None", "memoryview"} if name == "slot_ids" else (),
            AskedSearch,
        )
        for name in ("states", "seats", "slot_ids")
    ),
    arguments(
        "search.act_on(states as an array)",
        lambda world, value: act_on(world, [value]),
        SAME_STATES,
        AskedSearch,
        values=of_arrays(ARRAYS, lambda world: world.env.get_states()),
    ),
    arguments(
        "search.act_on(seats as an array)",
        lambda world, value: act_on(world, None, [value]),
        SAME_NUMBERS,
        AskedSearch,
        values=of_arrays(ARRAYS, lambda world: world.env.agent_selection.astype(np.int32)),
    ),
    arguments(
        "search.act_on(slot_ids as an array)",
        lambda world, value: act_on(world, None, None, [value]),
        {*SAME_NUMBERS, "broadcast", "all 127", "chance"},
        AskedSearch,
        values=of_arrays(ARRAYS, lambda _: np.arange(4)),
    ),
]

KINDS = (Asked, AskedRandom, AskedStrategist, AskedArnold, AskedChampion, AskedHuman, AskedSearch)
asked = [argument for begin in KINDS for argument in asking(begin)]


class Network(AskedChampion):
    """A policy whose network is asked by itself."""

    def check(self, result: Any) -> None:
        assert isinstance(result, np.ndarray)
        assert np.isfinite(result).all()


def inputs_of(world: Any) -> Any:
    return world.agent.inputs(world.rows)


ANY_ROWS = {"bool", "broadcast", "none", "one short", "one more", "40,000 rows"}
FINE_FOR_NETWORKS = {
    "inputs(observations)": {*SAME_NUMBERS, "float32", "float64", *ANY_ROWS},
    "probabilities(observations)": {*SAME_NUMBERS, "float32", "float64", "bool", "broadcast"},
    "probabilities(masks)": {*SAME_NUMBERS, *ANY_MASK},
    **dict.fromkeys(  # noqa: RUF024 - nobody changes them
        ("logits(inputs)", "values(inputs)"),
        {*SAME_NUMBERS, "float32", "float64", *ANY_ROWS, *ANY_MASK},
    ),
}

network = [
    argument
    for name, call in {
        "inputs(observations)": lambda world, value: world.agent.inputs(value),
        "probabilities(observations)": lambda world, value: world.agent.probabilities(value, world.masks),
        "probabilities(masks)": lambda world, value: world.agent.probabilities(world.rows, value),
        "logits(inputs)": lambda world, value: world.agent.logits(value),
        "values(inputs)": lambda world, value: world.agent.values(value),
    }.items()
    for argument in (
        arguments(f"champion.{name}", call, (), Network),
        arguments(
            f"champion.{name} as an array",
            call,
            FINE_FOR_NETWORKS[name],
            Network,
            values=of_arrays(
                ARRAYS,
                inputs_of
                if "inputs)" in name
                else (lambda world: world.masks)
                if "masks" in name
                else (lambda world: world.rows),
            ),
        ),
    )
]


# Run folders ------------------------------------------------------------------------------------------------


class Run(Nothing):
    is_kept = False
    """A run folder that is as it should be; it is written anew for each case."""

    def __init__(self) -> None:
        self.folder = write_run(Path(RUN), ONE_ENV, network_for(ONE_ENV))
        self.description = json.loads((self.folder / "policy.json").read_text())

    def is_untouched(self) -> bool:
        write_run(Path(RUN), ONE_ENV, network_for(ONE_ENV))
        return isinstance(load(RUN, ONE_ENV), PolicyAgent)

    def check(self, result: Any) -> None:
        observations = vector_env(4).reset(seed=1)[0]
        chosen = result.act(observations["observation"], observations["action_mask"])
        assert (observations["action_mask"][np.arange(4), chosen] == 1).all()


JSON_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1.0, 2.0, 1.5, 1e300, 10**20, "", "x", "\0", "2", "\ud800"),
    *([], {}, [[]], [None], [1], {"a": 1}, ["x" * 1000] * 3),
)
KEYS = (
    *("format", "editions", "players", "teams", "view", "observation_version", "features", "num_inputs"),
    *("num_actions", "activation", "num_layers", "value"),
)
FINE_ENTRIES: dict[str, set[str]] = {
    "format": {"2"},
    "players": {"2"},
    "teams": {"2"},
    "features": {"False"},
    "observation_version": {"2"},
    "value": {"None"},
}


def with_entry(world: Run, key: str, value: Any) -> Any:
    text = json.dumps(world.description | {key: value})
    (world.folder / "policy.json").write_text(text, encoding="utf-8")
    return load(RUN, ONE_ENV)


CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "zeros": b"\0" * 1000,
    "UTF-16": '{"format": 2}'.encode("utf-16"),
    "deep list": b"[" * 200_000,
    "deep object": b'{"format":' * 200_000,
    "huge number": b'{"format": ' + b"9" * 10_000 + b"}",
    "NaN": b'{"format": NaN}',
    "a picture": b"\x89PNG\r\n\x1a\n",
    "a number": b"5",
    "no end": b'{"format": 2',
    "a size beyond": (2**63).to_bytes(8, "little") + b"{}",
    "a small size": (1).to_bytes(8, "little") + b"{}",
}


def with_file(world: Run, name: str, make: Callable[[Path], object]) -> Any:
    path = world.folder / name
    path.unlink()
    try:
        make(path)
        return load(RUN, ONE_ENV)
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        path.unlink(missing_ok=True)


def to_itself(path: Path) -> None:
    path.symlink_to(path.name)


KINDS_OF_FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a folder": Path.mkdir,
    "a link to itself": to_itself,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
} | {name: lambda path, content=content: path.write_bytes(content) for name, content in CONTENTS.items()}

folders = [
    *(
        arguments(
            f"policy.json: {key}",
            lambda world, value, key=key: with_entry(world, key, value),
            FINE_ENTRIES.get(key, ()),
            Run,
            values={repr(value)[:20]: lambda _, value=value: value for value in JSON_VALUES},
        )
        for key in KEYS
    ),
    *(
        arguments(
            f"file {name}",
            lambda world, make, name=name: with_file(world, name, make),
            (),
            Run,
            values={kind: lambda _, make=make: make for kind, make in KINDS_OF_FILES.items()},
        )
        for name in ("policy.json", "policy.safetensors")
    ),
]

ARGUMENTS = [*loading, *asked, *searching, *network, *folders]

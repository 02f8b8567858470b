"""Every argument of the vector environment, of editions, and of the PettingZoo environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from millebornes_env import VectorEnv, edition, millebornes_v0, vector_env
from millebornes_env.engine.games import new_buffers
from millebornes_env.engine.kernels import Buffers
from millebornes_env.millebornes import rulebook
from millebornes_env.millebornes.editions import read_sheet
from tests.envs.playing import choose, look
from tests.hostile.table import Argument, Games, Nothing, OneGame, of_arrays
from tests.hostile.values import ARRAYS, SAME_LAYOUTS, SAME_NUMBERS

VECTOR, AEC = "vector environment, editions, states and buffers", "AEC, notation, JSON Lines and SB3"


def constructor(make: Callable[..., Any], face: str, name: str, fine: dict[str, set[str]]) -> list[Argument]:
    """Every option of a constructor."""
    return [
        Argument(
            face,
            f"{name}({option})",
            Nothing,
            lambda _, value, option=option: make(**{option: value}),
            frozenset(legal),
        )
        for option, legal in fine.items()
    ]


ONE = {"1", "int8(1)", "WrongInt"}
INDEX = {"0", "scalar array", *ONE}
"""Game, seat or agent 0 or 1, as a whole number of any type."""
SEEDS = {"2**31", "2**63", *INDEX}
FLAGS = {"True", "bool_"}

OPTIONS: dict[str, set[str]] = {
    "edition": set(),
    "players": set(),
    "teams": {"None"},
    "episode": set(),
    "reward": set(),
    "observe_unseen": FLAGS,
    "observe_rules": FLAGS,
    "padded": FLAGS,
    "illegal_action": set(),
}

constructors = [
    *constructor(
        vector_env,
        VECTOR,
        "vector_env",
        OPTIONS
        | {
            "num_envs": ONE,
            "seed": {"None", *SEEDS},
            "autoreset_mode": set(),
            "num_threads": ONE,
            "buffers": {"None"},
        },
    ),
    *constructor(millebornes_v0.env, AEC, "env", OPTIONS | {"render_mode": {"None"}}),
]


# The methods ------------------------------------------------------------------------------------------------


def method(
    name: str, call: Callable[[Any, Any], Any], fine: set[str] | None = None, face: str = VECTOR
) -> Argument:
    return Argument(face, name, Games if face == VECTOR else OneGame, call, frozenset(fine or ()))


def among_good(world: Games, value: Any) -> list[Any]:
    """Actions of which one is the value."""
    return [*choose(look(world.env))[:-1].tolist(), value]


def with_one(world: Games, action: Any) -> Any:
    return world.env.step(among_good(world, action))


methods = [
    method("reset(seed)", lambda world, value: world.env.reset(seed=value), {"None", *SEEDS}),
    method("reset(options)", lambda world, value: world.env.reset(options=value), {"None", "{}"}),
    method("reset(reset_mask)", lambda world, value: world.env.reset(options={"reset_mask": value})),
    method("reset(positions)", lambda world, value: world.env.reset(options={"positions": value})),
    method("reset(a position)", lambda world, value: world.env.reset(options={"positions": [value] * 4})),
    method("step(actions)", lambda world, value: world.env.step(value)),
    method("step(an action)", with_one, {"-1", "int8(-1)"}),
    method("sample_actions(out)", lambda world, value: world.env.sample_actions(value), {"None"}),
    method("observe(seats)", lambda world, value: world.env.observe(value), INDEX),
    method(
        "observe(a seat)", lambda world, value: world.env.observe([0, 1, 0, value]), {"True", "bool_", *INDEX}
    ),
    method("determinize(seats)", lambda world, value: world.env.determinize(value), INDEX),
    method("determinize(seed)", lambda world, value: world.env.determinize(0, value), SEEDS),
    method("set_states(states)", lambda world, value: world.env.set_states(value)),
    method("render(game)", lambda world, value: world.env.render(value), INDEX),
    method("describe(seat)", lambda world, value: world.env.describe(value), INDEX),
    method("describe(game)", lambda world, value: world.env.describe(0, value), INDEX),
    method("legal_actions(game)", lambda world, value: world.env.legal_actions(value), INDEX),
    method("section(name)", lambda world, value: world.env.section(value)),
]

aec = [
    method("env.reset(seed)", lambda world, value: world.env.reset(value), {"None", *SEEDS}, AEC),
    method("env.reset(options)", lambda world, value: world.env.reset(options=value), {"None", "{}"}, AEC),
    method(
        "env.reset(positions)", lambda world, value: world.env.reset(options={"positions": value}), face=AEC
    ),
    method("env.step(action)", lambda world, value: world.env.step(value), face=AEC),
    method("env.observe(agent)", lambda world, value: world.env.observe(value), face=AEC),
    method("env.describe(agent)", lambda world, value: world.env.describe(value), INDEX, AEC),
    method("env.action_space(agent)", lambda world, value: world.env.action_space(value), face=AEC),
    method("env.observation_space(agent)", lambda world, value: world.env.observation_space(value), face=AEC),
    method("env.last(observe)", lambda world, value: world.env.last(value), FLAGS, AEC),
    method(
        "env.agent_selection", lambda world, value: setattr(world.env, "agent_selection", value), face=AEC
    ),
]


# Arrays -----------------------------------------------------------------------------------------------------


def array(
    name: str, good: Callable[[Games], Any], call: Callable[[Any, Any], Any], fine: Iterable[str]
) -> Argument:
    """An argument that is an array."""
    return Argument(VECTOR, f"{name} as an array", Games, call, frozenset(fine), of_arrays(ARRAYS, good))


def with_buffer(world: Games, name: str, value: Any) -> VectorEnv:
    env = world.env
    good = new_buffers(rulebook, env.num_envs, env.rules, env.settings)
    return vector_env(env.num_envs, buffers=good._replace(**{name: value}))


def buffer_of(world: Games, name: str) -> Any:
    return getattr(new_buffers(rulebook, world.env.num_envs, world.env.rules, world.env.settings), name)


def fine_for(name: str) -> set[str]:
    """What is as good as the buffer of that name: an array of any contents, in one piece."""
    good = getattr(new_buffers(rulebook, 4, vector_env(4).rules, vector_env(4).settings), name)
    fine = {"recarray", str(good.dtype), "all 127", "all -128", "all -2"}
    if good.itemsize == 1:
        fine |= {"not aligned", "big-endian"}
    if good.dtype == np.int8:
        fine |= {"chance"}
    if good.ndim == 1:
        fine |= {"Fortran"}
    return fine


SEATS = {"one row", "broadcast", *SAME_NUMBERS}

arrays = [
    array(
        "step(actions)",
        lambda world: choose(look(world.env)),
        lambda world, value: world.env.step(value),
        SAME_NUMBERS,
    ),
    array(
        "sample_actions(out)",
        lambda world: np.zeros(4, np.int64),
        lambda world, value: world.env.sample_actions(value),
        {"Fortran", "recarray", "int64", "all 127", "all -128", "all -2", "largest", "smallest"},
    ),
    array(
        "observe(seats)",
        lambda _: np.array([0, 1, 1, 0]),
        lambda world, value: world.env.observe(value),
        SEATS,
    ),
    array(
        "determinize(seats)",
        lambda _: np.array([0, 1, 1, 0]),
        lambda world, value: world.env.determinize(value),
        SEATS,
    ),
    array(
        "reset(reset_mask)",
        lambda _: np.array([True, False, True, True]),
        lambda world, value: world.env.reset(options={"reset_mask": value}),
        {"bool", "broadcast", "all 127", "all -128", "all -2", *SAME_LAYOUTS},
    ),
    array(
        "set_states(states)",
        lambda world: world.env.get_states(),
        lambda world, value: world.env.set_states(value),
        {"broadcast", *SAME_LAYOUTS} - {"list", "tuple", "big-endian"},
    ),
    *(
        array(
            f"buffers.{name}",
            lambda world, name=name: buffer_of(world, name),
            lambda world, value, name=name: with_buffer(world, name, value),
            fine_for(name),
        )
        for name in Buffers._fields
    ),
]


# Editions ---------------------------------------------------------------------------------------------------

LEGAL_RULES = ("max_200", "goal", "copies_of_stop", "start_needs_roll")

editions = [
    Argument(VECTOR, "edition(name)", Nothing, lambda _, value: edition(value)),
    Argument(VECTOR, "Edition.table(players)", Nothing, lambda _, value: edition("parker").table(value)),
    Argument(
        VECTOR,
        "Edition.table(teams)",
        Nothing,
        lambda _, value: edition("parker").table(2, value),
        frozenset({"None"}),
    ),
    Argument(VECTOR, "read_sheet(path)", Nothing, lambda _, value: read_sheet(value)),
    *(
        Argument(
            VECTOR,
            f"replace({name})",
            Nothing,
            lambda _, value, name=name: edition("parker").replace(**{name: value}),
            frozenset({"0", *ONE} if name in LEGAL_RULES else ()),
        )
        for name in (*LEGAL_RULES, "players", "no_such_rule")
    ),
]

ARGUMENTS = [*constructors, *methods, *arrays, *editions, *aec]

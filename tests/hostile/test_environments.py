"""Every argument of the environments with every wrong value: refused in words, or fine and sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from millebornes_env import VectorEnv, edition, millebornes_v0, vector_env
from millebornes_env.engine.batch import new_buffers
from millebornes_env.engine.kernels import Buffers
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.editions import Edition
from tests.envs.playing import choose, look
from tests.hostile.table import Argument, Games, Nothing, OneGame, judge_all, of_arrays
from tests.hostile.values import SAME_LAYOUTS, SAME_NUMBERS

ONE = {"1", "int8(1)"}
INDEX = {"0", "scalar array", *ONE}
"""0 or 1, as a whole number of any type: a game, a seat, an agent, the value of a rule."""
SEEDS = {"2**31", "2**63", *INDEX}
FLAGS = {"True", "bool_"}

OPTIONS: dict[str, set[str]] = {
    "edition": set(),
    "players": set(),
    "teams": {"None"},
    "episode": set(),
    "reward": set(),
    "observe_unseen": FLAGS,
    "observe_rules": FLAGS | {"None"},
    "padded": FLAGS,
    "illegal_action": set(),
}
OF_VECTOR = {
    "num_envs": ONE,
    "seed": {"None", *SEEDS},
    "autoreset_mode": set[str](),
    "num_threads": ONE,
    "buffers": {"None"},
    "history": FLAGS,
}
OF_AEC = {"render_mode": {"None"}, "max_cycles": {"None", "2**31", *INDEX} - {"0", "scalar array", "2**31"}}


def constructor(make: Callable[..., Any], options: dict[str, set[str]]) -> Iterable[Argument]:
    """Every option of a constructor."""
    for option, legal in options.items():
        name = f"{make.__name__}({option})"
        yield Argument(name, Nothing, lambda _, value, option=option: make(**{option: value}), legal)


def test_options_of_constructors() -> None:
    judge_all(constructor(vector_env, OPTIONS | OF_VECTOR))
    judge_all(constructor(millebornes_v0.env, OPTIONS | OF_AEC))


Call = Callable[[Any, Any], Any]
Methods = dict[str, tuple[Call, set[str]]]


def with_one(world: Games, action: Any) -> Any:
    """Step by actions of which one is the value."""
    return world.env.step([*choose(look(world.env))[:-1].tolist(), action])


OF_VECTOR_ENV: Methods = {
    "reset(seed)": (lambda world, value: world.env.reset(seed=value), {"None", *SEEDS}),
    "reset(options)": (lambda world, value: world.env.reset(options=value), {"None", "{}"}),
    "reset(reset_mask)": (lambda world, value: world.env.reset(options={"reset_mask": value}), set()),
    "reset(positions)": (lambda world, value: world.env.reset(options={"positions": value}), set()),
    "reset(a position)": (lambda world, value: world.env.reset(options={"positions": [value] * 4}), set()),
    "step(actions)": (lambda world, value: world.env.step(value), set()),
    "step(an action)": (with_one, {"-1", "int8(-1)"}),
    "sample_actions(out)": (lambda world, value: world.env.sample_actions(value), {"None"}),
    "observe(seats)": (lambda world, value: world.env.observe(value), INDEX),
    "observe(a seat)": (lambda world, value: world.env.observe([0, 1, 0, value]), {"True", "bool_", *INDEX}),
    "determinize(seats)": (lambda world, value: world.env.determinize(value), INDEX),
    "determinize(seed)": (lambda world, value: world.env.determinize(0, value), SEEDS),
    "set_states(states)": (lambda world, value: world.env.set_states(value), set()),
    "render(game)": (lambda world, value: world.env.render(value), INDEX),
    "render(mode)": (lambda world, value: world.env.render(mode=value), set()),
    "describe(seat)": (lambda world, value: world.env.describe(value), INDEX),
    "describe(game)": (lambda world, value: world.env.describe(0, value), INDEX),
    "legal_actions(game)": (lambda world, value: world.env.legal_actions(value), INDEX),
    "section(name)": (lambda world, value: world.env.section(value), set()),
}

OF_AEC_ENV: Methods = {
    "reset(seed)": (lambda world, value: world.env.reset(value), {"None", *SEEDS}),
    "reset(options)": (lambda world, value: world.env.reset(options=value), {"None", "{}"}),
    "reset(positions)": (lambda world, value: world.env.reset(options={"positions": value}), set()),
    "step(action)": (lambda world, value: world.env.step(value), set()),
    "observe(agent)": (lambda world, value: world.env.observe(value), set()),
    "describe(agent)": (lambda world, value: world.env.describe(value), INDEX),
    "action_space(agent)": (lambda world, value: world.env.action_space(value), set()),
    "observation_space(agent)": (lambda world, value: world.env.observation_space(value), set()),
    "last(observe)": (lambda world, value: world.env.last(value), FLAGS),
    "agent_selection": (lambda world, value: setattr(world.env, "agent_selection", value), set()),
}


def test_arguments_of_methods() -> None:
    judge_all(Argument(name, Games, call, fine) for name, (call, fine) in OF_VECTOR_ENV.items())
    judge_all(Argument(f"AEC: {name}", OneGame, call, fine) for name, (call, fine) in OF_AEC_ENV.items())


def buffer_of(world: Games, name: str) -> Any:
    return getattr(new_buffers(rulebook, world.env.num_envs, world.env.rules, world.env.settings), name)


def with_buffer(world: Games, name: str, value: Any) -> VectorEnv:
    env = world.env
    good = new_buffers(rulebook, env.num_envs, env.rules, env.settings)
    return vector_env(env.num_envs, buffers=good._replace(**{name: value}))


def fine_for(name: str) -> set[str]:
    """Return the kinds of values that are valid for a buffer: contiguous arrays of any contents."""
    good = buffer_of(Games(), name)
    fine = {"recarray", str(good.dtype), "all 127", "all -128", "all -2"}
    if good.itemsize == 1:
        fine |= {"not aligned", "big-endian"}
    if good.dtype == np.int8:
        fine |= {"chance"}
    if good.ndim == 1:
        fine |= {"Fortran"}
    return fine


SEATS = {"one row", "broadcast", *SAME_NUMBERS}

OF_ARRAYS: dict[str, tuple[Callable[[Games], Any], Call, set[str]]] = {
    "step(actions)": (
        lambda world: choose(look(world.env)),
        lambda world, value: world.env.step(value),
        set(SAME_NUMBERS),
    ),
    "sample_actions(out)": (
        lambda world: np.zeros(4, np.int64),
        lambda world, value: world.env.sample_actions(value),
        {"Fortran", "recarray", "int64", "all 127", "all -128", "all -2", "largest", "smallest"},
    ),
    "observe(seats)": (
        lambda _: np.array([0, 1, 1, 0]),
        lambda world, value: world.env.observe(value),
        SEATS,
    ),
    "determinize(seats)": (
        lambda _: np.array([0, 1, 1, 0]),
        lambda world, value: world.env.determinize(value),
        SEATS,
    ),
    "reset(reset_mask)": (
        lambda _: np.array([True, False, True, True]),
        lambda world, value: world.env.reset(options={"reset_mask": value}),
        {"bool", "broadcast", "all 127", "all -128", "all -2", *SAME_LAYOUTS},
    ),
    "set_states(states)": (
        lambda world: world.env.get_states(),
        lambda world, value: world.env.set_states(value),
        {"broadcast", *SAME_LAYOUTS} - {"list", "big-endian"},
    ),
    **{
        f"buffers.{name}": (
            lambda world, name=name: buffer_of(world, name),
            lambda world, value, name=name: with_buffer(world, name, value),
            fine_for(name),
        )
        for name in Buffers._fields
    },
}


def test_arrays() -> None:
    """Compiled code looks at no index: what is too short or has another dtype must not reach it."""
    judge_all(
        Argument(f"{name} as an array", Games, call, fine, of_arrays(good))
        for name, (good, call, fine) in OF_ARRAYS.items()
    )


LEGAL_RULES = ("max_200", "goal", "copies_of_stop", "start_needs_roll")


def test_editions() -> None:
    parker = edition("parker")
    judge_all(
        [
            Argument("edition(name)", Nothing, lambda _, value: edition(value)),
            Argument("Edition.table(players)", Nothing, lambda _, value: parker.table(value)),
            Argument("Edition.table(teams)", Nothing, lambda _, value: parker.table(2, value), {"None"}),
            Argument("Edition.load(path)", Nothing, lambda _, value: Edition.load(value)),
            *(
                Argument(
                    f"replace({name})",
                    Nothing,
                    lambda _, value, name=name: parker.replace(**{name: value}),
                    INDEX if name in LEGAL_RULES else (),
                )
                for name in (*LEGAL_RULES, "players", "no_such_rule")
            ),
        ]
    )

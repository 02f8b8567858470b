"""Calls with wrong values: a table of arguments, a table of values, one judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from millebornes_env import VectorEnv
from millebornes_env.envs.aec import raw_env
from millebornes_env.errors import CallError, MilleBornesError, shown
from millebornes_env.games.millebornes.audit import first_violation
from tests.envs.playing import choose, look, snapshot
from tests.hostile.values import ARRAYS, EVERYTHING, Spoil, spoiled

LONGEST_MESSAGE = 1500


@dataclass(frozen=True)
class Argument:
    """An argument of a public callable, and the values that it is tried with.

    Attributes:
        name: of callable and argument.
        begin: makes a new world.
        call: calls with the value in this place, and with good values in all others.
        fine: names of the values that are legal here and documented; all others must be refused.
        values: by name; each is made of the world, so that it can be a good value that was spoiled.
        also: errors besides the library's own that are documented here, such as those of files.
    """

    name: str
    begin: Callable[[], Any]
    call: Callable[[Any, Any], Any]
    fine: Iterable[str] = ()
    values: dict[str, Callable[[Any], Any]] = field(default_factory=lambda: of_all(EVERYTHING))
    also: tuple[type[Exception], ...] = ()


def of_all(values: dict[str, Callable[[], Any]]) -> dict[str, Callable[[Any], Any]]:
    """Values that are the same in all worlds."""
    return {name: lambda _, make=make: make() for name, make in values.items()}


def of_arrays(
    good: Callable[[Any], Any], spoilers: dict[str, Spoil] | None = None
) -> dict[str, Callable[[Any], Any]]:
    """A good array of the world, spoiled in all these ways."""
    ways = ARRAYS if spoilers is None else spoilers
    return {name: lambda world, spoil=spoil: spoiled(spoil, good(world)) for name, spoil in ways.items()}


def judge(argument: Argument, value_name: str, world: Any) -> bool:
    """Make a call and judge what comes of it; returns True if it was refused.

    An error must be the library's own and short. A call that is accepted must be one that is listed as fine,
    and must leave the world sound.
    """
    value = argument.values[value_name](world)
    refusal: Exception | None = None
    result = None
    try:
        result = argument.call(world, value)
    except (MilleBornesError, *argument.also) as error:
        refusal = error
    except Exception as error:
        raise AssertionError(f"a raw {type(error).__name__}: {error!s:.300}") from error
    if refusal is None:
        assert value_name in argument.fine, f"accepted, and returned {shown(result)}"
        world.check(result)
        return False
    message = str(refusal)
    assert value_name not in argument.fine, f"refused, though it is fine: {message}"
    if not isinstance(refusal, argument.also):
        assert type(refusal) is not MilleBornesError
        assert 10 < len(message) < LONGEST_MESSAGE
        assert "\n" not in message
    return True


def judge_argument(argument: Argument) -> list[str]:
    """Make the calls with all values of an argument; what was wrong with them.

    Calls that are refused are made on one world, which must be as it was after the last of them.
    """
    failures = []
    world = argument.begin()
    for name in argument.values:
        try:
            if not judge(argument, name, world):
                world = argument.begin()
        except AssertionError as error:
            failures.append(f"{argument.name}, {name}: {error}")
            world = argument.begin()
    try:
        assert world.is_untouched()
    except Exception as error:
        failures.append(f"{argument.name}: a refused call changed it: {error!r:.300}")
    return failures


def judge_all(arguments: Iterable[Argument]) -> None:
    """Judge all calls, and list those that fail."""
    failures = [failure for argument in arguments for failure in judge_argument(argument)]
    assert not failures, "\n".join([f"{len(failures)} calls:", *failures])


class Nothing:
    """For functions that keep nothing."""

    def is_untouched(self) -> bool:
        return True

    def check(self, result: Any) -> None:
        if isinstance(result, VectorEnv):
            result.reset(seed=1)
            result.step(result.sample_actions())
            check_games(result)
        if isinstance(result, raw_env):
            result.reset(seed=1)
            check_aec(result)


class Games:
    """A vector environment some steps into its rounds."""

    def __init__(self, num_envs: int = 4) -> None:
        self.env, self.twin = (VectorEnv(num_envs, seed=1) for _ in range(2))
        for env in (self.env, self.twin):
            env.reset()
            for _ in range(3):
                env.step(choose(look(env)))

    def is_untouched(self) -> bool:
        for env in (self.env, self.twin):
            env.step(env.sample_actions())
        return snapshot(self.env) == snapshot(self.twin)

    def check(self, result: Any) -> None:
        if isinstance(result, np.ndarray) and result.dtype == self.env.games.states.dtype:
            self.twin.set_states(result)
        check_games(self.env)
        self.env.step(self.env.sample_actions())
        check_games(self.env)


class OneGame:
    """A PettingZoo environment some steps into its round."""

    def __init__(self) -> None:
        self.env, self.twin = raw_env(render_mode="ansi"), raw_env(render_mode="ansi")
        for env in (self.env, self.twin):
            env.reset(seed=1)
            for _ in range(3):
                step_aec(env)

    def is_untouched(self) -> bool:
        for env in (self.env, self.twin):
            step_aec(env)
        return snapshot(self.env.vector) == snapshot(self.twin.vector) and (
            self.env.agent_selection,
            self.env._cumulative_rewards,
            self.env.agents,
        ) == (self.twin.agent_selection, self.twin._cumulative_rewards, self.twin.agents)

    def check(self, result: Any) -> None:
        check_aec(self.env)


def check_games(env: VectorEnv) -> None:
    """Check every law of the rules in all games, and that each has a legal action."""
    assert first_violation(env.games.states, env.rules) is None
    assert env.games.buffers.action_mask.any(axis=1).all()


def step_aec(env: raw_env) -> None:
    """One legal step; a new round if there is none."""
    try:
        seen = env.last()[0]
    except CallError:
        env.reset(seed=1)
        seen = env.last()[0]
    assert seen is not None
    mask = seen["action_mask"]
    env.step(int(mask.argmax()) if mask.any() else None)


def check_aec(env: raw_env) -> None:
    """Check that it is playable."""
    step_aec(env)
    check_games(env.vector)

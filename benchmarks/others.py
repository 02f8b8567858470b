"""Measure how fast well-known card game environments play random legal moves on one core.

One decision of one agent in one game is one step. Steps without a decision (dealing and other chance,
PettingZoo's final steps of finished agents) are not counted, but their time is included, and so are resets.
Before each decision the environment produces the observation and the legal moves of the agent to act, in the
cheapest form that the library offers, and the move is sampled uniformly by the cheapest means found.

All packages are optional; missing ones are skipped. Pgx's `bridge_bidding` is left out because it needs a
downloaded table of deals.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

SEED = 7
PGX_STEPS_PER_CALL = 32  # batched steps in one call of the compiled loop
PGX_BATCHES = (1024, 4096)

Play = Callable[[float], int]
"""Function that plays for at least a number of seconds and returns the number of decisions."""


@dataclass(frozen=True)
class Case:
    """An environment to measure.

    Attributes:
        name: The game or setting.
        library: The name of the library.
        packages: The distributions it needs; the first one's version is the library's.
        build: Makes the environment; raises ImportError where a package is missing.
        batch: How many games are stepped at the same time.
        note: Context for the interpretation of the figure.
    """

    name: str
    library: str
    packages: tuple[str, ...]
    build: Callable[[], Play]
    batch: int = 1
    note: str = ""


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread, and every thread it starts meanwhile, on one core, where the system can do that.

    XLA, under Pgx, sizes its thread pool by the cores that it may use when JAX first runs something, and
    stays there.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def all_cases() -> list[Case]:
    """Return the cases library by library, whether they are installed or not."""
    return [*_pettingzoo_cases(), *_rlcard_cases(), *_openspiel_cases(), *_pgx_cases()]


def _pettingzoo_cases() -> list[Case]:
    """PettingZoo's card games, as `make` gives them and without the wrappers that check the caller."""
    backends = {"hanabi-v5": ("open-spiel", "shimmy"), "leduc_holdem-v4": ("rlcard",)}
    return [
        Case(
            name=game if wrapped else f"{game}, no wrappers",
            library="PettingZoo",
            packages=("pettingzoo", *packages),
            build=partial(_build_pettingzoo, game, wrapped),
            note="AEC, as make() gives it" if wrapped else "AEC, unwrapped",
        )
        for game, packages in backends.items()
        for wrapped in (True, False)
    ]


def _build_pettingzoo(game: str, wrapped: bool) -> Play:
    env = importlib.import_module("pettingzoo").make("aec", f"classic/{game}")
    return partial(play_aec, env if wrapped else env.unwrapped)


def play_aec(env: Any, seconds: float) -> int:
    """Play the loop of PettingZoo's documentation: agent_iter, last, step, and reset when the game is over.

    `last` gives the observation with its action mask. The documented loop draws the move with
    `action_space.sample(mask)`; drawing it from the mask directly makes the loop about an eighth faster. The
    `step(None)` of agents that are done is played but not counted.
    """
    draw = random.Random(SEED).random
    clock, deadline = time.perf_counter, time.perf_counter() + seconds
    decisions = 0
    env.reset(seed=SEED)
    while True:
        for _agent in env.agent_iter():
            observation, _reward, termination, truncation, _info = env.last()
            if termination or truncation:
                env.step(None)
            else:
                legal = np.flatnonzero(observation["action_mask"])
                env.step(int(legal[int(draw() * len(legal))]))
                decisions += 1
            if clock() >= deadline:
                return decisions
        env.reset()


def _rlcard_cases() -> list[Case]:
    """RLCard's Uno and Gin Rummy."""
    return [
        Case(
            name=game,
            library="RLCard",
            packages=("rlcard",),
            build=partial(_build_rlcard, game),
            note="legal moves as the ids that step() returns",
        )
        for game in ("uno", "gin-rummy")
    ]


def _build_rlcard(game: str) -> Play:
    return partial(_play_rlcard, importlib.import_module("rlcard").make(game, config={"seed": SEED}))


def _play_rlcard(env: Any, seconds: float) -> int:
    """Play RLCard's own step loop, and read the payoffs at the end of each game.

    `reset` and `step` return the state of the agent to act: the observation and the ids of the legal moves,
    which stand in for a mask.
    """
    draw = random.Random(SEED).random
    clock, deadline = time.perf_counter, time.perf_counter() + seconds
    decisions = 0
    while True:
        state, _player = env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _player = env.step(legal[int(draw() * len(legal))])
            decisions += 1
            if clock() >= deadline:
                return decisions
        env.get_payoffs()


def _openspiel_cases() -> list[Case]:
    """Card games of OpenSpiel, from a two card toy to 52 cards."""
    return [
        Case(
            name=game,
            library="OpenSpiel",
            packages=("open-spiel",),
            build=partial(_build_openspiel, game),
            note=f"{tensor} into a NumPy buffer, legal moves as ids",
        )
        for game, tensor in {
            "gin_rummy": "observation tensor",
            "hearts": "information state tensor (it has no other)",
            "crazy_eights": "observation tensor",
            "leduc_poker": "observation tensor",
        }.items()
    ]


def _build_openspiel(game_name: str) -> Play:
    """Load a game of OpenSpiel and the observer that fills one NumPy buffer again and again."""
    pyspiel = importlib.import_module("pyspiel")
    game = pyspiel.load_game(game_name)
    kind = None  # the observation tensor
    if not game.get_type().provides_observation_tensor:
        kind = pyspiel.IIGObservationType(perfect_recall=True)  # the information state tensor
    observer = importlib.import_module("open_spiel.python.observation").make_observation(game, kind)
    return partial(_play_openspiel, game, observer)


def _play_openspiel(game: Any, observer: Any, seconds: float) -> int:
    """Play games of OpenSpiel, whose agents move one at a time, from Python with `apply_action`.

    Before each decision the tensor of the agent to act is computed and its legal moves are listed, which
    stand in for a mask. The observer writes the numbers of `state.observation_tensor()` without making a
    Python list of them, which is up to 16 times faster. Chance is sampled with its probabilities, and not
    counted: dealing a hand card by card is the reset.
    """
    draw = random.Random(SEED).random
    clock, deadline = time.perf_counter, time.perf_counter() + seconds
    decisions = 0
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(_sample_chance(state.chance_outcomes(), draw()))
                continue
            observer.set_from(state, state.current_player())
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            decisions += 1
            if clock() >= deadline:
                return decisions
        state.returns()


def _sample_chance(outcomes: Sequence[tuple[int, float]], point: float) -> int:
    """Return the outcome at a point of [0, 1) by inverse transform sampling."""
    for action, probability in outcomes:
        point -= probability
        if point < 0:
            return action
    return outcomes[-1][0]


def _pgx_cases() -> list[Case]:
    """Pgx's card and tile games that need no download."""
    notes = {"leduc_holdem": "6 cards", "kuhn_poker": "3 cards", "sparrow_mahjong": "44 tiles"}
    return [
        Case(
            name=game,
            library="Pgx",
            packages=("pgx", "jax"),
            build=partial(_build_pgx, game, batch),
            batch=batch,
            note=f"{note}; CPU, jit, {PGX_STEPS_PER_CALL} steps per call",
        )
        for game, note in notes.items()
        for batch in PGX_BATCHES
    ]


def _build_pgx(game: str, batch: int) -> Play:
    """Compile a loop of batched random play with automatic resets, for the CPU.

    The compiled loop carries the whole state, observation and mask of the agents to act included, so each
    step makes all of it. One uniform number for each game picks the move, which is cheaper than a categorical
    sample.
    """
    jax: Any = importlib.import_module("jax")
    env = importlib.import_module("pgx").make(game)
    auto_reset = importlib.import_module("pgx.experimental.wrappers").auto_reset
    step_all = jax.vmap(auto_reset(env.step, env.init))

    def advance(carry: Any, _: None) -> tuple[Any, None]:
        state, key = carry
        key, move_key, reset_key = jax.random.split(key, 3)
        count = jax.numpy.cumsum(state.legal_action_mask, axis=1)  # of the legal moves up to each
        point = jax.random.uniform(move_key, (batch,)) * count[:, -1]
        action = jax.numpy.argmax(count > point[:, None], axis=1)
        return (step_all(state, action, jax.random.split(reset_key, batch)), key), None

    key = jax.device_put(jax.random.PRNGKey(SEED), jax.devices("cpu")[0])  # all else follows it to the CPU
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, batch))
    advance_many = jax.jit(lambda *carry: jax.lax.scan(advance, carry, None, length=PGX_STEPS_PER_CALL)[0])
    jax.block_until_ready(advance_many(state, key))
    return partial(_play_pgx, advance_many, (state, key), batch, jax.block_until_ready)


def _play_pgx(advance_many: Any, carry: Any, batch: int, wait: Callable[[Any], Any], seconds: float) -> int:
    """Call the compiled loop again and again, and `wait` for each result.

    With `auto_reset` every batched step is one decision in every game: the step that ends a game returns the
    next one's beginning. `carry` is the state of all games, and a random key.
    """
    deadline = time.perf_counter() + seconds
    calls = 0
    while True:
        carry = wait(advance_many(*carry))
        calls += 1
        if time.perf_counter() >= deadline:
            return calls * batch * PGX_STEPS_PER_CALL

"""What compiled code is handed from outside is checked where it enters: it looks at no index itself."""

from __future__ import annotations

import itertools
import pickle
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env import VectorEnv, notation, vector_env
from millebornes_env.engine.games import new_buffers
from millebornes_env.engine.kernels import Buffers
from millebornes_env.errors import (
    ActionShapeError,
    BufferShapeError,
    OptionError,
    StateError,
)
from millebornes_env.millebornes import rulebook
from millebornes_env.millebornes.audit import first_violation
from millebornes_env.millebornes.state import STATE
from tests.envs.playing import choose, look, refused, snapshot, started
from tests.hostile.values import far_apart, not_aligned, read_only

# The array that sample_actions writes to.

WRONG_OUTPUTS: dict[str, Callable[[], Any]] = {
    "5,000,000 of 8": lambda: np.zeros(5_000_000, np.int64),
    "7 of 8": lambda: np.zeros(7, np.int64),
    "a scalar": lambda: np.zeros((), np.int64),
    "two dimensions": lambda: np.zeros((8, 1), np.int64),
    "float64": lambda: np.zeros(8),
    "big-endian": lambda: np.zeros(8, ">i8"),
    "every other": lambda: np.zeros(16, np.int64)[::2],
    "one, repeated": lambda: np.broadcast_to(np.int64(0), 8),
    "read-only": lambda: read_only(np.zeros(8, np.int64)),
    "not aligned": lambda: not_aligned(np.zeros(8, np.int64)),
    "masked": lambda: np.ma.zeros(8, np.int64),
    "a list": lambda: [0] * 8,
}


@pytest.mark.parametrize("threads", [1, 2])
def test_samples_are_written_to_nothing_else(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millebornes_env.engine.games.GAMES_WORTH_A_THREAD", 1)
    env, same = started(8, steps=3, num_threads=threads), started(8, steps=3)
    for make in WRONG_OUTPUTS.values():
        refused(BufferShapeError, ["out must be", "int64[8]", "got "], env.sample_actions, make())
    assert snapshot(env) == snapshot(same)
    assert np.array_equal(env.sample_actions(), same.sample_actions()), "a refused call took no draws"


def test_samples_may_be_written_to_any_fitting_array() -> None:
    env, same = started(8, steps=3), started(8, steps=3)
    part = np.zeros((3, 8), np.int64)[1]
    mapped = np.zeros(8, np.int64).view(np.memmap)
    for out in (np.zeros(8, np.int64), part, mapped):
        assert env.sample_actions(out) is out
        assert np.array_equal(out, same.sample_actions())


@pytest.mark.parametrize("threads", [1, 2])
def test_a_mask_that_a_caller_has_written_to_leads_nowhere(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sampling counts the legal actions: with these numbers it would count beyond its array."""
    monkeypatch.setattr("millebornes_env.engine.games.GAMES_WORTH_A_THREAD", 1)
    env = started(4, steps=3, num_threads=threads)
    allowed = look(env)["action_mask"] != 0
    for value in (-128, -1, 2, 100, 127):
        look(env)["action_mask"][allowed] = value
        assert allowed[np.arange(4), env.sample_actions()].all()


# The arrays that steps return.


def all_arrays(env: VectorEnv) -> Iterator[npt.NDArray[Any]]:
    observations, infos = env.reset(seed=1)
    yield from observations.values()
    yield from infos.values()
    yield from env.step(env.sample_actions())[1:4]


def test_who_reshapes_what_a_step_returned_does_not_reshape_what_the_next_one_writes_to() -> None:
    env, same = vector_env(6, players=3), started(6, players=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy wants nobody to do this any more
        for array in all_arrays(env):
            array.shape = (-1,) if array.ndim > 1 else (2, 3)
    same.step(same.sample_actions())
    for _ in range(20):
        actions = same.sample_actions()
        assert np.array_equal(env.sample_actions(), actions)
        env.step(actions)
        same.step(actions)
        assert snapshot(env) == snapshot(same)


# Buffers of the caller.


def buffers_for(env: VectorEnv) -> Buffers:
    return new_buffers(rulebook, env.num_envs, env.rules, env.settings)


def with_one(name: str, change: Callable[[npt.NDArray[Any]], Any]) -> Buffers:
    buffers = buffers_for(vector_env(4))
    return buffers._replace(**{name: change(getattr(buffers, name))})


WRONG_BUFFERS: dict[str, Callable[[npt.NDArray[Any]], Any]] = {
    "too short": lambda array: array[:-1].copy(),
    "too long": lambda array: np.concatenate([array, array]),
    "another dtype": lambda array: array.astype(np.float64),
    "every other": lambda array: np.repeat(array, 2, axis=0)[::2],
    "Fortran's order": lambda array: np.asfortranarray(np.repeat(array[np.newaxis], 2, axis=0))[0],
    "read-only": read_only,
    "masked": np.ma.array,
    "a list": lambda array: array.tolist(),
    "None": lambda array: None,
    "a memoryview": memoryview,
}


def test_buffers_that_do_not_fit() -> None:
    for name in Buffers._fields:
        for spoil in WRONG_BUFFERS.values():
            words = [f"the buffer {name} must be", "got "]
            refused(BufferShapeError, words, vector_env, 4, buffers=with_one(name, spoil))
    for name in ("agent_selection", "rewards", "final_score"):
        words = [f"the buffer {name} must be", "got not aligned"]
        refused(BufferShapeError, words, vector_env, 4, buffers=with_one(name, not_aligned))


def test_what_are_no_buffers() -> None:
    namespace = SimpleNamespace(**buffers_for(vector_env(4))._asdict())
    for given in (1, "buffers", (), [], {}, {"observation": np.zeros(1)}, namespace):
        refused(BufferShapeError, ["buffers is", "new_buffers"], vector_env, 4, buffers=given)


def test_one_array_for_two_buffers() -> None:
    buffers = buffers_for(vector_env(4))
    twice = buffers._replace(truncations=buffers.terminations)
    words = ["terminations and truncations share memory", "of its own"]
    refused(BufferShapeError, words, vector_env, 4, buffers=twice)


def test_a_buffer_in_use_cannot_be_resized() -> None:
    """Its memory would move, and steps would write to where it was."""
    buffers = buffers_for(vector_env(4))
    env = vector_env(4, buffers=buffers)
    for array in buffers:
        with pytest.raises(ValueError, match="cannot resize"):
            array.resize(10**7, refcheck=False)
    pickle.loads(pickle.dumps(env)).reset(seed=1)
    env.clone().reset(seed=1)


def test_buffers_that_overlap() -> None:
    buffers = buffers_for(vector_env(4))
    one = np.zeros(buffers.observation.nbytes + buffers.action_mask.nbytes - 1, np.int8)
    overlapping = buffers._replace(
        observation=one[: buffers.observation.nbytes].reshape(buffers.observation.shape),
        action_mask=one[-buffers.action_mask.nbytes :].reshape(buffers.action_mask.shape),
    )
    words = ["observation and action_mask share memory"]
    refused(BufferShapeError, words, vector_env, 4, buffers=overlapping)


def test_buffers_may_lie_side_by_side_in_one_block() -> None:
    plain = started(4)
    wanted = buffers_for(plain)
    starts = list(itertools.accumulate((-(-array.nbytes // 64) * 64 for array in wanted), initial=0))
    block = np.zeros(starts[-1], np.uint8)
    parts = (
        block[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        for start, array in zip(starts, wanted, strict=False)
    )
    buffers = Buffers._make(parts)
    env = vector_env(4, buffers=buffers)
    env.reset(seed=1)
    for _ in range(10):
        actions = plain.sample_actions()
        plain.step(actions)
        env.step(actions)
        assert [array.tobytes() for array in buffers] == [array.tobytes() for array in plain.games.buffers]


# Actions and seats.


LAYOUTS: dict[str, Callable[[npt.NDArray[np.int64]], Any]] = {
    "read-only": read_only,
    "not aligned": not_aligned,
    "every other": far_apart,
    "backwards": lambda array: array[::-1].copy()[::-1],
    "big-endian": lambda array: array.astype(">i8"),
    "int8": lambda array: array.astype(np.int8),
    "masked": np.ma.array,
    "a list": lambda array: array.tolist(),
}


def test_actions_and_seats_may_lie_in_any_layout() -> None:
    env, same = started(6, steps=3), started(6, steps=3)
    for change in LAYOUTS.values():
        actions = choose(look(same))
        env.step(change(actions))
        same.step(actions)
        assert snapshot(env) == snapshot(same)
        assert np.array_equal(
            env.observe(change(np.array([0, 1, 1, 0, 0, 1]))), same.observe([0, 1, 1, 0, 0, 1])
        )


def test_what_no_array_can_be_made_of() -> None:
    env = started(2, steps=3)
    before = snapshot(env)
    for ragged in ([[1], [2, 3]], [1, [2]]):
        given: Any = ragged
        refused(ActionShapeError, ["actions", "no array"], env.step, given)
        for use in (env.observe, env.determinize):
            refused(OptionError, ["seats", "no array"], use, given)
        refused(OptionError, ["reset_mask", "no array"], env.reset, options={"reset_mask": given})
    assert snapshot(env) == before


# Single fields of a record.


def use_all(env: VectorEnv) -> None:
    """Whatever reads or writes the games; each step leads to games of the table again."""
    for _ in range(30):
        assert first_violation(env.games.states, env.rules) is None
        env.state()
        for seat in range(env.players):
            env.observe(seat)
        redealt = env.determinize(env.agent_selection, seed=3)
        assert first_violation(redealt, env.rules) is None
        env.step(env.sample_actions())


def variations(states: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.void]]]:
    """The record with one number of one field changed, in all the ways that are worth it."""
    for name in STATE.names or ():
        cells = states[name].reshape(-1)
        info = np.iinfo(cells.dtype)
        for place in range(cells.size):
            was = int(cells[place])
            for value in {-2, -1, 0, 1, 2, 3, 5, was - 1, was + 1, info.min, info.max} - {was}:
                changed = states.copy()
                changed[name].reshape(-1)[place] = value
                yield f"{name}[{place}] = {value}", changed


@pytest.mark.parametrize(
    ("edition", "players", "steps"),
    [("parker", 2, 30), pytest.param("parker", 6, 60, marks=pytest.mark.slow), ("dutch", 3, 45)],
)
def test_a_record_with_any_field_changed_is_refused_or_can_be_played_on(
    edition: str, players: int, steps: int
) -> None:
    """An index could come from any place of the record; run it with NUMBA_BOUNDSCHECK=1, too."""
    env = started(1, edition=edition, players=players, steps=steps)
    states, before = env.get_states(), snapshot(env)
    taken = []
    for what, changed in variations(states):
        try:
            env.set_states(changed)
        except StateError:
            assert snapshot(env) == before, what
            continue
        env.legal_actions()
        taken.append(changed)
        env.set_states(states)
    assert len(taken) > 10, "the key, the episode and the score may be others"
    assert snapshot(env) == before
    many = vector_env(len(taken), edition, players=players)
    many.set_states(np.concatenate(taken))
    for game in range(0, len(taken), 10):
        many.render(game)
    use_all(many)


@pytest.mark.parametrize("team", [0, 1])
def test_a_score_that_a_round_more_would_carry_beyond_the_record_is_refused(team: int) -> None:
    env = started(1, episode="match", steps=10)
    states = env.get_states()
    for score in (0, 4900, 12_000):
        states["score"][0, team] = score
        env.set_states(states)
    for score in (12_001, 32_767, -1):
        states["score"][0, team] = score
        refused(StateError, ["states[0]", "score"], env.set_states, states)


def test_states_may_lie_in_any_layout() -> None:
    env, other = started(4, steps=10), started(4, steps=3)
    states = env.get_states()
    for given in (
        read_only(np.asarray(states)),
        np.repeat(states, 2)[::2],
        not_aligned(np.asarray(states)),
        np.ma.array(np.asarray(states)),
        np.asarray(states).view(np.memmap),
    ):
        other.reset(seed=5)
        other.set_states(given)
        assert snapshot(other)[0] == snapshot(env)[0]


def test_a_position_whose_record_was_exchanged() -> None:
    env = started(2)
    position = notation.Position(env.edition, env.rules, np.zeros(1, np.int8))  # type: ignore[arg-type]
    refused(OptionError, ["positions", "int8"], env.reset, options={"positions": position})

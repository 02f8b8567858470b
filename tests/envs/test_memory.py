"""Input of compiled code is checked where it enters: kernels check no index."""

from __future__ import annotations

import itertools
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env import VectorEnv, notation, vector_env
from millebornes_env.engine.batch import new_buffers
from millebornes_env.engine.kernels import Buffers
from millebornes_env.errors import IllegalActionError, OptionError, StateError
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.state import STATE
from tests.envs.playing import look, refused, snapshot, started
from tests.hostile.values import far_apart, not_aligned, read_only

# The array that sample_actions writes to.

WRONG: dict[str, Callable[[npt.NDArray[Any]], Any]] = {
    "too short": lambda array: array[:-1].copy(),
    "too long": lambda array: np.concatenate([array, array]),
    "another dtype": lambda array: array.astype(np.float64),
    "every other": far_apart,
    "read-only": read_only,
    "not aligned": not_aligned,
    "masked": np.ma.array,
    "a list": lambda array: array.tolist(),
    "None": lambda array: None,
}
"""An array that compiled code would write to, or not."""


def test_samples_are_written_to_nothing_else() -> None:
    env, same = started(8, steps=3), started(8, steps=3)
    for name, change in WRONG.items():
        if name != "None":  # a new array is made
            out = change(np.zeros(8, np.int64))
            refused(OptionError, ["out must be", "int64[8]", "got "], env.sample_actions, out)
    assert snapshot(env) == snapshot(same)
    assert np.array_equal(env.sample_actions(), same.sample_actions()), "a refused call took no draws"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_mask_that_a_caller_has_written_to_leads_nowhere(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine samples and checks actions by sets of its own."""
    monkeypatch.setattr("millebornes_env.engine.batch.GAMES_WORTH_A_THREAD", 1)
    env = started(4, steps=3, num_threads=threads)
    allowed = look(env)["action_mask"] != 0
    for value in (-128, -1, 2, 100, 127):
        look(env)["action_mask"][:] = value
        actions = env.sample_actions()
        assert allowed[np.arange(4), actions].all()
        actions[2] = np.flatnonzero(~allowed[2])[0]
        with pytest.raises(IllegalActionError, match="game 2"):
            env.step(actions)


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


def test_buffers_that_do_not_fit() -> None:
    good = buffers_for(vector_env(4))
    for name, array in good._asdict().items():
        for change in WRONG.values():
            if change is not_aligned and array.itemsize == 1:
                continue
            words = [f"the buffer {name} must be", "got "]
            refused(OptionError, words, vector_env, 4, buffers=good._replace(**{name: change(array)}))
    refused(OptionError, ["buffers is", "new_buffers"], vector_env, 4, buffers=good._asdict())


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
    refused(OptionError, words, vector_env, 4, buffers=overlapping)


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


def test_a_position_whose_record_was_exchanged() -> None:
    env = started(2)
    position = notation.Position(env.edition, env.rules, np.zeros(1, np.int8))  # type: ignore[arg-type]
    refused(OptionError, ["positions", "int8"], env.reset, options={"positions": position})

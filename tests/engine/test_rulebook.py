"""The engine runs any rulebook: a race with a die of a hundred lines, besides Mille Bornes."""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env.engine import batch, kernels
from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import DISABLED, SAME_STEP, SKIP, kernels_of
from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.cache import cache_folder_of
from millebornes_env.engine.numba.compiling import IS_COMPILED, plain
from millebornes_env.envs.illegal_action import illegal_action_error
from millebornes_env.errors import ActionError, CallError, GameError, IllegalActionError
from millebornes_env.games.millebornes import rulebook as millebornes
from tests.each import each
from tests.engine import dice_race

ROUNDS_OF_STEPS = 80
USED = "the boost has been used"


def race(num_games: int = 50, players: int = 3, threads: int = 1, **changed: Any) -> Batch:
    settings = Settings(
        episode=0, reward=0, autoreset=SAME_STEP, observation_spec=dice_race.Spec(), punish_illegal=0
    )
    rules = dice_race.Rules(players, players)
    games = Batch(dice_race, num_games, rules, settings._replace(**changed), num_threads=threads)
    games.seed(7)
    games.start()
    return games


def sampled(games: Batch, number: int) -> npt.NDArray[np.int64]:
    return games.sample((0, 5), number)


def test_races_are_run_to_their_ends_and_begin_anew() -> None:
    games, ended = race(), 0
    for number in range(ROUNDS_OF_STEPS):
        assert games.step(sampled(games, number)) == NO_GAME
        buffers = games.buffers
        for game in np.flatnonzero(buffers.terminations):
            ended += 1
            winner, km = int(buffers.final_winner[game]), buffers.final_score[game]
            assert km[winner] >= 20
            assert (np.delete(km, winner) < 20).all()
            assert buffers.rewards[game].tolist() == [1.0 if seat == winner else -0.5 for seat in range(3)]
            assert games.win_shares([game]).tolist() == [[float(seat == winner) for seat in range(3)]]
            assert buffers.final_observation[game, 1, 1:].tolist() == np.roll(km, -1).tolist()
            assert not games.states["km"][game].any()
        assert not buffers.rewards[~buffers.terminations].any()
        assert (buffers.action_mask[:, 0] == 1).all()
    assert ended > 200


def test_a_race_is_the_same_as_without_the_engine() -> None:
    """The rulebook's functions as plain Python, one after the other."""
    games = race(20, autoreset=DISABLED)
    step, write_mask, is_over = map(plain, (dice_race.step, dice_race.write_mask, dice_race.is_round_over))
    rules, mask = dice_race.rules_array(dice_race.Rules(3, 3))[0], np.zeros(2, np.int8)
    for number in range(ROUNDS_OF_STEPS):
        expected, actions = games.states.copy(), sampled(games, number)
        for state, action in zip(expected, actions, strict=True):
            if action == SKIP:
                assert is_over(state)
            else:
                step(state, rules, action)
        assert games.step(actions) == NO_GAME
        np.testing.assert_array_equal(games.states, expected)
        for game, state in enumerate(expected):
            write_mask(state, rules, mask)
            assert games.buffers.action_mask[game].tolist() == mask.tolist()
    assert all(map(is_over, games.states))


def test_threads_run_the_same_races(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "GAMES_WORTH_A_THREAD", 1)
    one, two = race(), race(threads=2)
    assert two.num_threads == 2
    for number in range(ROUNDS_OF_STEPS):
        actions = sampled(one, number)
        assert one.step(actions) == two.step(actions) == NO_GAME
    assert one.states.tobytes() == two.states.tobytes()
    for name, buffer in one.buffers._asdict().items():
        assert buffer.tobytes() == getattr(two.buffers, name).tobytes(), name


def test_copies_and_pickles_go_on_alike() -> None:
    games = race()
    games.step(sampled(games, 0))
    for copied in (games.clone(), pickle.loads(pickle.dumps(games))):
        assert copied.rulebook is dice_race
        assert games.clone().step(sampled(games, 1)) == copied.step(sampled(games, 1)) == NO_GAME
    np.testing.assert_array_equal(copied.states["key"], games.states["key"])
    assert copied.states.tobytes() != games.states.tobytes()


def used_up(**changed: int) -> tuple[Batch, npt.NDArray[np.int64]]:
    """Races in which all have used their boosts, and actions of which game 4's uses one again."""
    games = race(autoreset=DISABLED, **changed)
    for _ in range(3):
        assert games.step(np.full(50, dice_race.BOOST)) == NO_GAME
    return games, np.where(np.arange(50) == 4, dice_race.BOOST, dice_race.ROLL)


def test_an_illegal_action_changes_nothing_and_is_told_in_the_games_words() -> None:
    games, actions = used_up()
    before = games.states.tobytes()
    assert games.step(actions) == 4
    assert games.states.tobytes() == before
    names = ["Ann", "Bob", "Cid"]
    state, rules = games.states[4], games.rules
    seat = names[int(state.seat)]
    told = illegal_action_error(dice_race, state, rules, names, dice_race.BOOST, 4)
    assert isinstance(told, IllegalActionError)
    assert str(told) == (
        f"game 4, {seat}: 'use the boost' (action 1) is not legal: {USED}. Legal now: roll (0)"
    )
    no_play = illegal_action_error(dice_race, state, rules, names, 2)
    assert isinstance(no_play, ActionError)
    assert str(no_play) == f"{seat}: there is no action 2; ids go from 0 to 1"
    state.over = 1
    assert isinstance(illegal_action_error(dice_race, state, rules, names, 0, 4), CallError)


def test_a_punished_action_breaks_the_race_off() -> None:
    games, actions = used_up(punish_illegal=1)
    seat = int(games.states["seat"][4])
    assert games.step(actions) == NO_GAME
    assert games.buffers.terminations[4]
    assert games.buffers.final_winner[4] == -1
    assert games.buffers.rewards[4].tolist() == [-1.0 if one == seat else 0.0 for one in range(3)]
    assert not games.win_shares([4]).any()


def test_seats_see_what_the_rulebook_shows() -> None:
    games = race(players=4)
    games.step(sampled(games, 0))
    seats = np.full(50, 2, np.int32)
    seen = np.zeros_like(games.buffers.observation)
    games.observe(seats, seen)
    np.testing.assert_array_equal(seen[:, 0], games.states["boost"][:, 2])
    np.testing.assert_array_equal(seen[:, 1:], np.roll(games.states["km"], -2, axis=1))
    full = games.full_states()
    np.testing.assert_array_equal(full[:, :5], games.buffers.observation)
    np.testing.assert_array_equal(full[:, 5:], games.states["boost"])
    redealt = games.determinize(seats, (1, 2))
    np.testing.assert_array_equal(redealt["boost"][:, 2], games.states["boost"][:, 2])
    assert (redealt["boost"] != games.states["boost"]).any()
    assert ((redealt["boost"] > 0) == (games.states["boost"] > 0)).all()


def test_each_rulebook_has_kernels_of_its_own() -> None:
    ours, theirs = kernels_of(millebornes), kernels_of(dice_race)
    assert kernels_of(dice_race) is theirs
    assert {kernel.__name__ for kernel in ours} & {kernel.__name__ for kernel in theirs} == set()
    assert ours.step_range.__name__ == "millebornes_step_range"


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is kept")
def test_machine_code_is_kept_in_a_folder_of_the_rulebooks_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache_folder_of(dice_race.__name__)
    assert folder not in (None, cache_folder_of(millebornes.__name__))
    race().step(np.zeros(50, np.int64))
    kernels._kernels_of_module.cache_clear()  # as in a new process
    again = race()
    again.step(np.zeros(50, np.int64))
    kernel: Any = kernels_of(dice_race).step_range
    assert str(kernel.stats.cache_path).startswith(str(folder))
    assert sum(kernel.stats.cache_hits.values()) == 1
    assert sum(kernel.stats.cache_misses.values()) == 0


def test_machine_code_of_the_wheel_is_for_our_own_kernels_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package's rulebook may have the name of ours."""
    library = machine_code._Library(None, {"millebornes_step_range": {}})
    monkeypatch.setattr(machine_code, "_loaded", lambda folder, switch: ("", library))

    def step_range() -> None: ...

    step_range.__name__ = "millebornes_step_range"
    assert machine_code.of(step_range) is step_range
    assert machine_code._library_with(step_range) is None
    step_range.__module__ = millebornes.__name__
    assert machine_code._library_with(step_range) is library


def without(*names: str, **changed: Any) -> Any:
    module = ModuleType("half_a_game")
    vars(module).update({name: value for name, value in vars(dice_race).items() if name not in names})
    vars(module).update(changed, __name__="half_a_game")
    return module


@each(
    ("module", "told"),
    [
        (
            without("write_mask"),
            "the rulebook half_a_game has no write_mask. write_mask: Write 1 for legal actions",
        ),
        (without("step", "winner"), "the rulebook half_a_game has no step, no winner. step: Apply"),
        (
            without(STATE=np.dtype([("seat", np.int8)])),
            "'key' of STATE must be 2 signed whole numbers;",
        ),
        (
            without(STATE=np.dtype([("key", np.int64, (2,)), ("episode", np.int32), ("seat", np.uint8)])),
            "'seat' of STATE must be a signed whole number; it is uint8",
        ),
        ("dice_race", "a rulebook is 'dice_race'; it must be a Python module"),
    ],
)
def test_what_is_missing_is_named(module: Any, told: str) -> None:
    with pytest.raises(GameError) as caught:
        Batch(module, 1, dice_race.Rules(2, 2), Settings(0, 0, 0, dice_race.Spec(), 0))
    assert told in str(caught.value)

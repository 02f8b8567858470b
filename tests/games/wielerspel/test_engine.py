"""The engine runs the race: compiled and in plain Python alike, for 2 to 6 players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import DISABLED, SAME_STEP, SKIP
from millebornes_env.engine.numba.cache import sources_on_top
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import checked_module
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.audit import check_laws
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.rules import rules_array
from millebornes_env.games.wielerspel.sections import ObservationSpec

STEPS = 60


def races(players: int, num_games: int, **changed: Any) -> Batch:
    settings = Settings(
        episode=0, reward=0, autoreset=SAME_STEP, observation_spec=ObservationSpec(), punish_illegal=0
    )
    rules = edition("arc_en_ciel").table(players)
    games = Batch(rulebook, num_games, rules, settings._replace(**changed))
    games.seed(3)
    games.start()
    return games


def sampled(games: Batch, number: int) -> np.ndarray:
    return games.sample((0, 5), number)


def test_the_rulebook_has_all_that_the_engine_asks_for() -> None:
    assert checked_module(rulebook) is rulebook
    assert rulebook.STATE.itemsize == sum(rulebook.STATE[name].itemsize for name in rulebook.STATE.names)


def test_a_change_of_any_chapter_is_compiled_anew() -> None:
    """The machine code of the race's kernels is kept under a name that all compiled files count for."""
    folder = Path(rulebook.__file__).parent
    plain_python = {"__init__.py", "course.py", "editions.py", "hooks.py"}
    compiled = {file for file in folder.glob("*.py") if file.name not in plain_python}
    assert compiled <= sources_on_top(rulebook.__name__)


@pytest.mark.parametrize("players", [2, 4, 6])
def test_the_engine_plays_what_plain_python_plays(players: int) -> None:
    """Decision by decision: states, masks, observations."""
    games = races(players, 6, autoreset=DISABLED)
    record = rules_array(games.rules)[0]
    step, write_mask = plain(rulebook.step), plain(rulebook.write_mask)
    write_observation = plain(rulebook.write_observation)
    row, mask = games.buffers.observation[0].copy(), games.buffers.action_mask[0].copy()
    for number in range(STEPS):
        expected, actions = games.states.copy(), sampled(games, number)
        assert games.step(actions) == NO_GAME
        for game, action in enumerate(actions):
            state = expected[game]
            if action != SKIP:
                step(state, record, int(action))
            assert state.tobytes() == games.states[game].tobytes()
            write_mask(state, record, mask)
            write_observation(state, record, int(state.seat), ObservationSpec(), row)
            assert (mask == games.buffers.action_mask[game]).all()
            assert (row == games.buffers.observation[game]).all()
            assert games.buffers.agent_selection[game] == state.seat


def test_races_are_run_to_their_ends_and_begin_anew() -> None:
    games, ended = races(3, 30), 0
    for number in range(400):
        assert games.step(sampled(games, number)) == NO_GAME
        for game in np.flatnonzero(games.buffers.terminations):
            ended += 1
            winner, rewards = int(games.buffers.final_winner[game]), games.buffers.rewards[game]
            assert abs(rewards.sum()) < 1e-6
            if winner >= 0:
                assert rewards.tolist() == [1.0 if seat == winner else -0.5 for seat in range(3)]
                assert games.win_shares([int(game)]).tolist() == [
                    [float(seat == winner) for seat in range(3)]
                ]
        if number % 20 == 0:
            check_laws(games.states, games.rules)
    assert ended > 20
    assert games.states["episode"].max() >= 1


def test_the_same_seed_gives_the_same_races_whatever_the_batch() -> None:
    large, small = races(5, 8), races(5, 3)
    assert large.states[:3].tobytes() == small.states.tobytes()
    other = races(5, 3)
    other.seed(4)
    other.start()
    assert other.states.tobytes() != small.states.tobytes()

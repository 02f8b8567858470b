"""`check_state`, `check_step`, `check_edition` and `perft`: real games pass, wrong ones are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env import edition, vector_env
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.errors import ActionError, ConformanceError, OptionError, StateError
from millebornes_env.games.millebornes.actions import action_name
from millebornes_env.notation import Position, read_position
from millebornes_env.testing import check_edition, check_state, check_step, perft
from millebornes_env.testing import editions as editions_module
from millebornes_env.testing.audited_play import play_kernels
from millebornes_env.testing.counting import count_sequences
from millebornes_env.testing.millebornes import random_play


def walk(steps: int = 60) -> Any:
    """An environment, and its states before and after each of some steps, with the actions."""
    env = vector_env(3, players=3, autoreset_mode="disabled", seed=2)
    env.reset()
    moments = []
    for _ in range(steps):
        before, actions = env.get_states(), env.sample_actions()
        env.step(actions)
        moments.append((before, actions, env.get_states()))
    return env, moments


def test_the_states_and_steps_of_games_pass() -> None:
    env, moments = walk()
    for before, actions, after in moments:
        check_state(before, env.rules)
        for game, action in enumerate(actions):
            if action >= 0:
                check_step(before[game], int(action), after[game], env.rules)
    check_state(moments[0][0][1], env.rules)
    check_state(read_position("hand 0: roll ..."), from_deal=False)


def test_a_wrong_state_is_named_with_its_game() -> None:
    env, moments = walk(3)
    states = moments[-1][2].copy()
    states["km"][2, 1] += 25
    kept = states.copy()
    with pytest.raises(ConformanceError, match=r"game 2, seat \d: km is not the sum of the distance cards"):
        check_state(states, env.rules)
    assert (states == kept).all()
    with pytest.raises(AssertionError):
        check_state(states, env.rules)
    states = moments[-1][2].copy()
    states["phase"][0] = 99
    with pytest.raises(ConformanceError, match=r"game 0, seat .: phase is not one of 0 to 3"):
        check_state(states, env.rules)


def test_a_position_that_no_deal_leads_to_passes_only_if_it_may_be_set_up_by_hand() -> None:
    position = read_position("hand 0: roll")
    check_state(position, from_deal=False)
    with pytest.raises(ConformanceError, match="no play from a deal leads there"):
        check_state(position)


def test_a_wrong_step_is_named_with_its_action() -> None:
    env, moments = walk()
    before, actions, after = next(
        moment for moment in moments if 19 <= moment[1][0] < 38 and moment[2]["phase"][0] == 0
    )
    action = int(actions[0])
    name = action_name(action, 3, int(before["seat"][0]))
    other = after[0].copy()
    other["dealer"] = (other["dealer"] + 1) % 3
    with pytest.raises(ConformanceError, match=f"{name}.*key, dealer, round_number or episode changed"):
        check_step(before[0], action, other, env.rules)
    with pytest.raises(ConformanceError, match=r"seat .: claim .* is illegal before the step"):
        check_step(before[0], 38, after[0], env.rules)
    with pytest.raises(ConformanceError, match="a hand lost a card other than the one played"):
        check_step(before[0], action, before[0], env.rules)
    for wrong in (-1, 999, "roll", None):
        with pytest.raises(ActionError, match="this table has the actions 0 to"):
            check_step(before[0], wrong, after[0], env.rules)  # type: ignore[arg-type]


def test_a_step_is_checked_of_one_game() -> None:
    """Other games of an array would pass unseen."""
    env, ((before, actions, after),) = walk(1)
    with pytest.raises(StateError, match="before has 3 game records; a step is checked of one"):
        check_step(before, int(actions[0]), after[0], env.rules)
    with pytest.raises(StateError, match="after has 0 game records"):
        check_step(before[0], int(actions[0]), after[:0], env.rules)


def test_perft_counts_what_the_kernels_count() -> None:
    env, moments = walk(2)
    states = moments[-1][2]
    assert perft(states, 3, env.rules) == count_sequences(states, env.rules, 3)
    assert perft(states[1], 2, env.rules) == count_sequences(states[1:2], env.rules, 2)
    position = Position(env.edition, env.rules, states[:1])
    assert perft(position, 2) == perft(states[0], 2, env.rules)
    assert perft(position, 0) == 1


@pytest.mark.parametrize("check", [check_state, lambda *given: perft(given[0], 1, *given[1:])])
def test_what_is_no_state_is_refused(check: Any) -> None:
    env, moments = walk(1)
    states = moments[0][0]
    with pytest.raises(OptionError, match=r"rules is None; .*env\.rules"):
        check(states)
    for wrong in (None, "hand 0: roll", np.zeros(3), [1], states.reshape(3, 1)):
        with pytest.raises(StateError, match="they must be records"):
            check(wrong, env.rules)
    with pytest.raises(OptionError, match="rules is 'parker'"):
        check(states, "parker")
    with pytest.raises(OptionError, match="of the game 'wielerspel'; only those of 'millebornes' can be"):
        check(read_position("edition: arc_en_ciel"))


def test_an_edition_passes_and_says_what_happened() -> None:
    steps = 20_000 if IS_COMPILED else 2_000
    counts = check_edition(edition("parker").replace(max_200=4, hand_limit=5), steps=steps)
    assert list(counts) == list(edition("parker").tables)
    assert all(table["steps"] >= steps and table["violations"] == 0 for table in counts.values())
    assert sum(table["claims"] for table in counts.values()) > 0
    assert list(check_edition("dutch", players=3, steps=100)) == [(3, 3)]


def test_teams_alone_name_no_table() -> None:
    with pytest.raises(OptionError, match="teams is 4, without players: give both"):
        check_edition("dujardin", teams=4, steps=1)


def test_another_game_has_laws_of_its_own() -> None:
    with pytest.raises(
        OptionError, match="arc_en_ciel is a sheet of the game 'wielerspel'; check_edition knows"
    ):
        check_edition("arc_en_ciel")


def test_a_law_that_is_broken_is_told_with_table_game_and_step(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = play_kernels(random_play)

    def tampered(play: Any, rules: Any, steps: int) -> None:
        kernels.play_on(play, rules, 20)
        play.states["km"][3, 0] += 25
        kernels.play_on(play, rules, steps - 20)

    monkeypatch.setattr(editions_module, "play_kernels", lambda hooks: kernels._replace(play_on=tampered))
    expected = r"dutch, 3 players in 3 teams, seed 4, game 3, step 21, seat \d, .*: km is not the sum"
    with pytest.raises(ConformanceError, match=expected):
        check_edition("dutch", players=3, steps=1_000, seed=4)

"""The start: 003:20-30, 003:40."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.errors import EditionError
from millebornes_env.games.wielerspel import dice, rulebook, set_up, turn
from millebornes_env.games.wielerspel.audit import check_laws
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.rules import Square, rules_array
from millebornes_env.games.wielerspel.squares import EFFORT
from millebornes_env.games.wielerspel.state import RACE_OVER, STATE
from tests.race_support import BOARD, Race


def test_everybody_starts_with_60_energy_and_6_servants() -> None:
    """003:30 and 003:40."""
    race = Race(players=6)
    assert race.energies == [60] * 6
    assert [race.servants_left(seat) for seat in range(6)] == [6] * 6
    assert race.squares == {}


def test_the_rainbow_rider_starts_on_the_start_square() -> None:
    """003:26."""
    assert Race().state.square == 0


def test_four_sets_of_twelve_jerseys_lie_on_the_board() -> None:
    """003:24; the French rules: 48 cards, 12 of each kind."""
    assert Race().state.stacks.tolist() == [12, 12, 12, 12]


def test_the_first_lap_is_no_rainbow_lap() -> None:
    """003:75: the rainbow cards lie face down at the beginning."""
    race = Race().land_on(1, white=2)  # passes the line
    assert race.cards(0) == {}


def test_the_chance_cards_are_shuffled() -> None:
    """003:22: all 25 of them, in another order in each race."""
    decks = {tuple(_shuffled(word)) for word in range(20)}
    assert len(decks) == 20
    for deck in decks:
        cards = [card for card in deck if card >= 0]
        assert np.bincount(cards).tolist() == [card.copies for card in BOARD.deck]


def test_the_order_of_the_peloton_is_decided_by_lot() -> None:
    """003:28: each of the six orders of three leaders comes about as often."""
    orders = [_lot(word) for word in range(1200)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert min(counts) > 150
    assert max(counts) < 250


STARVING = {"energy": 1, "retirement_energy": 1, "servants": 1}


def test_a_race_without_a_decision_is_none_and_the_next_one_begins() -> None:
    """Ruling W27: with an energy of 1, a payment by everybody in the first turn ends the race."""
    rules = edition("arc_en_ciel").replace(**STARVING).table(2)
    record, begun_anew = rules_array(rules)[0], 0
    for word in range(40):
        state, first = _blank(word), _blank(word)
        plain(set_up.set_up_race)(first, record)
        plain(turn.ride)(first, record)
        plain(rulebook.start)(state, record)
        assert int(state.phase) != RACE_OVER
        if int(first.phase) == RACE_OVER:
            assert int(state.episode) >= 1
            begun_anew += 1
        else:
            assert state.tobytes() == first.tobytes()
    assert 0 < begun_anew < 40


def test_an_environment_goes_on_after_a_race_without_a_decision() -> None:
    """W27: with autoreset in the same step, every game has a decision after every step."""
    label = "+".join(["arc_en_ciel", *(f"{name}={value}" for name, value in STARVING.items())])
    env = vector_env(8, label, players=2, seed=1)
    env.reset()
    ended = 0
    for _ in range(50):
        _, _, terminations, _, _ = env.step(env.sample_actions())
        ended += int(terminations.sum())
        assert env.games.buffers.action_mask.any(axis=1).all()
    assert ended > 6
    check_laws(env.get_states(), env.rules)


def test_rules_that_never_come_to_a_decision_are_refused() -> None:
    """W27: each square costs all that everybody has, and more."""
    rules = edition("arc_en_ciel").replace(**STARVING).table(3)
    board = (rules.board[0], *[Square(EFFORT, 60)] * 9)
    hopeless = dataclasses.replace(edition("arc_en_ciel"), rules=rules._replace(board=board), name="hopeless")
    with pytest.raises(
        EditionError, match="with these rules of wielerspel, game 0 ended before its first decision"
    ):
        vector_env(1, hopeless, players=3, seed=1).reset()


def test_unused_seats_have_nothing() -> None:
    state = _blank(1)
    plain(rulebook.start)(state, rules_array(BOARD)[0])
    assert state.energy[3:].tolist() == state.off_board[3:].tolist() == [0, 0, 0]


def _blank(word: int) -> Any:
    state = np.zeros(1, STATE).view(np.recarray)[0]
    state.key[:] = (word, 1)
    return state


def _shuffled(word: int) -> list[int]:
    state = _blank(word)
    plain(dice.shuffle_deck)(state, rules_array(BOARD)[0])
    return [int(card) for card in state.deck]


def _lot(word: int) -> tuple[int, ...]:
    state = _blank(word)
    plain(dice.draw_lots)(state, rules_array(BOARD)[0])
    return tuple(int(seat) for seat in state.peloton[:3])

"""Laws that hold in every race, whatever is played."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS
from millebornes_env.games.wielerspel.audit import check_laws
from millebornes_env.games.wielerspel.dice import white_die, yellow_die
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.sections import ObservationSpec, full_state_sections, sections
from tests.each import each
from tests.race_players import decisions, legal_actions, new_race, sober, wild

OPTIONS: list[dict[str, int]] = [
    {},
    {"target_rainbows": 5},
    {"also_green": 1, "also_polka": 1},
    {"combativity": 1},
    {"energy": 20, "retirement_energy": 1, "servants": 3},
    {"jersey_cards": 3, "inner_track": 4, "first_minute": 1, "second_minute": 2},
    {"max_turns": 100},
]
RACES = st.tuples(
    st.integers(2, 6), st.sampled_from(OPTIONS), st.integers(0, 10**6), st.sampled_from([wild, sober])
)
SPEC = ObservationSpec()
MOST = 150
"""Decisions of a race that are looked at."""


def _rules(players: int, changes: dict[str, int]) -> Rules:
    return edition("arc_en_ciel").replace(**changes).table(players)


def _seen(state: Any, rules: Rules, seat: int, spec: ObservationSpec = SPEC) -> np.ndarray:
    row = np.full(sections(rules, spec)[-1].stop, 99, np.int8)
    plain(rulebook.write_observation)(state, rules_array(rules)[0], seat, spec, row)
    return row


@settings(max_examples=25, deadline=None)
@given(RACES)
def test_no_position_breaks_a_law(race: tuple[int, dict[str, int], int, Any]) -> None:
    """Energy 0 to 60, servants, jerseys, cards conserved, one escape at most, every rider somewhere once."""
    players, changes, seed, player = race
    rules = _rules(players, changes)
    states = [state.tobytes() for state, _ in decisions(rules, seed, player, 400)]
    check_laws(np.frombuffer(b"".join(states), rulebook.STATE), rules)


@settings(max_examples=10, deadline=None)
@given(RACES)
def test_the_mask_allows_what_is_legal(race: tuple[int, dict[str, int], int, Any]) -> None:
    """And there are at least two legal actions: else nobody is asked (W11)."""
    players, changes, seed, player = race
    rules = _rules(players, changes)
    record, is_legal = rules_array(rules)[0], plain(rulebook.is_legal)
    for state, action in decisions(rules, seed, player, 60):
        if action >= 0:
            legal = [one for one in range(-2, NUM_ACTIONS + 2) if is_legal(state, record, one)]
            assert legal == legal_actions(state, record)
            assert len(legal) >= 2


@settings(max_examples=10, deadline=None)
@given(RACES)
def test_nothing_seen_depends_on_the_order_of_the_hidden_cards(
    race: tuple[int, dict[str, int], int, Any],
) -> None:
    """Nor on the dice to come; `redeal` changes both and nothing else."""
    players, changes, seed, player = race
    rules = _rules(players, changes)
    record, room = rules_array(rules)[0], np.zeros(rulebook.REDEAL_ROOM, np.int8)
    for number, (state, _) in enumerate(decisions(rules, seed, player, MOST)):
        if number % 10:
            continue
        before, seen = state.tobytes(), [_seen(state, rules, seat) for seat in range(players)]
        other = np.frombuffer(before, rulebook.STATE).copy().view(np.recarray)[0]
        plain(rulebook.redeal)(other, record, 0, seed, number, room)
        assert sorted(other.deck) == sorted(state.deck)
        assert (other.key != state.key).any()
        for seat in range(players):
            assert (_seen(other, rules, seat) == seen[seat]).all()
        assert legal_actions(other, record) == legal_actions(state, record)
        other.key[:], other.deck[:] = state.key, state.deck
        assert other.tobytes() == before


@settings(max_examples=10, deadline=None)
@given(RACES)
def test_what_is_seen_is_within_its_bounds(race: tuple[int, dict[str, int], int, Any]) -> None:
    players, changes, seed, player = race
    rules = _rules(players, changes)
    for spec in (ObservationSpec(padded=0), ObservationSpec(padded=1)):
        highs = np.concatenate([np.full(part.size, part.high) for part in sections(rules, spec)])
        for number, (state, _) in enumerate(decisions(rules, seed, player, MOST)):
            if number % 5 == 0:
                row = _seen(state, rules, number % players, spec)
                assert (row >= 0).all()
                assert (row <= highs).all()


def test_each_seat_sees_the_same_from_its_own_place() -> None:
    rules = _rules(4, {})
    for state, _ in decisions(rules, 7, sober, MOST):
        rows = [_seen(state, rules, seat) for seat in range(4)]
        for part in sections(rules, SPEC):
            own = rows[0][part.start : part.stop]
            for seat in range(1, 4):
                other = rows[seat][part.start : part.stop]
                if part.owner == "table":
                    assert (other == own).all()
                else:
                    assert (other.reshape(4, -1) == np.roll(own.reshape(4, -1), -seat, axis=0)).all()


def test_two_different_positions_look_different() -> None:
    """All of the record that is not hidden can be told from an observation, or does not matter any more."""
    rules = _rules(3, {"combativity": 1})
    seen: dict[bytes, tuple[Any, ...]] = {}
    for seed in range(6):
        for state, action in decisions(rules, seed, sober):
            if action < 0:
                continue
            key = (_seen(state, rules, 0).tobytes(), int(state.turn))
            known = tuple(
                state[name].tolist()
                for name in ("seat", "phase", "peloton", "escaped", "lead", "energy", "owner", "jerseys")
            )
            known += tuple(state[name].tolist() for name in ("stacks", "square", "off_board", "out"))
            assert seen.setdefault(key, known) == known  # type: ignore[call-overload]
    assert len(seen) > 500


def test_no_play_shifts_the_dice() -> None:
    """The dice of a turn are functions of the key and the turn: the same for wild and for sober players."""
    rules = _rules(3, {})
    white, yellow = plain(white_die), plain(yellow_die)
    key = new_race(rules, 11)
    dice = [(white(key, turn), yellow(key, turn)) for turn in range(2000)]
    for player in (wild, sober):
        seen = 0
        for state, action in decisions(rules, 11, player):
            if action >= 0:
                assert int(state.white) in (0, dice[state.turn][0])
                assert int(state.yellow) in (0, dice[state.turn][1])
                seen += int(state.white) > 0
        assert seen > 30


@each("die", [white_die, yellow_die])
def test_the_dice_are_fair(die: Any) -> None:
    """003:44-45, a white and a yellow die; neither tells the other: all 36 pairs come about as often."""
    key = new_race(_rules(2, {}), 3)
    thrown = [plain(die)(key, turn) for turn in range(6000)]
    assert set(thrown) == set(range(1, 7))
    assert all(900 < thrown.count(face) < 1100 for face in range(1, 7))
    pairs = [(plain(white_die)(key, turn), plain(yellow_die)(key, turn)) for turn in range(7200)]
    assert len(set(pairs)) == 36
    assert all(140 < pairs.count(pair) < 270 for pair in set(pairs))


@settings(max_examples=10, deadline=None)
@given(RACES)
def test_every_action_that_is_not_legal_has_a_reason(race: tuple[int, dict[str, int], int, Any]) -> None:
    players, changes, seed, player = race
    rules, rng = _rules(players, changes), random.Random(seed)
    for state, action in decisions(rules, seed, player, 40):
        if action >= 0:
            legal = legal_actions(state, rules_array(rules)[0])
            for other in rng.sample(sorted(set(range(NUM_ACTIONS)) - set(legal)), 20):
                reason = rulebook.reason_against(state, rules, other)
                assert reason
                assert reason[0].islower()


def test_a_full_state_shows_the_cards_to_come() -> None:
    rules = _rules(3, {})
    parts = full_state_sections(rules, SPEC)
    for state, _ in decisions(rules, 5, sober, 40):
        row = np.zeros(parts[-1].stop, np.int8)
        plain(rulebook.write_hidden)(state, rules_array(rules)[0], 0, SPEC, row, parts[-1].start)
        assert not row[: parts[-1].start].any()
        left = state.deck[state.deck_next :]
        assert (row[parts[-1].start :][: len(left)] == left + 1).all()
        assert row.max() <= parts[-1].high

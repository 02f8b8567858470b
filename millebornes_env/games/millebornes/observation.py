"""Observations: everything that a seat can see, as a row of small integers.

The row consists of sections (`sections.BySection`), each written by the function `write_NAME`. Teams and
seats are counted from the observer: its own first, then to the left.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import IS_COMPILED, rule
from millebornes_env.engine.numba.simd import copy_numbers, subtract_numbers
from millebornes_env.games.millebornes.actions import around
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DISTANCE_200,
    DRIVING_ACE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_HAZARDS,
    NUM_SAFETIES,
)
from millebornes_env.games.millebornes.motion import is_limited, is_moving, team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.sections import (
    MAX_INT8,
    NUM_RULES,
    OFFSETS,
    SCORE_UNIT,
    ObservationSpec,
    RowShape,
    longest_stream,
    observation_size,
    part_of,
    row_shape_of,
    shown_seats,
    start_of,
)
from millebornes_env.games.millebornes.state import ROUND_OVER, Int8Array, State

OBSERVATION_VERSION: Final = 2
"""Increased when a trained agent would see different numbers."""


@rule
def write_observation(
    state: State, rules: RulesRecord, seat: int, spec: ObservationSpec, row: Int8Array
) -> None:
    """Write the observation of a seat.

    Args:
        state: the game.
        rules: the table's rules.
        seat: the observer, whether it is to act or not.
        spec: the observation spec.
        row: int8[observation_size], overwritten.
    """
    if not IS_COMPILED:
        assert len(row) == observation_size(rules, spec), "the row is not as long as the observation"
    shape = row_shape_of(rules, spec)
    row[:] = 0
    write_hand(state, rules, seat, row, start_of(OFFSETS.hand, shape))
    write_discard_pile(state, rules, seat, row, start_of(OFFSETS.discard_pile, shape))
    write_draw_pile(state, rules, seat, row, start_of(OFFSETS.draw_pile, shape))
    write_phase(state, rules, seat, row, start_of(OFFSETS.phase, shape))
    write_pending_hazard(state, rules, seat, row, start_of(OFFSETS.pending_hazard, shape))
    write_target(state, rules, seat, row, start_of(OFFSETS.target, shape))
    for index in range(rules.players):
        write_seat(state, rules, around(seat + index, rules.players), shape, index, row)
    own = team_of(rules, seat)
    for index in range(rules.teams):
        write_team(state, rules, around(own + index, rules.teams), shape, index, row)
    if spec.unseen == 1:
        write_unseen(state, rules, seat, row, start_of(OFFSETS.unseen, shape))
    if spec.rules == 1:
        write_rules(state, rules, seat, row, start_of(OFFSETS.rules, shape))


@rule
def write_seat(
    state: State, rules: RulesRecord, seat: int, shape: RowShape, index: int, row: Int8Array
) -> None:
    """Write the sections of a seat, the `index`-th to the left from the observer."""
    write_to_act(state, rules, seat, row, part_of(OFFSETS.to_act, shape, index))
    write_hand_counts(state, rules, seat, row, part_of(OFFSETS.hand_counts, shape, index))


@rule
def write_team(
    state: State, rules: RulesRecord, team: int, shape: RowShape, index: int, row: Int8Array
) -> None:
    """Write the sections of a team, the `index`-th to the left from the observer's."""
    write_extension(state, rules, team, row, part_of(OFFSETS.extension, shape, index))
    write_battle(state, rules, team, row, part_of(OFFSETS.battle, shape, index))
    write_opening(state, rules, team, row, part_of(OFFSETS.opening, shape, index))
    write_moving(state, rules, team, row, part_of(OFFSETS.moving, shape, index))
    write_limited(state, rules, team, row, part_of(OFFSETS.limited, shape, index))
    write_km(state, rules, team, row, part_of(OFFSETS.km, shape, index))
    write_two_hundreds(state, rules, team, row, part_of(OFFSETS.two_hundreds, shape, index))
    write_safeties(state, rules, team, row, part_of(OFFSETS.safeties, shape, index))
    write_coups_fourres(state, rules, team, row, part_of(OFFSETS.coups_fourres, shape, index))
    write_score(state, rules, team, row, part_of(OFFSETS.score, shape, index))


# One function for each section, all with the same arguments: the game, the rules, the observer (or the team
# or seat that is shown), the row, and where to write in it. The row is 0 there.


@rule
def write_hand(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `hand`."""
    copy_numbers(row, at, state.hand[seat], 0, NUM_CARD_TYPES)


@rule
def write_discard_pile(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `discard_pile`."""
    copy_numbers(row, at, state.discard_pile, 0, NUM_CARD_TYPES)


@rule
def write_draw_pile(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `draw_pile`."""
    row[at] = state.draw_pile


@rule
def write_phase(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `phase`."""
    phase = int(state.phase)
    if phase != ROUND_OVER:
        row[at + phase] = 1


@rule
def write_to_act(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `to_act`, of one seat."""
    row[at] = 1 if int(state.seat) == seat and int(state.phase) != ROUND_OVER else 0


@rule
def write_pending_hazard(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `pending_hazard`."""
    hazard = int(state.pending_hazard)
    if hazard != NO_CARD:
        row[at + hazard - ACCIDENT] = 1


@rule
def write_target(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `target`."""
    row[at] = in_25s(int(state.target))


@rule
def write_extension(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `extension`, of one team."""
    row[at] = 1 if int(state.extension_team) == team else 0


@rule
def write_battle(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `battle`, of one team."""
    row[at + battle_top_code(int(state.battle[team]))] = 1


@rule
def write_opening(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `opening`, of one team."""
    row[at] = state.opening[team]


@rule
def write_moving(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `moving`, of one team."""
    row[at] = 1 if is_moving(state, rules, team) else 0


@rule
def write_limited(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `limited`, of one team."""
    row[at] = 1 if is_limited(state, team) else 0


@rule
def write_km(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `km`, of one team."""
    row[at] = in_25s(int(state.km[team]))


@rule
def write_two_hundreds(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `two_hundreds`, of one team."""
    row[at] = state.tableau[team, DISTANCE_200]


@rule
def write_safeties(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `safeties`, of one team."""
    copy_numbers(row, at, state.tableau[team], DRIVING_ACE, NUM_SAFETIES)


@rule
def write_coups_fourres(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `coups_fourres`, of one team."""
    copy_numbers(row, at, state.coup_fourre[team], 0, NUM_SAFETIES)


@rule
def write_hand_counts(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `hand_counts`, of one seat."""
    row[at] = state.hand_count[seat]


@rule
def write_score(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Write section `score`, of one team."""
    row[at] = min(int(state.score[team]) // SCORE_UNIT, MAX_INT8)


@rule
def write_unseen(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `unseen`: what lies in the other hands and in the draw pile."""
    subtract_numbers(row, at, state.hidden, 0, state.hand[seat], 0, NUM_CARD_TYPES)


@rule
def write_rules(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Write section `rules`: the numbers of `Rules.observed`."""
    copy_numbers(row, at, rules.observed, 0, NUM_RULES)


@rule
def in_25s(km: int) -> int:
    """Return `km // 25` for multiples of 25 up to 25,000, by a shift: 25 * 41 is just over 1,024."""
    return km * 41 >> 10


@rule
def battle_top_code(card: int) -> int:
    """Return the index of a battle pile's top card in `BATTLE_TOPS`, which has no Speed Limit."""
    if card == NO_CARD:
        return 0
    if card < ACCIDENT + NUM_HAZARDS - 1:
        return card - ACCIDENT + 1
    return card - ACCIDENT


@rule
def write_hidden_cards(
    state: State, rules: RulesRecord, seat: int, spec: ObservationSpec, row: Int8Array, at: int
) -> None:
    """Write what a full state adds to the observation, from `at` on; the row is 0 there."""
    streams_at = at + (shown_seats(rules, spec) - 1) * NUM_CARD_TYPES
    for index in range(rules.players):
        other = around(seat + index, rules.players)
        if index > 0:
            write_hand(state, rules, other, row, at + (index - 1) * NUM_CARD_TYPES)
        write_stream(state, other, row, streams_at + index * longest_stream(rules, spec))


@rule
def write_stream(state: State, seat: int, row: Int8Array, at: int) -> None:
    """Write section `streams` of the full state, of one seat."""
    first = int(state.stream_next[seat])
    left = int(state.stream_end[seat]) - first
    for step in range(left):
        row[at + step] = int(state.deck[first + step]) + 1

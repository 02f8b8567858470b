"""What the others have played since a seat's own decisions, read from what it saw there.

An agent is asked only when its seat is to decide. So it remembers the game as it knew it at its last
decisions and what it did there (`Past`), and between two of them finds the plays of the others that lead from
one to the next (`read_past`): of every play it tries whether the rules allow it and whether in the end all
that everybody can see is as it was seen. For two players one such reading is left nearly always. Where
others discard after each other, nobody has told who discarded what, and several readings may be left: a
belief then takes one of them by lot for each redeal.

The seat is seat 0 here, as in `kernels`. Cards that it does not see are where `lay_out_hidden_cards` has
put them; who plays a card is given it first (`let_hold`), so that the rulebook itself plays the game on.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array, with_room
from millebornes_env.compile import for_kernels, kernel, rule, stack_array
from millebornes_env.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    PASS,
    card_of,
    is_discard,
    num_actions,
    opponent_of,
    target_team,
)
from millebornes_env.millebornes.cards import NO_CARD, NUM_CARD_TYPES, is_hazard, safety_against
from millebornes_env.millebornes.legality import is_discardable, is_legal
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.observation import write_observation
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.sections import (
    DEFAULT_SPEC,
    OFFSETS,
    observation_size,
    room_of,
    start_of,
)
from millebornes_env.millebornes.state import (
    CLAIM,
    EXTENSION,
    PLAY,
    ROUND_OVER,
    Int8Array,
    State,
    StateArray,
    new_states,
)
from millebornes_env.millebornes.turn import step

OWN: Final = 0
"""The seat that remembers."""

MAX_READINGS: Final = 8
"""Where more readings are left than these, the others' plays say nothing."""
MAX_EVENTS: Final = 16
"""Of a reading: plays of others, and hazards that nobody has parried."""
_MAX_PLAYS: Final = 8
"""Between two own decisions; seven others play once, and again after a safety."""
_DEPTH: Final = _MAX_PLAYS + 3  # the own play before them, an extension
_MOST_TRIES: Final = 4_000
"""Plays that are tried between two own decisions."""
_LONGEST_ROW: Final = 512


class Past(NamedTuple):
    """What seats remember, P slots with W decisions each; the ring of a slot begins anew in every round."""

    roots: StateArray  # [P, W] the game as the seat knew it
    actions: Int64Array  # [P, W] what it did
    count: Int64Array  # [P] decisions of the round so far


class Readings(NamedTuple):
    """What the others did, for one decision: W windows, the newest first, up to K readings of up to E events.

    An event is a decision of a seat whose hand is hidden. In its record that seat is to decide, and its hand
    is anything. PASS says that a hazard was laid and not parried: who held the safety let it stand.
    """

    states: StateArray  # [W * K * E] the game as everybody could see it
    actions: Int64Array  # [W, K, E] what was played
    events: Int64Array  # [W, K] how many there are
    count: Int64Array  # [W] readings
    path: StateArray  # [_DEPTH + 1] scratch; the last for what might have been
    found: StateArray  # [E] scratch: events of the reading that is tried
    found_actions: Int64Array  # [E] scratch


def new_past(window: int) -> Past:
    """A memory for no slot yet, of so many decisions each."""
    roots = np.zeros((0, window), new_states(0).dtype)
    return Past(for_kernels(roots), np.zeros((0, window), np.int64), np.zeros(0, np.int64))


def past_with_room(past: Past, slots: int) -> Past:
    """The memory, with room for so many slots."""
    if slots <= len(past.count):
        return past
    roots = for_kernels(with_room(past.roots, slots))
    return Past(roots, with_room(past.actions, slots), with_room(past.count, slots))


def new_readings(window: int) -> Readings:
    """Room for what the others did."""
    size = window * MAX_READINGS * MAX_EVENTS
    scratch = _DEPTH + 1
    states = for_kernels(new_states(size + scratch + MAX_EVENTS))
    return Readings(
        states=states[:size],
        actions=np.zeros((window, MAX_READINGS, MAX_EVENTS), np.int64),
        events=np.zeros((window, MAX_READINGS), np.int64),
        count=np.zeros(window, np.int64),
        path=states[size : size + scratch],
        found=states[size + scratch :],
        found_actions=np.zeros(MAX_EVENTS, np.int64),
    )


# Remembering ------------------------------------------------------------------------------------------------


@kernel
def remember(past: Past, slot_ids: Int64Array, roots: StateArray, actions: Int64Array) -> None:
    """Note decisions that were taken.

    Args:
        past: with room for the slots.
        slot_ids: int64[N].
        roots: STATE[N], the games as the seats knew them.
        actions: int64[N], what they did.
    """
    window = past.actions.shape[1]
    for number in range(len(slot_ids)):
        slot, root = int(slot_ids[number]), roots[number]
        if int(root.phase) == ROUND_OVER:
            continue
        if is_new_round(past, slot, root):
            past.count[slot] = 0
        place = int(past.count[slot]) % window
        past.roots[slot, place] = root
        past.actions[slot, place] = actions[number]
        past.count[slot] += 1


@rule
def is_new_round(past: Past, slot: int, root: State) -> bool:
    """Whether the last decision was one of an earlier round: the draw pile never grows in a round."""
    count = int(past.count[slot])
    if count == 0:
        return True
    last = past.roots[slot, (count - 1) % past.actions.shape[1]]
    return int(root.draw_pile) > int(last.draw_pile)


# Reading ----------------------------------------------------------------------------------------------------


@kernel
def read_past(past: Past, slot: int, root: State, rules: RulesRecord, readings: Readings) -> int:
    """Find what the others have played since the last own decisions.

    Args:
        past: what the seat remembers.
        slot: of the seat.
        root: the game as it knows it now.
        rules: the table's.
        readings: overwritten.

    Returns:
        How many windows are readable, from the newest back; a window lies between two own decisions.
    """
    window = past.actions.shape[1]
    if is_new_round(past, slot, root):
        return 0
    known = min(int(past.count[slot]), window)
    for back in range(known):
        place = (int(past.count[slot]) - 1 - back) % window
        after = (place + 1) % window
        end = root if back == 0 else past.roots[slot, after]
        find_readings(past.roots[slot, place], int(past.actions[slot, place]), end, rules, readings, back)
        if int(readings.count[back]) == 0:
            return back
    return known


@rule
def find_readings(
    start: State, action: int, end: State, rules: RulesRecord, readings: Readings, back: int
) -> None:
    """List the readings of one window; none if there are too many.

    Args:
        start: the game at an own decision.
        action: what the seat did there.
        end: the game at its next decision.
        rules: the table's.
        readings: its window `back` is overwritten.
        back: number of the window.
    """
    left = stack_array(np.int64, NUM_CARD_TYPES)
    plays = cards_shown(start, action, end, left)
    readings.count[back] = 0
    if plays < 0 or plays > _MAX_PLAYS:
        return
    next_choice = stack_array(np.int64, _DEPTH)
    events = stack_array(np.int64, _DEPTH)  # before the play at this depth
    played = stack_array(np.int64, _DEPTH)  # the card that led here
    row, row_of_end = stack_array(np.int8, _LONGEST_ROW), stack_array(np.int8, _LONGEST_ROW)
    size = observation_size(rules, DEFAULT_SPEC)
    write_observation(end, rules, OWN, DEFAULT_SPEC, row_of_end[:size])
    path = readings.path
    path[0] = start
    depth, tries = 0, 0
    next_choice[0], events[0], played[0] = action * (rules.players + 1), 0, NO_CARD
    while depth >= 0:
        here = path[depth]
        choice = next_choice[depth]
        is_first = depth == 0
        last = (action + 1 if is_first else num_actions(rules.teams)) * (rules.players + 1)
        if choice < last and depth < _DEPTH - 1 and tries < _MOST_TRIES:
            next_choice[depth] = choice + 1
            tried, claimer = choice // (rules.players + 1), choice % (rules.players + 1) - 1
            card = NO_CARD if is_first else card_shown_by(here, tried)
            if card != NO_CARD and left[card] == 0:
                continue
            path[depth + 1] = here
            tries += 1
            count = play_on(path[depth + 1], rules, tried, claimer, is_first, readings, int(events[depth]))
            if count < 0:
                continue
            depth += 1
            if card != NO_CARD:
                left[card] -= 1
            next_choice[depth], events[depth], played[depth] = 0, count, card
            now = path[depth]
            if int(now.seat) == OWN or int(now.phase) == ROUND_OVER:
                next_choice[depth] = num_actions(rules.teams) * (rules.players + 1)
                if has_shown_all(left) and looks_like(now, rules, row[:size], row_of_end[:size]):
                    keep_reading(readings, back, count)
        else:
            if depth > 0 and played[depth] != NO_CARD:
                left[played[depth]] += 1
            depth -= 1
    if tries >= _MOST_TRIES or int(readings.count[back]) > MAX_READINGS:
        readings.count[back] = 0


@rule
def cards_shown(start: State, action: int, end: State, left: Int64Array) -> int:
    """Which cards the others have shown between two own decisions, by type; how many, -1: it cannot be."""
    own = card_shown_by(start, action)
    count = 0
    for card in range(NUM_CARD_TYPES):
        left[card] = int(start.hidden[card]) - int(end.hidden[card]) - (1 if card == own else 0)
        if left[card] < 0:
            return -1
        count += int(left[card])
    return count


@rule
def card_shown_by(state: State, action: int) -> int:
    """The card that an action takes from the hand of who decides, or NO_CARD."""
    if action == CLAIM_COUP_FOURRE:
        return safety_against(int(state.pending_hazard)) if int(state.phase) == CLAIM else NO_CARD
    return card_of(action)


@rule
def has_shown_all(left: Int64Array) -> bool:
    """Whether no card is left to be explained."""
    for card in range(NUM_CARD_TYPES):
        if left[card] != 0:
            return False
    return True


@rule
def looks_like(state: State, rules: RulesRecord, row: Int8Array, row_of_end: Int8Array) -> bool:
    """Whether everybody sees the same; the own hand, and what it leaves unseen, are not asked about."""
    write_observation(state, rules, OWN, DEFAULT_SPEC, row)
    room = room_of(rules, DEFAULT_SPEC)
    for place in range(start_of(OFFSETS.hand, room) + NUM_CARD_TYPES, start_of(OFFSETS.unseen, room)):
        if row[place] != row_of_end[place]:
            return False
    return True


@rule
def keep_reading(readings: Readings, back: int, count: int) -> None:
    """Note the events that led to the end, if there is room."""
    reading = int(readings.count[back])
    readings.count[back] += 1
    if reading >= MAX_READINGS:
        return
    readings.events[back, reading] = count
    first = (back * MAX_READINGS + reading) * MAX_EVENTS
    for event in range(count):
        readings.states[first + event] = readings.found[event]
        readings.actions[back, reading, event] = readings.found_actions[event]


# One play ---------------------------------------------------------------------------------------------------


@rule
def play_on(
    game: State,
    rules: RulesRecord,
    action: int,
    claimer: int,
    is_own: bool,
    readings: Readings,
    events: int,
) -> int:
    """Play one action of who decides, and note what was decided in it.

    A hazard is laid against a side with a hidden hand in two ways: it stands (`claimer` -1), or a seat is
    asked and parries it next. Who is asked and lets it stand shows no more than who is not asked.

    Args:
        game: changed in place; if the play cannot be, to anything.
        rules: the table's.
        action: what is played.
        claimer: the hidden seat that will parry, or -1.
        is_own: whether it is the own play, which is no event.
        readings: whose found events go on.
        events: found so far.

    Returns:
        Events found now; -1 if the play cannot be.
    """
    seat, card = int(game.seat), card_of(action)
    if int(game.phase) == CLAIM or int(game.phase) == EXTENSION:
        answer = CLAIM_COUP_FOURRE if int(game.phase) == CLAIM else EXTEND
        if claimer >= 0 or (action != answer and not is_own):
            return -1
    elif card == NO_CARD or (not is_own and not let_hold(game, rules, seat, card)):
        return -1
    if not may_play(game, rules, action):
        return -1
    if not is_own:
        events = note_event(game, action, readings, events)
        if events < 0:
            return -1
    attacks = int(game.phase) == PLAY and not is_discard(action) and card != NO_CARD and is_hazard(card)
    if not attacks:
        if claimer >= 0:
            return -1
        step(game, rules, action)
        return events
    return attack(game, rules, action, claimer, readings, events)


@rule
def may_play(game: State, rules: RulesRecord, action: int) -> bool:
    """Whether the rules allow the action to who holds the card; whether it may discard, its hand decides."""
    if is_discard(action):
        return int(game.phase) == PLAY and is_discardable(rules, card_of(action))
    return is_legal(game, rules, action)


@rule
def attack(
    game: State, rules: RulesRecord, action: int, claimer: int, readings: Readings, events: int
) -> int:
    """Lay a hazard that stands, or that a seat is asked about; as `play_on`."""
    hazard, attacker = card_of(action), int(game.seat)
    safety = safety_against(hazard)
    victims = target_team(rules.teams, team_of(rules, attacker), opponent_of(action))
    if int(game.hand[OWN, safety]) > 0 and team_of(rules, OWN) == victims:
        if claimer >= 0:
            return -1
        step(game, rules, action)  # the own seat is asked: its next decision
        return events
    if claimer >= 0:
        if claimer == OWN or team_of(rules, claimer) != victims:
            return -1
        if not let_hold(game, rules, claimer, safety):
            return -1
        step(game, rules, action)
        return events if int(game.phase) == CLAIM and int(game.seat) == claimer else -1
    asked = readings.path[len(readings.path) - 1]
    for victim in range(1, rules.players):
        if team_of(rules, victim) == victims:
            readings.path[len(readings.path) - 1] = game
            if let_hold(asked, rules, victim, safety):
                step(asked, rules, action)
                if int(asked.phase) == CLAIM and int(asked.seat) == victim:
                    events = note_event(asked, PASS, readings, events)
                    if events < 0:
                        return -1
    step(game, rules, action)
    if int(game.phase) == CLAIM and int(game.seat) != OWN:
        step(game, rules, PASS)
    return events


@rule
def note_event(game: State, action: int, readings: Readings, events: int) -> int:
    """Note a decision of a hidden seat; how many are noted then, -1: there is no room."""
    if events >= MAX_EVENTS:
        return -1
    readings.found[events] = game
    readings.found_actions[events] = action
    return events + 1


@rule
def let_hold(game: State, rules: RulesRecord, seat: int, card: int) -> bool:
    """Let a hidden seat hold a card, in exchange for another one, if the card is hidden; whether it does."""
    if int(game.hand[seat, card]) > 0:
        return True
    given = 0
    while given < NUM_CARD_TYPES and int(game.hand[seat, given]) == 0:
        given += 1
    if given == NUM_CARD_TYPES:
        return False
    for other in range(1, rules.players):
        if int(game.hand[other, card]) > 0:
            game.hand[other, card] = int(game.hand[other, card]) - 1
            game.hand[other, given] = int(game.hand[other, given]) + 1
            return swapped_in(game, seat, card, given)
    for stream in range(rules.players):
        for place in range(int(game.stream_next[stream]), int(game.stream_end[stream])):
            if int(game.deck[place]) == card:
                game.deck[place] = given
                return swapped_in(game, seat, card, given)
    return False


@rule
def swapped_in(game: State, seat: int, card: int, given: int) -> bool:
    """The seat's part of an exchange."""
    game.hand[seat, given] = int(game.hand[seat, given]) - 1
    game.hand[seat, card] = int(game.hand[seat, card]) + 1
    return True

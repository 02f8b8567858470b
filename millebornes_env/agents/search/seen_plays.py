"""Plays of the others, read from the record of a game instead of the memory of one seat.

Everybody at a table sees who discards what, and so does a reader of the record. So nothing has to be
inferred, unlike in `history`. A hazard that stands is an event of each seat that might hold the safety
against it: the record also says which seat was asked, and so who holds it, but the table does not see that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.search.history import PlayWindow, interpretation_of
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    PASS,
    card_of,
    is_discard,
    opponent_of,
    target_team,
)
from millebornes_env.games.millebornes.cards import NO_CARD, is_hazard, safety_against
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, PLAY, State, StateArray, new_states
from millebornes_env.games.millebornes.turn import step

EVENTS_OF_A_PLAY: Final = 8
"""Most events of one play: the play itself, and one for each seat of a team that accepts the hazard."""

PastPlay = tuple[StateArray, int]
"""STATE[1] before a decision, and its action."""


def windows_seen(plays: Sequence[PastPlay], rules: RulesRecord, viewer: int) -> tuple[PlayWindow, ...]:
    """Return the others' plays since each of a viewer's last decisions of the round, the newest first.

    Seats are numbered as in the record, not relative to the viewer as in `history`. `plays` are all decisions
    of the round, the oldest first; each window has one reading.
    """
    events, actions = for_kernels(new_states(EVENTS_OF_A_PLAY)), np.zeros(EVENTS_OF_A_PLAY, np.int64)
    windows: list[list[PastPlay]] = [[]]
    for number, (states, action) in enumerate(plays):
        if int(states["seat"][0]) == viewer:
            windows.append([])
        count = write_events(states, rules, viewer, action, _is_parried(plays, number), events, actions, 0)
        windows[-1] += [(events[at : at + 1].copy(), int(actions[at])) for at in range(count)]
    return tuple((interpretation_of(window),) for window in reversed(windows))


def _is_parried(plays: Sequence[PastPlay], number: int) -> int:
    """Return 1 if the first reaction other than a pass is a coup fourré, else 0."""
    after = (action for _, action in plays[number + 1 :] if action != PASS)
    return int(next(after, PASS) == CLAIM_COUP_FOURRE)


@kernel
def write_events(
    states: StateArray,
    rules: RulesRecord,
    viewer: int,
    action: int,
    is_parried: int,
    events: StateArray,
    actions: Int64Array,
    first: int,
) -> int:
    """Write the events of a decision, as seen by a viewer, whose own decisions are no events.

    Args:
        states: STATE[1], the game before the decision.
        rules: rules of the table.
        viewer: the seat that looks on.
        action: the action.
        is_parried: 1 if it is parried by a coup fourré, else 0.
        events: STATE[M], overwritten from `first` on: the game before each event. The seat of an event is the
            acting one in its record, and its hand is arbitrary.
        actions: int64[M], overwritten: the action of each event.
        first: index of the first event.

    Returns:
        The index after the last event, at most `first` + EVENTS_OF_A_PLAY.
    """
    index = first
    seat, card = int(states[0].seat), card_of(action)
    if seat != viewer and action != PASS:
        events[index] = states[0]
        actions[index] = action
        index += 1
    if is_parried == 1 or int(states[0].phase) != PLAY or card == NO_CARD or is_discard(action):
        return index
    if not is_hazard(card):
        return index
    victims = target_team(rules.teams, seat % rules.teams, opponent_of(action))
    for victim in range(victims, rules.players, rules.teams):
        if victim != viewer and lets_stand(states[0], rules, viewer, victim, action, events, index):
            actions[index] = PASS
            index += 1
    return index


@rule
def lets_stand(
    state: State, rules: RulesRecord, viewer: int, victim: int, action: int, games: StateArray, index: int
) -> bool:
    """Write the state in which `victim` is asked for the safety; return False if the viewer excludes it."""
    safety = safety_against(card_of(action))
    if int(state.hidden[safety]) == int(state.hand[viewer, safety]):
        return False
    games[index] = state
    game = games[index]
    for seat in range(rules.players):
        game.hand[seat, safety] = 1 if seat == victim else 0
    step(game, rules, action)
    return int(game.phase) == CLAIM and int(game.seat) == victim

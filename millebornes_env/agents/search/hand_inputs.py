"""Inputs of the network that predicts a hidden hand: the other player's plays, and the current table.

For two players. Everything here can be seen by the seat that asks: cards in hidden hands are not looked at.
A play is shown with the table on which it was made, and with all that could have been laid there by whoever
held the card, so that a card that was not laid says something. The table of now is shown in the same way, as
if it were the other player's turn, and with it the cards that are still unseen.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.engine.numba.compiling import kernel, rule
from millebornes_env.games.millebornes.actions import CLAIM_COUP_FOURRE, FIRST_FURTHER_HAZARD
from millebornes_env.games.millebornes.cards import (
    DISTANCE_200,
    DRIVING_ACE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_SAFETIES,
)
from millebornes_env.games.millebornes.legality import legal_actions
from millebornes_env.games.millebornes.motion import is_limited, is_moving
from millebornes_env.games.millebornes.observation import battle_top_code, in_25s
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import NO_TEAM, PLAY, Int8Array, State, StateArray

INPUTS_VERSION: Final = 1
"""Goes up when a network would be shown other things at the same places."""

NUM_ACTIONS: Final = FIRST_FURTHER_HAZARD
"""Of a table of two teams."""

_BATTLE_TOPS: Final = 10
_NEAR: Final = 9  # 25s to the target: 1 to 8, more
_PILE_LEVELS: Final = 8
_PILE_STEP: Final = 12
_LAID: Final = NUM_CARD_TYPES + NUM_ACTIONS - CLAIM_COUP_FOURRE
_OF_A_SIDE: Final = _BATTLE_TOPS + 2 + NUM_SAFETIES + _NEAR + 2
_OF_A_TABLE: Final = _LAID + 2 * _OF_A_SIDE + 1 + _PILE_LEVELS

EVENT_SIZE: Final = NUM_ACTIONS + _OF_A_TABLE
"""Numbers that show a play, each 0 or 1."""
NOW_SIZE: Final = _OF_A_TABLE + 2 * NUM_CARD_TYPES + 2
"""Numbers that show the table of now."""
NOW_SCALE: Final = 0.25
"""Scale of the inputs of the current table: counts of unseen cards are larger than 1."""


@rule
def write_side(game: State, rules: RulesRecord, team: int, row: Int8Array, start: int) -> int:
    """Show what lies before a side; where the next number goes."""
    row[start + battle_top_code(int(game.battle[team]))] = 1
    at = start + _BATTLE_TOPS
    row[at] = 1 if is_moving(game, rules, team) else 0
    row[at + 1] = 1 if is_limited(game, team) else 0
    at += 2
    for safety in range(NUM_SAFETIES):
        row[at + safety] = 1 if int(game.tableau[team, DRIVING_ACE + safety]) > 0 else 0
    at += NUM_SAFETIES
    left = max(in_25s(int(game.target)) - in_25s(int(game.km[team])), 1)
    row[at + min(left, _NEAR) - 1] = 1
    at += _NEAR
    laid = int(game.tableau[team, DISTANCE_200])
    row[at] = 1 if laid > 0 else 0
    row[at + 1] = 1 if laid > 1 else 0
    return at + 2


@rule
def write_table(game: State, rules: RulesRecord, row: Int8Array, start: int) -> int:
    """Show the table to a seat that may hold any card, and what could be laid; where the next number goes.

    Who is to decide in the game is given one card of each kind. The row is 0 from `start` on.
    """
    seat = int(game.seat)
    for card in range(NUM_CARD_TYPES):
        game.hand[seat, card] = 1
    legal = legal_actions(game, rules, seat)
    for card in range(NUM_CARD_TYPES):
        row[start + card] = legal >> card & 1
    at = start + NUM_CARD_TYPES
    for action in range(CLAIM_COUP_FOURRE, NUM_ACTIONS):
        row[at + action - CLAIM_COUP_FOURRE] = legal >> action & 1
    at = write_side(game, rules, seat, row, start + _LAID)
    at = write_side(game, rules, 1 - seat, row, at)
    row[at] = 0 if int(game.extension_team) == NO_TEAM else 1
    at += 1
    for level in range(_PILE_LEVELS):
        row[at + level] = 1 if int(game.draw_pile) > level * _PILE_STEP else 0
    return at + _PILE_LEVELS


@rule
def write_event(game: State, rules: RulesRecord, action: int, row: Int8Array) -> None:
    """Show a play in int8[EVENT_SIZE]; in the game before it the hand of who plays is overwritten."""
    row[:] = 0
    row[action] = 1
    write_table(game, rules, row, NUM_ACTIONS)


@rule
def write_now(game: State, rules: RulesRecord, viewer: int, row: Int8Array, unseen: Int64Array) -> int:
    """Show the table of now, as if the other one were to play; how many cards that one holds.

    Overwritten are the game, `row`, int8[NOW_SIZE], and `unseen`, int64[NUM_CARD_TYPES], what the viewer
    does not see.
    """
    row[:] = 0
    is_asked = 0 if int(game.phase) == PLAY else 1
    game.seat, game.phase, game.pending_hazard = 1 - viewer, PLAY, NO_CARD
    at = write_table(game, rules, row, 0)
    for card in range(NUM_CARD_TYPES):
        count = int(game.hidden[card]) - int(game.hand[viewer, card])
        unseen[card] = count
        row[at + card] = count
        row[at + NUM_CARD_TYPES + card] = 1 if count == 0 else 0
    size = int(game.hand_count[1 - viewer])
    row[at + 2 * NUM_CARD_TYPES] = size
    row[at + 2 * NUM_CARD_TYPES + 1] = is_asked
    return size


@kernel
def show_events(
    states: StateArray, actions: Int64Array, rules: RulesRecord, games: StateArray, rows: Int8Array
) -> None:
    """Show plays, int64[E], with the game before each, in int8[E, EVENT_SIZE]; `games` is scratch."""
    for event in range(len(actions)):
        games[0] = states[event]
        write_event(games[0], rules, int(actions[event]), rows[event])


@kernel
def show_now(
    root: State, rules: RulesRecord, viewer: int, games: StateArray, row: Int8Array, unseen: Int64Array
) -> int:
    """Show the table of now; see `write_now`. The game itself is left as it is."""
    games[0] = root
    return write_now(games[0], rules, viewer, row, unseen)

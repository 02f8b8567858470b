"""Action ids and their meaning: play, discard, claim, extend; the card, and the team it is played against.

The ids of a table with fewer teams are the first ids of a table with more, so that a network can be moved
from one to the other:

| ids | action |
|---|---|
| 0 .. 18 | play card `id` (a hazard: against the next team to the left) |
| 19 .. 37 | discard card `id - 19` |
| 38 | claim the coup fourré |
| 39 | pass: let the hazard stand |
| 40 | extend the trip |
| 41 | finish the trip without extension |
| 42 .. 46 | play hazard `id - 42 + ACCIDENT` against the second team to the left (3 or more teams) |
| 47 .. 51 | the same against the third (4 teams) |
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_HAZARDS,
    is_hazard,
)

FIRST_PLAY: Final = 0
FIRST_DISCARD: Final = NUM_CARD_TYPES
CLAIM_COUP_FOURRE: Final = 2 * NUM_CARD_TYPES
PASS: Final = CLAIM_COUP_FOURRE + 1
EXTEND: Final = CLAIM_COUP_FOURRE + 2
FINISH: Final = CLAIM_COUP_FOURRE + 3
FIRST_FURTHER_HAZARD: Final = CLAIM_COUP_FOURRE + 4

_NAMES_WITHOUT_CARD: Final = {
    CLAIM_COUP_FOURRE: "claim the coup fourré",
    PASS: "let the hazard stand",
    EXTEND: "extend the trip",
    FINISH: "finish the trip",
}


@rule
def num_actions(teams: int) -> int:
    """Return the number of action ids at a table with this many teams."""
    return FIRST_FURTHER_HAZARD + NUM_HAZARDS * (teams - 2)


@rule
def play_action(card: int, opponent: int) -> int:
    """Return the id of playing the card; `opponent` is 0 for the team to the left and without target."""
    if opponent == 0:
        return FIRST_PLAY + card
    return FIRST_FURTHER_HAZARD + (opponent - 1) * NUM_HAZARDS + (card - ACCIDENT)


@rule
def discard_action(card: int) -> int:
    """Return the id of discarding the card."""
    return FIRST_DISCARD + card


@rule
def is_discard(action: int) -> bool:
    """Return True if the action discards a card."""
    return FIRST_DISCARD <= action < CLAIM_COUP_FOURRE


@rule
def card_of(action: int) -> int:
    """Return the card that the action plays or discards, or NO_CARD."""
    if action < FIRST_DISCARD:
        return action
    if action < CLAIM_COUP_FOURRE:
        return action - FIRST_DISCARD
    if action < FIRST_FURTHER_HAZARD:
        return NO_CARD
    return ACCIDENT + (action - FIRST_FURTHER_HAZARD) % NUM_HAZARDS


@rule
def opponent_of(action: int) -> int:
    """Return the opponent that a hazard is played against: 0 is the next team to the left, then 1 ..."""
    if action < FIRST_FURTHER_HAZARD:
        return 0
    return 1 + (action - FIRST_FURTHER_HAZARD) // NUM_HAZARDS


@rule
def around(index: int, count: int) -> int:
    """Return `index % count` by subtraction, which is much faster for small indices."""
    while index >= count:
        index -= count
    return index


@rule
def target_team(teams: int, team: int, opponent: int) -> int:
    """Return the team of an opponent of `team`; opponents are counted to the left."""
    return around(team + 1 + opponent, teams)


def action_name(action: int, teams: int = 2, team: int | None = None) -> str:
    """Name the action in words: "play 200 km", "discard Stop", "Stop against team 2".

    Args:
        action: id.
        teams: number of teams at the table.
        team: the acting team, to name the attacked one; None names it by its distance to the left.

    Returns:
        The name. The name of an id out of range says so, for error messages.
    """
    if not 0 <= action < num_actions(teams):
        return f"action {action}, which is not in 0..{num_actions(teams) - 1}"
    if action in _NAMES_WITHOUT_CARD:
        return _NAMES_WITHOUT_CARD[action]
    card = card_of(action)
    if is_discard(action):
        return f"discard {CARD_NAMES[card]}"
    if not is_hazard(card):
        return f"play {CARD_NAMES[card]}"
    opponent = opponent_of(action)
    if team is not None:
        return f"{CARD_NAMES[card]} against team {target_team(teams, team, opponent)}"
    if num_actions(teams) == FIRST_FURTHER_HAZARD:
        return f"{CARD_NAMES[card]} against the other team"
    return f"{CARD_NAMES[card]} against team +{opponent + 1}"

"""The end of a turn, of a round and of a match."""

from __future__ import annotations

from millebornes_env.compile import rule
from millebornes_env.millebornes.actions import around
from millebornes_env.millebornes.editions import END_AFTER_TURN, Rules
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.state import NO_SEAT, NO_TEAM, State


@rule
def next_seat(state: State, rules: Rules, seat: int) -> int:
    """The seat whose turn follows that of `seat`, or NO_SEAT if the cards have run out.

    Rule: 004:5, turns go to the left; 004:35-37, with an empty draw pile until all hands are played out.
    Ruling E50: seats without cards are skipped.
    """
    if int(state.draw_pile) > 0:
        return around(seat + 1, rules.players)
    if rules.when_pile_is_empty == END_AFTER_TURN:
        return NO_SEAT
    for steps in range(1, rules.players + 1):
        other = around(seat + steps, rules.players)
        if int(state.hand_count[other]) > 0:
            return other
    return NO_SEAT


@rule
def can_extend(state: State, rules: Rules, seat: int) -> bool:
    """Whether the seat may now demand to go on to the longer trip.

    Rule: US, rules for 2 or 3 players, C: who first reaches exactly the target, exactly at that time.
    Rulings: E44 (once in a round, before the next draw; not where the trip is long already), E45, E46.
    """
    if rules.extended_target == 0 or int(state.extension_team) != NO_TEAM:
        return False
    return int(state.km[team_of(rules, seat)]) == int(state.target)


@rule
def play_extension(state: State, rules: Rules, seat: int) -> None:
    """Go on to the longer trip, as though the round had always been for it (US C)."""
    state.extension_team = team_of(rules, seat)
    state.target = rules.extended_target


@rule
def leader(values: tuple[int, int, int, int], teams: int) -> int:
    """The team with the single highest of the values, or NO_TEAM if two share it."""
    best = 0
    shared = False
    for team in range(1, teams):
        if values[team] > values[best]:
            best = team
            shared = False
        elif values[team] == values[best]:
            shared = True
    return NO_TEAM if shared else best


@rule
def match_winner(state: State, rules: Rules) -> int:
    """The team that has won the match, or NO_TEAM if another round must be played.

    Rule: US, winning the game: the first to 5,000; if several pass it in one round, the highest total.
    Ruling E52: equal highest totals, another round.
    """
    scores = (int(state.score[0]), int(state.score[1]), int(state.score[2]), int(state.score[3]))
    best = leader(scores, rules.teams)
    if best == NO_TEAM or int(state.score[best]) < rules.goal:
        return NO_TEAM
    return best


@rule
def next_dealer(state: State, rules: Rules) -> int:
    """The dealer of the next round: the seat to the left (rules 1.1)."""
    return around(int(state.dealer) + 1, rules.players)

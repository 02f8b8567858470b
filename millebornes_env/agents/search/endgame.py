"""The end of a round when the draw pile is empty: played exactly, where two play.

Who sees its own hand then knows the other one too: it is what has not been seen yet. Nothing is left to
chance, so the game is searched to its end, each side taking what is best for it (alpha-beta: Knuth and Moore,
"An analysis of alpha-beta pruning", 1975).

The seat that searches is seat 0, as in `kernels`.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final, NamedTuple

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.search.hidden_cards import OWN, Float64Array
from millebornes_env.compile import for_kernels, kernel, rule, seldom
from millebornes_env.millebornes.actions import FIRST_DISCARD
from millebornes_env.millebornes.legality import write_mask
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.scoring import round_score
from millebornes_env.millebornes.state import ROUND_OVER, Int8Array, State, StateArray, new_states
from millebornes_env.millebornes.turn import step
from millebornes_env.millebornes.winning import has_won_round, round_winner

MOST_DECISIONS: Final = 64
"""In a row: two hands of 11 cards, claims and an extension; positions beyond are not searched."""

NOT_SOLVED: Final = -1

LESS: Final = 0.5
"""Values differ by more than that, or not at all: whole points, or without points 1."""

_TWO: Final = 2


class Line(NamedTuple):
    """The line of play that is being searched, D decisions, and what is known of each; A actions."""

    games: StateArray  # [D + 1] the games; what follows the last one too
    actions: Int64Array  # [D, A] worth trying there, the most promising first
    counts: Int64Array  # [D] how many
    tried: Int64Array  # [D] how many of them have been tried
    best: Float64Array  # [D] the best value so far for who decides there
    low: Float64Array  # [D] the own side has this elsewhere
    high: Float64Array  # [D] the other side has this elsewhere
    values: Float64Array  # [A] of the root's actions
    mask: Int8Array  # [A] scratch


def new_line(actions: int) -> Line:
    """Room for a search, at a table with so many actions."""
    return Line(
        games=for_kernels(new_states(MOST_DECISIONS + 1)),
        actions=np.zeros((MOST_DECISIONS, actions), np.int64),
        counts=np.zeros(MOST_DECISIONS, np.int64),
        tried=np.zeros(MOST_DECISIONS, np.int64),
        best=np.zeros(MOST_DECISIONS, np.float64),
        low=np.zeros(MOST_DECISIONS, np.float64),
        high=np.zeros(MOST_DECISIONS, np.float64),
        values=np.zeros(actions, np.float64),
        mask=np.zeros(actions, np.int8),
    )


@rule
def value_of_round(game: State, rules: RulesRecord) -> float:
    """The own team's points less the mean of the others'; without points 1 for a win, 0 if shared, or -1."""
    if rules.count_points == 0:
        if not has_won_round(game, rules, OWN):
            return -1.0
        return 1.0 if round_winner(game, rules) == OWN else 0.0
    others = 0
    for team in range(1, rules.teams):
        others += round_score(game, team)
    return round_score(game, OWN) - others / (rules.teams - 1)


@rule
def is_all_known(root: Any, players: int) -> bool:
    """Whether the seat that searches knows all cards: the other hand is all that it has not seen."""
    return players == _TWO and int(root["draw_pile"]) == 0 and int(root["phase"]) != ROUND_OVER


@kernel
def solve(root: State, rules: RulesRecord, base: int, most: int, line: Line) -> tuple[int, int]:
    """Search a position in which all is known.

    Args:
        root: the game; seat 0 is to decide.
        rules: the table's, for two players.
        base: what seat 0 does if nothing is better.
        most: positions that may be looked at.
        line: scratch. Its `values` are then what the round is worth to seat 0, own points less the other's,
            after the base and after the best actions; after all others less than that.

    Returns:
        The best action, the base if none is better, or NOT_SOLVED if `most` positions were not enough; and
        how many were looked at.
    """
    line.games[0] = root
    begin(line, rules, 0, -inf, inf)
    best, seen = base, 0
    for place in range(-1, int(line.counts[0])):
        action = base if place < 0 else int(line.actions[0, place])
        if place >= 0 and action == base:
            continue
        low = -inf if place < 0 else float(line.values[best]) - LESS
        value, count = value_after(line, rules, action, low, most - seen)
        seen += count
        if seen >= most:
            return NOT_SOLVED, seen
        line.values[action] = value
        if value > line.values[best]:
            best = action
    return best, seen


@rule
def value_after(line: Line, rules: RulesRecord, action: int, low: float, most: int) -> tuple[float, int]:
    """What the round is worth after an action of the root, if that is above `low`, else a bound from above.

    Returns:
        The value, and how many positions were looked at: `most` if they were not enough.
    """
    line.low[0] = low
    line.high[0] = inf
    depth, seen, value = 0, 0, 0.0
    while True:
        seen += 1
        is_known = play_on(line.games, rules, depth, action)
        if is_known:
            value = value_of_round(line.games[depth + 1], rules)
        else:
            depth += 1
            begin(line, rules, depth, float(line.low[depth - 1]), float(line.high[depth - 1]))
        while depth > 0:  # back to where something is left to try
            if is_known:
                take(line, depth, value)
            if line.low[depth] < line.high[depth] and line.tried[depth] < line.counts[depth]:
                break
            value, is_known = float(line.best[depth]), True
            depth -= 1
        if depth == 0:
            return value, seen
        if seen >= most or depth + 1 >= MOST_DECISIONS:
            return 0.0, most
        action = int(line.actions[depth, line.tried[depth]])
        line.tried[depth] += 1


@seldom
def play_on(games: StateArray, rules: RulesRecord, depth: int, action: int) -> bool:
    """Play on from one position of the line to the next; whether the round is over there."""
    games[depth + 1] = games[depth]
    step(games[depth + 1], rules, action)
    return int(games[depth + 1].phase) == ROUND_OVER


@rule
def begin(line: Line, rules: RulesRecord, depth: int, low: float, high: float) -> None:
    """Begin with a position: list what is worth trying."""
    game = line.games[depth]
    line.counts[depth] = list_promising(game, rules, line.mask, line.actions[depth])
    line.tried[depth] = 0
    line.best[depth] = -inf if int(game.seat) == OWN else inf
    line.low[depth] = low
    line.high[depth] = high


@seldom
def list_promising(game: State, rules: RulesRecord, mask: Int8Array, actions: Int64Array) -> int:
    """List the legal actions, plays before discards; how many they are. The mask is scratch."""
    write_mask(game, rules, mask)
    count = 0
    for action in range(FIRST_DISCARD - 1, -1, -1):
        if mask[action] == 1:
            actions[count] = action
            count += 1
    for action in range(FIRST_DISCARD, len(mask)):
        if mask[action] == 1:
            actions[count] = action
            count += 1
    return count


@rule
def take(line: Line, depth: int, value: float) -> None:
    """Take note of what an action is worth that was tried."""
    if int(line.games[depth].seat) == OWN:
        line.best[depth] = max(line.best[depth], value)
        line.low[depth] = max(line.low[depth], value)
    else:
        line.best[depth] = min(line.best[depth], value)
        line.high[depth] = min(line.high[depth], value)

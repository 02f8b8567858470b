"""The arena's counts for the cycling race, by role: every action, and the results of the races."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.statistics import (
    Float64Array,
    Int64Array,
    Statistic,
    chosen_per,
    chosen_percent,
    per,
    percent,
)
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.actions import (
    ESCAPE,
    EXCHANGE_GREEN,
    EXCHANGE_POLKA_DOT,
    FIRST_RETIRE_FROM,
    GIVE_UP,
    NUM_ACTIONS,
    PASS,
    PAY,
    STAY,
    bid_action,
    bid_of,
)
from millebornes_env.games.wielerspel.escape import price_of_lead
from millebornes_env.games.wielerspel.jerseys import polka_dots
from millebornes_env.games.wielerspel.peloton import is_anybody_away
from millebornes_env.games.wielerspel.rulebook import win_share
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import (
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    GREENS,
    NO_SEAT,
    RAINBOW,
    Int8Array,
    State,
)

ACTION_COUNTS: Final = NUM_ACTIONS
"""Number of actions: the first counts are the actions, by id."""

COUNT_MEANINGS: Final = {
    "races": "races ridden",
    "wins": "races won alone",
    "shared": "races won together with others",
    "won_by_jerseys": "races won alone that rainbow jerseys ended",
    "won_by_inner_track": "races won alone that a rider beyond the inner track ended",
    "won_by_exhaustion": "races won alone by the ranking, as nobody was left to ride",
    "won_by_turns": "races won alone by the ranking, after the last turn",
    "turns": "turns of all races",
    "rainbows": "rainbow jerseys at the end of the races",
    "greens": "green jerseys at the end of the races",
    "polka_dots": "polka-dot jerseys at the end of the races",
    "energy": "energy at the end of the races",
    "retired": "servants retired",
    "out": "races that the own leader had left before their end",
    "escapes": "escapes out of the peloton",
    "rides_on": "moves further away of a rider who was away",
    "energy_escaping": "energy paid for escapes, and for the lead of a rider who was away",
    "auctions": "effort squares won by auction",
    "energy_bid": "energy paid for them",
}
"""Names and meanings of the counts after the actions."""

NUM_COUNTERS: Final = ACTION_COUNTS + len(COUNT_MEANINGS)
_NAMES: Final = tuple(COUNT_MEANINGS)


def index_of(name: str) -> int:
    """Return the index of a count in the counters."""
    return ACTION_COUNTS + _NAMES.index(name)


(
    _RACES,
    _WINS,
    _SHARED,
    _BY_JERSEYS,
    _BY_INNER_TRACK,
    _BY_EXHAUSTION,
    _BY_TURNS,
    _TURNS,
    _RAINBOWS,
    _GREENS,
    _POLKA_DOTS,
    _ENERGY,
    _RETIRED,
    _OUT,
    _ESCAPES,
    _RIDES_ON,
    _ENERGY_ESCAPING,
    _AUCTIONS,
    _ENERGY_BID,
) = (index_of(name) for name in _NAMES)


@rule
def count_action(state: State, rules: Rules, action: int, role_of: Int8Array, counters: Int64Array) -> None:
    """Count one action of a role and the energy it costs."""
    row = counters[int(role_of[int(state.seat)])]
    row[action] += 1
    if action == ESCAPE:
        row[_RIDES_ON if is_anybody_away(state) else _ESCAPES] += 1
        row[_ENERGY_ESCAPING] += int(state.number)
    elif action == PAY:
        row[_ENERGY_ESCAPING] += price_of_lead(state, rules)
    elif bid_of(action) > 0:
        count_bid(state, bid_of(action), role_of, counters)


@rule
def count_bid(state: State, amount: int, role_of: Int8Array, counters: Int64Array) -> None:
    """Count the auction for the new highest bidder instead of the previous one."""
    beaten = int(state.highest_bidder)
    if beaten != NO_SEAT:
        counters[int(role_of[beaten]), _AUCTIONS] -= 1
        counters[int(role_of[beaten]), _ENERGY_BID] -= int(state.highest_bid)
    own = int(role_of[int(state.seat)])
    counters[own, _AUCTIONS] += 1
    counters[own, _ENERGY_BID] += amount


@seldom
def count_round(state: State, rules: Rules, role_of: Int8Array, counters: Int64Array) -> None:
    """Count a finished race for each seat."""
    for seat in range(rules.players):
        row = counters[int(role_of[seat])]
        row[_RACES] += 1
        row[_TURNS] += int(state.turn)
        row[_RAINBOWS] += int(state.jerseys[seat, RAINBOW])
        row[_GREENS] += int(state.jerseys[seat, GREENS])
        row[_POLKA_DOTS] += polka_dots(state, seat)
        row[_ENERGY] += int(state.energy[seat])
        row[_RETIRED] += int(state.retired[seat])
        row[_OUT] += int(state.out[seat])
        share = win_share(state, rules, 0, seat)
        row[_SHARED] += 1 if 0.0 < share < 1.0 else 0
        if share == 1.0:
            count_win(int(state.ending), row)


@rule
def count_win(ending: int, row: Int64Array) -> None:
    """Count a race won alone, by how it ended."""
    row[_WINS] += 1
    row[_BY_JERSEYS] += 1 if ending == BY_JERSEYS else 0
    row[_BY_INNER_TRACK] += 1 if ending == BY_INNER_TRACK else 0
    row[_BY_EXHAUSTION] += 1 if ending == BY_EXHAUSTION else 0
    row[_BY_TURNS] += 1 if ending == BY_TURNS else 0


@rule
def count_episode(rules: Rules, first: int, shares: Float64Array, counters: Int64Array) -> None:
    """Count nothing: a race is one round."""


def part_played(points: npt.NDArray[np.int32], rules: Rules) -> Float64Array:
    """Return 0 for all: jerseys may come late."""
    return np.zeros(len(points))


# Statistics -----------------------------------------------------------------------------------------------


def _each_race(key: str, heading: str, unit: str, count: str | None = None) -> Statistic:
    return per(key, heading, f"{unit} per race", count or key, "races")


def _of_races(key: str, heading: str) -> Statistic:
    return percent(key, heading, key, "races", "races")


def _of_wins(key: str, heading: str) -> Statistic:
    return percent(key, heading, key, "wins", "wins")


_BIDS: Final = range(bid_action(1), FIRST_RETIRE_FROM)

STATISTICS: Final[tuple[Statistic, ...]] = (
    percent("races_won", "races won", "wins", "races", "races"),
    percent("races_shared", "races won together", "shared", "races", "races"),
    _of_wins("won_by_jerseys", "won by rainbow jerseys"),
    _of_wins("won_by_inner_track", "won at the end of the inner track"),
    _of_wins("won_by_exhaustion", "won by rank, all being exhausted"),
    _of_wins("won_by_turns", "won by rank, after the last turn"),
    _each_race("turns", "length of a race", "turns"),
    _each_race("rainbows", "rainbow jerseys", "jerseys"),
    _each_race("greens", "green jerseys left", "jerseys"),
    _each_race("polka_dots", "polka-dot jerseys left", "jerseys"),
    chosen_per(
        "exchanges",
        "exchanges for a rainbow jersey",
        "per race",
        (EXCHANGE_GREEN, EXCHANGE_POLKA_DOT),
        "races",
    ),
    _each_race("energy", "energy at the end", "energy"),
    _each_race("retired", "servants retired", "servants"),
    _of_races("out", "left the race exhausted"),
    _each_race("escapes", "escapes", "escapes"),
    _each_race("rides_on", "moves further away", "moves"),
    chosen_percent("escapes_taken", "escaped or rode further away", [ESCAPE], [ESCAPE, STAY], "the chances"),
    chosen_percent("given_up", "gave up an escape", [GIVE_UP], [GIVE_UP, PAY], "the prices asked"),
    _each_race("energy_escaping", "energy paid for escapes", "energy"),
    _each_race("auctions", "effort squares won by auction", "squares"),
    per("price", "paid for such a square", "energy", "energy_bid", "auctions"),
    chosen_percent("bids", "bid and did not pass", _BIDS, (PASS, *_BIDS), "the times asked"),
    chosen_per("decisions", "decisions", "decisions per race", range(ACTION_COUNTS), "races"),
)
"""All statistics, in the order of the tables."""

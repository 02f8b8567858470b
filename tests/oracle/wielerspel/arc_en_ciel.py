"""The proposed default of the race as a Python dict, written by hand from the specification, 4.8 to 4.11.

It is not the real board: the rule text (003) fixes what is marked with a line of it, the rest is a ruling.
"""

from __future__ import annotations

from typing import Any

Square = tuple[str, int]
"""The kind of a square (start, effort, chance, escape, supply, event, green, polka) and its number."""
Card = tuple[str, int]
"""The kind of a chance card and its number.

The kinds are supply, tail wind, no supply, escape, event (a red number), yellow event, forced retirement.
"""

FLAT, DESCENT, HEADWIND, COBBLES = ("effort", 2), ("effort", 1), ("effort", 3), ("effort", 3)
CLIMB_3, CLIMB_4 = ("effort", 3), ("effort", 4)
CHANCE, ESCAPE, SUPPLY, GREEN = ("chance", 0), ("escape", 0), ("supply", 5), ("green", 1)

BOARD: list[Square] = [
    *[("start", 0), FLAT, FLAT, CHANCE, HEADWIND],  # 0 to 4
    *[FLAT, ("event", 2), DESCENT, ESCAPE, COBBLES],  # 5 to 9; 6 is the roundabout, 003:162
    *[COBBLES, CHANCE, SUPPLY, CLIMB_3, CLIMB_4],  # 10 to 14
    *[("polka", 2), DESCENT, ESCAPE, FLAT, CHANCE],  # 15 to 19; 003:73: the first is worth 2 jerseys
    *[GREEN, FLAT, HEADWIND, ("event", 3), COBBLES],  # 20 to 24; 23 are the road works, 003:162
    *[CHANCE, CLIMB_4, CLIMB_4, CLIMB_4, ("polka", 3)],  # 25 to 29; 003:73: the second is worth 3
    *[DESCENT, ESCAPE, SUPPLY, FLAT, CHANCE],  # 30 to 34
    *[HEADWIND, FLAT, ESCAPE, CHANCE, DESCENT],  # 35 to 39
]

DECK: list[tuple[Card, int]] = [  # each card and how many there are of it
    (("supply", 5), 4),
    (("tail wind", 2), 4),  # 003:148: 2 units
    (("no supply", 0), 1),
    (("escape", 0), 5),
    (("event", 1), 2),
    (("event", 2), 4),
    (("event", 3), 2),
    (("event", 4), 1),
    (("yellow event", 2), 1),  # 003:166: there is one
    (("forced retirement", 0), 1),  # 003:174: there is one
]

ARC_EN_CIEL: dict[str, Any] = {
    "board": BOARD,
    "deck": DECK,
    "energy": 60,  # 003:40: at the start, and the most that a seat can have
    "servants": 6,  # 003:30
    "lap_supply": 15,  # 003:153
    "retirement": 15,  # 003:172
    "prices": [(1, 1), (6, 2), (13, 3)],  # from this lead on, this price: 003:57; the boundaries are a ruling
    "inner_track": 18,  # 003:36: more than three minutes wins; 18 arrows of 10 seconds are three minutes
    "jersey_cards": 12,  # of each of the four kinds
    "greens_for_a_rainbow": 3,  # 003:67
    "polkas_for_a_rainbow": 10,  # 003:67
    "target_rainbows": 3,  # 003:34; 003:200 names 5 as an option
    "also_green": 0,  # 003:200: to win, a seat must hold as many green jerseys besides
    "also_polka": 0,  # 003:200: and as many polka-dot jerseys
    "combativity": 0,  # 003:202: 1: the points decide who wins
    "max_turns": 2000,  # W9
}
"""Everything that a race needs to know besides the number of seats and the chance."""

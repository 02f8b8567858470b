"""Expected consequences of plays and contents of observations, from the rule texts alone."""

from __future__ import annotations

from tests.laws.conversions import (
    CARDS,
    DECISIONS,
    HAZARDS,
    ID_OF,
    Log,
    Record,
    Table,
    add,
    counts,
    deck_of,
    less,
    rules_of,
    streams_of,
)
from tests.oracle.oracle import (
    BATTLE_HAZARDS,
    DISTANCE_KM,
    HAZARD_OF_REMEDY,
    SAFETIES,
    SAFETY_AGAINST,
)
from tests.oracle.rules import OracleRules

BATTLE_TOPS = (*BATTLE_HAZARDS, *HAZARD_OF_REMEDY, "ROLL")


def sheets_of(log: Log, table: Table) -> tuple[list[dict[str, int]], int]:
    """The score sheets and the team that completed the trip (or -1), from nothing but the plays."""
    rules = rules_of(table)
    teams = range(table.teams)
    plays: list[list[str]] = [[] for _ in teams]
    coups = [0 for _ in teams]
    caller = -1
    to_draw = len(deck_of(table)) - rules.hand_size * table.players - 1
    for (seat, action), (_, following) in zip(log, [*log[1:], (0, ("end",))], strict=True):
        team = seat % len(teams)
        if action[0] == "claim":
            coups[team] += 1
        if action[0] == "extend":
            caller = team
        if action[0] == "play":
            plays[team].append(action[1])
        if following[0] in {"play", "discard"}:  # not: an answer to a hazard, a call at the end of the trip
            to_draw = max(0, to_draw - (2 if action[0] == "claim" else 1))
    km = [sum(DISTANCE_KM.get(card, 0) for card in plays[team]) for team in teams]
    last_team = log[-1][0] % len(teams)
    finished = log[-1][1] == ("finish",) or (log[-1][1][-1] in DISTANCE_KM and log[-1][1][0] == "play")
    target = rules.target if caller < 0 else rules.extended_target
    winner = last_team if finished and km[last_team] == target else -1
    sheets = []
    for team in teams:
        won = winner == team
        safeties = coups[team] + sum(card in SAFETIES for card in plays[team])
        failed = caller not in (-1, winner, team)
        sheets.append(
            {
                "distance": km[team],
                "safeties": 100 * safeties,
                "all_safeties": 300 * (safeties == 4),
                "coups_fourres": 300 * coups[team],
                "trip_completed": 400 * won,
                "delayed_action": 300 * (won and to_draw == 0),
                "safe_trip": 300 * (won and "DISTANCE_200" not in plays[team]),
                "extension": rules.extension_failure if failed else 200 * (won and team == caller),
                "shutout": shutout(rules, km, team, won),
            }
        )
    if not rules.count_points:
        sheets = [dict.fromkeys(sheet, 0) for sheet in sheets]
    return sheets, winner


def shutout(rules: OracleRules, km: list[int], team: int, won: bool) -> int:
    """The points for opponents without a distance card."""
    blank = km.count(0)
    if rules.shutout_to_all_placed:
        return 500 * blank if km[team] else 0
    return 500 if won and blank == len(km) - 1 else 0


def winner_of(sheets: list[dict[str, int]], km: list[int], finisher: int, rules: OracleRules) -> int:
    """The team that has won the round, or -1 where the best are equal."""
    if not rules.count_points and finisher >= 0:
        return finisher
    values = [sum(sheet.values()) for sheet in sheets] if rules.count_points else km
    return values.index(max(values)) if values.count(max(values)) == 1 else -1


def visible(record: Record, table: Table, seat: int) -> dict[str, list[int]]:
    """The sections of the seat's observation, read off the record and the rule sheet."""
    players, teams = table.players, table.teams
    rules = rules_of(table)
    sides = [(seat + place) % teams for place in range(teams)]
    kind = DECISIONS[record["phase"]]
    pending = record["pending_hazard"]
    tops = [-1, *(ID_OF[card] for card in BATTLE_TOPS)]
    laid = [
        [card for card, count in zip(CARDS, record["tableau"][side], strict=True) if count] for side in sides
    ]
    in_sight = add(*record["tableau"], record["discard_pile"], record["hand"][seat])
    in_sight = add(in_sight, counts([CARDS[pending]] if pending >= 0 else []))
    return {
        "hand": record["hand"][seat],
        "discard_pile": record["discard_pile"],
        "draw_pile": [sum(map(len, streams_of(record, players)))],
        "phase": [int(kind == name) for name in DECISIONS[:3]],
        "to_act": [
            int(kind is not None and (seat + place) % players == record["seat"]) for place in range(players)
        ],
        "pending_hazard": [int(pending == ID_OF[hazard]) for hazard in HAZARDS],
        "target": [record["target"] // 25],
        "extension": [int(record["extension_team"] == side) for side in sides],
        "battle": [int(record["battle"][side] == top) for side in sides for top in tops],
        "opening": [record["opening"][side] for side in sides],
        "moving": [
            int(rolls(rules, record["battle"][side], cards, record["opening"][side] == 1))
            for side, cards in zip(sides, laid, strict=True)
        ],
        "limited": [int(record["speed"][side] == ID_OF["SPEED_LIMIT"]) for side in sides],
        "km": [record["km"][side] // 25 for side in sides],
        "two_hundreds": [record["tableau"][side][ID_OF["DISTANCE_200"]] for side in sides],
        "safeties": [int(safety in cards) for cards in laid for safety in SAFETIES],
        "coups_fourres": [flag for side in sides for flag in record["coup_fourre"][side]],
        "hand_counts": [sum(record["hand"][(seat + place) % players]) for place in range(players)],
        "score": [min(record["score"][side] // 50, 127) for side in sides],
        "unseen": less(counts(deck_of(table)), in_sight),
    }


def rolls(rules: OracleRules, battle: int, laid: list[str], opened_by_hazard: bool) -> bool:
    """Return True if a team with these cards played, and `battle` on its battle pile, is moving."""
    top = CARDS[battle] if battle >= 0 else ""
    stopped = top in BATTLE_HAZARDS and SAFETY_AGAINST[top] not in laid
    if "RIGHT_OF_WAY" in laid or top == "ROLL":
        return not stopped
    if top == "":
        return not rules.start_needs_roll
    if top in HAZARD_OF_REMEDY:
        return not rules.roll_after_remedy or (rules.opening_remedy_starts and opened_by_hazard)
    return False


def opening_of(pile: list[str]) -> int:
    """Return how a battle pile began: 1 by a hazard with at most its remedy, 2 with another on that."""
    began = 0
    for place, card in enumerate(pile):
        if card in BATTLE_HAZARDS:
            began = 1 if place == 0 else min(2, 2 * began)
        elif card == "ROLL" or began == 2:
            began = 0
    return began


def concealed(record: Record, players: int, seat: int, longest: int) -> dict[str, list[int]]:
    """Return the sections that the full state adds to the seat's observation."""
    around = [(seat + place) % players for place in range(players)]
    streams = streams_of(record, players)
    coming = [[ID_OF[card] + 1 for card in streams[other]] for other in around]
    return {
        "other_hands": [count for other in around[1:] for count in record["hand"][other]],
        "streams": [number for stream in coming for number in stream + [0] * (longest - len(stream))],
    }

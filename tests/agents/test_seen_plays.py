"""Plays in the record are those that a seat reads from its memory; beliefs on the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from millebornes_env.agents.protocol import Table
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.seen_plays import windows_seen
from millebornes_env.games.millebornes.actions import PASS
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.play.web.opinions import belief_about_hands
from millebornes_env.play.web.table import CardTable

A_STOP_STANDS = """
battle 0: roll
battle 1: roll
hand 0: stop stop 25 50 75 100
hand 1: right_of_way 25 50 75 100 200
plays:
seat 0: stop against team 1
seat 1: pass
"""


def windows_of(table: CardTable, seat: int) -> Any:
    game = table._playing
    return windows_seen(game.plays_of_round(), compiled_rules(game.rules), seat)


def test_the_record_tells_what_a_seat_of_two_can_read() -> None:
    table = CardTable()
    compared = 0
    for seed in (1, 2):
        position = table.start("parker", seed=seed)
        searcher = SearchAgent(Table.of(table._at_the_table()), 0, belief="network", rollouts=2)
        while not position["over"]:
            states, seats = table._playing.states, np.array([position["to_act"]], np.int32)
            read = searcher.known(states, seats, seats.astype(np.int64))[0].windows
            told = windows_of(table, position["to_act"])
            if read and len(read[0]) == 1:
                compared += 1
                assert told[0][0].actions.tolist() == read[0][0].actions.tolist()
                assert told[0][0].states["phase"].tolist() == read[0][0].states["phase"].tolist()
            action = table.choose("strategist")["action"]
            searcher.note(states, seats, seats.astype(np.int64), np.array([action]))
            position = table.play(action)
    assert compared > 20


def test_that_a_hazard_stands_is_told_of_all_who_may_have_let_it_stand() -> None:
    table = CardTable()
    table.start("parker", 4, 2, seed=1)
    table.load(
        "table: 4 players in 2 teams\ndealer: 3\nbattle 1: roll\nhand 0: stop 25 ...\nhand 2: 25 ...\n"
        "hand 1: 25 50 75 ...\nhand 3: 50 75 ...\nplays:\nseat 0: stop against team 1\nseat 1: discard 25\n"
    )
    table.goto(2)
    (newest, *_) = windows_of(table, 2)
    actions, seats = newest[0].actions.tolist(), newest[0].states["seat"].tolist()
    assert actions[1:3] == [PASS, PASS]
    assert seats == [0, 1, 3, 1]
    assert windows_of(table, 1)[-1][0].states["seat"].tolist() == [0, 3]  # who looks on knows its own hand


def belief(table: CardTable) -> Any:
    return table.think("strategist", belief=True)["belief"]


def test_a_hazard_that_stands_makes_the_safety_less_probable() -> None:
    table = CardTable()
    table.load(A_STOP_STANDS)
    table.goto(2)
    while table.position()["to_act"] != 0:  # a turn of seat 1, which tells nothing of it
        table.play(next(one["action"] for one in table.position()["legal"] if one["kind"] == "discard"))
    (asked,) = belief(table)
    (unasked,) = belief_about_hands(table._at_the_table(), table._playing.plays_of_round()[2:])
    card = Card.RIGHT_OF_WAY
    assert asked["seat"] == 1
    assert 0 < asked["p"][card] < unasked["p"][card] / 2


def test_what_is_seen_elsewhere_is_in_no_hidden_hand() -> None:
    table = CardTable()
    table.load(
        "hand 0: right_of_way 3x stop 2x25 \nhand 1: 25 50 75 100 200 roll\nsafeties 1: extra_tank\n"
        "discard pile: ... \nstream 0: none\nstream 1: none\n"
    )
    (result,) = belief(table)
    held = {
        Card.DISTANCE_25,
        Card.DISTANCE_50,
        Card.DISTANCE_75,
        Card.DISTANCE_100,
        Card.DISTANCE_200,
        Card.ROLL,
    }
    assert [card for card, p in enumerate(result["p"]) if p > 0] == sorted(held)
    assert all(result["p"][card] == 1 for card in held)  # nothing else is hidden


def test_a_belief_sees_nothing_hidden() -> None:
    """Two deals that look the same to the seat give the same belief."""
    seen = "hand 0: stop 25 50 75 100 roll\nbattle 0: roll\ndealer: 1\n"
    result = []
    for hand in ("right_of_way 25 50 75 100 200", "driving_ace 4x200 roll"):
        table = CardTable()
        table.load(f"{seen}hand 1: {hand}\n")
        result.append(belief(table))
    assert result[0] == result[1]

"""Positions of the race as text: they read back byte for byte; what cannot be is refused by its line."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millebornes_env import edition, vector_env
from millebornes_env.errors import NotationError, OptionError
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.audit import first_violation
from millebornes_env.games.wielerspel.rules import rules_array
from millebornes_env.games.wielerspel.state import PHASE_NAMES, RACE_OVER
from millebornes_env.notation import Position, read_position, write_position
from millebornes_env.notation.wielerspel.words import LINE_NAMES
from tests.each import each
from tests.race_players import decisions, legal_actions, sober, step, wild

SHEET = edition("arc_en_ciel")
HUNGRY = SHEET.replace(energy=20, max_energy=20, servants=3, retirement_energy=4, target_rainbows=2)
OPTIONS = SHEET.replace(also_green=1, also_polka=1, combativity=1, max_turns=120)

AN_AUCTION = """
table: 3 players
turn: 5
rider: 14
rolled: 4 by seat 0
peloton: 2 1 0
energy: 20 5 30
servants 1: 1 2
to act: seat 2, bid
"""


def race(text: str, **options: Any) -> Position:
    return read_position(text, **{"edition": "arc_en_ciel", "players": 3} | options)


def may(position: Position) -> list[str]:
    """Return the legal actions of the seat to act."""
    record = rules_array(position.rules)[0]
    return [rulebook.action_name(one, position.rules, 0) for one in legal_actions(position.state[0], record)]


def refused(text: str, **options: Any) -> str:
    with pytest.raises(NotationError) as caught:
        race(text, **options)
    return str(caught.value)


# There and back --------------------------------------------------------------------------------------------


def some_of(sheet: Any, players: int, seed: int) -> Iterator[Any]:
    """A tenth of the positions of a race, and its end."""
    rng = random.Random(seed)
    for state, action in decisions(sheet.table(players), seed, wild if seed % 2 else sober):
        if action < 0 or rng.random() < 0.1:
            yield state


@each("sheet", [SHEET, HUNGRY, OPTIONS])
@each("players", [2, 6])
def test_every_position_reads_back_byte_for_byte(sheet: Any, players: int) -> None:
    phases = set()
    for seed in range(2):
        for state in some_of(sheet, players, seed):
            text = write_position(state, sheet, sheet.table(players), checked=False)
            again = read_position(text)
            assert again.state.tobytes() == state.tobytes(), text
            assert (again.edition.label, again.rules) == (sheet.label, sheet.table(players))
            assert again.has_key
            assert str(again) == text
            phases.add(PHASE_NAMES[int(state.phase)])
    assert {"bid", "race over"} <= phases


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**16), steps=st.integers(0, 150), players=st.integers(2, 6), key=st.booleans())
def test_text_and_position_are_the_same_thing(seed: int, steps: int, players: int, key: bool) -> None:
    """Text to position to text, position to text to position; without its key too."""
    *_, (state, _) = islice(decisions(SHEET.table(players), seed, sober), steps + 1)
    text = write_position(state, SHEET, SHEET.table(players), key=key)
    position = read_position(text)
    assert str(position) == text
    assert position == read_position(str(position))
    assert position.has_key == key
    expected = np.array(state).reshape(1).view(np.recarray)
    expected["key"] *= key
    assert position.state.tobytes() == expected.tobytes()
    assert hash(position) == hash(read_position(text))


# What a text may leave out ---------------------------------------------------------------------------------


def test_the_header_alone_is_the_start_of_a_race() -> None:
    env = vector_env(1, "arc_en_ciel", players=5)
    env.reset(seed=11)
    state = env.get_states()
    key = " ".join(map(str, state["key"][0].tolist()))
    position = race(f"edition: arc_en_ciel\ntable: 5 players\nkey: {key}")
    assert position.state.tobytes() == state.tobytes()
    assert "plays" not in str(position)


def test_a_position_is_played_on() -> None:
    position = race(AN_AUCTION)
    assert may(position) == ["retire", "pass", *(f"bid {amount}" for amount in range(1, 31))]
    state, record = position.state[0], rules_array(position.rules)[0]
    step(state, record, 9 + 2)
    assert (int(state.seat), int(state.highest_bid)) == (1, 3)
    assert write_position(state, SHEET, position.rules).count("bid: 3 by seat 2") == 1


def test_who_is_in_neither_group_has_left_the_race() -> None:
    position = race("peloton: 1\naway: seat 0, lead 7 (highest 9)\nto act: seat 0, away")
    state = position.state[0]
    assert state.out.tolist()[:3] == [0, 0, 1]
    assert (int(state.energy[2]), int(state.retired[2])) == (0, 6)
    assert (int(state.lead), int(state.highest_lead)) == (7, 9)
    assert may(position) == ["give up", "pay"]


def test_cards_to_come_are_named_and_the_others_shuffled() -> None:
    deck = race("deck: escape 2x supply_5 ...\n" + AN_AUCTION).state["deck"][0]
    others = race("key: 5 6\ndeck: escape 2xsupply_5 ...\n" + AN_AUCTION).state["deck"][0]
    names = [card[:2] for card in SHEET.rules.deck]
    assert [names[card] for card in deck[:3]] == [names[3], names[0], names[0]]
    assert sorted(deck) == sorted(others) == sorted(race(AN_AUCTION).state["deck"][0])
    assert deck.tolist() != others.tolist()
    state = race("deck: escape\n" + AN_AUCTION).state[0]
    assert int(state.deck_next) == 24
    assert int(state.deck[24]) == 3
    assert race("deck: none\n" + AN_AUCTION).state["deck_next"][0] == 25


# What cannot be --------------------------------------------------------------------------------------------

WRONG = {
    "nonsense: 1": ["line 1", "there is no line 'nonsense' in a position of the race"],
    "rolls: 4 by seat 0": ["Did you mean 'rolled'?"],
    "energy 1: 5": ["there is only one 'energy'"],
    "servants: 4": ["it must name the seat, such as 'servants 0'"],
    "energy: 1 2": ["expected a number for each seat, 3 in all; got 2"],
    "energy: 1 2 61": ["seat 2's is 61; it must be from 0 to 60"],
    "energy: 1 2 x": ["'x'; it must be a whole number"],
    "rider: 40": ["the rider is 40; it must be from 0 to 39"],
    "turn: 0": ["the turn is 0"],
    "lap: dry": ["'dry' is unknown", "no supply"],
    "away: seat 1": ["expected 'away: seat 1, lead 7'"],
    "away: seat 1, lead 7 (9)": ["(highest 9)"],
    "away: seat 1, lead 19": ["beyond 18 arrows the race is won", "ending: inner track, won by seat 1"],
    "away: seat 1, lead 3\npeloton: 0 1 2": ["line 2", "seat 1 is away: name each seat once"],
    "peloton: 0 0 1": ["seat 0 is there already"],
    "peloton: 0 1\nenergy: 5 5 5": ["seat 2 is neither in the peloton nor away", "write 0 for it"],
    "peloton: 0 1\nretired: 0 0 5": ["write 6 for it"],
    "servants 0: 3": ["square 3 is not an effort square"],
    "servants 0: 4\nservants 1: 4": ["line 2", "square 4 has a servant of seat 0"],
    "servants 0: 1 2 4 5 7 9 10": ["seat 0 has 6 servants; there are 7 on the board"],
    "retired: 7 0 0": ["it must be from 0 to 6"],
    "servants 0: 1 2\nretired: 5 0 0": ["here are 2 on the board and 5 retired"],
    "jerseys 0: yellow 1": ["'yellow 1' is not a set of jerseys", "doubles, triples"],
    "jerseys 0: gren 1": ["Did you mean 'green'?"],
    "jerseys 0: green": ["the number of green is ''"],
    "jerseys 0: green 7\njerseys 1: green 6": ["line 2", "there are 12 cards of the set green in all"],
    "deck: suply_5": ["there is no chance card 'suply_5'. Did you mean 'supply_5'?"],
    "deck: joker": ["The cards are: supply_5, tail_wind_2"],
    "deck: 5x supply_5": ["there are 4 of supply_5 in all"],
    "key: 1": ["a key is two whole numbers"],
    "rolled: 4 by seat 0": ["this is about a turn in progress", "to act: seat 0, bid"],
    "edition: ducth": ["there is no edition 'ducth'", "arc_en_ciel"],
    "table: 7 players": ["has no table for 7 players", "6 players in 6 teams"],
    "table: 4 players in 2 teams": ["has no table for 4 players in 2 teams"],
}


@each("text", WRONG)
def test_a_wrong_line_is_refused_by_its_name(text: str) -> None:
    said = refused(text)
    for part in WRONG[text]:
        assert part in said


WRONG_DECISIONS = {
    ("seat 2, bid", "seat 3, bid"): ["there is no seat 3"],
    ("seat 2, bid", "bid"): ["expected 'to act: seat 1, bid'", "must pay"],
    ("seat 2, bid", "seat 2, bidd"): ["'bidd' is not a decision", "Did you mean 'bid'?"],
    ("seat 2, bid", "seat 2, bid (at dawn)"): ["'at dawn' is not a step of a turn"],
    ("seat 2, bid", "seat 2, bid (payments)"): ["'bid' is not a decision of the step 'payments'"],
    ("seat 2, bid", "seat 2, away"): ["the turn begins, so this has not happened"],
    ("seat 2, bid", "seat 2, exchange"): ["too few jerseys"],
    ("seat 2, bid", "seat 2, must pay"): ["seat 2 has 30 energy and can pay the 4 that are due"],
    ("seat 2, bid", "seat 2, must retire"): ["only the chance card forced_retirement"],
    ("seat 2, bid", "seat 2, escape"): ["square 14 is not an escape square, and seat 2 does not hold it"],
    ("seat 2, bid", "seat 2, move"): ["seat 2 has not won the auction: write 'bid: 3 by seat 2'"],
    ("seat 2, bid", "race over"): ["the ending is missing", "ending: jerseys"],
    ("rolled: 4 by seat 0\n", ""): ["the white die has been rolled", "rolled: 4 by seat 0"],
    ("rolled: 4", "rolled: 7"): ["the white die is 7; it must be from 1 to 6"],
    ("rolled: 4 by seat 0", "rolled: 4"): ["expected 'rolled: 4 by seat 1'"],
    ("rider: 14", "rider: 12"): ["square 12 is not an effort square: it is not sold"],
    ("rider: 14", "rider: 3"): ["the rider is on a chance square", "card: escape"],
    ("rider: 14", "rider: 14\ncard: escape"): ["square 14 is not a chance square"],
    ("rider: 14", "rider: 14\nservants 0: 14"): ["square 14 was held by a servant"],
    ("rider: 14", "rider: 14\nholder: seat 0"): ["square 14 was held by a servant"],
    ("rider: 14", "rider: 14\nyellow: 9"): ["the yellow is 9; it must be from 1 to 6"],
    ("rider: 14", "rider: 14\nbid: 3 by seat 0"): ["seat 0 has not had its turn to bid"],
    ("rider: 14", "rider: 14\nqueue: 0 | 2 1\nbid: 25 by seat 0"): [
        "'bid: 25 by seat 0': seat 0 has 20 energy"
    ],
    ("rider: 14", "rider: 14\nqueue: 0 | 2 1\nbid: 9 by seat 0\nretired: 6 0 0"): [
        "seat 0 has no servant left"
    ],
    ("rider: 14", "rider: 14\nbid: much"): ["expected 'bid: 7 by seat 2'"],
    ("rider: 14", "rider: 14\nqueue: 0 1 2"): ["seats that have moved, a bar, seats that have not"],
    ("rider: 14", "rider: 14\nqueue: | 0 1 2"): ["seat 2 is to act, but is not the next in the queue"],
    ("rider: 14", "rider: 14\nqueue: | 2 2 0"): ["name each seat once"],
    ("rider: 14", "rider: 14\nending: turns"): ["the race goes on"],
    ("turn: 5", "turn: 2001"): ["a race has 2000 turns"],
    ("peloton: 2 1 0", "peloton: 1 0"): ["seat 2 is neither in the peloton nor away"],
    ("energy: 20 5 30\n", "energy: 20 5 0\nretired: 0 0 6\n"): ["can only pass, so it has no decision"],
}


@each("change", WRONG_DECISIONS)
def test_a_decision_that_cannot_be_is_refused(change: tuple[str, str]) -> None:
    said = refused(AN_AUCTION.replace(*change))
    for part in WRONG_DECISIONS[change]:
        assert part in said


def test_a_record_that_is_none_is_refused() -> None:
    state = race(AN_AUCTION).state
    rules = SHEET.table(3)
    with pytest.raises(NotationError, match="the rules are those of a table"):
        write_position(state, SHEET, "rules")
    state["energy"][0, 1] = 61
    with pytest.raises(NotationError, match=r"not valid at this table: .*energy"):
        write_position(state, SHEET, rules)
    state["energy"][0, 1], state["number"][0] = 5, 3
    with pytest.raises(NotationError, match=r"(cannot be written|not valid at this table).*number"):
        write_position(state, SHEET, rules)


# In environments -------------------------------------------------------------------------------------------


def test_an_environment_begins_with_a_position_of_the_race() -> None:
    env, usual = (vector_env(2, "arc_en_ciel", players=3, seed=5) for _ in range(2))
    env.reset(options={"positions": [AN_AUCTION, race("key: 7 8\n" + AN_AUCTION)]})
    usual.reset()
    assert env.agent_selection.tolist() == [2, 2]
    assert list(env.legal_actions(1).values()) == may(race(AN_AUCTION))
    keys = env.get_states()["key"].tolist()
    assert keys == [usual.get_states()["key"][0].tolist(), [7, 8]]
    for _ in range(200):
        env.step(env.sample_actions())
    assert first_violation(env.get_states(), env.rules) is None


def test_a_position_of_another_table_is_refused() -> None:
    env = vector_env(1, "arc_en_ciel", players=4)
    with pytest.raises(OptionError, match="this environment plays 'arc_en_ciel', 4 players"):
        env.reset(options={"positions": AN_AUCTION})
    with pytest.raises(NotationError, match=r"positions: line 1, 'rider: 50'"):
        env.reset(options={"positions": "rider: 50"})
    with pytest.raises(OptionError, match="the round is over, and no seat is to act"):
        env.reset(options={"positions": "to act: race over\nending: broken off"})
    with pytest.raises(OptionError, match=r"it must be a text or a notation\.Position"):
        env.reset(options={"positions": [7]})
    with pytest.raises(NotationError, match="this is a sheet of the game 'wielerspel'"):
        vector_env(1).reset(options={"positions": "edition: arc_en_ciel"})


# The page --------------------------------------------------------------------------------------------------


def test_the_page_names_every_line_and_its_examples_read() -> None:
    page = (Path(__file__).parents[2] / "docs" / "environment" / "records.md").read_text(encoding="utf-8")
    examples = re.findall(r"```race\n(.*?)```", page, flags=re.DOTALL)
    assert examples
    for text in examples:
        assert may(race(text))
    ours = page.partition("\n## The race\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.+?`) \|", ours, flags=re.MULTILINE)
    named = {name.removesuffix(" N") for cell in cells for name in re.findall(r"`(.+?)`", cell)}
    assert named == set(LINE_NAMES)


# Texts that were tampered with -----------------------------------------------------------------------------

STRAY = ("", *["0", "-1", "61", "4x", "seat", "|", ":", "#", "none", "...", "escape", "²", "\x00"], "9" * 30)


@each("seed", range(3))
def test_a_text_that_was_tampered_with_is_refused_or_can_be_played(seed: int) -> None:
    rng = random.Random(seed)
    texts = [str(Position(HUNGRY, HUNGRY.table(3), records(state))) for state in some_of(HUNGRY, 3, seed)]
    accepted = 0
    for _ in range(40):
        lines = rng.choice(texts).splitlines()
        place = rng.randrange(2, len(lines))
        words = lines[place].split(" ")
        words[rng.randrange(len(words))] = rng.choice((*STRAY, *rng.choice(texts).split()))
        lines[place : place + 1] = [" ".join(words)] if rng.random() < 0.8 else []
        try:
            position = race("\n".join(lines))
        except NotationError:
            continue
        accepted += 1
        assert read_position(str(position), edition=position.edition) == position
        record, state = rules_array(position.rules)[0], position.state[0]
        while int(state.phase) != RACE_OVER:
            step(state, record, rng.choice(legal_actions(state, record)))
            assert first_violation(position.state, position.rules) is None
    assert accepted


def records(state: Any) -> Any:
    """A record as an array of one."""
    return state.copy().reshape(1).view(np.recarray)

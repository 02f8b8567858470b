"""Positions as text: exact both ways, completed where something is left out, refused where they cannot be."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from millebornes_env import edition, editions
from millebornes_env.errors import NotationError, StateError
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import Rules, rules_record
from millebornes_env.games.millebornes.state import PHASE_NAMES, ROUND_OVER, StateArray, new_states
from millebornes_env.games.millebornes.turn import start_match, start_next_round, step
from millebornes_env.games.millebornes.winning import is_match_over
from millebornes_env.notation import Position, read_position, write_position
from millebornes_env.notation.millebornes.position_reader import LINE_NAMES
from tests.each import each
from tests.pages import examples_of, section_of
from tests.support import Position as Table

ROOT = Path(__file__).parents[2]
SHEETS = ROOT / "millebornes_env" / "games" / "millebornes" / "sheets"
TABLES = [(name, *table) for name in editions() for table in edition(name).tables]


def moves(rules: Rules, seed: int, rounds: int = 2) -> Iterator[tuple[StateArray, int | None]]:
    """The record, the same one every time, and the next play (None at the end of a round), of a match.

    Cards are laid when that is possible.
    """
    chance, table = random.Random(seed), rules_record(rules)
    states = new_states(1)
    state = states[0]
    state.key[:] = [chance.getrandbits(32), chance.getrandbits(32)]
    state.episode = seed
    start_match(state, table)
    mask = np.zeros(num_actions(rules.teams), np.int8)
    while True:
        if int(state.phase) == ROUND_OVER:
            yield states, None
            rounds -= 1
            if rounds == 0 or is_match_over(state, table):
                return
            start_next_round(state, table)
            continue
        write_mask(state, table, mask)
        legal = np.flatnonzero(mask).tolist()
        action = chance.choice([one for one in legal if not 19 <= one <= 37] or legal)
        yield states, action
        step(state, table, action)


def games(rules: Rules, seed: int, rounds: int = 2) -> Iterator[StateArray]:
    """The records of `moves` alone."""
    return (states for states, _ in moves(rules, seed, rounds))


def position(*lines: str) -> Position:
    return read_position("\n".join(lines))


# Round trips -----------------------------------------------------------------------------------------------


@each(("name", "players", "teams"), TABLES)
def test_every_byte_of_a_played_game_survives(name: str, players: int, teams: int) -> None:
    played = edition(name)
    rules = played.table(players, teams)
    for moment, states in enumerate(games(rules, seed=players + teams)):
        if moment % 40 and states[0].phase == 0:
            continue
        text = write_position(states[0], played, rules)
        result = read_position(text)
        assert result.state.tobytes() == states.tobytes(), text
        assert result.rules == rules
        assert result.edition.label == name
        assert result.has_key
        assert str(result) == text
        assert "opened" not in text, "how a pile began follows from its cards"


def test_overridden_rules_and_sheets_of_ones_own(tmp_path: Path) -> None:
    mine = edition("parker").replace(max_200=4)
    text = write_position(next(games(mine.table(2), 1)), mine, mine.table(2))
    assert text.startswith("edition: parker+max_200=4\n")
    assert read_position(text).rules.max_200 == 4

    sheet = (
        (SHEETS / "parker.toml").read_text(encoding="utf-8").replace('name = "parker"', 'name = "home"', 1)
    )
    (tmp_path / "home.toml").write_text(sheet, encoding="utf-8")
    home = Edition.load(tmp_path / "home.toml")
    text = write_position(next(games(home.table(2), 1)), home, home.table(2))
    assert text.startswith("edition: home\n")
    assert str(read_position(text, edition=home)) == text
    with pytest.raises(NotationError, match="no edition 'home'"):
        read_position(text)
    with pytest.raises(NotationError, match="with other rules"):
        read_position(text.replace("home", "home+max_200=4"), edition=home)


def test_an_edition_made_in_code_is_not_written_under_another_s_name() -> None:
    """`parker` would be read as the shipped sheet."""
    other = edition("parker").rules._replace(max_200=3)
    mine = dataclasses.replace(edition("parker"), rules=other)
    states = next(games(mine.table(2), 1))
    with pytest.raises(
        NotationError, match="the sheet found by that name has other rules: choose another name"
    ):
        write_position(states, mine, mine.table(2))
    with pytest.raises(NotationError, match="is called 'mini8', and the sheet found by that name has other"):
        write_position(states, dataclasses.replace(mine, name="mini8"), mine.table(2))
    home = dataclasses.replace(mine, name="home")
    text = write_position(states, home, home.table(2))
    assert read_position(text, edition=home).rules.max_200 == 3


def test_what_only_a_hand_made_record_holds() -> None:
    table = Table(edition="dutch").draw_pile(10).hand(0, "roll").battle(0, "accident", "repairs")
    table.state.opening[0] = 0
    text = write_position(table.state, "dutch", table.rules)
    assert "battle 0: repairs (opened by a roll)\n" in text
    assert "(top unknown)\n" in text
    result = read_position(text)
    assert result.state["opening"][0, 0] == 0
    assert result.state["discard_top"][0] == -1
    assert result.state["discard_pile"].sum() > 0
    assert str(result) == text
    assert (
        position("edition: dutch", "battle 0: repairs", "covered 0: accident", "hand 0: ...").state[
            "opening"
        ][0, 0]
        == 1
    )


def test_without_the_key() -> None:
    rules = edition("parker").table(2)
    states = next(games(rules, 1))
    text = write_position(states, "parker", rules, key=False)
    assert "key:" not in text
    result = read_position(text)
    assert not result.has_key
    assert result.state["key"].tolist() == [[0, 0]]
    assert str(result) == text
    assert result == read_position(text)
    assert hash(result) == hash(read_position(text))
    assert result != read_position(text + "key: 0 0")
    assert result != text


# By hand ---------------------------------------------------------------------------------------------------


def test_a_few_lines_are_enough() -> None:
    result = position("hand 0: roll ...")
    state = result.state[0]
    assert first_violation(result.state, result.rules) is None
    assert result.edition.name == "parker"
    assert state.hand_count.tolist()[:2] == [7, 0]
    assert state.draw_pile == 101 - 7
    assert (int(state.seat), int(state.dealer), int(state.phase)) == (0, 1, 0)
    assert result == position("hand 0: roll ...")
    assert result != position("hand 0: roll ...", "key: 1 2")


def test_lines_in_any_order_with_comments_capitals_and_blanks() -> None:
    result = position(
        "\ufeff# a position",
        "",
        "Hand 1:  2x Roll,3x25  # with a comment",
        "table: 3 players",
        "to act: seat 1\r",
    )
    assert result.rules.teams == 3
    state = result.state[0]
    assert int(state.seat) == 1
    assert state.hand[1, Card.ROLL] == 2
    assert state.hand[1, Card.DISTANCE_25] == 3


def test_piles_say_what_follows_from_them() -> None:
    result = position(
        "battle 0: stop on roll",
        "speed 0: speed_limit",
        "distance 0: 2x25 100 200",
        "safeties 0: extra_tank! driving_ace",
        "hand 0: right_of_way",
        "discard pile: 3x25 stop",
    )
    state = result.state[0]
    assert int(state.km[0]) == 350
    assert state.coup_fourre[0].tolist() == [0, 1, 0, 0]
    assert int(state.battle_below[0]) == Card.ROLL
    assert int(state.discard_top) == Card.STOP
    assert int(state.discard_pile[Card.DISTANCE_25]) == 3
    cards = state.hidden + state.discard_pile + state.tableau.sum(axis=0)
    assert cards.tolist() == list(result.rules.deck)
    assert int(state.draw_pile) == state.hidden.sum() - 1
    assert str(read_position(str(result))) == str(result)


def test_a_stream_may_give_its_first_cards() -> None:
    state = position("hand 0: stop", "stream 0: roll 200 ...", "stream 1: 2x accident ...").state[0]
    for seat, first in ((0, [Card.ROLL, Card.DISTANCE_200]), (1, [Card.ACCIDENT] * 2)):
        start = int(state.stream_next[seat])
        assert state.deck[start : start + 2].tolist() == first
        assert 49 <= int(state.stream_end[seat]) - start <= 51


def test_an_extension_and_a_finished_round() -> None:
    asked = position("distance 0: 7x100", "battle 0: roll", "hand 0: 25", "to act: seat 0, extension")
    assert PHASE_NAMES[int(asked.state[0].phase)] == "extension"
    called = position("distance 0: 7x100", "extension: team 0", "hand 0: 25")
    assert int(called.state[0].target) == 1000
    over = position("distance 0: 7x100", "to act: round over", "winner: team 0", "scores: 700 0")
    assert int(over.state[0].winner) == 0
    sheet = "score sheet 0: distance 700, trip_completed 400, safe_trip 300, shutout 500"
    assert "safe_trip 300" in str(
        position("distance 0: 7x100", "to act: round over", "winner: team 0", "scores: 2000 0", sheet)
    )


def test_a_record_that_is_none_is_not_written() -> None:
    rules = edition("parker").table(2)
    states = next(games(rules, 1)).copy()
    with pytest.raises(NotationError, match="rules are not those of 'dutch'"):
        write_position(states, "dutch", rules)
    with pytest.raises(StateError, match="one record"):
        write_position(np.concatenate([states, states]), "parker", rules)
    with pytest.raises(StateError, match="got int"):
        write_position(3, "parker", rules)
    states["hand"][0, 0, 0] += 1
    with pytest.raises(NotationError, match="not valid at this table: hidden"):
        write_position(states, "parker", rules)


def test_a_record_that_no_text_describes_is_not_written() -> None:
    table = Table().hand(0, "roll").battle(0, "roll")
    table.state["battle"][0] = -1  # the Roll is in the pile, and nothing shows on top
    with pytest.raises(NotationError, match=r"this record cannot be written.*there is no card on"):
        write_position(table.state, "parker", table.rules)


# The page --------------------------------------------------------------------------------------------------


def test_the_positions_of_the_page_read() -> None:
    page = (ROOT / "docs" / "environment" / "records.md").read_text(encoding="utf-8")
    examples = re.findall(r"```position\n(.*?)```", page, flags=re.DOTALL)
    assert len(examples) >= 3
    for text in examples:
        assert isinstance(read_position(text), Position)
    ours = page.partition("\n## The race\n")[0]
    named = set(re.findall(r"^\| `([a-z ]+?)(?: N)?(?: at P)?` \|", ours, flags=re.MULTILINE))
    assert named == set(LINE_NAMES), "the table of lines"


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = section_of("docs/environment/records.md").partition("\n## Recorded games as data\n")[0]
    names: dict[str, object] = {"text": page.split("```record\n")[1].split("```")[0]}
    examples = examples_of(page)
    assert examples
    for code, printed in examples:
        exec(compile(code, "records.md", "exec"), names)
        assert capsys.readouterr().out == printed

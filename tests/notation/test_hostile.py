"""Texts that were valid before somebody else had them: each reads, or is refused by an error of the package.

What reads is written and reads back the same, and so does every game that is played on from it.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millebornes_env import edition
from millebornes_env.errors import EditionError, NotationError
from millebornes_env.games.millebornes import editions as editions_module
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import rules_record
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, PLAY, ROUND_OVER
from millebornes_env.games.millebornes.turn import start_next_round, step
from millebornes_env.games.millebornes.winning import is_match_over
from millebornes_env.notation import (
    Position,
    read_jsonl,
    read_position,
    read_record,
    record_of,
    replay,
    write_jsonl,
    write_position,
)
from millebornes_env.notation.lines import CARD_WORDS
from millebornes_env.notation.millebornes.position_reader import LINE_NAMES
from tests.notation.test_positions import TABLES, games
from tests.notation.test_records import played

PARKER = Path(editions_module.__file__).parent / "sheets" / "parker.toml"
WORDS = (
    *CARD_WORDS,
    *LINE_NAMES,
    *("none", "...", "!", "on", "against", "by", "at", "seat", "team", "play", "claim", "extension"),
    *("round over", "last seat", "2x", "3x25", "(top unknown)", "(opened by a hazard)", "parker+max_200=4"),
    *("0", "1", "2", "3", "7", "100", "700", "12001", "-1", "1.0", "9" * 20, "\0", "\ufeff", "\u0663", "#"),
)
TOKEN = re.compile(r"[A-Za-z_]+|[0-9]+|\s|.")
Edit = tuple[str, float, float, str]

IN_A_LINE = ("replace", "insert", "delete")
OF_LINES = ("swap lines", "drop line", "double line")


def edits_of(kinds: tuple[str, ...], words: tuple[str, ...]) -> st.SearchStrategy[list[Edit]]:
    """Draw one to three edits: a kind, two places and a word."""
    place, word = st.floats(0, 1, exclude_max=True), st.one_of(st.sampled_from(words), st.text(max_size=3))
    return st.lists(st.tuples(st.sampled_from(kinds), place, place, word), min_size=1, max_size=3)


EDITS = edits_of((*IN_A_LINE, "move card", *OF_LINES), WORDS)


def check_length(error: Exception, begin: str = "") -> None:
    """An error says where it is and does not repeat the whole text."""
    assert str(error).startswith(begin)
    assert len(str(error)) < 1500


def edited(text: str, edits: list[Edit]) -> str:
    for edit in edits:
        text = EDITING[edit[0]](text.split("\n"), *edit[1:])
    return text


def edited_line(change: str, lines: list[str], line: float, token: float, word: str) -> str:
    """Edit one token in one line."""
    number = int(line * len(lines))
    tokens = TOKEN.findall(lines[number]) or [" "]
    place, new = int(token * len(tokens)), {"replace": [word], "insert": [f" {word} "], "delete": []}[change]
    tokens[place : place + (change != "insert")] = new
    lines[number] = "".join(tokens)
    return "\n".join(lines)


def move_card(lines: list[str], line: float, other: float, _word: str) -> str:
    """The last word of one line to the end of another: the deck stays whole."""
    giver, taker = int(line * len(lines)), int(other * len(lines))
    rest, _, card = lines[giver].rpartition(" ")
    lines[giver] = rest if not rest.endswith(":") else f"{rest} none"
    lines[taker] += f" {card}"
    return "\n".join(lines)


def swap_words(lines: list[str], line: float, other: float, _word: str) -> str:
    """Swap the contents of two lines."""
    one, two = int(line * len(lines)), int(other * len(lines))
    (first, _, words), (second, _, others) = lines[one].partition(":"), lines[two].partition(":")
    lines[one], lines[two] = f"{first}:{others}", f"{second}:{words}"
    return "\n".join(lines)


def drop_line(lines: list[str], line: float, _other: float, _word: str) -> str:
    del lines[int(line * len(lines))]
    return "\n".join(lines) or "dealer: 0"


def double_line(lines: list[str], line: float, other: float, _word: str) -> str:
    lines.insert(int(other * len(lines)), lines[int(line * len(lines))])
    return "\n".join(lines)


EDITING: dict[str, Callable[..., str]] = {
    **{change: partial(edited_line, change) for change in IN_A_LINE},
    "move card": move_card,
    "swap lines": swap_words,
    "drop line": drop_line,
    "double line": double_line,
}


@cache
def sources() -> list[str]:
    """Positions of every third table, claims and extensions and finished rounds among them."""
    result = []
    for name, players, teams in TABLES[::3]:
        rules = edition(name).table(players, teams)
        left = {PLAY: 3, CLAIM: 3, EXTENSION: 1, ROUND_OVER: 1}
        for moment, states in enumerate(games(rules, seed=players)):
            phase = int(states[0].phase)
            if left[phase] and (phase != PLAY or moment % 20 == 10):
                left[phase] -= 1
                result.append(write_position(states, name, rules))
    return result


def play_on(position: Position, choices: list[float]) -> None:
    """Every game that is played on from a position can be written, and reads back the same."""
    rules, states = position.rules, position.state.copy()
    table, mask = rules_record(rules), np.zeros(num_actions(rules.teams), np.int8)
    for choice in choices:
        if int(states[0].phase) == ROUND_OVER:
            if is_match_over(states[0], table):
                return
            start_next_round(states[0], table)
        else:
            write_mask(states[0], table, mask)
            legal = np.flatnonzero(mask)
            step(states[0], table, int(legal[int(choice * len(legal))]))
        assert first_violation(states, rules) is None
        text = write_position(states, position.edition, rules)
        assert read_position(text, edition=position.edition).state.tobytes() == states.tobytes()


def test_the_sources_hold_every_decision() -> None:
    """Or the test below would leave pending hazards out."""
    assert len(sources()) >= 40
    for phase in ("play", "claim", "extension", "round over"):
        assert sum(f"{phase}" in text for text in sources()) >= 3


POSITIONS = given(st.integers(0, 10**6), EDITS, st.lists(st.floats(0, 1, exclude_max=True), max_size=4))


def read_or_refuse(source: int, edits: list[Edit], choices: list[float]) -> None:
    text = edited(sources()[source % len(sources())], edits)
    try:
        result = read_position(text)
    except NotationError as error:
        check_length(error)
        return
    assert first_violation(result.state, result.rules) is None
    again = read_position(str(result))
    assert again == result
    assert str(again) == str(result)
    play_on(result, choices)


test_a_position_with_other_words_reads_or_is_refused = settings(max_examples=50)(POSITIONS(read_or_refuse))
test_positions_with_other_words_at_length = pytest.mark.slow(
    settings(max_examples=2000)(POSITIONS(read_or_refuse))
)


# Records and JSON Lines -------------------------------------------------------------------------------------


@cache
def record_texts() -> list[str]:
    return [str(played(*table, seed=7, rounds=1)[0]) for table in (TABLES[0], TABLES[9], TABLES[-1])]


@settings(max_examples=60)
@given(st.integers(0, 2), EDITS)
def test_a_record_with_other_words_plays_or_is_refused(source: int, edits: list[Edit]) -> None:
    try:
        result = read_record(edited(record_texts()[source], edits))
        assert read_record(str(result)) == result
        moments = list(replay(result))
    except NotationError:
        return
    assert len(moments) == len(result.plays) + 1
    assert (
        record_of(result.position, [play.action for play in result.plays if play.action >= 0]).plays
        == result.plays
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["seat 0: 25", "roll ...", "\ud800", 1, 1.0]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["hand 0", "dealer", "edition", "table", "x"]), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.sampled_from(["millebornes", "position", "plays", "result", "resutl"]),
        JSON,
        min_size=1,
        max_size=3,
    ),
    st.binary(max_size=3),
    st.floats(0, 1),
)
def test_a_line_with_other_entries_reads_or_is_refused(
    changes: dict[str, Any], inserted: bytes, where: float
) -> None:
    good = {"millebornes": 1, "position": {"hand 0": "roll ..."}, "plays": ["seat 0: roll"]}
    line = json.dumps(good | changes).encode()
    place = int(where * len(line))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.jsonl"
        for content in (line, line[:place] + inserted + line[place:]):
            path.write_bytes(content + b"\n")
            try:
                records = list(read_jsonl(path))
            except NotationError as error:
                check_length(error, f"{path}, line ")
                continue
            write_jsonl(path, records)
            assert list(read_jsonl(path)) == records


# Sheets -----------------------------------------------------------------------------------------------------

SHEET_WORDS = (
    *[
        "true",
        "false",
        "0",
        "1",
        "-1",
        "2",
        "6",
        "1e3",
        "0x10",
        "1.5",
        "nan",
        '""',
        '"play_out"',
        '"no"',
        "[]",
    ],
    *[
        "=",
        "{",
        "}",
        "[[tables]]",
        "[deck]",
        "name",
        "goal",
        "max_200",
        "copies_of_25",
        "\\u0000",
        "\x00",
        "\ufeff",
    ],
    *("9" * 20, "0x" + "f" * 5000, "[" * 2000, '"', "'''", "#", ".", "\n"),
)
SHEET_EDITS = edits_of((*IN_A_LINE, *OF_LINES), SHEET_WORDS)


@settings(max_examples=50)
@given(SHEET_EDITS)
def test_a_sheet_with_other_words_reads_or_is_refused(edits: list[Edit]) -> None:
    text = edited(PARKER.read_text(encoding="utf-8").replace('"parker"', '"mine"', 1), edits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            result = Edition.load(path)
        except EditionError as error:
            check_length(error, f"{path}: ")
            return
    assert edition(result) == result
    for players, teams in result.tables:
        rules = result.table(players, teams)
        text = write_position(next(games(rules, 1)), result, rules)
        assert read_position(text, edition=result).rules == rules

"""Texts that are no position: each is refused with a message that says which line and why."""

from __future__ import annotations

import pytest

from millebornes_env import edition
from millebornes_env.errors import NotationError
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.notation.millebornes.positions import read_position
from tests.each import each


def refused(*words: str, lines: list[str]) -> str:
    """The message with which a text is refused; it names all of the words."""
    with pytest.raises(NotationError) as error:
        read_position("\n".join(lines))
    message = str(error.value)
    for word in words:
        assert word in message, message
    return message


HAND = "hand 0: roll ..."
FULL_DISTANCE = "distance 0: 7x100"
STOPPED = "pending: stop by seat 0 against team 1"

REFUSED = {
    "no colon": (["line 1", "no colon"], ["hand 0 roll"]),
    "unknown line": (["line 2", "'hands'", "Did you mean 'hand'?"], [HAND, "hands 1: roll"]),
    "nothing like it": (["no line 'xyzzy'", "The lines are: edition"], ["xyzzy: 1"]),
    "a name not understood": (["not understood"], ["hand 0 of 1: roll"]),
    "a seat is missing": (["must name the seat", "'hand 0'"], ["hand: roll"]),
    "no such seat": (["line 1", "no seat 2", "2 players in 2 teams"], ["hand 2: roll"]),
    "no words": (["nothing follows the colon", "'none'"], ["hand 0:"]),
    "twice": (["line 3", "'hand 0'", "line 1"], [HAND, "dealer: 0", "hand 0: 25"]),
    "unknown card": (["line 1", "'rol'", "Did you mean 'roll'?"], ["hand 0: 25 rol"]),
    "a number without card": (["a card must follow 2x"], ["hand 0: roll 2x"]),
    "far too many": (["from 1 to 106"], ["hand 0: 99999999999999999999x25"]),
    "too many of a card": (
        ["line 3", "15 roll", "has 14", "12 in 'covered 1' (line 1)", "2 in 'hand 0' (line 3)"],
        ["covered 1: 12x roll", "battle 1: roll", "hand 0: 2x roll"],
    ),
    "a hand of 9": (["line 1", "9 cards", "can hold 7"], ["hand 0: 9x25"]),
    "no hand": (["seat 0 is to play", "hand 0: roll ..."], ["dealer: 1", "to act: seat 0"]),
    "an unknown edition": (["line 1", "parkr", "Did you mean 'parker'?"], ["edition: parkr"]),
    "a rule that there is not": (["no rule 'wings'"], ["edition: parker+wings=1"]),
    "no such table": (["line 1", "no table for 5 players"], ["table: 5 players"]),
    "a key too large": (["from 0 to 4294967295"], ["key: 1 4294967296"]),
    "a phase": (["'paly'", "Did you mean 'play'?"], ["to act: seat 0, paly"]),
    "to act": (["'seat 0, play'"], ["to act: 0"]),
    "a wrong battle pile": (["speed_limit cannot be on a battle pile"], ["battle 0: speed_limit"]),
    "a wrong safety": (["roll cannot be among the safeties"], ["safeties 0: roll"]),
    "a coup fourre of nothing": (["'!' must directly follow"], ["safeties 0: !"]),
    "two tops": (["'stop on roll'", "'covered 0'"], ["battle 0: stop roll"]),
    "a remedy on something": (["only the card under a hazard", "'covered 0'"], ["battle 0: roll on stop"]),
    "a hazard on a hazard": (["with accident is not moving"], [HAND, "battle 0: stop on accident"]),
    "a hazard with its safety": (
        ["has laid right_of_way", "takes stop away"],
        [HAND, "battle 0: stop on roll", "safeties 0: right_of_way"],
    ),
    "a limit with right of way": (
        ["takes a speed_limit away"],
        [HAND, "speed 0: speed_limit", "safeties 0: right_of_way"],
    ),
    "a cover of nothing": (["there is no card on", "'speed 0'"], [HAND, "covered 0: speed_limit"]),
    "a remark": (["(opened by magic) is not a remark"], ["battle 0: roll (opened by magic)"]),
    "a remark on discards": (["is not a remark for a discard pile"], ["discard pile: 25 (x)"]),
    "three 200s": (["may lay 2 of the 200s"], [HAND, "distance 0: 3x200"]),
    "beyond the target": (["800 km", "of 700"], [HAND, "distance 0: 8x100"]),
    "a trip completed": (["is completed", "seat 0, extension"], [HAND, FULL_DISTANCE]),
    "asked for an extension elsewhere": (
        ["no extension at this table"],
        ["table: 4 players", "distance 0: 10x100", "to act: seat 0, extension"],
    ),
    "an extension called twice": (
        ["called already"],
        ["extension: team 0", FULL_DISTANCE, "to act: seat 0, extension"],
    ),
    "a winner in play": (["before the end"], [HAND, "winner: team 0"]),
    "a claim without hazard": (["a claim answers a hazard"], [HAND, "to act: seat 0, claim"]),
    "a hazard without claim": (
        ["it waits for a claim"],
        [HAND, "pending: stop by seat 0 against team 1", "to act: seat 0, play"],
    ),
    "who cannot claim": (["does not hold right_of_way"], [HAND, "pending: stop by seat 0 against team 1"]),
    "its own team": (["of team 0 itself"], ["pending: stop by seat 0 against team 0"]),
    "a hazard against who stands": (
        ["line 4", "stop cannot be laid", "team 1 is not moving: accident shows on its battle pile"],
        [HAND, "battle 1: accident on roll", "hand 1: right_of_way", STOPPED],
    ),
    "a hazard before the first card": (
        ["team 1 has no card on its battle pile", "write 'battle 1: roll'"],
        [HAND, "hand 1: right_of_way", STOPPED],
    ),
    "a hazard on a mere remedy": (
        ["team 1 is not moving: repairs shows"],
        [HAND, "battle 1: repairs", "covered 1: roll accident", "hand 1: right_of_way", STOPPED],
    ),
    "a limit on a limit": (
        ["speed_limit is on the speed pile of team 1 already"],
        [
            HAND,
            "speed 1: speed_limit",
            "hand 1: right_of_way",
            "pending: speed_limit by seat 0 against team 1",
        ],
    ),
    "a hazard beside a limit": (
        ["team 1 has a speed_limit", "one hazard at a time"],
        [
            "edition: parker+one_hazard_at_a_time=1",
            HAND,
            "battle 1: roll",
            "speed 1: speed_limit",
            "hand 1: right_of_way",
            STOPPED,
        ],
    ),
    "a limit beside a hazard": (
        ["accident stops team 1", "one hazard at a time"],
        [
            "edition: parker+one_hazard_at_a_time=1",
            HAND,
            "battle 1: accident on roll",
            "hand 1: right_of_way",
            "pending: speed_limit by seat 0 against team 1",
        ],
    ),
    "a hazard on a remedy where it must be a roll": (
        ["team 1 rolls on repairs", "on a roll only"],
        [
            "edition: dujardin+attack_needs_roll=1",
            HAND,
            "battle 1: repairs",
            "covered 1: accident",
            "hand 1: right_of_way",
            STOPPED,
        ],
    ),
    "rules that do not fit the table": (
        ["line 2, 'edition: parker+target=1000'", "at the table of 2 players", "extended_target is 1000"],
        ["table: 2 players", "edition: parker+target=1000", HAND],
    ),
    "a table that does not fit the rules": (
        ["line 2, 'table: 5 players'", "no table for 5 players"],
        ["edition: dutch", "table: 5 players"],
    ),
    "how a hazard waits": (["'stop by seat 0 against team 1'"], ["pending: stop"]),
    "cards that lie nowhere": (
        ["are in no line", "10x25", "'...'"],
        ["hand 0: roll", "stream 0: none", "stream 1: none"],
    ),
    "two places for the others": (["2 are open", "'stream 0: none'"], [HAND, "discard pile: ..."]),
    "a stream behind the deck": (["after the 106"], [HAND, "stream 0 at 100: 10x25"]),
    "a score sheet in play": (["filled in at the end"], [HAND, "score sheet 0: distance 100"]),
    "a score sheet that is wrong": (
        ["distance of team 0 is 300", "it is 700"],
        ["to act: round over", FULL_DISTANCE, "winner: 0", "score sheet 0: distance 300"],
    ),
    "a total that is too low": (
        ["fewer points in the match"],
        [
            "to act: round over",
            FULL_DISTANCE,
            "winner: 0",
            "score sheet 0: distance 700, trip_completed 400, safe_trip 300, shutout 500",
        ],
    ),
    "an item twice": (["twice"], ["to act: round over", "score sheet 0: distance 1, distance 2"]),
    "a record": (["read_record"], [HAND, "plays:", "seat 0: 25"]),
}


@each("case", list(REFUSED))
def test_a_text_is_refused(case: str) -> None:
    words, lines = REFUSED[case]
    refused(*words, lines=lines)


@each(
    "lines",
    [
        ["battle 1: roll"],
        ["battle 1: roll", "speed 1: speed_limit"],
        ["edition: winning_moves"],
        ["edition: dujardin"],
        ["edition: winning_moves", "battle 1: repairs", "covered 1: accident"],
        ["edition: parker+roll_after_remedy=0", "battle 1: repairs", "covered 1: roll accident"],
    ],
)
def test_a_hazard_that_the_rules_allow_may_wait(lines: list[str]) -> None:
    """The same lines with another edition or another pile: the rulebook is asked, not a list of cards."""
    result = read_position("\n".join([*lines, HAND, "hand 1: right_of_way", STOPPED]))
    assert int(result.state[0].pending_hazard) == Card.STOP
    assert read_position(str(result)) == result


def test_a_hand_that_nothing_is_left_for() -> None:
    deck = edition("parker").table(2).deck
    names = [card.name.lower().removeprefix("distance_") for card in Card]
    rest = " ".join(
        f"{copies - (name == '25')}x {name}" for name, copies in zip(names, deck, strict=True) if copies
    )
    refused("'hand 0: 25 ...'", "fill it up to 7", lines=[f"discard pile: {rest}", "hand 0: 25 ..."])

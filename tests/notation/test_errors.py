"""Texts that are no position: each is refused with a message that says which line and why."""

from __future__ import annotations

import pytest

from millebornes_env import edition
from millebornes_env.errors import NotationError
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.notation.millebornes.positions import read_position
from tests.each import each


def refused(text: str, *words: str) -> None:
    """A text is refused with a message that names all of the words."""
    with pytest.raises(NotationError) as error:
        read_position(text)
    for word in words:
        assert word in str(error.value), error.value


HAND = "hand 0: roll ...\n"
STOPPED = "hand 1: right_of_way\npending: stop by seat 0 against team 1"
LIMITED = "hand 1: right_of_way\npending: speed_limit by seat 0 against team 1"
ONE_AT_A_TIME = f"edition: parker+one_hazard_at_a_time=1\n{HAND}"
WON = "to act: round over\ndistance 0: 7x100\nwinner: 0\n"

REFUSED = {
    "hand 0 roll": ["line 1", "no colon"],
    HAND + "hands 1: roll": ["line 2", "'hands'", "Did you mean 'hand'?"],
    "xyzzy: 1": ["no line 'xyzzy'", "The lines are: edition"],
    "hand 0 of 1: roll": ["not understood"],
    "hand: roll": ["must name the seat", "'hand 0'"],
    "hand 2: roll": ["line 1", "no seat 2", "2 players in 2 teams"],
    "hand 0:": ["nothing follows the colon", "'none'"],
    HAND + "dealer: 0\nhand 0: 25": ["line 3", "'hand 0'", "line 1"],
    "hand 0: 25 rol": ["line 1", "'rol'", "Did you mean 'roll'?"],
    "hand 0: roll 2x": ["a card must follow 2x"],
    "hand 0: 99999999999999999999x25": ["from 1 to 106"],
    "covered 1: 12x roll\nbattle 1: roll\nhand 0: 2x roll": [
        "line 3",
        "15 roll",
        "has 14",
        "12 in 'covered 1' (line 1)",
        "2 in 'hand 0' (line 3)",
    ],
    "hand 0: 9x25": ["line 1", "9 cards", "can hold 7"],
    "dealer: 1\nto act: seat 0": ["seat 0 is to play", "hand 0: roll ..."],
    "edition: parkr": ["line 1", "parkr", "Did you mean 'parker'?"],
    "edition: parker+wings=1": ["no rule 'wings'"],
    "table: 5 players": ["line 1", "no table for 5 players"],
    "key: 1 4294967296": ["from 0 to 4294967295"],
    "to act: seat 0, paly": ["'paly'", "Did you mean 'play'?"],
    "to act: 0": ["'seat 0, play'"],
    "battle 0: speed_limit": ["speed_limit cannot be on a battle pile"],
    "safeties 0: roll": ["roll cannot be among the safeties"],
    "safeties 0: !": ["'!' must directly follow"],
    "battle 0: stop roll": ["'stop on roll'", "'covered 0'"],
    "battle 0: roll on stop": ["only the card under a hazard", "'covered 0'"],
    HAND + "battle 0: stop on accident": ["with accident is not moving"],
    HAND + "battle 0: stop on roll\nsafeties 0: right_of_way": ["has laid right_of_way", "takes stop away"],
    HAND + "speed 0: speed_limit\nsafeties 0: right_of_way": ["takes a speed_limit away"],
    HAND + "covered 0: speed_limit": ["there is no card on", "'speed 0'"],
    "battle 0: roll (opened by magic)": ["(opened by magic) is not a remark"],
    "discard pile: 25 (x)": ["is not a remark for a discard pile"],
    HAND + "distance 0: 3x200": ["may lay 2 of the 200s"],
    HAND + "distance 0: 8x100": ["800 km", "of 700"],
    HAND + "distance 0: 7x100": ["is completed", "seat 0, extension"],
    "table: 4 players\ndistance 0: 10x100\nto act: seat 0, extension": ["no extension at this table"],
    "extension: team 0\ndistance 0: 7x100\nto act: seat 0, extension": ["called already"],
    HAND + "winner: team 0": ["before the end"],
    HAND + "to act: seat 0, claim": ["a claim answers a hazard"],
    HAND + "pending: stop by seat 0 against team 1\nto act: seat 0, play": ["it waits for a claim"],
    HAND + "pending: stop by seat 0 against team 1": ["does not hold right_of_way"],
    "pending: stop by seat 0 against team 0": ["of team 0 itself"],
    HAND + "battle 1: accident on roll\n" + STOPPED: [
        "line 4",
        "stop cannot be laid",
        "team 1 is not moving: accident shows on its battle pile",
    ],
    HAND + STOPPED: ["team 1 has no card on its battle pile", "write 'battle 1: roll'"],
    HAND + "battle 1: repairs\ncovered 1: roll accident\n" + STOPPED: ["team 1 is not moving: repairs shows"],
    HAND + "speed 1: speed_limit\n" + LIMITED: ["speed_limit is on the speed pile of team 1 already"],
    ONE_AT_A_TIME + "battle 1: roll\nspeed 1: speed_limit\n" + STOPPED: [
        "team 1 has a speed_limit",
        "one hazard at a time",
    ],
    ONE_AT_A_TIME + "battle 1: accident on roll\n" + LIMITED: [
        "accident stops team 1",
        "one hazard at a time",
    ],
    "edition: dujardin+attack_needs_roll=1\nhand 0: roll ...\nbattle 1: repairs\ncovered 1: accident\n"
    + STOPPED: ["team 1 rolls on repairs", "on a roll only"],
    "table: 2 players\nedition: parker+target=1000\nhand 0: roll ...": [
        "line 2, 'edition: parker+target=1000'",
        "at the table of 2 players",
        "extended_target is 1000",
    ],
    "edition: dutch\ntable: 5 players": ["line 2, 'table: 5 players'", "no table for 5 players"],
    "pending: stop": ["'stop by seat 0 against team 1'"],
    "hand 0: roll\nstream 0: none\nstream 1: none": ["are in no line", "10x25", "'...'"],
    HAND + "discard pile: ...": ["2 are open", "'stream 0: none'"],
    HAND + "stream 0 at 100: 10x25": ["after the 106"],
    HAND + "score sheet 0: distance 100": ["filled in at the end"],
    WON + "score sheet 0: distance 300": ["distance of team 0 is 300", "it is 700"],
    WON + "score sheet 0: distance 700, trip_completed 400, safe_trip 300, shutout 500": [
        "fewer points in the match"
    ],
    "to act: round over\nscore sheet 0: distance 1, distance 2": ["twice"],
    HAND + "plays:\nseat 0: 25": ["read_record"],
}


@each("text", REFUSED)
def test_a_text_is_refused(text: str) -> None:
    refused(text, *REFUSED[text])


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
    result = read_position("\n".join([*lines, HAND + STOPPED]))
    assert int(result.state[0].pending_hazard) == Card.STOP
    assert read_position(str(result)) == result


def test_a_hand_that_nothing_is_left_for() -> None:
    deck = edition("parker").table(2).deck
    names = [card.name.lower().removeprefix("distance_") for card in Card]
    rest = " ".join(
        f"{copies - (name == '25')}x {name}" for name, copies in zip(names, deck, strict=True) if copies
    )
    refused(f"discard pile: {rest}\nhand 0: 25 ...", "'hand 0: 25 ...'", "fill it up to 7")

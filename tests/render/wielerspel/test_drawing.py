"""The race as text: the whole table, the end, and what a seat sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millebornes_env import vector_env, wielerspel_v0
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.observation import write_observation
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.sections import ObservationSpec, observation_size, sections
from millebornes_env.games.wielerspel.state import (
    BROKEN_OFF,
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    NO_SEAT,
    PHASE_NAMES,
    RACE_OVER,
)
from millebornes_env.render.wielerspel.facts import Facts, facts_of_row, facts_of_state
from millebornes_env.render.wielerspel.text import describe, draw_end, draw_race
from tests.each import each
from tests.race_players import decisions, sober, wild
from tests.race_support import COBBLES_3, DESCENT_1, ESCAPE, FLAT_2, GREEN, HEAD_WIND_3, Race

WIDEST = 100
ALL_TABLES = pytest.mark.parametrize("players", [2, 4, 6])

PICTURE = """\
turn 4  |  rainbow lap  |  at the line: a rainbow jersey for the race leader, no supply
cards left: 11 rainbow, 10 green, 12 of 2 polka dots, 11 of 3, 25 chance
this turn: player_2 rolled 1
+-----------+-----------+-----------+-----------+-----------+-----------+-----------+-----------+
|  0        |  1   2  p1|  2   2    |  3        |  4   3    |  5   2    |  6  -2    |  7   1    |
| start     | flat      | flat      | chance    | head wind | flat      | roundabout| descent   |
+-----------+vv rider vv+-----------+-----------+-----------+-----------+-----------+-----------+
|  8        |  9   3    | 10   3    | 11        | 12  +5    | 13   3    | 14   4    | 15  x2    |
| escape    | cobbles   | cobbles   | chance    | supply    | climb     | climb     | polka dots|
+-----------+-----------+-----------+-----------+-----------+-----------+-----------+-----------+
| 16   1    | 17        | 18   2    | 19        | 20        | 21   2    | 22   3    | 23  -3    |
| descent   | escape    | flat      | chance    | green     | flat      | head wind | road works|
+-----------+-----------+-----------+-----------+-----------+-----------+-----------+-----------+
| 24   3    | 25        | 26   4    | 27   4    | 28   4    | 29  x3    | 30   1    | 31        |
| cobbles   | chance    | climb     | climb     | climb     | polka dots| descent   | escape    |
+-----------+-----------+-----------+-----------+-----------+-----------+-----------+-----------+
| 32  +5    | 33   2    | 34        | 35   3    | 36   2    | 37        | 38        | 39   1    |
| supply    | flat      | chance    | head wind | flat      | escape    | chance    | descent   |
+-----------+-----------+-----------+-----------+-----------+-----------+-----------+-----------+
n: all but the owner (p0 ...) pay n   -n: the race leader pays   +n: he gains   xn: n polka dots
inner track  [======|>.....|......] END  away: player_2, by 7 arrows (1:10)
peloton      player_1, player_0
                    |         servants          |  jerseys
             energy |  beside  on board retired |  rainbow  green  polka dots
  player_0       57 |       6         0       0 |        0      0           0
> player_1       45 |       5         1       0 |        1      2           3 (1x3)
  player_2       55 |       5         0       1 |        0      0           0
player_1: bid for square 9 (cobbles 3), or pass? (highest bid 6, by player_2; 1 seat to come)"""


def auction() -> Race:
    """Return a rider is away, and the second seat in race order bids."""
    race = Race(3).order(2, 1, 0).away(2, 8).servants(1, FLAT_2).retired(2, 1).energy(1, 48)
    race.jerseys(1, rainbow=1, green=2, triples=1).set(turn=3, rainbow_lap=1, no_supply=1)
    return race.land_on(COBBLES_3).do("pay", "bid 6")


def drawn(race: Race) -> str:
    return draw_race(race.state, race.rules)


def asked(race: Race) -> str:
    return drawn(race).splitlines()[-1]


def seen(state: Any, rules: Rules, seat: int, padded: int = 0) -> tuple[Any, Any]:
    """Return the observation of a seat and its layout."""
    spec = ObservationSpec(padded)
    row = np.zeros(int(plain(observation_size)(rules, spec)), np.int8)
    plain(write_observation)(state, rules_array(rules)[0], seat, spec, row)
    return row, sections(rules, spec)


# The table -------------------------------------------------------------------------------------------------


def test_the_whole_picture() -> None:
    assert drawn(auction()) == PICTURE


@ALL_TABLES
@pytest.mark.parametrize("player", [wild, sober])
def test_a_race_is_drawn_and_described_at_every_decision(players: int, player: Any) -> None:
    """Down to the end, in lines of at most 100 characters."""
    rules = edition("arc_en_ciel").table(players)
    for number, (state, action) in enumerate(decisions(rules, 3, player)):
        text = draw_race(state, rules)
        row, layout = seen(state, rules, number % players)
        texts = [text, describe(row, layout, rules)]
        if action == -1:
            texts.append(draw_end(state, rules))
        for line in "\n".join(texts).splitlines():
            assert len(line) <= WIDEST, line
        assert text.count("rider") == 1
        assert (">" in text.partition("peloton")[2]) == (action != -1)


def test_this_turn_tells_what_dice_and_cards_show() -> None:
    race = Race(3).order(0, 1, 2).deck("escape").land_on(3, white=2, yellow=5).do("escape")
    assert "this turn: player_0 rolled 2; chance card: escape; the yellow die shows 5\n" in drawn(race)


# What is to be decided -------------------------------------------------------------------------------------


def away() -> Race:
    return Race(3).order(0, 1, 2).away(1, 8)


QUESTIONS: dict[str, Callable[[], Race]] = {
    "player_1: pay 2 energy for the lead of 8 arrows (1:20), or give up?": lambda: away()._go_on(),
    "player_1: 2 energy for the lead, but only 1 left: retire a servant (+15), or give up?": lambda: (
        away().energy(1, 1)._go_on()
    ),
    "player_0: exchange 3 green or 10 polka-dot jerseys for a rainbow jersey, or keep them?": lambda: (
        Race(3).jerseys(0, green=3, doubles=2, triples=2).land_on(GREEN)
    ),
    "player_1: 3 energy to pay, but only 2 left: which servant retires (+15)?": lambda: (
        Race(3).energy(1, 2).servants(1, FLAT_2).servants(0, HEAD_WIND_3).land_on(HEAD_WIND_3)
    ),
    "player_0: forced retirement: which servant retires (+15)?": lambda: (
        Race(3).servants(0, FLAT_2).deck("forced_retirement").land_on(3)
    ),
    "player_0: escape for nothing, or stay?": lambda: Race(3).land_on(ESCAPE),
    "player_0: ride further away than 7 arrows (1:10) for nothing, or stay?": lambda: (
        Race(3).away(0, 7).land_on(ESCAPE).do("pay")
    ),
    "player_0: escape for 3 energy, but only 2 left: retire a servant (+15), or stay?": lambda: (
        Race(3).order(0, 1, 2).energy(0, 2).servants(0, COBBLES_3).land_on(COBBLES_3)
    ),
    "player_1: bid for square 7 (descent 1), or pass? (nobody has bid; 1 seat to come)": lambda: (
        Race(2).order(0, 1).land_on(DESCENT_1)
    ),
    "player_0: bid for square 7 (descent 1), or pass? (nobody has bid; the last to bid)": lambda: (
        Race(2).order(0, 1).land_on(DESCENT_1).do("pass")
    ),
    "player_0: which servant moves to square 9 (cobbles 3), won for 5 energy?": lambda: (
        Race(2).order(0, 1).servants(0, 1, 2, 4, 5, 7, 10).land_on(COBBLES_3).do("pass", "bid 5")
    ),
}


@each("words", QUESTIONS)
def test_the_last_line_asks(words: str) -> None:
    assert asked(QUESTIONS[words]()) == words


def test_every_decision_has_words() -> None:
    """The questions above are about every phase in which a seat decides."""
    asked_about = {race.decision[0] for race in (make() for make in QUESTIONS.values()) if race.decision}
    assert asked_about == set(PHASE_NAMES) - {"riding", "race over"}


# The end ---------------------------------------------------------------------------------------------------


@each(
    ("ending", "winner", "combativity", "words"),
    [
        (BY_JERSEYS, 1, 0, "player_1 wins with 3 rainbow jerseys."),
        (
            BY_JERSEYS,
            NO_SEAT,
            1,
            "player_1 wins: 3 rainbow jerseys are won, and points for combativity decide.",
        ),
        (BY_INNER_TRACK, 0, 0, "player_0 wins: more than 18 arrows away, at the end of the inner track."),
        (BY_EXHAUSTION, NO_SEAT, 0, "player_1 wins: all leaders are exhausted, and jerseys decide."),
        (BY_TURNS, NO_SEAT, 0, "player_1 wins: 2,000 turns are over, and jerseys decide."),
        (BROKEN_OFF, NO_SEAT, 0, "The race was broken off: nobody has won."),
    ],
)
def test_the_first_line_of_the_end(ending: int, winner: int, combativity: int, words: str) -> None:
    race = Race(3, combativity=combativity).jerseys(1, rainbow=3).jerseys(0, rainbow=1)
    race.set(phase=RACE_OVER, ending=ending, winner=winner)
    assert draw_end(race.state, race.rules).splitlines()[0] == words


def test_the_ranking_shares_places() -> None:
    race = Race(4).jerseys(1, green=1, doubles=1).jerseys(3, green=1, doubles=1).jerseys(2, triples=1)
    race.set(phase=RACE_OVER, ending=BY_EXHAUSTION)
    assert draw_end(race.state, race.rules) == (
        "player_1 and player_3 share the win: all leaders are exhausted, and jerseys decide.\n"
        "1. player_1: 0 rainbow, 1 green, 2 polka dots\n"
        "1. player_3: 0 rainbow, 1 green, 2 polka dots\n"
        "3. player_2: 0 rainbow, 0 green, 3 polka dots\n"
        "4. player_0: 0 rainbow, 0 green, 0 polka dots"
    )


# What a seat sees ------------------------------------------------------------------------------------------


def turned(facts: Facts, observer: int) -> Facts:
    """Return the same race with its seats counted from the observer to the left."""
    players = len(facts.teams)

    def seen_as(seat: int) -> int:
        return NO_SEAT if seat == NO_SEAT else (seat - observer) % players

    return Facts(
        **{
            **vars(facts),
            "seat": seen_as(facts.seat),
            "escaped": seen_as(facts.escaped),
            "highest_bidder": seen_as(facts.highest_bidder),
            "to_come": frozenset(map(seen_as, facts.to_come)),
            "owners": tuple(map(seen_as, facts.owners)),
            "teams": facts.teams[observer:] + facts.teams[:observer],
        }
    )


@ALL_TABLES
@pytest.mark.parametrize("padded", [0, 1])
def test_a_seat_sees_what_is_drawn(players: int, padded: int) -> None:
    """All facts of the picture, from the row alone, at every decision and the end."""
    rules = edition("arc_en_ciel").table(players)
    for number, (state, _) in enumerate(decisions(rules, 8, sober)):
        observer = number % players
        row, layout = seen(state, rules, observer, padded)
        assert facts_of_row(row, layout, rules) == turned(facts_of_state(state, rules), observer)


def test_what_a_seat_sees_in_words() -> None:
    race = auction()
    assert describe(*seen(race.state, race.rules, 1), race.rules) == SEEN


SEEN = """\
rainbow lap  |  at the line: a rainbow jersey for the race leader, no supply
cards left: 11 rainbow, 10 green, 12 of 2 polka dots, 11 of 3, 25 chance
rainbow rider: square 9 (cobbles 3)
next: 10 cobbles 3, free; 11 chance; 12 supply 5; 13 climb 3, free; 14 climb 4, free; 15 polka dots
    2
you: hold 1 flat 2
opponent 1: holds no square
opponent 2: holds no square
effort squares that nobody holds: 21
inner track  [======|>.....|......] END  away: opponent 1, by 7 arrows (1:10)
peloton      you, opponent 2
                      |         servants          |  jerseys
               energy |  beside  on board retired |  rainbow  green  polka dots
> you              45 |       5         1       0 |        1      2           3 (1x3)
  opponent 1       55 |       5         0       1 |        0      0           0
  opponent 2       57 |       6         0       0 |        0      0           0
You: bid for square 9 (cobbles 3), or pass? (highest bid 6, by opponent 1; 1 seat to come)"""


# In the environments ---------------------------------------------------------------------------------------


def test_the_environments_draw_and_describe() -> None:
    env = vector_env(2, "arc_en_ciel", players=3, seed=1)
    env.reset()
    assert env.render(1) == draw_race(env.games.states[1], env.rules)
    assert env.describe(2, 1) == describe(env.observe(2)[1], env.observation_sections, env.rules)


def test_a_finished_race_is_drawn_with_its_end() -> None:
    env = wielerspel_v0.env(players=2, render_mode="ansi")
    env.reset(seed=5)
    for agent in env.agent_iter():
        observation, _, termination, _, _ = env.last()
        if termination:
            break
        env.step(env.action_space(agent).sample(observation["action_mask"]))
    lines = env.render().splitlines()
    assert "The race is over." in lines
    assert lines[-2].startswith("1. player_")

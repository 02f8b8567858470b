"""The agents of the race: legal at every table, honest, and true to their nature."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from millebornes_env import agents, vector_env
from millebornes_env.agents.compiled.agent import MEMORY
from millebornes_env.agents.wielerspel import laps, stakes
from millebornes_env.engine.numba.compiling import for_kernels, kernel, plain
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.actions import action_name, bid_of
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.rules import rules_array
from millebornes_env.games.wielerspel.state import RAINBOW
from tests.agents.choosing import chosen_by_state
from tests.each import each
from tests.race_support import CLIMB_4, COBBLES_3, DESCENT_1, ESCAPE, FLAT_2, OTHER_FLAT_2, Race

GAMES = 8
RACERS = ("saver", "escaper", "bidder")
SPECS = (
    *RACERS,
    "saver:limit=0,keeps=0,finish=0",
    "escaper:free=43,thin=0,lead=100,line=60,keeps=0",
    "bidder:race=10000,power=1000,learns=200",
    "bidder:race=0,power=0,laps=0,late=1,saving=0",
)
TABLES = (
    *(("arc_en_ciel", players) for players in range(2, 7)),
    ("arc_en_ciel+target_rainbows=5", 3),
    ("arc_en_ciel+also_green=1+also_polka=1", 4),
    ("arc_en_ciel+combativity=1", 3),
    ("arc_en_ciel+inner_track=100+servants=1", 4),
    ("arc_en_ciel+inner_track=1+lap_supply=0+energy=9", 6),
)
racers = pytest.mark.parametrize("spec", RACERS)


@cache
def agent_for(spec: str, label: str, players: int) -> Any:
    return agents.load(spec, vector_env(1, label, players=players))


def move(spec: str, race: Race, **changes: int) -> str:
    """Return the name of the agent's action in a position."""
    label = edition("arc_en_ciel").replace(**changes).label
    agent = agent_for(spec, label, race.rules.players)
    return action_name(int(chosen_by_state(agent, race.rules, race.states)[0]))


def bid(spec: str, race: Race) -> int:
    """Return the agent's bid; 0 if it passes."""
    said = move(spec, race)
    assert said == "pass" or said.startswith("bid "), said
    return 0 if said == "pass" else int(said.removeprefix("bid "))


# All of them -----------------------------------------------------------------------------------------------


@each(("name", "players"), TABLES)
def test_racers_play_legally_and_by_what_they_see(name: str, players: int) -> None:
    """The environment refuses what is illegal.

    The choice is the same by state, by observation, and after all that is hidden was dealt anew.
    """
    env = vector_env(GAMES, name, players=players, padded=players % 2 == 0, seed=players)
    step: dict[str, np.ndarray] = env.reset()[0]
    playing: list[Any] = [agents.load(spec, env) for spec in SPECS]
    memories = np.zeros((2, len(playing), GAMES * players, MEMORY), np.int16)
    for turn in range(30):
        seats = env.agent_selection.astype(np.int32)
        slots = np.arange(GAMES) * players + seats
        for number, agent in enumerate(playing):
            actions = agent.act(step["observation"], step["action_mask"], slots)
            for which, states in enumerate((env.get_states(), env.determinize(seats, seed=turn))):
                here = memories[which, number, slots]
                assert np.array_equal(chosen_by_state(agent, env.rules, states, memories=here), actions), (
                    SPECS[number]
                )
                memories[which, number, slots] = here
            if number == turn // 3 % len(playing):
                chosen = actions
        step = env.step(chosen).observations


def share_of_wins(spec: str, others: str, races: int) -> float:
    """Of one seat, another one in each of four races, against three."""
    env = vector_env(races, "arc_en_ciel", players=4, seed=5, autoreset_mode="disabled")
    observations: dict[str, np.ndarray] = env.reset()[0]
    one, three = agents.load(spec, env), agents.load(others, env)
    own, slots = np.arange(races) % 4, 4 * np.arange(races)
    for _ in range(5_000):
        actions = np.full(races, -1, np.int64)
        deciding = env.agent_selection
        for agent, asked in ((one, deciding == own), (three, deciding != own)):
            rows, masks = observations["observation"][asked], observations["action_mask"][asked]
            actions[asked] = agent.act(rows, masks, (slots + deciding)[asked])  # type: ignore[call-arg]
        if (actions == -1).all():
            break
        observations = env.step(actions).observations
    winner, record = plain(rulebook.winner), rules_array(env.rules)[0]
    winners = [winner(state, record, 0) for state in env.get_states().view(np.recarray)]
    return float(np.mean(winners == own))


@pytest.mark.parametrize(
    ("spec", "others", "races", "least", "most"),
    [
        ("saver", "random", 400, 0.80, 1.00),
        ("escaper", "random", 400, 0.80, 1.00),
        ("bidder", "saver", 400, 0.50, 0.75),
        ("bidder", "escaper", 400, 0.50, 0.75),
        ("saver", "bidder", 120, 0.00, 0.15),
    ],
)
def test_racers_are_as_strong_as_they_were(
    spec: str, others: str, races: int, least: float, most: float
) -> None:
    """Even would be a quarter; the bidder is the strongest by far."""
    assert least < share_of_wins(spec, others, races) < most


@racers
def test_racers_exchange_green_jerseys_at_once(spec: str) -> None:
    """003:196: there is no reason to wait."""
    race = Race(3).jerseys(0, green=3).land_on(FLAT_2)
    assert race.decision == ("exchange", 0)
    assert move(spec, race) == "exchange green"


@racers
def test_racers_wait_until_ten_polka_dots_can_be_handed_in_exactly(spec: str) -> None:
    """003:196; but not if the exchange wins."""
    assert move(spec, Race(3).jerseys(0, doubles=5).land_on(FLAT_2)) == "exchange polka"
    eleven = {"doubles": 1, "triples": 3}
    assert move(spec, Race(3).jerseys(0, **eleven).land_on(FLAT_2)) == "keep"
    assert move(spec, Race(3).jerseys(0, **eleven).stack("rainbow", 2).land_on(FLAT_2)) == "exchange polka"
    assert move(spec, Race(3).jerseys(0, **eleven, rainbow=2).land_on(FLAT_2)) == "exchange polka"


@racers
def test_racers_keep_the_green_jersey_that_the_option_asks_for(spec: str) -> None:
    """003:200: three rainbow jerseys, a green and a polka-dot one."""
    option = {"also_green": 1}
    for greens, rainbows, expected in ((3, 2, "keep"), (4, 2, "exchange green"), (3, 1, "exchange green")):
        race = Race(3, **option).jerseys(0, green=greens, rainbow=rainbows).land_on(FLAT_2)
        assert move(spec, race, **option) == expected


@racers
def test_racers_let_those_retire_who_are_not_on_the_board(spec: str) -> None:
    """003:194."""
    race = Race(3).servants(0, FLAT_2, DESCENT_1).energy(0, 1).land_on(CLIMB_4)
    assert race.decision == ("must pay", 0)
    assert move(spec, race) == "retire"


@racers
def test_racers_let_the_servant_retire_who_is_worth_least(spec: str) -> None:
    """003:194; the bidder, too, where nothing but the number tells squares apart."""
    race = Race(3).servants(0, 4, 5, DESCENT_1, COBBLES_3, 10, 36).energy(0, 1).land_on(CLIMB_4)
    assert move(spec, race) == f"retire {DESCENT_1}"
    race = Race(3).servants(0, 4, 5, DESCENT_1, COBBLES_3, 10, 36).order(0, 1).land_on(CLIMB_4)
    race.do("pass", "bid 9")
    assert race.decision == ("move", 0)
    assert move(spec, race) == f"move {DESCENT_1}"


@racers
def test_who_bids_last_bids_one_more(spec: str) -> None:
    """003:184."""
    race = Race(3).land_on(36).do("pass", "pass")
    assert race.decision == ("bid", 0)
    assert bid(spec, race) == 1
    assert bid(spec, Race(3).land_on(36).do("pass", "bid 3")) == 4
    assert bid(spec, Race(3).land_on(30).do("pass", "bid 40")) == 0


@racers
def test_nobody_bids_more_than_the_others_have(spec: str) -> None:
    race = Race(3).energy(0, 5).energy(2, 4).land_on(36)
    assert race.decision == ("bid", 1)
    assert bid(spec, race) == 3


# `saver` ---------------------------------------------------------------------------------------------------


def test_saver_never_bids_above_its_limit() -> None:
    race = Race(4).land_on(CLIMB_4)
    assert [bid(spec, race) for spec in ("saver", "saver:limit=9", "saver:limit=0")] == [6, 9, 0]
    assert bid("saver", race.do("bid 6")) == 0


def test_saver_escapes_at_the_finish_only() -> None:
    race = Race(3).land_on(ESCAPE)
    assert race.decision == ("escape", 0)
    assert move("saver", race) == "stay"
    race.set(rainbow_lap=1)
    assert move("saver", race) == "escape"
    assert move("saver:finish=20", race) == "stay"


# `escaper` -------------------------------------------------------------------------------------------------


def crowded(players: int = 4) -> Race:
    """Ten effort squares are free."""
    return Race(players).servants(1, 1, 2, 4, 5, 7, 9).servants(2, 10, 13, 14, 16, 18, 21)


def test_escaper_waits_until_few_squares_are_free() -> None:
    """003:186."""
    race = crowded().land_on(ESCAPE)
    assert move("escaper", race) == "escape"
    assert move("escaper:free=9", race) == "stay"
    assert move("escaper", Race(4).land_on(ESCAPE)) == "stay"


def test_escaper_fears_the_forced_retirement_when_the_pile_is_thin() -> None:
    """003:192."""
    race = crowded().deck("supply 5", "forced_retirement").land_on(ESCAPE)
    assert move("escaper", race) == "stay"
    assert move("escaper:thin=1", race) == "escape"
    assert move("escaper", crowded().deck("supply 5").land_on(ESCAPE)) == "escape"


@pytest.mark.parametrize(("lead", "expected"), [(3, "escape"), (6, "stay"), (12, "stay"), (13, "escape")])
def test_escaper_rides_further_while_that_is_cheap_or_can_win(lead: int, expected: str) -> None:
    """003:188 and 003:190: the end is the 19th arrow."""
    race = crowded().away(0, lead).land_on(ESCAPE).do("pay")
    assert race.decision == ("escape", 0)
    assert move("escaper", race) == expected


def test_escaper_bids_for_numbers_and_for_squares_before_the_line() -> None:
    """003:182."""
    bids = [bid("escaper", Race(4).land_on(square)) for square in (FLAT_2, CLIMB_4, 33, 35, 36)]
    assert bids == [2, 4, 2, 9, 8]
    assert bid("escaper:line=1", Race(4).land_on(36)) == 3


# `bidder` --------------------------------------------------------------------------------------------------


def test_bidder_pays_for_the_line_for_jerseys_and_for_numbers() -> None:
    """36 is as flat as the first square, and the last climb is before the polka dots."""
    bids = {square: bid("bidder", Race(4).land_on(square)) for square in (FLAT_2, 36, 10, CLIMB_4, 28, 30)}
    assert bids[36] > bids[FLAT_2]
    assert bids[28] > bids[10] > bids[FLAT_2]
    assert bids[CLIMB_4] > bids[30]


def test_bidder_knows_what_it_gives_up_for_a_square() -> None:
    """Nothing but the square of least value, when all its servants are on the board."""
    good = Race(4).servants(1, 28, 35, 36, 39, 27, 26).land_on(FLAT_2)
    assert bid("bidder", good) == 0
    poor = Race(4).servants(1, 28, 35, 36, 39, 27, 1).land_on(26)
    assert bid("bidder", poor) > 0


def test_bidder_notices_that_its_bids_are_too_high_or_too_low() -> None:
    def after(owner: int, off_price: int) -> tuple[int, int]:
        race = Race(4).servants(owner, OTHER_FLAT_2).land_on(28)
        agent, memories = agent_for("bidder", "arc_en_ciel", 4), np.zeros((1, MEMORY), np.int16)
        memories[0, :4] = 32767, 1, off_price, OTHER_FLAT_2 + 1  # it has decided before in this race
        amount = bid_of(int(chosen_by_state(agent, race.rules, race.states, memories=memories)[0]))
        assert memories[0, 3] == 28 + 1
        return int(memories[0, 2]), amount

    learns = int(agent_for("bidder", "arc_en_ciel", 4).options[5])
    assert after(owner=1, off_price=0)[0] == learns
    assert after(owner=2, off_price=600)[0] == max(0, 600 - 4 * learns)
    assert after(owner=1, off_price=600)[1] < after(owner=1, off_price=0)[1]


def full() -> Race:
    """Four effort squares are free."""
    return crowded().servants(3, 22, 24, 26, 27, 28, 30)


def test_bidder_escapes_for_a_jersey() -> None:
    """From the last escape square of a rainbow lap; in an ordinary lap nothing waits at the line."""
    race = full().land_on(37)
    assert race.decision == ("escape", 0)
    assert move("bidder", race) == "stay"
    assert move("bidder", race.set(rainbow_lap=1)) == "escape"


# What jerseys are worth ------------------------------------------------------------------------------------


@each(
    ("rainbows", "greens", "dots", "missing"),
    [
        (0, 0, 0, 3.0),
        (3, 0, 0, 0.0),
        (2, 3, 0, 0.0),
        (2, 0, 10, 0.0),
        (1, 3, 10, 0.0),
        (2, 2, 0, 1 / 3),
        (2, 2, 9, 1 / 30),
        (1, 3, 5, 0.5),
        (4, 2, 9, 0.0),
    ],
)
def test_rainbow_jerseys_that_are_missing(rainbows: int, greens: int, dots: int, missing: float) -> None:
    record = rules_array(edition("arc_en_ciel").table(4))[0]
    result = plain(stakes.rainbows_missing)(record, rainbows, greens, dots)
    assert result == pytest.approx(missing)


# What places are worth -------------------------------------------------------------------------------------


@kernel
def fill_table(
    races: StateArray, rules: StateArray, worth: np.ndarray, values: np.ndarray, landings: np.ndarray
) -> None:
    laps.value_laps(races[0], rules[0], 0, worth, values, landings, False)


def places_before_the_line(race: Race, energy: float) -> dict[tuple[str, int], float]:
    """Return the value of each position (0: in front) or lead to seat 0 on square 38.

    The race is at the end of a rainbow lap. Leading over the line is worth 1; another leader costs a half.
    """
    worth, values = np.zeros(stakes.SIZE_OF_STAKES), np.zeros(laps.SIZE)
    worth[RAINBOW], worth[stakes.OTHERS + RAINBOW], worth[stakes.ENERGY] = 1.0, -0.5, energy
    records, rules = for_kernels(race.states), for_kernels(rules_array(race.rules))
    fill_table(records, rules, worth, values, np.zeros_like(values))
    at = {("place", place): laps.at(laps.NEXT_RAINBOW_LAP, 38, place) for place in range(2)}
    for lead in (1, 2):
        at["lead", lead] = laps.at(laps.NEXT_RAINBOW_LAP, 38, laps.slot_of_lead(lead))
    return {name: float(values[index]) for name, index in at.items()}


def test_what_places_are_worth_before_the_line() -> None:
    """One throw in six lands on square 39, which is own, another's or nobody's; the rest passes the line."""
    own, others, free = Race(2).servants(0, 39), Race(2).servants(1, 39), Race(2)
    before = places_before_the_line(own, 0.0)
    assert before["place", 0] == pytest.approx(1)
    assert before["place", 1] == pytest.approx(1 / 6 - 5 / 12)
    before = places_before_the_line(others, 0.0)
    assert before["place", 0] == pytest.approx(5 / 6 - 1 / 12)
    assert before["place", 1] == pytest.approx(-1 / 2)
    assert before["lead", 2] == pytest.approx(5 / 6 + (1 / 6 - 5 / 12) / 6)
    before = places_before_the_line(free, 0.1)
    assert before["place", 0] == pytest.approx(5 / 6 - 1 / 12)
    assert before["place", 1] == pytest.approx(1 / 6 - 5 / 12)
    assert before["lead", 1] == pytest.approx(5 / 6 - 1 / 12 - 0.1)
    assert places_before_the_line(free, 5.0)["lead", 1] == pytest.approx(1 / 6 - 5 / 12)  # it gives up

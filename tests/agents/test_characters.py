"""The characters of our own: legal at every table, honest, and true to their nature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env import agents, edition, editions, vector_env
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.games.millebornes.actions import action_name
from tests.agents.choosing import action_in, chosen_by_state
from tests.support import Position

CHARACTERS = ("racer", "attacker", "hoarder", "strategist")
SPECS = (
    *CHARACTERS,
    "racer:extends=no,near=0",
    "attacker:risk=10,pile=0",
    "hoarder:pile=0,reserve=3",
    "strategist:extends=no,score=no",
)
TABLES = [(name, *table) for name in editions() for table in edition(name).tables]
VARIANTS: tuple[dict[str, int], ...] = ({}, {"discard_only_if_stuck": 1}, {"discard_safeties": 0})
GAMES = 12

characters = pytest.mark.parametrize("spec", CHARACTERS)


def with_scores(states: Any, teams: int, chance: np.random.Generator) -> Any:
    """The same games late in a match."""
    states["score"][:, :teams] = 5 * chance.integers(0, 1_000, (len(states), teams))
    return states


def move(spec: str, position: Position) -> str:
    """Return the name of the character's action in a position."""
    teams = position.rules.teams
    return action_name(action_in(spec, position), teams, position.seat % teams)


# All of them -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", VARIANTS, ids=lambda changes: next(iter(changes), "as printed"))
def test_characters_play_legally_and_by_what_they_see(changes: dict[str, int]) -> None:
    """At every table (the environment refuses what is illegal), and the same by state and by observation."""
    chance = np.random.default_rng(1)
    for number, (name, players, teams) in enumerate(TABLES):
        rules = edition(name).replace(**changes)
        env = vector_env(GAMES, rules, players=players, teams=teams, padded=number % 2 == 0)
        step: dict[str, np.ndarray] = env.reset(seed=number)[0]
        playing: list[Any] = [agents.load(spec, env) for spec in SPECS]
        ended = 0
        for turn in range(130):
            for agent in playing if turn % 10 == 0 else ():
                actions = agent.act(step["observation"], step["action_mask"])
                assert np.array_equal(chosen_by_state(agent, env.rules, env.get_states()), actions), (
                    name,
                    players,
                )
            acting = playing[(turn // 2) % len(playing)]
            step, _, over, _, _ = env.step(acting.act(step["observation"], step["action_mask"]))
            ended += int(over.sum())
            if turn == 60 and rules.table(players, teams).count_points:
                env.set_states(with_scores(env.get_states(), teams, chance))
        assert ended > 0 or env.get_states()["round_number"].any(), (name, players, teams)


@pytest.mark.parametrize(
    ("spec", "opponent", "least"),
    [
        ("racer", "greedy", 0.40),
        ("racer", "random", 0.90),
        ("attacker", "greedy", 0.57),
        ("hoarder", "greedy", 0.56),
        ("strategist", "greedy", 0.58),
        ("strategist", "holder", 0.59),
        ("strategist", "racer", 0.65),
    ],
)
def test_characters_are_as_strong_as_they_were(spec: str, opponent: str, least: float) -> None:
    """Of 2,000 rounds, each deal played from both places."""
    config = MatchConfig(episode="round", seed=5)
    env = vector_env(1, config.edition, players=config.players, teams=config.teams)
    outcome = play([agents.load(spec, env), agents.load(opponent, env)], config, 1_000)
    assert outcome.wins[..., 0].mean() > least


@characters
def test_characters_claim_every_coup_fourre(spec: str) -> None:
    position = Position("battle 0: roll", "hand 0: right_of_way", "hand 1: stop", "to act: seat 1")
    assert move(spec, position.do("play stop")) == "claim the coup fourré"


@characters
def test_characters_lay_their_safeties_before_they_finish(spec: str) -> None:
    """Each is worth points and gives another play; the racer lays them as they come, once at the goal not."""
    position = Position("battle 0: roll", "hand 0: 50 extra_tank").km(0, 650)
    expected = "play 50 km" if spec == "racer" else "play Extra tank"
    assert move(spec, position) == expected


# `racer`


def test_racer_drives_rather_than_attack() -> None:
    position = Position("battle 0: roll", "battle 1: roll", "hand 0: stop 25 75 speed_limit").km(1, 300)
    assert move("racer", position) == "play 75 km"
    assert move("attacker", position) == "Stop against team 1"


def test_racer_stops_who_is_about_to_win() -> None:
    position = Position("battle 0: roll", "battle 1: roll", "battle 2: roll", "hand 0: stop 100", players=3)
    position.km(1, 300).km(2, 550)
    assert move("racer", position) == "Stop against team 2"
    assert move("racer:near=100", position) == "play 100 km"


def test_racer_extends_boldly() -> None:
    for pile, spec, expected in (
        (60, "racer", "extend the trip"),
        (10, "racer", "finish the trip"),
        (10, "racer:cards=5", "extend the trip"),
        (60, "racer:extends=no", "finish the trip"),
    ):
        position = Position("battle 0: roll", "hand 0: 50").km(0, 650).draw_pile(pile)
        assert move(spec, position.do("play 50")) == expected


# `attacker`


@pytest.mark.parametrize(("first", "second"), [(300, 150), (150, 300)])
def test_attacker_stops_the_most_dangerous(first: int, second: int) -> None:
    position = Position("battle 1: roll", "battle 2: roll", "hand 0: flat_tire roll", players=3)
    position.km(1, first).km(2, second)
    assert move("attacker", position) == f"Flat tire against team {1 if first > second else 2}"


def test_attacker_keeps_its_hazards() -> None:
    """Until the opponents are safe from them."""
    position = Position("battle 0: accident", "hand 0: stop 200 roll flat_tire")
    assert move("attacker", position) == "discard 200 km"
    position.safety(1, "puncture_proof")
    assert move("attacker", position) == "discard Flat tire"


def test_attacker_can_be_told_to_shun_risks() -> None:
    position = Position("battle 1: roll", "hand 0: stop repairs", "hand 1: right_of_way 5x roll").km(1, 300)
    position.draw_pile(30)  # 6 of 36 hidden cards: one in six
    assert move("attacker:risk=20", position) == "Stop against team 1"
    assert move("attacker:risk=10", position) != "Stop against team 1"


# `hoarder`


def test_hoarder_keeps_safeties_for_the_coup_fourre() -> None:
    position = Position("battle 0: roll", "hand 0: extra_tank roll roll", "hand 1: out_of_gas")
    position.draw_pile(40)
    assert move("hoarder", position) == "discard Roll"
    assert move("hoarder:pile=40", position) == "play Extra tank"
    assert move("racer", position) == "play Extra tank"
    position.battle(1, "roll").km(1, 675)
    assert move("hoarder", position) == "play Extra tank"  # somebody threatens to finish


def test_hoarder_gives_away_what_is_needed_no_more() -> None:
    """A remedy goes when all of its hazards have been seen."""
    position = Position("battle 0: stop", "hand 0: repairs gasoline 100")
    assert move("hoarder", position) == "discard 100 km"
    position.battle(1, "accident").hand(1, "accident").turn(1).do("discard accident").turn(0)
    position.hand(0, "repairs", "gasoline", "100").hand(1)
    assert move("hoarder", position) == "discard Repairs"


# `strategist`


def test_strategist_drives_without_200s_if_it_can_win_that_way() -> None:
    position = Position("battle 0: roll", "hand 0: 200 100").km(0, 400).km(1, 100)
    assert move("strategist", position) == "play 100 km"
    position.km(0, 425, two_hundreds=1)
    assert move("strategist", position) == "play 200 km"
    position.km(0, 100).km(1, 600).hand(0, "200", "50")
    assert move("strategist", position) == "play 200 km"


def test_strategist_attacks_with_what_is_hardest_to_get_rid_of() -> None:
    position = Position(
        "battle 1: roll", "hand 0: out_of_gas flat_tire roll", "hand 1: 5x spare_tire", "to act: seat 1"
    )
    position.km(1, 300)
    for _ in range(4):  # four Spare Tires are gone
        position.do("discard spare_tire").turn(1)
    position.hand(0, "out_of_gas", "flat_tire", "roll").hand(1, *["end_of_limit"] * 6).turn(0)
    assert move("strategist", position) == "Flat tire against team 1"


def arrived(pile: int = 60, card: str = "100", **score: int) -> Position:
    """A trip just completed, the opponent far behind and stopped; three of the card in hand."""
    position = Position("battle 0: roll", "battle 1: accident", "safeties 0: right_of_way extra_tank")
    position.km(0, 650, two_hundreds=2).km(1, 100).hand(0, "50", card, card, card, "stop")
    for team, points in enumerate(score.values()):
        position.state.score[team] = points
    return position.draw_pile(pile).do("play 50")


def test_strategist_extends_only_if_it_pays() -> None:
    assert move("strategist", arrived()) == "extend the trip"
    assert move("strategist", arrived(pile=5, card="end_of_limit")) == "finish the trip"
    assert move("strategist:extends=no", arrived()) == "finish the trip"


def test_strategist_knows_the_score_of_the_match() -> None:
    """It finishes where that wins the match, and goes on where that would lose it."""
    assert move("strategist", arrived(own=4500, other=0)) == "finish the trip"
    assert move("strategist:score=no", arrived(own=4500, other=0)) == "extend the trip"
    assert move("strategist", arrived(5, "end_of_limit", own=0, other=4900)) == "extend the trip"
    assert move("strategist:score=no", arrived(5, "end_of_limit", own=0, other=4900)) == "finish the trip"


@pytest.mark.parametrize(
    ("safety", "hazard"),
    [
        ("driving_ace", "accident"),
        ("extra_tank", "out_of_gas"),
        ("puncture_proof", "flat_tire"),
        ("right_of_way", "stop"),
    ],
)
def test_strategist_keeps_a_safety_as_long_as_a_coup_fourre_is_probable(safety: str, hazard: str) -> None:
    """While hazards are hidden and cards are left to draw."""
    position = Position("battle 0: roll", f"hand 0: {safety} roll", f"hand 1: {hazard} {hazard}")
    name = safety.capitalize().replace("_", " ")
    assert move("strategist", position.draw_pile(80)) == "discard Roll"
    assert move("strategist", position.draw_pile(5)) == f"play {name}"

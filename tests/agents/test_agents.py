"""The agents that follow rules: legal always, as good as their word, and blind to what is hidden."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from millebornes_env import edition, editions, vector_env
from millebornes_env.agents import AGENTS, Table, load, names, register
from millebornes_env.games.millebornes.cards import remedy_for
from tests.agents.choosing import action_in
from tests.each import each
from tests.support import CARDS, Position

DISTANCES = {25: 0, 50: 1, 75: 2, 100: 3, 200: 4}
ACCIDENT, OUT_OF_GAS, FLAT_TIRE, STOP, SPEED_LIMIT = range(5, 10)
REPAIRS, GASOLINE, SPARE_TIRE, ROLL, END_OF_LIMIT = range(10, 15)
DRIVING_ACE, EXTRA_TANK, PUNCTURE_PROOF, RIGHT_OF_WAY = SAFETIES = range(15, 19)
CLAIM, _, _, FINISH = range(38, 42)
FURTHER_ACCIDENT, FURTHER_LIMIT = 42, 46


def discard(card: int) -> int:
    return 19 + card


def position(
    hand: Iterable[int],
    *,
    players: int = 2,
    km: int = 0,
    target: int = 700,
    top: int | None = ROLL,
    limited: bool = False,
    pile: int = 60,
    open_teams: Iterable[int] = (),
) -> Position:
    """A position in which seat 0 holds this hand; only the open teams can be attacked."""
    made = Position(players=players).battle(0, *([] if top is None else [CARDS[top]])).km(0, km)
    if target != made.target:
        made.extended_by(0)
    if limited:
        made.speed(0, CARDS[SPEED_LIMIT])
    for team in range(1, made.rules.teams):
        if team in set(open_teams):
            made.battle(team, CARDS[ROLL])
    made.hand(0, *(CARDS[card] for card in hand))
    return made.draw_pile(pile)


# All of them.


PLAY_ELSEWHERE = ("policy", "champion", "human", "search", "equilibrium")
"""Agents that need more than a table, or much time; their own tests let them play."""


@each("padded", [False, True])
@each("name", editions())
def test_every_agent_plays_every_edition_at_every_table(name: str, padded: bool) -> None:
    for players, teams in edition(name).tables:
        env = vector_env(6, name, players=players, teams=teams, seed=1, padded=padded, observe_rules=padded)
        agents = [load(spec, env) for spec in names("millebornes") if spec not in PLAY_ELSEWHERE]
        step = env.reset()[0]
        ended = 0
        for turn in range(120):
            acting = agents[turn % len(agents)]
            step, _, over, _, _ = env.step(acting.act(step["observation"], step["action_mask"]))
            ended += int(over.sum())
        assert ended > 0, (players, teams)


# `random`


def test_random_is_even() -> None:
    """Chi-square of 7 equally probable actions; a fixed seed, so it always passes or always fails."""
    hand = [DISTANCES[25], DISTANCES[50], DISTANCES[100], ACCIDENT, REPAIRS, ROLL]
    legal = sorted([ROLL, *map(discard, hand)])
    rows, rounds = 700, 100
    env = vector_env(rows)
    observations, _ = env.reset(seed=1)
    env.set_states(np.tile(position(hand, top=None).games.states, rows))
    seen, masks = observations["observation"], observations["action_mask"]
    assert np.flatnonzero(masks[0]).tolist() == legal
    agent = load("random", env, seed=1)
    drawn = np.stack([agent.act(seen, masks) for _ in range(rounds)])
    counts = np.bincount(drawn.ravel(), minlength=42)
    assert counts[legal].sum() == rows * rounds
    expected = rows * rounds / 7
    assert ((counts[legal] - expected) ** 2 / expected).sum() < 22.46  # 6 degrees of freedom: once in 1,000
    pairs = np.zeros((7, 7))  # a row's choice says nothing about the next row's
    place = np.searchsorted(legal, drawn)
    np.add.at(pairs, (place[:, :-1:2].ravel(), place[:, 1::2].ravel()), 1)
    expected = pairs.sum() / 49
    assert ((pairs - expected) ** 2 / expected).sum() < 84.04  # 48 degrees of freedom: once in 1,000


# `greedy`

KINDS_FROM_THE_BEST = (
    (DISTANCES[50], "finish: 650 km of 700"),
    (DISTANCES[25], "distance"),
    (END_OF_LIMIT, "remedy"),
    (STOP, "hazard"),
    (EXTRA_TANK, "safety"),
    (discard(REPAIRS), "discard"),
)


@each("spec", ["greedy", "holder:pile=60"])
@each("best", range(len(KINDS_FROM_THE_BEST)))
def test_greedy_prefers_finish_distance_remedy_hazard_safety_discard(best: int, spec: str) -> None:
    hand = [action % 19 for action, _ in KINDS_FROM_THE_BEST[best:]]
    made = position(hand, km=650, limited=True, open_teams=[1])
    assert action_in(spec, made) == KINDS_FROM_THE_BEST[best][0]


@pytest.mark.parametrize(("km", "target"), [(500, 700), (600, 700), (625, 700), (975, 1000), (900, 1000)])
def test_greedy_finishes_with_the_card_that_fits(km: int, target: int) -> None:
    """Rather than lay another one; and a card that fits no other day is nothing special."""
    hand = [*DISTANCES.values(), REPAIRS, STOP]
    assert action_in("greedy", position(hand, km=km, target=target)) == DISTANCES[target - km]
    largest = max(length for length in DISTANCES if length <= target - km + 50)
    assert action_in("greedy", position(hand, km=km - 50, target=target)) == DISTANCES[largest]


@pytest.mark.parametrize("players", [3, 6])
def test_greedy_stops_a_car_rather_than_slow_it_down(players: int) -> None:
    for hazard in (ACCIDENT, OUT_OF_GAS, FLAT_TIRE, STOP):
        made = position([SPEED_LIMIT, hazard], players=players, open_teams=[1, 2])
        assert action_in("greedy", made) == hazard
    made = position([SPEED_LIMIT, ACCIDENT], players=players, open_teams=[2])
    assert action_in("greedy", made) == FURTHER_ACCIDENT
    made = position([SPEED_LIMIT, DRIVING_ACE, STOP], players=players).speed(1, CARDS[SPEED_LIMIT])
    assert action_in("greedy", made) == FURTHER_LIMIT


@pytest.mark.parametrize("pile", [60, 20, 2])
@pytest.mark.parametrize("spec", ["greedy", "holder"])
def test_greedy_claims_every_coup_fourre_and_never_extends(spec: str, pile: int) -> None:
    attacked = position([RIGHT_OF_WAY], pile=pile).hand(1, CARDS[STOP]).turn(1).do("play stop")
    assert attacked.phase == "claim"
    assert action_in(spec, attacked) == CLAIM
    for km in (600, 500):
        arrived = position([DISTANCES[700 - km]], km=km, pile=pile).do(f"play {700 - km}")
        assert arrived.phase == "extension"
        assert action_in(spec, arrived) == FINISH


def test_greedy_gives_away_what_it_needs_least() -> None:
    """The shortest distance first; what stops or starts a car last (a safety it lays instead)."""

    def rather(one: int, other: int) -> int:
        """Of two cards that cannot be laid."""
        made = position([one, other], top=None).speed(1, CARDS[SPEED_LIMIT])
        return -1 if action_in("greedy", made) == discard(one) else 1

    order = sorted((card for card in range(15) if card != ROLL), key=functools.cmp_to_key(rather))
    assert all(rather(*pair) < 0 for pair in itertools.combinations(order, 2))
    assert order[0] == DISTANCES[25]
    assert set(order[-4:]) == {ACCIDENT, OUT_OF_GAS, FLAT_TIRE, STOP}
    for other in order:
        if other != REPAIRS:
            made = position([ROLL, other], top=ACCIDENT).speed(1, CARDS[SPEED_LIMIT])
            assert action_in("greedy", made) == discard(other)


# `holder`


@each("players", [2, 6])
@each("safety", SAFETIES)
def test_holder_keeps_a_safety_while_the_pile_is_high(players: int, safety: int) -> None:
    for pile in (31, 60, 70):
        made = position([safety, ROLL], players=players, pile=pile)
        assert action_in("holder:pile=30", made) == discard(ROLL)
    for pile in (30, 12, 0):
        assert action_in("holder:pile=30", position([safety, ROLL], players=players, pile=pile)) == safety


def test_holder_never_gives_a_safety_away_if_it_can_do_anything_else() -> None:
    for pile in (70, 10):
        assert action_in("holder", position([DRIVING_ACE], pile=pile)) == DRIVING_ACE
    made = position([DRIVING_ACE, DISTANCES[100]], top=STOP, pile=70)
    assert action_in("holder", made) == discard(DISTANCES[100])


@pytest.mark.parametrize(
    ("safety", "top", "limited"),
    [
        (DRIVING_ACE, ACCIDENT, False),
        (EXTRA_TANK, OUT_OF_GAS, False),
        (PUNCTURE_PROOF, FLAT_TIRE, False),
        (RIGHT_OF_WAY, STOP, False),
        (RIGHT_OF_WAY, ROLL, True),
    ],
)
def test_holder_lays_the_safety_that_cures_at_once(safety: int, top: int, limited: bool) -> None:
    """Before remedies, distances and hazards; and no other safety, nor this one with nothing to be cured."""
    hand = [*SAFETIES, DISTANCES[50], END_OF_LIMIT if limited else remedy_for(top), STOP]

    def in_need(cards: list[int]) -> Position:
        return position(cards, top=top, limited=limited, open_teams=[1])

    assert action_in("holder", in_need(hand)) == safety
    others = [card for card in hand if card != safety]
    assert action_in("holder", in_need(others)) not in SAFETIES
    assert action_in("holder", position(hand, open_teams=[1])) == DISTANCES[50]
    assert action_in("holder", position([safety, STOP])) == discard(STOP)


def test_holder_plays_like_greedy_otherwise() -> None:
    """Wherever no safety is in hand."""
    env = vector_env(50)
    greedy, holder = load("greedy", env), load("holder", env)
    observations, _ = env.reset(seed=1)
    compared = 0
    for _ in range(80):
        seen, masks = observations["observation"], observations["action_mask"]
        actions = greedy.act(seen, masks)
        without = ~seen[:, 15:19].any(axis=1)
        assert np.array_equal(holder.act(seen, masks)[without], actions[without])
        compared += int(without.sum())
        observations = env.step(actions).observations
    assert compared > 1_000


# `load`


def test_an_agent_of_ones_own_gets_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class FirstAgent:
        name = "first"

        def __init__(self, table: Table, seed: int = 0, offset: int = 0) -> None:
            self.told = (table.num_actions, seed, offset)

        def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
            return action_masks.argmax(axis=1)

    monkeypatch.setattr("millebornes_env.agents.registry.AGENTS", dict(AGENTS))
    register("first", FirstAgent)
    agent = load("first:offset=3", vector_env(1, players=3), seed=5)
    assert isinstance(agent, FirstAgent)
    assert agent.told == (47, 5, 3)
    assert agent.name == "first:offset=3"


def test_an_agent_is_told_its_table() -> None:
    env = vector_env(1, edition("parker").replace(max_200=4), players=6)
    table = Table.of(env)
    assert table.edition == "parker+max_200=4"
    assert (table.rules.players, table.rules.teams, table.num_actions) == (6, 3, 47)
    assert table.sections == env.observation_sections
    seen = np.zeros((1, env.observation_sections[-1].stop), np.int8)
    seen[0, env.section("km")], seen[0, env.section("draw_pile")] = [3, 2, 1], 100
    assert table.section(seen, "km").tolist() == [[3, 2, 1]]
    assert (table.section(seen, "draw_pile") * 25).tolist() == [[2_500]]
    with pytest.raises(KeyError, match="'speed'"):
        table.section(seen, "speed")

"""Search is legal, honest and the same however it is run; and it finds what its rollout agent does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, edition, editions, vector_env
from millebornes_env.agents.compiled.agent import FIRST_FREE, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.protocol import StateAgent, Table, sees_hidden_cards
from millebornes_env.agents.registry import rollout_agent
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import KnownCards
from millebornes_env.agents.search.kernels import search_on, value_of_round
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes.actions import discard_action
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES, Card
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.rules import RulesRecord, rules_record
from millebornes_env.games.millebornes.state import State, StateArray
from tests.arena.players import AGENTS, first_legal
from tests.each import each
from tests.support import Position

DISTANCE_50, DISCARD_50 = 1, 20
CLAIM, PASS = 38, 39


def choose_in_turns(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """The first legal action, the last one, the first one ...: it must remember which it was."""
    memory[FIRST_FREE] = 1 - int(memory[FIRST_FREE])
    return first_legal(state, rules, int(memory[FIRST_FREE]))


class InTurnsAgent(CompiledAgent):
    """Remembers."""

    rule = staticmethod(choose_in_turns)


@pytest.fixture(autouse=True)
def known_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "lot"):
        monkeypatch.setitem(agents.AGENTS, name, AGENTS[name])
    monkeypatch.setitem(agents.AGENTS, "in_turns", InTurnsAgent)


def searcher(env: VectorEnv, seed: int = 3, **options: Any) -> SearchAgent:
    options = {"rollout": "first", "rollouts": 20, "z": 1.0} | options
    table = Table.of(env)
    options["rollout"] = rollout_agent(options["rollout"], table, seed)
    return SearchAgent(table, seed, **options)


def positions(env: VectorEnv, steps: int, seed: int = 1) -> StateArray:
    """The games of the environment after some actions by chance."""
    observations, _ = env.reset(seed=seed)
    chance = np.random.default_rng(seed)
    for _ in range(steps):
        masks = observations["action_mask"]
        actions = np.where(masks, chance.random(masks.shape), -1.0).argmax(axis=1)
        observations = env.step(actions).observations
    return env.get_states()


def seats_of(states: StateArray) -> np.ndarray:
    return states["seat"].astype(np.int32)


def redealt(env: VectorEnv, states: StateArray, key: int) -> StateArray:
    """The same games with the cards that who decides cannot see dealt anew."""
    others = states.copy()
    room = np.zeros(106, np.int8)
    for game in range(len(others)):
        redeal_hidden_cards(others[game], rules_record(env.rules), int(states["seat"][game]), key, game, room)
    return others


# Legal, and the same however it is run ----------------------------------------------------------------------


@each("padded", [False, True])
@each("name", editions())
def test_it_plays_legally_in_every_edition_at_every_table(name: str, padded: bool) -> None:
    for players, teams in list(edition(name).tables)[padded::2]:
        env = vector_env(3, name, players=players, teams=teams, padded=padded, observe_rules=padded)
        agent = searcher(env, rollouts=4, z=0.5)
        observations, _ = env.reset(seed=1)
        for turn in range(16):
            masks = observations["action_mask"].copy()
            if turn % 2:
                states = env.get_states()
                actions = agent.act_on(states, seats_of(states), np.arange(3))
            else:
                actions = agent.act(observations["observation"], masks)
            assert (masks[np.arange(3), actions] == 1).all(), (players, teams)
            observations = env.step(actions).observations


def test_threads_change_nothing() -> None:
    env = vector_env(40)
    states = positions(env, 30)
    one, three = searcher(env, threads=1), searcher(env, threads=3)
    for _ in range(2):
        actions = one.act_on(states, seats_of(states), np.arange(40))
        assert np.array_equal(actions, three.act_on(states, seats_of(states), np.arange(40)))
    assert one.playouts == three.playouts > 1_000


def test_choices_are_a_function_of_seed_place_and_number_of_the_decision() -> None:
    env = vector_env(60)
    states = positions(env, 30)
    seats, slot_ids = seats_of(states), np.arange(60)

    def choices(seed: int, order: np.ndarray, calls: int = 1) -> np.ndarray:
        agent = searcher(env, seed, rollout="lot", rollouts=8, z=0.0)
        chosen = np.zeros(60, np.int64)
        for _ in range(calls):
            chosen[order] = agent.act_on(states[order], seats[order], slot_ids[order])
        return chosen

    first = choices(1, slot_ids)
    assert np.array_equal(first, choices(1, slot_ids))
    assert np.array_equal(first, choices(1, slot_ids[::-1]))
    assert not np.array_equal(first, choices(2, slot_ids))
    assert not np.array_equal(first, choices(1, slot_ids, calls=2))


def test_one_compilation_serves_all_rollout_agents() -> None:
    env = vector_env(4)
    states = positions(env, 20)
    for rollout in ("first", "lot", "first:last"):
        searcher(env, rollout=rollout).act_on(states, seats_of(states), np.arange(4))
    if IS_COMPILED:
        assert len(search_on.signatures) == 1  # type: ignore[attr-defined]


# Honest -----------------------------------------------------------------------------------------------------


def test_it_chooses_alike_from_games_and_from_observations() -> None:
    env = vector_env(20)
    from_games, from_rows = searcher(env, rollouts=8, z=0.3), searcher(env, rollouts=8, z=0.3)
    observations, _ = env.reset(seed=2)
    deviations = 0
    for _ in range(60):
        states = env.get_states()
        actions = from_games.act_on(states, seats_of(states), np.arange(20))
        rows, masks = observations["observation"], observations["action_mask"]
        assert np.array_equal(from_rows.act(rows, masks), actions)
        deviations += int((masks.argmax(axis=1) != actions).sum())
        observations = env.step(actions).observations
    assert deviations > 100


def test_search_says_whether_it_sees_hidden_cards() -> None:
    env = vector_env(1)
    assert isinstance(searcher(env), StateAgent)
    assert not sees_hidden_cards(searcher(env))
    observations, _ = env.reset(seed=1)
    for sees in ("hands", "all"):
        cheat = searcher(env, sees=sees)
        assert sees_hidden_cards(cheat)
        with pytest.raises(AgentError, match="sees hidden cards, so it needs the states themselves"):
            cheat.act(observations["observation"], observations["action_mask"])


@pytest.mark.parametrize("sees", ["hands", "all"])
def test_a_cheat_sees_hidden_cards(sees: str) -> None:
    env = vector_env(60)
    states = positions(env, 30)
    slot_ids = np.arange(60)
    one = searcher(env, sees=sees, rollouts=40).act_on(states, seats_of(states), slot_ids)
    others = redealt(env, states, 1)
    assert not np.array_equal(
        one, searcher(env, sees=sees, rollouts=40).act_on(others, seats_of(states), slot_ids)
    )


def test_who_sees_the_hands_does_not_see_the_cards_to_come() -> None:
    env = vector_env(60)
    states = positions(env, 30)
    others = states.copy()
    for game in range(60):
        for seat in range(2):
            first, end = int(states["stream_next"][game, seat]), int(states["stream_end"][game, seat])
            others["deck"][game, first:end] = states["deck"][game, first:end][::-1]
    assert others.tobytes() != states.tobytes()
    one, other = (
        searcher(env, sees="hands").act_on(games, seats_of(states), np.arange(60))
        for games in (states, others)
    )
    assert np.array_equal(one, other)


# How well it plays ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
def test_with_a_large_z_it_is_its_rollout_agent_with_a_memory_for_each_place(players: int) -> None:
    env = vector_env(20, players=players, autoreset_mode="disabled")
    agent = searcher(env, rollout="in_turns", rollouts=2, z=1e9)
    observations, _ = env.reset(seed=4)
    taken = np.zeros((20, players), np.int64)
    games = np.arange(20)
    for _ in range(400):
        masks = observations["action_mask"]
        going_on = masks.any(axis=1)
        if not going_on.any():
            break
        seats = env.agent_selection.copy()
        last = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        expected = np.where(taken[games, seats] % 2 == 0, last, masks.argmax(axis=1))
        actions = agent.act(observations["observation"], masks, games * players + seats)
        assert np.array_equal(actions[going_on], expected[going_on])
        taken[games, seats] += 1
        observations = env.step(np.where(going_on, actions, -1)).observations
    assert taken.min() > 5


def lead(config: MatchConfig, deals: int, **options: Any) -> float:
    """Points over the rollout agent, in the mean of all rounds."""
    env = vector_env(1, config.edition, players=config.players)
    roles = [searcher(env, **options), searcher(env, rollouts=2, z=1e9)]
    points = play(roles, config, deals).points
    return float((points[..., 0] - points[..., 1]).mean())


def test_search_beats_its_rollout_agent() -> None:
    config = MatchConfig(episode="round")
    assert lead(config, 12) > 300
    assert lead(config, 12, sees="all") > 300


def near_the_end() -> Position:
    position = Position("battle 0: roll", "battle 1: roll").km(0, 650).km(1, 500).draw_pile(20)
    hand = ("50", "roll", "roll", "end_of_limit", "gasoline", "200", "200")
    return position.hand(0, *hand).hand(1, *["25", "roll"] * 3)


def choice_in(position: Position, rollout: str, **options: Any) -> int:
    env = vector_env(1, players=position.rules.players)
    agent = searcher(env, rollout=rollout, **options)
    states = position.games.states
    return int(agent.act_on(states, seats_of(states), np.zeros(1, np.int64))[0])


@pytest.mark.parametrize("sees", ["", "hands", "all"])
def test_it_finds_the_card_that_ends_the_trip(sees: str) -> None:
    position = near_the_end()
    assert choice_in(position, "first:last", z=1e9, rollouts=40) != DISTANCE_50
    assert choice_in(position, "first:last", z=2.0, rollouts=40, sees=sees) == DISTANCE_50


def test_it_claims_what_its_rollout_agent_lets_pass_and_claims_at_once_what_that_claims() -> None:
    position = Position(
        "battle 0: roll", "battle 1: roll", "hand 0: accident roll", "hand 1: driving_ace roll 100"
    )
    position.do("play accident")
    assert choice_in(position, "first:last", rollouts=40, z=1e9) == PASS
    assert choice_in(position, "first:last", rollouts=40) == CLAIM
    env = vector_env(1)
    agent = searcher(env)
    states = position.games.states
    assert agent.act_on(states, seats_of(states), np.zeros(1, np.int64)).tolist() == [CLAIM]
    assert agent.playouts == 0


class Holding:
    """A belief that the other seat holds a card, or that it does not."""

    window = 0

    def __init__(self, card: int, holds: bool) -> None:
        self.card, self.holds = card, holds

    def sample(self, known: KnownCards, count: int, key: tuple[int, int]) -> np.ndarray:
        random = np.random.default_rng(key)
        unseen = np.array(known.root.hidden, np.int64) - known.root.hand[0]
        cards, size = np.repeat(np.arange(NUM_CARD_TYPES), unseen), int(known.root.hand_count[1])
        hands = np.zeros((count, 2, NUM_CARD_TYPES), np.int8)
        for number in range(count):
            while (hands[number, 1, self.card] > 0) != self.holds or hands[number].sum() == 0:
                drawn = random.choice(cards, size, replace=False)
                hands[number, 1] = np.bincount(drawn, minlength=NUM_CARD_TYPES)
        return hands

    def forget(self) -> None: ...


def test_who_is_dealt_the_safety_parries_a_hazard_in_playouts() -> None:
    hands = "hand 0: accident roll 25 25 50 50 75", "hand 1: 25 25 50 50 75 75"  # the other is redealt
    position = Position("battle 0: roll", "battle 1: roll", *hands)
    env, states = vector_env(1), position.games.states
    gains = []
    for holds in (False, True):
        agent = searcher(env, rollout="strategist", rollouts=38, candidates=1_000)
        agent.belief = Holding(Card.DRIVING_ACE, holds)
        agent.act_on(states, seats_of(states), np.zeros(1, np.int64))
        result = {action: mean for action, mean, _ in agent.last_gains()}
        assert result[Card.ACCIDENT] == 0.0  # what it would do itself
        gains.append(result[discard_action(Card.ACCIDENT)])
    assert gains[0] < -200  # of discarding it instead
    assert gains[1] > 0


def test_with_a_limit_of_time_it_plays_legally() -> None:
    env = vector_env(6)
    states = positions(env, 20)
    agent = searcher(env, ms=5.0)
    actions = agent.act_on(states, seats_of(states), np.arange(6))
    masks = env.set_states(states)["action_mask"]
    assert (masks[np.arange(6), actions] == 1).all()
    assert agent.playouts > 0


# What cannot be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("km", "value"), [((500, 400, 0), 1), ((500, 500, 0), 0), ((400, 500, 500), -1), ((400, 500, 0), -1)]
)
def test_without_points_a_shared_win_is_worth_something_to_who_shares_it(
    km: tuple[int, ...], value: int
) -> None:
    """To the others it is a loss (E53)."""
    position = Position(players=3, edition="dujardin", teams=3)
    for team, length in enumerate(km):
        position.km(team, length)
    position.run_out()
    assert value_of_round(position.state, position.record) == value


def test_games_that_draw_their_sheets_are_refused() -> None:
    """They share one agent, and a playout follows one sheet."""
    with pytest.raises(AgentError, match="make the environment of one sheet"):
        searcher(vector_env(2, ["parker", "dutch"]))

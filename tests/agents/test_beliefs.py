"""Beliefs: what others have played is read as it was, hands weigh what they should, and nothing is seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, edition, vector_env
from millebornes_env.agents.protocol import Table, ask
from millebornes_env.agents.search import beliefs
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import Known, PolicyBelief, Weighed
from millebornes_env.agents.search.hidden_cards import Believed, hands_for
from millebornes_env.agents.search.history import Reading, Window
from millebornes_env.agents.search.weighing import (
    BY_CHANCE,
    LIKE_OTHER,
    LIKE_ROLLOUT,
    Question,
    new_weights,
    plays_of,
    weigh_hands,
)
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES, Card
from millebornes_env.games.millebornes.observation import write_observation
from millebornes_env.games.millebornes.rules import rules_record
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.games.millebornes.state import CLAIM, STATE, StateArray
from tests.agents.test_search import redealt, seats_of
from tests.arena.players import AGENTS

CLAIM_IT, PASS = 38, 39


@pytest.fixture(autouse=True)
def known_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents.AGENTS, "lot", AGENTS["lot"])


class Asked(NamedTuple):
    """A call of a belief and the plays that it read."""

    slot: int
    root: StateArray
    windows: tuple[Window, ...]
    weighed: Weighed


class Spy(PolicyBelief):
    """A belief that remembers what it was asked."""

    asked: list[Asked]

    def weigh(self, known: Known, hands: np.ndarray, key: tuple[int, int], counted: int = 0) -> Weighed:
        weighed = super().weigh(known, hands, key, counted)
        root = np.array([known.root], STATE)
        self.asked.append(Asked(known.slot, root, known.windows, weighed))
        return weighed


def spied(env: VectorEnv, spec: str) -> tuple[SearchAgent, list[Asked]]:
    """A searcher with a belief, and what that will have been asked."""
    searcher = agents.load(spec, env)
    spy = Spy(Table.of(env), searcher.rollout_agent)
    spy.asked = []
    searcher.belief = spy
    return searcher, spy.asked


class Decision(NamedTuple):
    """One that was taken."""

    seat: int
    action: int
    row: np.ndarray
    hand: np.ndarray


def events_of(reading: Reading) -> list[tuple[StateArray, int]]:
    """The events: the game then, and what was done."""
    return list(zip(reading.states, reading.actions.tolist(), strict=True))


# What others have played ------------------------------------------------------------------------------------


def played_games(name: str, players: int, steps: int) -> tuple[VectorEnv, list[tuple[Asked, list[Decision]]]]:
    """Games that a searcher plays in all seats: what was asked at each decision, and what came before it."""
    env = vector_env(6, name, players=players, autoreset_mode="disabled")
    searcher, asked = spied(env, "lot+search:belief=policy,candidates=2,rollouts=2,z=1e9,threads=1")
    observations, _ = env.reset(seed=5)
    logs: list[list[Decision]] = [[] for _ in range(6)]
    found = []
    for _ in range(steps):
        states, masks = env.get_states(), observations["action_mask"]
        seats = env.agent_selection.copy()
        del asked[:]
        actions = searcher.act_on(states, seats_of(states), np.arange(6) * players + seats)
        for one in asked:
            game = one.slot // players
            found.append((one, list(logs[game])))
        for game in np.flatnonzero(masks.any(axis=1)):
            seat = int(seats[game])
            row, hand = observations["observation"][game].copy(), states["hand"][game, seat].copy()
            logs[game].append(Decision(seat, int(actions[game]), row, hand))
        observations = env.step(actions).observations
    return env, found


@pytest.mark.parametrize(("name", "players", "steps"), [("parker", 2, 150), ("dutch", 4, 90)])
def test_what_others_played_is_read_as_it_was(name: str, players: int, steps: int) -> None:
    env, found = played_games(name, players, steps)
    rules, read, refused = rules_record(env.rules), 0, 0
    for asked, log in found:
        own = asked.slot % players
        mine = [place for place, one in enumerate(log) if one.seat == own]
        if not mine:
            assert asked.windows == ()
            continue
        truth = log[mine[-1] + 1 :]
        refusals = [one for one in truth if one.action == PASS]
        plays = [one for one in truth if one.action != PASS]
        if not asked.windows:  # there were too many readings
            assert players > 2
            continue
        told = [
            reading
            for reading in map(events_of, asked.windows[0])
            if [((int(state["seat"]) + own) % players, action) for state, action in reading if action != PASS]
            == [(one.seat, one.action) for one in plays]
        ]
        assert len(told) == 1, (plays, refusals)
        asked_to_claim = [(int(state["seat"]) + own) % players for state, action in told[0] if action == PASS]
        assert {one.seat for one in refusals} <= set(asked_to_claim)
        refused += len(refusals)
        events = [(state, action) for state, action in told[0] if action != PASS]
        for (state, _), one in zip(events, plays, strict=True):
            records = np.array([state]).view(np.recarray)
            seat = int(records[0].seat)
            records[0].hand[seat] = one.hand
            row = np.zeros(len(one.row), np.int8)
            write_observation(for_kernels(records)[0], rules, seat, DEFAULT_SPEC, row)
            assert np.array_equal(row, one.row)
            read += 1
    assert read > 150
    assert refused > 0


# What hands weigh -------------------------------------------------------------------------------------------

SMALL_DECK = {
    Card.DISTANCE_100: 3,
    Card.STOP: 2,
    Card.SPEED_LIMIT: 1,
    Card.ROLL: 2,
    Card.RIGHT_OF_WAY: 1,
}
"""9 cards, in 15,120 different orders."""
EPSILON = 0.15


def small_game() -> Any:
    """An edition with a deck of 9 cards, 2 in each hand."""
    sheet = edition("parker")
    fields = [name for name in sheet.table(2, 2)._fields if name.startswith("copies_of_")]
    copies = {name: SMALL_DECK.get(Card(card), 0) for card, name in enumerate(fields)}
    return sheet.replace(**copies, hand_limit=2, target=200, extended_target=0, max_200=0)


class Enumeration:
    """All orders of the deck that agree with what a seat has seen, by NumPy: the plays' probability in each.

    Attributes:
        states: STATE[M], the games now.
        factors: float64[K, M], how probable the others' plays were, by kind of player.
    """

    def __init__(self, start: StateArray, log: list[Decision], row: np.ndarray, observer: int) -> None:
        """Play a game again from all orders.

        Args:
            start: STATE[1], the game dealt.
            log: what was decided.
            row: what the observer sees in the end.
            observer: who knows what it saw.
        """
        orders = list(orders_of([int(card) for card, copies in SMALL_DECK.items() for _ in range(copies)]))
        self.env = vector_env(len(orders), small_game(), autoreset_mode="disabled")
        self.env.reset(seed=1)
        self.observations = self.env.set_states(dealt_in_all_orders(start, orders))
        self.factors = np.ones((3, len(orders)))
        self.is_possible = np.ones(len(orders), np.bool_)
        table = Table.of(self.env)
        network, other = agents.make("champion", table), agents.make("strategist", table)
        self.network, self.other = network, other
        for one in log:
            if one.seat == observer or one.action != PASS:  # what the observer knows of
                self.let_pass(observer, claims=one.action == CLAIM_IT)
                self.play(one, observer)
        self.let_pass(observer, claims=False)
        self.states = self.env.get_states()
        self.is_possible &= self.env.agent_selection == observer
        self.is_possible &= (self.observations["observation"] == row).all(axis=1)

    def let_pass(self, observer: int, claims: bool) -> None:
        """A seat that was asked for a coup fourré and did not play it has accepted the hazard."""
        states = self.env.get_states()
        asked = (states["phase"] == CLAIM) & (states["seat"] != observer) & self.is_possible
        if claims or not asked.any():
            return
        self.multiply(np.where(asked, PASS, -1), asked)
        self.observations = self.env.step(np.where(asked, PASS, -1)).observations

    def play(self, one: Decision, observer: int) -> None:
        """The next decision that the observer knows of."""
        rows, masks = self.observations["observation"], self.observations["action_mask"]
        self.is_possible &= (self.env.agent_selection == one.seat) & (masks[:, one.action] == 1)
        if one.seat == observer:
            self.is_possible &= (rows == one.row).all(axis=1)
        actions = np.where(self.is_possible, one.action, -1)
        if one.seat != observer:
            self.multiply(actions, self.is_possible)
        self.observations = self.env.step(actions).observations

    def multiply(self, actions: np.ndarray, where: np.ndarray) -> None:
        """By the probability of actions, for each kind of player."""
        games = np.flatnonzero(where)
        if not len(games):
            return
        rows, masks = (self.observations[name][games] for name in ("observation", "action_mask"))
        done = actions[games]
        legal = masks.sum(axis=1)
        by_network = self.network.probabilities(rows, masks)[np.arange(len(games)), done]
        by_other = self.other.act(rows, masks) == done
        certain = legal == 1
        for kind, found in ((LIKE_ROLLOUT, by_network), (LIKE_OTHER, by_other)):
            chances = np.where(certain, 1.0, found)
            self.factors[kind, games] *= EPSILON / legal + (1 - EPSILON) * chances
        self.factors[BY_CHANCE, games] /= legal


def orders_of(cards: list[int]) -> Iterator[tuple[int, ...]]:
    """All different orders."""
    if not cards:
        yield ()
    for card in sorted(set(cards)):
        place = cards.index(card)
        for rest in orders_of(cards[:place] + cards[place + 1 :]):
            yield (card, *rest)


def dealt_in_all_orders(start: StateArray, orders: list[tuple[int, ...]]) -> StateArray:
    """The game as it was dealt, with the cards in each order."""
    states = np.repeat(start, len(orders))
    cards = np.array(orders, np.int8)
    states["hand"] = 0
    for seat in range(2):
        first, end = seat * 9 // 2, (seat + 1) * 9 // 2
        drawn = int(start["stream_next"][0, seat])
        for place in range(first, end):
            if place < drawn:
                np.add.at(states["hand"], (np.arange(len(orders)), seat, cards[:, place]), 1)
            else:
                states["deck"][:, place] = cards[:, place]
    return states


def asked_in_small_games(count: int) -> Iterator[tuple[StateArray, list[Decision], np.ndarray, Asked]]:
    """Positions of small games with some plays behind them, all of which the seat to decide has seen.

    The deal, what was decided, what the seat sees that is to decide now, and what its belief was asked.
    """
    env = vector_env(1, small_game(), autoreset_mode="disabled", reward="win")
    searcher, asked = spied(env, "champion+search:belief=policy,candidates=2,rollouts=2,z=1e9,threads=1")
    chance, plain = np.random.default_rng(3), count // 2
    for seed in range(2_000):
        observations, _ = env.reset(seed=seed)
        searcher.forget()
        start, log = env.get_states(), list[Decision]()
        while observations["action_mask"].any():
            states, seat = env.get_states(), int(env.agent_selection[0])
            del asked[:]
            proposed = searcher.act_on(states, seats_of(states), np.array([seat]))
            legal = np.flatnonzero(observations["action_mask"][0])
            action = int(proposed[0]) if chance.random() < 0.6 else int(chance.choice(legal))
            noted = searcher._past._last[seat]
            searcher._past._last[seat] = noted._replace(action=action)
            row, hand = observations["observation"][0].copy(), states["hand"][0, seat].copy()
            own = sum(one.seat == seat for one in log)
            is_known = bool(log) and log[0].seat == seat and len(asked) == 1 and len(asked[0].windows) == own
            if is_known and own >= 2 and int(states["draw_pile"][0]) > 0:
                plain -= 0 if has_refusal(asked[0]) else 1
                if plain < 0 and not has_refusal(asked[0]):
                    break
                yield start, [*log], row, asked[0]
                count -= 1
                if count == 0:
                    return
                break
            log.append(Decision(seat, action, row, hand))
            observations = env.step(np.array([action])).observations


def has_refusal(asked: Asked) -> bool:
    """Return True if a hazard was laid and not parried."""
    return any(bool((reading.actions == PASS).any()) for one in asked.windows for reading in one)


def weighed_by_kernel(asked: Asked, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Hands of the other seat, drawn uniformly, and their weights by each kind of player."""
    env = vector_env(1, small_game())
    champion = agents.load("champion", env)
    belief = PolicyBelief(Table.of(env), champion, epsilon=EPSILON)
    rules = for_kernels(np.array([rules_record(env.rules)]))[0]
    known = Known(rules, for_kernels(asked.root)[0], asked.windows, 0)
    hands = beliefs.drawn_hands(known, count, (1, 2))
    result = new_weights(count, 2)
    question = Question(hands, count, 0.0, np.zeros(3), 5, 6)
    weigh_hands(belief.players(), rules, plays_of(known.windows), question, result)
    return hands[:, 1], np.exp(result.logs)


def by_hand(hands: np.ndarray, weights: np.ndarray) -> dict[tuple[int, ...], float]:
    """Weights added up by hand; their sum is 1."""
    sums: dict[tuple[int, ...], float] = {}
    for hand, weight in zip(map(tuple, hands.tolist()), weights.tolist(), strict=True):
        sums[hand] = sums.get(hand, 0.0) + weight
    total = sum(sums.values())
    return {hand: weight / total for hand, weight in sums.items() if weight > 0}


def test_weights_are_the_posterior_of_all_orders_of_a_small_deck() -> None:
    """The enumeration plays all orders of the deck forward, and asks the network by NumPy."""
    moved, refusals = 0.0, 0
    for start, log, row, asked in asked_in_small_games(4):
        exact = Enumeration(start, log, row, asked.slot)
        truth = exact.states["hand"][exact.is_possible][:, 1 - asked.slot]
        hands, weights = weighed_by_kernel(asked, 8_000)
        uniform = by_hand(hands, np.ones(len(hands)))
        for kind in (LIKE_ROLLOUT, LIKE_OTHER, BY_CHANCE):
            posterior = by_hand(truth, exact.factors[kind, exact.is_possible])
            drawn = by_hand(hands, weights[kind])
            assert drawn.keys() == posterior.keys()
            assert apart(drawn, posterior) < 0.02, (kind, drawn, posterior)
            moved = max(moved, apart(uniform, posterior))
        refusals += int(has_refusal(asked))
    assert moved > 0.1
    assert refusals > 1


def apart(one: dict[tuple[int, ...], float], other: dict[tuple[int, ...], float]) -> float:
    """Return the total variation distance of two distributions."""
    return sum(abs(one.get(hand, 0.0) - other.get(hand, 0.0)) for hand in {*one, *other}) / 2


def test_hands_are_dealt_as_often_as_they_weigh() -> None:
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    one = Believed(np.zeros((4, 2, NUM_CARD_TYPES), np.int8), weights.cumsum())
    dealt = np.bincount([hands_for(one, turn) for turn in range(1_000)], minlength=4)
    assert np.abs(dealt - 1_000 * weights).max() <= 3


@pytest.mark.parametrize(
    ("opponent", "kind"), [("greedy", LIKE_ROLLOUT), ("strategist", LIKE_OTHER), ("lot", BY_CHANCE)]
)
def test_it_finds_out_who_the_others_are(opponent: str, kind: int) -> None:
    env = vector_env(8)
    searcher = agents.load("greedy+search:belief=policy,candidates=256,rollouts=2,threads=1", env)
    other = agents.load(opponent, env)
    observations, _ = env.reset(seed=2)
    for _ in range(90):
        rows, masks = observations["observation"], observations["action_mask"]
        slot_ids = np.arange(8) * 2 + env.agent_selection
        own = np.flatnonzero(env.agent_selection == 0)
        actions = ask(other, rows, masks, slot_ids)
        actions[own] = searcher.act(rows[own], masks[own], slot_ids[own])
        observations = env.step(actions).observations
    assert (searcher.belief.trust[:16:2].argmax(axis=1) == kind).mean() > 0.6, searcher.belief.trust[:16:2]
    searcher.forget()
    assert len(searcher.belief.trust) == 0


# Honest, and the same however it is run ---------------------------------------------------------------------

QUICK = "greedy+search:belief=policy,candidates=16,rollouts=6,z=0.3"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_belief_sees_no_hidden_cards(players: int) -> None:
    """Other hidden cards in the same games change no action, nor does playing from observations."""
    env = vector_env(8, players=players)
    one, other, by_rows = (agents.load(QUICK, env) for _ in range(3))
    observations, _ = env.reset(seed=3)
    for turn in range(4 * players):
        states = env.get_states()
        slot_ids = np.arange(8) * players + env.agent_selection
        actions = one.act_on(states, seats_of(states), slot_ids)
        assert np.array_equal(other.act_on(redealt(env, states, turn), seats_of(states), slot_ids), actions)
        if players == 2:
            rows, masks = observations["observation"], observations["action_mask"]
            assert np.array_equal(by_rows.act(rows, masks, slot_ids), actions)  # type: ignore[call-arg]
        observations = env.step(actions).observations
    assert (one.belief.trust != 0).any()


def test_a_belief_changes_choices_and_threads_do_not() -> None:
    env = vector_env(30)
    specs = [QUICK, QUICK + ",threads=1", QUICK.replace("belief=policy", "belief=uniform")]
    players = [agents.load(spec, env) for spec in specs]
    env.reset(seed=4)
    unlike = 0
    for _ in range(15):
        states = env.get_states()
        slot_ids = np.arange(30) * 2 + env.agent_selection
        actions, again, uniform = (
            one.act_on(states, seats_of(states), slot_ids) for one in players if isinstance(one, SearchAgent)
        )
        assert np.array_equal(actions, again)
        unlike += int((actions != uniform).sum())
        env.step(actions)
    assert unlike > 5

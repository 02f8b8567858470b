"""The network of beliefs: exact, blind to hidden cards, the same as in training; its files."""

from __future__ import annotations

import itertools
import json
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, editions, vector_env
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.protocol import Table, ask
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import KnownCards, NetworkBelief, uniform_chances
from millebornes_env.agents.search.hand_files import FILES, hand_network_for
from millebornes_env.agents.search.hand_inputs import EVENT_SIZE, NOW_SIZE, show_events, show_now
from millebornes_env.agents.search.hand_network import (
    LEVELS,
    OUTPUTS,
    HandNetwork,
    Posterior,
    new_posterior,
    sample_hands,
    weigh,
)
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES, Card
from millebornes_env.games.millebornes.state import PLAY, StateArray, new_states
from tests.agents.test_search import redealt, seats_of

SPEC = "strategist+search:belief=network,rollouts=4,threads=1"


def searcher(env: VectorEnv, spec: str = SPEC, seed: int = 1) -> SearchAgent:
    agent = agents.load(spec, env, seed)
    return agent


def belief_of(watcher: SearchAgent) -> NetworkBelief:
    assert isinstance(watcher.belief, NetworkBelief)
    return watcher.belief


class Moment(NamedTuple):
    """A decision in a game: the knowledge of the seat, and the state."""

    known: KnownCards
    states: StateArray
    seat: int


def moments(env: VectorEnv, watcher: SearchAgent, opponent: str, rounds: int, seed: int = 1) -> list[Moment]:
    """Play rounds of `strategist` against an opponent; return the plays of `strategist`."""
    observations, _ = env.reset(seed=seed)
    games, own = np.arange(rounds), np.arange(rounds) % 2
    players = [agents.load("strategist", env, 1), agents.load(opponent, env, 2)]
    result = []
    while observations["action_mask"].any():
        states, seats = env.get_states(), env.agent_selection.astype(np.int32)
        actions = np.full(rounds, -1, np.int64)
        for role, player in enumerate(players):
            rows = np.flatnonzero(observations["action_mask"].any(axis=1) & ((seats != own) == role))
            if len(rows) == 0:
                continue
            shown = observations["observation"][rows], observations["action_mask"][rows]
            actions[rows] = ask(player, *shown, 2 * rows + seats[rows])
            if role == 0:
                deciding = states[rows], seats[rows], games[rows]
                for row, known in zip(rows, watcher.known(*deciding), strict=True):
                    if int(states["phase"][row]) == PLAY:
                        result.append(Moment(known, states[row : row + 1], int(seats[row])))
                watcher.note(*deciding, actions[rows])
        observations = env.step(actions).observations
    return result


def some_posterior(components: int = 3, size: int = 4, seed: int = 1) -> Posterior:
    """Return a posterior with random factors, for few cards."""
    random = np.random.default_rng(seed)
    unseen = np.zeros(NUM_CARD_TYPES, np.int64)
    unseen[[Card.DISTANCE_25, Card.STOP, Card.ROLL, Card.RIGHT_OF_WAY]] = 4, 2, 5, 1
    outputs = random.normal(0, 1.5, components * OUTPUTS).astype(np.float32)
    return new_posterior(outputs, unseen, size)


def all_hands(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Return all possible hands, int8[C, 2, NUM_CARD_TYPES], and the number of ways to deal each."""
    ranges = [range(int(count) + 1) for count in posterior.unseen]
    hands = np.array([one for one in itertools.product(*ranges) if sum(one) == posterior.size], np.int8)
    ways = [
        np.prod([comb(int(n), int(k)) for n, k in zip(posterior.unseen, one, strict=True)]) for one in hands
    ]
    return np.stack([np.zeros_like(hands), hands], axis=1), np.array(ways, np.float64)


# Exact over all hands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 4, 6, 12])
def test_weights_are_as_the_mixture_says_over_all_hands(size: int) -> None:
    posterior = some_posterior(size=size)
    hands, ways = all_hands(posterior)
    weights = np.zeros(len(hands))
    weigh(posterior, hands, 1, weights)
    levels = np.minimum(hands[:, 1], LEVELS)
    expected = np.zeros(len(hands))
    for share, logs in zip(posterior.shares, posterior.logs, strict=True):
        factors = np.exp(logs[np.arange(NUM_CARD_TYPES), levels].sum(axis=1))
        expected += share * factors * ways.sum() / (ways * factors).sum()
    assert weights == pytest.approx(expected)
    assert (ways * weights).sum() / ways.sum() == pytest.approx(1.0)


def test_hands_are_drawn_as_often_as_they_are_probable() -> None:
    posterior = some_posterior()
    hands, ways = all_hands(posterior)
    weights = np.zeros(len(hands))
    weigh(posterior, hands, 1, weights)
    drawn = np.zeros((40_000, 2, NUM_CARD_TYPES), np.int8)
    sample_hands(posterior, 3, 4, 1, drawn)
    numbers = {one.tobytes(): number for number, one in enumerate(hands[:, 1])}
    counts = np.bincount([numbers[one.tobytes()] for one in drawn[:, 1]], minlength=len(hands))
    expected = len(drawn) * ways * weights / (ways * weights).sum()
    often = expected >= 5
    assert (((counts - expected) ** 2 / expected)[often]).sum() < often.sum() + 5 * np.sqrt(2 * often.sum())
    assert counts[~often].sum() < 2 * expected[~often].sum() + 50
    assert not drawn[:, 0].any()


def test_uniform_chances_count_all_hands() -> None:
    posterior = some_posterior()
    hands, ways = all_hands(posterior)
    expected = ((hands[:, 1] > 0) * ways[:, None]).sum(axis=0) / ways.sum()
    assert uniform_chances(posterior.unseen, posterior.size) == pytest.approx(expected)
    assert uniform_chances(posterior.unseen, 12) == pytest.approx((posterior.unseen > 0).astype(float))


# What the network reads -------------------------------------------------------------------------------------


def test_nothing_hidden_is_looked_at() -> None:
    env = vector_env(4, episode="round", autoreset_mode="disabled")
    watcher = searcher(env)
    belief = belief_of(watcher)
    for one in moments(env, watcher, "strategist", 4)[::9]:
        hands = belief.sample(one.known, 20, (1, 2))
        before = belief.weigh(one.known, hands)
        for key in (5, 6):
            others = redealt(env, one.states, key)
            (known,) = watcher.known(others, np.array([one.seat], np.int32), np.array([99]))
            known = one.known._replace(root=known.root)
            belief.forget()
            assert np.array_equal(belief.weigh(known, hands), before)
        games = for_kernels(new_states(1))
        for window in one.known.windows[:3]:
            for reading in window:
                rows = np.zeros((2, len(reading.actions), EVENT_SIZE), np.int8)
                other_hands = reading.states.copy()
                other_hands["hand"][:] = 1
                other_hands["deck"][:] = 0
                show_events(reading.states, reading.actions, one.known.rules, games, rows[0])
                show_events(for_kernels(other_hands), reading.actions, one.known.rules, games, rows[1])
                assert np.array_equal(rows[0], rows[1])


def test_hands_that_cannot_be_are_never_drawn() -> None:
    env = vector_env(4, episode="round", autoreset_mode="disabled")
    watcher = searcher(env)
    for number, one in enumerate(moments(env, watcher, "arnold", 4)):
        hands = belief_of(watcher).sample(one.known, 50, (1, number))
        unseen = np.array(one.known.root["hidden"]) - np.array(one.known.root["hand"])[0]
        assert (hands[:, 1] <= unseen).all()
        assert (hands[:, 1].sum(axis=1) == int(one.states["hand_count"][0, 1 - one.seat])).all()


def test_plays_are_read_once_and_mean_the_same_as_read_anew() -> None:
    env = vector_env(2, episode="round", autoreset_mode="disabled")
    watcher = searcher(env)
    belief = belief_of(watcher)
    longest = 0
    for one in moments(env, watcher, "strategist", 2):
        anew = NetworkBelief(Table.of(env))
        kept, fresh = belief.posterior(one.known), anew.posterior(one.known)
        assert np.array_equal(kept.logs, fresh.logs)
        assert np.array_equal(kept.shares, fresh.shares)
        longest = max(longest, len(one.known.windows))
    assert longest > 15  # the whole round, not the last six turns


@pytest.mark.parametrize("edition", editions())
def test_it_knows_more_than_uniform_redeals_and_blunders_against_nobody(edition: str) -> None:
    """Bits over uniform redeals by opponent, on deals that the network was not fitted to."""
    env = vector_env(20, edition, episode="round", autoreset_mode="disabled")
    for opponent, least in (("champion", 2.5), ("random", 0.0)):
        watcher = searcher(env)
        bits = []
        for one in moments(env, watcher, opponent, 20, seed=77):
            truth = np.zeros((1, 2, NUM_CARD_TYPES), np.int8)
            truth[0, 1] = one.states["hand"][0, 1 - one.seat]
            bits.append(np.log2(belief_of(watcher).weigh(one.known, truth)[0]))
        assert np.mean(bits) > least, opponent


# In search --------------------------------------------------------------------------------------------------


def test_any_number_of_threads_and_games_at_once_decide_alike() -> None:
    decided = []
    for threads, at_once in ((1, True), (4, True), (1, False)):
        env = vector_env(4, episode="round", autoreset_mode="disabled")
        agent = searcher(env, f"strategist+search:belief=network,rollouts=6,z=0,threads={threads}")
        observations, _ = env.reset(seed=9)
        log = []
        for _ in range(16):
            states, slots = env.get_states(), 2 * np.arange(4) + env.agent_selection
            assert observations["action_mask"].any(axis=1).all()
            parts = [np.arange(4)] if at_once else [np.array([game]) for game in range(4)]
            actions = np.concatenate(
                [agent.act_on(states[some], seats_of(states[some]), slots[some]) for some in parts]
            )
            log.append(actions.tolist())
            observations = env.step(actions).observations
        decided.append(log)
    assert decided[0] == decided[1] == decided[2]


# The same as in training ------------------------------------------------------------------------------------


def test_it_says_what_pytorch_says() -> None:
    torch = pytest.importorskip("torch")
    from train.tools.hand_model import HandModel, log_weights  # noqa: PLC0415 - needs torch

    env = vector_env(3, episode="round", autoreset_mode="disabled")
    watcher = searcher(env)
    belief = belief_of(watcher)
    net = belief.network
    model = HandModel(
        *(len(net.event_bias), net.kept.shape[1], len(net.hidden_bias), len(net.out_bias) // OUTPUTS)
    )
    model.load(net)
    for one in moments(env, watcher, "champion", 3)[::5]:
        events, now, unseen = shown(one.known)
        truth = one.states["hand"][0, 1 - one.seat]
        with torch.no_grad():
            outputs = model(
                torch.from_numpy(np.pad(events, ((0, 1), (0, 0))).astype(np.float32))[:, None],
                torch.from_numpy(now.astype(np.float32))[None],
                torch.tensor([len(events)]),
                torch.tensor([0]),
            )
            expected = log_weights(
                outputs, torch.from_numpy(unseen)[None], torch.from_numpy(truth.astype(np.int64))[None]
            )
        posterior = belief.posterior(one.known)
        hands = np.zeros((1, 2, NUM_CARD_TYPES), np.int8)
        hands[0, 1] = truth
        result = np.log(belief.weigh(one.known, hands))
        assert result[0] == pytest.approx(float(expected[0]), abs=1e-3)
        shares = torch.softmax(outputs.view(-1, OUTPUTS)[:, 0], 0).numpy()
        assert posterior.shares == pytest.approx(shares, abs=1e-4)


def shown(known: KnownCards) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the inputs of the network: the plays, the current table, the unseen cards."""
    games = for_kernels(new_states(1))
    rows = [np.zeros((0, EVENT_SIZE), np.int8)]
    for window in reversed(known.windows):
        rows.append(np.zeros((len(window[0].actions), EVENT_SIZE), np.int8))
        show_events(window[0].states, window[0].actions, known.rules, games, rows[-1])
    now, unseen = np.zeros(NOW_SIZE, np.int8), np.zeros(NUM_CARD_TYPES, np.int64)
    show_now(known.root, known.rules, 0, games, now, unseen)
    return np.concatenate(rows), now, unseen


# Files ------------------------------------------------------------------------------------------------------


def shipped_network() -> HandNetwork:
    return hand_network_for(Table.of(vector_env(1)))


PARKER_2 = {"game": "millebornes", "players": 2, "teams": 2, "editions": ["parker"], "inputs_version": 1}


def test_the_fingerprint_tells_networks_apart(tmp_path: Path) -> None:
    """An arena does not continue from the results of another network in the same folder."""
    spec, result = f"greedy+search:belief={tmp_path}", []
    for out in (0.5, 0.25, 0.5):
        network = shipped_network()
        FILES.save(tmp_path, network._asdict() | {"out": np.full_like(network.out, out)}, PARKER_2)
        result.append(fingerprint(searcher(vector_env(1), spec), spec))
    assert result[0] == result[2] != result[1]


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("format", 7, "has format 7"),
        ("inputs_version", 7, "inputs_version 7"),
        ("editions", ["dutch"], "knows dutch for 2, not parker for 2: belief=uniform plays at every table"),
        ("players", 3, "it is for 3; such networks are for two players"),
    ],
)
def test_a_network_of_another_table_is_refused(tmp_path: Path, entry: str, value: object, words: str) -> None:
    FILES.save(tmp_path, shipped_network()._asdict(), PARKER_2)
    path = tmp_path / FILES.description_file
    path.write_text(json.dumps(json.loads(path.read_text()) | {entry: value}))
    with pytest.raises(AgentError, match=words):
        hand_network_for(Table.of(vector_env(1)), str(tmp_path))


@pytest.mark.parametrize(
    ("place", "array"),
    [("kept", np.ones((6, 3))), ("out", np.ones((9, 4))), ("now", [[np.nan]]), ("out_bias", [np.nan])],
)
def test_damaged_weights_are_refused(tmp_path: Path, place: str, array: object) -> None:
    network = shipped_network()._replace(**{place: np.array(array, np.float32)})
    FILES.save(tmp_path, network._asdict(), PARKER_2)
    with pytest.raises(AgentError, match="damaged"):
        hand_network_for(Table.of(vector_env(1)), str(tmp_path))


def test_what_is_no_belief_is_refused_with_what_there_is(tmp_path: Path) -> None:
    env = vector_env(1)
    with pytest.raises(AgentError, match="'uniform', 'network', or the folder"):
        agents.load(f"greedy+search:belief={tmp_path}", env)
    with pytest.raises(AgentError, match="omit belief=network"):
        agents.load("greedy+search:belief=network,sees=hands", env)

"""The same seed gives the same games, however they are batched, shared among threads or copied."""

from __future__ import annotations

import copy
import hashlib
import pickle
from functools import cache
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env.engine import batch as games_module
from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import SKIP
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.editions import edition
from millebornes_env.games.millebornes.sections import ObservationSpec
from tests.laws.conversions import PARKER_2, SOME_TABLES, Table, rules_of

SEED = 2**40 + 12_345
NUM_GAMES = 64
STEPS = 60
LONG = 160
"""Steps after which rounds have ended and begun again in most games."""
THREE_TEAMS = SOME_TABLES[1]

Mask = npt.NDArray[np.bool_]


def settings_of(episode: str) -> Settings:
    """Rounds or matches, begun again as soon as they are over."""
    return Settings(
        episode=rulebook.EPISODES.index(episode),
        reward=0,
        autoreset=0,
        observation_spec=ObservationSpec(),
        punish_illegal=0,
    )


def seeded(
    table: Table, episode: str, num_games: int = NUM_GAMES, first_game: int = 0, num_threads: int = 1
) -> Batch:
    """Games that were dealt; matches are short, so that some of them end too."""
    rules = edition(table.edition).replace(goal=500).table(table.players, table.teams)
    games = Batch(rulebook, num_games, rules, settings_of(episode), num_threads=num_threads)
    games.seed(SEED, first_game)
    games.start()
    return games


class Player:
    """Plays games by a pure function of the mask, the game's number and how many steps the game has made.

    Attributes:
        steps: how many steps each game has made.
        digests: the SHA-256 of all that each game has shown, state included.
        ended: how many episodes have ended.
    """

    def __init__(self, games: Batch, first_game: int = 0) -> None:
        self.games = games
        self.numbers = np.arange(first_game, first_game + len(games))
        self.steps = np.zeros(len(games), np.int64)
        self.digests = [hashlib.sha256() for _ in range(len(games))]
        self.ended = 0

    def actions(self) -> npt.NDArray[np.int64]:
        mask = self.games.buffers.action_mask.astype(np.int64)
        word = (self.numbers + 1) * 2_654_435_761 + (self.steps + 1) * 40_503
        word = (word ^ word >> 13) * 1_274_126_177 & 0xFFFFFFFF
        chosen = (word >> 7) % mask.sum(1)
        return (mask.cumsum(1) > chosen[:, None]).argmax(1)

    def step(self, moving: Mask | None = None) -> None:
        """Carry out one action in each game, or in those that are moving."""
        moving = np.ones(len(self.games), np.bool_) if moving is None else moving
        assert self.games.step(np.where(moving, self.actions(), SKIP)) == NO_GAME
        self.steps[moving] += 1
        self.ended += int(self.games.buffers.terminations.sum())
        self.note(moving)

    def note(self, moving: Mask) -> None:
        buffers, states = self.games.buffers, self.games.states.view(np.ndarray)
        columns = [states[name] for name in states.dtype.names or ()]  # without the gaps between the fields
        columns += [buffers.observation, buffers.action_mask, buffers.agent_selection, buffers.rewards]
        columns += [buffers.terminations, buffers.truncations]
        finals = [buffers.final_observation, buffers.final_score, buffers.final_winner]
        rows, last_rows = in_bytes(columns), in_bytes(finals)
        for game in np.flatnonzero(moving):
            self.digests[game].update(rows[game].tobytes())
            if buffers.terminations[game]:
                self.digests[game].update(last_rows[game].tobytes())

    def play(self, steps: int) -> list[str]:
        """Play so many steps; returns a digest for each game."""
        for _ in range(steps):
            self.step()
        return self.result()

    def result(self) -> list[str]:
        return [digest.hexdigest() for digest in self.digests]


def in_bytes(columns: list[npt.NDArray[np.generic]]) -> npt.NDArray[np.uint8]:
    """All columns of each game side by side, as bytes."""
    flat = [np.ascontiguousarray(column).reshape(len(column), -1).view(np.uint8) for column in columns]
    return np.concatenate(flat, axis=1)


@cache
def long_digests(table: Table, episode: str) -> list[str]:
    return Player(seeded(table, episode)).play(LONG)


@pytest.fixture(autouse=True)
def few_games_are_worth_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games_module, "GAMES_WORTH_A_THREAD", 1)


both_episodes = pytest.mark.parametrize("episode", ["round", "match"])
some_tables = pytest.mark.parametrize("table", SOME_TABLES, ids=str)


@both_episodes
@some_tables
def test_the_same_seed_gives_the_same_games(table: Table, episode: str) -> None:
    first = Player(seeded(table, episode))
    assert first.play(LONG) == long_digests(table, episode)
    assert first.ended >= NUM_GAMES // 8
    assert first.games.states["episode"].max() >= 1
    if episode == "match" and rules_of(table).count_points:
        assert first.games.states["round_number"].max() >= 1


@both_episodes
@some_tables
def test_the_size_of_the_batch_does_not_matter(table: Table, episode: str) -> None:
    whole = Player(seeded(table, episode)).play(STEPS)
    parts = [
        Player(seeded(table, episode, 16, first_game), first_game).play(STEPS)
        for first_game in range(0, NUM_GAMES, 16)
    ]
    assert whole == [digest for part in parts for digest in part]
    single = Player(seeded(table, episode, 1, NUM_GAMES - 1), NUM_GAMES - 1).play(STEPS)
    assert single == whole[-1:]


@pytest.mark.parametrize(
    ("table", "episode", "num_threads"),
    [(PARKER_2, "round", 2), *((table, "match", 2) for table in SOME_TABLES[3:6]), (THREE_TEAMS, "round", 3)],
    ids=str,
)
def test_the_number_of_threads_does_not_matter(table: Table, episode: str, num_threads: int) -> None:
    threaded = seeded(table, episode, num_threads=num_threads)
    assert threaded.num_threads == num_threads
    assert Player(threaded).play(STEPS) == Player(seeded(table, episode)).play(STEPS)


@pytest.mark.parametrize("num_threads", [2, 3])
def test_the_number_of_threads_does_not_change_sampled_actions(num_threads: int) -> None:
    samples = []
    for threads in (1, num_threads):
        games = seeded(THREE_TEAMS, "round", num_threads=threads)
        actions = games.sample((3, 4), 5)
        assert games.buffers.action_mask[np.arange(NUM_GAMES), actions].all()
        samples.append(actions.tolist())
    assert samples[0] == samples[1]


@pytest.mark.parametrize("num_threads", [1, 2])
def test_an_illegal_action_anywhere_stops_all_games(num_threads: int) -> None:
    for bad_game in (0, 31, 32, NUM_GAMES - 1):
        player = Player(seeded(PARKER_2, "round", num_threads=num_threads))
        before = player.games.states.copy()
        actions = player.actions()
        actions[bad_game] = np.flatnonzero(player.games.buffers.action_mask[bad_game] == 0)[0]
        assert player.games.step(actions) == bad_game
        assert (player.games.states == before).all()


@both_episodes
@some_tables
def test_games_that_wait_or_begin_again_do_not_change_their_neighbours(table: Table, episode: str) -> None:
    alone = Player(seeded(table, episode)).play(STEPS)
    disturbed = Player(seeded(table, episode))
    numbers = np.arange(NUM_GAMES)
    for step in range(2 * STEPS):
        # Every third game begins again now and then, every other third waits at every second step.
        if step % 7 == 3:
            disturbed.games.start(numbers % 3 == 1)
        waiting = (numbers % 3 == 2) & (step % 2 == 1)
        shown = [array[waiting].tobytes() for array in shown_by(disturbed.games)]
        disturbed.step(~waiting & (disturbed.steps < STEPS))
        assert [array[waiting].tobytes() for array in shown_by(disturbed.games)] == shown
        assert not disturbed.games.buffers.rewards[waiting].any()
        assert not disturbed.games.buffers.terminations[waiting].any()
    assert (disturbed.steps == STEPS).all()
    same = np.array(disturbed.result()) == np.array(alone)
    assert same[numbers % 3 != 1].all()
    assert not same[numbers % 3 == 1].any()


def shown_by(games: Batch) -> list[npt.NDArray[np.generic]]:
    buffers = games.buffers
    return [games.states, buffers.observation, buffers.action_mask, buffers.agent_selection]


COPIES = {
    "clone": lambda games: games.clone(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda games: pickle.loads(pickle.dumps(games)),
}


@pytest.mark.parametrize(
    ("way", "episode", "num_threads"),
    [*product(COPIES, ["round", "match"], [1]), *((way, "match", 2) for way in COPIES)],
)
def test_a_copy_continues_as_the_original_and_apart_from_it(way: str, episode: str, num_threads: int) -> None:
    steps = LONG if num_threads == 1 else STEPS
    original = Player(seeded(THREE_TEAMS, episode, num_threads=num_threads))
    original.play(STEPS // 2)
    other = Player(COPIES[way](original.games))
    assert other.games is not original.games
    assert (other.games.settings, other.games.rules) == (original.games.settings, original.games.rules)
    assert other.games.num_threads == num_threads
    for ours, theirs in zip(
        [original.games.states, *original.games.buffers],
        [other.games.states, *other.games.buffers],
        strict=True,
    ):
        assert not np.shares_memory(ours, theirs)
        assert (ours == theirs).all()
    other.steps[:] = original.steps
    other.digests = [digest.copy() for digest in original.digests]
    expected = (
        long_digests(THREE_TEAMS, episode)
        if steps == LONG
        else Player(seeded(THREE_TEAMS, episode)).play(steps)
    )
    assert other.play(steps - STEPS // 2) == expected
    assert original.play(steps - STEPS // 2) == expected


@both_episodes
def test_another_seed_gives_other_games(episode: str) -> None:
    games = seeded(THREE_TEAMS, episode)
    deals: dict[str, set[bytes]] = {}
    for seed in (0, 1, 2, SEED, SEED + 1, 2**32, 2**63, 2**64 - 1):
        games.seed(seed)
        games.start()
        deals[str(seed)] = {deck.tobytes() for deck in games.states["deck"]}
        assert len(deals[str(seed)]) == NUM_GAMES  # and no two games of a seed are the same
    for first, second in combinations(deals, 2):
        assert not deals[first] & deals[second], f"seeds {first} and {second}"
    digests = Player(seeded(THREE_TEAMS, episode)).play(STEPS)
    assert len(set(digests)) == NUM_GAMES


def test_seeding_again_begins_the_same_episodes_again() -> None:
    games = seeded(PARKER_2, "round")
    first = games.states.copy()
    games.start()
    assert (games.states["deck"] != first["deck"]).any(axis=1).all()
    games.seed(SEED)
    games.start()
    assert (games.states == first).all()

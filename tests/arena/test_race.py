"""The arena plays the race: fair, the same however it is computed, counted and told in the race's words."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import agents, vector_env
from millebornes_env.arena.behaviour import behaviour
from millebornes_env.arena.dealing import compiled_rules, dealt_batch
from millebornes_env.arena.kernels import arena_kernels_of
from millebornes_env.arena.match import MatchConfig, by_deal, play, play_batch
from millebornes_env.arena.match_config import plural
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.statistics import Counts
from millebornes_env.arena.wielerspel import counters as race_counters
from millebornes_env.cli.arena import main as play_arena
from millebornes_env.cli.leaderboard import main as write_leaderboard
from millebornes_env.cli.leaderboard import read_board
from millebornes_env.engine.kernels import SKIP
from millebornes_env.errors import AgentFaultError, ArenaError
from millebornes_env.games.wielerspel.actions import ESCAPE, PASS, bid_of
from millebornes_env.games.wielerspel.state import BID, NO_SEAT, RACE_OVER
from tests.arena.race_players import lot
from tests.arena.simulated import same

SHEET = "arc_en_ciel"
SPECS = ("race_first", "race_first:last", "race_slow", "race_slow:last", "race_lot", "random")
FIRST, LAST, SLOW, SLOW_LAST, LOT, RANDOM = range(len(SPECS))


def played(lineup: tuple[int, ...], deals: int = 10, **config: Any) -> Outcome:
    return play(SPECS, MatchConfig(SHEET, len(lineup), **config), deals, lineup=lineup)


# Fair -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [3, 4, 6])
def test_every_deal_has_the_same_lots_cards_and_dice_in_every_rotation(players: int) -> None:
    """Whatever is done: the dice of a turn are a function of the deal and the turn."""
    config = MatchConfig(SHEET, players)
    batch = dealt_batch(config, 0, 4)
    arena_kernels_of(config.game).begin_games(batch, compiled_rules(config))
    begun = batch.states.reshape(players, 4)
    assert all(np.array_equal(begun[0], others) for others in begun[1:])
    assert len({state["deck"].tobytes() for state in begun[0]}) == 4
    env = vector_env(4 * players, SHEET, players=players, autoreset_mode="disabled", seed=1)
    env.reset()
    env.set_states(batch.states)
    dice: dict[tuple[str, int, int], dict[int, int]] = defaultdict(dict)
    for _ in range(100):
        env.step(env.sample_actions())
        for game, state in enumerate(env.get_states()):
            for die in ("white", "yellow"):
                if state[die]:
                    dice[die, game % 4, int(state["turn"])][game] = int(state[die])
    in_several = [result.values() for result in dice.values() if len(result) > 1]
    assert len(in_several) > 20
    assert all(len(set(result)) == 1 for result in in_several)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_an_agent_is_exactly_even_with_itself(players: int) -> None:
    for agent in (LAST, RANDOM, LOT):
        outcome = played((agent,) * players, 6)
        assert outcome.wins.sum(axis=1) == pytest.approx(1.0)
        totals = outcome.points.sum(axis=1)
        assert (totals == totals[:, :1]).all()


# The same however it is computed ----------------------------------------------------------------------------


@pytest.mark.parametrize("players", [3, 6])
def test_compiled_agents_and_others_play_the_same_races(players: int) -> None:
    compiled = (FIRST, LAST, LAST, FIRST, LAST, FIRST)[:players]
    mixed = (FIRST, SLOW_LAST, LAST, SLOW, LAST, FIRST)[:players]
    outcome = played(compiled)
    assert same(outcome, played(mixed))
    assert same(outcome, played(compiled, threads=1))
    assert outcome.game == "wielerspel"


def test_the_wins_are_those_of_races_ridden_one_by_one() -> None:
    roles = [agents.make("race_lot", MatchConfig(SHEET, 4).table()) for _ in range(4)]
    config = MatchConfig(SHEET, 4)
    (batch,) = play_batch(roles, config, 0, 6, lambda episodes: None)
    states, shares = replayed(config, 6)[1:]
    assert states.tobytes() == batch.states.tobytes()
    by_role = np.take_along_axis(batch.shares, batch.role_of.astype(np.int64), axis=1)
    assert by_role == pytest.approx(shares)
    assert by_deal([batch], "shares", 4).sum() == pytest.approx(24)


def replayed(config: MatchConfig, deals: int) -> tuple[list[tuple[int, Any, int]], Any, Any]:
    """All decisions (game, state, action) of `race_lot` alone, the races at their ends, and their wins."""
    batch = dealt_batch(config, 0, deals)
    arena_kernels_of(config.game).begin_games(batch, compiled_rules(config))
    env = vector_env(len(batch.states), SHEET, players=config.players, autoreset_mode="disabled", seed=1)
    env.reset()
    env.set_states(batch.states)
    shares = np.zeros((len(batch.states), config.players))
    decisions = []
    while (live := env.games.states["phase"] != RACE_OVER).any():
        buffers = env.games.buffers
        actions = np.where(live, lot(buffers.observation, buffers.action_mask), SKIP)
        before = env.get_states()
        decisions += [(game, before[game], int(actions[game])) for game in np.flatnonzero(live)]
        env.step(actions)
        shares += env.games.win_shares()
    return decisions, env.get_states(), shares


# What is counted ------------------------------------------------------------------------------------------


def test_counts_are_those_of_the_decisions_one_by_one() -> None:
    config = MatchConfig(SHEET, 4)
    outcome = played((LOT,) * 4, 12)
    decisions, ends, shares = replayed(config, 12)
    count = Counts(outcome.counters.sum(axis=0), race_counters)
    assert count.chosen(range(race_counters.ACTION_COUNTS)) == len(decisions) == outcome.decisions.sum()
    assert count["races"] == 4 * len(ends)
    assert count["turns"] == 4 * ends["turn"].sum()
    for name, field in (("energy", "energy"), ("retired", "retired"), ("out", "out")):
        assert count[name] == ends[field].sum(), name
    jerseys = ends["jerseys"].astype(int).sum(axis=(0, 1))
    assert [count["rainbows"], count["greens"]] == jerseys[:2].tolist()
    assert count["polka_dots"] == 2 * jerseys[2] + 3 * jerseys[3]
    assert count["wins"] == (shares == 1).sum()
    assert count["shared"] == ((shares > 0) & (shares < 1)).sum()
    endings = [count[f"won_by_{how}"] for how in ("jerseys", "inner_track", "exhaustion", "turns")]
    alone = (shares == 1).any(axis=1)
    assert endings == [int(((ends["ending"] == number) & alone).sum()) for number in range(1, 5)]
    escapes = [state for _, state, action in decisions if action == ESCAPE]
    assert count["escapes"] == sum(int(state["escaped"]) == NO_SEAT for state in escapes) > 0
    assert count["rides_on"] == len(escapes) - count["escapes"]


def test_an_auction_is_won_by_the_last_who_bid() -> None:
    outcome = played((LOT,) * 4, 12)
    decisions, _, _ = replayed(MatchConfig(SHEET, 4), 12)
    prices: dict[tuple[int, int], int] = {}
    for game, state, action in decisions:
        if state["phase"] == BID and bid_of(action):
            prices[game, int(state["turn"])] = bid_of(action)
    count = Counts(outcome.counters.sum(axis=0), race_counters)
    assert count["auctions"] == len(prices) > 50
    assert count["energy_bid"] == sum(prices.values())
    assert count.chosen(range(9, 69)) > len(prices), "some were outbid"


def test_statistics_by_hand() -> None:
    counters = np.zeros(race_counters.NUM_COUNTERS, np.int64)
    for name, value in {"races": 8, "wins": 4, "won_by_jerseys": 3, "auctions": 10, "energy_bid": 65}.items():
        counters[race_counters.index_of(name)] = value
    counters[[PASS, 9, 20]] = 6, 3, 1
    known = behaviour(Counts(counters, race_counters))
    assert (known["races_won"], known["won_by_jerseys"], known["price"], known["bids"]) == (50, 75, 6.5, 40)
    assert known["given_up"] is None
    keys = [statistic.key for statistic in race_counters.STATISTICS]
    assert len(keys) == len(set(keys)) >= 20


# What is told ---------------------------------------------------------------------------------------------


def test_what_the_race_has_not_is_refused() -> None:
    with pytest.raises(ArenaError, match="episode is 'match'; it must be 'race'"):
        MatchConfig(SHEET, 4, episode="match")
    config = MatchConfig(SHEET, 4)
    assert (config.episode, config.episodes, config.has_points) == ("race", "races", False)
    assert [plural(word) for word in ("round", "match", "game")] == ["rounds", "matches", "games"]


def test_an_illegal_action_is_told_in_the_races_words() -> None:
    with pytest.raises(AgentFaultError) as error:
        play(["race_wrong", "race_lot"], MatchConfig(SHEET, 3), 3)
    told = str(error.value)
    assert told.startswith("race_wrong chose bid 60 (action 68), which is illegal, in deal ")
    assert "legal were: " in told
    assert "pass" in told


def test_a_tournament_is_reported_in_the_races_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["race_lot", "race_first", "--edition", SHEET, "--players=3", "--deals=6", "--out=here"]
    assert play_arena(command) == 0
    printed = capsys.readouterr().out
    assert "Maillot Arc-en-ciel, 3 players, races" in printed
    assert "effort squares won by auction" in printed
    assert "Races won, %, row against column" in printed
    assert "races won, %" in printed
    assert "points per round" not in printed
    result = json.loads(Path("here/arena.json").read_text())
    assert result["statistics"]["price"] == {"heading": "paid for such a square", "unit": "energy"}
    assert result["behaviour"]["race_lot"]["turns"] > 10
    assert result["config"]["match"]["episode"] == "race"
    assert play_arena(command) == 0, "it goes on from what was played"


BOARD = """
page = "races"
agents = ["race_lot", "race_first", "random"]
anchor = "random"
seed = 3
[[tables]]
edition = "arc_en_ciel"
players = 3
deals = 4
"""


def test_a_leaderboard_of_the_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.toml").write_text(BOARD)
    assert write_leaderboard(["--list", "list.toml"]) == 0
    text = Path("docs/agents/races.md").read_text()
    assert "leaderboard --list list.toml`; do not edit. 3 agents at 1 tables:\nwhole races" in text
    assert "the same dice and cards" in text
    assert "[report](races/arc_en_ciel-3/report.md)" in text
    assert "Best responses" not in text, "none was trained"
    assert Path("docs/agents/races/arc_en_ciel-3/report.md").exists()
    assert Path("docs/agents/races/ratings.png").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('page = "races"', 'page = "../races"'), "page is '../races'; it must be made of letters"),
        (
            ("deals = 4\n", 'deals = 4\n[[tables]]\nedition = "parker"\nplayers = 2\ndeals = 1\n'),
            "tables of millebornes and wielerspel: write a list for each game",
        ),
    ],
)
def test_a_list_that_cannot_be(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "list.toml"
    path.write_text(BOARD.replace(*change))
    with pytest.raises(ArenaError, match=message):
        read_board(path)


def test_the_projects_own_list_can_be_read() -> None:
    board = read_board(Path("race_leaderboard"))
    assert (board.page, board.name) == ("race_leaderboard", "race_leaderboard")
    assert [event.config.match.players for event in board.events] == [3, 4, 5, 6]
    assert {event.config.match.game.name for event in board.events} == {"wielerspel"}

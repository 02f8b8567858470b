"""Rewards recomputed from the points, in rounds and matches; what an illegal action costs."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from tests.each import each
from tests.envs.playing import LIMIT, TEAMS, choose, episodes, look, short_match, started

GOAL = 2500
tables = pytest.mark.parametrize("players", TEAMS)


def points_rewards(points: list[int], players: int) -> list[float]:
    """In thousands, the own team's points less the mean of the other teams', for each seat."""
    teams = len(points)
    by_team = []
    for team in range(teams):
        others = [points[other] for other in range(teams) if other != team]
        by_team.append((points[team] - sum(others) / len(others)) / 1000)
    return [by_team[seat % teams] for seat in range(players)]


def win_rewards(winner: int, players: int, teams: int) -> list[float]:
    if winner == -1:
        return [0.0] * players
    return [1.0 if seat % teams == winner else -1 / (teams - 1) for seat in range(players)]


def by_team(rewards: list[float], teams: int) -> list[float]:
    """Each team's reward, which all of its seats get."""
    assert all(reward == rewards[seat % teams] for seat, reward in enumerate(rewards))
    return rewards[:teams]


@tables
def test_points(players: int) -> None:
    seen = set()
    for game in episodes(vector_env(6, players=players), 4):
        for episode in game:
            *before, last = [rewards for _, _, rewards in episode.decisions]
            assert not np.any(before)
            assert len(episode.final_score) == TEAMS[players]
            assert last == pytest.approx(points_rewards(episode.final_score, players), abs=1e-6)
            assert sum(by_team(last, TEAMS[players])) == pytest.approx(0, abs=1e-6)
            seen.add(tuple(last))
    assert len(seen) > 12


@pytest.mark.parametrize(
    ("players", "mode", "episode"),
    [
        *((players, "same_step", "round") for players in TEAMS),
        (2, "same_step", "match"),
        (4, "next_step", "match"),
        (6, "disabled", "match"),
    ],
)
def test_win(players: int, mode: str, episode: str) -> None:
    """At the end of a round, or of a match and at no other time."""
    teams, count, winners = TEAMS[players], 6 if episode == "round" else 2, set()
    table = {"edition": short_match(GOAL), "players": players, "episode": episode}
    for game in episodes(vector_env(count, reward="win", autoreset_mode=mode, **table), count):
        for played in game:
            *before, last = [rewards for _, _, rewards in played.decisions]
            assert not np.any(before)
            best = [team for team in range(teams) if played.final_score[team] == max(played.final_score)]
            winner = best[0] if len(best) == 1 else -1
            assert played.final_winner == winner
            assert last == pytest.approx(win_rewards(winner, players, teams), abs=1e-6)
            assert sum(by_team(last, teams)) == pytest.approx(0, abs=1e-6)
            winners.add(winner)
    assert episode == "match" or winners >= set(range(teams))


def test_a_shared_lead_is_no_win() -> None:
    """Nobody lays anything: 0 to 0."""
    env = started(1, reward="win")
    for _ in range(LIMIT):
        legal = np.flatnonzero(look(env)["action_mask"][0])
        step = env.step([next(action for action in legal if 19 <= action < 38)])
        if step.terminations[0]:
            break
    assert step.rewards.tolist() == [[0.0, 0.0]]
    assert step.infos["final_winner"].tolist() == [-1]


def test_the_kind_of_reward_changes_nothing_else() -> None:
    points, wins = vector_env(4), vector_env(4, reward="win")
    for ours, theirs in zip(episodes(points, 3), episodes(wins, 3), strict=True):
        for mine, yours in zip(ours, theirs, strict=True):
            assert [turn[:2] for turn in mine.decisions] == [turn[:2] for turn in yours.decisions]
            assert mine.final_score == yours.final_score


# Matches.


@tables
def test_a_match_pays_at_the_end_of_each_round_and_ends_at_the_goal(players: int) -> None:
    teams = TEAMS[players]
    env = started(2, edition=short_match(GOAL), players=players, episode="match", autoreset_mode="disabled")
    open_games = np.ones(2, np.bool_)
    rounds = np.zeros(2, np.int64)
    for _ in range(LIMIT):
        before = env.get_states()
        step = env.step(np.where(open_games, choose(look(env)), -1))
        after = env.get_states()
        for game in np.flatnonzero(open_games):
            gained = (after["score"][game] - before["score"][game])[:teams].tolist()
            assert step.rewards[game].tolist() == pytest.approx(points_rewards(gained, players), abs=1e-6)
            totals = after["score"][game][:teams]
            leaders = int((totals == totals.max()).sum())
            next_round = after["round_number"][game] - before["round_number"][game]
            if step.terminations[game]:
                assert totals.max() >= GOAL
                assert leaders == 1
                assert np.array_equal(step.infos["final_score"][game], totals)
                assert step.infos["final_winner"][game] == totals.argmax()
                assert next_round == 0
            else:
                assert totals.max() < GOAL or leaders > 1
                assert any(gained) <= next_round
                assert step.observations["action_mask"][game].any()
            rounds[game] += next_round
        open_games &= ~step.terminations
        if not open_games.any():
            assert rounds.max() >= 1
            return
    raise AssertionError("the match does not end")


# Illegal actions that end the game.


def illegal_action(env: VectorEnv, game: int) -> int:
    return int(np.flatnonzero(look(env)["action_mask"][game] == 0)[0])


@pytest.mark.parametrize(
    ("players", "mode", "episode"),
    [
        (2, "same_step", "round"),
        (3, "next_step", "match"),
        (4, "disabled", "match"),
        (6, "same_step", "match"),
    ],
)
def test_an_illegal_action_can_end_the_game_at_the_offenders_expense(
    players: int, mode: str, episode: str
) -> None:
    options = {"players": players, "autoreset_mode": mode, "episode": episode}
    env = started(3, steps=9, illegal_action="terminate", **options)
    twin = started(3, steps=9, **options)
    assert [array.tobytes() for array in env.games.buffers] == [
        array.tobytes() for array in twin.games.buffers
    ]
    actions = choose(look(env))
    actions[1] = -1
    twin.step(actions)
    offender = int(env.agent_selection[1])
    actions[1] = illegal_action(env, 1)
    step = env.step(actions)
    assert step.terminations.tolist() == [False, True, False]
    assert step.rewards[1].tolist() == [-1.0 if seat == offender else 0.0 for seat in range(players)]
    assert not step.rewards[[0, 2]].any()
    for game in (0, 2):
        assert env.get_states()[game].tobytes() == twin.get_states()[game].tobytes()
    assert step.infos["final_score"][1].tolist() == [0] * TEAMS[players]
    assert step.infos["final_winner"][1] == -1
    assert env.games.states["episode"].tolist() == [0, int(mode == "same_step"), 0]


@each("action", [-2, 42, 10**9, -(2**63)])
def test_an_id_that_names_no_play_ends_the_game_too(action: int) -> None:
    env = started(2, illegal_action="terminate")
    step = env.step([action, -1])
    assert step.terminations.tolist() == [True, False]
    assert sorted(step.rewards[0].tolist()) == [-1.0, 0.0]


def test_legal_actions_are_not_punished() -> None:
    usual, strict = vector_env(4), vector_env(4, illegal_action="terminate")
    assert episodes(usual, 3) == episodes(strict, 3)

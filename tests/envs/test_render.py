"""The table as text. The pictures below were read and found right by hand: paste in no new ones unread."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import millebornes_v0
from millebornes_env.envs.aec import raw_env
from millebornes_env.millebornes.state import SCORE_LINES
from millebornes_env.render.text import draw_game
from tests.envs.playing import LIMIT, choose, look, short_match, started

OPENING = [21, 9, 13, 30, 0, 22, 0, 33, 31, 29, 22, 31, 15, 17, 30, 30, 32, 22, 29, 22, 28, 6, 22, 13, 8, 30]

AFTER_THE_OPENING = """\
round 1  |  700 km to go for  |  62 cards to draw  |  discard pile: Gasoline
team 0  [>........................................]    0 km  stopped
        battle: Stop          speed: empty         distance: none
        safeties: none
team 1  [==>......................................]   50 km  stopped
        battle: Out of gas    speed: Speed limit   distance: 2x25
        safeties: Driving ace, Puncture proof
  player_0 (team 0): 25 km, 25 km, 25 km, 50 km, 50 km, 100 km
> player_1 (team 1): 75 km, 75 km, 75 km, Flat tire, Spare tire, Roll, Roll
player_1 to play."""

BEFORE_A_COUP_FOURRE = """\
round 1  |  1000 km to go for  |  80 cards to draw  |  discard pile: empty
team 0  [>........................................]    0 km  stopped
        battle: empty         speed: empty         distance: none
        safeties: none
team 1  [>........................................]    0 km  rolling
        battle: Roll          speed: empty         distance: none
        safeties: none
  player_0 (team 0): 25 km, 75 km, 100 km, 100 km, 100 km, Roll
  player_1 (team 1): 100 km, Gasoline, Gasoline, Roll, Roll, Extra tank
  player_2 (team 0): 25 km, 50 km, 100 km, Flat tire, Spare tire, Roll
> player_3 (team 1): 100 km, Accident, Flat tire, Roll, Roll, Right of way
player_3: Stop was laid by player_0; claim the coup fourré?"""


def after(seed: int, actions: list[int], players: int = 2, render_mode: str | None = "ansi") -> raw_env:
    env = millebornes_v0.env(players=players, render_mode=render_mode)
    env.reset(seed=seed)
    for action in actions:
        env.step(action)
    return env


def to_the_end(env: raw_env) -> raw_env:
    for _ in range(LIMIT):
        if any(env.terminations.values()):
            return env
        seen = env.observe(env.agent_selection)
        env.step(int(choose({name: array[np.newaxis] for name, array in seen.items()})[0]))
    raise AssertionError("the episode does not end")


def test_the_picture_of_a_turn() -> None:
    env = after(3, OPENING)
    assert env.render() == AFTER_THE_OPENING
    assert env.vector.render() == AFTER_THE_OPENING


def test_the_picture_of_a_hazard_that_can_be_answered() -> None:
    assert after(9, [13, 8], players=4).render() == BEFORE_A_COUP_FOURRE


def test_the_picture_of_a_coup_fourre() -> None:
    lines = str(after(9, [13, 8, 38], players=4).render()).splitlines()
    assert lines[0].endswith("|  78 cards to draw  |  discard pile: Stop")
    assert lines[5:7] == [
        "        battle: Roll          speed: empty         distance: none",
        "        safeties: Right of way (coup fourré)",
    ]
    assert lines[-1] == "player_3 to play."


def test_one_hand_is_shown_to_its_owner() -> None:
    env = after(3, OPENING)
    picture = draw_game(env.vector.games.states[0], env.vector.rules, observer=0).splitlines()
    assert picture[:8] == AFTER_THE_OPENING.splitlines()[:8]
    assert picture[8:] == ["> player_1 (team 1): 7 cards", "player_1 to play."]


def test_the_question_at_the_end_of_the_short_trip() -> None:
    env = started(32)
    for _ in range(2_000):
        asked = np.flatnonzero(env.games.states["phase"] == 2)
        if asked.size:
            break
        env.step(choose(look(env)))
    game = int(asked[0])
    lines = env.render(game).splitlines()
    assert lines[-1] == f"player_{env.agent_selection[game]}: 700 km done; extend the trip?"
    assert f"[{40 * '='}>]  700 km" in "\n".join(lines)
    actions = np.full(32, -1)
    actions[game] = 40
    env.step(actions)
    assert "1000 km to go for (extended)" in env.render(game).splitlines()[0]


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_the_score_sheet_at_the_end(players: int) -> None:
    env = millebornes_v0.env(players=players, render_mode="ansi")
    env.reset(seed=3)
    assert "round over" not in str(env.render())
    to_the_end(env)
    lines = str(env.render()).splitlines()
    assert "The round is over." in lines
    assert not any(line.startswith(">") for line in lines)
    sheet = lines[lines.index("The round is over.") + 1 :]
    teams = env.vector.teams
    assert sheet[0].split() == [word for team in range(teams) for word in ("team", str(team))]
    assert len(sheet) == len(SCORE_LINES) + 2
    state = env.vector.get_states()[0]
    for line, (name, shown) in enumerate(zip(SCORE_LINES, sheet[1:-1], strict=True)):
        assert shown.startswith(name.replace("_", " ") + " ")
        points = [int(word) for word in shown.split()[-teams:]]
        assert points == state["score_sheet"][:teams, line].tolist()
    assert [int(word) for word in sheet[-1].split()[-teams:]] == env.infos["player_0"]["final_score"]
    for team in range(teams):
        assert any(
            line.startswith(f"team {team}") and line.endswith(f" {state['score'][team]} points")
            for line in lines
        )


def test_the_points_of_a_match_are_shown_from_its_second_round_on() -> None:
    env = started(1, edition=short_match(), episode="match")
    assert "points" not in env.render()
    for _ in range(LIMIT):
        env.step(choose(look(env)))
        if env.games.states["round_number"][0] == 1:
            break
    picture = env.render()
    assert picture.startswith("round 2 ")
    scores = env.games.states["score"][0]
    assert scores[:2].any()
    for team in range(2):
        assert f"stopped  {scores[team]} points" in picture.splitlines()[1 + 3 * team]


# Modes.


def test_human_mode_prints_at_the_reset_and_after_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    env = after(3, [], render_mode="human")
    first = capsys.readouterr().out
    assert first == str(after(3, []).render()) + "\n\n"
    for action in OPENING:
        env.step(action)
    printed = capsys.readouterr().out
    assert printed.count("cards to draw") == len(OPENING)
    assert printed.endswith(AFTER_THE_OPENING + "\n\n")
    assert env.render() is None
    assert capsys.readouterr().out == AFTER_THE_OPENING + "\n\n"


def test_human_mode_prints_the_score_sheet_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    to_the_end(after(3, OPENING, render_mode="human"))
    printed = capsys.readouterr().out
    assert printed.count("The round is over.") == printed.count("safe trip") == 1


def test_ansi_mode_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    after(3, OPENING).render()
    assert capsys.readouterr().out == ""


def test_without_a_mode_there_is_a_warning_and_no_picture() -> None:
    env = after(3, OPENING, render_mode=None)
    with pytest.warns(UserWarning, match='render_mode="ansi" or "human"'):
        assert env.render() is None


def test_looking_changes_nothing() -> None:
    env = after(3, OPENING)
    before = env.vector.get_states().tobytes()
    env.render()
    assert env.vector.get_states().tobytes() == before

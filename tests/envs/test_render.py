"""The table as text. The pictures below were read and found right by hand: paste in no new ones unread."""

from __future__ import annotations

import pytest

from millebornes_env.games.millebornes.state import SCORE_LINES
from millebornes_env.render.millebornes.text import draw_game
from tests.envs.playing import LIMIT, begun, choice, choose, look, short_match, started
from tests.support import Position

A_TURN = """\
round 1  |  trip: 700 km  |  57 cards to draw  |  discard pile: Gasoline
team 0  [>........................................]    0 km  stopped
        battle: Stop          speed: empty         distance: none
        safeties: none
team 1  [=====================>...................]  375 km  stopped
        battle: Out of gas    speed: Speed limit   distance: 1x75 1x100 1x200
        safeties: Driving ace, Puncture proof
  player_0 (team 0): 25 km, 25 km, 50 km, 100 km, Right of way
> player_1 (team 1): 75 km, 75 km, Flat tire, Spare tire, Roll, Roll
player_1 to play."""

BEFORE_A_COUP_FOURRE = """\
round 1  |  trip: 1000 km  |  96 cards to draw  |  discard pile: empty
team 0  [>........................................]    0 km  stopped
        battle: empty         speed: empty         distance: none
        safeties: none
team 1  [>........................................]    0 km  rolling
        battle: Roll          speed: empty         distance: none
        safeties: none
  player_0 (team 0): 200 km, Roll
  player_1 (team 1): Extra tank
  player_2 (team 0): no cards
> player_3 (team 1): 25 km, Roll, Roll, End of limit, Right of way
player_3: Stop was laid by player_0; claim the coup fourré?"""


def a_turn() -> Position:
    position = Position(
        "battle 0: stop on roll",
        "battle 1: out_of_gas on roll",
        "speed 1: speed_limit",
        "safeties 1: puncture_proof driving_ace",
    )
    position.km(1, 375, two_hundreds=1)
    position.hand(0, "25", "25", "50", "100", "right_of_way", "gasoline")
    position.hand(1, "75", "75", "flat_tire", "spare_tire", "roll")
    return position.draws(1, "roll").draw_pile(58).do("discard gasoline")


def before_a_coup_fourre() -> Position:
    position = Position(
        "battle 1: roll",
        "hand 0: 200 roll stop",
        "hand 1: extra_tank",
        "hand 3: 25 end_of_limit roll roll right_of_way",
        players=4,
    )
    return position.do("play stop")


def drawn(position: Position, observer: int | None = None) -> list[str]:
    return draw_game(position.state, position.rules, observer).splitlines()


# Pictures.


def test_the_picture_of_a_turn() -> None:
    assert drawn(a_turn()) == A_TURN.splitlines()


def test_the_picture_of_a_hazard_that_can_be_answered() -> None:
    assert drawn(before_a_coup_fourre()) == BEFORE_A_COUP_FOURRE.splitlines()


@pytest.mark.parametrize("observer", [0, 1])
def test_one_hand_is_shown_to_its_owner(observer: int) -> None:
    wanted = A_TURN.splitlines()
    hidden = ["  player_0 (team 0): 5 cards", "> player_1 (team 1): 6 cards"]
    wanted[-2 - observer] = hidden[1 - observer]
    assert drawn(a_turn(), observer) == wanted


def test_all_faces_show_the_same_picture() -> None:
    position = a_turn()
    env = begun(3, render_mode="ansi")
    env.vector.set_states(position.games.states)
    assert env.render() == env.vector.render() == A_TURN


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_the_score_sheet_at_the_end(players: int) -> None:
    env = begun(3, render_mode="ansi", players=players)
    while not any(env.terminations.values()):
        assert "is over" not in str(env.render())
        env.step(choice(env))
    lines = str(env.render()).splitlines()
    assert not any(line.startswith(">") for line in lines)
    sheet = lines[lines.index("The round is over.") + 1 :]
    teams = env.vector.teams
    assert sheet[0].split() == [word for team in range(teams) for word in ("team", str(team))]
    assert len(sheet) == len(SCORE_LINES) + 2
    state = env.vector.get_states()[0]
    for line, (name, shown) in enumerate(zip(SCORE_LINES, sheet[1:-1], strict=True)):
        item, *points = shown.rsplit(maxsplit=teams)
        assert item == name.replace("_", " ").replace("fourres", "fourrés")
        assert [int(number) for number in points] == state["score_sheet"][:teams, line].tolist()
    assert [int(word) for word in sheet[-1].split()[-teams:]] == env.infos["player_0"]["final_score"]
    for team in range(teams):
        start, end = f"team {team}  [", f"  {state['score'][team]} points"
        assert any(line.startswith(start) and line.endswith(end) for line in lines)


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
    silent, env = begun(3, render_mode="ansi"), begun(3, render_mode="human")
    assert capsys.readouterr().out == f"{silent.render()}\n\n"
    while not any(env.terminations.values()):
        action = choice(silent)
        silent.step(action)
        env.step(action)
        assert capsys.readouterr().out == f"{silent.render()}\n\n"
    assert "The round is over." in str(silent.render())
    assert env.render() is None
    assert capsys.readouterr().out == f"{silent.render()}\n\n"


def test_without_a_mode_there_is_a_warning_and_no_picture() -> None:
    env = begun(3)
    env.step(choice(env))
    with pytest.warns(UserWarning, match="render_mode when .*: ansi, human"):
        assert env.render() is None

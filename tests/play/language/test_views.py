"""A seat's view in words: complete, without hidden cards, and the same as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env.errors import PlayError
from millebornes_env.games.millebornes.actions import PASS
from millebornes_env.games.millebornes.cards import CARD_NAMES
from millebornes_env.notation import read_position, read_record, replay
from millebornes_env.play.language import legal_moves, parse, prompt, see, situation
from tests.play.language.games import RARE, TABLES, played, views


def test_hidden_cards_change_nothing() -> None:
    for name, players, teams in TABLES:
        env, history = played(name, players, teams, seed=players, plays=40)
        for seat in range(players):
            view = see(situation(env), history, seat=seat)
            redealt = situation(env)._replace(state=env.determinize(seat, seed=seat))  # type: ignore[attr-defined]
            again = see(redealt, history, seat=seat)
            assert json.dumps(again) == json.dumps(view), (name, players, teams, seat)
            assert prompt(again) == prompt(view)


def test_the_json_twin_makes_the_same_prompt() -> None:
    for view in views():
        twin = json.loads(json.dumps(view))
        assert (prompt(twin), legal_moves(twin)) == (prompt(view), legal_moves(view))


def test_the_moves_are_those_of_the_environment() -> None:
    for name, players, teams in TABLES:
        env, history = played(name, players, teams, seed=2, plays=30)
        moves = legal_moves(see(situation(env), history))
        assert list(moves) == list(env.legal_actions())  # type: ignore[attr-defined]
        assert len(set(moves.values())) == len(moves)
        for action, move in moves.items():
            answer = parse(json.dumps({"move": move}), see(situation(env), history))
            assert answer.action == action


def test_games_that_draw_their_sheets_are_told_by_their_own() -> None:
    env = vector_env(3, ["parker", "dujardin", "winning_moves"], seed=1)
    env.reset()
    assert len(set(env.games.game_rules.sheet.tolist())) > 1
    for _ in range(60):
        for game in range(3):
            view = see(situation(env, game))
            assert list(legal_moves(view)) == list(env.legal_actions(game))
            assert prompt(view)
        env.step(env.sample_actions())
    with pytest.raises(PlayError, match="there is no game -2"):
        situation(env, -2)


def test_the_prompt_shows_the_hand_the_history_and_the_moves() -> None:
    record = read_record(
        "battle 0: roll\nhand 0: 25 stop roll 50\nhand 1: right_of_way roll gasoline\nstream 1: 75 100 ...\n"
        "plays:\nseat 0: 25\nseat 1: roll\nseat 0: stop against team 1\n"
    )
    *_, state = replay(record)
    position = situation_of(record, state)
    view = see(position, record.plays)
    assert view["history"] == ["opponent: 25 km", "you: Roll", "opponent: Stop against you"]
    assert legal_moves(view) == {38: "claim", 39: "pass"}
    text = prompt(view)
    assert "opponent laid Stop against you." in text.replace("Opponent", "opponent")
    assert "You hold Right of way: claim a coup fourré, or pass?" in text
    assert "YOUR LEGAL MOVES\nclaim\npass\n" in text
    assert "YOUR LEGAL MOVES" not in prompt(view, list_moves=False)
    hand = next(line for line in text.splitlines() if line.startswith("Your hand: "))
    assert "Right of way" in hand
    assert "Stop against opponent" not in text.partition("THE TABLE NOW")[2]


def situation_of(record: Any, state: Any) -> Any:
    """Return the final position of a record."""
    position = record.position
    return type(position)(position.edition, position.rules, state)


def test_nobody_learns_that_a_hazard_was_let_stand() -> None:
    history = [(0, 8), (1, PASS), (0, 13)]
    env = vector_env(1)
    env.reset(seed=1)
    own, other = (see(situation(env), history, seat=seat)["history"] for seat in (1, 0))
    assert own == ["opponent: Stop against you", "you: pass", "opponent: Roll"]
    assert other == ["you: Stop against opponent", "you: Roll"]


def test_nobody_learns_that_a_hazard_may_be_parried() -> None:
    record = read_record(
        "table: 3 players\nbattle 1: roll\nhand 0: 25 stop\nhand 1: right_of_way 50\nhand 2: 75\n"
        "stream 1: 100 ...\nto act: seat 0, play\nplays:\nseat 0: stop against team 1\n"
    )
    before, asked = replay(record)
    for seat in (0, 2):
        view = see(situation_of(record, asked), record.plays, seat=seat)
        assert view == see(situation_of(record, before), [], seat=seat) | {"moves": {}}
        assert "coup fourré with" not in prompt(view)


def test_names_are_counted_from_who_looks() -> None:
    env = vector_env(1, players=6)
    env.reset(seed=1)
    history = [(1, 8), (1, 45), (4, 19), (-1, -1)]  # Stop against the next team, and the one after it
    for seat, lines in {
        1: [
            "you: Stop against opponents 1 and 3",
            "you: Stop against opponents 2 and 4",
            "partner: discard 25 km",
        ],
        2: [
            "opponent 4: Stop against your team",
            "opponent 4: Stop against opponents 1 and 3",
            "opponent 2: discard 25 km",
        ],
    }.items():
        seen = see(situation(env), history, seat=seat)["history"]
        assert seen == [*lines, "-- the next round is dealt --"]


def test_the_history_of_the_environment_is_told() -> None:
    env = vector_env(1, seed=3, history=True)
    env.reset()
    actions = []
    for _ in range(5):
        actions.append((int(env.agent_selection[0]), int(env.sample_actions()[0])))
        env.step([actions[-1][1]])
    assert situation(env).plays == tuple(actions)
    assert see(situation(env)) == see(situation(env), actions)
    assert "WHAT WAS PLAYED, OLDEST FIRST\nopponent: " in prompt(see(situation(env)))
    assert "WHAT WAS PLAYED" not in prompt(see(situation(env), []))


def test_the_history_of_a_match_says_where_rounds_begin() -> None:
    env = vector_env(1, "mini7", seed=1, history=True, episode="match", autoreset_mode="disabled")
    env.reset()
    while env.get_states()["round_number"][0] == 0:
        env.step(env.sample_actions())
    assert see(situation(env))["history"].count("-- the next round is dealt --") == 1


def test_who_could_not_draw_is_not_told_that_it_has_drawn() -> None:
    text = prompt(see(read_position("hand 0: 25 ...\nhand 1: 25 ...")))
    assert "It is your turn. You have drawn already: play a card, or discard one." in text
    env = vector_env(1, seed=1, autoreset_mode="disabled")
    env.reset()
    while env.get_states()["draw_pile"][0] > 0:
        env.step(env.sample_actions())
    while env.get_states()["hand_count"].max() > env.rules.hand_limit:
        env.step(env.sample_actions())
    text = prompt(see(situation(env)))
    assert "It is your turn: play a card, or discard one." in text


def test_a_damaged_view_is_refused() -> None:
    view = see(read_position(RARE[0]))
    for name, value, message in (
        ("format", "x", "a view must come from play.language.see"),
        ("format_version", 2, "the view has version 2"),
        (
            "rules",
            view["rules"] | {"players": 10**30},
            "view['rules'] makes no game: the rule players is 1000",
        ),
        ("rules", view["rules"] | {"teams": 3}, "view['rules'] makes no game: 2 players in 3 teams"),
        ("rules", {"players": 2}, "view['rules'] makes no game: "),
        ("history", [1], "view['history'] has a line that is not text"),
        ("moves", {"19": None}, "view['moves'] has '19': None"),
        ("moves", {"x": "25 km"}, "view['moves'] has 'x': '25 km'"),
        ("table", {"hand": {}}, "view['table'] cannot be read (KeyError: 'round')"),
        *(
            ("table", view["table"] | {name: value}, "view['table'] cannot be read")
            for name, value in (("hand", None), ("teams", [{}]))
        ),
        ("history", "x", "view['history'] is 'x'; it must be a list"),
        ("moves", None, "view['moves'] is None; it must be a dict"),
        ("game", "chess", "view['game'] is 'chess'"),
        ("episode", "set", "episode is 'set'; it must be 'round' or 'match'"),
    ):
        with pytest.raises(PlayError) as error:
            prompt({**view, name: value})
        assert message in str(error.value)
    for name, value in (("trip", "x"), ("decision", None)):
        with pytest.raises(PlayError, match=r"view\['table'\] cannot be read"):
            parse('{"move": "200 km"}', {**view, "table": view["table"] | {name: value}})
    with pytest.raises(PlayError, match="previous is 'no'; it must be an Answer"):
        prompt(view, previous="no")  # type: ignore[arg-type]


def test_the_model_is_told_what_was_wrong() -> None:
    view = views()[0]
    wrong = parse('{"move": "fly"}', view)
    assert "Your move was: fly\n" in prompt(view, previous=wrong)
    long = parse("x" * 2000, view)
    assert prompt(view, previous=long).count("x" * 500) == 1
    assert "x" * 501 not in prompt(view, previous=long)
    right = parse(json.dumps({"move": next(iter(view["moves"].values()))}), view)
    assert prompt(view, previous=right) == prompt(view)


def test_every_card_in_hand_is_named() -> None:
    env, history = played("dujardin", 3, 3, seed=5, plays=25)
    view = see(situation(env), history, seat=2)
    states = env.get_states()  # type: ignore[attr-defined]
    held = {CARD_NAMES[card]: int(count) for card, count in enumerate(states["hand"][0, 2]) if count}
    assert view["table"]["hand"] == held
    assert all(name in prompt(view) for name in held)


def test_a_match_shows_the_points() -> None:
    env, history = played("parker", 2, 2, seed=1, plays=3)
    assert "Points before this round: 0." in prompt(see(situation(env), history, episode="match"))
    assert "Points before this round" not in prompt(see(situation(env), history))
    env = vector_env(1, "mini7", seed=1, episode="match", autoreset_mode="disabled")
    env.reset()
    while not env.step(env.sample_actions())[2][0]:
        pass
    text = prompt(see(situation(env), episode="match", seat=0))
    assert f"Points: {env.games.buffers.final_score[0][0]}." in text
    assert "Points before this round" not in text


def test_what_is_wrong_is_said() -> None:
    env = vector_env(1)
    env.reset(seed=1)
    with pytest.raises(PlayError, match="env is 7; it must be an environment of millebornes_env"):
        situation(7)
    with pytest.raises(PlayError, match="there is no game 3; the environment has 1"):
        situation(env, 3)
    with pytest.raises(PlayError, match=r"a situation must have .* STATE\[1\]; got None"):
        see(None)  # type: ignore[arg-type]
    with pytest.raises(PlayError, match="there is no seat 2; they are 0 to 1"):
        see(situation(env), seat=2)
    with pytest.raises(PlayError, match="a history must be pairs of seat and action id"):
        see(situation(env), [3])  # type: ignore[list-item]
    with pytest.raises(PlayError, match="the history has an impossible play: seat 0, action 99"):
        see(situation(env), [(0, 99)])
    with pytest.raises(PlayError, match="episode is 'set'; it must be 'round' or 'match'"):
        see(situation(env), episode="set")
    two = situation(env)._replace(state=np.concatenate([env.get_states()] * 2))
    with pytest.raises(PlayError, match="a situation must have"):
        see(two)

"""A person at the terminal sees what the seat sees, and gets away with no wrong answer."""

from __future__ import annotations

import io

import numpy as np
import pytest

from agents.human import HumanAgent
from agents.protocol import Table
from millebornes_env import VectorEnv, edition, editions, vector_env
from tests.support import Position

DISTANCE_25, DISTANCE_50, ACCIDENT, STOP = 0, 1, 5, 8
CLAIM, PASS, EXTEND, FINISH = range(38, 42)


def person(env: VectorEnv, answers: str) -> tuple[HumanAgent, io.StringIO]:
    agent = HumanAgent(Table.of(env))
    agent.source, agent.sink = io.StringIO(answers), io.StringIO()
    return agent, agent.sink


def env_in(position: Position) -> VectorEnv:
    """An environment whose only game is in this position."""
    env = vector_env(1, players=position.rules.players, autoreset_mode="disabled", seed=1)
    env.set_states(position.games.states)
    return env


def asked(position: Position, answers: str) -> tuple[int, str]:
    """What the person chose by these answers, and all that was shown."""
    env = env_in(position)
    agent, sink = person(env, answers)
    shown = env.set_states(env.get_states())
    action = agent.act(shown["observation"], shown["action_mask"])
    return int(action[0]), sink.getvalue()


def at_25() -> Position:
    position = Position().battle(0, "ROLL").km(0, 625).battle(1, "ROLL").km(1, 300, two_hundreds=1)
    position.safety(1, "EXTRA_TANK", coup=True).speed(1, "SPEED_LIMIT")
    return position.hand(0, "DISTANCE_25", "DISTANCE_25", "STOP", "ROLL").hand(1, "DISTANCE_75", "REPAIRS")


def test_it_shows_what_the_seat_sees() -> None:
    _, shown = asked(at_25(), "1\n")
    lines = [line.strip() for line in shown.splitlines()]
    assert "700 km to go for" in shown
    assert any(line.startswith("you") and "625 km  rolling" in line for line in lines)
    assert any(line.startswith("the other team") and "300 km  rolling" in line for line in lines)
    assert "safeties: Extra tank (coup fourré)" in lines
    assert any("limited to 50" in line and "200s: 1 of 2" in line for line in lines)
    assert "your hand: 25 km (2), Stop, Roll" in lines
    assert "other hands, to the left: 2 cards" in lines


def test_it_does_not_show_other_hands() -> None:
    """What the other seat holds in place of a card of the draw pile changes nothing."""
    one = asked(at_25(), "1\n")[1]
    assert asked(at_25().hand(1, "DISTANCE_100", "GASOLINE"), "1\n")[1] == one


def test_a_number_chooses_the_action_beside_it() -> None:
    _, shown = asked(at_25(), "1\n")
    menu = [line[6:] for line in shown.splitlines() if line[:4].strip().isdecimal() and line[4:6] == "  "]
    attack = "Stop against the other team"
    assert menu == ["play 25 km", attack, "discard 25 km", "discard Stop", "discard Roll"]
    expected = [DISTANCE_25, STOP, 19 + DISTANCE_25, 19 + STOP, 19 + 13]
    assert [asked(at_25(), f"{number}\n")[0] for number in range(1, 6)] == expected
    assert asked(at_25(), " 2 \n")[0] == STOP


@pytest.mark.parametrize("wrong", ["", "0", "6", "-1", "1.0", "stop", "²", "99999999999999999999"])
def test_a_wrong_answer_is_explained_and_asked_for_again(wrong: str) -> None:
    action, shown = asked(at_25(), f"{wrong}\n2\n")
    assert action == STOP
    assert f"{wrong!r} is none of the actions: type a number from 1 to 5" in shown
    assert shown.count("> ") == 2


def test_help_tells_the_cards_that_were_seen() -> None:
    position = at_25().draw_pile(10)
    action, shown = asked(position, "?\n1\n")
    assert action == DISTANCE_25
    assert "q stops playing" in shown
    assert "discarded: " in shown
    assert "not seen yet: " in shown


@pytest.mark.parametrize("answers", ["q\n", "Q\n", "", "7\nq\n"])
def test_quitting_is_polite(answers: str) -> None:
    env = env_in(at_25())
    agent, sink = person(env, answers)
    shown = env.set_states(env.get_states())
    with pytest.raises(KeyboardInterrupt):
        agent.act(shown["observation"], shown["action_mask"])
    assert sink.getvalue().endswith("Goodbye.\n")


def test_a_coup_fourre_is_asked_for_by_name() -> None:
    position = Position().battle(0, "ROLL").battle(1, "ROLL").hand(0, "ACCIDENT").hand(1, "DRIVING_ACE")
    position.do("play ACCIDENT")
    action, shown = asked(position, "1\n")
    assert action == CLAIM
    assert "Accident is laid against you, and you hold the Driving ace. Claim the coup fourré?" in shown
    assert asked(position, "2\n")[0] == PASS


def test_an_extension_is_asked_for() -> None:
    position = Position().battle(0, "ROLL").km(0, 675).hand(0, "DISTANCE_25").do("play DISTANCE_25")
    action, shown = asked(position, "1\n")
    assert action == EXTEND
    assert "You have done 700 km. Extend the trip to 1000 km?" in shown
    assert asked(position, "2\n")[0] == FINISH


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", editions())
def test_it_plays_every_edition_at_every_table(name: str, padded: bool) -> None:
    for players, teams in edition(name).tables:
        env = vector_env(2, name, players=players, teams=teams, padded=padded, observe_rules=padded)
        agent, sink = person(env, "1\n" * 400)
        step = env.reset(seed=1)[0]
        for _ in range(90):
            masks = step["action_mask"]
            actions = agent.act(step["observation"], masks, np.arange(2))
            assert (masks[np.arange(2), actions] == 1).all()
            step = env.step(actions).observations
        assert "Row 1, place 1" in sink.getvalue()


def test_games_that_are_over_are_not_asked_about() -> None:
    env = vector_env(1, autoreset_mode="next_step")
    agent, sink = person(env, "")
    row = np.zeros((1, env.observation_sections[-1].stop), np.int8)
    for mask in (np.ones, np.zeros):
        assert agent.act(row, mask((1, int(env.single_action_space.n)), np.int8)).tolist() == [
            0 if mask is np.ones else -1
        ]
    assert sink.getvalue() == ""


def test_it_asks_at_the_terminal_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    env = env_in(at_25())
    shown = env.set_states(env.get_states())
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n"))
    assert HumanAgent(Table.of(env)).act(shown["observation"], shown["action_mask"]).tolist() == [STOP]
    assert "Your turn." in capsys.readouterr().out

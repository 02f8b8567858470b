"""A person at the terminal sees what the seat sees, and gets away with no wrong answer."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, edition, editions, vector_env
from millebornes_env.agents.protocol import Table
from millebornes_env.games.millebornes.cards import CARD_NAMES
from millebornes_env.play.terminal.cards import HumanAgent, action_words
from millebornes_env.play.terminal.person import UndoRequest
from millebornes_env.render.names import Names
from tests.each import each
from tests.support import Position

DISTANCE_25, DISTANCE_50, ACCIDENT, STOP, ROLL = 0, 1, 5, 8, 13
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
    """Return the action chosen by these answers, and the whole output."""
    env = env_in(position)
    agent, sink = person(env, answers)
    shown = env.set_states(env.get_states())
    action = agent.act(shown["observation"], shown["action_mask"])
    return int(action[0]), sink.getvalue()


def at_25() -> Position:
    position = Position("battle 0: roll", "battle 1: roll", "safeties 1: extra_tank!", "speed 1: speed_limit")
    position.km(0, 625).km(1, 300, two_hundreds=1)
    return position.hand(0, "25", "25", "stop", "roll").hand(1, "75", "repairs")


def test_it_shows_what_the_seat_sees() -> None:
    _, shown = asked(at_25(), "1\n")
    lines = [line.strip() for line in shown.splitlines()]
    assert "trip: 700 km  |" in shown
    assert any(line.startswith("you") and "625 km  rolling" in line for line in lines)
    assert any(line.startswith("opponent") and "300 km  rolling" in line for line in lines)
    assert "safeties: Extra tank (coup fourré)" in lines
    assert any("limited to 50" in line and "200s: 1 of 2" in line for line in lines)
    assert "your hand: 25 km (2), Stop, Roll" in lines
    assert "hands: opponent: 2 cards" in lines


def test_it_does_not_show_other_hands() -> None:
    """Exchanging a card of the other hand with one of the draw pile changes nothing."""
    one = asked(at_25(), "1\n")[1]
    assert asked(at_25().hand(1, "100", "gasoline"), "1\n")[1] == one


def test_a_number_chooses_the_action_beside_it() -> None:
    _, shown = asked(at_25(), "1\n")
    menu = [line[6:] for line in shown.splitlines() if line[:4].strip().isdecimal() and line[4:6] == "  "]
    attack = "Stop against opponent"
    assert menu == ["play 25 km", attack, "discard 25 km", "discard Stop", "discard Roll"]
    expected = [DISTANCE_25, STOP, 19 + DISTANCE_25, 19 + STOP, 19 + 13]
    assert [asked(at_25(), f"{number}\n")[0] for number in range(1, 6)] == expected
    assert asked(at_25(), " 2 \n")[0] == STOP


@each("wrong", ["", "0", "6", "-1", "1.0", "10", "stopp", "²", "9" * 20, "9" * 5000, "yes"])
def test_a_wrong_answer_is_explained_and_asked_for_again(wrong: str) -> None:
    action, shown = asked(at_25(), f"{wrong}\n2\n")
    assert action == STOP
    assert (
        f"{wrong!r} is not an action: type a name, or a number from 1 to 5, ? for help or q to stop." in shown
    )
    assert shown.count("> ") == 2


@each(
    ("answer", "action"),
    [
        ("25", DISTANCE_25),
        ("25 km", DISTANCE_25),
        ("play 25", DISTANCE_25),
        ("stop", STOP),
        ("St", STOP),
        ("Stop against opponent", STOP),
        ("stop opponent", STOP),
        ("discard 25", 19 + DISTANCE_25),
        ("d 25", 19 + DISTANCE_25),
        ("  DISCARD  roll ", 19 + ROLL),
        ("discardstop", 19 + STOP),
        ("d r", 19 + ROLL),
    ],
)
def test_a_card_is_typed_by_its_name_or_the_beginning_of_it(answer: str, action: int) -> None:
    chosen, shown = asked(at_25(), answer + "\n")
    assert chosen == action
    assert shown.count("> ") == 1


def test_a_beginning_of_several_names_is_asked_about() -> None:
    action, shown = asked(at_25(), "d\n2\n")
    assert action == STOP
    assert "'d' may mean 'discard 25 km' or 'discard Stop' or 'discard Roll': type more of the name" in shown
    _, shown = asked(at_25().hand(0, "25", "50", "75", "stop", "roll"), "d\n1\n")
    assert "or 'discard Stop', or others: type more of the name" in shown


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("roll", "play Roll: a Roll goes on an empty battle pile, on a Stop, on a remedy or on"),
        ("50", "play 50 km: you hold no 50 km"),
        ("accident", "Accident against opponent: you hold no Accident"),
        ("discard 200", "discard 200 km: you hold no 200 km"),
    ],
)
def test_it_says_why_a_card_cannot_be_played(answer: str, reason: str) -> None:
    action, shown = asked(at_25(), f"{answer}\n2\n")
    assert action == STOP
    assert f"Not possible now: {reason}" in shown
    assert ("('discard Roll' is possible)" in shown) == (answer == "roll")


def test_a_question_is_answered_before_a_card_is_played() -> None:
    position = Position("battle 0: roll", "battle 1: roll", "hand 0: accident", "hand 1: driving_ace")
    position.do("play accident")
    assert "first claim the coup fourré or let the hazard stand" in asked(position, "driving\nno\n")[1]
    for answer, action in (
        ("yes", CLAIM),
        ("Claim", CLAIM),
        ("coup fourre", CLAIM),
        ("let", PASS),
        ("no", PASS),
    ):
        assert asked(position, answer + "\n")[0] == action


def test_every_reason_is_in_words_at_every_table() -> None:
    """No reason speaks of team numbers, whatever is tried wherever."""
    for players, teams in ((2, 2), (3, 3), (4, 2), (6, 3)):
        env = vector_env(1, players=players, teams=teams, seed=1)
        step = env.reset(seed=4)[0]
        for _ in range(6):
            legal = np.flatnonzero(step["action_mask"][0])
            names = sorted({*CARD_NAMES, *(f"discard {name}" for name in CARD_NAMES)})
            agent, sink = person(env, "".join(f"{name} against 1\n{name}\n" for name in names) + "1\n")
            agent.act(step["observation"], step["action_mask"])
            assert not re.search(
                r"team \d|team \+|the hand|you (is|has)\b|opponents( \d and \d)? (is|has)\b", sink.getvalue()
            )
            step = env.step(legal[-1:]).observations


def test_the_card_just_drawn_is_marked() -> None:
    env = vector_env(1, autoreset_mode="disabled")
    step = env.reset(seed=1)[0]
    agent, sink = person(env, "1\n" * 200)
    before: dict[int, np.ndarray] = {}
    marked = 0
    for _ in range(60):
        seat = int(env.agent_selection[0])
        hand = env.games.states["hand"][0, seat].copy()
        action = int(agent.act(step["observation"], step["action_mask"], np.array([seat]))[0])
        if seat in before:
            drawn = hand - before[seat]
            cards = ", ".join(CARD_NAMES[card] for card in np.flatnonzero(drawn))
            shown = sink.getvalue().split("your hand: ")[-1].splitlines()[0]
            assert shown.partition("  (just drawn: ")[2] == (f"{cards})" if cards else "")
            marked += bool(cards)
        step = env.step([action]).observations
        before[seat] = env.games.states["hand"][0, seat].copy()
        if env.agent_selection[0] == seat:  # it goes on at once, and has drawn already
            del before[seat]
    assert marked > 20


def test_a_hazard_against_several_opponents_stands_together() -> None:
    position = Position(
        "battle 0: roll", "battle 1: roll", "battle 2: roll", "hand 0: flat_tire stop 25", players=3
    )
    _, shown = asked(position, "1\n")
    menu = [line[6:] for line in shown.splitlines() if line[:4].strip().isdecimal() and line[4:6] == "  "]
    both = [f"{name} against opponent {number}" for name in ("Flat tire", "Stop") for number in (1, 2)]
    assert menu == ["play 25 km", *both, "discard 25 km", "discard Flat tire", "discard Stop"]
    assert asked(position, "stop 2\n")[0] == asked(position, "stop against opponent 2\n")[0] == 42 + 3
    assert (
        "'stop' may mean 'Stop against opponent 1' or 'Stop against opponent 2'"
        in asked(position, "stop\n1\n")[1]
    )


def test_players_and_teams_have_one_set_of_names() -> None:
    assert Names(2, 2).all_teams() == ["you", "opponent"]
    assert Names(3, 3).all_teams() == ["you", "opponent 1", "opponent 2"]
    assert Names(4, 2).all_teams() == ["your team", "opponents"]
    assert [Names(4, 2).seat(place) for place in range(4)] == ["you", "opponent 1", "partner", "opponent 2"]
    assert Names(6, 3).all_teams() == ["your team", "opponents 1 and 3", "opponents 2 and 4"]
    assert [Names(6, 2).seat(place) for place in (2, 4)] == ["partner 1", "partner 2"]


def test_without_an_adviser_there_are_no_hints_and_nobody_undoes() -> None:
    action, shown = asked(at_25(), "hint\nundo\n2\n")
    assert action == STOP
    assert "No agent is available for hints." in shown
    assert "You have made no decision that could be taken back." in shown


def test_undo_is_asked_of_who_holds_the_game() -> None:
    env = env_in(at_25())
    agent, _ = person(env, "2\nundo\n")
    shown = env.set_states(env.get_states())
    agent.act(shown["observation"], shown["action_mask"])
    kept, agent.can_undo = agent.kept, True
    with pytest.raises(UndoRequest):
        agent.act(shown["observation"], shown["action_mask"])
    assert agent.kept is kept


def test_a_hint_tells_what_the_adviser_would_do() -> None:
    for name, pattern in (("champion", r"champion: (.+) (\d+)%"), ("greedy", r"greedy: (play 25 km) \(")):
        env = env_in(at_25())
        agent, sink = person(env, "hint\n1\n")
        adviser = agents.load(name, env)
        agent.adviser = lambda adviser=adviser: adviser
        shown = env.set_states(env.get_states())
        best = int(adviser.act(shown["observation"], shown["action_mask"])[0])
        agent.act(shown["observation"], shown["action_mask"])
        result = re.search(pattern, sink.getvalue())
        assert result
        assert result[1].startswith(action_words(best, agent.names))


@each("answers", ["q\n", "Q\n", "", "7\nq\n"])
def test_quitting_is_polite(answers: str) -> None:
    env = env_in(at_25())
    agent, sink = person(env, answers)
    shown = env.set_states(env.get_states())
    with pytest.raises(KeyboardInterrupt):
        agent.act(shown["observation"], shown["action_mask"])
    assert sink.getvalue().endswith("Goodbye.\n")


def test_an_extension_is_asked_for() -> None:
    position = Position("battle 0: roll", "hand 0: 25").km(0, 675).do("play 25")
    action, shown = asked(position, "1\n")
    assert action == EXTEND
    assert "You have done 700 km. Extend the trip to 1000 km?" in shown
    assert asked(position, "2\n")[0] == FINISH


def test_games_that_are_over_are_not_asked_about() -> None:
    env = vector_env(1, autoreset_mode="next_step")
    agent, sink = person(env, "")
    row = np.zeros((1, env.observation_sections[-1].stop), np.int8)
    for mask in (np.ones, np.zeros):
        assert agent.act(row, mask((1, int(env.single_action_space.n)), np.int8)).tolist() == [
            0 if mask is np.ones else -1
        ]
    assert sink.getvalue() == ""


@each("padded", [False, True])
@each("name", editions())
def test_it_plays_every_edition_at_every_table(name: str, padded: bool) -> None:
    for players, teams in edition(name).tables:
        env = vector_env(2, name, players=players, teams=teams, padded=padded, observe_rules=padded)
        agent, sink = person(env, "1\n" * 400)
        step = env.reset(seed=1)[0]
        for _ in range(12):
            masks = step["action_mask"]
            actions = agent.act(step["observation"], masks, np.arange(2))
            assert (masks[np.arange(2), actions] == 1).all()
            step = env.step(actions).observations
        assert "Row 1, slot 1" in sink.getvalue()

"""`reset(options={"positions": ...})`: games that begin somewhere else than with a deal."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import millebornes_v0, vector_env
from millebornes_env.errors import NotationError, OptionError
from millebornes_env.notation.millebornes.positions import read_position
from tests.each import each

FEW_LINES = "hand 0: 200 roll\nbattle 0: roll\nhand 1: ..."


def test_each_game_with_a_position_of_its_own_and_its_own_key() -> None:
    env, plain = vector_env(2, players=3, seed=5), vector_env(2, players=3, seed=5)
    first = read_position("table: 3 players\nkey: 7 8\nepisode: 4\nhand 0: stop\nround: 3")
    env.reset(options={"positions": [first, "to act: seat 2\nhand 2: roll"]})
    plain.reset()
    assert env.agent_selection.tolist() == [0, 2]
    states, others = env.get_states(), plain.get_states()
    assert states["key"].tolist() == [[7, 8], others["key"][1].tolist()]
    assert states["episode"].tolist() == [4, 0]
    assert states["round_number"].tolist() == [2, 0]
    env.reset()
    plain.reset()
    assert env.get_states()["episode"].tolist() == [5, 1]
    assert env.get_states()[1].tobytes() == plain.get_states()[1].tobytes(), (
        "the game goes on with its own deals"
    )


def test_positions_for_some_of_the_games() -> None:
    env = vector_env(3, seed=1, autoreset_mode="disabled")
    env.reset()
    before = env.get_states()
    chosen = np.array([True, False, True])
    env.reset(options={"reset_mask": chosen, "positions": [FEW_LINES, "hand 0: stop"]})
    after = env.get_states()
    assert after[1].tobytes() == before[1].tobytes()
    assert after["hand_count"][:, 0].tolist() == [2, int(before["hand_count"][1, 0]), 1]
    env.reset(options={"reset_mask": np.zeros(3, np.bool_), "positions": []})
    assert env.get_states().tobytes() == after.tobytes()


def test_a_game_of_one_agent_at_a_time_begins_with_a_position() -> None:
    env = millebornes_v0.env()
    env.reset(seed=1, options={"positions": "to act: seat 1\nhand 1: roll", "something": "else"})
    assert env.agent_selection == "player_1"
    assert env.observe("player_1")["action_mask"].sum() == 2


@each(
    "error, given_positions, words",
    [
        (NotationError, ["hand 0: rol", FEW_LINES], ["positions[0]: line 1", "'rol'"]),
        (NotationError, "hand 0: rol", ["positions: line 1"]),
        (
            OptionError,
            ["table: 3 players\nhand 0: roll", FEW_LINES],
            ["positions[0]", "3 players in 3 teams"],
        ),
        (OptionError, [FEW_LINES, "edition: dutch\nhand 0: roll"], ["positions[1]", "'dutch'", "'parker'"]),
        (OptionError, [FEW_LINES, "to act: round over"], ["positions[1]", "round is over"]),
        (OptionError, [FEW_LINES], ["a list of 1", "a list of 2"]),
        (OptionError, 3, ["positions are 3"]),
        (OptionError, [FEW_LINES, 3], ["positions[1] is 3", "a text or a notation.Position"]),
    ],
)
def test_positions_that_an_environment_refuses(
    error: type[Exception], given_positions: object, words: list[str]
) -> None:
    env = vector_env(2, seed=1)
    env.reset()
    before = env.get_states().tobytes()
    with pytest.raises(error) as caught:
        env.reset(options={"positions": given_positions})
    assert all(word in str(caught.value) for word in words), caught.value
    assert env.get_states().tobytes() == before


def test_a_position_whose_record_was_spoiled() -> None:
    result = read_position(FEW_LINES)
    result.state["hand_count"] = 100
    with pytest.raises(OptionError, match="positions is not a valid state for this table: hand_count"):
        vector_env(1).reset(options={"positions": result})

"""`millebornes_env.envs.rollout`: each seat is credited with what its own decisions brought it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env.envs.rollout import advantages_of, transitions_of
from millebornes_env.errors import MilleBornesError, OptionError

GAMMA, LAMBDA = 0.9, 0.8


def one_game(*steps: tuple[int, tuple[float, ...], bool]) -> tuple[npt.NDArray[Any], ...]:
    """A rollout of one game: who decided, what each seat got, whether the episode ended."""
    seats, rewards, ends = zip(*steps, strict=True)
    return np.array(seats)[:, np.newaxis], np.array(rewards)[:, np.newaxis], np.array(ends)[:, np.newaxis]


def naive_transition(
    seats: npt.NDArray[Any], rewards: npt.NDArray[Any], ends: npt.NDArray[Any], step: int
) -> tuple[float, int, bool, bool]:
    """Reward, next step, ended and complete of one game's decision, looked up forwards."""
    mine, total = seats[step], 0.0
    for later in range(step, len(seats)):
        if later > step and seats[later] == mine:
            return total, later, False, True
        total += rewards[later, mine]
        if ends[later]:
            return total, len(seats), True, True
    return total, len(seats), False, False


def naive_advantage(
    seats: npt.NDArray[Any], rewards: npt.NDArray[Any], ends: npt.NDArray[Any], values: Any, step: int
) -> float:
    """The sum of discounted errors of the seat's own decisions from here on, as the paper writes it."""
    reward, following, ended, complete = naive_transition(seats, rewards, ends, step)
    if not complete:
        return 0.0
    if ended:
        return reward - float(values[step])
    error = reward + GAMMA * float(values[following]) - float(values[step])
    return error + GAMMA * LAMBDA * naive_advantage(seats, rewards, ends, values, following)


def random_rollout(players: int) -> tuple[npt.NDArray[Any], ...]:
    """Forty steps of seven games that end now and then, with rewards out of turn."""
    rng = np.random.default_rng(players)
    seats = rng.integers(players, size=(40, 7))
    rewards = rng.normal(size=(40, 7, players)) * (rng.random((40, 7, 1)) < 0.3)
    return seats, rewards, rng.random((40, 7)) < 0.08, rng.normal(size=(40, 7))


def test_a_reward_that_falls_while_others_play_is_the_last_deciders() -> None:
    rollout = one_game(
        (0, (0.0, 0.0), False),
        (1, (5.0, -5.0), False),  # seat 0 earns while seat 1 plays
        (0, (1.0, -1.0), False),
        (1, (2.0, -2.0), True),  # and at the end
    )
    result = transitions_of(*rollout)
    assert result.rewards[:, 0].tolist() == [5.0, -6.0, 3.0, -2.0]
    assert result.next_step[:, 0].tolist() == [2, 3, 4, 4]
    assert result.ended[:, 0].tolist() == [False, False, True, True]
    assert result.is_complete.all()


def test_the_last_decision_of_a_seat_only_bootstraps_the_one_before() -> None:
    rollout = one_game((0, (1.0, 0.0), False), (1, (0.0, 0.0), False), (0, (9.0, 0.0), False))
    values = np.array([[0.5], [0.25], [2.0]])
    advantages, returns = advantages_of(
        transitions_of(*rollout), values, gamma=np.float32(0.5), gae_lambda=0.9
    )
    assert advantages[:, 0].tolist() == [1.0 + 0.5 * 2.0 - 0.5, 0.0, 0.0]
    assert returns[:, 0].tolist() == [2.0, 0.25, 2.0]


def test_where_nobody_decided_rewards_pass_through() -> None:
    seats, rewards, ends = one_game((0, (1.0, 0.0), False), (0, (2.0, 0.0), False), (0, (4.0, 0.0), True))
    result = transitions_of(seats, rewards, ends, decided=np.array([[True], [False], [True]]))
    assert result.rewards[0, 0] == 3.0
    assert result.next_step[0, 0] == 2
    assert result.is_complete[:, 0].tolist() == [True, False, True]


@pytest.mark.parametrize("players", [1, 2, 5])
def test_it_is_what_looking_forwards_finds(players: int) -> None:
    seats, rewards, ends, values = random_rollout(players)
    result = transitions_of(seats, rewards, ends)
    advantages, returns = advantages_of(result, values, gamma=GAMMA, gae_lambda=LAMBDA)
    for game in range(seats.shape[1]):
        one = seats[:, game], rewards[:, game], ends[:, game]
        for step in range(len(seats)):
            reward, following, ended, complete = naive_transition(*one, step)
            assert result.rewards[step, game] == pytest.approx(reward)
            assert (result.next_step[step, game], result.ended[step, game]) == (following, ended)
            assert result.is_complete[step, game] == complete
            wanted = naive_advantage(*one, values[:, game], step)
            assert advantages[step, game] == pytest.approx(wanted)
            assert returns[step, game] == pytest.approx(wanted + values[step, game])


@pytest.mark.parametrize(
    ("wrong", "error", "told"),
    [
        ({"seats": np.zeros((2, 3), np.float64)}, OptionError, "seats are float64[2, 3]; they must be whole"),
        ({"seats": np.full((2, 3), 2)}, OptionError, "no seat 2; the rewards have a column for seats 0 to 1"),
        ({"seats": np.full((2, 3), -1)}, OptionError, "no seat -1"),
        ({"seats": [[0], [0, 1]]}, OptionError, "cannot be converted to an array"),
        ({"rewards": np.zeros((2, 3))}, OptionError, "must be floats [T, N, S]"),
        ({"rewards": np.zeros((0, 3, 2))}, OptionError, "must be floats [T, N, S]"),
        ({"terminations": np.zeros((3, 2), bool)}, OptionError, "terminations are bool[3, 2]"),
        ({"decided": np.zeros((2, 3))}, OptionError, "decided are float64[2, 3]; they must be bool"),
    ],
)
def test_arrays_that_do_not_fit(wrong: dict[str, Any], error: type[MilleBornesError], told: str) -> None:
    fitting: dict[str, Any] = {
        "seats": np.zeros((2, 3), np.int32),
        "rewards": np.zeros((2, 3, 2), np.float32),
        "terminations": np.zeros((2, 3), np.bool_),
    }
    with pytest.raises(error) as result:
        transitions_of(**{**fitting, **wrong})
    assert told in str(result.value)


def test_values_and_coefficients_that_cannot_be() -> None:
    result = transitions_of(np.zeros((2, 1), np.int64), np.zeros((2, 1, 1)), np.zeros((2, 1), np.bool_))
    with pytest.raises(OptionError, match="values are"):
        advantages_of(result, np.zeros(2))
    with pytest.raises(OptionError, match=r"gamma is 1\.5; it must be a number from 0 to 1"):
        advantages_of(result, np.zeros((2, 1)), gamma=1.5)

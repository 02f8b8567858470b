"""`testing.check_env`: our environments pass in every mode, and faults that a subclass may have are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.errors import ConformanceError, IllegalActionError, MilleBornesError
from millebornes_env.testing import check_env


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("same_step", {}),
        ("next_step", {"players": 6, "episode": "match", "padded": True, "observe_rules": True}),
        (
            "disabled",
            {"edition": "dujardin", "players": 8, "observe_unseen": False, "illegal_action": "terminate"},
        ),
        ("disabled", {"edition": "mini7"}),  # games end before the steps that are replayed
    ],
)
def test_our_environments_pass_and_are_left_alone(mode: str, options: dict[str, Any]) -> None:
    env = vector_env(5, autoreset_mode=mode, seed=4, **options)
    env.reset()
    before = env.get_states()
    check_env(env, steps=150, seed=3)
    assert env.get_states().tobytes() == before.tobytes()
    check_env(vector_env(2, autoreset_mode=mode, **options), steps=3)


class RewardIsNaN(VectorEnv):
    def step(self, actions: Any) -> Any:
        step = super().step(actions)
        step.rewards[1, 0] = np.nan
        return step


class RewardOfOneSeat(VectorEnv):
    def step(self, actions: Any) -> Any:
        step = super().step(actions)
        return step._replace(rewards=step.rewards[:, 0])


class FloatObservations(VectorEnv):
    def reset(self, **options: Any) -> Any:
        observations, infos = super().reset(**options)
        return observations | {"observation": observations["observation"] / np.float32(10)}, infos


class TooLarge(VectorEnv):
    def step(self, actions: Any) -> Any:
        step = super().step(actions)
        step.observations["observation"][2, 0] = 127
        return step


class OtherMask(VectorEnv):
    """Forbids to discard 25 km, so that fewer actions are legal than the rules allow."""

    def reset(self, **options: Any) -> Any:
        observations, infos = super().reset(**options)
        discards = observations["action_mask"][:, 19:38]
        discards[:, discards.argmax(axis=1)] = 0
        return observations, infos


class ForgetsTheSeed(VectorEnv):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            seed = int(np.random.default_rng().integers(2**32))
        return super().reset(seed=seed, options=options)


class RepairsInSilence(VectorEnv):
    def step(self, actions: Any) -> Any:
        try:
            return super().step(actions)
        except IllegalActionError:
            return super().step(self.sample_actions())


class ChangesRecords(VectorEnv):
    def step(self, actions: Any) -> Any:
        step = super().step(actions)
        self.games.states["score_sheet"][1, 0, 0] = 25
        return step


class IsItsOwnCopy(VectorEnv):
    def clone(self) -> Any:
        return self


FAULTS = [
    (RewardIsNaN, r"a reward is NaN or infinite \[step 1, game 1, seat \d\]"),
    (RewardOfOneSeat, r"rewards is float32\[3\]; it must be float32\[3, 2\] \[step 1\]"),
    (FloatObservations, r"observation is float32\[3, \d+\]; it must be int8\[3, \d+\] \[step 0\]"),
    (TooLarge, r"outside single_observation_space \[step 1, game 2, seat \d\]"),
    (OtherMask, r"action_mask is not what the rules allow \[step 0, game 0, seat \d\]"),
    (ForgetsTheSeed, "differs when the same seed and actions are played again"),
    (RepairsInSilence, r"the illegal action \d+ was not refused \[step 1, game 2, seat \d\]"),
    (ChangesRecords, r"game 1, seat \d: the score sheet is filled in before the end of the round"),
    (IsItsOwnCopy, r"a step of clone\(\) changed the environment that it is a copy of"),
]


@pytest.mark.parametrize(("kind", "message"), FAULTS, ids=[kind.__name__ for kind, _ in FAULTS])
def test_a_fault_is_found_and_named(kind: Any, message: str) -> None:
    with pytest.raises(ConformanceError, match=message):
        check_env(kind(3), steps=40)


def test_what_is_no_environment_is_refused() -> None:
    for wrong in (None, "parker", VectorEnv):
        with pytest.raises(MilleBornesError, match="it must be a vector environment"):
            check_env(wrong)  # type: ignore[arg-type]
    for options in ({"steps": 0}, {"steps": 1.5}, {"seed": -1}):
        with pytest.raises(MilleBornesError):
            check_env(vector_env(2), **options)  # type: ignore[arg-type]

"""Stable-Baselines3's `VecEnv` over `SingleAgentVectorEnv`: one learning seat in each game.

A learner's transitions lead from a decision of *its own seat* to that seat's next decision, with the sum of
all rewards in between. The widely copied recipe, which pairs the acting seat's reward with the next seat's
observation, mixes the seats' trajectories and does not learn (PettingZoo issue 1147).

This module needs stable_baselines3 (the extra `train`); the rest of the package does not.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env.envs.single_agent.opponents import OpponentSpec
from millebornes_env.envs.single_agent.vector import SingleAgentVectorEnv
from millebornes_env.errors import MissingExtraError

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
except ModuleNotFoundError as _missing:
    raise MissingExtraError.of("millebornes_env.envs.sb3", _missing, "train") from None


class SB3VecEnv(VecEnv):
    """N games with one learner each; agents, functions or models play all other seats.

    MaskablePPO calls `action_masks` by itself. When an episode ends, `infos[i]` has `terminal_observation`,
    the learner's last observation; `episode`, its return and length as from SB3's `Monitor`; and `won`,
    `final_score`, `seat`, `illegal_action` and `sheet` as in `SingleAgentEnv`. All other infos are empty.

    Attributes:
        envs: underlying Gymnasium vector environment.
    """

    def __init__(
        self, num_envs: int = 1, opponent: OpponentSpec = "random", *, seed: int | None = None, **options: Any
    ) -> None:
        """Create N games that are stepped together.

        Args:
            num_envs: number of games, N.
            opponent: as in `SingleAgentEnv`.
            seed: seed of the first reset, 0 to 2**64 - 1; None for a random one.
            **options: options of `SingleAgentVectorEnv`, except `autoreset_mode` and `copy`. By default,
                observations are scaled and illegal actions raise errors. `VecVideoRecorder` needs
                `render_mode="rgb_array"` and records game 0.

        Raises:
            MilleBornesError: as in `SingleAgentVectorEnv`.
        """
        options = {"scaled": True, "illegal_action": "error", **options}
        self.envs = SingleAgentVectorEnv(num_envs, opponent, autoreset_mode="same_step", copy=True, **options)
        self.render_mode = self.envs.render_mode
        super().__init__(
            self.envs.num_envs, self.envs.single_observation_space, self.envs.single_action_space
        )
        self.metadata: dict[str, Any] = self.envs.metadata
        self._actions: npt.NDArray[Any] | None = None
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._started = time.time()
        self.seed(seed)

    def set_opponent(self, opponent: OpponentSpec) -> None:
        """Replace the opponents, as in `SingleAgentVectorEnv`; for self-play, pass the model that learns."""
        self.envs.set_opponent(opponent)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the next `reset`; one seed determines all games."""
        self._seeds = [seed] * self.num_envs
        return self._seeds

    def reset(self) -> VecEnvObs:
        """Begin new episodes in all games, with the options of `set_options`, which are the same for all.

        See `SingleAgentVectorEnv.reset`.
        """
        seed, options = self._seeds[0], self._options[0]
        self._reset_seeds()
        self._reset_options()
        observations: VecEnvObs = self.envs.reset(seed=seed, options=options)[0]
        self._returns[:], self._lengths[:], self._started = 0.0, 0, time.time()
        return observations

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learners' action masks, bool[N, A].

        Raises:
            CallError: before the first `reset`, after an opponent failed, or after `close`.
        """
        self.envs.games.check_ready()
        return self.envs.action_masks()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Store the learners' actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Apply the learners' actions, then the opponents' until every learner decides again.

        Returns:
            Observations float32[N, D]; rewards float32[N] since the last decision; dones bool[N]; infos.

        Raises:
            MilleBornesError: as in `SingleAgentVectorEnv.step`; illegal actions leave all games unchanged.
        """
        actions, self._actions = self._actions, None
        observations, rewards, dones, _, infos = self.envs.step(actions)  # type: ignore[arg-type] # checked there
        self._returns += rewards
        self._lengths += 1
        listed: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in np.flatnonzero(dones).tolist():
            final = {
                name: values[game].tolist()
                for name, values in infos["final_info"].items()
                if not name.startswith("_")
            }
            seconds = round(time.time() - self._started, 6)
            episode = {"r": float(self._returns[game]), "l": int(self._lengths[game]), "t": seconds}
            final |= {"terminal_observation": infos["final_obs"][game], "TimeLimit.truncated": False}
            listed[game] = {**final, "episode": episode}
        self._returns[dones], self._lengths[dones] = 0.0, 0
        return observations, rewards.astype(np.float32), dones, listed

    def render(self, mode: str | None = None) -> Any:
        """Render game 0 with all hands shown, in the render mode of the environment."""
        frames = self.envs.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Close the environment; later calls raise `CallError`."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return the attribute once per game; all games share one object."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Set the attribute for all games."""
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> Any:
        """Call a method; return the rows of `action_masks` as an array, any other result once per game."""
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        rows = list(self._get_indices(indices))
        return result[rows] if method_name == "action_masks" else [result] * len(rows)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each game: games are never wrapped."""
        return [False] * len(list(self._get_indices(indices)))


__all__ = ["SB3VecEnv"]

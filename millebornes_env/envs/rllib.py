"""One game as RLlib's `MultiAgentEnv`, for Ray's new API stack.

    from ray.rllib.algorithms.ppo import PPOConfig
    from millebornes_env.envs.rllib import RLlibEnv

    config = PPOConfig().environment(RLlibEnv, env_config={"edition": "parker", "players": 2})

Keys and dtypes follow RLlib; rules and values are those of `vector_env`. This module needs ray
(`pip install 'millebornes-env[ray]'`); the rest of the package does not. docs/environment/libraries.md has
examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import action_number, flag
from millebornes_env._util.guard import Guard, alone
from millebornes_env._util.texts import closest
from millebornes_env.engine.rulebook import NO_TEAM
from millebornes_env.envs.options import USUAL, checked_mapping
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import ActionError, CallError, OptionError, shown

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError(
        f"millebornes_env.envs.rllib needs {_missing.name}, which is not installed: "
        "pip install 'millebornes-env[ray]'",
        name=_missing.name,
    ) from None

OBSERVATIONS: Final = "observations"
ACTION_MASK: Final = "action_mask"
Observation = dict[str, npt.NDArray[np.float32]]
"""`observations` float32[D] and `action_mask` float32[A], as RLlib's action-masking modules expect."""

DEFAULT_OPTIONS: Final[Mapping[str, Any]] = {
    "edition": "parker",
    "players": 2,
    "teams": None,
    "episode": USUAL,
    "reward": USUAL,
    "scaled": True,
    "observe_unseen": True,
    "observe_rules": None,
    "padded": False,
    "illegal_action": "terminate",
}
"""Options and their defaults."""


class RLlibEnv(MultiAgentEnv):  # type: ignore[misc] # ray's base class has no types
    """One game of Mille Bornes, or of another game, with an agent for each seat.

    Only the seat to act gets an observation, and only its action is applied. The same seat can act twice in a
    row, and a seat can act out of turn. Each step returns the rewards of all seats; RLlib sums a seat's
    rewards until its next action. When the episode ends, each seat gets a last observation, whose mask is all
    1 because no action follows.

    The mask is part of the observation. A module that ignores it plays illegal actions, which end the episode
    with a reward of -1 to the seat that acted (`illegal_action`).

    Attributes:
        vector: underlying vector environment of one game; `vector.observation_sections` is the layout of the
            observations.
        possible_agents: "player_0", "player_1" and so on.
        agents: the same after the first `reset`; empty before.
        observation_spaces: dictionary space of `observations` and `action_mask`, by agent.
        action_spaces: `Discrete(A)`, by agent.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """Create the environment.

        Args:
            config: RLlib's `env_config`, with any of these options:
                `edition`, `players`, `teams`, `episode`, `reward`, `observe_unseen`, `observe_rules` and
                `padded`: as in `vector_env`; with `padded`, one policy can play tables of all sizes.
                `scaled`: divide each number of an observation by its maximum; True by default.
                `illegal_action`: "terminate" (default), or "error" to raise an error that names the action.

        Raises:
            OptionError: unknown option, or an invalid value.
            MilleBornesError: an option is invalid; the subclass and the message say which one and why.
        """
        super().__init__()
        options = _options_of(config)
        scaled = flag("scaled", options.pop("scaled"))
        self.vector = VectorEnv(1, options.pop("edition"), autoreset_mode="disabled", **options)
        self.render_mode = "ansi" if self.vector.game.has("render.draw") else None
        self.possible_agents = list(self.vector.possible_agents)
        self.agents: list[str] = []
        sections = self.vector.observation_sections
        highs = np.concatenate([np.full(one.size, max(one.high, 1)) for one in sections]).astype(np.float32)
        self._scale = 1 / highs if scaled else np.ones_like(highs)
        self._num_actions = int(self.vector.single_action_space.n)
        seat_space = gymnasium.spaces.Dict(
            {
                OBSERVATIONS: gymnasium.spaces.Box(0.0, 1.0 if scaled else highs, highs.shape, np.float32),
                ACTION_MASK: gymnasium.spaces.Box(0.0, 1.0, (self._num_actions,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, seat_space)
        self.action_spaces = {
            agent: gymnasium.spaces.Discrete(self._num_actions) for agent in self.possible_agents
        }
        self._actions = np.zeros(1, np.int64)
        self._guard = Guard(reentrant=True)

    @alone
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin an episode.

        Args:
            seed: 0 to 2**64 - 1; None continues with the next episode (at first, of a random seed).
            options: `{"positions": text}` begins at a position, as in `vector_env`.

        Returns:
            Observation and info of the agent to act, by its name.

        Raises:
            OptionError: invalid seed, unknown option, or a position of another table.
            CallError: after `close`.
        """
        self.vector.reset(seed=seed, options=checked_mapping(options))
        self.agents = self.possible_agents[:]
        agent = self._agent_to_act()
        return {agent: self._observation()}, {agent: self._no_result()}

    def _no_result(self) -> dict[str, Any]:
        """Return the info before the end of an episode."""
        return {
            "final_score": [0] * self.vector.teams,
            "final_winner": NO_TEAM,
            **self.vector._sheet_of_one(),
        }

    @alone
    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Apply the action of the agent to act.

        Args:
            action_dict: the action by the agent's name, and nothing else.

        Returns:
            Observations, rewards, terminateds, truncateds and infos by agent. terminateds and truncateds also
            have the key "__all__"; truncateds are always False. Each info has `final_score` (the points of
            each team) and `final_winner` (the winning team, or -1): zeros and -1 before the last step; and
            `sheet`, the number of the rule sheet, if the game draws sheets.

        Raises:
            OptionError: `action_dict` does not have exactly the action of the agent to act.
            ActionError: the action is not a whole number.
            IllegalActionError: (or `ActionError`) an illegal action with `illegal_action="error"`; nothing
                has changed.
            CallError: before the first `reset`, after the end of an episode, or after `close`.
        """
        self.vector._check_ready("step")
        if not self.vector.games.buffers.action_mask[0].any():
            raise CallError("the episode has ended: call reset() first")
        self._actions[0] = self._action_in(action_dict)
        _, rewards, terminations, _, infos = self.vector.step(self._actions)
        earned = dict(zip(self.possible_agents, rewards[0].tolist(), strict=True))
        over = bool(terminations[0])
        if not over:
            agent = self._agent_to_act()
            ended = {"__all__": False}
            return {agent: self._observation()}, earned, ended, ended.copy(), {agent: self._no_result()}
        keys = [*self.possible_agents, "__all__"]
        result = {
            "final_score": infos["final_score"][0].tolist(),
            "final_winner": int(infos["final_winner"][0]),
            **self.vector._sheet_of_one(),
        }
        return (
            {agent: self._last_observation(seat) for seat, agent in enumerate(self.possible_agents)},
            earned,
            dict.fromkeys(keys, True),
            dict.fromkeys(keys, False),
            {agent: dict(result) for agent in self.possible_agents},
        )

    def _action_in(self, action_dict: object) -> int:
        """Return the action to apply; ids out of range become one that is illegal but not negative."""
        agent = self._agent_to_act()
        if not isinstance(action_dict, Mapping) or list(action_dict) != [agent]:
            got = list(action_dict) if isinstance(action_dict, Mapping) else action_dict
            raise OptionError(
                f"action_dict has {shown(got)}; {agent} is to act, so it must be {{{agent!r}: action}} "
                "and nothing else"
            )
        number = action_number(action_dict[agent])
        if number is None:
            raise ActionError(
                f"{agent}: the action is {shown(action_dict[agent])}; it must be a whole number, such as 0"
            )
        # The engine skips games with negative actions.
        return number if 0 <= number < self._num_actions else self._num_actions

    def _agent_to_act(self) -> str:
        agent: str = self.possible_agents[int(self.vector.agent_selection[0])]
        return agent

    def _observation(self) -> Observation:
        """Return the observation of the agent to act."""
        buffers = self.vector.games.buffers
        return {
            OBSERVATIONS: buffers.observation[0] * self._scale,
            ACTION_MASK: buffers.action_mask[0].astype(np.float32),
        }

    def _last_observation(self, seat: int) -> Observation:
        return {
            OBSERVATIONS: self.vector.observe(seat)[0] * self._scale,
            ACTION_MASK: np.ones(self._num_actions, np.float32),
        }

    def render(self) -> str:
        """Return the table as text, with all hands shown.

        Raises:
            OptionError: the game does not support rendering.
            CallError: before the first `reset`.
        """
        self.vector.game.hook("render.draw", "render")
        return str(self.vector.render())

    def close(self) -> None:
        """Close the environment; later calls of `reset` and `step` raise `CallError`."""
        self.vector.close()

    def legal_actions(self) -> dict[int, str]:
        """Return the ids and names of the acting agent's legal actions.

        Raises:
            CallError: before the first `reset`, or after `close`.
        """
        return self.vector.legal_actions(0)


def _options_of(config: object) -> dict[str, Any]:
    """Return all options, with defaults for those that are missing from the config.

    Raises:
        OptionError: unknown option, or the config is not a dictionary.
    """
    if config is not None and not isinstance(config, Mapping):
        raise OptionError(f"env_config is {shown(config)}; it must be a dictionary of options")
    options = dict(config or {})
    for name in options:
        if name not in DEFAULT_OPTIONS:
            known = list(DEFAULT_OPTIONS)
            raise OptionError(
                f"env_config got an unexpected keyword argument {shown(name)}; the options are "
                f"{', '.join(known)}.{closest(name, known)}"
            )
    return {**DEFAULT_OPTIONS, **options}

"""A game as RLlib's `MultiAgentEnv`, for Ray's new API stack.

    from ray.rllib.algorithms.ppo import PPOConfig
    from millebornes_env.envs.rllib import RLlibEnv

    config = PPOConfig().environment(RLlibEnv, env_config={"edition": "parker", "players": 2})

Only keys and number types are RLlib's; the rules and the numbers are those of `vector_env`. This module
imports ray (`pip install 'millebornes-env[ray]'`), which the rest of the package does not need. docs/rllib.md
shows it at work.
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
from millebornes_env.errors import ActionError, OptionError, shown

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
"""`observations` float32[D] and `action_mask` float32[A], as RLlib's modules with action masks take them."""

USUAL_OPTIONS: Final[Mapping[str, Any]] = {
    "edition": "parker",
    "players": 2,
    "teams": None,
    "episode": USUAL,
    "reward": USUAL,
    "scaled": True,
    "observe_unseen": True,
    "observe_rules": False,
    "padded": False,
    "illegal_action": "terminate",
}
"""The options with what they are if they are left out."""


class RLlibEnv(MultiAgentEnv):  # type: ignore[misc] # ray's base class has no types
    """One game of Mille Bornes, or of another game, with an agent for each seat.

    Only the seat that is to move is shown an observation, and only its action is carried out. It can be the
    same one again, or one out of turn. Each step returns what every seat has earned in it; RLlib adds up what
    a seat earns until its next move. When the episode is over, each seat gets a last observation, whose mask
    is all 1, for no action follows.

    The mask is part of the observation; a module that does not look at it plays illegal actions, which end
    the episode with a reward of -1 for the offender (`illegal_action`).

    Attributes:
        vector: the vector environment of one game that this is; `vector.observation_sections` is the layout
            of the observations.
        possible_agents: "player_0", "player_1" and so on.
        agents: the same, from the first `reset` on.
        observation_spaces: by agent, a dictionary space of `observations` and `action_mask`.
        action_spaces: by agent, `Discrete(A)`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """Make the environment.

        Args:
            config: RLlib's `env_config`, with some of these options:
                `edition`, `players`, `teams`, `episode`, `reward`, `observe_unseen`, `observe_rules` and
                `padded`: as in `vector_env`; with `padded`, one policy plays tables of all sizes.
                `scaled`: whether each number is divided by its largest value; True if left out.
                `illegal_action`: "terminate" (if left out), or "error", which names the play.

        Raises:
            OptionError: an option that there is not, or with a value that it cannot have.
            MilleBornesError: one of its other subclasses says what is wrong with which option.
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
        shown_to_a_seat = gymnasium.spaces.Dict(
            {
                OBSERVATIONS: gymnasium.spaces.Box(0.0, 1.0 if scaled else highs, highs.shape, np.float32),
                ACTION_MASK: gymnasium.spaces.Box(0.0, 1.0, (self._num_actions,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, shown_to_a_seat)
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
            seed: 0 to 2**64 - 1; None goes on with the next episode (the first time: one drawn by chance).
            options: `{"positions": text}`: where the episode begins, as in `vector_env`.

        Returns:
            The observation and the info of the seat that is to move, by its name.

        Raises:
            OptionError: the seed is not one; or an unknown option, or a position of another table.
            CallError: after `close`.
        """
        self.vector.reset(seed=seed, options=checked_mapping(options))
        self.agents = self.possible_agents[:]
        agent = self._agent_to_move()
        return {agent: self._observation()}, {agent: self._no_result()}

    def _no_result(self) -> dict[str, Any]:
        """Return the info of an episode that goes on."""
        return {"final_score": [0] * self.vector.teams, "final_winner": NO_TEAM}

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
        """Carry out the action of the seat that is to move.

        Args:
            action_dict: its action by its name, and nothing else.

        Returns:
            Observations, rewards, terminateds, truncateds and infos by agent. terminateds and truncateds have
            the key "__all__" as well; truncateds are always False. Each info has `final_score` (the points
            of each team) and `final_winner` (the winning team, or -1): zeros and -1 before the last step.

        Raises:
            OptionError: `action_dict` does not have exactly the action of the seat that is to move.
            ActionError: the action is no whole number.
            IllegalActionError: (or `ActionError`) with `illegal_action="error"`, an illegal one;
                nothing has happened.
            CallError: before the first `reset`, after the end of an episode, or after `close`.
        """
        self.vector._check_ready("step")
        self._actions[0] = self._action_in(action_dict)
        _, rewards, terminations, _, infos = self.vector.step(self._actions)
        earned = dict(zip(self.possible_agents, rewards[0].tolist(), strict=True))
        over = bool(terminations[0])
        if not over:
            agent = self._agent_to_move()
            nobody = {"__all__": False}
            return {agent: self._observation()}, earned, nobody, nobody.copy(), {agent: self._no_result()}
        every = [*self.possible_agents, "__all__"]
        result = {
            "final_score": infos["final_score"][0].tolist(),
            "final_winner": int(infos["final_winner"][0]),
        }
        return (
            {agent: self._last_observation(seat) for seat, agent in enumerate(self.possible_agents)},
            earned,
            dict.fromkeys(every, True),
            dict.fromkeys(every, False),
            {agent: dict(result) for agent in self.possible_agents},
        )

    def _action_in(self, action_dict: object) -> int:
        """The action that is to be carried out; one that names no play becomes one that is not legal."""
        agent = self._agent_to_move()
        if not isinstance(action_dict, Mapping) or list(action_dict) != [agent]:
            given = sorted(action_dict) if isinstance(action_dict, Mapping) else action_dict
            raise OptionError(
                f"action_dict has {shown(given)}; {agent} is to move, so it must be {{{agent!r}: action}} "
                "and nothing else"
            )
        number = action_number(action_dict[agent])
        if number is None:
            raise ActionError(
                f"{agent}: the action is {shown(action_dict[agent])}; it must be a whole number, such as 0"
            )
        # The engine would leave a game with a negative action as it is.
        return number if 0 <= number < self._num_actions else self._num_actions

    def _agent_to_move(self) -> str:
        agent: str = self.possible_agents[int(self.vector.agent_selection[0])]
        return agent

    def _observation(self) -> Observation:
        """Of the seat that is to move."""
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
        """The table as text, all hands shown.

        Raises:
            OptionError: the game has no drawing of its table.
            CallError: before the first `reset`.
        """
        self.vector.game.hook("render.draw", "render")
        return str(self.vector.render())

    def close(self) -> None:
        """Free the game; `reset` and `step` raise `CallError` from now on."""
        self.vector.close()

    def legal_actions(self) -> dict[int, str]:
        """The ids of what the seat that is to move may do, with what a person calls them.

        Raises:
            CallError: before the first `reset`, or after `close`.
        """
        return self.vector.legal_actions(0)


def _options_of(config: object) -> dict[str, Any]:
    """All options, those that were left out with their usual values.

    Raises:
        OptionError: there is no such option, or the config is no dictionary.
    """
    if config is not None and not isinstance(config, Mapping):
        raise OptionError(f"env_config is {shown(config)}; it must be a dictionary of options")
    given = dict(config or {})
    for name in given:
        if name not in USUAL_OPTIONS:
            known = list(USUAL_OPTIONS)
            raise OptionError(
                f"env_config got an unexpected keyword argument {shown(name)}; the options are "
                f"{', '.join(known)}."
                f"{closest(name, known)}"
            )
    return {**USUAL_OPTIONS, **given}

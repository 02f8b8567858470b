"""One game as a PettingZoo AEC environment.

It wraps a vector environment of one game (a test compares the two step by step) and adds PettingZoo's
bookkeeping. An agent can act twice in a row (a safety gives another play) or out of turn (a coup fourré).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from pettingzoo import AECEnv

from millebornes_env._util.arguments import action_number, at_least_one, flag
from millebornes_env._util.guard import Guard, alone
from millebornes_env._util.texts import print_text
from millebornes_env.engine.batch import NO_GAME
from millebornes_env.engine.kernels import Buffers
from millebornes_env.engine.rulebook import NO_TEAM
from millebornes_env.envs.illegal_action import illegal_action_error
from millebornes_env.envs.options import MAX_NUM_ENVS, USUAL, checked_mapping
from millebornes_env.envs.rendering import HUMAN, RGB_ARRAY, SVG, checked_mode, modes_here, modes_of, rendered
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import ActionError, CallError, OptionError, shown
from millebornes_env.games.variants import Sheets

Observation = dict[str, npt.NDArray[np.int8]]


class raw_env(AECEnv):  # type: ignore[misc] # noqa: N801 - PettingZoo's name; it has no types
    """One game of Mille Bornes, or of another game, for PettingZoo.

    Observations are dictionaries of `observation` int8[D] (layout: `observation_sections`) and `action_mask`
    int8[A]. The mask is all zero for an agent that is not to act, also after the end of its episode. `infos`
    always have `final_score` and `final_winner`, which are zeros and -1 before the end, and `sheet`, the
    number of the rule sheet, if the game draws sheets. Illegal actions raise
    an error that names the action, so no wrapper is needed. `state()` includes hidden cards. Use an
    environment from one Python thread at a time (else `CallError`).

    Attributes:
        vector: underlying vector environment of one game.
        observation_sections: layout of an observation.
    """

    metadata: dict[str, Any] = {
        "name": "millebornes_v0",
        "render_modes": modes_here(),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(  # noqa: PLR0913 - options, nearly all by keyword
        self,
        edition: Sheets = "parker",
        *,
        players: int = 2,
        teams: int | None = None,
        episode: str = USUAL,
        reward: str = USUAL,
        observe_unseen: bool = True,
        observe_rules: bool | None = None,
        padded: bool = False,
        illegal_action: str = "error",
        render_mode: str | None = None,
        history: bool = False,
        max_cycles: int | None = None,
    ) -> None:
        """Create the environment.

        Args:
            edition: as in `vector_env`: a rule sheet, or a split or list from which each episode draws one.
            players: seats at the table.
            teams: teams at the table; None for the sheet's usual way.
            episode: "round" or "match"; "usual" is the game's usual one, as with `reward`.
            reward: "points" or "win" (see `vector_env`).
            observe_unseen: append the counts of unseen cards to the observation.
            observe_rules: append the table's rules to the observation; None: only if games draw sheets.
            padded: use the layout of the largest table for observations and masks.
            illegal_action: "error", or "terminate" to end the game with a reward of -1 to the agent.
            render_mode: "ansi": `render` returns text; "human": the table is printed after every step; "svg":
                `render` returns SVG text; "rgb_array": pixels (needs the extra `pictures`).
            history: record the events of the game, for `information_state`
            (docs/research/hidden_information.md).
            max_cycles: number of steps after which all agents are truncated; None for no limit.

        Raises:
            TypeError: unknown option.
            MilleBornesError: an argument is invalid; the subclass and the message say which one and why.
        """
        super().__init__()
        if max_cycles is not None:
            max_cycles = at_least_one("max_cycles", max_cycles, MAX_NUM_ENVS, OptionError)
        self._max_cycles = max_cycles
        self.vector = VectorEnv(
            1,
            edition,
            players=players,
            teams=teams,
            episode=episode,
            reward=reward,
            autoreset_mode="disabled",
            observe_unseen=observe_unseen,
            observe_rules=observe_rules,
            padded=padded,
            illegal_action=illegal_action,
            history=history,
        )
        if render_mode is not None:
            checked_mode(render_mode, self.vector.game, self.metadata["render_modes"])
        metadata = {"name": self.vector.metadata["name"], "render_modes": modes_of(self.vector.game)}
        if metadata != {name: self.metadata[name] for name in metadata}:
            self.metadata = {**self.metadata, **metadata}
        self.render_mode = render_mode
        self.possible_agents = list(self.vector.possible_agents)
        self.agents: list[str] = []
        self.observation_sections = self.vector.observation_sections
        spaces = self.vector.single_observation_space.spaces
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict(
                {"observation": spaces["observation"], "action_mask": spaces["action_mask"]}
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: gymnasium.spaces.Discrete(self.vector.single_action_space.n)
            for agent in self.possible_agents
        }
        self._num_actions = int(self.vector.single_action_space.n)
        size = self.vector.state_sections[-1].stop
        self.state_space = gymnasium.spaces.Box(0, 127, (size,), np.int8)
        self._actions = np.zeros(1, np.int64)
        self._agent_selection: str | None = None
        self._steps = 0
        self._was_reset = False
        self._guard: Guard = self.vector._guard

    @property
    def _buffers(self) -> Buffers:
        return self.vector.games.buffers

    @property
    def agent_selection(self) -> str:
        """The agent to act.

        Raises:
            CallError: before the first `reset`.
        """
        if self._agent_selection is None:
            raise CallError("no agent is to act yet: call reset() first")
        return self._agent_selection

    @agent_selection.setter
    def agent_selection(self, agent: str) -> None:
        self._agent_selection = self._checked_agent(agent)

    def _checked_agent(self, agent: object) -> str:
        """Return the agent's name; raise `OptionError` if the table has no such agent."""
        if not isinstance(agent, str) or agent not in self.possible_agents:
            raise OptionError(f"there is no agent {shown(agent)}; the agents are {self.possible_agents}")
        return agent

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return a dictionary space of `observation` int8[D] and `action_mask` int8[A].

        Raises:
            OptionError: no such agent.
        """
        return self.observation_spaces[self._checked_agent(agent)]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return `Discrete(A)`.

        Raises:
            OptionError: no such agent.
        """
        return self.action_spaces[self._checked_agent(agent)]

    @alone
    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new episode.

        Args:
            seed: 0 to 2**64 - 1; None continues with the next episode (at first, of a random seed).
            options: `{"positions": ...}` begins at a position instead of a deal (`VectorEnv.reset`); other
                options are ignored.

        Raises:
            OptionError: invalid seed, options that are not a dictionary, or a position of another table.
            NotationError: the text is not a valid position.
            CallError: after `close`.
        """
        # PettingZoo's own tests pass meaningless options.
        positions = {name: value for name, value in checked_mapping(options).items() if name == "positions"}
        self.vector.reset(seed=seed, options=positions)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._set_infos([0] * self.vector.teams, NO_TEAM)
        self._steps = 0
        self._skip_agent_selection = None
        self._was_reset = True
        self._agent_selection = self._agent_to_act()
        if self.render_mode == "human":
            self.render()

    def _agent_to_act(self) -> str:
        return self.possible_agents[self._buffers.agent_selection.item(0)]

    @alone
    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, cumulative reward, termination, truncation and info of the agent to act.

        Raises:
            CallError: before the first `reset`, after the last agent's episode, or after `close`.
            OptionError: `observe` is neither True nor False.
        """
        agent = self._acting_agent()
        # Tianshou's PettingZooEnv passes itself here.
        is_observed = observe is True or isinstance(observe, AECEnv) or flag("observe", observe)
        return (
            self._observe(agent) if is_observed else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    @alone
    def observe(self, agent: str) -> Observation:
        """Return the agent's observation in newly allocated arrays.

        Raises:
            CallError: before the first `reset`, or after `close`.
            OptionError: no such agent.
        """
        self._check_reset()
        return self._observe(self._checked_agent(agent))

    def _observe(self, agent: str) -> Observation:
        buffers = self._buffers
        if agent == self._agent_selection and not self._is_over(agent):
            return {
                "observation": buffers.observation[0].copy(),
                "action_mask": buffers.action_mask[0].copy(),
            }
        seat = self.possible_agents.index(agent)
        return {
            "observation": self.vector.observe(seat)[0],
            "action_mask": np.zeros_like(buffers.action_mask[0]),
        }

    @alone
    def step(self, action: int | None) -> None:
        """Apply the action of the agent to act.

        Args:
            action: action id; None for an agent whose episode is over.

        Raises:
            IllegalActionError: the rules forbid the action; nothing has changed.
            ActionError: the id is out of range or not a whole number.
            CallError: before the first `reset`, after the last agent's episode, or after `close`.
        """
        agent = self._acting_agent()
        if self._is_over(agent):
            if action is not None:
                raise ActionError(
                    f"{agent}: its episode is over, so its action must be None; got {shown(action)}"
                )
            self._was_dead_step(action)
            return
        self._apply_action(action)
        self._cumulative_rewards[agent] = 0.0
        buffers = self._buffers
        (earned,) = buffers.rewards.tolist()
        if any(earned):
            self.rewards = dict(zip(self.agents, earned, strict=True))
            self._accumulate_rewards()
        elif any(self.rewards.values()):
            self.rewards = dict.fromkeys(self.agents, 0.0)
        self._agent_selection = self._agent_to_act()
        self._steps += 1
        if buffers.terminations.item(0):
            self._end()
        elif self._steps == self._max_cycles:
            self.truncations = dict.fromkeys(self.agents, True)
        if self.render_mode == "human":
            self.render()

    def _apply_action(self, action: object) -> None:
        number = action_number(action)
        if number is None:
            raise ActionError(
                f"{self.agent_selection}: the action is {shown(action)}; it must be a whole number, the id "
                "of an action (or None for an agent whose episode is over)"
            )
        # Negative ids would skip the game, so ids out of range become one that the engine rejects.
        self._actions[0] = number if 0 <= number < self._num_actions else self._num_actions
        if self.vector.games.step(self._actions) != NO_GAME:
            games, rules, names = self.vector.games, self.vector.rules_of(), self.possible_agents
            raise illegal_action_error(games.rulebook, games.states[0], rules, names, number)
        if self.vector.history is not None:
            self.vector.history.record(self.vector.games, self._actions)

    def _end(self) -> None:
        self.terminations = dict.fromkeys(self.agents, True)
        self._set_infos(self._buffers.final_score[0].tolist(), int(self._buffers.final_winner[0]))

    def _set_infos(self, points: list[int], winner: int) -> None:
        self.infos: dict[str, dict[str, Any]] = {
            agent: {"final_score": points.copy(), "final_winner": winner, **self.vector._sheet_of_one()}
            for agent in self.agents
        }

    def _is_over(self, agent: str) -> bool:
        """Return True if the agent's episode has ended, or the agent has left."""
        return self.terminations.get(agent, True) or self.truncations[agent]

    def _acting_agent(self) -> str:
        """Return the agent to act; raise CallError if there is none."""
        agent = self._agent_selection
        if agent is None or not self.agents or self.vector.closed:
            self._check_reset()
            raise CallError("the episode is over for all agents: call reset()")
        return agent

    def _check_reset(self) -> None:
        if self.vector.closed or not self._was_reset:
            self.vector._check_open()
            raise CallError("the environment was not reset: call reset() first")

    @alone
    def state(self) -> npt.NDArray[np.int8]:
        """Return the full state, including hidden cards and the draw pile (`vector.state_sections`)."""
        self._check_reset()
        state: npt.NDArray[np.int8] = self.vector.state()[0]
        return state

    @alone
    def render(self) -> Any:
        """Render the table with all hands shown, and the score sheet when the round is over.

        Returns:
            Text, SVG text, or pixels uint8[H, W, 3]; None in the mode "human", which prints the text, and
            without a render mode.

        Raises:
            CallError: before the first `reset`, or after `close`.
        """
        if self.render_mode is None:
            modes = ", ".join(self.metadata["render_modes"])
            gymnasium.logger.warn(f"render() needs a render_mode when the environment is made: {modes}.")
            return None
        self._check_reset()
        game, rules = self.vector.games.states[0], self.vector.rules_of()
        entry = self.vector.game
        picture = rendered(entry, game, rules, self.render_mode)
        if self.render_mode in (SVG, RGB_ARRAY):
            return picture
        if self._buffers.terminations[0]:
            picture += entry.end_of_drawing(game, rules)
        if self.render_mode == HUMAN:
            print_text(picture, end="\n\n")
            return None
        return picture

    def _repr_html_(self) -> str | None:
        """Return the table as SVG for notebooks; None before the first `reset`."""
        return self.vector._repr_html_()

    @alone
    def describe(self, agent: str | int) -> str:
        """Describe an agent's observation in words; hidden cards are not shown.

        Args:
            agent: its name, or its seat.

        Raises:
            OptionError: no such agent.
            CallError: before the first `reset`, or after `close`.
        """
        self._check_reset()
        seat = self.possible_agents.index(self._checked_agent(agent)) if isinstance(agent, str) else agent
        return self.vector.describe(seat)

    @alone
    def information_state(self, agent: str, *, form: str = "bytes", compact: bool = False) -> Any:
        """Return a key of the agent's information state, with perfect recall.

        Args:
            agent: its name.
            form: "bytes", "text" or "tensor" (int8[K]).
            compact: encode only public events and the agent's current cards (`VectorEnv.information_states`).

        Raises:
            OptionError: the environment has no history (`history=True`), or no such agent or form.
            CallError: before the first `reset`, or after `close`.
        """
        self._check_reset()
        seat = self.possible_agents.index(self._checked_agent(agent))
        return self.vector.information_states(seat, form=form, compact=compact)[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of an observation (`VectorEnv.columns`)."""
        return self.vector.columns

    def section(self, name: str) -> slice:
        """Return the columns of a section of an observation (`VectorEnv.section`)."""
        return self.vector.section(name)

    @alone
    def legal_actions(self) -> dict[int, str]:
        """Return the ids and names of the acting agent's legal actions; empty once the episode is over.

        Raises:
            CallError: before the first `reset`, or after `close`.
        """
        self._check_reset()
        return {} if not self.agents or self._is_over(self.agent_selection) else self.vector.legal_actions()

    def close(self) -> None:
        """Close the environment; later calls raise `CallError`."""
        self.vector.close()


env = raw_env
"""One game for PettingZoo.

The environment itself checks for illegal actions and the order of calls, with better messages than
PettingZoo's wrappers, so it needs none of them.
"""

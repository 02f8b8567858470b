"""What an agent is: a batch of observations and masks in, a batch of actions out."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from millebornes_env import Rules, VectorEnv
from millebornes_env.agents.errors import AgentArgumentError
from millebornes_env.engine.kernels import SKIP
from millebornes_env.errors import shown
from millebornes_env.millebornes.sections import Section
from millebornes_env.millebornes.state import ROUND_OVER, StateArray

Observations = npt.NDArray[np.int8]
Masks = npt.NDArray[np.int8]
Actions = npt.NDArray[np.int64]
SlotIds = npt.NDArray[np.int64]


class Agent(Protocol):
    """Chooses for one seat in many games at once; which seat does not matter, observations are relative.

    An agent that remembers what it saw takes a third argument of `act`: `slot_ids`, int64[N] or None, numbers
    that tell apart who sits where (such as `game * players + seat`), so that it can remember for each; it is
    left away for agents that do not take it. If it has a method `forget()`, the arena calls that when other
    games begin in the same slots.

    Attributes:
        name: what tables of results call it.
    """

    name: str

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose an action for each row.

        Args:
            observations: int8[N, D], what the deciding seats see.
            action_masks: int8[N, A], 1 where an action is legal; each row has at least one, if its round is
                not over.

        Returns:
            int64[N], a legal action for each row; where a round is over and nothing is to be chosen, what the
            mask allows, or else SKIP (-1), which leaves the game as it is.
        """
        ...


@runtime_checkable
class StateAgent(Protocol):
    """An agent that wants the games themselves: to play them on from here, or to peek."""

    name: str

    def act_on(self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds) -> Actions:
        """Choose an action for one seat of each game.

        Args:
            states: STATE[N], the games; they must not be changed.
            seats: int32[N], who chooses.
            slot_ids: int64[N], as for `Agent`.

        Returns:
            int64[N], a legal action for each game; SKIP (-1) where the round is over.
        """
        ...


def is_state_agent(agent: object) -> TypeGuard[StateAgent]:
    """Whether the agent wants the games themselves (faster than `isinstance`, which looks at all of it)."""
    return hasattr(agent, "act_on")


def sees_hidden_cards(agent: Agent) -> bool:
    """Whether the agent sees more than its seat does; it says so itself."""
    return bool(getattr(agent, "sees_hidden_cards", False))


@functools.lru_cache(maxsize=256)
def _takes_slot_ids(act: Any) -> bool:
    """Whether a function has the argument; to look takes longer than an agent may take to choose."""
    return "slot_ids" in inspect.signature(act).parameters


def ask(agent: Agent, observations: Observations, action_masks: Masks, slot_ids: SlotIds) -> Actions:
    """`agent.act`, with `slot_ids` if it takes them.

    Args:
        agent: any agent.
        observations: int8[N, D].
        action_masks: int8[N, A].
        slot_ids: int64[N].

    Returns:
        What the agent returned, unchecked.
    """
    act = agent.act
    if _takes_slot_ids(getattr(act, "__func__", act)):
        return act(observations, action_masks, slot_ids=slot_ids)  # type: ignore[call-arg]
    return act(observations, action_masks)


def ask_in(env: VectorEnv, agent: Agent, observations: dict[str, npt.NDArray[Any]]) -> Actions:
    """What an agent does in all games of an environment, by the way in that it has.

    Args:
        env: whose turn it is there is asked about.
        agent: any agent.
        observations: of the environment's last step or reset.

    Returns:
        What the agent returned, unchecked.
    """
    seats = env.agent_selection.astype(np.int32)
    slot_ids = np.arange(env.num_envs) * env.players + seats
    if is_state_agent(agent):
        states = env.get_states()
        actions = np.array(agent.act_on(states, seats, slot_ids))
        actions_of_ended(observations["action_mask"], actions, states["phase"] == ROUND_OVER)
        return actions
    return ask(agent, observations["observation"], observations["action_mask"], slot_ids)


def actions_of_ended(action_masks: Any, actions: Actions, ended: npt.NDArray[np.bool_]) -> None:
    """Write what is done where a round is over and nobody is to choose: what the mask allows, else SKIP.

    An environment that begins the next episode in its next step allows anything; others leave the game alone.

    Args:
        action_masks: int8[N, A] or None.
        actions: int64[N], overwritten where a round is over.
        ended: bool[N].
    """
    actions[ended] = SKIP
    if action_masks is not None:
        masks: Masks = np.asarray(action_masks)
        allowed = ended & masks.any(axis=1)
        actions[allowed] = masks[allowed].argmax(axis=1)


@dataclass(frozen=True)
class Table:
    """What an agent is told about the table that it will play at.

    Attributes:
        edition: name of the rule sheet, with what was overridden.
        rules: of the table.
        sections: layout of the observations.
        observation_version: of that layout.
        num_actions: A.
    """

    edition: str
    rules: Rules
    sections: tuple[Section, ...]
    observation_version: int
    num_actions: int

    @classmethod
    def of(cls, env: VectorEnv) -> Table:
        """The table of an environment.

        Raises:
            AgentArgumentError: it is no vector environment.
        """
        given: object = env
        if not isinstance(given, VectorEnv):
            raise AgentArgumentError(f"a Table is that of a vector environment, not of {shown(given)}")
        return cls(
            edition=env.edition.label,
            rules=env.rules,
            sections=env.observation_sections,
            observation_version=env.observation_version,
            num_actions=int(env.single_action_space.n),
        )

    def section(self, observations: Observations, name: str) -> npt.NDArray[np.int64]:
        """The numbers of one section of the observations, int64[N, size] (safe to calculate with)."""
        for section in self.sections:
            if section.name == name:
                return observations[:, section.start : section.stop].astype(np.int64)
        raise KeyError(f"the observations have no section {name!r}")


def best_legal(preference: npt.NDArray[np.int64], action_masks: Masks) -> Actions:
    """The legal action that is preferred most; the lowest id where two are equal.

    Args:
        preference: int64[A] or int64[N, A], the higher the better.
        action_masks: int8[N, A].

    Returns:
        int64[N].
    """
    lowest = np.iinfo(np.int64).min
    chosen: Actions = np.where(action_masks != 0, preference, lowest).argmax(axis=1)
    return chosen

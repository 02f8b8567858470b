"""Agents as policies of small games: one query at each information set."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.protocol import Agent, Masks, ask, forget, sees_hidden_cards
from millebornes_env.agents.registry import Spec, load
from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.envs.vector import vector_env
from millebornes_env.errors import SolvingError
from millebornes_env.games.millebornes.observation import write_observation
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec
from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.policies import FunctionPolicy
from millebornes_env.solving.values import Policy, Uniform

SAMPLE: Final = "sample"


def policy_of(spec: Spec, game: Solvable, seed: int = 0) -> Policy:
    """Return an agent as a policy of both seats.

    An agent that has `probabilities` and samples (`mode=sample`) is a mixed policy; `random` is the uniform
    policy, `equilibrium` the policy in its file. Any other agent acts once at each information set, with an
    empty memory, and its action is taken as a deterministic choice.

    Args:
        spec: the agent, as for `agents.load`.
        game: from `solving.deck.solvable`.
        seed: seed of the agent's random numbers.

    Raises:
        SolvingError: the agent sees hidden cards, so its actions are not a policy.
        MilleBornesError: as `agents.load`.
    """
    env = vector_env(1, game.name, players=2)
    agent = load(spec, env, seed)
    if sees_hidden_cards(agent):
        raise SolvingError(
            f"{agent.name!r} sees hidden cards, so its actions depend on more than a seat sees"
        )
    table = getattr(agent, "policy_of_both_seats", None)
    if table is not None:
        result: Policy = table()
        return result
    if agent.name == "random":
        return Uniform()
    return FunctionPolicy(agent.name, _AgentFunction(agent, game, env.observation_sections[-1].stop))


class _AgentFunction:
    """Policy function that calls an agent, one thread at a time because the agent may keep state."""

    def __init__(self, agent: Agent, game: Solvable, width: int) -> None:
        self._agent = agent
        self._game = game
        self._width = width
        self._lock = Lock()
        self._is_mixed = getattr(agent, "mode", None) == SAMPLE and hasattr(agent, "probabilities")

    def __call__(self, states: StateArray, masks: Masks) -> npt.NDArray[Any]:
        rows = np.zeros((len(states), self._width), np.int8)
        write_rows(states, self._game.record, DEFAULT_SPEC, rows)
        with self._lock:
            if self._is_mixed:
                mixed: Any = self._agent
                weights: npt.NDArray[Any] = mixed.probabilities(rows, masks)
                return weights
            forget(self._agent)
            actions = ask(self._agent, rows, masks, np.arange(len(states)), states.copy)
        weights = np.zeros(masks.shape)
        in_range = (actions >= 0) & (actions < masks.shape[1])
        weights[np.flatnonzero(in_range), actions[in_range]] = 1.0
        return weights


@kernel
def write_rows(
    states: StateArray, rules: RulesRecord, spec: ObservationSpec, rows: npt.NDArray[np.int8]
) -> None:
    """Write the observation of the deciding seat of each game into `rows`."""
    for at in range(len(states)):
        write_observation(states[at], rules, int(states[at].seat), spec, rows[at])

"""NFSP (Heinrich and Silver 2016) by OpenSpiel in PyTorch, on its game `python_mille_bornes`.

OpenSpiel evaluates the game and the networks one decision at a time, so it is the slowest method here. Its
agents see the seat and the observation that ours see, scaled to 0..1; points are in thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.protocol import Table
from millebornes_env.envs.vector import vector_env
from millebornes_env.errors import MissingExtraError
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.nodes import PLAYERS
from millebornes_env.solving.policies import FunctionPolicy, Masks, write_rows
from research.baselines.judging import Task

Float32Array = npt.NDArray[np.float32]

UNIT: Final = 1000.0
"""Points in a unit of reward."""


@dataclass(frozen=True)
class NfspOptions:
    """Options of OpenSpiel's NFSP."""

    hidden: tuple[int, ...] = (128,)
    """widths of the hidden layers"""
    reservoir_buffer_capacity: int = 200_000
    """capacity of the buffer of the average policy, in decisions"""
    replay_buffer_capacity: int = 50_000
    """capacity of the buffer of the best response, in decisions"""
    anticipatory_param: float = 0.1
    """share of the rounds in which a seat plays the best response"""
    batch_size: int = 128
    """minibatch size in decisions"""
    learn_every: int = 64
    """calls of an agent between two steps"""
    rl_learning_rate: float = 1e-3
    """learning rate of the best response"""
    sl_learning_rate: float = 1e-3
    """learning rate of the average policy"""
    epsilon_start: float = 0.1
    """initial share of random actions of the best response"""
    epsilon_end: float = 0.001
    """final share of random actions of the best response"""
    optimizer_str: str = "adam"
    """adam or sgd"""


class Encoder:
    """Inputs of OpenSpiel's agents: the seat, and a scaled observation."""

    def __init__(self, game: Solvable) -> None:
        """Read the scale of the table."""
        env = vector_env(1, game.name, players=PLAYERS)
        self._game = game
        self._width = env.observation_sections[-1].stop
        self._scale = np.append(np.ones(PLAYERS, np.float32), observation_scale(Table.of(env)))

    def encode_states(self, states: StateArray) -> Float32Array:
        """Return the inputs of the deciding seats, float32[N, 2 + D]."""
        rows = np.zeros((len(states), self._width), np.int8)
        write_rows(states, self._game.record, DEFAULT_SPEC, rows)
        seats = np.eye(PLAYERS, dtype=np.float32)[states["seat"]]
        inputs: Float32Array = np.concatenate([seats, rows], axis=1) * self._scale
        return inputs

    def scaled(self, row: Sequence[float]) -> Float32Array:
        """Return the inputs from an observation of OpenSpiel."""
        inputs: Float32Array = np.asarray(row, np.float32) * self._scale
        return inputs

    def encode_time_step(self, step: Any) -> Any:
        """Scale the observations of a time step of OpenSpiel, and its rewards to thousands of points."""
        rows = [self.scaled(row) for row in step.observations["info_state"]]
        rewards = None if step.rewards is None else [reward / UNIT for reward in step.rewards]
        return step._replace(observations={**step.observations, "info_state": rows}, rewards=rewards)


def learn_by_nfsp(task: Task, options: NfspOptions) -> None:
    """Learn by NFSP, and evaluate the average policy.

    Raises:
        MissingExtraError: OpenSpiel or PyTorch is not installed.
    """
    try:
        import pyspiel  # noqa: PLC0415 - an extra
        from open_spiel.python import rl_environment  # noqa: PLC0415
        from open_spiel.python.pytorch import nfsp  # noqa: PLC0415

        import millebornes_env.solving.openspiel  # noqa: F401, PLC0415 - registers the game
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("NFSP", missing, "train,openspiel") from None
    import torch  # noqa: PLC0415 - slow to load

    torch.set_num_threads(1)
    game = pyspiel.load_game("python_mille_bornes", {"edition": task.game.name})
    env = rl_environment.Environment(game, observation_type=rl_environment.ObservationType.OBSERVATION)
    env.seed(task.seed)
    encoder = Encoder(task.game)
    size = env.observation_spec()["info_state"][0]
    given = {name: value for name, value in vars(options).items() if name != "hidden"}
    agents = [
        nfsp.NFSP(
            player_id=seat,
            state_representation_size=size,
            num_actions=env.action_spec()["num_actions"],
            hidden_layers_sizes=list(options.hidden),
            seed=PLAYERS * task.seed + seat,
            epsilon_decay_duration=task.samples,
            **given,
        )
        for seat in range(PLAYERS)
    ]
    decisions = 0
    for mark in task.marks():
        with task.learning():
            while decisions < mark:
                decisions += _round(env, agents, encoder)
        task.judge(decisions, _average_policy(agents, encoder))


def _round(env: Any, agents: list[Any], encoder: Encoder) -> int:
    """Play and learn from a round; return its number of decisions."""
    step = encoder.encode_time_step(env.reset())
    decisions = 0
    while not step.last():
        seat = step.observations["current_player"]
        decisions += len(step.observations["legal_actions"][seat]) > 1
        action = agents[seat].step(step).action
        step = encoder.encode_time_step(env.step([action]))
    for agent in agents:
        agent.step(step)
    return decisions


def _average_policy(agents: list[Any], encoder: Encoder) -> FunctionPolicy:
    """Return the average policies of both seats."""
    import torch  # noqa: PLC0415 - slow to load

    def ask(states: StateArray, masks: Masks) -> npt.NDArray[np.float64]:
        seen = torch.from_numpy(encoder.encode_states(states))
        logits = np.zeros(masks.shape)
        for seat, agent in enumerate(agents):
            mine = states["seat"] == seat
            with torch.no_grad():
                logits[mine] = agent._avg_network(seen[torch.from_numpy(mine)]).numpy()[:, : masks.shape[1]]
        logits[masks == 0] = -np.inf
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: npt.NDArray[np.float64] = policy / policy.sum(axis=1, keepdims=True)
        return chances

    return FunctionPolicy("nfsp", ask)

"""ESCHER (McAleer et al. 2023) by OpenSpiel in PyTorch, on its game `python_mille_bornes`.

Its networks get what those of `nfsp.py` get: the seat and a scaled observation; those of values, which only
learning uses, get them of both seats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import MissingExtraError
from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.solving.policies import FunctionPolicy, Masks
from research.baselines.judging import Task
from research.baselines.nfsp import UNIT, Encoder

_NETWORKS: Final = ("value", "regret", "avg_policy")  # in the names of OpenSpiel's options


@dataclass(frozen=True)
class EscherOptions:
    """Options of OpenSpiel's ESCHER; each of the three networks has the same size and buffer."""

    hidden: tuple[int, ...] = (128,)
    """widths of the hidden layers"""
    memory_capacity: int = 200_000
    """capacity of a buffer, in decisions"""
    batch_size: int = 256
    """minibatch size in decisions"""
    learning_rate: float = 1e-3
    """learning rate"""
    value_traversals: int = 400
    """rounds in each iteration from which the values of a seat are learned"""
    value_exploration: float = 0.1
    """share of random actions in them"""
    value_batch_steps: int = 1000
    """steps of the network of values in each iteration"""
    regret_traversals: int = 100
    """rounds in each iteration from which the regrets of a seat are learned"""
    regret_batch_steps: int = 750
    """steps of a network of regrets in each iteration"""
    avg_policy_batch_steps: int = 2500
    """steps of the network of the average policy before each evaluation"""


class ObservedState:
    """A state of OpenSpiel whose information states are observations, and whose points are in thousands."""

    def __init__(self, game: ObservedGame, state: Any) -> None:
        """Wrap a state."""
        self._game, self._state = game, state

    def __getattr__(self, name: str) -> Any:
        """Return what is the same in OpenSpiel's state."""
        return getattr(self._state, name)

    def child(self, action: int) -> ObservedState:
        """Return the state after an action or a card."""
        return ObservedState(self._game, self._state.child(action))

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Return the inputs of a seat, or of the deciding one, which ESCHER asks for once per decision."""
        if player is None:
            self._game.decisions += len(self._state.legal_actions()) > 1
            player = self._state.current_player()
        inputs: list[float] = self._game.encoder.scaled(self._state.observation_tensor(player)).tolist()
        return inputs

    def returns(self) -> list[float]:
        """Return the payoffs so far, in thousands of points."""
        return [payoff / UNIT for payoff in self._state.returns()]


class ObservedGame:
    """A game of OpenSpiel with states that ESCHER learns from.

    Attributes:
        encoder: makes the inputs.
        decisions: number of decisions so far at which there was a choice.
    """

    def __init__(self, game: Any, encoder: Encoder) -> None:
        """Wrap a game."""
        self._game, self.encoder, self.decisions = game, encoder, 0

    def __getattr__(self, name: str) -> Any:
        """Return what is the same in OpenSpiel's game."""
        return getattr(self._game, name)

    def new_initial_state(self) -> ObservedState:
        """Return the state before the deal."""
        return ObservedState(self, self._game.new_initial_state())

    def information_state_tensor_size(self) -> int:
        """Return the number of inputs of a seat."""
        return int(self._game.observation_tensor_size())


def learn_by_escher(task: Task, options: EscherOptions) -> None:
    """Learn by ESCHER, and evaluate the average policy.

    Raises:
        MissingExtraError: OpenSpiel or PyTorch is not installed.
    """
    try:
        import pyspiel  # noqa: PLC0415 - an extra
        import torch  # noqa: PLC0415
        from open_spiel.python.pytorch import escher  # noqa: PLC0415

        import millebornes_env.solving.openspiel  # noqa: F401, PLC0415 - registers the game
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("ESCHER", missing, "train,openspiel") from None
    torch.set_num_threads(1)
    encoder = Encoder(task.game)
    game = ObservedGame(pyspiel.load_game("python_mille_bornes", {"edition": task.game.name}), encoder)
    agent, iteration = escher.Agent(game, _config(escher, options)), escher.TrainConfig(game)
    # Only now: OpenSpiel's networks set both generators to 42 when they are made.
    torch.manual_seed(task.seed)
    np.random.seed(task.seed)
    for network in (agent.avg_policy_net, *agent.regret_nets, *agent.value_nets):
        for layer in network.modules():
            if isinstance(layer, torch.nn.Linear):
                layer.reset_parameters()
    for mark in task.marks():
        with task.learning():
            while game.decisions < mark:
                escher._train_regret(iteration, agent)
                agent.t += 1
                task.on_progress(game.decisions / task.samples)
            escher._train_avg_policy(agent)
        task.judge(game.decisions, _average_policy(agent, encoder))


def _config(escher: Any, options: EscherOptions) -> Any:
    """Return the options under OpenSpiel's names."""
    config, given = escher.Config(), dict(vars(options))
    shared = {"net": list(given.pop("hidden"))}
    shared |= {name: given.pop(name) for name in ("memory_capacity", "batch_size", "learning_rate")}
    given |= {f"{network}_{name}": value for network in _NETWORKS for name, value in shared.items()}
    for name, value in given.items():
        setattr(config, name, value)
    return config


def _average_policy(agent: Any, encoder: Encoder) -> FunctionPolicy:
    """Return the average policy."""
    import torch  # noqa: PLC0415 - slow to load

    def ask(states: StateArray, masks: Masks) -> npt.NDArray[np.float64]:
        with torch.no_grad():
            logits = agent.avg_policy_net(torch.from_numpy(encoder.encode_states(states)))
        logits = logits[:, : masks.shape[1]].masked_fill(torch.from_numpy(masks == 0), -torch.inf)
        chances: npt.NDArray[np.float64] = logits.double().softmax(dim=1).numpy()
        return chances

    return FunctionPolicy("escher", ask)

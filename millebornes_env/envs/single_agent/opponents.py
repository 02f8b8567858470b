"""The opponents: agents in the seats that do not learn, created for the table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env._util.texts import items_of
from millebornes_env.agents import Spec, make
from millebornes_env.agents.compiled.agent import MAX_OPTIONS
from millebornes_env.agents.protocol import Agent, Table, ask, forget, is_compiled
from millebornes_env.engine.rulebook import StateArray, TableRules
from millebornes_env.envs.single_agent.kernels import FEWEST_CHOICES, NOBODY, Others
from millebornes_env.errors import AgentError, OptionError, shown

Function = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], npt.ArrayLike]
"""Observations int8[N, D] and action masks int8[N, A] in, actions [N] out: an agent's `act`, for example."""


class Model(Protocol):
    """A trained model that knows masks, such as MaskablePPO of sb3-contrib."""

    def predict(self, observation: Any, *, action_masks: Any) -> tuple[npt.NDArray[Any], Any]:
        """Return actions for observations as the learner sees them, and a state that is not used."""
        ...


Given = Spec | Function | Model | Sequence[Spec | Function | Model]
"""One opponent for all seats, or several."""

_MOST_GIVEN = 1 << 10


class FunctionAgent:
    """A function of observations and masks as an agent.

    Attributes:
        name: the function's.
    """

    def __init__(self, function: Function) -> None:
        """Wrap a function that chooses actions."""
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self._function = function

    def act(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Return the actions of the function."""
        return self._function(observations, action_masks)  # type: ignore[return-value] # `ask` checks it


View = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], Any]
"""Observations and action masks in, what the learner sees out."""


class ModelAgent:
    """A trained model as an agent; it sees what the learner sees.

    Attributes:
        name: name of the model's class.
    """

    def __init__(self, model: Any, view: View) -> None:
        """Wrap a model whose `predict` takes `action_masks`, such as MaskablePPO of sb3-contrib.

        Raises:
            OptionError: `predict` takes no `action_masks`.
        """
        options = inspect.signature(model.predict).parameters.values()
        if not any(one.name == "action_masks" or one.kind is one.VAR_KEYWORD for one in options):
            raise OptionError(
                f"the opponent is {shown(model)}, whose predict() takes no action_masks, so that it would "
                "play illegal actions; use MaskablePPO of sb3-contrib or a function of observations and masks"
            )
        self.name, self._model, self._view = type(model).__name__, model, view

    def act(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Return the actions that the model predicts."""
        view, masks = self._view(observations, action_masks), action_masks.astype(np.bool_)
        return np.asarray(self._model.predict(view, action_masks=masks)[0])


def _as_spec(given: Any, view: View) -> Any:
    """Return an opponent in a form that `agents.make` takes: functions and models become agents."""
    if hasattr(given, "predict") and not hasattr(given, "act"):
        return ModelAgent(given, view)
    is_function = callable(given) and not isinstance(given, type) and not hasattr(given, "act")
    return FunctionAgent(given) if is_function else given


def specs_by_place(opponent: object, partner: object, rules: TableRules, view: View) -> list[Spec]:
    """Return the agents' specs, ordered by the number of seats to the learner's left, from 1.

    Args:
        opponent: as in `SingleAgentEnv`.
        partner: an agent for the learner's partners, in the same forms.
        rules: of the table.
        view: for models.

    Raises:
        OptionError: a list of another length, a partner for a learner who has none, or a model without masks.
    """
    players, teams = rules.players, rules.teams
    listed = _listed(opponent)
    places = range(1, players)
    if partner is not None and players == teams:
        raise OptionError(
            f"partner is {shown(partner)}, but at this table each seat plays alone: leave it out"
        )
    if listed is None:
        chosen: list[Any] = [opponent] * len(places)
    elif len(listed) == players - 1:
        chosen = listed
    elif len(listed) == teams - 1:
        chosen = [listed[max(place % teams, 1) - 1] for place in places]
    else:
        by_team = "" if players == teams else f", or {teams - 1}, one for each other team"
        raise OptionError(
            f"opponent is a list of {len(listed)}; it must have {players - 1}, one for each other seat from "
            f"the learner's left on{by_team}; or be one agent for all"
        )
    if partner is not None:
        chosen = [partner if place % teams == 0 else one for place, one in zip(places, chosen, strict=True)]
    agents = {id(one): _as_spec(one, view) for one in chosen}  # a function in several seats is one agent
    return [agents[id(one)] for one in chosen]


def _listed(opponent: object) -> list[Any] | None:
    """Return the opponents if they are a list; None if there is only one."""
    if isinstance(opponent, (str, Path)) or not isinstance(opponent, Sequence):
        return None
    return items_of(opponent, _MOST_GIVEN)


def _seed_of(seed: int, number: int) -> int:
    """Return a distinct seed for each agent's random numbers."""
    return int(np.random.SeedSequence((seed, number)).generate_state(1, np.uint64)[0])


class Opponents:
    """The agents in the other seats.

    Attributes:
        agents: each of them once, however many seats it has.
        all_compiled: True if all of them are compiled functions.
        others: what the compiled loop takes of them.
    """

    def __init__(self, by_place: Sequence[Spec], table: Table, others: tuple[int, int]) -> None:
        """Make the agents for the table.

        Args:
            by_place: from `specs_by_place`.
            table: the table that they play at.
            others: `fixed_seat` and `restarts` of `Others`.

        Raises:
            AgentError: there is no such agent, or it does not play this game.
            MilleBornesError: any other error of `agents.make`.
        """
        self._table = table
        self._specs: list[Spec] = []
        agent_at = np.full(len(by_place) + 1, NOBODY, np.int32)
        for place, spec in enumerate(by_place, 1):
            number = next((n for n, known in enumerate(self._specs) if _is_same(known, spec)), -1)
            if number < 0:
                number = len(self._specs)
                self._specs.append(spec)
            agent_at[place] = number
        self._agent_at, self._fixed_seat, self._restarts = agent_at, *others
        self.agents: list[Agent] = [make(spec, table) for spec in self._specs]
        self.all_compiled = all(map(is_compiled, self.agents))
        self.others = self._for_kernels()

    def begin(self, seed: int | None) -> None:
        """Reset the memory of all agents, because all games begin again.

        Args:
            seed: what they choose from now on is a function of it and of what they see. Agents that were
                handed over as objects can only forget. None: their random numbers go on.
        """
        for number, (spec, agent) in enumerate(zip(self._specs, self.agents, strict=True)):
            if is_compiled(agent):
                continue  # their random numbers and memories are with the games
            if seed is not None and isinstance(spec, (str, Path)):
                self.agents[number] = make(spec, self._table, _seed_of(seed, number))
            else:
                forget(agent)

    def _for_kernels(self) -> Others:
        count = max(FEWEST_CHOICES, len(self.agents))
        options = np.zeros((count, MAX_OPTIONS), np.int64)
        compiled = np.zeros(count, np.bool_)
        addresses: list[Any] = [0] * count
        for number, agent in enumerate(self.agents):
            if is_compiled(agent):
                compiled[number], options[number] = True, agent.options
                addresses[number] = agent.address
        return Others(tuple(addresses), options, compiled, self._agent_at, self._fixed_seat, self._restarts)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "others"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self.others = self._for_kernels()  # addresses are those of another process, perhaps

    def choose(
        self,
        number: int,
        observations: npt.NDArray[np.int8],
        action_masks: npt.NDArray[np.int8],
        slot_ids: npt.NDArray[np.int64],
        get_states: Callable[[], StateArray],
    ) -> npt.NDArray[np.int64]:
        """Return the actions that an agent chooses for some games; see `agents.protocol.ask`.

        Raises:
            AgentError: it raised, or did not return an action for each row.
        """
        agent = self.agents[number]
        try:
            return ask(agent, observations, action_masks, slot_ids, get_states)
        except Exception as error:
            reason = " ".join(str(error).split())
            raise AgentError(
                f"the opponent {shown(agent.name)} raised {type(error).__name__}: {reason} (asked about "
                f"{len(slot_ids)} decisions). Its games wait for it: call reset()"
            ) from error


def _is_same(known: Spec, spec: Spec) -> bool:
    """Return True if both specs denote the same agent."""
    if isinstance(known, (str, Path)) and isinstance(spec, (str, Path)):
        return type(known) is type(spec) and known == spec
    return known is spec

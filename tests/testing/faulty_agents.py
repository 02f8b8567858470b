"""An agent as it should be, and others that have one fault each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, list_legal
from millebornes_env.agents.millebornes.preferences import first_in
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import stack_array
from millebornes_env.games.millebornes.legality import legal_actions
from millebornes_env.games.millebornes.state import ROUND_OVER
from millebornes_env.games.wielerspel import rulebook as race
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS as RACE_ACTIONS

MORE_THAN_RACE_ACTIONS = RACE_ACTIONS + 1


class FirstLegal:
    """Does nothing wrong: the first legal action, or -1 where there is none."""

    name = "first_legal"

    def __init__(self, table: Table, seed: int = 0) -> None:
        self.table, self.seed = table, seed

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        return np.where(action_masks.any(axis=1), action_masks.argmax(axis=1), -1)


class Drawing(FirstLegal):
    """Nothing wrong either: any legal action, by its own seed."""

    def __init__(self, table: Table, seed: int = 0) -> None:
        super().__init__(table, seed)
        self.rng = np.random.default_rng(seed)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        liking = self.rng.random(action_masks.shape) * action_masks
        return np.where(action_masks.any(axis=1), liking.argmax(axis=1), -1)


class Remembering(FirstLegal):
    """Nor here: every other decision of a seat it takes the last legal action."""

    has_memory = True

    def __init__(self, table: Table, seed: int = 0) -> None:
        super().__init__(table, seed)
        self.decisions: dict[int, int] = {}

    def act(self, observations: np.ndarray, action_masks: np.ndarray, slot_ids: Any = None) -> Any:
        actions = super().act(observations, action_masks)
        for row, slot in enumerate(range(len(actions)) if slot_ids is None else slot_ids.tolist()):
            self.decisions[slot] = self.decisions.get(slot, 0) + 1
            if actions[row] >= 0 and self.decisions[slot] % 2:
                actions[row] = np.flatnonzero(action_masks[row])[-1]
        return actions


def last_legal(action_masks: np.ndarray) -> Any:
    return np.where(action_masks.any(axis=1), 41 - action_masks[:, 41::-1].argmax(axis=1), -1)


def wrong(name: str, choose: Callable[[np.ndarray], Any]) -> type[FirstLegal]:
    """Make the class of an agent that chooses by the masks alone."""
    return type(name, (FirstLegal,), {"act": lambda self, observations, action_masks: choose(action_masks)})


Illegal = wrong("Illegal", lambda masks: np.where(masks.any(axis=1), masks.argmin(axis=1), -1))
Scalar = wrong("Scalar", lambda masks: int(masks[0].argmax()))
Squeezed = wrong("Squeezed", lambda masks: masks.argmax(axis=1).squeeze())  # wrong for a batch of one only
Floats = wrong("Floats", lambda masks: masks.argmax(axis=1).astype(np.float64))
PlaysOnAfterTheEnd = wrong("PlaysOnAfterTheEnd", lambda masks: masks.argmax(axis=1))


class Raising(FirstLegal):
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        if self.table.section(observations, "km")[:, 0].max() > 0:
            raise KeyError("km")
        return super().act(observations, action_masks)


class WritesObservations(FirstLegal):
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        observations[:] = 0
        return super().act(observations, action_masks)


class WritesMasks(FirstLegal):
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        actions = super().act(observations, action_masks)
        action_masks[:, 0] = 0
        return actions


class Unseeded(Drawing):
    def __init__(self, table: Table, seed: int = 0) -> None:
        super().__init__(table, seed)
        self.rng = np.random.default_rng()


class SharedMemory(FirstLegal):
    """Two agents of the class share what they count."""

    calls: ClassVar[list[int]] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        self.calls.append(1)
        if len(self.calls) % 3:
            return super().act(observations, action_masks)
        return last_legal(action_masks)


class RowsTogether(FirstLegal):
    """Plays the last legal action if the mean of the batch says so."""

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        if self.table.section(observations, "hand").std() > 0.6:
            return super().act(observations, action_masks)
        return last_legal(action_masks)


class MemoryByRow(Remembering):
    """Remembers for each row of the batch, not for each slot."""

    def act(self, observations: np.ndarray, action_masks: np.ndarray, slot_ids: Any = None) -> Any:
        return super().act(observations, action_masks)


class ForTwo(FirstLegal):
    def __init__(self, table: Table, seed: int = 0) -> None:
        super().__init__(table, seed)
        if table.rules.players != 2:
            raise ValueError("plays with two players only")


class SeesStates(FirstLegal):
    """Nothing wrong: it is handed the games, and looks at its own hand."""

    def act_on(self, states: np.ndarray, seats: np.ndarray, slot_ids: np.ndarray) -> Any:
        return self.choose(states, states["hand"][np.arange(len(seats)), seats].argmax(axis=1))

    def choose(self, states: np.ndarray, cards: np.ndarray) -> Any:
        actions = np.where(states["phase"] == 0, 19 + cards, np.where(states["phase"] == 1, 39, 41))
        return np.where(states["phase"] == ROUND_OVER, -1, actions)


class Peeks(SeesStates):
    """Discards what it has, unless the next player has many of a kind."""

    def act_on(self, states: np.ndarray, seats: np.ndarray, slot_ids: np.ndarray) -> Any:
        own = states["hand"][np.arange(len(seats)), seats]
        others = states["hand"][np.arange(len(seats)), (seats + 1) % self.table.rules.players]
        last = 18 - own[:, ::-1].argmax(axis=1)
        return self.choose(states, np.where(others.max(axis=1) > 1, own.argmax(axis=1), last))


class SaysThatItPeeks(Peeks):
    sees_hidden_cards = True


class WritesStates(SeesStates):
    def act_on(self, states: np.ndarray, seats: np.ndarray, slot_ids: np.ndarray) -> Any:
        actions = super().act_on(states, seats, slot_ids)
        states["deck"][:] = 0
        return actions


def _choose_by_the_deck(state: Any, rules: Any, seat: int, memory: Any, options: Any, draw: int) -> int:
    return first_in(legal_actions(state, rules, seat), 19 * (int(state.deck[40]) & 1))


class CompiledPeeks(CompiledAgent):
    """A compiled agent that reads a card to come."""

    name = "compiled_peeks"
    rule: ClassVar[Choose] = staticmethod(_choose_by_the_deck)


def choose_by_next_card(
    state: Any, rules: Any, seat: int, memory: np.ndarray, options: np.ndarray, draw: int
) -> int:
    mask = stack_array(np.int8, RACE_ACTIONS)
    actions = stack_array(np.int16, MORE_THAN_RACE_ACTIONS)
    race.write_mask(state, rules, mask)
    return int(actions[(int(state.deck[int(state.deck_next)]) + 1) % list_legal(mask, actions)])


class SeesNextChanceCard(CompiledAgent):
    """Looks at the next chance card of a race."""

    name = "peeks"
    game = "wielerspel"
    rule: ClassVar[Choose] = staticmethod(choose_by_next_card)

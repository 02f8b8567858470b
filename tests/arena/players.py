"""Small agents for the tests of the arena, compiled and not."""

from __future__ import annotations

from typing import ClassVar

from millebornes_env.agents.compiled.agent import CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.protocol import Actions, Masks, Observations, SlotIds, Table
from millebornes_env.engine.chance import random_below
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import discard_action
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.legality import is_legal
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import State


@rule
def first_legal(state: State, rules: RulesRecord, backwards: int) -> int:
    last = 41 + 5 * (rules.teams - 2)
    for place in range(last + 1):
        action = place if backwards == 0 else last - place
        if is_legal(state, rules, action):
            return action
    return -1


def choose_first(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """The legal action with the lowest number, or with `options[0]` the highest."""
    return first_legal(state, rules, int(options[0]))


def choose_by_lot(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Any legal action, by `draw`."""
    result = 0
    chosen = -1
    for action in range(42 + 5 * (rules.teams - 2)):
        if is_legal(state, rules, action):
            result += 1
            if random_below(draw, 7, result, result) == 0:
                chosen = action
    return chosen


def choose_wrongly(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """The first legal action, but with few cards left one that is not."""
    if int(state.draw_pile) < 60:
        for card in range(NUM_CARD_TYPES):
            if int(state.hand[seat, card]) == 0:
                return discard_action(card)
    return first_legal(state, rules, 0)


class FirstAgent(CompiledAgent):
    """Lays distances first."""

    rule = staticmethod(choose_first)

    def __init__(self, table: Table, seed: int = 0, last: bool = False) -> None:
        super().__init__(table, seed, (int(last),))


class LotAgent(CompiledAgent):
    """Plays at random."""

    rule = staticmethod(choose_by_lot)


class WrongAgent(CompiledAgent):
    """Breaks the rules in the middle of a round."""

    rule = staticmethod(choose_wrongly)


class SlowFirstAgent:
    """`FirstAgent` by masks instead of compiled code."""

    name = "slow"

    def __init__(self, table: Table, seed: int = 0, last: bool = False) -> None:
        self._last = last

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        if self._last:
            return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)
        return action_masks.argmax(axis=1)


class RaisingAgent(SlowFirstAgent):
    """Raises when it holds a Right of Way and few cards are left."""

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        if ((observations[:, 18] > 0) & (observations[:, 38] < 50)).any():
            raise RuntimeError("cannot bear\n the safety")
        return super().act(observations, action_masks)


class RememberingAgent(SlowFirstAgent):
    """Asks for slot ids and notes those that it saw."""

    has_memory = True
    seen: ClassVar[set[int]] = set()

    def act(
        self, observations: Observations, action_masks: Masks, slot_ids: SlotIds | None = None
    ) -> Actions:
        assert slot_ids is not None
        self.seen.update(int(slot_id) for slot_id in slot_ids)
        return super().act(observations, action_masks)


AGENTS = {
    "first": FirstAgent,
    "lot": LotAgent,
    "wrong": WrongAgent,
    "slow": SlowFirstAgent,
    "raising": RaisingAgent,
    "remembering": RememberingAgent,
}

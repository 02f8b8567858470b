"""Small agents for the race, compiled and not."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from millebornes_env.agents.compiled.agent import CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.protocol import Actions, Masks, Observations, Table
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS, PASS, bid_action
from millebornes_env.games.wielerspel.legality import is_legal
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import State
from tests.arena.players import SlowFirstAgent


def choose_first(
    state: State, rules: Rules, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """The legal action with the lowest number, or with `options[0]` the highest."""
    for place in range(NUM_ACTIONS):
        action = place if int(options[0]) == 0 else NUM_ACTIONS - 1 - place
        if is_legal(state, rules, action):
            return action
    return -1


class RaceFirst(CompiledAgent):
    """Gives up, escapes, passes; with `last`, bids all its energy."""

    game: ClassVar[str | None] = "wielerspel"
    rule = staticmethod(choose_first)

    def __init__(self, table: Table, seed: int = 0, last: bool = False) -> None:
        super().__init__(table, seed, (int(last),), counts_unseen=False)


class SlowRaceFirst(SlowFirstAgent):
    """`RaceFirst` by masks instead of compiled code."""

    game: ClassVar[str | None] = "wielerspel"


def lot(observations: Observations, action_masks: Masks) -> Actions:
    """Any legal action, by what the seat sees."""
    legal = action_masks != 0
    weights = np.arange(1, observations.shape[1] + 1)
    number = (observations.astype(np.int64) @ weights) % np.maximum(legal.sum(axis=1), 1)
    return (legal.cumsum(axis=1) > number[:, np.newaxis]).argmax(axis=1)


class RaceLot:
    """Plays as `lot` says."""

    name = "lot"
    game: ClassVar[str | None] = "wielerspel"

    def __init__(self, table: Table, seed: int = 0) -> None:
        pass

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        return lot(observations, action_masks)


class WrongBidder(SlowRaceFirst):
    """Bids what it does not have."""

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        chosen = super().act(observations, action_masks)
        return np.where(action_masks[:, PASS] == 1, bid_action(60), chosen)


AGENTS = {"race_first": RaceFirst, "race_slow": SlowRaceFirst, "race_lot": RaceLot, "race_wrong": WrongBidder}

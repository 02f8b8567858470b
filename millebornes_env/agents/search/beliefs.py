"""Beliefs about hidden hands: the probability of each of several deals that fit what a seat sees.

A `Belief` weighs hands that were drawn by uniform redeals; search then deals hands as often as they weigh.
There are three: `UniformBelief` (all alike), `PolicyBelief`, which asks how probable the others' last plays
would have been with such hands, and `network_belief.NetworkBelief`, which has learned what plays say. Another
one needs `weigh`, and nothing of it need be compiled. One that can draw hands as it believes them has `draw`
besides (`DrawingBelief`).
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol, runtime_checkable

import numpy as np

from millebornes_env.agents.compiled.agent import with_room
from millebornes_env.agents.millebornes.strategist.agent import StrategistAgent
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import CompiledFunction, Table
from millebornes_env.agents.search.hidden_cards import Believed, Float64Array, draw_hands, nothing_believed
from millebornes_env.agents.search.history import Window
from millebornes_env.agents.search.weighing import (
    KINDS,
    Players,
    Question,
    new_weights,
    plays_of,
    weigh_hands,
)
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.cards import DECK_SIZE, NUM_CARD_TYPES
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State, new_states

UNIFORM: Final = "uniform"
POLICY: Final = "policy"

FEWEST_HANDS: Final = 20.0
"""Plays so old are left out that they would make weights as uneven as those of fewer hands."""
LEAST_TRUST: Final = -6.0
"""So far below the likeliest one the logarithm of a kind's probability may fall: players may surprise."""


class Known(NamedTuple):
    """The knowledge of an acting seat, which is seat 0 here. It contains nothing hidden.

    Attributes:
        rules: rules of the table.
        root: the game as the seat sees it; hidden cards lie in an arbitrary order.
        windows: plays of the others between own decisions, the newest window first.
        slot: slot id of the seat.
    """

    rules: RulesRecord
    root: State
    windows: tuple[Window, ...]
    slot: int


class Weighed(NamedTuple):
    """Hands weighed by a belief.

    Attributes:
        weights: float64[C], probability of each, up to a common factor.
        windows: number of own decisions back to which the others' plays were weighed.
        evidence: float64[K], evidence of the newest plays for each kind of player; for `Belief.learn`.
    """

    weights: Float64Array
    windows: int
    evidence: Float64Array


class Belief(Protocol):
    """Weighs hands. One belief serves all slots, from several threads at once.

    Attributes:
        window: own decisions of the round that the seat must remember for it.
    """

    window: int

    def weigh(self, known: Known, hands: Int8Array, key: tuple[int, int], counted: int = 0) -> Weighed:
        """Weigh hands that the others may hold.

        Args:
            known: what the seat knows.
            hands: int8[C, S, NUM_CARD_TYPES], by seat from the own one (0) to the left, drawn uniformly from
                those that fit.
            key: of random numbers, where it needs some.
            counted: hands of those, from the first on, that were drawn so; what comes behind them is weighed
                besides, on the same scale. 0: all.
        """
        ...

    def learn(self, slot: int, weighed: Weighed) -> None:
        """Take note of what was weighed for a slot; not called while others weigh."""
        ...

    def forget(self) -> None:
        """Other matches begin in all slots."""
        ...


@runtime_checkable
class DrawingBelief(Belief, Protocol):
    """A belief that draws hands as it believes them, so that none need be weighed."""

    def draw(self, known: Known, count: int, key: tuple[int, int]) -> tuple[Int8Array, Weighed]:
        """Draw hands that the others may hold.

        Args:
            known: what the seat knows.
            count: how many.
            key: of random numbers.

        Returns:
            int8[count, S, NUM_CARD_TYPES] as for `weigh`, and how much each counts.
        """
        ...


class UniformBelief:
    """Every deal that fits is as probable as any other."""

    window = 0

    def weigh(self, known: Known, hands: Int8Array, key: tuple[int, int], counted: int = 0) -> Weighed:
        """See `Belief.weigh`."""
        return Weighed(np.ones(len(hands)), 0, np.zeros(0))

    def learn(self, slot: int, weighed: Weighed) -> None:
        """There is nothing to learn."""

    def forget(self) -> None:
        """There is nothing to forget."""


class PolicyBelief:
    """Hands weigh what the others' last plays were worth to them: how probable these plays were with them.

    Others are taken for players like the rollout agent, like `strategist`, or for such as play by chance; by
    what each of these would have played in this match (`trust`).

    Attributes:
        window: own decisions back to which plays are weighed.
        trust: float64[P, K], logarithms, by slot: how probable each kind of player is.
    """

    def __init__(
        self,
        table: Table,
        rollout: CompiledFunction,
        window: int = 6,
        epsilon: float = 0.15,
        temperature: float = 1.0,
    ) -> None:
        """Make a belief.

        Args:
            table: the table.
            rollout: the rollout agent: a network, whose probabilities are asked, or any compiled agent.
            window: own decisions back to which plays are weighed.
            epsilon: so often a player plays any legal action instead.
            temperature: by which the network's logits are divided; above 1 its plays say less.
        """
        self.window = window
        self._seats = table.rules.players
        self._rollout = rollout
        self._other = StrategistAgent(table)
        self._settings = (epsilon, temperature)
        self.trust = np.zeros((0, KINDS), np.float64)

    def players(self) -> Players:
        """The models of other players, for the kernels."""
        return Players(
            self._rollout.address,
            self._rollout.options,
            int(isinstance(self._rollout, PolicyAgent)),
            self._other.address,
            self._other.options,
            *self._settings,
        )

    def weigh(self, known: Known, hands: Int8Array, key: tuple[int, int], counted: int = 0) -> Weighed:
        """See `Belief.weigh`."""
        result = new_weights(len(hands), self._seats)
        trust = self._trust_of(known.slot)
        question = Question(hands, counted or len(hands), FEWEST_HANDS, trust, *key)
        used = weigh_hands(self.players(), known.rules, plays_of(known.windows), question, result)
        return Weighed(result.weights, used, result.evidence)

    def _trust_of(self, slot: int) -> Float64Array:
        return self.trust[slot] if slot < len(self.trust) else np.zeros(KINDS, np.float64)

    def learn(self, slot: int, weighed: Weighed) -> None:
        """See `Belief.learn`."""
        self.trust = with_room(self.trust, slot + 1)
        trust = self.trust[slot] + weighed.evidence
        self.trust[slot] = np.maximum(trust - trust.max(), LEAST_TRUST)

    def forget(self) -> None:
        """Others may sit there now."""
        self.trust = self.trust[:0]


def drawn_hands(known: Known, count: int, key: tuple[int, int]) -> Int8Array:
    """Hands that the others may hold, drawn by uniform redeals, int8[count, S, NUM_CARD_TYPES]."""
    players = int(np.asarray(known.rules)["players"])
    hands = np.zeros((count, players, NUM_CARD_TYPES), np.int8)
    scratch, room = for_kernels(new_states(1)), np.zeros(DECK_SIZE, np.int8)
    draw_hands(known.root, known.rules, *key, scratch, room, hands)
    return hands


def believed(belief: Belief, known: Known, count: int, key: tuple[int, int]) -> tuple[Believed, Weighed]:
    """Draw hands and weigh them, for redeals."""
    if isinstance(belief, DrawingBelief):
        hands, weighed = belief.draw(known, count, key)
    else:
        hands = drawn_hands(known, count, key)
        weighed = belief.weigh(known, hands, key)
    reached = np.cumsum(weighed.weights)
    if not (np.isfinite(reached[-1]) and reached[-1] > 0):
        return nothing_believed(), weighed
    return Believed(hands, reached / reached[-1]), weighed

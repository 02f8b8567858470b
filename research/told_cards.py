"""Information about a hand in the cards that are discarded or played from it.

Each used card is recorded with the rest of the hand and the public state, in strata. Public information that
the strata leave out would count as information of the card: it is estimated with hands redealt from all
unseen cards, about which no play is informative, and subtracted.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from millebornes_env.games.millebornes.actions import FIRST_DISCARD
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DISTANCE_100,
    DRIVING_ACE,
    END_OF_LIMIT,
    NO_CARD,
    NUM_CARD_TYPES,
    REPAIRS,
    ROLL,
    SPEED_LIMIT,
    is_battle_hazard,
)
from millebornes_env.games.millebornes.state import MAX_SEATS, PLAY
from research.mutual_information import Int64Array, conditional_bits, draw_cards, jackknife_error, plug_in
from research.watching import BoolArray, StateArray, Watcher

KINDS: Final = ("discard", "play")
"""The uses of a card."""

KIND_OF_CARD: Final = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4, 5, 6, 7, 7, 7, 7])
"""Kind of each card type as a signal: small and large distances, battle hazards, Speed Limit, remedies, Roll,
End of Limit, safeties."""

FEATURES: Final[dict[str, tuple[slice, int]]] = {
    "distances": (slice(0, ACCIDENT), 4),
    "100s and 200s": (slice(DISTANCE_100, ACCIDENT), 2),
    "hazards": (slice(ACCIDENT, REPAIRS), 2),
    "remedies": (slice(REPAIRS, ROLL), 2),
    "rolls": (slice(ROLL, END_OF_LIMIT), 2),
    "safeties": (slice(DRIVING_ACE, NUM_CARD_TYPES), 1),
}
"""Features of a hand: the number of these cards in it, up to a limit."""

PILE_STRATA: Final = 4
UNSEEN_STRATA: Final = 6
BLOCKS: Final = 20
"""Number of jackknife groups of deals, for the standard error."""
REDEALS: Final = 4


class CardRecorder(Watcher):
    """Records each card that is discarded or played, with the rest of the hand and the public state."""

    def __init__(self) -> None:
        """Start without rows."""
        self.rows: list[dict[str, Int64Array]] = []

    def before_step(self, states: StateArray, live: BoolArray, actions: Int64Array) -> None:
        """Record the games in which a card is used."""
        games = np.flatnonzero(live & (states["phase"] == PLAY) & (actions < 2 * NUM_CARD_TYPES))
        now, used = states[games], actions[games]
        rows = np.arange(len(games))
        cards = used % NUM_CARD_TYPES
        hand = now["hand"][rows, now["seat"]].astype(np.int64)
        hidden = now["hidden"].astype(np.int64)
        hand[rows, cards] -= 1
        hidden[rows, cards] -= 1
        team = now["seat"] % 2
        battle, speed = now["battle"][rows, team], now["speed"][rows, team]
        self.rows.append(
            {
                "game": games,
                "seat": now["seat"].astype(np.int64),
                "discarded": (used >= FIRST_DISCARD).astype(np.int64),
                "told": KIND_OF_CARD[cards],
                "hand": hand,
                "hidden": hidden,
                "left": now["draw_pile"].astype(np.int64),
                "needs": _needs(battle.astype(np.int64), speed.astype(np.int64)),
            }
        )

    def sample(self, rng: np.random.Generator) -> dict[str, Int64Array]:
        """Sample one discard and one play of each seat in a round.

        More of them would not be independent, because a hand changes little from one to the next.
        """
        rows = {name: np.concatenate([one[name] for one in self.rows]) for name in self.rows[0]}
        order = rng.permutation(len(rows["game"]))
        groups = (rows["game"] * MAX_SEATS + rows["seat"]) * len(KINDS) + rows["discarded"]
        chosen = order[np.unique(groups[order], return_index=True)[1]]
        return {name: values[chosen] for name, values in rows.items()}


def _needs(battle: Int64Array, speed: Int64Array) -> Int64Array:
    """Return the need of a team (to begin, a remedy, a Roll or nothing) and its speed limit, as one code."""
    state = np.full(len(battle), 2)
    state[battle == NO_CARD] = 0
    state[np.isin(battle, [card for card in range(NUM_CARD_TYPES) if is_battle_hazard(card)])] = 1
    state[battle == ROLL] = 3
    result: Int64Array = 2 * state + (speed == SPEED_LIMIT)
    return result


def bits_of_rows(rows: dict[str, Int64Array], shuffles: int, rng: np.random.Generator) -> dict[str, Any]:
    """Estimate the information about each feature of the hand, in bits.

    Args:
        rows: rows of a `CardRecorder`.
        shuffles: number of shuffles for the null distribution.
        rng: random numbers for the shuffles and the redeals.
    """
    held = rows["hand"].sum(axis=1)
    redealt = [draw_cards(rows["hidden"], held, rng) for _ in range(REDEALS)]
    result: dict[str, Any] = {"rows": len(held)}
    for name, (cards, most) in FEATURES.items():
        given = strata(rows, cards)
        about = _count(rows["hand"], cards, most)
        others = [_count(hand, cards, most) for hand in redealt]
        true = conditional_bits(rows["told"], about, given, shuffles, rng)
        by_deal = [conditional_bits(rows["told"], other, given, 8, rng).bits for other in others]
        blocks, left_out = rows["game"] % BLOCKS, []
        for block in range(BLOCKS):
            kept = blocks != block
            told, stratum = rows["told"][kept], given[kept]
            by_chance = np.mean([plug_in(told, other[kept], stratum) for other in others])
            left_out.append(plug_in(told, about[kept], stratum) - by_chance)
        result[name] = {
            "bits": true.bits,
            "bias": true.bias,
            "p": true.p,
            "redealt": float(np.mean(by_deal)),
            "told": true.bits - float(np.mean(by_deal)),
            "error": jackknife_error(np.array(left_out)),
        }
    return result


def strata(rows: dict[str, Int64Array], cards: slice) -> Int64Array:
    """Return strata of the public state: the team's need, cards left to draw, and unseen `cards`."""
    unseen = rows["hidden"][:, cards].sum(axis=1)
    ends = np.unique(np.quantile(unseen, np.linspace(0, 1, UNSEEN_STRATA + 1)[1:-1]))
    of_unseen = np.searchsorted(ends, unseen, side="right")
    of_pile = np.minimum(PILE_STRATA * rows["left"] // (rows["left"].max() + 1), PILE_STRATA - 1)
    result: Int64Array = (rows["needs"] * PILE_STRATA + of_pile) * (UNSEEN_STRATA + 1) + of_unseen
    return result


def _count(hands: Int64Array, cards: slice, most: int) -> Int64Array:
    counted: Int64Array = np.minimum(hands[:, cards].sum(axis=1), most)
    return counted

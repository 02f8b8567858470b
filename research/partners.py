"""Two agents as partners of one team, who may be prevented from seeing each other's discards."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from millebornes_env.agents.protocol import Actions, Agent, Masks, Observations, SlotIds, Table
from millebornes_env.games.millebornes.actions import is_discard
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NUM_CARD_TYPES
from research.measurements.cross_play import Team
from research.mutual_information import draw_cards

SEEN, PARTNER, OTHERS = "nothing", "the partner's", "as many others"
HIDDEN: Final = (SEEN, PARTNER, OTHERS)
"""Options for the hidden discards."""


class Partners(Team):
    """A team of two with hidden discards, for single rounds.

    With `hides`, discards are replaced by random unseen cards: the number of cards stays correct, their types
    are lost. "the partner's" hides the discards of the partner; "as many others" hides as many of the rest of
    the pile, for comparison.

    The pile shows the number of cards of each type, not their origin, so an agent without a memory cannot
    distinguish its partner's discards from others'. Hiding them measures their value nevertheless.

    """

    game = "millebornes"

    def __init__(self, table: Table, agents: tuple[Agent, Agent], hides: str = SEEN, seed: int = 0) -> None:
        """Create a team.

        Args:
            table: a table of two teams of two, whose observations include the unseen cards.
            agents: agents of the first and of the second seat; may be the same.
            hides: one of `HIDDEN`.
            seed: seed of the cards that replace hidden discards.
        """
        super().__init__(table, agents)
        self._hides, self._seed = hides, seed
        self._reset()

    def forget(self) -> None:
        """Reset the memories for other rounds."""
        super().forget()
        self._reset()

    def _reset(self) -> None:
        self._rng = np.random.default_rng([self._seed, HIDDEN.index(self._hides)])
        self._discards = np.zeros((0, NUM_CARD_TYPES), np.int64)

    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Let each partner choose in its seat; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A].
            slot_ids: int64[N].
        """
        if self._hides == SEEN:
            return super().act(observations, action_masks, slot_ids)
        slots: SlotIds = np.asarray(slot_ids, np.int64)
        missing = int(slots.max(initial=-1)) + self.table.rules.players - len(self._discards)
        if missing > 0:
            self._discards = np.concatenate([self._discards, np.zeros((missing, NUM_CARD_TYPES), np.int64)])
        actions = super().act(self._without_discards(observations, slots), action_masks, slots)
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            if is_discard(action):
                self._discards[slot, action - NUM_CARD_TYPES] += 1
        return actions

    def _without_discards(self, observations: Observations, slots: SlotIds) -> Observations:
        """Return the rows with hidden discards replaced by random unseen cards."""
        players, teams = self.table.rules.players, self.table.rules.teams
        pile, unseen = (self.table.section(observations, name) for name in ("discard_pile", "unseen"))
        seats = slots % players
        own = self._discards[slots]
        partners = self._discards[slots - seats + (seats + teams) % players]
        hidden = partners
        if self._hides == OTHERS:
            rest = pile - own - partners
            hidden = draw_cards(rest, np.minimum(partners.sum(axis=1), rest.sum(axis=1)), self._rng)
        candidates = unseen + hidden
        candidates[:, DRIVING_ACE:] = hidden[:, DRIVING_ACE:]  # safeties are hardly ever discarded
        instead = draw_cards(candidates, hidden.sum(axis=1), self._rng)
        shown = observations.copy()
        starts = {section.name: section.start for section in self.table.sections}
        for name, cards in (("discard_pile", pile - hidden + instead), ("unseen", unseen + hidden - instead)):
            shown[:, starts[name] : starts[name] + NUM_CARD_TYPES] = cards
        return shown

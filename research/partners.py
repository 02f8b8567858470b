"""Two agents as partners of one team, and what happens if they cannot see each other's discards."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.protocol import Actions, Agent, Masks, Observations, SlotIds, Table
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.actions import is_discard
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NUM_CARD_TYPES
from research.measurements.cross_play import Team
from research.mutual_information import draw_cards

Int64Array = npt.NDArray[np.int64]

SEEN, PARTNER, OTHERS = "nothing", "the partner's", "as many others"
HIDDEN: Final = (SEEN, PARTNER, OTHERS)
"""The players whose discards are hidden."""


class Partners(Team):
    """A team of two who may not see what it discards.

    With `hides`, discards are exchanged for cards that could as well have been discarded, drawn by chance
    from all that is unseen: the numbers of cards stay right, which cards they were is lost. "the partner's":
    those of the partner; "as many others": as many of the rest of the pile, to compare.

    The pile shows how many cards of each type lie there, not who laid them. So an agent without a memory
    cannot tell its partner's discards from others'; hiding them measures what they are worth all the same.

    It plays single rounds.

    Attributes:
        name: of both.
        table: where they play.
    """

    game = "millebornes"

    def __init__(self, table: Table, agents: tuple[Agent, Agent], hides: str = SEEN, seed: int = 0) -> None:
        """Seat the partners.

        Args:
            table: of two teams of two; its observations show the unseen cards.
            agents: of the first and of the second seat; may be one and the same.
            hides: one of `HIDDEN`.
            seed: of what is shown instead of hidden discards.

        Raises:
            MilleBornesError: the table has other teams.
        """
        try:
            super().__init__(table, agents)
        except ValueError as error:
            raise MilleBornesError(str(error)) from None
        self._hides, self._seed = hides, seed
        self._begin()

    def forget(self) -> None:
        """Other rounds begin."""
        super().forget()
        self._begin()

    def _begin(self) -> None:
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
        self._make_room(int(slots.max(initial=-1)) + self.table.rules.players)
        actions = super().act(self._without_discards(observations, slots), action_masks, slots)
        self._note(slots, actions)
        return actions

    def _make_room(self, slots: int) -> None:
        missing = slots - len(self._discards)
        if missing > 0:
            self._discards = np.concatenate([self._discards, np.zeros((missing, NUM_CARD_TYPES), np.int64)])

    def _note(self, slots: SlotIds, actions: Actions) -> None:
        """Remember what each seat has discarded."""
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            if is_discard(action):
                self._discards[slot, action - NUM_CARD_TYPES] += 1

    def _without_discards(self, observations: Observations, slots: SlotIds) -> Observations:
        """The rows with discards exchanged for cards that could as well lie there."""
        players, teams = self.table.rules.players, self.table.rules.teams
        pile = self.table.section(observations, "discard_pile").astype(np.int64)
        unseen = self.table.section(observations, "unseen").astype(np.int64)
        seats = slots % players
        own = self._discards[slots]
        partners = self._discards[slots - seats + (seats + teams) % players]
        hidden = partners
        if self._hides == OTHERS:
            rest = pile - own - partners
            hidden = draw_cards(rest, np.minimum(partners.sum(axis=1), rest.sum(axis=1)), self._rng)
        could_be = unseen + hidden
        could_be[:, DRIVING_ACE:] = hidden[:, DRIVING_ACE:]  # hardly anybody discards a safety
        instead = draw_cards(could_be, hidden.sum(axis=1), self._rng)
        shown = observations.copy()
        starts = {section.name: section.start for section in self.table.sections}
        for name, cards in (("discard_pile", pile - hidden + instead), ("unseen", unseen + hidden - instead)):
            shown[:, starts[name] : starts[name] + NUM_CARD_TYPES] = cards
        return shown

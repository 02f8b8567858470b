"""`human`: a person at the terminal.

It shows what the seat sees (`render.millebornes.seat`), and no more, and asks for one of the legal actions by
its number or its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from millebornes_env._util.guard import alone
from millebornes_env.agents.checks import check_masks, check_ranges, checked_rows, checked_slot_ids
from millebornes_env.agents.millebornes.observation_reader import read_observation, starts_of
from millebornes_env.agents.protocol import (
    Actions,
    BaseAgent,
    Masks,
    Observations,
    Table,
    actions_of_ended,
    one_or_many,
)
from millebornes_env.agents.registry import register
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    PASS,
    card_of,
    discard_action,
    num_actions,
)
from millebornes_env.games.millebornes.cards import ACCIDENT, CARD_NAMES, NO_CARD, safety_against
from millebornes_env.games.millebornes.rules import rules_record
from millebornes_env.games.millebornes.state import State, new_states
from millebornes_env.play.terminal.human.terminal import HELP, HINT, QUIT, UNDO, Terminal, UndoRequest
from millebornes_env.play.terminal.human.words import action_words, meant_by, menu_order, why_not
from millebornes_env.render.millebornes.seat import Numbers, SeatText
from millebornes_env.render.names import Names

HELP_TEXT: Final = """\
Type the number of an action, or its name or the beginning of it: roll, 25, stop, discard 25, d 25.
Name a card that is not in the list to hear why it cannot be played.
hint: what a strong agent would do; undo: back to your last decision; q: stop playing;
?: this text, and the cards that have been seen.
Points of a match are shown in 50s, rounded down. Opponents are counted to the left: opponent 1 is next."""

_MOST_REASONS: Final = 4
_MOST_DIGITS: Final = 9


class HumanAgent(Terminal, BaseAgent):
    """A person who reads and types.

    Attributes:
        name: what tables of results call it.
        names: what the players are called.
        kept: by slot, the hand and the draw pile after the last decision, from which follows what was drawn
            since; to be put back by who takes decisions back.
    """

    name = "human"
    is_person = True  # who cannot be asked only to try
    game = "millebornes"
    has_memory = True

    def __init__(self, table: Table, seed: int = 0) -> None:
        """Nothing is drawn by chance; `seed` is there because every agent takes one."""
        super().__init__()
        self.names = Names(table.rules.players, table.rules.teams)
        self.kept: dict[int, tuple[Numbers, int]] = {}
        self._table = table
        self._rules = table.rules
        self._starts = starts_of(table, counts_unseen=False)

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Ask for one row after the other; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A].
            slot_ids: int64[N]; where there are several rows they say whose turn it is.

        Raises:
            KeyboardInterrupt: the person wants to stop, or the input has ended.
            UndoRequest: the person wants back to the last decision (only if `can_undo`).
            AgentError: one of them has another shape or type, or numbers that the table cannot show.
        """
        observations = checked_rows(self.name, observations, self._table.sections[-1].stop)
        check_masks(self.name, action_masks, len(observations), self._table.num_actions)
        slot_ids = None if slot_ids is None else checked_slot_ids(self.name, slot_ids, len(observations))
        check_ranges(self.name, self._table, observations)
        action_masks = np.asarray(action_masks)
        actions: Actions = np.zeros(len(observations), np.int64)
        ended = np.zeros(len(observations), np.bool_)
        kept = dict(self.kept)
        for number in range(len(observations)):
            row = observations[number : number + 1]
            slot_id = number if slot_ids is None else int(slot_ids[number])
            if self._of(row, "phase").any() and action_masks[number].any():
                if len(observations) > 1:
                    self.say(f"\nRow {number}" + (f", slot {slot_id}" if slot_ids is not None else ""))
                actions[number] = self._ask(row, action_masks[number : number + 1], slot_id)
                kept[slot_id] = self._after(row, int(actions[number]))
            else:
                ended[number] = True
        actions_of_ended(action_masks, actions, ended)
        self.kept = kept
        return actions

    @alone
    def forget(self) -> None:
        """Forget all slots: what comes next are other matches."""
        self.kept = {}

    def _ask(self, row: Observations, mask: Masks, slot_id: int) -> int:
        """Show the table and the menu, and read until the answer is one of it."""
        menu = sorted(np.flatnonzero(mask[0]).tolist(), key=menu_order)
        view = self._view(row)
        self.say("\n" + "\n".join([*view.table(self._drawn(row, slot_id)), view.question()]))
        for number, action in enumerate(menu, start=1):
            self.say(f"{number:4d}  {action_words(action, self.names)}")
        while True:
            answer = self.read()
            if answer == HELP:
                self.say(self._help(row))
            elif answer == HINT:
                self.say(self._hint(row, mask, slot_id))
            elif answer == UNDO:
                self.undo()
            elif answer.isdecimal() and len(answer) < _MOST_DIGITS and 1 <= int(answer) <= len(menu):
                return menu[int(answer) - 1]
            else:
                meant = meant_by(answer, menu, self.names)
                if len(meant) == 1:
                    return meant[0]
                self.say(self._complaint(row, answer, menu, meant))

    def _complaint(self, row: Observations, answer: str, menu: Sequence[int], meant: Sequence[int]) -> str:
        """Explain why an answer does not name exactly one action of the menu."""
        if meant:
            choices = " or ".join(action_words(action, self.names) for action in meant)
            return f"{answer!r} may mean {choices}: type more of the name, or the number"
        questions = {CLAIM_COUP_FOURRE, PASS, EXTEND, FINISH}
        tried = meant_by(answer, sorted(set(range(num_actions(self._rules.teams))) - questions), self.names)
        if not 0 < len(tried) <= _MOST_REASONS:
            return (
                f"{answer!r} is none of the actions: type a number from 1 to {len(menu)}, the name of a "
                f"card, {HELP} for help or {QUIT} to stop"
            )
        state = self._read_back(row)
        return "\n".join(self._reason(state, action, menu) for action in tried)

    def _reason(self, state: State, action: int, menu: Sequence[int]) -> str:
        reason = why_not(state, self._rules, action, self.names)
        card = card_of(action)
        discard = f" ('discard {CARD_NAMES[card]}' is possible)" if discard_action(card) in menu else ""
        return f"Not possible now: {action_words(action, self.names)}: {reason}{discard}"

    def _hint(self, row: Observations, mask: Masks, slot_id: int) -> str:
        """Return the adviser's choice, in words."""
        return self.advice(row, mask, slot_id, lambda action: action_words(action, self.names))

    def _after(self, row: Observations, action: int) -> tuple[Numbers, int]:
        """The hand and the draw pile after a decision."""
        hand, card = self._of(row, "hand"), card_of(action)
        if action == CLAIM_COUP_FOURRE:
            card = safety_against(ACCIDENT + int(self._of(row, "pending_hazard").argmax()))
        if card != NO_CARD:
            hand[card] -= 1
        return hand, int(self._of(row, "draw_pile")[0])

    def _drawn(self, row: Observations, slot_id: int) -> Numbers | None:
        """The cards drawn since the last decision in this round; None if this is the first."""
        if slot_id not in self.kept:
            return None
        hand, pile = self.kept[slot_id]
        drawn = self._of(row, "hand") - hand
        is_same_round = int(self._of(row, "draw_pile")[0]) <= pile and (drawn >= 0).all()
        return drawn if is_same_round else None

    def _read_back(self, row: Observations) -> State:
        """The game as the person knows it, the person in seat 0."""
        state: State = new_states(1)[0]
        plain(read_observation)(row[0], self._starts, rules_record(self._rules), state)
        return state

    def _help(self, row: Observations) -> str:
        return "\n".join([HELP_TEXT, *self._view(row).cards_seen()])

    def _view(self, row: Observations) -> SeatText:
        """Describe what the seat sees."""
        return SeatText(row[0], self._table.sections, self._rules)

    def _of(self, row: Observations, name: str) -> Numbers:
        """The numbers of one section."""
        numbers: Numbers = self._table.section(row, name)[0]
        return numbers


__all__ = ["HELP", "HINT", "QUIT", "UNDO", "HumanAgent", "UndoRequest"]


register("human", HumanAgent)

"""Description of one seat's observation in words; nothing hidden can leak, as no record is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.layout import Section
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    DRIVING_ACE,
    END_OF_LIMIT,
    NO_CARD,
    NUM_SAFETIES,
    REPAIRS,
    ROLL,
    safety_against,
)
from millebornes_env.games.millebornes.remedies import can_play_remedy
from millebornes_env.games.millebornes.rules import Rules, rules_record
from millebornes_env.games.millebornes.sections import BATTLE_TOPS, MAX_INT8, SCORE_UNIT
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, State, new_states
from millebornes_env.render.names import Names, road

Numbers = npt.NDArray[np.int64]

_KM_UNIT: Final = 25


def describe_seat(row: npt.NDArray[np.int8], sections: Sequence[Section], rules: Rules) -> str:
    """Describe an observation, int8[D], in several lines."""
    view = SeatText(row, sections, rules)
    return "\n".join([*view.table(), *view.cards_seen(), view.question()])


class SeatText:
    """The parts of the description of an observation.

    Attributes:
        names: names of the players.
        numbers: the entries of each section as int64, by name.
    """

    def __init__(self, row: npt.NDArray[np.int8], sections: Sequence[Section], rules: Rules) -> None:
        """Split an observation into sections; see `describe_seat`."""
        self.names = Names(rules.players, rules.teams)
        self.numbers: dict[str, Numbers] = {
            section.name: row[section.start : section.stop].astype(np.int64) for section in sections
        }
        self._rules = rules

    def table(self, drawn: Numbers | None = None) -> list[str]:
        """Return lines on the trip, each team's tableau, the sizes of the other hands and the own hand.

        Args:
            drawn: int64[19], the cards drawn since the last decision, to be marked.
        """
        lines = [self._headline()]
        for team in range(self._rules.teams):
            lines += self._tableau(team)
        counts = self.numbers["hand_counts"]
        others = range(1, self._rules.players)
        lines.append(
            "hands: " + ", ".join(f"{self.names.seat(seat)}: {_cards(int(counts[seat]))}" for seat in others)
        )
        just_drawn = f"  (just drawn: {listed(drawn)})" if drawn is not None and drawn.any() else ""
        lines.append("your hand: " + (listed(self.numbers["hand"]) or "no cards") + just_drawn)
        return lines

    def cards_seen(self) -> list[str]:
        """Return lines on the discard pile and, if the observation shows them, on unseen cards."""
        lines = ["discarded: " + (listed(self.numbers["discard_pile"]) or "nothing")]
        if "unseen" in self.numbers:
            lines.append("not seen yet: " + (listed(self.numbers["unseen"]) or "nothing"))
        return lines

    def question(self) -> str:
        """Describe the decision and the player to make it."""
        if not self.numbers["phase"].any():
            return "The round is over."
        offset, phase = int(self.numbers["to_act"].argmax()), int(self.numbers["phase"].argmax())
        if phase == CLAIM:
            return self._claim(offset)
        if phase == EXTENSION:
            return self._extension(offset)
        if offset > 0:
            return f"{self.names.seat(offset).capitalize()} is to play."
        return "Your turn." if self.numbers["moving"][0] else f"Your turn. {self._needed_card()}".rstrip()

    def _claim(self, offset: int) -> str:
        hazard = ACCIDENT + int(self.numbers["pending_hazard"].argmax())
        attack = f"{CARD_NAMES[hazard]} is laid against {self.names.team(offset % self._rules.teams)}"
        if offset > 0:
            return f"{attack}, and {self.names.seat(offset)} may claim a coup fourré."
        return f"{attack}, and you hold the {CARD_NAMES[safety_against(hazard)]}. Claim the coup fourré?"

    def _extension(self, offset: int) -> str:
        km = _KM_UNIT * int(self.numbers["km"][offset % self._rules.teams])
        longer = f"xtend the trip to {self._rules.extended_target} km"
        if offset > 0:
            return f"{self.names.seat(offset).capitalize()} has done {km} km, and may e{longer}."
        return f"You have done {km} km. E{longer}?"

    def _headline(self) -> str:
        extended = " (extended)" if self.numbers["extension"].any() else ""
        left = _cards(int(self.numbers["draw_pile"][0]))
        return f"trip: {self._target()} km{extended}  |  {left} to draw"

    def _target(self) -> int:
        return _KM_UNIT * int(self.numbers["target"][0])

    def _tableau(self, team: int) -> list[str]:
        km = _KM_UNIT * int(self.numbers["km"][team])
        moving = "rolling" if self.numbers["moving"][team] else "stopped"
        top = self._battle_top(team)
        battle = "empty" if top == NO_CARD else CARD_NAMES[top]
        speed = "limited to 50" if self.numbers["limited"][team] else "no limit"
        caller = "  called the extension" if self.numbers["extension"][team] else ""
        return [
            f"{self.names.team(team):17s} {road(km, self._target())} {km:4d} km  {moving}"
            f"{self._points(team)}{caller}",
            f"                  battle: {battle:13s} speed: {speed:15s}"
            f"200s: {int(self.numbers['two_hundreds'][team])} of {self._rules.max_200}",
            f"                  safeties: {self._safeties(team)}",
        ]

    def _battle_top(self, team: int) -> int:
        tops = self.numbers["battle"].reshape(-1, len(BATTLE_TOPS))
        return BATTLE_TOPS[int(tops[team].argmax())]

    def _points(self, team: int) -> str:
        score = self.numbers["score"]
        if not score.any():
            return ""
        more = " or more" if int(score[team]) == MAX_INT8 else ""
        return f"  {SCORE_UNIT * int(score[team])} points{more}"

    def _safeties(self, team: int) -> str:
        laid = self.numbers["safeties"].reshape(-1, NUM_SAFETIES)[team]
        coups = self.numbers["coups_fourres"].reshape(-1, NUM_SAFETIES)[team]
        names = [
            CARD_NAMES[DRIVING_ACE + safety] + (" (coup fourré)" if coups[safety] else "")
            for safety in np.flatnonzero(laid)
        ]
        return ", ".join(names) or "none"

    def _needed_card(self) -> str:
        """Return a sentence on the card that lets the own team move, or ""."""
        state, record = self._own_piles(), rules_record(self._rules)
        remedies = [card for card in range(REPAIRS, ROLL + 1) if card != END_OF_LIMIT]
        needed = [CARD_NAMES[card] for card in remedies if plain(can_play_remedy)(state, record, 0, card)]
        return f"You are stopped, and need: {' or '.join(needed)}." if needed else ""

    def _own_piles(self) -> State:
        """Return a record with the own battle pile and safeties, on which remedies depend."""
        state: State = new_states(1)[0]
        state.battle[0] = self._battle_top(0)
        state.tableau[0, DRIVING_ACE : DRIVING_ACE + NUM_SAFETIES] = self.numbers["safeties"][:NUM_SAFETIES]
        return state


def listed(counts: Numbers) -> str:
    """Return the words for counts by card type: "25 km, Roll (2)"."""
    return ", ".join(
        CARD_NAMES[card] + (f" ({int(counts[card])})" if counts[card] > 1 else "")
        for card in np.flatnonzero(counts)
    )


def _cards(count: int) -> str:
    return f"{count} card" if count == 1 else f"{count} cards"

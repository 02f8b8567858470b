"""`human`: a person at the terminal.

It shows what the seat sees, and no more, and asks for one of the legal actions by its number.
"""

from __future__ import annotations

import sys
from typing import Any, Final, TextIO

import numpy as np
import numpy.typing as npt

from agents.checks import check_masks, check_ranges, checked_places, checked_rows
from agents.protocol import Actions, Masks, Observations, Table, actions_of_ended
from millebornes_env.millebornes.actions import action_name
from millebornes_env.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    DRIVING_ACE,
    NUM_SAFETIES,
    safety_against,
)
from millebornes_env.millebornes.observation import BATTLE_TOPS, MAX_INT8, SCORE_UNIT
from millebornes_env.millebornes.state import CLAIM, EXTENSION

Numbers = npt.NDArray[np.int64]

QUIT: Final = "q"
HELP: Final = "?"
HELP_TEXT: Final = """\
Type the number of an action and press Enter; ? shows this and the cards that have been seen, q stops playing.
Points of a match are shown in 50s, rounded down. Teams are counted to the left: team +1 sits next to you."""

_ROAD_LENGTH: Final = 40
_KM_UNIT: Final = 25


class HumanAgent:
    """A person who reads and types.

    Attributes:
        name: what tables of results call it.
        source: where the answers come from; None: the standard input.
        sink: where the table is shown; None: the standard output.
    """

    name = "human"

    def __init__(self, table: Table, seed: int = 0) -> None:
        """Nothing is drawn by chance; `seed` is there because every agent takes one."""
        self.source: TextIO | None = None
        self.sink: TextIO | None = None
        self._table = table
        self._rules = table.rules

    def act(self, observations: Observations, action_masks: Masks, places: Any = None) -> Actions:
        """Ask for one row after the other; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A].
            places: int64[N]; where there are several rows they say whose turn it is.

        Raises:
            KeyboardInterrupt: the person wants to stop, or the input has ended.
            AgentArgumentError: one of them has another shape or type, or numbers that the table cannot show.
        """
        observations = checked_rows(self.name, observations, self._table.sections[-1].stop)
        check_masks(self.name, action_masks, len(observations), self._table.num_actions)
        places = None if places is None else checked_places(self.name, places, len(observations))
        check_ranges(self.name, self._table, observations)
        action_masks = np.asarray(action_masks)
        actions: Actions = np.zeros(len(observations), np.int64)
        ended = np.zeros(len(observations), np.bool_)
        for number in range(len(observations)):
            row = observations[number : number + 1]
            legal = np.flatnonzero(action_masks[number])
            if self._of(row, "phase").any() and len(legal):
                if len(observations) > 1:
                    self._say(
                        f"\nRow {number}" + (f", place {int(places[number])}" if places is not None else "")
                    )
                actions[number] = self._ask(row, legal)
            else:
                ended[number] = True
        actions_of_ended(action_masks, actions, ended)
        return actions

    def draw(self, observation: Observations) -> str:
        """What the seat sees, int8[1, D], in words; several lines."""
        blocks = [self._headline(observation)]
        blocks += [self._tableau(observation, team) for team in range(self._rules.teams)]
        counts = self._of(observation, "hand_counts")[1 : self._rules.players]
        blocks.append("other hands, to the left: " + ", ".join(_cards(int(count)) for count in counts))
        blocks.append("your hand: " + (_listed(self._of(observation, "hand")) or "no cards"))
        blocks.append(self._question(observation))
        return "\n".join(blocks)

    def _ask(self, row: Observations, legal: Numbers) -> int:
        """Show the table and the menu, and read until the answer is one of it."""
        self._say("\n" + self.draw(row))
        for number, action in enumerate(legal, start=1):
            self._say(f"{number:4d}  {action_name(int(action), self._rules.teams)}")
        while True:
            answer = self._read()
            if answer == HELP:
                self._say(self._help(row))
            elif answer.isdecimal() and 1 <= int(answer) <= len(legal):
                return int(legal[int(answer) - 1])
            else:
                self._say(
                    f"{answer!r} is none of the actions: type a number from 1 to {len(legal)}, "
                    f"{HELP} for help or {QUIT} to stop"
                )

    def _read(self) -> str:
        print("> ", end="", flush=True, file=self.sink or sys.stdout)
        line = (self.source or sys.stdin).readline()
        answer = line.strip().lower()
        if not line or answer == QUIT:
            self._say("Goodbye.")
            raise KeyboardInterrupt
        return answer

    def _say(self, text: str) -> None:
        print(text, file=self.sink or sys.stdout, flush=True)

    def _help(self, row: Observations) -> str:
        lines = [HELP_TEXT, "discarded: " + (_listed(self._of(row, "discard_pile")) or "nothing")]
        if any(section.name == "unseen" for section in self._table.sections):
            lines.append("not seen yet: " + (_listed(self._of(row, "unseen")) or "nothing"))
        return "\n".join(lines)

    def _of(self, row: Observations, name: str) -> Numbers:
        """The numbers of one section."""
        numbers: Numbers = self._table.view(row, name)[0]
        return numbers

    def _headline(self, row: Observations) -> str:
        called = self._of(row, "extension").any()
        target = _KM_UNIT * int(self._of(row, "target")[0])
        left = int(self._of(row, "draw_pile")[0])
        return f"{target} km to go for{' (extended)' if called else ''}  |  {_cards(left)} to draw"

    def _tableau(self, row: Observations, team: int) -> str:
        km = _KM_UNIT * int(self._of(row, "km")[team])
        target = _KM_UNIT * int(self._of(row, "target")[0])
        done = min(_ROAD_LENGTH, _ROAD_LENGTH * km // max(target, 1))
        road = "=" * done + ">" + "." * (_ROAD_LENGTH - done)
        moving = "rolling" if self._of(row, "moving")[team] else "stopped"
        top = BATTLE_TOPS[int(self._of(row, "battle").reshape(-1, len(BATTLE_TOPS))[team].argmax())]
        speed = "limited to 50" if self._of(row, "limited")[team] else "no limit"
        caller = "  called the extension" if self._of(row, "extension")[team] else ""
        return (
            f"{self._team_name(team):15s} [{road}] {km:4d} km  {moving}{self._points(row, team)}{caller}\n"
            f"                battle: {top.capitalize():13s} speed: {speed:14s}"
            f"200s: {int(self._of(row, 'two_hundreds')[team])} of {self._rules.max_200}\n"
            f"                safeties: {self._safeties(row, team)}"
        )

    def _team_name(self, team: int) -> str:
        if team == 0:
            return "you" if self._rules.players == self._rules.teams else "your team"
        return "the other team" if self._rules.teams == 2 else f"team +{team}"

    def _points(self, row: Observations, team: int) -> str:
        score = self._of(row, "score")
        if not score.any():
            return ""
        more = " or more" if int(score[team]) == MAX_INT8 else ""
        return f"  {SCORE_UNIT * int(score[team])} points{more}"

    def _safeties(self, row: Observations, team: int) -> str:
        laid = self._of(row, "safeties").reshape(-1, NUM_SAFETIES)[team]
        coups = self._of(row, "coups_fourres").reshape(-1, NUM_SAFETIES)[team]
        names = [
            CARD_NAMES[DRIVING_ACE + safety] + (" (coup fourré)" if coups[safety] else "")
            for safety in np.flatnonzero(laid)
        ]
        return ", ".join(names) or "none"

    def _question(self, row: Observations) -> str:
        phase = int(self._of(row, "phase").argmax())
        if phase == CLAIM:
            hazard = ACCIDENT + int(self._of(row, "pending_hazard").argmax())
            return (
                f"{CARD_NAMES[hazard]} is laid against {self._team_name(0)}, and you hold the "
                f"{CARD_NAMES[safety_against(hazard)]}. Claim the coup fourré?"
            )
        if phase == EXTENSION:
            km = _KM_UNIT * int(self._of(row, "km")[0])
            return f"You have done {km} km. Extend the trip to {self._rules.extended_target} km?"
        return "Your turn."


def _listed(counts: Numbers) -> str:
    """Cards by card type in words: "25 km, Roll (2)"."""
    return ", ".join(
        CARD_NAMES[card] + (f" ({int(counts[card])})" if counts[card] > 1 else "")
        for card in np.flatnonzero(counts)
    )


def _cards(count: int) -> str:
    return f"{count} card" if count == 1 else f"{count} cards"

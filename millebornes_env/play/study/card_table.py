"""The table of a study of Mille Bornes, which shows each seat only what it may see."""

from __future__ import annotations

from typing import Any

from millebornes_env.games.millebornes.actions import PASS
from millebornes_env.games.millebornes.state import CLAIM, ROUND_OVER
from millebornes_env.play.web.table import CardTable


class StudyTable(CardTable):
    """A table that can be shown to each seat separately.

    A pending coup fourré, or one that was declined, would reveal that a seat holds a safety. Neither is shown
    to other seats: until the answer is given, they see the table as it was before the hazard.
    """

    @property
    def to_act(self) -> int | None:
        """The seat to act; None if the round is over."""
        state = self._playing.state
        return None if int(state.phase) == ROUND_OVER else int(state.seat)

    @property
    def can_go_on(self) -> bool:
        """Return True if the match has another round to deal."""
        return self._playing.can_go_on()

    def is_hidden_from(self, seat: int) -> bool:
        """Return True if the decision must be hidden from a seat: another seat's answer to a hazard."""
        state = self._playing.state
        return int(state.phase) == CLAIM and int(state.seat) != seat

    def view_of(self, seat: int) -> dict[str, Any]:
        """Return the position as a seat sees it, for the page."""
        game = self._playing
        at, is_hidden = game.at, self.is_hidden_from(seat) and game.at > 0
        try:
            if is_hidden:
                game.go_to(at - 1)
            position = self.position(seat)
        finally:
            game.go_to(at)
        log = self.log_for(seat)
        if is_hidden:
            position |= {"to_act": None, "asks": None, "legal": []}
        elif position["to_act"] not in (None, seat):
            position["legal"] = []
        return position | {"last": log[-1] if log else None, "at": len(log), "plays": len(log)}

    def log_for(self, seat: int) -> list[dict[str, Any]]:
        """List the plays that a seat has seen, in notation and in words."""
        log = self.log()
        if self.is_hidden_from(seat):
            log = log[:-1]
        return [one for one in log if one["action"] != PASS or one["seat"] == seat]

    def result(self) -> dict[str, Any]:
        """Return the result of the game: each team's points, the winning teams, and the game as a record."""
        position = self.position()
        return {
            "points": [side["score"] for side in position["sides"]],
            "km": [side["km"] for side in position["sides"]],
            "winners": position["winners"],
            "record": self.record()["text"],
        }

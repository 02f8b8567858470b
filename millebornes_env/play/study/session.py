"""One table of a study: its players, their decisions, and the messages to each of them.

Every change is written to the session's file before any page receives it. After the server was stopped or
killed, the session is restored from this file.
"""

from __future__ import annotations

import time
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env._util.versions import __version__
from millebornes_env.engine.rulebook import NEXT_ROUND
from millebornes_env.errors import JournalError, MilleBornesError, PlayError
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game
from millebornes_env.play.study.design import Design, Study, session_name
from millebornes_env.play.study.journal import FORMAT, Journal, now

if TYPE_CHECKING:
    from millebornes_env.play.study.card_table import StudyTable

MOST_VISITS: Final = 40
"""Most openings and closings of pages recorded between two plays, so that reloads do not fill the disk."""


class Session:
    """One table, and the games that are played there one after the other."""

    def __init__(self, study: Study, number: int) -> None:
        """Start the session, or restore it from its file.

        Args:
            study: the study.
            number: index of the session.

        Raises:
            JournalError: the file is damaged, or cannot be written.
        """
        self.name = session_name(number)
        self._study, self._number, self._design = study, number, study.design
        self.participants = study.participants_of(number)
        self._edition = find_edition(self._design.edition).label
        self._journal = Journal(study.path_of(number))
        self._table: StudyTable | None = None
        self.game = -1
        self._is_over = True
        self._ready: set[int] = set()
        self._steps: dict[int, list[dict[str, Any]]] = {seat: [] for seat in self.participants}
        self._sent: Counter[int] = Counter()  # log entries sent, by seat
        self._made: Counter[int] = Counter()  # decisions in this game, by seat
        self._asked_at: float | None = None
        self._visits = 0  # since the last play
        self._interrupted: set[int | None] = set()  # seats whose page was reopened during this decision
        self._restore()

    # Messages to a seat ------------------------------------------------------------------------------------

    def welcome(self, seat: int) -> dict[str, Any]:
        """Return the first message to a page; the seat is then sent the whole running game again."""
        self._go_on()
        design = self._design
        self._sent[seat] = 0
        if self._table is not None:
            if self._table.to_act == seat and self._asked_at is not None:
                self._interrupted.add(seat)
            self._steps[seat] = [self._table.view_of(seat)]
        return {
            "type": "welcome",
            **_shown(design),
            "seats": [self._name_for(other, seat) for other in range(design.players)],
            "seat": seat,
            "games": design.games,
            "game": self.game,
            "over": self._is_over,
            "waiting": seat in self._ready and not self._are_all_ready,
            "intro": design.intro,
        }

    def _name_for(self, other: int, seat: int) -> str:
        """Return the name of a seat's player for a participant, whose own seat is "you"."""
        if other == seat:
            return "you"
        if self._design.anonymous or other in self.participants:
            return f"player {other}"
        return _title(self._design)

    def news(self, seat: int) -> dict[str, Any] | None:
        """Return the message with everything that a seat has not been sent yet; None if there is nothing."""
        steps, self._steps[seat] = self._steps[seat], []
        if self._table is None or not steps:
            return None
        log = self._table.log_for(seat)
        start, self._sent[seat] = self._sent[seat], len(log)
        is_asked = self._table.to_act == seat
        if is_asked and self._asked_at is None:
            self._asked_at = time.monotonic()
        return {
            "type": "table",
            "game": self.game,
            "over": self._is_over,
            "steps": steps,
            "log": log[start:],
            "log_from": start,
            "decision": self._made[seat] if is_asked else None,
        }

    # Messages of a seat ------------------------------------------------------------------------------------

    def begin(self, seat: int, number: int) -> None:
        """Mark a seat as ready for the next game, which is dealt as soon as all are.

        Raises:
            PlayError: that game cannot begin now.
            JournalError: writing failed; nothing was dealt.
        """
        if number != self.game + 1 or not self._is_over or number >= self._design.games:
            raise PlayError(f"game {number} cannot begin now")
        if seat not in self._ready:
            self._note("ready", seat)
        self._ready.add(seat)
        if not self._are_all_ready:
            return
        table = new_table(self._design)
        design, parts = self._design, (0 if self._design.same_deals else self._number + 1, number)
        seed = int(np.random.SeedSequence([self._study.seed, *parts]).generate_state(1, np.uint64)[0])
        table.start(design.edition, design.players, design.teams, design.episode, seed)
        self._write("deal", game=number, record=table.record()["text"])
        self._set_table(table, number)
        self._show_all()
        self._go_on()

    @property
    def _are_all_ready(self) -> bool:
        """Return True if a game is to be dealt; if writing it failed, the next `begin` deals it."""
        return self._ready >= set(self.participants)

    def play(self, seat: int, decision: int, action: int, took_ms: int | None) -> None:
        """Make a decision of a participant.

        Args:
            seat: seat of the sender.
            decision: the number that was sent with the question.
            action: id of the action.
            took_ms: milliseconds by the page's clock; None: unknown.

        Raises:
            PlayError: it is not the seat's turn, the decision was made already, or it is not legal.
            JournalError: writing failed; the decision was not made.
        """
        table = self._playing()
        if table.to_act != seat:
            raise PlayError("it is not your turn")
        if decision != self._made[seat]:
            raise PlayError("that decision was already made")
        chosen = next((one for one in table.position()["legal"] if one["action"] == action), None)
        if chosen is None:
            raise PlayError("the rules do not allow that now")
        waited = None if self._asked_at is None else round(1000 * (time.monotonic() - self._asked_at))
        is_known = took_ms is not None and waited is not None and took_ms <= waited
        times = {
            "ms": took_ms if is_known else None,
            "server_ms": waited,
            "interrupted": seat in self._interrupted,
        }
        self._decide(action, {"participant": self.participants[seat], **times})
        self._go_on()

    def next_round(self, seat: int) -> None:
        """Deal the next round of the match.

        Raises:
            PlayError: there is no round to deal now.
            JournalError: writing failed; nothing was dealt.
        """
        table = self._playing()
        if not table.can_go_on:
            raise PlayError("no round can be dealt now")
        self._write("next_round", game=self.game, participant=self.participants[seat])
        table.play(NEXT_ROUND)
        self._show_all()
        self._go_on()

    def why_not(self, seat: int, card: int, target_team: Any) -> dict[str, str | None]:
        """Return the reason why the seat to act cannot play a card there.

        Raises:
            PlayError: it is not that seat's turn, or there is no such card or team.
        """
        table = self._playing()
        if table.to_act != seat:
            raise PlayError("it is not your turn")
        return table.why_not(card, target_team)

    def joined(self, seat: int, *, has_left: bool = False) -> None:
        """Record that a page was opened or closed, up to `MOST_VISITS` times between two plays."""
        if self._visits < MOST_VISITS:
            self._note("left" if has_left else "joined", seat)
            self._visits += 1

    # Playing on --------------------------------------------------------------------------------------------

    def _playing(self) -> StudyTable:
        if self._table is None or self._is_over:
            raise PlayError("no game is being played")
        return self._table

    def _go_on(self) -> None:
        """Let agents decide until a participant is to act, and record the result of a finished game."""
        table = self._table
        if table is None or self._is_over:
            return
        while table.to_act is not None and table.to_act not in self.participants:
            chosen = table.choose(self._design.against)
            self._decide(chosen["action"], {"agent": self._design.against, "ms": chosen["ms"]})
        if table.to_act is None and not table.can_go_on:
            self._write("result", game=self.game, is_last=True, **table.result())
            self._is_over = True

    def _decide(self, action: int, who: dict[str, Any]) -> None:
        """Record a decision, then apply it."""
        table = self._playing()
        seat, choices = int(table.to_act or 0), table.position()["legal"]
        chosen = next(one for one in choices if one["action"] == action)
        design = self._design
        self._write(
            "decision",
            game=self.game,
            number=sum(self._made.values()),
            seat=seat,
            **who,
            edition=self._edition,
            players=design.players,
            teams=design.teams,
            legal=[one["notation"].partition(": ")[2] for one in choices],
            legal_actions=[one["action"] for one in choices],
            action=action,
            play=chosen["notation"],
        )
        self._apply(action, seat)
        self._show_all()

    def _apply(self, action: int, seat: int) -> None:
        self._playing().play(action)
        self._made[seat] += 1
        self._visits = 0
        self._asked_at = None
        self._interrupted.discard(seat)

    def _show_all(self) -> None:
        """Add the new position to the steps of each participant who may see it."""
        table = self._playing()
        for seat, steps in self._steps.items():
            if not table.is_hidden_from(seat):
                steps.append(table.view_of(seat))

    def _set_table(self, table: StudyTable, number: int) -> None:
        self._table, self.game, self._is_over = table, number, False
        self._ready.clear()
        self._made.clear()
        self._sent.clear()
        self._asked_at = None
        self._interrupted.clear()
        for steps in self._steps.values():
            steps.clear()

    # The file ----------------------------------------------------------------------------------------------

    def _write(self, line: str, *, is_last: bool = False, **entries: Any) -> None:
        head = {"line": line, "time": now(), "study": self._study.name, "session": self.name}
        self._journal.append(head | entries, is_last=is_last)

    def _note(self, event: str, seat: int) -> None:
        self._write("event", event=event, game=self.game, seat=seat, participant=self.participants[seat])

    def _restore(self) -> None:
        """Restore the session from its file, or create the file."""
        lines = self._journal.lines()
        if not lines:
            design = self._design
            self._write(
                "session",
                format=FORMAT,
                version=__version__,
                edition=self._edition,
                players=design.players,
                teams=design.teams,
                episode=design.episode,
                games=design.games,
                seats=[self.participants.get(seat, design.against) for seat in range(design.players)],
                people=self.participants,
            )
        for number, line in enumerate(lines, 1):
            try:
                self._read(line)
            except JournalError:
                raise
            except (MilleBornesError, KeyError, TypeError) as error:
                raise JournalError(
                    f"{self._journal.path}: line {number} does not follow from the lines before ({error}); "
                    "move the file away to start its session again"
                ) from None
        self._interrupted = set() if self._table is None else {self._table.to_act}
        self._go_on()

    def _read(self, line: dict[str, Any]) -> None:
        kind = line["line"]
        if line["session"] != self.name or line["study"] != self._study.name:
            raise PlayError(f"it is of session {line['session']} of study {line['study']}")
        if kind == "deal":
            table = new_table(self._design)
            table.load(line["record"], self._design.episode)
            self._set_table(table, line["game"])
        elif kind == "decision":
            if self._playing().to_act != line["seat"]:
                raise PlayError(f"it is not the turn of seat {line['seat']}")
            self._apply(line["action"], line["seat"])
        elif kind == "next_round":
            self._playing().play(NEXT_ROUND)
        elif kind == "result":
            self._is_over = True
        elif kind == "event" and line["event"] == "ready":
            self._ready.add(line["seat"])
        elif kind == "event":
            self._visits += 1


def new_table(design: Design) -> StudyTable:
    """Return a new table of the study's game, without a deal."""
    kind = game(find_edition(design.edition).game).hook("play.study", "play --study")
    table: StudyTable = kind({"edition": design.edition, "against": design.against})
    return table


@lru_cache(maxsize=8)
def _shown(design: Design) -> dict[str, Any]:
    """Return the data that all participants share: cards, edition, rules."""
    table, name = new_table(design), find_edition(design.edition).name
    result = table.catalogue()
    catalogue = {
        "version": result["version"],
        "editions": [one for one in result["editions"] if one["name"] == name],
        "agents": [],
        "cards": result["cards"],
    }
    return {"catalogue": catalogue, "rules": table.rules(design.edition, design.players, design.teams)}


@lru_cache(maxsize=8)
def _title(design: Design) -> str:
    """Return the agent's name on the page."""
    known = new_table(design).catalogue()["agents"]
    return next((str(one["title"]) for one in known if one["name"] == design.against), design.against)

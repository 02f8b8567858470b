"""A person at the terminal: what is shown, what is typed, and the words that are no action."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TextIO

import numpy as np

from millebornes_env._util.texts import print_text
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import Agent, Masks, Observations, ask

QUIT: Final = "q"
HELP: Final = "?"
HINT: Final = "hint"
UNDO: Final = "undo"
OTHER_WORDS: Final = {"quit": QUIT, "exit": QUIT, "help": HELP}

_SHARES_SHOWN: Final = 3
_LEAST_SHARE: Final = 0.005


class UndoRequest(Exception):  # noqa: N818 - no error: the person asks for it
    """The person wants back to the last decision; whoever holds the game goes there."""


class Terminal:
    """The terminal of a person who reads and types.

    Attributes:
        source: where the answers come from; None: the standard input.
        sink: where the table is shown; None: the standard output.
        adviser: makes the agent that is asked for a hint, once; None: there are no hints.
        can_undo: whether whoever holds the game catches `UndoRequest` now.
    """

    def __init__(self) -> None:
        """Read from the standard input, write to the standard output."""
        self.source: TextIO | None = None
        self.sink: TextIO | None = None
        self.adviser: Callable[[], Agent | None] | None = None
        self.can_undo = False
        self._adviser: Agent | None = None

    def read(self) -> str:
        """The next line, without capital letters and spaces around it.

        Raises:
            KeyboardInterrupt: the person wants to stop, or the input has ended.
        """
        print("> ", end="", flush=True, file=self.sink or sys.stdout)
        line = (self.source or sys.stdin).readline()
        answer = line.strip().lower()
        answer = OTHER_WORDS.get(answer, answer)
        if not line or answer == QUIT:
            self.say("Goodbye.")
            raise KeyboardInterrupt
        return answer

    def say(self, text: str) -> None:
        """Show a line or several."""
        print_text(text, file=self.sink)

    def undo(self) -> None:
        """Go back to the last decision, if there is one.

        Raises:
            UndoRequest: there is, and whoever holds the game goes there.
        """
        if self.can_undo:
            raise UndoRequest
        self.say("There is no decision of yours to take back.")

    def advice(self, row: Observations, mask: Masks, slot_id: int, words: Callable[[int], str]) -> str:
        """Return the adviser's choice, and its probability if the adviser is a network.

        Args:
            row: int8[1, D], what the person's seat sees.
            mask: int8[1, A].
            slot_id: of the game and seat.
            words: what an action is called.
        """
        if self._adviser is None and self.adviser is not None:
            self._adviser = self.adviser()
        if self._adviser is None:
            return "There is nobody here to ask for a hint."
        if isinstance(self._adviser, PolicyAgent):
            shares = self._adviser.probabilities(row, mask)[0]
            best = [int(action) for action in np.argsort(-shares, kind="stable")[:_SHARES_SHOWN]]
            named = [
                f"{words(action)} {shares[action]:.0%}" for action in best if shares[action] >= _LEAST_SHARE
            ]
            return f"{self._adviser.name}: {', '.join(named)}"
        action = int(ask(self._adviser, row, mask, np.array([slot_id]))[0])
        return f"{self._adviser.name}: {words(action)} (how sure it is, it does not say)"

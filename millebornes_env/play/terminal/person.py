"""A person on the terminal in any game, who sees the view of a seat and types names of actions."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, TextIO

import numpy as np
import numpy.typing as npt

from millebornes_env._util.texts import closest, print_text
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import Agent, Masks, Observations, Table, ask
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.notation.play_words import LONG_RUN, number_at_the_end, runs
from millebornes_env.render.names import Names

SEAT: Final = 0
"""Seat of the person."""

QUIT: Final = "q"
HELP: Final = "?"
HINT: Final = "hint"
UNDO: Final = "undo"
_OTHER_WORDS: Final = {"quit": QUIT, "exit": QUIT, "help": HELP}

_MOST_DIGITS: Final = 9
_MOST_REASONS: Final = 4
_SHARES_SHOWN: Final = 3
_LEAST_SHARE: Final = 0.005
_SEAT_IN_A_REASON: Final = re.compile(r"\bseat (\d+)")

Menu = dict[int, str]
"""The names of the legal actions, in the order of the list."""


class UndoRequest(Exception):  # noqa: N818 - a request, not an error
    """The person wants to go back to the last decision; the session does it."""


class SeatNames(Names):
    """Names of players and teams as in drawings of tables: "player_0", or "team 0" of several players."""

    def seat(self, seat: int) -> str:
        """Return the name of a player."""
        return f"player_{seat}"

    def team(self, team: int) -> str:
        """Return the name of a team."""
        return self.seat(team) if self.teams == self.players else f"team {team}"


class Person:
    """A person who reads and types; a game may have its own subclass (`Session.person_class`).

    Attributes:
        source: input with the answers; None: standard input.
        sink: output for the table; None: standard output.
        adviser: function that creates the agent for hints, called for the first hint; None: no hints.
        can_undo: True while the session catches `UndoRequest`.
        names: names of the players.
        kept: memory by slot, which the session restores after an undo.
    """

    help_text = f"""\
Type the name of an action or its beginning, the number beside it if the list has numbers, or the number alone
if the names end in numbers (7 for "bid 7").
Type an action that is not in the list to see why it is not possible.
{HINT}: the choice of a strong agent, if there is one; {UNDO}: back to your last decision;
{QUIT}: stop playing; {HELP}: this text, and the table again."""

    def __init__(self, table: Table, seed: int = 0) -> None:
        """Play at a table; `seed` is not used, but every agent takes one."""
        self.source: TextIO | None = None
        self.sink: TextIO | None = None
        self.adviser: Callable[[], Agent | None] | None = None
        self.can_undo = False
        self.names: Names = SeatNames(table.rules.players, table.rules.teams)
        self.kept: dict[int, Any] = {}
        self._table = table
        self._adviser: Agent | None = None

    def choose(self, env: VectorEnv, observations: dict[str, npt.NDArray[Any]]) -> int:
        """Show the table and the legal actions, and read answers until one is legal; return that action.

        Args:
            env: environment of one game, with the person to act.
            observations: its observations.

        Raises:
            KeyboardInterrupt: the person wants to stop, or the input has ended.
            UndoRequest: the person wants to take back the last decision (only if `can_undo`).
        """
        row, mask = observations["observation"], observations["action_mask"]
        return self._ask(row, mask, table_as_seen(env, row[0]), env.games.states[0])

    def _ask(self, row: Observations, mask: Masks, table: str, state: Any, slot_id: int = SEAT) -> int:
        """Show the table and the menu, and read until an answer names one action of the menu.

        Args:
            row: int8[1, D], the view of the person's seat.
            mask: int8[1, A].
            table: the same view as text.
            state: the game, to explain why an action is not legal.
            slot_id: slot of the game and seat.
        """
        menu = self._menu(mask)
        self._show(table, menu)
        while True:
            answer = self.read()
            if answer == HELP:
                self._help(row, table, menu)
            elif answer == HINT:
                self.say(self._advice(row, mask, slot_id))
            elif answer == UNDO:
                if self.can_undo:
                    raise UndoRequest
                self.say("You have made no decision that could be taken back.")
            else:
                meant = self._meant_in(menu, answer)
                if len(meant) == 1:
                    return meant[0]
                self.say(self._explanation(state, answer, menu, meant))

    def read(self) -> str:
        """Return the next line, in lower case and without unneeded spaces.

        Raises:
            KeyboardInterrupt: the person wants to stop (its argument is `QUIT`), or the input has ended ("").
        """
        print("> ", end="", flush=True, file=self.sink or sys.stdout)
        line = (self.source or sys.stdin).readline()
        answer = " ".join(line.lower().split())
        answer = _OTHER_WORDS.get(answer, answer)
        if not line or answer == QUIT:
            self.say("Goodbye.")
            raise KeyboardInterrupt(answer)
        return answer

    def say(self, text: str) -> None:
        """Show one or more lines."""
        print_text(text, file=self.sink)

    # Methods for subclasses to override --------------------------------------------------------------------

    def words(self, action: int, seat: int = SEAT) -> str:
        """Return the name of an action."""
        name = self._table.rulebook.action_name(action, self._table.rules, seat)
        return " ".join(name.lower().split())

    def _menu(self, mask: Masks) -> Menu:
        return {action: self.words(action) for action in np.flatnonzero(mask[0]).tolist()}

    def _has_numbers(self, menu: Menu) -> bool:
        """Return True if names end in numbers; a typed number is then one of these, not one of the list."""
        return any(number_at_the_end(name) is not None for name in menu.values())

    def _help(self, row: Observations, table: str, menu: Menu) -> None:
        self.say(self.help_text)
        self._show(table, menu)

    def _meant(self, answer: str, actions: Iterable[int]) -> list[int]:
        """Return the actions that a typed name, or the beginning of one, may mean."""
        named = {action: self.words(action) for action in actions}
        if answer.isascii() and answer.isdecimal():
            number = int(answer) if len(answer) <= _MOST_DIGITS else -1
            return [action for action, name in named.items() if number_at_the_end(name) == number]
        exact = [action for action, name in named.items() if name == answer]
        return exact or [action for action, name in named.items() if _begins(name, answer)]

    def _tried(self, answer: str, menu: Menu) -> list[int]:
        """Return the actions outside the menu that an answer may mean: those like one of the menu first."""
        everything = range(self._table.num_actions)
        kinds = {_without_number(name) for name in menu.values()}
        exact = [action for action in everything if self.words(action) == answer]
        alike = [action for action in everything if _without_number(self.words(action)) in kinds]
        return exact or self._meant(answer, alike) or self._meant(answer, everything)

    def _reason(self, state: Any, action: int, menu: Menu) -> str:
        """Return why an action is not legal."""
        reason = self._table.rulebook.reason_against(state, self._table.rules, action)
        return _SEAT_IN_A_REASON.sub(lambda match: self.names.seat(int(match[1])), reason)

    # Common to all games -----------------------------------------------------------------------------------

    def _show(self, table: str, menu: Menu) -> None:
        self.say(f"\n{table}")
        if self._has_numbers(menu):
            for group in runs(list(menu.values())):
                shown = [f"{group[0]} ... {group[-1]}"] if len(group) >= LONG_RUN else group
                for line in shown:
                    self.say(f"      {line}")
        else:
            for number, name in enumerate(menu.values(), start=1):
                self.say(f"{number:4d}  {name}")

    def _meant_in(self, menu: Menu, answer: str) -> list[int]:
        """Return the actions of the menu that an answer may mean: a number of the list, or a name."""
        numbers = {} if self._has_numbers(menu) else {str(place): one for place, one in enumerate(menu, 1)}
        if (place := answer.lstrip("0")) in numbers:
            return [numbers[place]]
        return self._meant(answer, menu) if answer else []

    def _explanation(self, state: Any, answer: str, menu: Menu, meant: list[int]) -> str:
        """Explain why an answer is not a single action of the menu."""
        if meant:
            choices = " or ".join(repr(menu[action]) for action in meant[:_MOST_REASONS])
            others = ", or others" if len(meant) > _MOST_REASONS else ""
            return f"{answer!r} may mean {choices}{others}: type more of the name"
        tried = self._tried(answer, menu) if answer else []
        if not 0 < len(tried) <= _MOST_REASONS:
            what = "its number alone" if self._has_numbers(menu) else f"a number from 1 to {len(menu)}"
            return (
                f"{answer!r} is not an action: type a name, or {what}, {HELP} for help or {QUIT} to stop."
                f"{closest(answer, menu.values())}"
            )
        return "\n".join(
            f"Not possible now: {self.words(action)}: {self._reason(state, action, menu)}" for action in tried
        )

    def _advice(self, row: Observations, mask: Masks, slot_id: int) -> str:
        """Return the adviser's choice, and its probability if the adviser is a network."""
        if self._adviser is None and self.adviser is not None:
            self._adviser = self.adviser()
        if self._adviser is None:
            return "No agent is available for hints."
        if isinstance(self._adviser, PolicyAgent):
            shares = self._adviser.probabilities(row, mask)[0]
            best = [int(action) for action in np.argsort(-shares, kind="stable")[:_SHARES_SHOWN]]
            named = [f"{self.words(one)} {shares[one]:.0%}" for one in best if shares[one] >= _LEAST_SHARE]
            return f"{self._adviser.name}: {', '.join(named)}"
        action = int(ask(self._adviser, row, mask, np.array([slot_id]))[0])
        return f"{self._adviser.name}: {self.words(action)} (without a probability)"


def has_public_actions(env: VectorEnv) -> bool:
    """Return True if the game hides nothing, so that all actions are public."""
    return env.state_sections[-1].stop == env.observation_sections[-1].stop


def table_as_seen(env: VectorEnv, row: npt.NDArray[np.int8]) -> str:
    """Return the table as the person's seat sees it.

    Uses the game's hook `render.view`, else `render.draw` if the game hides nothing, else `render.describe`,
    else the numbers of the observation.
    """
    game, state = env.game, env.games.states[0]
    view, draw = game.find_hook("render.view"), game.find_hook("render.draw")
    if view is not None:
        return str(view(state, env.rules, SEAT))
    if draw is not None and has_public_actions(env):
        return str(draw(state, env.rules))
    describe = game.find_hook("render.describe")
    if describe is not None:
        return str(describe(row, env.observation_sections, env.rules))
    return "\n".join(
        f"{one.name} ({one.meaning}): {' '.join(map(str, row[one.start : one.stop]))}"
        for one in env.observation_sections
    )


def _without_number(name: str) -> str:
    return name.rpartition(" ")[0] if number_at_the_end(name) is not None else name


def _begins(name: str, answer: str) -> bool:
    """Return True if the answer abbreviates the name, as a whole or word by word, with the same number."""
    if number_at_the_end(name) is None and name.startswith(answer):
        return True
    typed, words = answer.split(), name.split()
    if len(typed) != len(words):
        return False
    pairs = zip(typed, words, strict=True)
    return all(part == word if word.isdecimal() else word.startswith(part) for part, word in pairs)

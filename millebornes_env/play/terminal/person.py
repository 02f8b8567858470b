"""A person on the terminal in any game, who sees the seat's view and types names of actions."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.texts import closest
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.notation.play_words import LONG_RUN, number_at_the_end, runs
from millebornes_env.play.terminal.human.terminal import HELP, HINT, QUIT, UNDO, Terminal

SEAT: Final = 0
"""Seat of the person."""

HELP_TEXT: Final = f"""\
Type the name of an action or its beginning, the number beside it if the list has numbers, or the number alone
if the names end in numbers (7 for "bid 7").
Type an action that is not in the list to learn why it is not possible.
{HINT}: the choice of a strong agent, if there is one; {UNDO}: back to your last decision;
{QUIT}: stop playing; {HELP}: this text, and the table again."""

_MOST_DIGITS: Final = 9
_MOST_REASONS: Final = 4
_SEAT_IN_A_REASON: Final = re.compile(r"\bseat (\d+)")


def name_of_seat(seat: int) -> str:
    """Return the name of a seat, as in drawings of tables."""
    return f"player_{seat}"


def name_of_team(env: VectorEnv, team: int) -> str:
    """Return the name of a team, or of its seat if each plays alone."""
    return name_of_seat(team) if env.teams == env.players else f"team {team}"


def tells_actions(env: VectorEnv) -> bool:
    """Return True if all actions are public because the game hides nothing."""
    return env.state_sections[-1].stop == env.observation_sections[-1].stop


def table_as_seen(env: VectorEnv, row: npt.NDArray[np.int8]) -> str:
    """Return the table as the person's seat sees it.

    Uses the game's part `view`, else `draw` if the game hides nothing, else `describe`, else the numbers of
    the observation.
    """
    game, state = env.game, env.games.states[0]
    if game.has("render.view"):
        return str(game.hook("render.view", "play")(state, env.rules, SEAT))
    if game.has("render.draw") and tells_actions(env):
        return str(game.hook("render.draw", "play")(state, env.rules))
    if game.has("render.describe"):
        return str(game.hook("render.describe", "play")(row, env.observation_sections, env.rules))
    return "\n".join(
        f"{one.name} ({one.meaning}): {' '.join(map(str, row[one.start : one.stop]))}"
        for one in env.observation_sections
    )


class Person(Terminal):
    """A person who plays by typing."""

    def __init__(self, env: VectorEnv) -> None:
        """Collect the names of the actions."""
        super().__init__()
        rulebook, rules = env.games.rulebook, env.rules
        self._all = {
            action: _key(rulebook.action_name(action, rules, SEAT))
            for action in range(int(env.single_action_space.n))
        }

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
        menu = {action: self._all[action] for action in np.flatnonzero(mask[0]).tolist()}
        self._show(env, row, menu)
        while True:
            answer = _key(self.read())
            if answer == HELP:
                self.say(HELP_TEXT)
                self._show(env, row, menu)
            elif answer == HINT:
                self.say(self.advice(row, mask, SEAT, lambda action: self._all[action]))
            elif answer == UNDO:
                self.undo()
            else:
                meant = _meant(answer, menu)
                if len(meant) == 1:
                    return meant[0]
                self.say(self._complaint(env, answer, menu, meant))

    def _show(self, env: VectorEnv, row: npt.NDArray[np.int8], menu: dict[int, str]) -> None:
        self.say(f"\n{table_as_seen(env, row[0])}")
        if _has_numbers(menu):
            for group in runs(list(menu.values())):
                shown = [f"{group[0]} ... {group[-1]}"] if len(group) >= LONG_RUN else group
                for line in shown:
                    self.say(f"      {line}")
        else:
            for number, name in enumerate(menu.values(), start=1):
                self.say(f"{number:4d}  {name}")

    def _complaint(self, env: VectorEnv, answer: str, menu: dict[int, str], meant: list[int]) -> str:
        """Explain why an answer is not a single action of the menu."""
        if meant:
            choices = " or ".join(repr(menu[action]) for action in meant[:_MOST_REASONS])
            return f"{answer!r} may mean {choices}: type more of the name"
        exact = [action for action, name in self._all.items() if name == answer]
        kinds = {_without_number(name) for name in menu.values()}
        alike = {action: name for action, name in self._all.items() if _without_number(name) in kinds}
        tried = exact or _meant(answer, alike) or _meant(answer, self._all)
        if not 0 < len(tried) <= _MOST_REASONS:
            return (
                f"{answer!r} is not an action: {_what_to_type(menu)}, {HELP} for help or {QUIT} to "
                f"stop.{closest(answer, menu.values())}"
            )
        return "\n".join(self._reason(env, action) for action in tried)

    def _reason(self, env: VectorEnv, action: int) -> str:
        reason = env.games.rulebook.reason_against(env.games.states[0], env.rules, action)
        named = _SEAT_IN_A_REASON.sub(lambda match: name_of_seat(int(match[1])), reason)
        return f"Not possible now: {self._all[action]}: {named}"


def _key(text: str) -> str:
    return " ".join(text.lower().split())


def _without_number(name: str) -> str:
    return name.rpartition(" ")[0] if number_at_the_end(name) is not None else name


def _has_numbers(menu: dict[int, str]) -> bool:
    """Return True if names end in numbers; a typed number is then one of these, not an index in the list."""
    return any(number_at_the_end(name) is not None for name in menu.values())


def _what_to_type(menu: dict[int, str]) -> str:
    if _has_numbers(menu):
        return "type a name, or its number alone"
    return f"type a name, or a number from 1 to {len(menu)}"


def _meant(answer: str, menu: dict[int, str]) -> list[int]:
    """Return the actions of the menu that a typed answer may mean.

    Args:
        answer: a number, a name, or the beginning of a name or of each of its words ("b 7").
        menu: names by action.
    """
    if not answer:
        return []
    if answer.isascii() and answer.isdecimal() and len(answer) <= _MOST_DIGITS:
        if _has_numbers(menu):
            return [action for action, name in menu.items() if number_at_the_end(name) == int(answer)]
        return list(menu)[int(answer) - 1 : int(answer)] if int(answer) else []
    exact = [action for action, name in menu.items() if name == answer]
    return exact or [action for action, name in menu.items() if _begins(name, answer)]


def _begins(name: str, answer: str) -> bool:
    """Return True if the answer abbreviates the name, as a whole or word by word, with the same number."""
    if number_at_the_end(name) is None and name.startswith(answer):
        return True
    typed, words = answer.split(), name.split()
    if len(typed) != len(words):
        return False
    pairs = zip(typed, words, strict=True)
    return all(part == word if word.isdecimal() else word.startswith(part) for part, word in pairs)

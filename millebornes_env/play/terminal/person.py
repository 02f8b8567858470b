"""A person at the table of any game: sees what the seat sees, and answers by the names of actions."""

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
"""Where the person sits."""

HELP_TEXT: Final = f"""\
Type the name of an action or the beginning of it; where the list has numbers, the number beside it; and where
the names end in numbers, the number alone (7 for "bid 7").
Name an action that is not in the list to hear why it is not possible.
{HINT}: what a strong agent would do, if there is one; {UNDO}: back to your last decision;
{QUIT}: stop playing; {HELP}: this text, and the table again."""

_MOST_DIGITS: Final = 9
_MOST_REASONS: Final = 4
_SEAT_IN_A_REASON: Final = re.compile(r"\bseat (\d+)")


def name_of_seat(seat: int) -> str:
    """What a seat is called, as drawings of tables call it."""
    return f"player_{seat}"


def name_of_team(env: VectorEnv, team: int) -> str:
    """What a team is called: as its seat, where each plays alone."""
    return name_of_seat(team) if env.teams == env.players else f"team {team}"


def tells_actions(env: VectorEnv) -> bool:
    """Whether all may be told what a seat does: so it is in a game that hides nothing."""
    return env.state_sections[-1].stop == env.observation_sections[-1].stop


def table_as_seen(env: VectorEnv, row: npt.NDArray[np.int8]) -> str:
    """The table as the person's seat sees it, with nothing that is hidden from it.

    A game says it by its part `view`. Of others: the drawing of a game that hides nothing, or else what the
    game's words make of the observation, or else the numbers of the observation.
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
    """A person who reads and types, at the table of an environment."""

    def __init__(self, env: VectorEnv) -> None:
        """Take the names of the actions."""
        super().__init__()
        rulebook, rules = env.games.rulebook, env.rules
        self._all = {
            action: _key(rulebook.action_name(action, rules, SEAT))
            for action in range(int(env.single_action_space.n))
        }

    def choose(self, env: VectorEnv, observations: dict[str, npt.NDArray[Any]]) -> int:
        """Show the table and what can be done, and read until the answer is one of it.

        Args:
            env: of one game, in which it is the person's turn.
            observations: of it.

        Returns:
            A legal action.

        Raises:
            KeyboardInterrupt: the person wants to stop, or the input has ended.
            UndoRequest: the person wants back to the last decision (only if `can_undo`).
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
        """What is wrong with an answer that names no action of the menu, or several."""
        if meant:
            choices = " or ".join(repr(menu[action]) for action in meant[:_MOST_REASONS])
            return f"{answer!r} may mean {choices}: type more of the name"
        exact = [action for action, name in self._all.items() if name == answer]
        kinds = {_without_number(name) for name in menu.values()}
        alike = {action: name for action, name in self._all.items() if _without_number(name) in kinds}
        tried = exact or _meant(answer, alike) or _meant(answer, self._all)
        if not 0 < len(tried) <= _MOST_REASONS:
            return (
                f"{answer!r} is none of the actions: {_what_to_type(menu)}, {HELP} for help or {QUIT} to "
                f"stop.{closest(answer, menu.values())}"
            )
        return "\n".join(self._reason(env, action) for action in tried)

    def _reason(self, env: VectorEnv, action: int) -> str:
        reason = env.games.rulebook.reason_against(env.games.states[0], env.rules, action)
        named = _SEAT_IN_A_REASON.sub(lambda found: name_of_seat(int(found[1])), reason)
        return f"Not possible now: {self._all[action]}: {named}"


def _key(text: str) -> str:
    return " ".join(text.lower().split())


def _without_number(name: str) -> str:
    return name.rpartition(" ")[0] if number_at_the_end(name) is not None else name


def _has_numbers(menu: dict[int, str]) -> bool:
    """Whether names end in numbers: then a number that is typed is one of them, and no place in the list."""
    return any(number_at_the_end(name) is not None for name in menu.values())


def _what_to_type(menu: dict[int, str]) -> str:
    if _has_numbers(menu):
        return "type a name, or its number alone"
    return f"type a name, or a number from 1 to {len(menu)}"


def _meant(answer: str, menu: dict[int, str]) -> list[int]:
    """The actions of the menu that a typed answer may mean.

    Args:
        answer: a number, a name, or the beginning of one or of each of its words ("b 7").
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
    """Whether the answer begins the name; or its words begin those of the name, with the same number."""
    if number_at_the_end(name) is None and name.startswith(answer):
        return True
    typed, words = answer.split(), name.split()
    if len(typed) != len(words):
        return False
    pairs = zip(typed, words, strict=True)
    return all(part == word if word.isdecimal() else word.startswith(part) for part, word in pairs)

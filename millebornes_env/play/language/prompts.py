"""The prompt for a language model: the rules, the table, the history, and the form of the answer."""

from __future__ import annotations

from typing import Final

from millebornes_env.errors import PlayError, shown
from millebornes_env.games.registry import game as find_game
from millebornes_env.play.language.answers import Answer
from millebornes_env.play.language.views import View, checked_view, reading_a_view, words_of

_LAST: Final = 500
"""Number of characters quoted from the end of an unreadable answer, where the decision usually is."""

HOW_TO_ANSWER: Final = """\
HOW TO ANSWER
Think as long as you like. End with your move as a JSON object, with one key "move":
{"move": "..."}
The last JSON object of your answer counts. Name one move, as it is called above."""


def legal_moves(view: View) -> dict[int, str]:
    """Return the names of the seat's legal moves, by action id; empty if it is not its turn.

    Args:
        view: from `see`, or read back from JSON.

    Raises:
        PlayError: the view is invalid.
    """
    return {int(action): str(name) for action, name in checked_view(view)["moves"].items()}


@reading_a_view()
def prompt(view: View, *, list_moves: bool = True, previous: Answer | None = None) -> str:
    """Return the prompt, with everything that a language model needs to choose a move.

    Args:
        view: from `see`, or read back from JSON.
        list_moves: list the legal moves; without the list, the model must find them by the rules.
        previous: the model's last answer to the same question, if it could not be played.

    Returns:
        The text, which depends only on the arguments.

    Raises:
        PlayError: the view is invalid, or `previous` is not an `Answer`.
        OptionError: the game has no words.
    """
    given: object = previous
    if not (given is None or isinstance(given, Answer)):
        raise PlayError(f"previous is {shown(given)}; it must be an Answer of play.language.parse, or None")
    parts = [rules(checked_view(view)), history(view), table(view, list_moves=list_moves)]
    if view["moves"]:
        parts.append(HOW_TO_ANSWER)
    if previous is not None and previous.action is None:
        parts.append(_again(previous))
    return "\n\n".join(part for part in parts if part)


def rules(view: View) -> str:
    """Return the rules of the table, the part of a prompt that stays the same."""
    return words_of(find_game(view["game"])).rules_text(view)


def history(view: View) -> str:
    """Return the plays so far that the seat could see; empty if the view has no history."""
    lines = view["history"]
    return "WHAT WAS PLAYED, OLDEST FIRST\n" + "\n".join(lines) if lines else ""


def table(view: View, *, list_moves: bool = True) -> str:
    """Describe the table as the seat sees it, and its legal moves."""
    text = "THE TABLE NOW\n" + words_of(find_game(view["game"])).table_text(view)
    moves = view["moves"].values() if list_moves else ()
    return text + ("\n\nYOUR LEGAL MOVES\n" + "\n".join(moves) if moves else "")


def _again(previous: Answer) -> str:
    """Explain why the previous answer could not be played."""
    if previous.said is not None:
        return f"YOUR LAST ANSWER\nYour move was: {previous.said}\n{previous.reason}\nAnswer again."
    quoted = previous.text[-_LAST:]
    return f"YOUR LAST ANSWER\n{previous.reason}\nIt ended:\n{quoted}\nAnswer again."

"""All exceptions of the package: one for each kind of mistake, all of them `ValueError`.

Each message says what was wrong, where (game, seat, action) and how to correct it.
"""

from __future__ import annotations

import reprlib


class MilleBornesError(ValueError):
    """Base class of all errors of this package."""


class EditionError(MilleBornesError):
    """An unknown or invalid rule sheet, or an override that is not possible; the message names the entry."""


class GameError(MilleBornesError):
    """An unknown game, or one that cannot be registered or lacks a part of its rulebook."""


class OptionError(MilleBornesError, TypeError):
    """An unknown argument or option, or an invalid value, such as a number of players without a table.

    It is also a `TypeError`: libraries that try an option (Stable-Baselines3 `render_mode`, TorchRL
    `frameskip`) then go on without it, as after an unexpected keyword argument.
    """


class MissingExtraError(ModuleNotFoundError, OptionError):
    """A library of an optional extra is not installed; the message names the extra to install."""

    @classmethod
    def of(cls, what: str, missing: ModuleNotFoundError, extra: str) -> MissingExtraError:
        """Build the error from the import error.

        Args:
            what: the feature that needs the library, such as "the command arena".
            missing: the error that Python raised.
            extra: name of the extra that installs the library.
        """
        return cls(
            f"{what} needs {missing.name}, which is not installed: pip install 'millebornes-env[{extra}]'",
            name=missing.name,
        )


class IllegalActionError(MilleBornesError):
    """An action that the rules do not allow now; the message names the game, the seat and the action."""


class ActionError(MilleBornesError):
    """Actions of the wrong shape or type, or ids outside the action space."""


class CallError(MilleBornesError):
    """A method was called at the wrong time: before `reset`, after `close`, or during another call.

    `step` also needs a `reset` after an episode that does not restart by itself. The other call may be on
    another thread.
    """


class StateError(MilleBornesError):
    """An array that is not a valid batch of game states: wrong dtype, version, shape or contents."""


class ConformanceError(MilleBornesError, AssertionError):
    """An agent, sheet or environment fails a check of `millebornes_env.testing`."""


class NotationError(MilleBornesError):
    """A text that is not a valid position or game; the message names the line or the play."""


class AgentError(MilleBornesError):
    """An unknown agent or option, or an agent that cannot play, raised, or returned no legal action.

    After a failed call, the agent is as it was before the call.
    """


class AgentFaultError(MilleBornesError):
    """An agent raised or returned an invalid action during a match; the message says when."""


class ArenaError(MilleBornesError):
    """A match, tournament or recording that cannot be played, written or read."""


class SolvingError(MilleBornesError):
    """A game that cannot be solved, or a policy, checkpoint or export that cannot be read or made."""


class PlayError(MilleBornesError):
    """A table, server, study, message or view that is invalid or cannot be made."""


class JournalError(PlayError):
    """The journal of a study's session is damaged, or cannot be read or written."""


# How a message shows what was given -----------------------------------------------------------------------

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 100
_short.maxlist = _short.maxtuple = 8


def shown(value: object) -> str:
    """Return a value as messages show it: on one line, never long."""
    try:
        return " ".join(_short.repr(value).splitlines())
    except (ValueError, RecursionError):  # Python writes no number of more than 4,300 digits
        return f"a very large {type(value).__name__}"

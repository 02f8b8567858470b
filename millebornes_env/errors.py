"""All exceptions of the package: one for each kind of mistake, all of them `ValueError`.

Every message says what was wrong, where (which game, seat, play) and what to do about it.
"""

from __future__ import annotations

import reprlib


class MilleBornesError(ValueError):
    """The common base: `except MilleBornesError` catches every complaint of this package."""


class EditionError(MilleBornesError):
    """A rule sheet, or a change of its rules, makes no game; the message names file, entry or rule."""


class UnknownEditionError(EditionError):
    """No edition of that name; the message lists the editions there are."""


class PlayersError(MilleBornesError):
    """The edition has no table for that number of seats; the message lists those it has."""


class GameError(MilleBornesError):
    """No such game, or one that cannot be registered or lacks a part of its rulebook."""


class OptionError(MilleBornesError, TypeError):
    """An argument or option that is unknown, has an impossible value, or needs what the game lacks.

    It is a `TypeError` as well: libraries that try an option (Stable-Baselines3 `render_mode`, TorchRL
    `frameskip`) go on without it after one, as after an unexpected keyword argument.
    """


class MissingExtraError(ModuleNotFoundError, OptionError):
    """A library of an extra is not installed; the message says what needs it, and what pip is to install."""

    @classmethod
    def of(cls, what: str, missing: ModuleNotFoundError, extra: str) -> MissingExtraError:
        """The complaint.

        Args:
            what: needs the library, such as "the command arena".
            missing: what Python raised.
            extra: that brings the library.
        """
        return cls(
            f"{what} needs {missing.name}, which is not installed: pip install 'millebornes-env[{extra}]'",
            name=missing.name,
        )


class IllegalActionError(MilleBornesError):
    """A play that the rules do not allow now; the message names the game, the seat and the play."""


class ActionError(MilleBornesError):
    """The actions have the wrong shape or type, or name no play at this table."""


class ArenaError(MilleBornesError):
    """A match, tournament or recording that cannot be played, kept or read; the message says why."""


class ResetNeededError(MilleBornesError):
    """`step` was called before `reset`, or after a game ended that only `reset` can restart."""


class ClosedError(MilleBornesError):
    """The environment was used after `close`."""


class ConcurrentCallError(MilleBornesError):
    """An environment or an agent was called during another call of it, on another thread for example."""


class StateError(MilleBornesError):
    """An array that was given as game states is not one: wrong dtype, version, shape or contents."""


class ConformanceError(MilleBornesError, AssertionError):
    """An agent, sheet or environment fails a check of `millebornes_env.testing`.

    The message says what is wrong, where (which table, game, seat, play) and what to do about it.
    """


class NotationError(MilleBornesError):
    """A text is no position or no game; the message names the line or the play, and what is wrong."""


class AgentError(MilleBornesError):
    """An agent was asked about something that is not of its table, raised, or gave no legal action.

    The message says which agent, what was wrong and where; the agent is as it was before the call.
    """


class UnknownAgentError(AgentError):
    """No such agent or option, or a run folder that cannot be played; the message says what there is."""


class AgentFaultError(MilleBornesError):
    """An agent raised, or chose what it must not, while the arena played; the message says when."""


class SolvingError(MilleBornesError):
    """A game that cannot be solved, or a policy, checkpoint or export that cannot be read or made."""


class PlayError(MilleBornesError):
    """A table, server, study or view that cannot be made or asked; the message says why."""


class JournalError(PlayError):
    """The journal of a study's session cannot be written."""


class MessageError(PlayError):
    """A message from a page that no page of this server sends."""


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

"""What a caller can get wrong: one exception for each way, all of them `ValueError`.

Every message says what was wrong, where (which game, seat, play) and what to do about it.
"""

from __future__ import annotations

import reprlib


class MilleBornesError(ValueError):
    """The common base: `except MilleBornesError` catches every complaint of this package."""


class UnknownEditionError(MilleBornesError):
    """No edition of that name; the message lists the editions there are."""


class EditionFileError(MilleBornesError):
    """A file describes no edition; the message names the file and the entry."""


class PlayersError(MilleBornesError):
    """The edition has no table for that number of seats; the message lists those it has."""


class RulesError(MilleBornesError):
    """A rule was overridden with a value, or a combination of values, that makes no game."""


class RulebookError(MilleBornesError):
    """A module lacks what the engine asks of a game (`engine.rulebook.Rulebook`)."""


class UnknownGameError(MilleBornesError):
    """No game of that name; the message lists the games there are."""


class GameError(MilleBornesError):
    """An entry that the table of games cannot take."""


class OptionError(MilleBornesError, TypeError):
    """An option of a constructor or of `reset` that does not exist, or has a value it cannot have.

    It is a `TypeError` as well: libraries that try an option (Stable-Baselines3 `render_mode`, TorchRL
    `frameskip`) go on without it after one, as after an unexpected keyword argument.
    """


class GamePartError(OptionError):
    """A call needs something that a game may have, and this one has not; the message names both."""


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


class NumEnvsError(MilleBornesError):
    """`num_envs` is not a whole number of at least 1."""


class SeedError(MilleBornesError):
    """The seed is not a whole number from 0 to 2**64 - 1."""


class ActionShapeError(MilleBornesError):
    """The array of actions has the wrong shape or is not of integers."""


class ActionRangeError(MilleBornesError):
    """An action id that names no play at this table."""


class IllegalActionError(MilleBornesError):
    """A play that the rules do not allow now; the message names the game, the seat and the play."""


class BufferShapeError(MilleBornesError):
    """A buffer of the caller has the wrong shape, dtype or memory layout."""


class ArenaError(MilleBornesError):
    """A match or tournament that cannot be played, or a folder that holds another; the message says why."""


class ClusterError(MilleBornesError):
    """A Ray cluster that is not there, or that lost a task for good; the message says what to do."""


class ResetNeededError(MilleBornesError):
    """`step` was called before `reset`, or after a game ended that only `reset` can restart."""


class ClosedError(MilleBornesError):
    """The environment was used after `close`."""


class ConcurrentCallError(MilleBornesError):
    """An environment or an agent was called during another call of it, on another thread for example."""


class StateError(MilleBornesError):
    """An array that was given as game states is not one: wrong dtype, version, shape or contents."""


class ConformanceError(MilleBornesError, AssertionError):
    """What `millebornes_env.testing` was asked to check does not do what it must.

    The message says what is wrong, where (which table, game, seat, play) and what to do about it.
    """


class NotationError(MilleBornesError):
    """A text is no position or no game; the message names the line or the play, and what is wrong."""


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

"""What a caller can get wrong: one exception for each way, all of them `ValueError`.

Every message says what was wrong, where (which game, seat, play) and what to do about it.
"""

from __future__ import annotations


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


class NumEnvsError(MilleBornesError):
    """`num_envs` is not a whole number of at least 1."""


class OptionError(MilleBornesError):
    """A construction or reset option has a value it cannot have."""


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


class ResetNeededError(MilleBornesError):
    """`step` was called before `reset`, or after a game ended that only `reset` can restart."""


class ClosedError(MilleBornesError):
    """The environment was used after `close`."""


class StateError(MilleBornesError):
    """An array that was given as game states is not one: wrong dtype, version, shape or contents."""


class NotationError(MilleBornesError):
    """A text is no position or no game; the message names the line or the play, and what is wrong."""

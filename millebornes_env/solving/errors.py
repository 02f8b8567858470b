"""What can be wrong with a game, a policy or a checkpoint that is to be solved, judged or read."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class SolvingError(MilleBornesError):
    """The table cannot be solved: it is too large, or has a rule that the walk does not know."""


class PolicyError(MilleBornesError):
    """A policy is none of this game: an illegal action has a weight, or the weights are no probabilities."""


class PolicyFileError(MilleBornesError):
    """A file holds no policy of this game; the message names the file."""


class CheckpointError(MilleBornesError):
    """A checkpoint cannot be read, or is of another game."""

"""The arena's loop with callbacks before and after each step, for questions about the course of games.

`arena.match.play` is faster, and returns the results of games. This loop plays the same games, one decision
of all games at a time, and calls a `Watcher` in between, which can read the states and the cards to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env.agents import Spec, make
from millebornes_env.arena.batch import NO_ROLE
from millebornes_env.arena.dealing import dealt_batch
from millebornes_env.arena.faults import illegal_action
from millebornes_env.arena.match import MatchConfig, agent_seed, by_deal
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.stepping import SteppedGames
from millebornes_env.games.millebornes.cards import NO_CARD

Int64Array = npt.NDArray[np.int64]
StateArray = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]


class Watcher:
    """Callbacks of `play_watched`; by default they do nothing."""

    def on_start(self, states: StateArray) -> None:
        """Handle the start of the games STATE[G]; game r * B + b is rotation r of deal b."""

    def before_step(self, states: StateArray, live: BoolArray, actions: Int64Array) -> None:
        """Handle the chosen actions int64[G], valid in the unfinished games, `live` bool[G]."""

    def after_step(self, states: StateArray) -> None:
        """Handle the result of the actions, STATE[G]."""


class CommonPile(Watcher):
    """All seats draw from one pile in order, as at a real table.

    The streams of all seats are the same section of the deck here; a draw advances all of them. The cards of
    a deal have the same order in all its rotations, but an extra turn shifts later draws to other seats.
    """

    def on_start(self, states: StateArray) -> None:
        """Join the remaining streams into one."""
        deck = states["deck"]
        left_first = np.argsort(deck == NO_CARD, axis=1, kind="stable")
        states["deck"] = np.take_along_axis(deck, left_first, axis=1)
        states["stream_next"] = 0
        states["stream_end"] = states["draw_pile"][:, np.newaxis]

    def after_step(self, states: StateArray) -> None:
        """Advance all streams to the furthest one."""
        states["stream_next"] = states["stream_next"].max(axis=1, keepdims=True)


def play_watched(
    agents: Sequence[Spec], config: MatchConfig, deals: int, watcher: Watcher, *, first_deal: int = 0
) -> Outcome:
    """Play deals as `arena.match.play` does, with callbacks.

    Args:
        agents: an agent, or a spec for `agents.make`, for each team.
        config: the table; its episodes are rounds.
        deals: number of deals, B.
        watcher: the callbacks.
        first_deal: index of the first deal.

    Returns:
        The outcome; the same as that of `play` if the watcher changes nothing.

    Raises:
        AgentFaultError: an agent raised an error, or chose an illegal action.
        ValueError: there is no such table or agent.
    """
    roles = [
        make(spec, config.table(), agent_seed(config.seed, role, first_deal))
        for role, spec in enumerate(agents)
    ]
    batch = dealt_batch(config, first_deal, deals)
    games = SteppedGames(batch, roles, config, first_deal=first_deal)
    games.begin()
    watcher.on_start(batch.states)
    while batch.live.any():
        watcher.before_step(batch.states, batch.live, games.choose())
        games.apply_actions()
        watcher.after_step(batch.states)
    faulty = np.flatnonzero(batch.faults[:, 0] != NO_ROLE)
    if len(faulty):
        raise illegal_action(roles, batch, int(faulty[0]), config.table(), first_deal)
    teams = config.rules.teams
    return Outcome(
        lineup=tuple(range(teams)),
        points=by_deal([batch], "points", teams),
        wins=by_deal([batch], "shares", teams),
        rounds=by_deal([batch], "rounds", teams),
        decisions=by_deal([batch], "steps", teams).astype(np.int32),
        first=by_deal([batch], "first", teams),
        counters=batch.counters,
        luck=by_deal([batch], "luck", teams) if len(batch.luck) else None,
        game=config.game.name,
    )

"""Games that a question looks at while they are played: the arena's loop, with a look before each step.

`arena.match.play` is faster, and says how games end. This loop plays the same games, one decision of all of
them at a time, and calls a `Watcher` in between, who may look at the records, and at the order of the cards
to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env.agents import Spec, make
from millebornes_env.agents.protocol import Agent
from millebornes_env.arena.batch import NO_ROLE, Batch
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
    """Somebody who looks on; by default he does nothing."""

    def begun(self, states: StateArray) -> None:
        """The games have been dealt.

        Args:
            states: STATE[G]; game r * B + b is rotation r of deal b.
        """

    def chosen(self, states: StateArray, live: BoolArray, actions: Int64Array) -> None:
        """The next actions have been chosen.

        Args:
            states: STATE[G], before them.
            live: bool[G], whether the game goes on.
            actions: int64[G], of the games that go on.
        """

    def stepped(self, states: StateArray) -> None:
        """The actions have been carried out.

        Args:
            states: STATE[G], after them.
        """


class CommonPile(Watcher):
    """All seats draw from one pile, in the order in which it lies, as at a real table.

    The streams of all seats are the same stretch of the deck here; when one has drawn, all move on. The cards
    of a deal lie in the same order in all its rotations, but an extra turn shifts who draws which.
    """

    def begun(self, states: StateArray) -> None:
        """Put what is left of the streams one behind the other."""
        deck = states["deck"]
        left_first = np.argsort(deck == NO_CARD, axis=1, kind="stable")
        states["deck"] = np.take_along_axis(deck, left_first, axis=1)
        states["stream_next"] = 0
        states["stream_end"] = states["draw_pile"][:, np.newaxis]

    def stepped(self, states: StateArray) -> None:
        """Let all streams begin where the furthest does."""
        states["stream_next"] = states["stream_next"].max(axis=1, keepdims=True)


def play_watched(
    agents: Sequence[Spec], config: MatchConfig, deals: int, watcher: Watcher, *, first_deal: int = 0
) -> Outcome:
    """Play deals as `arena.match.play` does, while somebody looks on.

    Args:
        agents: an agent for each team, or what `agents.make` makes one of.
        config: the table; its episodes are rounds.
        deals: B, how many.
        watcher: who looks on.
        first_deal: number of the first.

    Returns:
        What happened; the same as `play` returns, if the watcher changes nothing.

    Raises:
        AgentFaultError: an agent raised, or chose what is illegal.
        ValueError: there is no such table or agent.
    """
    roles = [
        make(spec, config.table(), agent_seed(config.seed, role, first_deal))
        for role, spec in enumerate(agents)
    ]
    batch = dealt_batch(config, first_deal, deals)
    games = SteppedGames(batch, roles, config, first_deal=first_deal)
    games.begin()
    watcher.begun(batch.states)
    while batch.live.any():
        watcher.chosen(batch.states, batch.live, games.choose())
        games.apply_actions()
        watcher.stepped(batch.states)
    _refuse_faults(roles, batch, config, first_deal)
    return _outcome(batch, config)


def _refuse_faults(roles: Sequence[Agent], batch: Batch, config: MatchConfig, first_deal: int) -> None:
    faulty = np.flatnonzero(batch.faults[:, 0] != NO_ROLE)
    if len(faulty):
        raise illegal_action(roles, batch, int(faulty[0]), config.table(), first_deal)


def _outcome(batch: Batch, config: MatchConfig) -> Outcome:
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

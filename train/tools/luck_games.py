"""Training data for the value of a drawn card: games branched after a draw, with another card in each branch.

Agents play rounds. After some of the draws a game is copied; in each copy the drawn card is swapped with
another one of the draw pile, or stays. All else is the same in the copies: the other cards to come, and the
random numbers of the agents. The results of the copies therefore differ by little but the card, and its value
needs far fewer games than unrelated games would.

The copies are played to the end of the round, or, with a value network, until some more cards are drawn, when
the network evaluates them. Its errors are mostly the same in all copies (unless an extra turn makes another
seat decide then), and the randomness of the rest of the round is not in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env import agents
from millebornes_env.agents.protocol import is_compiled
from millebornes_env.arena.batch import NO_ROLE, Batch
from millebornes_env.arena.dealing import compiled_rules, dealt_batch
from millebornes_env.arena.kernels import new_batch
from millebornes_env.arena.luck.aivat import POINTS_OF_VALUE
from millebornes_env.arena.luck.full_view import (
    cards_in_pile,
    list_ones,
    place_held,
    place_in_pile,
    write_values,
)
from millebornes_env.arena.luck.value_network import MOST_ONES, ValueNetwork
from millebornes_env.arena.match import MatchConfig, agent_seed
from millebornes_env.arena.stepping import SteppedGames
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule, stack_array
from millebornes_env.games.millebornes.cards import DECK_SIZE, NO_CARD, NUM_CARD_TYPES
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State, StateArray

MOVED: Final = 4
"""Inputs that a drawn card changes: the number of its type in the hand, and in the pile, before and after."""
SIGNS: Final = (-1.0, 1.0, -1.0, 1.0)
"""The sign of each of those inputs in the difference."""

_STAYS: Final = -1  # in a list of indices of the deck: the drawn card itself
_DEALS_PER_BATCH: Final = 128
_COPIES_PER_BATCH: Final = 4096  # more would not stay in the processor's cache
_COPIED: Final = ("role_of", "memories", "live", "rounds")

Int16Array = npt.NDArray[np.int16]
Float32Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


class Branches(NamedTuple):
    """N draws with K branches each, and their outcomes."""

    ones: Int16Array  # [N, W] indices of the inputs that are one without the drawn card, then 0
    moves: Int16Array  # [N, K, MOVED] indices of the inputs that the card of each branch changes
    lead: Float32Array  # [N, K] of the team of the seat that drew, in thousands of points


class Plan(NamedTuple):
    """The plan of branching games."""

    branches: int  # of a draw
    share: float  # of the draws to branch
    horizon: int  # draws in a branch before the network evaluates it; 0: play to the end of the round


def lineups_of(names: Sequence[str], teams: int) -> list[tuple[str, ...]]:
    """Return all lineups of different agents, or, with too few agents, all in which at least two differ."""
    if len(names) >= teams:
        return list(combinations(names, teams))
    return [one for one in combinations_with_replacement(names, teams) if len(set(one)) > 1 or not names[1:]]


def collect(
    config: MatchConfig, names: Sequence[str], network: ValueNetwork | None, draws: int, plan: Plan
) -> Branches:
    """Play until N draws have been branched, at a table whose seed deals the first games.

    The agents are compiled. The network evaluates branches; without it all are played to the end.
    """
    lineups, result, count = lineups_of(names, config.rules.teams), list[Branches](), 0
    turn = config.seed % len(lineups)
    while count < draws:
        here = replace(config, seed=agent_seed(config.seed, turn))
        result += _Games(here, lineups[turn % len(lineups)], network, plan).play(_DEALS_PER_BATCH)
        count = sum(len(one.lead) for one in result)
        turn += 1
    chosen = np.random.default_rng(config.seed).permutation(count)[:draws]  # of all parts of the rounds
    return Branches(*(np.concatenate(parts)[chosen] for parts in zip(*result, strict=True)))


class _Games:
    """Games of one lineup."""

    def __init__(
        self, config: MatchConfig, lineup: Sequence[str], network: ValueNetwork | None, plan: Plan
    ) -> None:
        self._config, self._network, self._plan = config, network, plan
        self._rules: Any = compiled_rules(config)
        roles = [agents.make(spec, config.table(), config.seed) for spec in lineup]
        self._roles = list(filter(is_compiled, roles))
        self._random = np.random.default_rng(config.seed)

    def play(self, deals: int) -> list[Branches]:
        """Play deals in all rotations of the teams, and branch them.

        Raises:
            ValueError: an agent chose an illegal action.
        """
        batch = dealt_batch(self._config, 0, deals)
        stepped = SteppedGames(batch, self._roles, self._config)
        stepped.begin()
        waiting: list[tuple[Batch, Int16Array, Int16Array]] = []
        result: list[Branches] = []
        while batch.live.any():
            decks = batch.states["deck"].copy()
            self._step(stepped)
            drew = np.any(decks != batch.states["deck"], axis=1) & batch.live
            games = np.flatnonzero(drew & (self._random.random(len(drew)) < self._plan.share))
            if len(games):
                waiting.append(self._branched(batch, games, decks[games]))
            if sum(len(one[0].states) for one in waiting) >= _COPIES_PER_BATCH or not batch.live.any():
                result += self._play_branches(waiting)
                waiting = []
        return result

    def _step(self, games: SteppedGames) -> None:
        """Take one decision in all unfinished games."""
        games.choose()
        games.apply_actions()
        wrong = games.batch.faults[:, 0].max()
        if wrong != NO_ROLE:
            raise ValueError(f"{self._roles[wrong].name} chose an illegal action: its games cannot be used")

    def _branched(
        self, batch: Batch, games: Indices, decks: Int8Array
    ) -> tuple[Batch, Int16Array, Int16Array]:
        """Branch some games, int64[N], right after a draw; return the branches with `ones` and `moves`.

        Before the draw their decks were int8[N, DECK_SIZE].
        """
        drawn = decks != batch.states["deck"][games]
        chance = self._random.random(drawn.shape)  # if two cards were drawn together, selects one
        cards = decks[np.arange(len(games)), np.where(drawn, chance, -1.0).argmax(axis=1)]
        branches = self._plan.branches
        copies = self._new_batch(len(games) * branches)
        for name in _COPIED:
            getattr(copies, name)[:] = np.repeat(getattr(batch, name)[games], branches, axis=0)
        ones = np.zeros((len(games), widest(self._rules)), np.int16)
        moves = np.zeros((len(games), branches, MOVED), np.int16)
        chances = self._random.random((len(games), branches))
        branch(batch.states[games], cards, chances, self._rules, copies.states, ones, moves)
        return copies, ones, moves

    def _new_batch(self, games: int) -> Batch:
        """Allocate a batch of games."""
        config = self._config
        states = for_kernels(np.zeros(games, config.game.module().STATE).view(np.recarray))
        return new_batch(config.game, config.rules, states, states[:1].copy())

    def _play_branches(self, waiting: Sequence[tuple[Batch, Int16Array, Int16Array]]) -> list[Branches]:
        """Play all waiting branches, and return them with their leads."""
        if not waiting:
            return []
        copies = self._new_batch(sum(len(one[0].states) for one in waiting))
        for name in ("states", *_COPIED):
            getattr(copies, name)[:] = np.concatenate([getattr(one[0], name) for one in waiting])
        ones = np.concatenate([one[1] for one in waiting])
        moves = np.concatenate([one[2] for one in waiting])
        return [Branches(ones, moves, self._leads(copies).reshape(moves.shape[:2]))]

    def _leads(self, copies: Batch) -> Float32Array:
        """Play branches; return the lead of the now deciding seats, float32[G] in thousands of points."""
        indices = np.arange(len(copies.states))
        own = self._deciding_roles(copies, indices)
        is_valued = np.zeros(len(indices), np.bool_)
        values = np.zeros(len(indices), np.float32)
        before = copies.states["draw_pile"].astype(np.int64)
        last = before - self._plan.horizon
        branches = SteppedGames(copies, self._roles, self._config)
        while copies.live.any():
            self._step(branches)
            left = copies.states["draw_pile"].astype(np.int64)
            due = copies.live & (left < before) & (left <= last)
            before = left
            if self._network is None or self._plan.horizon == 0 or not due.any():
                continue
            games = np.flatnonzero(due)
            result = np.zeros(len(games), np.float32)
            write_values(copies.states[games], self._rules, self._network, result)
            values[games] = np.where(self._deciding_roles(copies, games) == own[games], result, -result)
            is_valued[games] = True
            copies.live[games] = False
        points = copies.points[indices, own]
        others = (copies.points.sum(axis=1) - points) / (self._rules.teams - 1)
        leads: Float32Array = np.where(is_valued, values, (points - others) / POINTS_OF_VALUE)
        return leads.astype(np.float32)

    def _deciding_roles(self, batch: Batch, games: Indices) -> Int8Array:
        """Return the roles of the deciding seats."""
        roles: Int8Array = batch.role_of[games, batch.states["seat"][games] % self._rules.teams]
        return roles


def widest(rules: RulesRecord) -> int:
    """Return the largest number of inputs that can be one at a table, over pile, teams and hands."""
    return 2 + 19 + int(rules.teams) * 16 + int(rules.players) * 9


@kernel
def branch(
    states: StateArray,
    drawn: Int8Array,
    chances: npt.NDArray[np.float64],
    rules: RulesRecord,
    copies: StateArray,
    ones: Int16Array,
    moves: Int16Array,
) -> None:
    """Copy games right after a draw, with another card of the pile in place of the drawn one.

    The cards of the branches of a draw are sampled without replacement from the pile and the drawn card; if
    there are fewer cards than branches, sampling starts again.

    Args:
        states: STATE[N], after the draw; the seat that drew decides next.
        drawn: int8[N], the drawn cards.
        chances: float64[N, K] from [0, 1), which select the card of each branch.
        rules: rules of the table.
        copies: STATE[N * K], overwritten, the branches of a draw one after the other.
        ones: int16[N, W], overwritten, as in `Branches`.
        moves: int16[N, K, MOVED], overwritten, as in `Branches`.
    """
    undrawn = stack_array(np.int8, NUM_CARD_TYPES)
    result = stack_array(np.int32, MOST_ONES)
    entries = stack_array(np.int32, DECK_SIZE)
    for game in range(len(states)):
        state, card = states[game], int(drawn[game])
        for other in range(NUM_CARD_TYPES):
            undrawn[other] = 1 if other == card else 0
        count = list_ones(state, rules, undrawn, 0, result)
        for number in range(min(count, ones.shape[1])):
            ones[game, number] = result[number]
        left = list_undrawn(state, entries)
        for number in range(chances.shape[1]):
            first = number % left
            chosen = first + int(chances[game, number] * (left - first))
            entry = entries[chosen]
            entries[chosen] = entries[first]
            entries[first] = entry
            index = game * chances.shape[1] + number
            copies[index] = state
            new = card
            if entry != _STAYS:
                new = int(state.deck[entry])
                swap_drawn(copies[index], card, int(entry))
            held = int(state.hand[int(state.seat), new]) - int(undrawn[new])
            in_pile = cards_in_pile(state, rules, new) + int(undrawn[new])
            moves[game, number, 0] = place_held(rules.teams, 0, new, held)
            moves[game, number, 1] = place_held(rules.teams, 0, new, held + 1)
            moves[game, number, 2] = place_in_pile(new, in_pile)
            moves[game, number, 3] = place_in_pile(new, in_pile - 1)


@rule
def list_undrawn(state: State, entries: npt.NDArray[np.int32]) -> int:
    """List `_STAYS` for the drawn card, then the indices of cards in the deck; return their number."""
    entries[0] = _STAYS
    count = 1
    for index in range(DECK_SIZE):
        if int(state.deck[index]) != NO_CARD:
            entries[count] = index
            count += 1
    return count


@rule
def swap_drawn(state: State, card: int, index: int) -> None:
    """Swap the drawn card in the hand with the card at an index of the deck."""
    seat, new = int(state.seat), int(state.deck[index])
    state.deck[index] = card
    state.hand[seat, card] = int(state.hand[seat, card]) - 1
    state.hand[seat, new] = int(state.hand[seat, new]) + 1

"""The value of a drawn card: games that are branched after a draw, with another card in each branch.

Agents play rounds. After some of the draws a game is copied; in each copy the drawn card changes places with
another one of the draw pile, or stays. All else is the same in the copies: the other cards to come, and the
random numbers of the agents. So what tells the results apart is the card and little else, and far fewer games
say what it is worth than games with nothing in common would.

The copies are played to the end of the round, or, with a network that values positions, until some more
cards are drawn: then it says what they come to. What it errs is mostly the same in all of them (unless an
extra turn makes another seat decide then), and the chance of all that would follow is not in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
"""Places that a drawn card moves: how many of its type are in the hand, and in the pile, before and after."""
SIGNS: Final = (-1.0, 1.0, -1.0, 1.0)
"""The sign of each row in the difference."""

_STAYS: Final = -1  # in a list of places of the deck: the drawn card itself
_DEALS_AT_ONCE: Final = 128
_COPIES_AT_ONCE: Final = 4096  # more would not stay in the processor's cache
_COPIED: Final = ("role_of", "memories", "live", "rounds")

Int16Array = npt.NDArray[np.int16]
Float32Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


class Branches(NamedTuple):
    """Draws with what they came to: N draws, K branches of each."""

    ones: Int16Array  # [N, W] places that are one, less those of the drawn card's type, then 0
    moves: Int16Array  # [N, K, MOVED] places that the card of each branch moves
    lead: Float32Array  # [N, K] of the team of the seat that drew, in thousands of points


@dataclass(frozen=True)
class Plan:
    """The plan of branching games.

    Attributes:
        branches: of each draw that is branched.
        share: of the draws that are.
        horizon: cards that are drawn in a branch before the network values it; 0: it is played to the end.
    """

    branches: int
    share: float
    horizon: int


def lineups_of(names: Sequence[str], teams: int) -> list[tuple[str, ...]]:
    """Return the lineups: all choices of different agents, or, with too few, all in which two differ."""
    if len(names) >= teams:
        return list(combinations(names, teams))
    return [one for one in combinations_with_replacement(names, teams) if len(set(one)) > 1 or not names[1:]]


def collect(
    config: MatchConfig, names: Sequence[str], network: ValueNetwork | None, draws: int, plan: Plan
) -> Branches:
    """Play until so many draws have been branched.

    Args:
        config: the table; its seed is that of the first deals.
        names: the agents, all compiled.
        network: that values branches; None: they are all played to the end.
        draws: N.
        plan: how they are branched.
    """
    lineups, result, count = lineups_of(names, config.rules.teams), list[Branches](), 0
    turn = config.seed % len(lineups)
    while count < draws:
        here = replace(config, seed=agent_seed(config.seed, turn))
        result += _Games(here, lineups[turn % len(lineups)], network, plan).played(_DEALS_AT_ONCE)
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

    def played(self, deals: int) -> list[Branches]:
        """Play deals from all teams' places, and branch them.

        Raises:
            ValueError: an agent has chosen an illegal action.
        """
        batch = dealt_batch(self._config, 0, deals)
        games_played = SteppedGames(batch, self._roles, self._config)
        games_played.begin()
        waiting: list[tuple[Batch, Int16Array, Int16Array]] = []
        result: list[Branches] = []
        while batch.live.any():
            decks = batch.states["deck"].copy()
            self._decide(games_played)
            drew = np.any(decks != batch.states["deck"], axis=1) & batch.live
            games = np.flatnonzero(drew & (self._random.random(len(drew)) < self._plan.share))
            if len(games):
                waiting.append(self._branched(batch, games, decks[games]))
            if sum(len(one[0].states) for one in waiting) >= _COPIES_AT_ONCE or not batch.live.any():
                result += self._came_to(waiting)
                waiting = []
        return result

    def _decide(self, games: SteppedGames) -> None:
        """Carry out one decision in all games that go on."""
        games.choose()
        games.apply_actions()
        wrong = games.batch.faults[:, 0].max()
        if wrong != NO_ROLE:
            raise ValueError(
                f"{self._roles[wrong].name} has chosen an illegal action: it cannot be learned from"
            )

    def _branched(
        self, batch: Batch, games: Indices, decks: Int8Array
    ) -> tuple[Batch, Int16Array, Int16Array]:
        """The branches of some games, right after a draw; what is one before it, what each card moves.

        Args:
            batch: the games.
            games: N of them.
            decks: int8[N, DECK_SIZE], before the draw.
        """
        drawn = decks != batch.states["deck"][games]
        chance = self._random.random(drawn.shape)  # of two cards that were drawn at once, one of them
        cards = decks[np.arange(len(games)), np.where(drawn, chance, -1.0).argmax(axis=1)]
        branches = self._plan.branches
        copies = self._room(len(games) * branches)
        for name in _COPIED:
            getattr(copies, name)[:] = np.repeat(getattr(batch, name)[games], branches, axis=0)
        ones = np.zeros((len(games), widest(self._rules)), np.int16)
        moves = np.zeros((len(games), branches, MOVED), np.int16)
        chances = self._random.random((len(games), branches))
        branch(batch.states[games], cards, chances, self._rules, copies.states, ones, moves)
        return copies, ones, moves

    def _room(self, games: int) -> Batch:
        """Room for some games."""
        config = self._config
        states = for_kernels(np.zeros(games, config.game.module().STATE).view(np.recarray))
        return new_batch(config.game, config.rules, states, states[:1].copy())

    def _came_to(self, waiting: Sequence[tuple[Batch, Int16Array, Int16Array]]) -> list[Branches]:
        """Play all branches that wait, and say what they came to."""
        if not waiting:
            return []
        copies = self._room(sum(len(one[0].states) for one in waiting))
        for name in ("states", *_COPIED):
            getattr(copies, name)[:] = np.concatenate([getattr(one[0], name) for one in waiting])
        ones = np.concatenate([one[1] for one in waiting])
        moves = np.concatenate([one[2] for one in waiting])
        return [Branches(ones, moves, self._leads(copies).reshape(moves.shape[:2]))]

    def _leads(self, copies: Batch) -> Float32Array:
        """Play branches; the lead of the seats that decide now, float32[G] in thousands of points."""
        places = np.arange(len(copies.states))
        own = self._deciding_roles(copies, places)
        is_valued = np.zeros(len(places), np.bool_)
        values = np.zeros(len(places), np.float32)
        before = copies.states["draw_pile"].astype(np.int64)
        last = before - self._plan.horizon
        branches = SteppedGames(copies, self._roles, self._config)
        while copies.live.any():
            self._decide(branches)
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
        points = copies.points[places, own]
        others = (copies.points.sum(axis=1) - points) / (self._rules.teams - 1)
        leads: Float32Array = np.where(is_valued, values, (points - others) / POINTS_OF_VALUE)
        return leads.astype(np.float32)

    def _deciding_roles(self, batch: Batch, games: Indices) -> Int8Array:
        """The roles of the seats that decide."""
        roles: Int8Array = batch.role_of[games, batch.states["seat"][games] % self._rules.teams]
        return roles


def widest(rules: RulesRecord) -> int:
    """The most places that can be one at a table: of the pile, of each team, of each hand."""
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
    """Copy games right after a draw, with another card of the pile in place of the one that was drawn.

    The cards of the branches of a draw are drawn from the pile and the drawn one without replacement; if
    there are fewer cards than branches, from the beginning again.

    Args:
        states: STATE[N], after the draw; the seat that drew is to decide.
        drawn: int8[N], the card.
        chances: float64[N, K] from [0, 1): which card each branch gets.
        rules: the table's.
        copies: STATE[N * K], overwritten, the branches of a draw one after the other.
        ones: int16[N, W], overwritten: what a network is shown that lacks the drawn card.
        moves: int16[N, K, MOVED], overwritten: what the card of the branch moves.
    """
    undrawn = stack_array(np.int8, NUM_CARD_TYPES)
    result = stack_array(np.int32, MOST_ONES)
    places = stack_array(np.int32, DECK_SIZE)
    for game in range(len(states)):
        state, card = states[game], int(drawn[game])
        for other in range(NUM_CARD_TYPES):
            undrawn[other] = 1 if other == card else 0
        count = list_ones(state, rules, undrawn, 0, result)
        for number in range(min(count, ones.shape[1])):
            ones[game, number] = result[number]
        left = list_undrawn(state, places)
        for number in range(chances.shape[1]):
            first = number % left
            chosen = first + int(chances[game, number] * (left - first))
            place = places[chosen]
            places[chosen] = places[first]
            places[first] = place
            index = game * chances.shape[1] + number
            copies[index] = state
            new = card
            if place != _STAYS:
                new = int(state.deck[place])
                change_drawn(copies[index], card, int(place))
            held = int(state.hand[int(state.seat), new]) - int(undrawn[new])
            in_pile = cards_in_pile(state, rules, new) + int(undrawn[new])
            moves[game, number, 0] = place_held(rules.teams, 0, new, held)
            moves[game, number, 1] = place_held(rules.teams, 0, new, held + 1)
            moves[game, number, 2] = place_in_pile(new, in_pile)
            moves[game, number, 3] = place_in_pile(new, in_pile - 1)


@rule
def list_undrawn(state: State, places: npt.NDArray[np.int32]) -> int:
    """List where cards lie in the deck, after an entry for the drawn card itself; how many entries."""
    places[0] = _STAYS
    count = 1
    for place in range(DECK_SIZE):
        if int(state.deck[place]) != NO_CARD:
            places[count] = place
            count += 1
    return count


@rule
def change_drawn(state: State, card: int, place: int) -> None:
    """Put the card that was drawn into the draw pile, and the one that lies there into the hand."""
    seat, new = int(state.seat), int(state.deck[place])
    state.deck[place] = card
    state.hand[seat, card] = int(state.hand[seat, card]) - 1
    state.hand[seat, new] = int(state.hand[seat, new]) + 1

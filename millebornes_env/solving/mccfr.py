"""External-sampling Monte Carlo CFR (Lanctot et al. 2009): regrets from sampled rounds.

In a traversal one seat tries all its choices; the cards and the choices of the other seat are sampled. A
traversal takes microseconds, an iteration of CFR+ a walk through the whole game: MCCFR improves faster at
first, CFR+ converges further. Traversals play rounds with the rulebook and find information sets in the tree
by their keys (`nodes.mix`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_word
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule, seldom
from millebornes_env.errors import SolvingError
from millebornes_env.games.millebornes.deal import deal_round
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, ROUND_OVER, State, StateArray, new_states
from millebornes_env.games.millebornes.turn import begin_turn
from millebornes_env.solving.deck import Deck, Solvable
from millebornes_env.solving.nodes import (
    FIRST_CHAIN,
    MASK_SIZE,
    PLAYERS,
    code_of,
    hash_history,
    index_of_key,
    mix,
    num_choices,
)
from millebornes_env.solving.passes import weights_of_reach
from millebornes_env.solving.tree import Grower, SeatTree, Tree, decisions_by_key
from millebornes_env.solving.values import WHOLE, Judgement, Weights, judge_tree
from millebornes_env.solving.walk import action_of, apply_action, choices_of, payoff

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

_WORD_BITS: Final = 32
_MOST_CHOICES: Final = 32
_AT_END: Final = -1
_WORD: Final = (1 << 32) - 1


class SeatData(NamedTuple):
    """The learned data of one seat; I information sets with a choice, sorted by their keys."""

    keys: Int64Array  # [I]
    choices: Int64Array  # [I] sets of bits
    firsts: Int64Array  # [I] the sequence of the first choice
    regrets: Float64Array  # [size]
    average: Float64Array  # [size] sum of the sampled policies
    weights: Float64Array  # [size] a fixed policy; if empty, the policy follows from the regrets
    visits: Int64Array  # [I] number of traversals in which the seat tried all its choices there


class Trail(NamedTuple):
    """The decisions of the traversing seat up to the current one; D deep, C choices."""

    states: StateArray  # [D]
    chains: Int64Array  # [D, 2] the hash of each seat's public history
    infosets: Int64Array  # [D] index of the information set
    next_choice: Int64Array  # [D] number of the next choice to try
    policy: Float64Array  # [D, C]
    values: Float64Array  # [D, C] payoffs of the choices
    counters: Int64Array  # [2] random numbers used in this traversal; decisions visited
    mask: npt.NDArray[np.int8]  # [MASK_SIZE]


@rule
def match_regrets(side: SeatData, infoset: int, trail: Trail, depth: int) -> int:
    """Write the policy of an information set; return the number of choices."""
    first, count = side.firsts[infoset], num_choices(side.choices[infoset])
    if len(side.weights) > 0:
        for choice in range(count):
            trail.policy[depth, choice] = side.weights[first + choice]
        return count
    total = 0.0
    for choice in range(count):
        total += max(side.regrets[first + choice], 0.0)
    for choice in range(count):
        regret = max(side.regrets[first + choice], 0.0)
        trail.policy[depth, choice] = regret / total if total > 0.0 else 1.0 / count
    return count


@seldom
def deal(state: State, rules: RulesRecord, key_0: int, key_1: int) -> None:
    """Deal a new round; seat 0 begins."""
    state.key[0] = key_0
    state.key[1] = key_1
    deal_round(state, rules)
    begin_turn(state, rules, 0)


@rule
def nth_choice(choices: int, number: int) -> int:
    """Return the choice with this number in the set."""
    choice = 0
    while True:
        if (choices >> choice) & 1:
            if number == 0:
                return choice
            number -= 1
        choice += 1


@rule
def sample_choice(trail: Trail, depth: int, count: int, key_0: int, key_1: int) -> int:
    """Sample one of the choices from the policy."""
    trail.counters[0] += 1
    left = random_word(key_0, key_1, trail.counters[0]) / float(1 << _WORD_BITS)
    for choice in range(count):
        left -= trail.policy[depth, choice]
        if left < 0.0:
            return choice
    return count - 1


@seldom
def play(state: State, deck: Deck, rules: RulesRecord, trail: Trail, depth: int, choice: int) -> None:
    """Apply a choice, and add it to the seat's history."""
    seat = int(state.seat)
    if int(state.phase) != CLAIM:  # letting a hazard stand is not public
        trail.chains[depth, seat] = mix(trail.chains[depth, seat], choice)
    apply_action(state, rules, action_of(deck, int(state.phase), choice))


@seldom
def play_to_decision(
    sides: tuple[SeatData, SeatData],
    deck: Deck,
    rules: RulesRecord,
    trail: Trail,
    depth: int,
    seat: int,
    key_0: int,
    key_1: int,
) -> int:
    """Play until the seat has a choice, sampling the other seat; return the information set or `_AT_END`."""
    state = trail.states[depth]
    while int(state.phase) != ROUND_OVER:
        mover = int(state.seat)
        chain = hash_history(trail.chains[depth, mover], state, deck, mover)
        choices = choices_of(state, deck, rules, trail.mask)
        if int(state.phase) != CLAIM:
            trail.chains[depth, mover] = chain
        if choices & (choices - 1) == 0:
            play(state, deck, rules, trail, depth, nth_choice(choices, 0))
            continue
        trail.counters[1] += 1
        side = sides[mover]
        infoset = index_of_key(side.keys, mix(chain, code_of(state.hand[mover], deck)))
        if mover == seat:
            return infoset
        count = match_regrets(side, infoset, trail, depth)
        first = side.firsts[infoset]
        for choice in range(count):
            side.average[first + choice] += trail.policy[depth, choice]
        number = sample_choice(trail, depth, count, key_0, key_1)
        play(state, deck, rules, trail, depth, nth_choice(choices, number))
    return _AT_END


@kernel
def traverse(
    sides: tuple[SeatData, SeatData],
    deck: Deck,
    rules: RulesRecord,
    root: StateArray,
    trail: Trail,
    first: int,
    count: int,
    seed: int,
) -> int:
    """Traverse the game `count` times, each seat in turn; return the number of decisions visited.

    The number of a traversal (`first` and on) and the seed, of 32 bits, determine its random numbers. `root`
    is a dealt round, whose cards are redealt; regrets and averages of `sides` are updated; `trail` is
    scratch.
    """
    trail.counters[1] = 0
    for number in range(first, first + count):
        seat = number % PLAYERS
        sign = 1.0 if seat == 0 else -1.0
        key_0, key_1 = seed ^ 0x5BD1E995, number & 0xFFFFFFFF
        trail.counters[0] = 0
        trail.states[0] = root[0]
        deal(trail.states[0], rules, seed, key_1)
        trail.chains[0, 0], trail.chains[0, 1] = FIRST_CHAIN, FIRST_CHAIN + 1
        side = sides[seat]
        depth = 0
        trail.infosets[0] = play_to_decision(sides, deck, rules, trail, 0, seat, key_0, key_1)
        if trail.infosets[0] == _AT_END:
            continue
        trail.next_choice[0] = 0
        match_regrets(side, trail.infosets[0], trail, 0)
        while depth >= 0:
            infoset = trail.infosets[depth]
            choice = trail.next_choice[depth]
            choices = side.choices[infoset]
            if choice < num_choices(choices):
                below = depth + 1
                trail.states[below] = trail.states[depth]
                trail.chains[below, 0] = trail.chains[depth, 0]
                trail.chains[below, 1] = trail.chains[depth, 1]
                play(trail.states[below], deck, rules, trail, below, nth_choice(choices, choice))
                trail.infosets[below] = play_to_decision(sides, deck, rules, trail, below, seat, key_0, key_1)
                if trail.infosets[below] == _AT_END:
                    trail.values[depth, choice] = sign * payoff(trail.states[below], rules)
                    trail.next_choice[depth] = choice + 1
                else:
                    match_regrets(side, trail.infosets[below], trail, below)
                    trail.next_choice[below] = 0
                    depth = below
            else:
                value = update_regrets(side, infoset, trail, depth, choice)
                depth -= 1
                if depth >= 0:
                    trail.values[depth, trail.next_choice[depth]] = value
                    trail.next_choice[depth] += 1
    return int(trail.counters[1])


@rule
def update_regrets(side: SeatData, infoset: int, trail: Trail, depth: int, count: int) -> float:
    """Add each choice's advantage to the regrets; return the value of the policy."""
    value = 0.0
    for choice in range(count):
        value += trail.policy[depth, choice] * trail.values[depth, choice]
    first = side.firsts[infoset]
    for choice in range(count):
        side.regrets[first + choice] += trail.values[depth, choice] - value
    side.visits[infoset] += 1
    return value


class Sampler:
    """External-sampling MCCFR of a game.

    Attributes:
        tree: of the whole game, with keys.
        sides: the learned data of both seats.
        traversals: number of traversals so far, of both seats.
        decisions: number of decisions visited so far, with more than one choice.
    """

    def __init__(self, game: Solvable, seed: int = 0, tree: Tree | None = None) -> None:
        """Create a solver, and walk the game unless its tree is given: `Grower(game).whole(keys=True)`.

        `seed` is that of the deals and the sampled choices.

        Raises:
            SolvingError: the tree does not fit in memory, has no keys, or is of another game.
        """
        if game.cards > WHOLE:
            raise SolvingError(
                f"{game.name} has {game.cards} cards: its tree does not fit in memory; games of up to "
                f"{WHOLE} cards can be solved"
            )
        self.tree = tree or Grower(game).whole(keys=True)
        if self.tree.game.rules != game.rules:
            raise SolvingError(f"the tree is of {self.tree.game.name}, not of {game.name}")
        if len(self.tree.seats[0].keys) == 0:
            raise SolvingError("the tree has no keys: grow it by whole(keys=True)")
        first, second = (_seat_data(seat) for seat in self.tree.seats)
        self.sides = first, second
        self.traversals = self.decisions = 0
        self._game, self._seed = game, random_word(seed & _WORD, seed >> 32 & _WORD, 0)
        deep = game.max_depth
        self._trail = Trail(
            states=for_kernels(new_states(deep)),
            chains=np.zeros((deep, PLAYERS), np.int64),
            infosets=np.zeros(deep, np.int64),
            next_choice=np.zeros(deep, np.int64),
            policy=np.zeros((deep, _MOST_CHOICES)),
            values=np.zeros((deep, _MOST_CHOICES)),
            counters=np.zeros(2, np.int64),
            mask=np.zeros(MASK_SIZE, np.int8),
        )

    def run(self, traversals: int) -> None:
        """Run the given number of traversals, each seat in turn."""
        game = self._game
        self.decisions += traverse(
            self.sides,
            game.deck,
            game.record,
            game.root,
            self._trail,
            self.traversals,
            traversals,
            self._seed,
        )
        self.traversals += traversals

    def weights(self) -> Weights:
        """Return the average policy, float64[size] for each seat (`values.Policy.weights`)."""
        result = []
        for seat, side in zip(self.tree.seats, self.sides, strict=True):
            weights = np.ones(seat.size)
            weights_of_reach(seat.operations, side.average, weights)
            result.append(weights)
        return result[0], result[1]

    def judge(self) -> Judgement:
        """Return the distance of the average policy from an equilibrium."""
        return judge_tree(self.tree, self.weights(), f"ES-MCCFR, {self.traversals} traversals")


def _seat_data(seat: SeatTree) -> SeatData:
    keys, choices, firsts = decisions_by_key(seat)
    regrets, average = np.zeros(seat.size), np.zeros(seat.size)
    return SeatData(keys, choices, firsts, regrets, average, np.zeros(0), np.zeros(len(keys), np.int64))

"""Probability of hands given the plays of their holders: the compiled part of `beliefs.PolicyBelief`.

Given the hands of now, the plays are gone back through, the newest first: the card that was played returns to
its hand, and as many cards as were drawn since leave it, each with the same probability. (For given plays all
orders in which the cards of a seat can have arrived are equally probable.) Each play that is gone back
through multiplies the weight: by how probable it was to a seat that held such a hand and saw the game as it
was then, divided by the copies of the card that the seat held.

Three kinds of players are thought possible, each by itself: one that plays like the rollout agent, another
compiled one, and one that plays any legal action with the same probability. What they have played in this
match says which of them the others are (`evidence`), and weights are mixed accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log
from typing import Final, NamedTuple

import numpy as np

from millebornes_env.agents.compiled.agent import MEMORY, Int64Array
from millebornes_env.agents.compiled.legal import list_legal
from millebornes_env.agents.millebornes import features
from millebornes_env.agents.policy.likelihood import Play, network_probability
from millebornes_env.agents.search.hidden_cards import Float64Array
from millebornes_env.agents.search.history import Window, card_shown_by
from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.numba.compiling import call_at, for_kernels, kernel, rule, stack_array
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.actions import PASS, num_actions
from millebornes_env.games.millebornes.cards import NO_CARD, NUM_CARD_TYPES, safety_against
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.sections import ObservationSpec
from millebornes_env.games.millebornes.state import Int8Array, State, StateArray, new_states

KINDS: Final = 3
"""Of players: like the rollout agent, like another one, by chance."""
LIKE_ROLLOUT: Final = 0
LIKE_OTHER: Final = 1
BY_CHANCE: Final = 2

IMPOSSIBLE: Final = -1e9
"""The logarithm of the weight of hands that the rules do not allow."""

_MOST_ACTIONS: Final = 64
_MORE_THAN_ACTIONS: Final = _MOST_ACTIONS + 1
_READING_TAG: Final = 0x72656164


class Players(NamedTuple):
    """Models of the other players."""

    rollout: int  # address of the rollout agent's function
    rollout_options: Int64Array
    has_logits: int  # 1: it is a network, whose probabilities are known; 0: only its choice is
    other: int  # address of the other compiled agent
    other_options: Int64Array
    epsilon: float  # so often a player of the first two kinds plays any legal action
    temperature: float  # by which the network's logits are divided


class Plays(NamedTuple):
    """Possible plays of the others: W windows with up to K readings each, concatenated."""

    states: StateArray  # [E] of all events
    actions: Int64Array  # [E]
    starts: Int64Array  # [W, K + 1] where the events of each reading start, and where those of the last end
    readings: Int64Array  # [W] how many each window has


class Question(NamedTuple):
    """The hands to weigh, and the known facts."""

    hands: Int8Array  # [C, S, NUM_CARD_TYPES], drawn by uniform redeals
    counted: int  # so many of them, from the first on, stand for all; more may be weighed besides
    fewest: float  # older plays are left out where weights would become as uneven as of so few hands
    trust: Float64Array  # [K] logarithm of how probable each kind of player is by earlier plays
    key_0: int  # of the random numbers
    key_1: int


class Weights(NamedTuple):
    """Results of weighing C hands, for K kinds of players."""

    weights: Float64Array  # [C], their mean is 1
    logs: Float64Array  # [K, C] of the weights by each kind of player
    before: Float64Array  # [K, C] scratch
    evidence: Float64Array  # [K] logarithm of the plays' probability by each kind, over the windows
    back: Int8Array  # [C, S, NUM_CARD_TYPES] scratch: hands of then


def plays_of(windows: Sequence[Window]) -> Plays:
    """Convert windows for the kernels.

    Args:
        windows: possible plays of the others, the newest window first.
    """
    readings = [reading for window in windows for reading in window]
    most = max((len(window) for window in windows), default=0)
    starts = np.zeros((len(windows), most + 1), np.int64)
    end = 0
    for number, window in enumerate(windows):
        for place, reading in enumerate(window):
            starts[number, place] = end
            end += len(reading.actions)
            starts[number, place + 1] = end
    states = new_states(end).view(np.ndarray)
    actions = np.zeros(end, np.int64)
    if readings:
        states[:] = np.concatenate([reading.states for reading in readings])
        actions[:] = np.concatenate([reading.actions for reading in readings])
    lengths = np.array([len(window) for window in windows], np.int64)
    return Plays(for_kernels(states), actions, starts, lengths)


def new_weights(count: int, seats: int) -> Weights:
    """Room for the weights of so many hands."""
    return Weights(
        weights=np.ones(count, np.float64),
        logs=np.zeros((KINDS, count), np.float64),
        before=np.zeros((KINDS, count), np.float64),
        evidence=np.zeros(KINDS, np.float64),
        back=np.zeros((count, seats, NUM_CARD_TYPES), np.int8),
    )


@kernel
def weigh_hands(
    players: Players,
    rules: RulesRecord,
    plays: Plays,
    question: Question,
    result: Weights,
) -> int:
    """Weigh hands by what their holders have played.

    Args:
        players: how they may choose.
        rules: the table's.
        plays: what they have played.
        question: the hands.
        result: overwritten.

    Returns:
        How many windows were weighed.
    """
    copy_hands_back(question.hands, result.back)
    result.logs[:] = 0.0
    result.evidence[:] = 0.0
    result.weights[:] = 1.0
    for back in range(len(plays.readings)):
        copy_logs(result.logs, result.before)
        for number in range(len(question.hands)):
            word = random_word(question.key_0, question.key_1, number)
            weigh_window(players, rules, plays, back, number, (word, question.key_1 ^ back), result)
        size = mix_weights(result, question.counted, question.trust, back + 1)
        if size < question.fewest and back > 0:
            copy_logs(result.before, result.logs)
            mix_weights(result, question.counted, question.trust, back)
            return back
    return len(plays.readings)


@rule
def copy_hands_back(hands: Int8Array, back: Int8Array) -> None:
    """Begin to go back with the hands of now (an array's own copy takes memory, which rules cannot)."""
    for number in range(hands.shape[0]):
        for seat in range(hands.shape[1]):
            for card in range(hands.shape[2]):
                back[number, seat, card] = hands[number, seat, card]


@rule
def copy_logs(logs: Float64Array, to: Float64Array) -> None:
    """Copy the logarithms of weights."""
    for kind in range(KINDS):
        for number in range(logs.shape[1]):
            to[kind, number] = logs[kind, number]


@rule
def weigh_window(
    players: Players,
    rules: RulesRecord,
    plays: Plays,
    back: int,
    number: int,
    key: tuple[int, int],
    result: Weights,
) -> None:
    """Go back through one window with one deal of hands."""
    reading = 0
    if int(plays.readings[back]) > 1:
        reading = random_below(key[0] ^ _READING_TAG, key[1], 0, int(plays.readings[back]))
    first, end = int(plays.starts[back, reading]), int(plays.starts[back, reading + 1])
    drawn = 1
    for event in range(end - 1, first - 1, -1):
        state, action = plays.states[event], int(plays.actions[event])
        seat = int(state.seat)
        held = result.back[number, seat]
        card = card_shown_by(state, action)
        kept = int(state.hand_count[seat]) - (1 if card != NO_CARD else 0)
        drawn = take_back(held, kept, key, drawn)
        if card != NO_CARD:
            held[card] += 1
        if action == PASS and held[safety_against(int(state.pending_hazard))] == 0:
            continue  # it was not asked
        for kind_of_card in range(NUM_CARD_TYPES):
            state.hand[seat, kind_of_card] = held[kind_of_card]
        if card != NO_CARD:
            count_copies(int(held[card]), number, result)
        add_probabilities(players, rules, state, seat, action, number, result)


@rule
def count_copies(copies: int, number: int, result: Weights) -> None:
    """Multiply the weights of one deal by the probability that this copy was played and not another one.

    A redeal tells cards of a kind apart: the one that was played is in sight, the others are dealt.
    """
    for kind in range(KINDS):
        result.logs[kind, number] -= log(float(copies))


@rule
def take_back(held: Int8Array, kept: int, key: tuple[int, int], drawn: int) -> int:
    """Take cards out of a hand by chance until so many are left; returns the next counter."""
    size = 0
    for card in range(NUM_CARD_TYPES):
        size += int(held[card])
    while size > kept:
        place = random_below(key[0], key[1], drawn, size)
        card = 0
        while place >= int(held[card]):
            place -= int(held[card])
            card += 1
        held[card] -= 1
        size -= 1
        drawn += 1
    return drawn


@rule
def add_probabilities(
    players: Players,
    rules: RulesRecord,
    state: State,
    seat: int,
    action: int,
    number: int,
    result: Weights,
) -> None:
    """Multiply the weights of one deal by the probability of one play, by each kind of player."""
    mask = stack_array(np.int8, _MOST_ACTIONS)[: num_actions(rules.teams)]
    actions = stack_array(np.int16, _MORE_THAN_ACTIONS)
    write_mask(state, rules, mask)
    count = list_legal(mask, actions)
    if mask[action] == 0:
        for kind in range(KINDS):
            result.logs[kind, number] += IMPOSSIBLE
        return
    by_chance = 1.0 / count
    result.logs[BY_CHANCE, number] += log(by_chance)
    by_rollout, by_other = 1.0, 1.0
    if count > 1:
        by_rollout = rollout_probability(players, rules, state, seat, action)
        is_other = chosen_by(players.other, players.other_options, rules, state, seat) == action
        by_other = 1.0 if is_other else 0.0
    mixed = players.epsilon * by_chance
    result.logs[LIKE_ROLLOUT, number] += log(mixed + (1.0 - players.epsilon) * by_rollout)
    result.logs[LIKE_OTHER, number] += log(mixed + (1.0 - players.epsilon) * by_other)


@rule
def rollout_probability(players: Players, rules: RulesRecord, state: State, seat: int, action: int) -> float:
    """Return the probability of the play under the rollout agent."""
    options = players.rollout_options
    if players.has_logits == 1:
        play = Play(action, players.temperature)
        return network_probability(rulebook, features, ObservationSpec, state, rules, seat, options, play)
    return 1.0 if chosen_by(players.rollout, options, rules, state, seat) == action else 0.0


@rule
def chosen_by(choose: int, options: Int64Array, rules: RulesRecord, state: State, seat: int) -> int:
    """Return the action of a compiled agent without a memory of the round."""
    memory = stack_array(np.int16, MEMORY)
    for slot in range(MEMORY):
        memory[slot] = 0
    return call_at(choose, (state, rules, seat, memory, options, 0))


@rule
def log_mean(logs: Float64Array, counted: int) -> float:
    """The logarithm of the mean of what these are the logarithms of."""
    highest = -inf
    for number in range(counted):
        highest = max(highest, logs[number])
    whole = 0.0
    for number in range(counted):
        whole += exp(logs[number] - highest)
    return highest + log(whole / counted)


@rule
def mix_weights(result: Weights, counted: int, trust: Float64Array, windows: int) -> float:
    """Mix the weights by the kinds of players; how many hands the counted ones amount to.

    By each kind alone the weights' mean is 1; kinds count as the plays and `trust` say. Plays are asked about
    as often as there are windows, so each time they are evidence for a part of what they say.
    """
    highest = -inf
    for kind in range(KINDS):
        result.evidence[kind] = log_mean(result.logs[kind], counted) / windows
        highest = max(highest, trust[kind] + result.evidence[kind])
    whole = 0.0
    for kind in range(KINDS):
        whole += exp(trust[kind] + result.evidence[kind] - highest)
    result.weights[:] = 0.0
    for kind in range(KINDS):
        share = exp(trust[kind] + result.evidence[kind] - highest) / whole
        mean = log_mean(result.logs[kind], counted)
        for number in range(len(result.weights)):
            result.weights[number] += share * exp(result.logs[kind, number] - mean)
    total, squares = 0.0, 0.0
    for number in range(counted):
        total += result.weights[number]
        squares += result.weights[number] * result.weights[number]
    return total * total / squares

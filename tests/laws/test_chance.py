"""Random numbers: the same everywhere and for ever, in range, even; the shuffle and the first dealer."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from millebornes_env.engine.batch import Batch
from millebornes_env.engine.chance import mixed, random_below, random_word
from millebornes_env.envs.vector import vector_env
from millebornes_env.games.millebornes.deal import shuffle_deck
from millebornes_env.games.millebornes.rules import rules_record
from tests.each import each
from tests.laws.conversions import (
    CARDS,
    ID_OF,
    MATCH,
    PARKER_2,
    ROUND,
    SOME_TABLES,
    TABLES,
    Table,
    chi_square,
    chi_square_limit,
    counts,
    deck_of,
    new_games,
    rules_of,
)
from tests.oracle.oracle import SAFETIES

WORDS = st.integers(0, 2**32 - 1)
COUNTERS = st.integers(0, 2**31 - 1)
repeatable = settings(max_examples=200, derandomize=True, database=None, deadline=None)

# Saved games and published results hang on these: (key_0, key_1, counter) -> word.
KNOWN_WORDS = {
    (0x0, 0x0, 0): 0x00000000,
    (0x0, 0x0, 1): 0xAE6F80F1,
    (0x1, 0x0, 0): 0x58F54975,
    (0x0, 0x1, 0): 0x688990C0,
    (0x75BCD15, 0x3ADE68B1, 1): 0xC232CF5E,
    (0x75BCD15, 0x3ADE68B1, 105): 0xF66A9A4B,
    (0x75BCD15, 0x3ADE68B1, 106): 0xBA67F4FF,
    (0xFFFFFFFF, 0xFFFFFFFF, 0): 0x9945545D,
    (0x80000000, 0x7FFFFFFF, 2147483647): 0x61A51496,
}

SAFETY_IDS = [ID_OF[card] for card in SAFETIES]
LIMITS = (2, 3, 4, 6, 19, 52, 101, 106)


# The function -----------------------------------------------------------------------------------------------


@each("key, word", KNOWN_WORDS.items())
def test_random_words_are_these_and_stay_these(key: tuple[int, int, int], word: int) -> None:
    assert random_word(*key) == word


@given(WORDS)
@repeatable
def test_the_mixer_is_the_published_hash(word: int) -> None:
    x = np.array([word], np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    assert mixed(word) == x[0]
    # The second mixing gets the first one's result and the second word: here equal, which leaves 0.
    assert random_word(word, int(x[0]), 0) == 0


@given(WORDS, WORDS, COUNTERS)
@repeatable
def test_a_random_word_is_a_32_bit_number_that_depends_on_nothing_else(
    key_0: int, key_1: int, counter: int
) -> None:
    word = random_word(key_0, key_1, counter)
    assert 0 <= word < 2**32
    random_word(key_1, key_0, counter + 1)
    assert random_word(key_0, key_1, counter) == word
    assert len({word, random_word(key_0 ^ 1, key_1, counter), random_word(key_0, key_1 ^ 1, counter)}) == 3
    assert random_word(key_0, key_1, counter + 1) != word


def test_no_bit_of_a_random_word_is_fixed_or_repeats_another() -> None:
    words = np.array([random_word(1, 2, counter) for counter in range(20_000)])
    bits = words[:, None] >> np.arange(32) & 1
    assert np.abs(bits.mean(0) - 0.5).max() < 0.02
    together = np.corrcoef(bits.T) - np.eye(32)
    assert np.abs(together).max() < 0.04


@given(WORDS, WORDS, COUNTERS, st.integers(1, 10_000))
@repeatable
def test_random_below_is_in_range(key_0: int, key_1: int, counter: int, limit: int) -> None:
    assert 0 <= random_below(key_0, key_1, counter, limit) < limit
    assert random_below(key_0, key_1, counter, 1) == 0


# What may count on from number to number: each of the three arguments, the others standing still.
COUNTING = {
    "counter": lambda count: (7, 8, count),
    "first word": lambda count: (count, 8, 7),
    "second word": lambda count: (7, count, 8),
    "high first word": lambda count: (count << 16, 8, 7),
    "high second word": lambda count: (7, count << 16, 8),
}


@each("limit", LIMITS)
@each("name", COUNTING)
def test_random_below_is_even(name: str, limit: int) -> None:
    number = 200 * limit
    seen = Counter(random_below(*COUNTING[name](count), limit) for count in range(number))
    assert chi_square([seen[value] for value in range(limit)], [200] * limit) < chi_square_limit(limit - 1)


@each("limit", [2, 3, 6])
@each("name", COUNTING)
def test_random_numbers_that_follow_each_other_are_independent(name: str, limit: int) -> None:
    number = 500 * limit * limit
    values = [random_below(*COUNTING[name](count), limit) for count in range(number + 1)]
    check_pairs(Counter(pairwise(values)), limit)


@each("limit", [2, 3, 6])
@each("name", [name for name in COUNTING if name != "counter"])
def test_random_numbers_of_two_counters_are_independent(name: str, limit: int) -> None:
    """As the steps of one shuffle must be, over many keys."""
    number = 500 * limit * limit
    keys = [COUNTING[name](count)[:2] for count in range(number)]
    pairs = Counter((random_below(*key, 3, limit), random_below(*key, 4, limit)) for key in keys)
    check_pairs(pairs, limit)


def check_pairs(pairs: Counter[tuple[int, int]], limit: int) -> None:
    expected = [pairs.total() / limit**2] * limit**2
    observed = [pairs[pair] for pair in product(range(limit), repeat=2)]
    assert chi_square(observed, expected) < chi_square_limit(limit**2 - 1)


# The deal ---------------------------------------------------------------------------------------------------

DEALS = 20_000
some_tables = each("table", SOME_TABLES)


def shuffled_decks(games: Batch) -> np.ndarray:
    """The decks of rounds that were just dealt, with the cards that lie in the hands now.

    They are shuffled once more, which gives the same order, and checked against what is left.
    """
    states = games.states.copy()
    rules = rules_record(games.rules)
    size = {shuffle_deck(state, rules) for state in states}
    assert size == {sum(games.rules.deck)}
    decks, left = states["deck"], games.states["deck"]
    assert ((left == decks) | (left == -1)).all()
    in_hands = games.states["hand"].sum((1, 2))
    assert (((left == -1) & (decks >= 0)).sum(1) == in_hands).all()
    return np.asarray(decks[:, : size.pop()])


@cache
def dealt(table: Table) -> Batch:
    return new_games(table, DEALS, seed=TABLES.index(table) + 1)


@cache
def dealt_decks(table: Table) -> np.ndarray:
    return shuffled_decks(dealt(table))


@some_tables
def test_each_seat_gets_the_front_of_its_stretch_of_the_deck(table: Table) -> None:
    """Six cards, and one more whoever begins: the seat to the left of the dealer."""
    states, decks = dealt(table).states, dealt_decks(table)
    size = decks.shape[1]
    for game in range(0, DEALS, 100):
        state = states[game]
        for seat in range(table.players):
            first, end = seat * size // table.players, (seat + 1) * size // table.players
            cards = 7 if seat == (state.dealer + 1) % table.players else 6
            assert (state.stream_next[seat], state.stream_end[seat]) == (first + cards, end)
            names = [CARDS[card] for card in decks[game, first : first + cards]]
            assert state.hand[seat].tolist() == counts(names)


@some_tables
def test_every_card_may_lie_anywhere(table: Table) -> None:
    decks = dealt_decks(table)
    size = decks.shape[1]
    assert (np.sort(decks, axis=1) == np.sort([CARDS.index(card) for card in deck_of(table)])).all()
    for card, count in enumerate(counts(deck_of(table))):
        places = (decks == card).sum(0)
        expected = DEALS * count / size
        # The count at each place has the variance of a draw without replacement.
        spread = (places - expected) / np.sqrt(expected * (1 - count / size))
        assert np.abs(spread).max() < 5
        assert (spread**2).sum() * (size - 1) / size < chi_square_limit(size - 1, len(CARDS))


@some_tables
def test_where_one_card_lies_says_nothing_about_another(table: Table) -> None:
    """In particular not about the card that lay beside it in the unshuffled deck."""
    decks = dealt_decks(table)
    size = decks.shape[1]
    places = [(decks == card).argmax(1) for card in SAFETY_IDS]
    for first, second in pairwise(places):
        gaps = Counter(((second - first) % size).tolist())
        observed = [gaps[gap] for gap in range(1, size)]
        assert gaps[0] == 0
        assert chi_square(observed, [DEALS / (size - 1)] * (size - 1)) < chi_square_limit(size - 2)


@some_tables
def test_every_seat_deals_first_as_often(table: Table) -> None:
    dealers = np.bincount(dealt(table).states["dealer"], minlength=table.players)
    seats = table.players
    assert len(dealers) == seats
    assert chi_square(dealers, [DEALS / seats] * seats) < chi_square_limit(seats - 1)


@some_tables
def test_the_first_dealer_says_nothing_about_the_cards(table: Table) -> None:
    dealers, decks = dealt(table).states["dealer"], dealt_decks(table)
    seats = table.players
    for place in (0, 1, 50, 100):
        card_is_distance = decks[:, place] < 5
        share = 46 / len(deck_of(table))
        seen = [(card_is_distance & (dealers == seat)).sum() for seat in range(seats)]
        assert chi_square(seen, [DEALS * share / seats] * seats) < chi_square_limit(seats)


@some_tables
def test_each_episode_of_a_game_has_its_own_deal(table: Table) -> None:
    seats = table.players
    games = new_games(table, 1, ROUND)
    decks, dealers = set(), Counter[int]()
    for _ in range(2000):
        decks.add(games.states["deck"][0].tobytes())
        dealers[int(games.states["dealer"][0])] += 1
        games.start()
    assert len(decks) == 2000
    observed = [dealers[seat] for seat in range(seats)]
    assert chi_square(observed, [2000 / seats] * seats) < chi_square_limit(seats - 1)
    assert games.states["episode"][0] == 2000


@each("table", [table for table in SOME_TABLES if rules_of(table).count_points])
def test_the_rounds_of_a_match_are_dealt_independently(table: Table) -> None:
    """The place of a safety in the first and in the second round, over many matches."""
    games = new_games(table, 2000, MATCH, seed=3)
    second = new_games(table, 2000, MATCH, seed=3)
    first_decks = shuffled_decks(games)
    waiting = np.ones(2000, np.bool_)
    for step in range(400):
        actions = games.sample((0, 77), step)
        assert games.step(np.where(waiting, actions, -1)) == -1
        arrived = waiting & (games.states["round_number"] == 1)
        second.states[arrived] = games.states[arrived]
        waiting &= ~arrived
    assert not waiting.any()
    size = len(deck_of(table))
    quarters = [
        ((decks == SAFETY_IDS[0]).argmax(1) * 4) // size for decks in (first_decks, shuffled_decks(second))
    ]
    check_pairs(Counter(zip(*(quarter.tolist() for quarter in quarters), strict=True)), 4)


# Sampled actions --------------------------------------------------------------------------------------------


def test_sampled_actions_are_legal_and_even() -> None:
    games = new_games(PARKER_2, 5000)
    games.states[:] = games.states[0]
    games.write_decisions()
    legal = np.flatnonzero(games.buffers.action_mask[0])
    seen = Counter[int]()
    for call in range(4):
        seen.update(games.sample((0, 3), call).tolist())
    assert seen.keys() <= set(legal.tolist())
    assert chi_square([seen[action] for action in legal.tolist()], [20_000 / len(legal)] * len(legal)) < (
        chi_square_limit(len(legal) - 1)
    )


def test_sampled_actions_of_the_environment_are_independent_from_game_to_game_and_call_to_call() -> None:
    """No game takes the same random number as another in the same call or as any in the call before."""
    env = vector_env(num_envs=400, players=2)
    env.reset(seed=5)
    numbers = np.array([places_of(env.games, env.sample_actions()) for _ in range(40)])
    for name, (first, second) in {
        "next game": (numbers[:, :-1], numbers[:, 1:]),
        "next call": (numbers[:-1], numbers[1:]),
        "next call, next game": (numbers[:-1, :-1], numbers[1:, 1:]),
        "next call, game before": (numbers[:-1, 1:], numbers[1:, :-1]),
    }.items():
        correlation = np.corrcoef(first.ravel(), second.ravel())[0, 1]
        assert abs(correlation) < 0.04, name


def places_of(games: Batch, actions: np.ndarray) -> list[float]:
    """Return the rank of each game's action among its legal actions, from 0 (the first) to 1."""
    places = []
    for mask, action in zip(games.buffers.action_mask, actions, strict=True):
        legal = np.flatnonzero(mask).tolist()
        places.append((legal.index(action) + 0.5) / len(legal))
    return places

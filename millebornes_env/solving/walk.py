"""The compiled walk over public histories, with all hands that either seat may hold there.

The walk visits a tree of public histories. A node holds, for each seat, its possible hands, and with each
hand the *sequence* that leads to it: the seat's own actions and draws so far. The result is the tree of each
seat, as flat arrays of *operations* in the order of the walk, and the *ends*, where a sequence of one seat
meets a sequence of the other:

* a decision (an information set): a sequence, and the sequences after each of its actions;
* a merge: draws that lead to the same hand from different hands;
* an end: a sequence of each seat, the payoff of seat 0, and the probability of the cards.

The record of a node holds the public state; hands are written into it only to compute legal actions. A hazard
that stands does not reveal whether the attacked seat could have parried it.
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import kernel, rule, seldom
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    FIRST_DISCARD,
    PASS,
    card_of,
    is_discard,
)
from millebornes_env.games.millebornes.cards import NO_CARD, is_hazard, safety_against
from millebornes_env.games.millebornes.coup_fourre import can_claim
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, PLAY, ROUND_OVER, Int8Array, State
from millebornes_env.games.millebornes.turn import step
from millebornes_env.games.millebornes.winning import has_won_round
from millebornes_env.solving.deck import BITS, Deck
from millebornes_env.solving.nodes import (
    CHANCE_NODES,
    DECISIONS,
    DONE,
    END_NODES,
    ENDS,
    FRONTIER,
    FULL,
    HIGHEST,
    INFOSETS,
    LOWEST,
    MOST_ACTIONS,
    OPERATIONS,
    PLAY_NODES,
    PLAYERS,
    PUBLIC_NODES,
    SEQUENCES,
    SOURCES,
    Frames,
    TreeBuffers,
    chance_of,
    code_of,
    copies_in,
    count_pairs,
    fits,
    hash_history,
    mix,
    num_choices,
    write_hand,
)

# Draws ------------------------------------------------------------------------------------------------------


@rule
def index_of_drawn(frames: Frames, count: int, code: int) -> int:
    """Return the index of a hand among those drawn so far, or `count`."""
    index = 0
    while index < count and frames.drawn[0, index] != code:
        index += 1
    return index


@seldom
def draw_card(frames: Frames, buffers: TreeBuffers, deck: Deck, depth: int, seat: int, hidden: int) -> None:
    """Draw one card into each of the seat's hands, of any type that is hidden from it."""
    buffers.sizes[CHANCE_NODES] += count_pairs(frames, depth, hidden)
    before = frames.counts[depth, seat]
    count = 0
    for hand in range(before):
        code = frames.codes[depth, seat, hand]
        for kind in range(len(deck.cards)):
            if copies_in(hidden - code, kind) > 0:
                after = code + (1 << (BITS * kind))
                index = index_of_drawn(frames, count, after)
                if index == count:
                    frames.drawn[0, index] = after
                    frames.drawn[1, index] = frames.sequences[depth, seat, hand]
                    frames.drawn[2, index] = 0
                    count += 1
                frames.drawn[2, index] += 1
    merge(frames, buffers, deck, depth, seat, count)
    for index in range(count):
        frames.codes[depth, seat, index] = frames.drawn[0, index]
        frames.sequences[depth, seat, index] = frames.drawn[1, index]
    frames.counts[depth, seat] = count


@rule
def merge(frames: Frames, buffers: TreeBuffers, deck: Deck, depth: int, seat: int, count: int) -> None:
    """Add a new sequence for each drawn hand that comes from several hands."""
    for index in range(count):
        if frames.drawn[2, index] == 1:
            continue
        at = buffers.sizes[OPERATIONS + seat]
        first = buffers.sizes[SOURCES + seat]
        merged = buffers.sizes[SEQUENCES + seat]
        for hand in range(frames.counts[depth, seat]):
            taken = frames.drawn[0, index] - frames.codes[depth, seat, hand]
            if is_one_card(taken, len(deck.cards)):
                buffers.sources[seat, buffers.sizes[SOURCES + seat]] = frames.sequences[depth, seat, hand]
                buffers.sizes[SOURCES + seat] += 1
        buffers.heads[seat, at] = merged
        buffers.firsts[seat, at] = first
        buffers.kinds[seat, at] = first - buffers.sizes[SOURCES + seat]
        buffers.sizes[OPERATIONS + seat] += 1
        buffers.sizes[SEQUENCES + seat] += 1
        frames.drawn[1, index] = merged


@rule
def is_one_card(code: int, kinds: int) -> bool:
    """Return True if the difference of two hands is one card."""
    for kind in range(kinds):
        if code == 1 << (BITS * kind):
            return True
    return False


# Nodes ------------------------------------------------------------------------------------------------------


@rule
def write_end(
    frames: Frames, buffers: TreeBuffers, deck: Deck, rules: RulesRecord, depth: int, hidden: int
) -> None:
    """Write the payoff at the end of a round for each pair of hands."""
    state = frames.states[depth]
    value = payoff(state, rules)
    buffers.sizes[LOWEST] = min(buffers.sizes[LOWEST], value)
    buffers.sizes[HIGHEST] = max(buffers.sizes[HIGHEST], value)
    for one in range(frames.counts[depth, 0]):
        left = hidden - frames.codes[depth, 0, one]
        for other in range(frames.counts[depth, 1]):
            if fits(frames.codes[depth, 1, other], left):
                at = buffers.sizes[ENDS]
                chance = chance_of(deck, left - frames.codes[depth, 1, other])
                buffers.end_sequences[0, at] = frames.sequences[depth, 0, one]
                buffers.end_sequences[1, at] = frames.sequences[depth, 1, other]
                buffers.end_chances[at] = chance
                buffers.end_values[at] = chance * value
                buffers.sizes[ENDS] = at + 1
                buffers.sizes[END_NODES] += 1


@rule
def payoff(state: State, rules: RulesRecord) -> int:
    """Return the payoff of seat 0: its points less the other's; 1, 0 or -1 without points."""
    if rules.count_points == 1:
        return round_score(state, 0) - round_score(state, 1)
    return (1 if has_won_round(state, rules, 0) else 0) - (1 if has_won_round(state, rules, 1) else 0)


@rule
def write_frontier(frames: Frames, buffers: TreeBuffers, depth: int) -> None:
    """Store a node at which the walk stops."""
    at = buffers.sizes[FRONTIER]
    buffers.frontier[at] = frames.states[depth]
    for seat in range(PLAYERS):
        buffers.frontier_counts[at, seat] = frames.counts[depth, seat]
        for hand in range(frames.counts[depth, seat]):
            buffers.frontier_codes[at, seat, hand] = frames.codes[depth, seat, hand]
            buffers.frontier_sequences[at, seat, hand] = frames.sequences[depth, seat, hand]
    buffers.sizes[FRONTIER] = at + 1


@seldom
def choices_with(frames: Frames, deck: Deck, rules: RulesRecord, depth: int, code: int) -> int:
    """Return the choices of the deciding seat with a hand; see `choices_of`."""
    state = frames.states[depth]
    if int(state.phase) != EXTENSION:
        write_hand(state, deck, int(state.seat), code)
    return choices_of(state, deck, rules, frames.mask)


@rule
def choices_of(state: State, deck: Deck, rules: RulesRecord, mask: Int8Array) -> int:
    """Return the choices of the deciding seat as a set of bits.

    Bit `k` is to play a card of type `k`, bit `T + k` to discard one; then claim or extend, pass or finish.
    """
    phase, kinds = int(state.phase), len(deck.cards)
    if phase == EXTENSION:
        return 3 << (2 * kinds)
    if phase == CLAIM:
        return 3 << (2 * kinds) if can_claim(state, rules, int(state.seat)) else 0
    write_mask(state, rules, mask)
    choices = 0
    for kind in range(kinds):
        card = deck.cards[kind]
        if mask[card] != 0:
            choices |= 1 << kind
        if mask[FIRST_DISCARD + card] != 0:
            choices |= 1 << (kinds + kind)
    return choices


@rule
def write_decision(buffers: TreeBuffers, seat: int, sequence: int, choices: int) -> int:
    """Write an information set; return the sequence of its first choice, or its own if it has only one."""
    count = num_choices(choices)
    buffers.sizes[INFOSETS + seat] += 1
    buffers.sizes[MOST_ACTIONS] = max(buffers.sizes[MOST_ACTIONS], count)
    if count == 1:
        return sequence
    at, first = buffers.sizes[OPERATIONS + seat], buffers.sizes[SEQUENCES + seat]
    buffers.heads[seat, at] = sequence
    buffers.firsts[seat, at] = first
    buffers.kinds[seat, at] = choices
    buffers.sizes[OPERATIONS + seat] = at + 1
    buffers.sizes[SEQUENCES + seat] = first + count
    return int(first)


@rule
def write_decision_state(
    frames: Frames, buffers: TreeBuffers, deck: Deck, depth: int, code: int, hidden: int
) -> None:
    """Store the game as the deciding seat knows it, with the hidden cards in an arbitrary order."""
    at = buffers.sizes[DECISIONS]
    buffers.decision_states[at] = frames.states[depth]
    state = buffers.decision_states[at]
    seat = int(state.seat)
    write_hand(state, deck, seat, code)
    write_hand(state, deck, 1 - seat, 0)
    missing = int(state.hand_count[1 - seat])
    index = 0
    left = hidden - code
    for kind in range(len(deck.cards)):
        card = deck.cards[kind]
        for _ in range(copies_in(left, kind)):
            if missing > 0:
                state.hand[1 - seat, card] = int(state.hand[1 - seat, card]) + 1
                missing -= 1
                continue
            while int(state.deck[index]) == NO_CARD:
                index += 1
            state.deck[index] = card
            index += 1
    buffers.decision_seats[at] = seat
    buffers.decision_operations[at] = buffers.sizes[OPERATIONS + seat]
    buffers.sizes[DECISIONS] = at + 1


@seldom
def open_node(frames: Frames, buffers: TreeBuffers, deck: Deck, rules: RulesRecord, depth: int) -> bool:
    """Record a node; return True if the walk continues from it."""
    state = frames.states[depth]
    hidden = code_of(state.hidden, deck)
    if int(state.phase) == ROUND_OVER:
        buffers.sizes[PUBLIC_NODES] += 1
        write_end(frames, buffers, deck, rules, depth, hidden)
        return False
    if depth == frames.limit:
        write_frontier(frames, buffers, depth)
        return False
    buffers.sizes[PUBLIC_NODES] += 1
    seat = int(state.seat)
    has_keys = buffers.keys.shape[1] > 0
    chain = hash_history(frames.chains[depth, seat], state, deck, seat) if has_keys else 0
    for hand in range(frames.counts[depth, seat]):
        code = frames.codes[depth, seat, hand]
        choices = choices_with(frames, deck, rules, depth, code)
        frames.choices[depth, hand] = choices
        frames.firsts[depth, hand] = frames.sequences[depth, seat, hand]
        if choices != 0:
            if len(buffers.decision_states) > 0 and choices & (choices - 1) != 0:
                write_decision_state(frames, buffers, deck, depth, code, hidden)
            if has_keys and choices & (choices - 1) != 0:
                buffers.keys[seat, buffers.sizes[OPERATIONS + seat]] = mix(chain, code)
            first = write_decision(buffers, seat, frames.sequences[depth, seat, hand], choices)
            frames.firsts[depth, hand] = first
            left = hidden - code
            for other in range(frames.counts[depth, 1 - seat]):
                if fits(frames.codes[depth, 1 - seat, other], left):
                    buffers.sizes[PLAY_NODES] += 1
    if int(state.phase) != CLAIM:  # a claim decision is private: it reveals that the seat holds the safety
        frames.chains[depth, seat] = chain
    frames.next_choice[depth] = 0
    return True


# From node to node ------------------------------------------------------------------------------------------


@rule
def some_hand_has(frames: Frames, depth: int, choice: int) -> bool:
    """Return True if the choice is legal with at least one hand of the deciding seat."""
    seat = int(frames.states[depth].seat)
    for hand in range(frames.counts[depth, seat]):
        if (frames.choices[depth, hand] >> choice) & 1:
            return True
    return False


@rule
def some_hand_parries(frames: Frames, deck: Deck, depth: int, seat: int, card: int) -> bool:
    """Return True if the card is a hazard and one of the seat's hands holds the safety against it."""
    if not is_hazard(card):
        return False
    kind = deck.type_of[safety_against(card)]
    if kind < 0:
        return False
    for hand in range(frames.counts[depth, seat]):
        if copies_in(frames.codes[depth, seat, hand], kind) > 0:
            return True
    return False


@rule
def record_choice(frames: Frames, depth: int, choice: int) -> None:
    """Add a choice to the seat's public history, unless it is about a claim."""
    here = frames.states[depth]
    if int(here.phase) != CLAIM:
        seat = int(here.seat)
        frames.chains[depth + 1, seat] = mix(frames.chains[depth, seat], choice)


@rule
def choice_of(deck: Deck, action: int) -> int:
    """Return the choice of an action; the inverse of `action_of`."""
    kinds = len(deck.cards)
    if action in (CLAIM_COUP_FOURRE, EXTEND):
        return 2 * kinds
    if action in (PASS, FINISH):
        return 2 * kinds + 1
    kind = int(deck.type_of[card_of(action)])
    return kinds + kind if is_discard(action) else kind


@rule
def action_of(deck: Deck, phase: int, choice: int) -> int:
    """Return the action id of a choice."""
    kinds = len(deck.cards)
    if phase == PLAY:
        return int(deck.cards[choice] if choice < kinds else FIRST_DISCARD + deck.cards[choice - kinds])
    first = choice == 2 * kinds
    if phase == CLAIM:
        return CLAIM_COUP_FOURRE if first else PASS
    return EXTEND if first else FINISH


@rule
def card_shown(state: State, deck: Deck, choice: int) -> int:
    """Return the type of the card that a choice takes from the hand, or -1."""
    kinds = len(deck.cards)
    if choice < 2 * kinds:
        return choice if choice < kinds else choice - kinds
    if int(state.phase) == CLAIM and choice == 2 * kinds:
        return int(deck.type_of[safety_against(int(state.pending_hazard))])
    return -1


@seldom
def apply_action(state: State, rules: RulesRecord, action: int) -> None:
    """Apply an action; a separate function so that the rulebook's `step` is compiled only once."""
    step(state, rules, action)


@seldom
def enter(
    frames: Frames, buffers: TreeBuffers, deck: Deck, rules: RulesRecord, depth: int, choice: int
) -> None:
    """Write the child node of a choice at the next depth."""
    frames.states[depth + 1] = frames.states[depth]
    frames.chains[depth + 1, 0] = frames.chains[depth, 0]
    frames.chains[depth + 1, 1] = frames.chains[depth, 1]
    if buffers.keys.shape[1] > 0:
        record_choice(frames, depth, choice)
    here, state = frames.states[depth], frames.states[depth + 1]
    seat, phase = int(state.seat), int(state.phase)
    other = 1 - seat
    kind = card_shown(here, deck, choice)
    code = 0 if kind < 0 else 1 << (BITS * kind)
    write_hand(state, deck, seat, code)
    write_hand(state, deck, other, 0)
    if phase == PLAY and choice < len(deck.cards):
        card = deck.cards[choice]
        if some_hand_parries(frames, deck, depth, other, card):
            state.hand[other, safety_against(card)] = 1
    elif phase == CLAIM and kind < 0:
        state.hand[seat, safety_against(int(here.pending_hazard))] = 1
    own_cards, other_cards = int(here.hand_count[seat]), int(here.hand_count[other])
    apply_action(state, rules, action_of(deck, phase, choice))
    own_draws = int(state.hand_count[seat]) - own_cards + (0 if kind < 0 else 1)
    other_draws = int(state.hand_count[other]) - other_cards
    hidden = code_of(state.hidden, deck)
    follow_own(frames, depth, seat, choice, code, phase == CLAIM and kind < 0)
    follow_other(frames, depth, other, hidden)
    for _ in range(own_draws):
        draw_card(frames, buffers, deck, depth + 1, seat, hidden)
    for _ in range(other_draws):
        draw_card(frames, buffers, deck, depth + 1, other, hidden)


@rule
def follow_own(frames: Frames, depth: int, seat: int, choice: int, code: int, is_pass: bool) -> None:
    """Keep the hands that allow this choice; after a pass, also those without the safety."""
    count = 0
    for hand in range(frames.counts[depth, seat]):
        choices = frames.choices[depth, hand]
        if (choices >> choice) & 1:
            later = num_choices(choices & ((1 << choice) - 1))
            frames.sequences[depth + 1, seat, count] = frames.firsts[depth, hand] + later
        elif is_pass and choices == 0:
            frames.sequences[depth + 1, seat, count] = frames.sequences[depth, seat, hand]
        else:
            continue
        frames.codes[depth + 1, seat, count] = frames.codes[depth, seat, hand] - code
        count += 1
    frames.counts[depth + 1, seat] = count


@rule
def follow_other(frames: Frames, depth: int, seat: int, hidden: int) -> None:
    """Keep the hands of the other seat that are still possible after a card was shown."""
    count = 0
    for hand in range(frames.counts[depth, seat]):
        code = frames.codes[depth, seat, hand]
        if fits(code, hidden):
            frames.codes[depth + 1, seat, count] = code
            frames.sequences[depth + 1, seat, count] = frames.sequences[depth, seat, hand]
            count += 1
    frames.counts[depth + 1, seat] = count


@rule
def has_capacity(buffers: TreeBuffers, margin: int) -> bool:
    """Return True if the arrays can hold one more node."""
    for seat in range(PLAYERS):
        if buffers.sizes[OPERATIONS + seat] + margin > buffers.heads.shape[1]:
            return False
        if buffers.sizes[SOURCES + seat] + margin > buffers.sources.shape[1]:
            return False
    if len(buffers.decision_states) > 0 and buffers.sizes[DECISIONS] + margin > len(buffers.decision_states):
        return False
    if buffers.sizes[FRONTIER] + 1 > len(buffers.frontier):
        return False
    return bool(buffers.sizes[ENDS] + margin <= len(buffers.end_values))


@kernel
def grow(
    frames: Frames, buffers: TreeBuffers, deck: Deck, rules: RulesRecord, is_root: bool, margin: int
) -> int:
    """Walk from the node in `frames` at depth 0 to all ends, and fill the empty arrays of `buffers`.

    With `is_root`, nothing is dealt yet: the hands are empty, and the record is a dealt round. `margin` is
    the maximum number of entries that one node can add to an array.

    Returns:
        DONE, or FULL: the arrays are too small.
    """
    if is_root:
        hidden = code_of(frames.states[0].hidden, deck)
        for turn in range(PLAYERS * rules.hand_limit):
            draw_card(frames, buffers, deck, 0, turn // rules.hand_limit, hidden)
        draw_card(frames, buffers, deck, 0, 0, hidden)
    depth = 0
    if not open_node(frames, buffers, deck, rules, depth):
        return DONE
    last = 2 * len(deck.cards) + 2
    while depth >= 0:
        if not has_capacity(buffers, margin):
            return FULL
        choice = frames.next_choice[depth]
        if choice == last:
            depth -= 1
            continue
        frames.next_choice[depth] = choice + 1
        if some_hand_has(frames, depth, choice):
            enter(frames, buffers, deck, rules, depth, choice)
            if open_node(frames, buffers, deck, rules, depth + 1):
                depth += 1
    return DONE

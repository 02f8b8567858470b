"""Completion of a position: cards that its lines do not name, and the offsets of streams in the deck.

Cards that no line names are shuffled by the position's key. They first fill the hands whose line ends with
`...`; the others go to the open streams or, if no stream is open, under the discard pile, if its line has
`...`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from millebornes_env.errors import NotationError
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DECK_SIZE,
    NO_CARD,
    REPAIRS,
    ROLL,
    SPARE_TIRE,
    STOP,
    is_battle_hazard,
)
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import BY_HAZARD, BY_ROLL, HAZARD_AGAIN, PLAY
from millebornes_env.notation.header import shuffle_by_key
from millebornes_env.notation.lines import AND_OTHERS, NOTHING, Line, words_of_counts

CARDS_OF_A_TURN: Final = 1
"""Number of cards that the seat to play has drawn beyond a dealt hand."""

_CARDS_OF_REPAIRED_OPENING: Final = 2
_CARDS_OF_HAZARD_AGAIN: Final = 3


def deal_rest(
    lines: Mapping[str, Line],
    rules: Rules,
    state: Any,
    named: Counter[int],
    hands: list[list[int]],
    open_hands: list[int],
    streams: list[list[int]],
    open_streams: list[int],
) -> None:
    """Deal the cards that no line names, to hands and streams that are open, or under the discard pile.

    Args:
        lines: the lines of the position, by key.
        rules: the table's rules.
        state: the record, with its key; the discard pile is changed.
        named: the named cards of all lines.
        hands: the named cards of each hand; open hands are filled up in place.
        open_hands: the seats with open hands.
        streams: the named cards of each stream; open streams get the rest, in place.
        open_streams: the seats with open streams.

    Raises:
        NotationError: there are too few cards, or cards are left over.
    """
    rest = [card for card, copies in enumerate(rules.deck) for _ in range(copies - named[card])]
    shuffle_by_key(rest, state)
    for seat in open_hands:
        wanted = full_hand(rules, state, seat)
        while len(hands[seat]) < wanted:
            if not rest:
                raise lines[f"hand {seat}"].error(
                    f"no cards are left to fill it up to {wanted}: all others are in other lines"
                )
            hands[seat].append(rest.pop())
    discards = lines.get("discard pile")
    takes_others = discards is not None and AND_OTHERS in discards.words
    if open_streams:
        if discards is not None and takes_others:
            raise discards.error(
                f"the others ({AND_OTHERS!r}) go to the streams, of which {len(open_streams)} are open: "
                f"write all of them without {AND_OTHERS!r}, an empty one as 'stream 0: {NOTHING}'"
            )
        parts = parts_of_deck(rules.players, sum(rules.deck))
        while rest:  # each to the stream with the most free space in its part of the deck
            seat = max(open_streams, key=lambda seat: len(parts[seat]) - len(streams[seat]))
            streams[seat].append(rest.pop())
    elif discards is not None and takes_others and rest:
        for card in rest:
            state.discard_pile[card] += 1
        if int(state.discard_top) == NO_CARD and "(" not in discards.words:
            state.discard_top = rest[-1]
    elif rest:
        raise NotationError(
            f"{len(rest)} cards of the deck are in no line: {words_of_counts(Counter(rest))}. Name them, or "
            f"end a 'stream' or the 'discard pile' with {AND_OTHERS!r} (and the others)"
        )


def full_hand(rules: Rules, state: Any, seat: int) -> int:
    """Return the size of a full hand; only the seat to play has drawn a card (004:5)."""
    to_play = int(state.phase) == PLAY and int(state.seat) == seat
    return rules.hand_limit + (CARDS_OF_A_TURN if to_play else 0)


def parts_of_deck(players: int, size: int) -> list[range]:
    """Return the range of the deck that the deal gives to each seat's stream."""
    return [range(seat * size // players, (seat + 1) * size // players) for seat in range(players)]


def usual_starts(lengths: list[int], size: int) -> list[int]:
    """Return the default offsets in the deck of streams of these lengths.

    Each ends at the end of its seat's part of the deck, as in a game, where streams are drawn from the front.
    If one is longer than that part, all streams are put one after the other.

    Args:
        lengths: length of each seat's stream.
        size: number of cards in the deck of the table.
    """
    parts = parts_of_deck(len(lengths), size)
    if all(length <= len(part) for length, part in zip(lengths, parts, strict=True)):
        return [part.stop - length for length, part in zip(lengths, parts, strict=True)]
    return [sum(lengths[:seat]) for seat in range(len(lengths))]


def usual_opening(tableau: Mapping[int, int], top: int, below: int) -> int:
    """Infer the opening of a battle pile (`state.opening`) from the cards of the team, top and below."""
    cards = sum(tableau[card] for card in (*range(ACCIDENT, STOP + 1), *range(REPAIRS, ROLL + 1)))
    if tableau[ROLL] or top == NO_CARD:
        return BY_ROLL
    if is_battle_hazard(top):
        if cards == 1:
            return BY_HAZARD
        again = below != NO_CARD and cards <= _CARDS_OF_HAZARD_AGAIN
        return HAZARD_AGAIN if again else BY_ROLL
    mended = REPAIRS <= top <= SPARE_TIRE and cards == _CARDS_OF_REPAIRED_OPENING
    return BY_HAZARD if mended else BY_ROLL


def lay_out(
    lines: Mapping[str, Line], rules: Rules, state: Any, hands: list[list[int]], streams: list[list[int]]
) -> None:
    """Write hands and streams into the record, with the counts that depend on them."""
    for seat, hand in enumerate(hands):
        for card in hand:
            state.hand[seat, card] += 1
            state.hidden[card] += 1
        state.hand_count[seat] = len(hand)
    starts = usual_starts([len(stream) for stream in streams], sum(rules.deck))
    for seat, stream in enumerate(streams):
        line = lines.get(f"stream {seat}")
        if line is not None and line.at is not None:
            starts[seat] = line.at
            if line.at + len(stream) > DECK_SIZE:
                raise line.error(f"it ends after the {DECK_SIZE} cards of the deck")
        start, end = starts[seat], starts[seat] + len(stream)
        if any(int(card) != NO_CARD for card in state.deck[start:end]):
            quoted = line or next(one for name, one in lines.items() if one.at is not None)
            raise quoted.error(
                f"stream {seat} ({len(stream)} cards from {start}) would overlap another one; leave out "
                "'at' to place all streams side by side"
            )
        state.stream_next[seat], state.stream_end[seat] = start, end
        state.deck[start:end] = stream
        for card in stream:
            state.hidden[card] += 1
    state.draw_pile = sum(map(len, streams))

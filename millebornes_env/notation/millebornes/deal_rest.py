"""Completion of a position: cards that its lines do not name, and the offsets of streams in the deck.

The cards of the deck that no line names are shuffled by the position's key. First the hands whose line ends
with `...` are filled up; then the others go to the streams that are left open, or, where none is, under the
discard pile, if its line says `...`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from millebornes_env.engine.chance import random_below
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
from millebornes_env.notation.lines import AND_OTHERS, NOTHING, Line, words_of_counts

CARDS_OF_A_TURN: Final = 1
"""Number of cards that the seat to play holds beyond a dealt hand: it has drawn."""

_CARDS_OF_REPAIRED_OPENING: Final = 2
_CARDS_OF_HAZARD_AGAIN: Final = 3


class Rest:
    """The cards that no line names.

    Attributes:
        cards: in random order; who takes one takes the last.
    """

    def __init__(
        self, lines: Mapping[str, Line], rules: Rules, state: Any, laid: Iterable[Counter[int]]
    ) -> None:
        """Take all cards of the deck but those laid, and shuffle them by the key of the state."""
        self._lines, self._rules, self._state = lines, rules, state
        named = sum(laid, Counter[int]())
        self.cards = [card for card, copies in enumerate(rules.deck) for _ in range(copies - named[card])]
        key_0, key_1 = int(state.key[0]), int(state.key[1])
        for last in range(len(self.cards) - 1, 0, -1):
            other = int(random_below(key_0, key_1, last, last + 1))
            self.cards[last], self.cards[other] = self.cards[other], self.cards[last]

    def complete(
        self,
        hands: list[list[int]],
        open_hands: list[int],
        streams: list[list[int]],
        open_streams: list[int],
    ) -> None:
        """Deal these cards to the hands and streams that are left open.

        Args:
            hands: the cards of each seat's hand so far; those left open are filled up.
            open_hands: the seats whose hands are left open.
            streams: the cards of each seat's stream so far; those left open get the rest.
            open_streams: the seats whose streams are left open.

        Raises:
            NotationError: there are too few cards, or too many that lie nowhere.
        """
        for seat in open_hands:
            self._fill_hand(seat, hands[seat])
        discards = self._lines.get("discard pile")
        if open_streams and discards is not None and AND_OTHERS in discards.words:
            raise discards.refused(
                f"the others ({AND_OTHERS!r}) go to the streams, of which {len(open_streams)} are left open: "
                f"write all of them without {AND_OTHERS!r}, an empty one as 'stream 0: {NOTHING}'"
            )
        if open_streams:
            self._fill_streams(streams, open_streams)
        else:
            self._fill_discard_pile()
        if self.cards:
            missing = words_of_counts(Counter(self.cards))
            raise NotationError(
                f"{len(self.cards)} cards of the deck lie nowhere: {missing}. Name them in a line, or end a "
                f"'stream' or the 'discard pile' with {AND_OTHERS!r} (and the others)"
            )

    def _fill_hand(self, seat: int, hand: list[int]) -> None:
        wanted = full_hand(self._rules, self._state, seat)
        while len(hand) < wanted:
            if not self.cards:
                raise self._lines[f"hand {seat}"].refused(
                    f"no cards are left to fill it up to {wanted}: all others lie elsewhere"
                )
            hand.append(self.cards.pop())

    def _fill_streams(self, streams: list[list[int]], open_streams: list[int]) -> None:
        """Each card goes where most room is left in a seat's part of the deck, so that streams end evenly."""
        parts = parts_of_deck(self._rules.players, sum(self._rules.deck))
        while self.cards:
            seat = max(open_streams, key=lambda seat: len(parts[seat]) - len(streams[seat]))
            streams[seat].append(self.cards.pop())

    def _fill_discard_pile(self) -> None:
        line = self._lines.get("discard pile")
        if line is None or AND_OTHERS not in line.words or not self.cards:
            return
        for card in self.cards:
            self._state.discard_pile[card] += 1
        if int(self._state.discard_top) == NO_CARD and "(" not in line.words:
            self._state.discard_top = self.cards[-1]
        self.cards = []


def full_hand(rules: Rules, state: Any, seat: int) -> int:
    """Return the size of a full hand: the seat to play has drawn a card (004:5), all others have not yet."""
    to_play = int(state.phase) == PLAY and int(state.seat) == seat
    return rules.hand_limit + (CARDS_OF_A_TURN if to_play else 0)


def parts_of_deck(players: int, size: int) -> list[range]:
    """The places of the deck that each seat's stream is given by the deal."""
    return [range(seat * size // players, (seat + 1) * size // players) for seat in range(players)]


def usual_starts(lengths: list[int], size: int) -> list[int]:
    """Return the offsets in the deck of streams of these lengths, if the text does not give them.

    Each ends where its seat's part of the deck ends, as in a game whose streams are drawn from the front; if
    one is longer than that part, all lie one after the other.

    Args:
        lengths: of the streams, by seat.
        size: cards in the deck of the table.
    """
    parts = parts_of_deck(len(lengths), size)
    if all(length <= len(part) for length, part in zip(lengths, parts, strict=True)):
        return [part.stop - length for length, part in zip(lengths, parts, strict=True)]
    return [sum(lengths[:seat]) for seat in range(len(lengths))]


def usual_opening(laid: Mapping[int, int], top: int, below: int) -> int:
    """Infer from the cards of a battle pile how it began.

    Args:
        laid: how many of each card lie in the team's piles.
        top: the card that shows on the battle pile.
        below: the card under a hazard that shows.
    """
    cards = sum(laid[card] for card in (*range(ACCIDENT, STOP + 1), *range(REPAIRS, ROLL + 1)))
    if laid[ROLL] or top == NO_CARD:
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
    """Put hands and streams into the record, with what follows from them.

    Raises:
        NotationError: a stream does not lie in the deck, or two lie in one place.
    """
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
                raise line.refused(f"it ends behind the {DECK_SIZE} places of the deck")
        place = starts[seat]
        if any(int(card) != NO_CARD for card in state.deck[place : place + len(stream)]):
            shown = line or next(one for name, one in lines.items() if one.at is not None)
            raise shown.refused(
                f"stream {seat} ({len(stream)} cards from {place}) would lie on another one; leave out "
                "'at', and all streams are laid side by side"
            )
        state.stream_next[seat], state.stream_end[seat] = place, place + len(stream)
        state.deck[place : place + len(stream)] = stream
        for card in stream:
            state.hidden[card] += 1
    state.draw_pile = sum(map(len, streams))

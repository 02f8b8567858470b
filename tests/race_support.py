"""Positions of a race for tests: set up, then played a turn at a time.

    race = Race(players=3).order(0, 1, 2).energy(1, 48)
    race.land_on(1)          # the race leader rolls what the rainbow rider needs to get there
    assert race.decision == ("bid", 1)
    race.do("bid 3", "pass", "pass")

A turn stops at its end, so that a test sees what it has done; `next_turn` goes on. The dice are those of a
key that is looked for until it gives what the test asks for. The
rules run as plain Python here, compiled or not;
`test_engine.py` compares the two.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import (
    dice,
    energy,
    jerseys,
    legality,
    peloton,
    rulebook,
    set_up,
    turn,
    winning,
)
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS, action_name
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.squares import KIND_NAMES
from millebornes_env.games.wielerspel.state import (
    NO_CARD,
    NO_SEAT,
    PHASE_NAMES,
    RIDING,
    SET_NAMES,
    STATE,
    TURN_ENDS,
)
from tests.oracle.wielerspel.beside import OracleTurn, knows

BOARD = edition("arc_en_ciel").table(3)
ACTIONS = {action_name(action): action for action in range(NUM_ACTIONS)}

# Squares of the shipped board that tests use.
LINE = 0
FLAT_2 = 1
OTHER_FLAT_2 = 2
CHANCE = 3
HEAD_WIND_3 = 4
EVENT_2 = 6
DESCENT_1 = 7
ESCAPE = 8
COBBLES_3 = 9
SUPPLY = 12
CLIMB_4 = 14
DOUBLE = 15
GREEN = 20
EVENT_3 = 23
TRIPLE = 29


@cache
def _key_of_dice(white: int, yellow: int, number: int) -> tuple[int, int]:
    """Return a key that gives these dice in this turn."""
    state = np.zeros(1, STATE).view(np.recarray)[0]
    white_die, yellow_die = plain(dice.white_die), plain(dice.yellow_die)
    for word in range(10_000):
        state.key[:] = (word, 1)
        if white_die(state, number) == white and yellow_die(state, number) == yellow:
            return word, 1
    raise AssertionError("no key gives these dice")


class Race:
    """One race, set up in names; seats ride in their order, nobody has bought a square."""

    def __init__(self, players: int = 3, **changes: int) -> None:
        self.changes = changes
        self.oracle: OracleTurn | None = None
        self.rules: Rules = edition("arc_en_ciel").replace(**changes).table(players)
        self.record: Any = rules_array(self.rules)[0]
        self.states = np.zeros(1, STATE).view(np.recarray)
        self.state: Any = self.states[0]
        plain(rulebook.start)(self.state, self.record)
        plain(set_up.clear_board)(self.state, self.record)
        for seat in range(6):
            plain(set_up.set_up_team)(self.state, self.record, seat)
        plain(set_up.begin_turn)(self.state)
        self.state.phase = RIDING
        plain(dice.shuffle_deck)(self.state, self.record)
        self.order(*range(players))

    # Setting up --------------------------------------------------------------------------------------------

    def order(self, *seats: int) -> Race:
        """Set the order of the peloton, first to last."""
        self.state.riders = len(seats)
        self.state.peloton[:] = NO_SEAT
        self.state.peloton[: len(seats)] = seats
        return self

    def away(self, seat: int, lead: int) -> Race:
        """Return the seat's leader has escaped."""
        plain(peloton.leave_peloton)(self.state, seat)
        self.state.escaped, self.state.lead, self.state.highest_lead = seat, lead, lead
        return self

    def energy(self, seat: int, amount: int) -> Race:
        self.state.energy[seat] = amount
        return self

    def servants(self, seat: int, *squares: int) -> Race:
        """Put servants from beside the board on these squares."""
        for square in squares:
            self.state.owner[square] = seat
            self.state.off_board[seat] -= 1
        return self

    def retired(self, seat: int, number: int) -> Race:
        """Retire this number of servants from beside the board."""
        self.state.retired[seat] += number
        self.state.off_board[seat] -= number
        return self

    def jerseys(self, seat: int, **cards: int) -> Race:
        """Give the seat cards of the sets `rainbow`, `green`, `doubles` and `triples`."""
        for name, number in cards.items():
            self.state.jerseys[seat, SET_NAMES.index(name)] += number
            self.state.stacks[SET_NAMES.index(name)] -= number
        return self

    def stack(self, name: str, left: int) -> Race:
        """Leave this number of cards of a set on the board (the others are nowhere)."""
        self.state.stacks[SET_NAMES.index(name)] = left
        return self

    def deck(self, *cards: str) -> Race:
        """Leave only these cards, such as "supply 5", to be drawn."""
        self.state.deck[:] = NO_CARD
        self.state.deck_next = 0
        for place, words in enumerate(cards):
            kind, _, number = words.partition(" ")
            wanted = (KIND_NAMES.index(kind), int(number or 0))
            self.state.deck[place] = [card[:2] for card in self.rules.deck].index(wanted)
        return self

    def set(self, **fields: int) -> Race:
        """Set fields of the record by name: `rainbow_lap=1`."""
        for name, value in fields.items():
            setattr(self.state, name, value)
        return self

    # Playing -----------------------------------------------------------------------------------------------

    def land_on(self, square: int, white: int = 1, yellow: int = 1) -> Race:
        """Play a turn in which the white die takes the rainbow rider to this square, up to a decision."""
        self.state.square = (square - white) % self.rules.length
        self.state.key[:] = _key_of_dice(white, yellow, int(self.state.turn))
        record = self.states.view(np.ndarray)[0]
        if self.state.phase == RIDING and knows(self.changes, record, self.rules):
            self.oracle = OracleTurn(record, self.rules, self.changes)
        return self._go_on()

    def do(self, *words: str) -> Race:
        """Take the decisions of the seats, one after the other."""
        for said in words:
            assert said in self.legal(), f"{said} is not legal: {sorted(self.legal())}"
            plain(turn.answer)(self.state, self.record, ACTIONS[said])
            if self.oracle is not None:
                self.oracle.race.do(said)
            self._go_on()
        return self

    def _go_on(self) -> Race:
        if self.state.phase == RIDING:
            plain(turn.ride_turn)(self.state, self.record)
        if self.oracle is not None:
            self.oracle.check(self.states.view(np.ndarray)[0], self.legal(), self.winners)
        return self

    def next_turn(self) -> Race:
        """End a turn that has nothing left to be decided; `land_on` plays the next."""
        assert (self.state.phase, self.state.stage) == (RIDING, TURN_ENDS)
        plain(turn.end_turn)(self.state, self.record)
        self.oracle = None
        return self

    # Looking -----------------------------------------------------------------------------------------------

    def legal(self) -> set[str]:
        """Return the legal actions of the seat that decides."""
        is_legal = plain(legality.is_legal)
        return {name for name, action in ACTIONS.items() if is_legal(self.state, self.record, action)}

    @property
    def decision(self) -> tuple[str, int] | None:
        """Return the kind of the decision and its seat; None at the end of the turn or race."""
        phase = PHASE_NAMES[self.state.phase]
        return None if phase in ("riding", "race over") else (phase, int(self.state.seat))

    @property
    def riders(self) -> list[int]:
        """The seats in the peloton, first to last."""
        return [int(seat) for seat in self.state.peloton[: self.state.riders]]

    @property
    def energies(self) -> list[int]:
        """The energy of all seats."""
        return [int(amount) for amount in self.state.energy[: self.rules.players]]

    @property
    def lead(self) -> tuple[int, int]:
        """The escaped seat, or -1, and its lead."""
        return int(self.state.escaped), int(self.state.lead)

    @property
    def squares(self) -> dict[int, int]:
        """The seat on each square that is held."""
        return {
            int(square): int(self.state.owner[square]) for square in np.flatnonzero(self.state.owner >= 0)
        }

    def cards(self, seat: int) -> dict[str, int]:
        """Return the jersey cards that the seat has."""
        result = zip(SET_NAMES, self.state.jerseys[seat], strict=True)
        return {name: int(cards) for name, cards in result if cards}

    def polka_dots(self, seat: int) -> int:
        return int(plain(jerseys.polka_dots)(self.state, seat))

    def servants_left(self, seat: int) -> int:
        return int(plain(energy.servants_left)(self.state, self.record, seat))

    @property
    def is_over(self) -> bool:
        return PHASE_NAMES[self.state.phase] == "race over"

    @property
    def winners(self) -> list[int]:
        """The seats that have won, alone or together."""
        has_won = plain(winning.has_won)
        return [seat for seat in range(self.rules.players) if has_won(self.state, self.record, seat)]

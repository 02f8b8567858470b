"""A naive second implementation of the cycling race "Maillot Arc-en-ciel", played with lists of words.

It was written from the rule text alone, without a look at the fast kernels that it is compared with, and
prefers the obvious to the quick. 003:LINE is a line of the rule text, W1 to W11 and "ruling" are decisions of
this project where the text is silent. A turn is a generator that reads like the text and stops at every
decision (`yield`); `Race.do` sends it the answer.
"""

from __future__ import annotations

import copy
from collections.abc import Generator
from typing import Any

from tests.oracle.wielerspel.decisions import NOBODY, Chance, Decision, RaceOver, Steps
from tests.oracle.wielerspel.team import JERSEYS, Team, polka_set

START = 0


class Race:
    """One race, from the lots to the winner.

    Attributes:
        teams: What each seat owns.
        peloton: The seats in the bunch, first to last.
        escaped: The seat that is away, `NOBODY` if none.
        lead: Its lead in arrows of 10 seconds (003:53); 0 while nobody is away.
        owner: The seat whose servant stands on the square, or `NOBODY`, for each square.
        stacks: The jersey cards that are left, by kind.
        square: Where the rainbow rider is.
        rainbow_lap: Whether this is a rainbow lap (003:75).
        no_supply: Whether the card lies beside the start square (003:155).
        cards: The chance cards that are left to draw.
        shuffles: How often the chance cards have been shuffled.
        turn: The number of turns that are over.
        seat: Who has to decide, `NOBODY` when the race is over.
        phase: What has to be decided, "OVER" when the race is over.
        over: Whether the race is over.
    """

    def __init__(
        self, players: int, sheet: dict[str, Any], chance: Chance, position: dict[str, Any] | None = None
    ) -> None:
        """Sets up the race and rides to the first decision.

        Args:
            players: The number of seats, 2 to 6.
            sheet: Board, deck, numbers and options, see `arc_en_ciel.py`.
            chance: Where lots, dice and cards come from.
            position: What differs from a fresh start when the first turn begins, in the words of `facts()`.
        """
        if not 2 <= players <= 6:
            raise ValueError(f"2 to 6 seats can race, not {players}")
        self.sheet = sheet
        self.board: list[tuple[str, int]] = sheet["board"]
        self.chance = chance
        self.teams = [Team(sheet["energy"], sheet["servants"]) for _ in range(players)]  # 003:30, 003:40
        self.peloton: list[int] = list(chance.order())  # 003:28
        self.escaped = NOBODY
        self.lead = 0
        self.owner = [NOBODY] * len(self.board)
        self.stacks = {kind: int(sheet["jersey_cards"]) for kind in JERSEYS}  # 003:24
        self.square = START  # 003:26
        self.rainbow_lap = False  # 003:24, 003:75: the rainbow cards lie face down
        self.no_supply = False
        self.cards = list(chance.deck(0))  # 003:22
        self.shuffles = 1
        self.turn = 0
        self._lay_out(copy.deepcopy(position or {}))
        self._highest_lead = self.lead  # of the present escape
        self._winners: list[int] = []
        self._turns = self._ride_turns()
        self.over = False
        self._decision: Decision | None = None
        self._ride_on(None)

    def _lay_out(self, position: dict[str, Any]) -> None:
        for name, value in position.items():
            if name in ("peloton", "owner", "stacks", "lead", "escaped", "square", "turn"):
                setattr(self, name, value)
            elif name in ("rainbow_lap", "no_supply"):
                setattr(self, name, bool(value))
            elif name == "jerseys":
                for kind, numbers in value.items():
                    self._give_each(kind, numbers)
            else:
                self._give_each(name, value)

    def _give_each(self, name: str, numbers: list[int]) -> None:
        for team, number in zip(self.teams, numbers, strict=True):
            setattr(team, name, type(getattr(team, name))(number))

    # What the players see and do ---------------------------------------------------------------------------

    @property
    def seat(self) -> int:
        """The seat that has to decide, `NOBODY` when the race is over."""
        return self._decision.seat if self._decision else NOBODY

    @property
    def phase(self) -> str:
        """The kind of the present decision, "OVER" when the race is over."""
        return self._decision.phase if self._decision else "OVER"

    def legal(self) -> list[str]:
        """Lists the names of the actions that are legal now; none when the race is over."""
        return list(self._decision.actions) if self._decision else []

    def do(self, name: str) -> None:
        """Carries out one action of the seat that decides, and rides to the next decision.

        Raises:
            ValueError: The action is not one of `legal()`; nothing has changed.
        """
        if name not in self.legal():
            raise ValueError(f"seat {self.seat} cannot {name!r} at {self.phase}; legal: {self.legal()}")
        self._ride_on(name)

    def winners(self) -> list[int]:
        """Lists the seats that share the win; none before the race is over."""
        return list(self._winners)

    def shares(self) -> list[float]:
        """Divides the win: equal parts for the winners, nothing for the others."""
        return [1 / len(self._winners) if seat in self._winners else 0.0 for seat in range(len(self.teams))]

    def facts(self) -> dict[str, Any]:
        """Returns everything that all players can see."""
        return {
            "energy": [team.energy for team in self.teams],
            "peloton": list(self.peloton),
            "lead": self.lead,
            "escaped": self.escaped,
            "owner": list(self.owner),
            "off_board": [team.off_board for team in self.teams],
            "retired": [team.retired for team in self.teams],
            "jerseys": {kind: [int(getattr(team, kind)) for team in self.teams] for kind in JERSEYS},
            "stacks": dict(self.stacks),
            "rainbow_lap": int(self.rainbow_lap),
            "no_supply": int(self.no_supply),
            "square": self.square,
            "turn": self.turn,
            "out": [int(team.out) for team in self.teams],
            "escape_points": [team.escape_points for team in self.teams],
        }

    # The course of the game --------------------------------------------------------------------------------

    def _ride_on(self, answer: str | None) -> None:
        try:
            self._decision = self._turns.send(answer) if answer else next(self._turns)
        except RaceOver as end:
            self._winners = end.args[0]
            self.over = True
            self._decision = None

    def _ride_turns(self) -> Steps:
        while self.turn < self.sheet["max_turns"]:
            yield from self._ride_turn()
            self.turn += 1
        self._end_by_rank()  # W9

    def _ride_turn(self) -> Steps:
        yield from self._stay_away_or_give_up()
        leader = self.race_order()[0]  # 003:49: he rolls the white die
        yield from self._offer_exchange(leader)  # W2
        yield from self._move_rainbow_rider(leader)
        kind, value = self.board[self.square]
        if kind == "chance":
            kind, value = self._draw_card()  # 003:138: for this turn the square is what the card shows
        owner = self.owner[self.square]
        yield from self._do_what_square_says(leader, kind, value, owner)
        yield from self._work_out_positions(leader, kind, value, owner)
        if kind == "effort" and owner == NOBODY:
            yield from self._auction()  # 003:119: after payments and positions

    def _ask(self, seat: int, phase: str, actions: list[str]) -> Generator[Decision, str, str]:
        """Asks a seat; where only one action is legal it is carried out at once (W11)."""
        if len(actions) == 1:
            return actions[0]
        return (yield Decision(seat, phase, actions))

    def race_order(self) -> list[int]:
        """Lists the seats in the race: the escaped rider, then the peloton from its first to its last."""
        return [seat for seat in [self.escaped, *self.peloton] if seat != NOBODY]

    # The start of a turn, the white die, the line ----------------------------------------------------------

    def price_of_lead(self) -> int:
        """Return the price that an escaped rider pays at the start of his turn (003:57)."""
        return max(int(price) for lead, price in self.sheet["prices"] if self.lead >= lead)

    def _stay_away_or_give_up(self) -> Steps:
        while self.escaped != NOBODY:
            seat, price = self.escaped, self.price_of_lead()
            if self.teams[seat].energy >= price:
                actions = ["give up", "pay"]
            else:
                actions = ["give up", *self._retirements(seat)]  # W1
            action = yield from self._ask(seat, "AWAY", actions)
            if action == "give up":
                self._fall_back()  # 003:63: he pays nothing and is last of the peloton
            elif action == "pay":
                self.teams[seat].energy -= price
                return
            else:
                self._retire(seat, action)

    def _move_rainbow_rider(self, leader: int) -> Steps:
        there = self.square + self.chance.white(self.turn)  # 003:49
        self.square = there % len(self.board)
        if there < len(self.board):
            return
        if self.rainbow_lap:  # 003:71, 003:75: who leads at the end of a rainbow lap
            yield from self._take_jersey(leader, "rainbow")
        if not self.no_supply:  # 003:153 to 003:155
            for seat in self.race_order():
                self._gain(seat, self.sheet["lap_supply"])
        self.no_supply = False
        self.rainbow_lap = self.square == START  # 003:75, W5

    # What a square says ------------------------------------------------------------------------------------

    def _draw_card(self) -> tuple[str, int]:
        if not self.cards:
            self._shuffle()
        return self.cards.pop(0)

    def _shuffle(self) -> None:
        self.cards = list(self.chance.deck(self.shuffles))
        self.shuffles += 1

    def _do_what_square_says(self, leader: int, kind: str, value: int, owner: int) -> Steps:
        if kind == "effort":  # 003:115: all but the team whose servant stands there
            for seat in self.race_order():
                if seat != owner:
                    yield from self._must_pay(seat, value)
        elif kind == "yellow event":  # 003:166: everybody
            for seat in self.race_order():
                yield from self._must_pay(seat, value)
        elif kind == "event":  # 003:162: who rolled the white die
            yield from self._must_pay(leader, value)
        elif kind in ("supply", "tail wind"):  # 003:143, 003:148
            self._gain(leader, value)
        elif kind == "no supply":  # 003:155
            self.no_supply = True
        elif kind == "green":  # 003:73
            yield from self._take_jersey(leader, "green")
        elif kind == "polka":  # 003:73: the first square is worth two jerseys, the second three
            yield from self._take_jersey(leader, "doubles" if value == 2 else "triples")
        elif kind == "forced retirement":  # 003:174
            yield from self._must_retire(leader)
            self._shuffle()  # 003:192
        elif kind not in ("start", "escape"):
            raise ValueError(f"no rule says what happens on {kind!r}")

    # Positions ---------------------------------------------------------------------------------------------

    def _work_out_positions(self, leader: int, kind: str, value: int, owner: int) -> Steps:
        """Works out the race positions (003:79 to 003:103).

        Any square that is neither owned nor an escape square is unoccupied (ruling).
        """
        someone_else = owner not in (NOBODY, leader)
        if self.teams[leader].out:  # W6: nobody but the owner of the square changes place or escapes
            if someone_else:
                self._go_to_front(owner)
                yield from self._may_escape(owner, value)
        elif kind == "escape" or owner == leader:  # I C, 003:90; II 3, 003:103; 003:133
            yield from self._may_escape(leader, value)
        elif someone_else and self.escaped == NOBODY:  # I B, 003:87
            self._go_to_front(owner)
            yield from self._may_escape(owner, value)
        elif someone_else:  # II 2, 003:99
            self._go_to_front(owner)
            self._lose_lead(self.chance.yellow(self.turn))
        elif self.escaped == NOBODY:  # I A, 003:83
            self.peloton = [*self.peloton[1:], leader]
        else:  # II A, 003:95
            self._lose_lead(1)

    def _go_to_front(self, seat: int) -> None:
        self.peloton = [seat, *[other for other in self.peloton if other != seat]]

    def _lose_lead(self, arrows: int) -> None:
        self.lead -= arrows
        if self.lead <= 0:  # 003:59: the peloton catches him
            self._fall_back()

    def _fall_back(self) -> None:
        self.peloton = [*self.peloton, self.escaped]
        self.escaped = NOBODY
        self.lead = 0

    def _may_escape(self, seat: int, value: int) -> Steps:
        """Lets a leader escape or, if he is away, ride further ahead (003:51, 003:103, 003:117, 003:133)."""
        team = self.teams[seat]
        while True:
            can_pay = team.energy >= value
            actions = ["escape", "stay"] if can_pay else ["stay", *self._retirements(seat)]
            action = yield from self._ask(seat, "ESCAPE", actions)
            if action == "stay":
                return  # 003:188: nothing is lost
            if action == "escape":
                team.energy -= value  # 003:90, 003:117
                self._ride_ahead(seat, self.chance.yellow(self.turn))
                return
            self._retire(seat, action)

    def _ride_ahead(self, seat: int, arrows: int) -> None:
        if self.escaped == NOBODY:
            self.escaped = seat
            self.peloton = [other for other in self.peloton if other != seat]
            self._highest_lead = 0
        self.lead += arrows  # 003:53
        for minute in (6, 12):  # 003:202: a point above one minute, a second one above two
            if self._highest_lead <= minute < self.lead:
                self.teams[seat].escape_points += 1
        self._highest_lead = max(self._highest_lead, self.lead)
        if self.lead > self.sheet["inner_track"]:
            raise RaceOver([seat])  # 003:36

    # The auction -------------------------------------------------------------------------------------------

    def _auction(self) -> Steps:
        highest, winner = 0, NOBODY
        for seat in self.race_order():  # 003:121: once round (ruling)
            if self._servants(seat) == 0:
                continue  # nobody to place (ruling)
            bid = yield from self._bid(seat, highest)
            if bid:
                highest, winner = bid, seat
        if winner == NOBODY:
            return
        self.teams[winner].energy -= highest
        if self.teams[winner].off_board:
            self.teams[winner].off_board -= 1
        else:  # 003:123: all are on the board, one of them moves
            moves = [f"move {square}" for square in self._squares_of(winner)]
            action = yield from self._ask(winner, "MOVE", moves)
            self.owner[int(action.split()[1])] = NOBODY
        self.owner[self.square] = winner

    def _bid(self, seat: int, highest: int) -> Generator[Decision, str, int]:
        """Asks for a higher bid than the highest; 0 is a pass."""
        team = self.teams[seat]
        while True:
            bids = [f"bid {amount}" for amount in range(highest + 1, team.energy + 1)]
            may_retire = team.energy < self.sheet["energy"] and self._servants(seat) > 1  # W7, W8
            retirements = self._retirements(seat) if may_retire else []
            action = yield from self._ask(seat, "BID", [*retirements, "pass", *bids])
            if action == "pass":
                return 0
            if action.startswith("bid"):
                return int(action.split()[1])
            self._retire(seat, action)

    # Jerseys -----------------------------------------------------------------------------------------------

    def _take_jersey(self, seat: int, kind: str) -> Steps:
        if self.stacks[kind] == 0:
            return  # W4: none is left
        self._move_cards(seat, kind, 1)
        self._check_target(seat)
        yield from self._offer_exchange(seat)  # W2

    def _move_cards(self, seat: int, kind: str, number: int) -> None:
        self.stacks[kind] -= number
        setattr(self.teams[seat], kind, getattr(self.teams[seat], kind) + number)

    def _exchanges(self, seat: int) -> list[str]:
        if self.stacks["rainbow"] == 0:
            return []
        team = self.teams[seat]
        possible = []
        if team.green >= self.sheet["greens_for_a_rainbow"]:
            possible.append("exchange green")
        if team.polka() >= self.sheet["polkas_for_a_rainbow"]:
            possible.append("exchange polka")
        return possible

    def _offer_exchange(self, seat: int) -> Steps:
        """Offers a rainbow jersey for green or polka-dot jerseys (003:67); he may wait (003:196)."""
        while exchanges := self._exchanges(seat):
            action = yield from self._ask(seat, "EXCHANGE", [*exchanges, "keep"])
            if action == "keep":
                return
            if action == "exchange green":
                self._move_cards(seat, "green", -self.sheet["greens_for_a_rainbow"])
            else:
                team = self.teams[seat]
                cards = polka_set(team.doubles, team.triples, self.sheet["polkas_for_a_rainbow"])
                assert cards is not None, "an exchange is offered only to who can hand in enough"
                self._move_cards(seat, "doubles", -cards[0])
                self._move_cards(seat, "triples", -cards[1])
            self._move_cards(seat, "rainbow", 1)
            self._check_target(seat)

    # Energy, retirements, leaving the race -----------------------------------------------------------------

    def _gain(self, seat: int, energy: int) -> None:
        self.teams[seat].energy = min(self.sheet["energy"], self.teams[seat].energy + energy)  # 003:158

    def _squares_of(self, seat: int) -> list[int]:
        return [square for square, owner in enumerate(self.owner) if owner == seat]

    def _servants(self, seat: int) -> int:
        return self.teams[seat].off_board + len(self._squares_of(seat))

    def _retirements(self, seat: int) -> list[str]:
        """Lists the ways to retire a servant, off the board or on it (003:172)."""
        off_board = ["retire"] if self.teams[seat].off_board else []
        return off_board + [f"retire {square}" for square in self._squares_of(seat)]

    def _retire(self, seat: int, action: str) -> None:
        if action == "retire":
            self.teams[seat].off_board -= 1
        else:
            self.owner[int(action.split()[1])] = NOBODY
        self.teams[seat].retired += 1
        self._gain(seat, self.sheet["retirement"])  # 003:172

    def _must_retire(self, seat: int) -> Steps:
        if retirements := self._retirements(seat):  # no servant left: no effect (ruling)
            self._retire(seat, (yield from self._ask(seat, "MUST RETIRE", retirements)))

    def _must_pay(self, seat: int, amount: int) -> Steps:
        """Takes energy from a seat; who cannot pay retires servants, then leaves the race (003:178)."""
        team = self.teams[seat]
        while team.energy < amount:
            retirements = self._retirements(seat)
            if not retirements:
                self._leave_race(seat)
                return
            self._retire(seat, (yield from self._ask(seat, "MUST PAY", retirements)))
        team.energy -= amount

    def _leave_race(self, seat: int) -> None:
        self.teams[seat].energy = 0
        self.teams[seat].out = True
        if seat == self.escaped:
            self.escaped, self.lead = NOBODY, 0
        self.peloton = [other for other in self.peloton if other != seat]
        if not self.race_order():
            self._end_by_rank()  # 003:178: all are exhausted

    # The end -----------------------------------------------------------------------------------------------

    def _check_target(self, seat: int) -> None:
        """Ends the race when the seat has three rainbow jerseys (003:34; options: 003:200)."""
        team = self.teams[seat]
        if team.rainbow < self.sheet["target_rainbows"]:
            return
        if team.green < self.sheet["also_green"] or team.polka() < self.sheet["also_polka"]:
            return
        if self.sheet["combativity"]:  # 003:202, W12: the points decide among the seats in the race (003:178)
            raise RaceOver(self._best(sorted(self.race_order())))
        raise RaceOver([seat])

    def _end_by_rank(self) -> None:
        """Ends the race by the jerseys of all seats, those that have left it included (003:178).

        W12: by the points of combativity if they decide (003:202).
        """
        raise RaceOver(self._best(list(range(len(self.teams)))))

    def _best(self, seats: list[int]) -> list[int]:
        """Lists those of the seats that are ranked first; more than one: a true draw (003:178)."""
        standing = {
            seat: (team.combativity(),) if self.sheet["combativity"] else team.rank()
            for seat, team in enumerate(self.teams)
        }
        best = max(standing[seat] for seat in seats)
        return [seat for seat in seats if standing[seat] == best]

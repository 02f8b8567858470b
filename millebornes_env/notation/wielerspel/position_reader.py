"""Parsing of positions of the race: from lines to a record (see `notation.read_position`).

`RaceReader` begins with the start of a race, parses the lines one kind after the other, completes the
position and checks it. All errors name the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from millebornes_env._util.texts import closest
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.wielerspel import set_up, turn
from millebornes_env.games.wielerspel.audit import first_violation
from millebornes_env.games.wielerspel.dice import FACES, draw_lots, shuffle_deck
from millebornes_env.games.wielerspel.editions import GAME
from millebornes_env.games.wielerspel.rules import MAX_DECK, MAX_INNER_TRACK, Rules, rules_array
from millebornes_env.games.wielerspel.squares import EFFORT
from millebornes_env.games.wielerspel.state import NO_CARD, NO_SEAT, PHASE_NAMES, RACE_OVER, RIDING, STATE
from millebornes_env.notation.header import HEADER, opening_state, read_chance, shuffle_by_key
from millebornes_env.notation.lines import (
    NOTHING,
    Line,
    card_named,
    cards_named,
    check_names,
    number_in,
    number_of,
    seat_of,
    without_others,
    without_remark,
)
from millebornes_env.notation.wielerspel.position_checks import check_decision
from millebornes_env.notation.wielerspel.words import (
    ENDINGS,
    JERSEY_WORDS,
    LINE_NAMES,
    LINES_OF_A_TURN,
    NO_SUPPLY_WORDS,
    RAINBOW_LAP,
    STAGE_WORDS,
    card_words,
    complete_turn,
    race_order,
    usual_holder,
    usual_queue,
    usual_stage,
)

_MOST: Final = 2**31 - 2
_MOST_POINTS: Final = 2**15 - 1
_OVER: Final = re.compile(r"(?:race over|over)(?:, *last seat (?P<seat>[0-9]+))?")
_TO_ACT: Final = re.compile(r"seat (?P<seat>[0-9]+), *(?P<phase>[a-z ]+)")
_BY_SEAT: Final = re.compile(r"(?P<number>[0-9]+) by (?:seat )?(?P<seat>[0-9]+)")
_AWAY: Final = re.compile(r"(?:seat )?(?P<seat>[0-9]+), *(?:lead |by )(?P<lead>[0-9]+)")
_HIGHEST: Final = re.compile(r"highest (?P<lead>[0-9]+)")
_ENDING: Final = re.compile(r"(?P<how>[a-z ]+?)(?:, *won by (?:seat )?(?P<seat>[0-9]+))?")


class RaceReader:
    """A parser for the lines of one position.

    Attributes:
        rules: the table's rules.
        lines: the lines by key (`servants 0`), including the header.
        states: `STATE[1]`, the record.
    """

    def __init__(self, lines: Mapping[str, Line], rules: Rules) -> None:
        """Check the names of the lines."""
        self.rules = rules
        self.lines = lines
        check_names(lines.values(), LINE_NAMES, rules, " in a position of the race")
        self.states: StateArray = np.zeros(1, STATE).view(np.recarray)
        self._state: Any = self.states[0]
        self._record: Any = rules_array(rules)[0]

    def read(self) -> StateArray:
        """Return the record that the lines describe."""
        if all(name in HEADER for name in self.lines):
            return opening_state(GAME, self.rules, read_chance(self.lines))
        self._set_up()
        self._read_race()
        self._read_inner_track()
        self._read_teams()
        self._read_deck()
        if "to act" in self.lines:
            self._read_turn()
            check_decision(self.lines, self.rules, self._record, self._state)
        else:
            self._ride()
        problem = first_violation(self.states, self.rules)
        if problem is not None:
            raise NotationError(f"the lines of this position are inconsistent: {problem[1]}")
        return self.states

    # The lines ---------------------------------------------------------------------------------------------

    def _row(self, name: str, highest: int) -> list[int] | None:
        """Return the numbers of a line, one for each seat; None if there is no such line."""
        line = self.lines.get(name)
        if line is None:
            return None
        words = line.words.replace(",", " ").split()
        if len(words) != self.rules.players:
            raise line.error(
                f"expected a number for each seat, {self.rules.players} in all; got {len(words)}"
            )
        return [number_of(line, word, f"seat {seat}'s", 0, highest) for seat, word in enumerate(words)]

    def _matched(self, line: Line, pattern: re.Pattern[str], words: str, example: str) -> re.Match[str]:
        result = pattern.fullmatch(" ".join(words.lower().split()))
        if result is None:
            raise line.error(f"expected {example}")
        return result

    # The race ----------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        """Set up the start of a race, before the first die is rolled (`turn.start_race`)."""
        state, record, chance = self._state, self._record, read_chance(self.lines)
        state.key[:] = chance.key
        state.episode = chance.episode
        plain(set_up.clear_board)(state, record)
        for seat in range(len(state.energy)):
            plain(set_up.set_up_team)(state, record, seat)
        plain(draw_lots)(state, record)
        state.riders = self.rules.players
        state.shuffles = number_in(self.lines, "shuffles", 0, _MOST, 0)
        plain(shuffle_deck)(state, record)
        plain(set_up.begin_turn)(state)

    def _read_race(self) -> None:
        state = self._state
        state.turn = number_in(self.lines, "turn", 1, self.rules.max_turns + 1, 1) - 1
        state.square = number_in(self.lines, "rider", 0, self.rules.length - 1, 0)
        line = self.lines.get("lap")
        if line is None:
            return
        words = [word.strip() for word in line.words.lower().split(",")]
        for word in words:
            if word not in (RAINBOW_LAP, NO_SUPPLY_WORDS, NOTHING):
                raise line.error(
                    f"{shown(word)} is unknown: write {RAINBOW_LAP!r}, {NO_SUPPLY_WORDS!r} or both"
                )
        state.rainbow_lap = 1 if RAINBOW_LAP in words else 0
        state.no_supply = 1 if NO_SUPPLY_WORDS in words else 0

    def _read_inner_track(self) -> None:
        """Read the breakaway and the order of the peloton; a seat in neither has left the race."""
        state, line = self._state, self.lines.get("away")
        if line is not None:
            words, remark = without_remark(line)
            result = self._matched(line, _AWAY, words, "'away: seat 1, lead 7'")
            state.escaped = seat_of(line, result["seat"], self.rules)
            state.lead = number_of(line, result["lead"], "the lead", 1, MAX_INNER_TRACK + FACES)
            state.highest_lead = state.lead
            is_over = "to act" in self.lines and "over" in self.lines["to act"].words.lower()
            if int(state.lead) > self.rules.inner_track and not is_over:
                raise line.error(
                    f"beyond {self.rules.inner_track} arrows the race is won: write 'to act: race over' and "
                    f"'ending: inner track, won by seat {int(state.escaped)}'"
                )
            if remark:
                result = self._matched(line, _HIGHEST, remark, "'away: seat 1, lead 7 (highest 9)'")
                most = MAX_INNER_TRACK + FACES
                state.highest_lead = number_of(line, result["lead"], "the lead", int(state.lead), most)
        riding = [int(seat) for seat in state.peloton[: self.rules.players] if seat != state.escaped]
        line = self.lines.get("peloton")
        if line is not None:
            words_of_seats = [] if line.words.lower() == NOTHING else line.words.replace(",", " ").split()
            riding = [seat_of(line, word, self.rules) for word in words_of_seats]
            twice = [seat for seat in riding if riding.count(seat) > 1 or seat == int(state.escaped)]
            if twice:
                where = "away" if twice[0] == int(state.escaped) else "there already"
                raise line.error(f"seat {twice[0]} is {where}: name each seat once")
        state.riders = len(riding)
        state.peloton[:] = NO_SEAT
        state.peloton[: len(riding)] = riding
        in_the_race = race_order(state)
        for seat in range(self.rules.players):
            state.out[seat] = 0 if seat in in_the_race else 1

    def _read_teams(self) -> None:
        """Read energy, servants and jerseys; a seat that has left the race has no energy and no servants."""
        state, rules = self._state, self.rules
        out = [bool(state.out[seat]) for seat in range(rules.players)]
        energy = self._row("energy", rules.max_energy)
        retired = self._row("retired", rules.servants)
        points = self._row("points", _MOST_POINTS)
        for seat in range(rules.players):
            state.energy[seat] = energy[seat] if energy else 0 if out[seat] else rules.energy
            state.retired[seat] = retired[seat] if retired else rules.servants if out[seat] else 0
            state.escape_points[seat] = points[seat] if points else 0
            self._read_servants(seat)
            self._read_jerseys(seat)
        for name, amount, due in (("energy", state.energy, 0), ("retired", state.retired, rules.servants)):
            for seat in range(rules.players):
                if out[seat] and int(amount[seat]) != due:
                    raise self.lines[name].error(
                        f"seat {seat} is neither in the peloton nor away, so it has left the race, without "
                        f"energy or servants: write {due} for it, or name it in 'peloton'"
                    )

    def _read_servants(self, seat: int) -> None:
        state, rules, line = self._state, self.rules, self.lines.get(f"servants {seat}")
        words = [] if line is None or line.words.lower() == NOTHING else line.words.replace(",", " ").split()
        for word in words:
            assert line is not None
            square = number_of(line, word, "a square", 0, rules.length - 1)
            if rules.board[square].kind != EFFORT:
                raise line.error(f"square {square} is not an effort square: no servant can stand there")
            if int(state.owner[square]) != NO_SEAT:
                raise line.error(f"square {square} has a servant of seat {int(state.owner[square])}")
            state.owner[square] = seat
        beside = rules.servants - len(words) - int(state.retired[seat])
        if beside < 0:
            raise (line or self.lines["retired"]).error(
                f"seat {seat} has {rules.servants} servants; there are {len(words)} on the board and "
                f"{int(state.retired[seat])} retired"
            )
        state.off_board[seat] = beside

    def _read_jerseys(self, seat: int) -> None:
        state, line = self._state, self.lines.get(f"jerseys {seat}")
        if line is None:
            return
        for part in line.words.lower().split(","):
            name, _, count = part.strip().partition(" ")
            if name not in JERSEY_WORDS:
                raise line.error(
                    f"{shown(part.strip())} is not a set of jerseys; write 'rainbow 1, green 2': the sets "
                    f"are {', '.join(JERSEY_WORDS)} (polka-dot cards of two and of three jerseys)."
                    + closest(name, JERSEY_WORDS)
                )
            kind = JERSEY_WORDS.index(name)
            cards = number_of(line, count.strip(), f"the number of {name}", 0, self.rules.jersey_cards)
            if cards > int(state.stacks[kind]):
                raise line.error(f"there are {self.rules.jersey_cards} cards of the set {name} in all")
            state.jerseys[seat, kind] = cards
            state.stacks[kind] -= cards

    def _read_deck(self) -> None:
        """Read the cards to come, next first; cards for `...` are shuffled by the key."""
        line, state, rules = self.lines.get("deck"), self._state, self.rules
        if line is None:
            return
        words, is_open = without_others(line)
        cards = cards_named(line, words, card_words(rules), "chance card", MAX_DECK)
        left = [card.copies for card in rules.deck]
        for card in cards:
            left[card] -= 1
            if left[card] < 0:
                raise line.error(f"there are {rules.deck[card].copies} of {card_words(rules)[card]} in all")
        if is_open:
            rest = [card for card, copies in enumerate(left) for _ in range(copies)]
            shuffle_by_key(rest, state)
            cards += rest
        size = sum(card.copies for card in rules.deck)
        state.deck[:] = NO_CARD
        state.deck_next = size - len(cards)
        state.deck[size - len(cards) : size] = cards

    # The turn ----------------------------------------------------------------------------------------------

    def _ride(self) -> None:
        """Begin a turn and continue the race to a decision."""
        for name in LINES_OF_A_TURN:
            if name in self.lines:
                raise self.lines[name].error(
                    "this is about a turn in progress, which needs a line such as 'to act: seat 0, bid'"
                )
        self._state.phase = RIDING
        plain(turn.ride)(self._state, self._record)

    def _read_turn(self) -> None:
        """Read the events of this turn, and the seat to decide."""
        state, rules = self._state, self.rules
        line = self.lines.get("rolled")
        if line is not None:
            result = self._matched(line, _BY_SEAT, line.words, "'rolled: 4 by seat 1'")
            state.white = number_of(line, result["number"], "the white die", 1, FACES)
            state.roller = seat_of(line, result["seat"], rules)
        if "card" in self.lines:
            line = self.lines["card"]
            state.card = card_named(line, line.words.lower(), card_words(rules), "chance card")
        state.yellow = number_in(self.lines, "yellow", 1, FACES, 0)
        self._read_to_act()
        self._read_ending()
        stage = self._read_stage()
        state.stage = usual_stage(state, rules) if stage is None else stage
        state.holder = usual_holder(state)
        complete_turn(state, rules)
        line = self.lines.get("holder")
        if line is not None:
            word = line.words.lower().removeprefix("seat ")
            state.holder = NO_SEAT if word == NOTHING else seat_of(line, word, rules)
        line = self.lines.get("bid")
        if line is not None:
            result = self._matched(line, _BY_SEAT, line.words, "'bid: 7 by seat 2'")
            state.highest_bid = number_of(line, result["number"], "the bid", 1, rules.max_energy)
            state.highest_bidder = seat_of(line, result["seat"], rules)
        self._read_queue()

    def _read_to_act(self) -> None:
        line, state = self.lines["to act"], self._state
        words, _ = without_remark(line)
        words = " ".join(words.split())
        over = _OVER.fullmatch(words)
        if over is not None:
            state.phase = RACE_OVER
            state.seat = seat_of(line, over["seat"] or "0", self.rules)
            return
        names = PHASE_NAMES[RIDING + 1 : RACE_OVER]
        example = f"'to act: seat 1, bid' ({', '.join(names)}); or 'to act: race over'"
        result = self._matched(line, _TO_ACT, words, example)
        if result["phase"] not in names:
            raise line.error(
                f"{shown(result['phase'])} is not a decision; the decisions are {', '.join(names)}."
                + closest(result["phase"], names)
            )
        state.seat = seat_of(line, result["seat"], self.rules)
        state.phase = PHASE_NAMES.index(result["phase"])

    def _read_stage(self) -> int | None:
        """Read the stage of the turn, if the line of the decision gives it."""
        line = self.lines["to act"]
        _, remark = without_remark(line)
        if not remark:
            return None
        if remark not in STAGE_WORDS:
            raise line.error(
                f"{shown(remark)} is not a step of a turn; the steps are {', '.join(STAGE_WORDS)}."
                + closest(remark, STAGE_WORDS)
            )
        return STAGE_WORDS.index(remark)

    def _read_ending(self) -> None:
        line, state = self.lines.get("ending"), self._state
        state.winner = NO_SEAT
        if line is None:
            return
        example = "'ending: jerseys, won by seat 2'"
        result = self._matched(line, _ENDING, line.words, example)
        if result["how"] not in ENDINGS:
            raise line.error(
                f"{shown(result['how'])} is not an ending of a race; the endings are {', '.join(ENDINGS)}."
                + closest(result["how"], ENDINGS)
            )
        state.ending = ENDINGS[result["how"]]
        if result["seat"] is not None:
            state.winner = seat_of(line, result["seat"], self.rules)

    def _read_queue(self) -> None:
        state, line = self._state, self.lines.get("queue")
        seats, following = usual_queue(state)
        end = len(seats)
        if line is not None:
            parts = [part.split() for part in line.words.replace(",", " ").split("|")]
            if len(parts) not in (2, 3):
                raise line.error("expected '1 0 | 2 3': seats that have moved, a bar, seats that have not")
            result = [[seat_of(line, word, self.rules) for word in part] for part in parts]
            seats = [seat for part in result for seat in part]
            following, end = len(result[0]), len(result[0]) + len(result[1])
            if len(seats) > len(state.queue) or len(set(seats[:end])) < end:
                raise line.error("name each seat once")
        state.queue[:] = NO_SEAT
        state.queue[: len(seats)] = seats
        state.queue_next, state.queue_end = following, end

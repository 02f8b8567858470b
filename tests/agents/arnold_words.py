"""Ken Arnold's computer player of BSD mille (1982) said again, word for word: the oracle of the compiled one.

Written from a description of the program in words and from nothing else. A docstring begins with the section
of the words that it states. Plain Python for two players, slow and literal on purpose. Where
the words allow two readings, a comment "read as: ..." says which one was taken.

What the caller owes: `Side.battle` shows a hazard only while it is in force: BSD mille's "a safety played
later on its hazard restores Go at once" means "ROLL" there, and a Right of Way ends `limited`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.agents.arnold_cards import (
    ANSWER,
    BATTLE_HAZARDS,
    CARD_INDEX,
    GAS_SPARE_REPAIRS,
    HAZARD_OF_REMEDY,
    HAZARD_OF_SAFETY,
    HAZARDS,
    MILES,
    SAFETIES,
    SAFETY_OF,
    SAFETY_OF_BATTLE_CARD,
    TANK_PUNCTURE_ACE,
    TOTALS,
)


@dataclass
class Side:
    """The public cards of one side."""

    miles: int = 0
    battle: str | None = None
    limited: bool = False
    can_go: bool = False
    safeties: set[str] = field(default_factory=set)
    two_hundreds: int = 0


def divided(number: int, divisor: int) -> int:
    """3: all arithmetic is integer; division truncates towards zero."""
    quotient = abs(number) // abs(divisor)
    return quotient if (number < 0) == (divisor < 0) else -quotient


def playable_miles(card: str, me: Side, target: int) -> bool:
    """3.2 playable: the miles."""
    if card == "200" and me.two_hundreds >= 2:  # 200 if fewer than two 200s played
        return False
    if card in ("75", "100", "200") and me.limited:  # 75/100/200 if not limited
        return False
    if card != "25" and me.miles + MILES[card] > target:  # 50..200 not beyond the target
        return False
    return me.can_go  # all miles need "can go"


def playable(card: str, me: Side, him: Side, target: int) -> bool:
    """3.2 playable. Safeties are handled separately."""
    if card in MILES:
        return playable_miles(card, me, target)
    if card in BATTLE_HAZARDS:  # opponent can go and has not played the safety
        return him.can_go and SAFETY_OF[card] not in him.safeties
    if card == "SPEED_LIMIT":  # opponent not limited, RoW not played by him, and his miles + 50 < target
        return not him.limited and "RIGHT_OF_WAY" not in him.safeties and him.miles + 50 < target
    if card in GAS_SPARE_REPAIRS:  # own battle = that hazard
        return me.battle == HAZARD_OF_REMEDY[card]
    if card == "ROLL":  # cannot go and battle is empty, Stop, or one of the three remedies
        return not me.can_go and me.battle in (None, "STOP", *GAS_SPARE_REPAIRS)
    return card == "END_OF_LIMIT" and me.limited


@dataclass
class Turn:
    """One decision: what is on the table, and what the scan of step 1 noted."""

    me: Side
    him: Side
    target: int
    pile: int
    roll: int | list[int]
    P: int = 0
    stopper: bool = False
    finisher: bool = False
    held: Counter[str] = field(default_factory=Counter)  # copies in hand
    n: Counter[str] = field(default_factory=Counter)  # copies in hand not yet evaluated

    @property
    def left(self) -> int:
        return self.target - self.me.miles

    def playable(self, card: str) -> bool:
        return playable(card, self.me, self.him, self.target)


class Arnold:
    """The computer player: his memory (3.1), his helper tests (3.2) and his decision (3.3)."""

    def __init__(
        self,
        *,
        debian: bool = False,
        carry_need: bool = False,
        true_threat: bool = False,
        reversed_base: bool = True,
        openbsd: bool = False,
        totals: dict[str, int] | None = None,
    ):
        """3.5: Q1 = debian, Q2 = carry_need, Q3 = not true_threat, Q4 = reversed_base."""
        self.debian, self.carry_need = debian, carry_need
        self.true_threat, self.reversed_base = true_threat, reversed_base
        self.openbsd = openbsd
        self.totals = {**dict.fromkeys(TOTALS, 0), **totals} if totals is not None else dict(TOTALS)
        self.need = self.first_need()
        self.begin_hand(False, [])

    def first_need(self) -> dict[str, int]:
        """3.1 need(c): hazards = their totals, Gas/Spare/Repairs 2, Go 10, End 3, safeties 1, miles 0."""
        # read as: with another deck, the hazards' totals are those of that deck, and the rest stays.
        need = {hazard: self.totals[hazard] for hazard in HAZARDS}
        need |= {"GASOLINE": 2, "SPARE_TIRE": 2, "REPAIRS": 2, "ROLL": 10, "END_OF_LIMIT": 3}
        return need | dict.fromkeys(SAFETIES, 1) | dict.fromkeys(MILES, 0)

    def begin_hand(self, starts: bool, cards: list[str]) -> None:
        """3.1: seen and gos are of this hand; the dealt cards count for gos only in hands that he starts."""
        self.slots = [None] * (7 - len(cards)) + list(cards)
        self.seen, self.gos = Counter(), 0
        self.played, self.just_played = set(), None
        if not self.carry_need:  # Q2
            self.need = self.first_need()
        # read as: "in the same way": one after the other in slot order, each seen before the next one counts.
        for card in cards:
            self.seen[card] += 1
            if starts:
                self.count_for_gos(card)

    def draw(self, card: str) -> None:
        """3.1 seen: own draws (counted when drawn). 3: slot 0 holds the card just drawn."""
        self.seen[card] += 1
        self.count_for_gos(card)
        self.slots[self.slots.index(None)] = card

    def count_for_gos(self, card: str) -> None:
        """3.1 gos: a Stop/Gas-out/Flat/Crash: +1; Tank/Puncture/Ace: + (total - seen) of its hazard."""
        if card in BATTLE_HAZARDS:
            self.gos += 1
        elif card in TANK_PUNCTURE_ACE:
            hazard = HAZARD_OF_SAFETY[card]
            self.gos += self.totals[hazard] - self.seen[hazard]

    def see(self, card: str) -> None:
        """3.1 seen: everything the opponent plays or discards."""
        self.seen[card] += 1

    def fill_hole(self, hole: int) -> None:
        """3: played cards leave a hole that is filled from the lowest slots."""
        # read as: the card of slot 0, which is to be free for the next draw, goes there. If all cards below
        # the hole moved up instead, the delayed actions of section 4 would not come out (.117, not .134).
        self.slots[hole] = self.slots[0]
        self.slots[0] = None

    def lay(self, slot: int) -> str:
        """3.1: own plays are not counted again; own safety status: played (a safety is never discarded)."""
        card = self.slots[slot]
        self.fill_hole(slot)
        if card in SAFETIES:
            self.played.add(card)
        self.just_played = card
        return card

    def claims(self) -> bool:
        """Rules of BSD mille, 4: a coup fourre is never declined by the computer."""
        return True

    def claim(self, safety: str) -> None:
        """Rules of BSD mille, 4: the coup fourre."""
        self.lay(self.slots.index(safety))

    def hand(self) -> list[tuple[int, str]]:
        """3: the cards in hand, each with its slot, in slot order."""
        return [(slot, card) for slot, card in enumerate(self.slots) if card is not None]

    def known(self, safety: str) -> bool:
        """3.1: "known" = not unknown: in hand or played."""
        return safety in self.slots or safety in self.played

    def all_seen(self, card: str) -> bool:
        return self.seen[card] >= self.totals[card]

    def could_move(self, p: Side) -> bool:
        """3.2 threat, first sentence: what lies before p lets him move, or might."""
        if p.can_go:
            return True
        # read as: Q3 switched off touches both places that say "[sic]".
        waiting = p.battle in (None, "ROLL", *GAS_SPARE_REPAIRS, "STOP") or p.limited
        if waiting and self.seen["RIGHT_OF_WAY" if self.true_threat else "100"] > 0:
            return True
        return p.battle is not None and self.seen[SAFETY_OF_BATTLE_CARD[p.battle]] > 0

    def threat(self, p: Side, target: int) -> bool:
        """3.2 threat: "p could finish with the next card"."""
        left = target - p.miles
        if not self.could_move(p) or left not in MILES.values():
            return False
        if left == 200 and p.two_hundreds >= 2:
            return False
        if left >= 75 and p.limited:
            return self.seen["RIGHT_OF_WAY" if self.true_threat else "100"] == 0  # [sic]
        return not self.all_seen(str(left))

    def extend(self, him: Side, pile: int, just_played: str | None = None) -> bool:
        """3.2 extend? (target 700)."""
        if sum(map(self.known, SAFETIES)) < 2 or him.miles == 0:
            return False
        if self.threat(him, 700) or (him.can_go and him.miles >= 500):
            return False
        if not him.safeties:
            return True
        # All mile cards in hand count, also the one just played; 0 for the empty slots.
        return sum(MILES.get(card, 0) for card in (*self.slots, just_played)) + 3 * pile > 1000

    def extends(self, me: Side, him: Side, pile: int) -> bool:
        """3.2 extend?: asked when the finishing card lies; it counts as if it were still in hand."""
        self.played |= me.safeties
        return self.extend(him, pile, self.just_played)

    def decide(self, me: Side, him: Side, target: int, pile: int, roll: int | list[int]) -> tuple[str, str]:
        """3.3: the steps 1 and 3 to 7 (2, the draw, has been done)."""
        for side in (me, him):
            assert side.battle not in HAZARDS or SAFETY_OF[side.battle] not in side.safeties
            assert not (side.limited and "RIGHT_OF_WAY" in side.safeties)
        self.played |= me.safeties
        turn = Turn(me, him, target, pile, roll)
        slot = self.answering_safety(me)  # step 1
        if slot is not None:
            return "play", self.lay(slot)
        self.scan(turn)  # step 1, "meanwhile"
        self.keep_finisher(turn)  # step 3
        slot = self.chosen_safety(turn)  # step 4
        if slot is not None:
            return "play", self.lay(slot)
        self.stuck(me)  # step 5
        verb, slot = self.choose(turn)  # step 6
        self.stuck(me)  # step 7
        return verb, self.lay(slot)

    def answering_safety(self, me: Side) -> int | None:
        """3.3 step 1: a safety answering the hazard now in force is played at once (RoW also for a Limit)."""
        # read as: one scan of the slots 0..6 after the draw, the lowest slot first.
        in_force = [hazard for hazard in BATTLE_HAZARDS if me.battle == hazard]
        answers = [SAFETY_OF[hazard] for hazard in in_force + ["SPEED_LIMIT"] * me.limited]
        return next((slot for slot, card in self.hand() if card in answers), None)

    def scan(self, turn: Turn) -> None:
        """3.3 step 1: note P, stopper, finisher, and counts per card type in hand."""
        turn.held = Counter(card for _, card in self.hand())
        turn.n = Counter(turn.held)
        cards = [card for _, card in self.hand() if turn.playable(card)]
        turn.P = min(len(cards), 1) if self.debian else len(cards)  # Q1: it saturates at 1
        turn.stopper = any(card in BATTLE_HAZARDS for card in cards)
        turn.stopper |= "SPEED_LIMIT" in cards and self.all_seen("25") and self.all_seen("50")
        turn.finisher = any(MILES.get(card) == turn.left for card in cards)

    def keep_finisher(self, turn: Turn) -> None:
        """3.3 step 3: if finisher: keep it only if extend? is false."""
        # read as: extend? is false for any target but 700.
        if turn.finisher and turn.target == 700 and self.extend(turn.him, turn.pile):
            turn.finisher = False

    def chosen_safety(self, turn: Turn) -> int | None:
        """3.3 step 4: for each safety in hand, in slot order, play it if a, b or c."""
        hurry = self.somebody_finishes(turn)  # a
        for slot, card in self.hand():
            if card in SAFETIES and (hurry or self.hazard_gone(card) or self.deck_is_low(turn, slot)):
                return slot
        return None

    def somebody_finishes(self, turn: Turn) -> bool:
        """3.3 step 4a: threat(opponent), or finisher and P > 0 and not stopper."""
        # read as: threat, or (finisher and P > 0 and not stopper).
        return self.threat(turn.him, turn.target) or (turn.finisher and turn.P > 0 and not turn.stopper)

    def hazard_gone(self, safety: str) -> bool:
        """3.3 step 4b: all copies of its hazard are seen (RoW: all Stops and all Limits)."""
        if safety == "RIGHT_OF_WAY":
            return self.all_seen("STOP") and self.all_seen("SPEED_LIMIT")
        return self.all_seen(HAZARD_OF_SAFETY[safety])

    def deck_is_low(self, turn: Turn, slot: int) -> bool:
        """3.3 step 4c: P = 0 and (opponent can go or I cannot go): x < 25."""
        if turn.P != 0 or not (turn.him.can_go or not turn.me.can_go):
            return False
        # read as: "for each safety ...": a random number for each; a list has one for each slot.
        roll = turn.roll[slot] if isinstance(turn.roll, list) else turn.roll
        exactly_one = (turn.me.miles == 0) != (turn.him.miles == 0)
        return turn.pile - roll - (7 if exactly_one else 0) < 25

    def stuck(self, me: Side) -> None:
        """3.3 steps 5 and 7: if stuck under Gas-out/Flat/Crash/Stop: need(answer) += 1."""
        if me.battle in BATTLE_HAZARDS:
            self.need[ANSWER[me.battle]] += 1

    def choose(self, turn: Turn) -> tuple[str, int]:
        """3.3 step 6: play mode if P > 0, discard mode if P = 0 or as soon as P has come down to 0."""
        values = self.play_values(turn) if turn.P > 0 else None
        if values is not None:
            slot = max(values, key=lambda slot: (values[slot], slot))  # the last slot wins ties
            # By the words an unplayable card, at 0, wins if nothing playable has more: it does not happen.
            assert turn.playable(self.slots[slot])
            return "play", slot
        # read as: Q2's crash (every value above 101) is not restated: the lowest is discarded, however high.
        values = self.discard_values(turn)
        slot = min(values, key=lambda slot: (values[slot], -slot))  # the last slot wins ties
        return ("play" if self.slots[slot] in SAFETIES else "discard"), slot

    def play_values(self, turn: Turn) -> dict[int, int] | None:
        """3.3 step 6, play mode: playable cards their value, all others 0. None: restart in discard mode."""
        evaluation = Evaluation(self, turn, play_mode=True)
        values = {slot: 0 for slot, _ in self.hand()}
        for slot, card in self.hand():
            if self.close_to_target(turn, card):
                turn.P -= 1
                if turn.P == 0:
                    # read as: the restart comes at once, in the middle of the hand (Q1: at the first one).
                    return None
            elif turn.playable(card):
                values[slot] = evaluation.value(card)
        return values

    def discard_values(self, turn: Turn) -> dict[int, int]:
        """3.3 step 6, discard mode: non-playable cards their value, safeties (and cards playable) 101."""
        # read as: the restart begins anew in everything (end found, low card, divisor) but the counts n.
        evaluation = Evaluation(self, turn, play_mode=False)
        spared = [card for _, card in self.hand() if card in SAFETIES or turn.playable(card)]
        return {slot: 101 if card in spared else evaluation.value(card) for slot, card in self.hand()}

    def close_to_target(self, turn: Turn, card: str) -> bool:
        """3.3 step 6, close-to-target rule: such a (playable) 25 or 50 is not played."""
        if card not in ("25", "50") or not turn.playable(card) or turn.pile == 0 or turn.left > 100:
            return False
        # read as: "copies of that card in hand": all of them, not the n that goes down.
        if divided(turn.left, MILES[card]) <= turn.held[card]:
            return False
        return card == "25" or turn.left % 50 == 0


class Evaluation:
    """3.4 Values: one pass over the hand in slot order, in one mode."""

    def __init__(self, arnold: Arnold, turn: Turn, *, play_mode: bool):
        self.arnold = arnold
        self.turn = turn
        self.play_mode = play_mode
        self.end_found, self.hazards_divided = False, 0
        self.threat = arnold.threat(turn.him, turn.target)
        self.two_hundreds = turn.me.two_hundreds
        self.no_low_card_yet = (
            not play_mode
            and turn.held["END_OF_LIMIT"] == 0
            and not arnold.all_seen("SPEED_LIMIT")
            and not arnold.known("RIGHT_OF_WAY")
        )

    def value(self, card: str) -> int:
        """3.4: the value of the next copy of this card; n is minus 1 per evaluated copy."""
        # read as: n includes the copy being evaluated, and goes down after it, whatever sentence valued it.
        alone = {"END_OF_LIMIT": self.end, "ROLL": self.go, "SPEED_LIMIT": self.limit, "STOP": self.stop}
        if card in alone:
            value = alone[card]()
        elif card in MILES:
            value = self.miles(card)
        elif card in GAS_SPARE_REPAIRS:
            value = self.gas_spare_repairs(card)
        else:
            value = self.hazard(card, 4)
        self.turn.n[card] -= 1
        return value

    def miles(self, card: str) -> int:
        """3.4 miles: the sentences in their order: kind of card, beyond the target, reaching it."""
        turn = self.turn
        if card == "200":
            # read as: those played, and those of the hand in slot order up to this one.
            self.two_hundreds += 1
            if self.two_hundreds > 2:
                return 0
        value = self.low_miles(card) if card in ("25", "50") else self.high_miles(card)
        # read as: "for all but those" excepts the superfluous 200s only, not the low card at 10 or 20.
        if MILES[card] > turn.left:
            return CARD_INDEX[card] if turn.target == 700 else 0
        if MILES[card] == turn.left:
            value = CARD_INDEX[card] if self.end_found else 40
            self.end_found = True
        return value

    def low_miles(self, card: str) -> int:
        """3.4 25, 50: value/8 rounded down, +1 if I am limited, else -1. Exception: no low card yet."""
        if self.no_low_card_yet and (card == "50" or self.turn.held["50"] == 0):
            self.no_low_card_yet = False
            return 20 if self.turn.me.miles == 0 else 10
        return divided(MILES[card], 8) + (1 if self.turn.me.limited else -1)

    def high_miles(self, card: str) -> int:
        """3.4 75, 100, 200: 9, 12, 25; -1 if limited, else +1."""
        return {"75": 9, "100": 12, "200": 25}[card] + (-1 if self.turn.me.limited else 1)

    def remedy_formula(self, remedy: str) -> int:
        """3.4: 6 x total(hazard) + seen(remedy) - seen(hazard), divided by n^2 in discard mode."""
        arnold, hazard = self.arnold, HAZARD_OF_REMEDY[remedy]
        value = 6 * arnold.totals[hazard] + arnold.seen[remedy] - arnold.seen[hazard]
        return value if self.play_mode else divided(value, self.turn.n[remedy] ** 2)

    def gas_spare_repairs(self, remedy: str) -> int:
        """3.4 Gas, Spare, Repairs."""
        arnold, hazard = self.arnold, HAZARD_OF_REMEDY[remedy]
        if SAFETY_OF[hazard] in arnold.played:
            return -1
        if SAFETY_OF[hazard] in arnold.slots:
            return 1
        too_many = arnold.seen[hazard] + self.turn.n[remedy] > arnold.totals[hazard]
        if self.turn.me.battle != hazard and (arnold.all_seen(hazard) or too_many):
            return 0
        return self.remedy_formula(remedy)

    def end(self) -> int:
        """3.4 End."""
        arnold, turn = self.arnold, self.turn
        if "RIGHT_OF_WAY" in arnold.played:
            return -1
        if "RIGHT_OF_WAY" in arnold.slots or (turn.me.limited and turn.left <= 50):
            return 1
        if turn.me.limited or not arnold.all_seen("SPEED_LIMIT"):
            # read as: "same formula": the last clause of Gas, Spare, Repairs, without its 0 before.
            return self.remedy_formula("END_OF_LIMIT")
        return 0

    def go(self) -> int:
        """3.4 Go (in both modes alike)."""
        arnold, n = self.arnold, self.turn.n["ROLL"]
        if "RIGHT_OF_WAY" in arnold.played:
            return -1
        if "RIGHT_OF_WAY" in arnold.slots:
            return 2
        if self.turn.me.can_go and arnold.gos + n == arnold.need["ROLL"]:
            return 0
        return divided(3 * arnold.need["ROLL"] + arnold.seen["ROLL"] - arnold.gos, n**2)

    def base(self, base: int, safety: str) -> int:
        """3.4 hazards: base 4 (3 if I know the safety). Q4 switched off: the other way round."""
        return base - 1 if self.arnold.known(safety) == self.arnold.reversed_base else base

    def divided_in_discard_mode(self, value: int) -> int:
        """3.4 hazards: in discard mode divided by 1, 2, 3... for those that reach this division."""
        if self.play_mode:
            return value
        self.hazards_divided += 1
        return divided(value, self.hazards_divided)

    def hazard(self, card: str, base: int) -> int:
        """3.4 Gas-out, Flat, Crash (base 4), and a Limit that comes so far (base 3)."""
        arnold, me, him = self.arnold, self.turn.me, self.turn.him
        safety, answer = SAFETY_OF[card], ANSWER[card]
        if safety in him.safeties:
            return -1
        value = self.base(base, safety) * (arnold.need[answer] + arnold.seen[answer] + 2)
        value += 5 if me.miles == 0 or self.end_found or self.threat else 0
        value += 5 if him.miles == 0 or self.threat else 0
        value -= 3 if him.limited else 0
        value += 3 if self.play_mode and arnold.known(safety) else 0
        return self.divided_in_discard_mode(value)

    def limit(self) -> int:
        """3.4 Limit."""
        turn = self.turn
        if turn.him.miles + 50 >= turn.target:
            return 1 if turn.target == 700 and not self.play_mode else 0
        if turn.stopper or (self.play_mode and not turn.him.can_go):
            return 1
        # read as: "as above" is the whole bullet above, with its -1 if he has played the safety.
        return self.hazard("SPEED_LIMIT", 3)

    def stop(self) -> int:
        """3.4 Stop: the clauses in the order of the words, the division in their midst."""
        arnold, me, him = self.arnold, self.turn.me, self.turn.him
        if "RIGHT_OF_WAY" in him.safeties:
            return -1
        value = self.base(4, "RIGHT_OF_WAY") * (4 + arnold.seen["ROLL"])
        value += 5 if me.miles == 0 or self.end_found or self.threat else 0
        value = self.divided_in_discard_mode(value)
        value += 5 if him.miles == 0 else 0
        value -= 5 if not him.can_go or (arnold.openbsd and him.limited) else 0
        value += 5 if self.play_mode and arnold.known("RIGHT_OF_WAY") else 0
        return value

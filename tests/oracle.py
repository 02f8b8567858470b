"""A naive second implementation of Mille Bornes, edition `parker`: one hand, played with lists of card names.

It was written from the rule texts alone, without a look at the fast kernels that it is compared with, and
prefers the obvious to the quick. Sources are cited as follows: "004:18" is line 18 of rule text 004
(Wikipedia), "rules 1.3" is a table of the project's rule specification (the WP column and, where that is
silent, the US column), "E37" is a ruling of its section 2, and "house" is a convention of this project that
no rule text fixes (the draw streams, the order of the decisions).
"""

from __future__ import annotations

Action = tuple[str, ...]

# rules 0.2; 004:24 names the values
DISTANCE_KM: dict[str, int] = {
    "DISTANCE_25": 25,
    "DISTANCE_50": 50,
    "DISTANCE_75": 75,
    "DISTANCE_100": 100,
    "DISTANCE_200": 200,
}

# The hazards of the battle area (004:9) and the remedies that answer them (004:14, 004:20).
# Stop is not in the second table: it is answered by a Roll (rules 1.2 "Stop cured by").
BATTLE_HAZARDS: tuple[str, ...] = ("ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "STOP")
HAZARD_OF_REMEDY: dict[str, str] = {
    "REPAIRS": "ACCIDENT",
    "GASOLINE": "OUT_OF_GAS",
    "SPARE_TIRE": "FLAT_TIRE",
}

# 004:22 "the corresponding hazard"; 004:26 for Right of Way
SAFETY_AGAINST: dict[str, str] = {
    "ACCIDENT": "DRIVING_ACE",
    "OUT_OF_GAS": "EXTRA_TANK",
    "FLAT_TIRE": "PUNCTURE_PROOF",
    "STOP": "RIGHT_OF_WAY",
    "SPEED_LIMIT": "RIGHT_OF_WAY",
}
SAFETIES: tuple[str, ...] = ("DRIVING_ACE", "EXTRA_TANK", "PUNCTURE_PROOF", "RIGHT_OF_WAY")

# rules 0.2: the printed counts of the 106 cards
# fmt: off
FULL_DECK: dict[str, int] = {
    "DISTANCE_25": 10, "DISTANCE_50": 10, "DISTANCE_75": 10, "DISTANCE_100": 12, "DISTANCE_200": 4,
    "ACCIDENT": 3, "OUT_OF_GAS": 3, "FLAT_TIRE": 3, "STOP": 5, "SPEED_LIMIT": 4,
    "REPAIRS": 6, "GASOLINE": 6, "SPARE_TIRE": 6, "ROLL": 14, "END_OF_LIMIT": 6,
    "DRIVING_ACE": 1, "EXTRA_TANK": 1, "PUNCTURE_PROOF": 1, "RIGHT_OF_WAY": 1,
}
# fmt: on

TEAMS_AT: dict[int, int] = {2: 2, 3: 3, 4: 2, 6: 3}  # rules 1.1 "players"
TARGET_AT: dict[int, int] = {2: 700, 3: 700, 4: 1000, 6: 700}  # rules 1.1 "target"
EXTENDED_TARGET = 1000  # rules 1.1 "extension"
HAND_SIZE = 6  # 004:5


def deck(players: int) -> list[str]:
    """Lists the cards in play at a table of 2, 3, 4 or 6 seats, unshuffled.

    With two or three players one card of each of the five hazards is taken out: 101 cards (rules 0.2).
    """
    if players not in TEAMS_AT:
        raise ValueError(f"no table for {players} players")
    cards: list[str] = []
    for card, count in FULL_DECK.items():
        cards += [card] * count
    if players in (2, 3):
        for hazard in SAFETY_AGAINST:
            cards.remove(hazard)
    return cards


def match_winner(totals: list[int], goal: int = 5000) -> int | None:
    """Tells which team has won the match.

    The goal reached or passed wins; if several did, the higher total (rules 1.5 "match"); equal highest
    totals are settled by another hand (E52).

    Args:
        totals: The points of each team over all hands so far.
        goal: The points that end the match.

    Returns:
        The winning team, or None when another hand is played.
    """
    best = max(totals)
    if best < goal or totals.count(best) > 1:
        return None
    return totals.index(best)


def next_dealer(dealer: int, players: int) -> int:
    """Names the dealer of the next hand: the left neighbour (rules 1.1 "dealer rotation")."""
    return (dealer + 1) % players


class OracleTeam:
    """The display of one team, or of one player who plays for himself (004:7).

    Attributes:
        battle_pile: Battle hazards, their remedies and Rolls; the last card is the one that shows.
        speed_pile: Speed Limits and Ends of Limit; the last card is the one that shows.
        distance_pile: The distance cards laid.
        safeties: The safeties laid, however they were laid.
        coups_fourres: Those of the safeties that were laid as a coup fourré.
    """

    def __init__(self) -> None:
        """Starts with an empty display."""
        self.battle_pile: list[str] = []
        self.speed_pile: list[str] = []
        self.distance_pile: list[str] = []
        self.safeties: list[str] = []
        self.coups_fourres: list[str] = []

    @property
    def km(self) -> int:
        """The distance covered."""
        return sum(DISTANCE_KM[card] for card in self.distance_pile)

    def battle_top(self) -> str | None:
        """Returns the card that shows in the battle area, None when that is empty."""
        return self.battle_pile[-1] if self.battle_pile else None

    def speed_top(self) -> str | None:
        """Returns the card that shows in the speed area, None when that is empty."""
        return self.speed_pile[-1] if self.speed_pile else None

    def is_safe_from(self, hazard: str) -> bool:
        """Tells whether the safety against this hazard is out (004:16, 004:22)."""
        return SAFETY_AGAINST[hazard] in self.safeties

    def live_hazard(self) -> str | None:
        """Returns the battle hazard that shows and still has an effect.

        A hazard whose safety is out can only lie there because that safety was played on it; it is cancelled
        and counts like a remedy from then on (E22, house "cured hazard").
        """
        top = self.battle_top()
        if top in BATTLE_HAZARDS and not self.is_safe_from(top):
            return top
        return None

    def is_moving(self) -> bool:
        """Tells whether the team rolls: E1, the one test for distances and for being open to attack.

        A Roll shows (004:13), or Right of Way is out (004:26) and no gas, tire or accident hazard is in force
        (E4). With Right of Way an empty area, a remedy and a cured hazard will do (E2, E5, E24).
        """
        if self.battle_top() == "ROLL":
            return True
        return "RIGHT_OF_WAY" in self.safeties and self.live_hazard() is None

    def is_limited(self) -> bool:
        """Tells whether a Speed Limit is in force (004:24; Right of Way lifts it, 004:26)."""
        return self.speed_top() == "SPEED_LIMIT" and not self.is_safe_from("SPEED_LIMIT")

    def may_lay_distance(self, card: str, target: int) -> bool:
        """Tells whether this distance card may be laid when the trip is `target` km long."""
        if not self.is_moving():
            return False  # 004:13
        if self.is_limited() and DISTANCE_KM[card] > 50:
            return False  # 004:24, first sentence
        if card == "DISTANCE_200" and self.distance_pile.count("DISTANCE_200") >= 2:
            return False  # 004:24, second sentence: two for a player or team
        return self.km + DISTANCE_KM[card] <= target  # 004:30

    def may_lay_remedy(self, card: str) -> bool:
        """Tells whether this remedy, Roll or End of Limit may be laid."""
        if card == "END_OF_LIMIT":
            return self.is_limited()  # 004:15, E26
        if card == "ROLL":
            return self.may_lay_roll()
        return self.live_hazard() == HAZARD_OF_REMEDY[card]  # 004:14, E27

    def may_lay_roll(self) -> bool:
        """Tells whether a Roll may be laid: on nothing, Stop, a remedy or a cured hazard (004:18, E25)."""
        top = self.battle_top()
        if top is None or top == "STOP" or top in HAZARD_OF_REMEDY:
            return True
        return top in BATTLE_HAZARDS and self.live_hazard() is None

    def is_open_to(self, hazard: str) -> bool:
        """Tells whether an opponent may lay this hazard here.

        Never against the safety (004:16). A Speed Limit needs no moving target (004:18) but does not go on
        another one (E28); the others need a moving target (004:16, 004:18, E1).
        """
        if self.is_safe_from(hazard):
            return False
        if hazard == "SPEED_LIMIT":
            return not self.is_limited()
        return self.is_moving()

    def take_hazard(self, hazard: str) -> None:
        """Lays a hazard on the pile it belongs to (004:9)."""
        if hazard == "SPEED_LIMIT":
            self.speed_pile.append(hazard)
        else:
            self.battle_pile.append(hazard)

    def lay_safety(self, card: str) -> list[str]:
        """Lays a safety out and returns the cards that go to the discard pile for it.

        Only Right of Way takes cards away: a Stop and a Speed Limit that show (004:26, E3, E6, E7). The other
        safeties leave their hazard where it is, cancelled (E22).
        """
        self.safeties.append(card)
        removed: list[str] = []
        if card == "RIGHT_OF_WAY":
            if self.battle_top() == "STOP":
                removed.append(self.battle_pile.pop())
            if self.speed_top() == "SPEED_LIMIT":
                removed.append(self.speed_pile.pop())
        return removed


class OracleRound:
    """One hand of the game, from the deal to the score.

    Attributes:
        players: The number of seats.
        hands: The cards of each seat.
        streams: What is left of each seat's draw stream; all of them together are the draw pile (house).
        discard_pile: The discarded cards, dead for the rest of the hand (004:5).
        teams: The displays; seat s plays for team s % len(teams).
        target: The km that end the hand, 1000 once the extension is called.
        extension_caller: The team that called the extension.
        pending_hazard: A hazard that waits for the answer to it; it is neither in a hand nor on a pile.
        decision: What has to be decided, "play", "claim" or "extension"; None when the hand is over.
        seat: Who decides; None when the hand is over.
        over: Whether the hand has ended.
        winner: The team that completed the trip, None when nobody did (yet).
    """

    def __init__(self, players: int, streams: list[list[str]], dealer: int) -> None:
        """Deals the hands and starts the first turn.

        Args:
            players: The number of seats: 2, 3, 4 or 6.
            streams: The cards of each seat, first drawn first; the first six are its hand.
            dealer: The seat that deals; its left neighbour starts (rules 1.1 "first player").
        """
        if players not in TEAMS_AT:
            raise ValueError(f"no table for {players} players")
        if len(streams) != players:
            raise ValueError(f"{players} players, but {len(streams)} streams")
        self.players = players
        self.hands: list[list[str]] = [list(stream[:HAND_SIZE]) for stream in streams]
        self.streams: list[list[str]] = [list(stream[HAND_SIZE:]) for stream in streams]
        self.discard_pile: list[str] = []
        self.teams: list[OracleTeam] = [OracleTeam() for _ in range(TEAMS_AT[players])]
        self.target: int = TARGET_AT[players]
        self.extension_caller: int | None = None
        self.pending_hazard: str | None = None
        self.decision: str | None = None
        self.seat: int | None = None
        self.over: bool = False
        self.winner: int | None = None
        # Who brings the pending hazard and against whom; without a meaning while none is pending.
        self._attacker: int = 0
        self._attacked_team: int = 0
        self._start_turn_left_of(dealer)

    def team_of(self, seat: int) -> int:
        """Returns the team that a seat plays for (rules 1.1 "seating")."""
        return seat % len(self.teams)

    def pile_size(self) -> int:
        """Counts the cards of the draw pile: everything left in all streams (house)."""
        return sum(len(stream) for stream in self.streams)

    def is_moving(self, team: int) -> bool:
        """Tells whether the team rolls (E1)."""
        return self.teams[team].is_moving()

    def legal_actions(self) -> set[Action]:
        """Lists everything that may be done at the present decision; empty when the hand is over."""
        if self.seat is None:
            return set()
        if self.decision == "claim":
            return {("claim",), ("pass",)}  # E12: it may be declined
        if self.decision == "extension":
            return {("extend",), ("finish",)}
        actions: set[Action] = set()
        for card in self.hands[self.seat]:
            actions.add(("discard", card))  # 004:28; a safety too, E21
            actions |= self._ways_to_play(self.seat, card)
        return actions

    def _ways_to_play(self, seat: int, card: str) -> set[Action]:
        """Lists the actions that lay this card (004:11 to 004:18)."""
        own = self.team_of(seat)
        team = self.teams[own]
        if card in SAFETIES:
            return {("play", card)}  # 004:17, at any time
        if card in SAFETY_AGAINST:  # a hazard: one action for each opponent who can be hit (E59)
            return {
                ("play", card, str(other))
                for other in range(len(self.teams))
                if other != own and self.teams[other].is_open_to(card)
            }
        if card in DISTANCE_KM:
            allowed = team.may_lay_distance(card, self.target)
        else:
            allowed = team.may_lay_remedy(card)
        return {("play", card)} if allowed else set()

    def step(self, action: Action) -> None:
        """Carries out one action of the seat that decides.

        Raises:
            ValueError: The action is not one of `legal_actions()`.
        """
        if self.seat is None or action not in self.legal_actions():
            raise ValueError(f"illegal action {action}")
        seat = self.seat
        if self.pending_hazard is not None:
            hazard = self.pending_hazard
            self.pending_hazard = None
            if action[0] == "claim":
                self._claim(seat, hazard)
            else:
                self._lay_hazard(self._attacker, hazard, self._attacked_team)
        elif action[0] == "extend":
            self.extension_caller = self.team_of(seat)
            self.target = EXTENDED_TARGET
            self._start_turn_left_of(seat)  # E46: then on to the left, as after any card
        elif action[0] == "finish":
            self._end(self.team_of(seat))
        else:
            card = action[1]
            self.hands[seat].remove(card)
            if action[0] == "discard":
                self.discard_pile.append(card)
                self._start_turn_left_of(seat)
            elif card in SAFETY_AGAINST:
                self._attack(seat, card, int(action[2]))
            elif card in SAFETIES:
                self._play_safety(seat, card)
            elif card in DISTANCE_KM:
                self._play_distance(seat, card)
            else:
                self._play_remedy(seat, card)

    def _play_remedy(self, seat: int, card: str) -> None:
        """Lays a remedy, a Roll or an End of Limit (004:14, 004:15, 004:18)."""
        team = self.teams[self.team_of(seat)]
        if card == "END_OF_LIMIT":
            team.speed_pile.append(card)
        else:
            team.battle_pile.append(card)
        self._start_turn_left_of(seat)

    def _play_distance(self, seat: int, card: str) -> None:
        """Lays a distance card; the exact target ends the hand or opens the choice to extend it (E44)."""
        team = self.team_of(seat)
        self.teams[team].distance_pile.append(card)
        if self.teams[team].km < self.target:
            self._start_turn_left_of(seat)
        elif self.target < EXTENDED_TARGET:
            # Where the trip starts at 700 it can be extended, once; once extended, the target is 1000 for
            # everybody and no second offer can come (E44, E49). Empty hands or pile do not matter (E45).
            self.decision = "extension"
            self.seat = seat
        else:
            self._end(team)  # 004:34

    def _play_safety(self, seat: int, card: str) -> None:
        """Lays a safety in the normal way: one more card, one more play (004:22, E17, E19)."""
        self.discard_pile += self.teams[self.team_of(seat)].lay_safety(card)
        self._draw(seat)
        self._play_again(seat)

    def _attack(self, seat: int, hazard: str, target_team: int) -> None:
        """Brings a hazard against a team and asks the holder of the safety, if there is one (E11 to E13)."""
        for other in range(self.players):
            if self.team_of(other) == target_team and SAFETY_AGAINST[hazard] in self.hands[other]:
                self.pending_hazard = hazard
                self._attacker = seat
                self._attacked_team = target_team
                self.decision = "claim"
                self.seat = other
                return
        self._lay_hazard(seat, hazard, target_team)

    def _lay_hazard(self, attacker: int, hazard: str, target_team: int) -> None:
        """Lays a hazard that nobody answers; play goes on at the attacker's left."""
        self.teams[target_team].take_hazard(hazard)
        self._start_turn_left_of(attacker)

    def _claim(self, seat: int, hazard: str) -> None:
        """Answers a hazard by a coup fourré (rules 1.3).

        The hazard counts as never laid and is discarded (E10); the responder draws one card to refill the
        hand and one for the turn that is now his, what there is (E14, E15). Those between the attacker and
        him lose their turn, because play goes on at his left.
        """
        safety = SAFETY_AGAINST[hazard]
        team = self.teams[self.team_of(seat)]
        self.hands[seat].remove(safety)
        self.discard_pile.append(hazard)
        self.discard_pile += team.lay_safety(safety)  # Right of Way: what shows already goes too (E7)
        team.coups_fourres.append(safety)
        self._draw(seat)
        self._draw(seat)
        self._play_again(seat)

    def _draw(self, seat: int) -> None:
        """Moves one card from the draw pile to a hand, if there is one.

        The seat's own stream gives its first card; once it is empty, the nearest stream to the left that is
        not gives its last one (house).
        """
        if self.streams[seat]:
            self.hands[seat].append(self.streams[seat].pop(0))
            return
        for distance in range(1, self.players):
            stream = self.streams[(seat + distance) % self.players]
            if stream:
                self.hands[seat].append(stream.pop())
                return

    def _play_again(self, seat: int) -> None:
        """Gives a seat its play after a safety; with an empty hand it is void (E20)."""
        if self.hands[seat]:
            self.decision = "play"
            self.seat = seat
        else:
            self._start_turn_left_of(seat)

    def _start_turn_left_of(self, seat: int) -> None:
        """Starts the next turn: a draw, then a play (004:5).

        A seat that has no card even after the draw is skipped, and the hand is over when that is so for all,
        the last player included (004:35, 004:37, E50).
        """
        for distance in range(1, self.players + 1):
            candidate = (seat + distance) % self.players
            self._draw(candidate)
            if self.hands[candidate]:
                self.decision = "play"
                self.seat = candidate
                return
        self._end(None)

    def _end(self, winner: int | None) -> None:
        """Ends the hand."""
        self.winner = winner
        self.over = True
        self.decision = None
        self.seat = None

    def score(self, team: int) -> dict[str, int]:
        """Counts the points of a team item by item, 0 for what was not earned (rules 1.5, the US column).

        Raises:
            ValueError: The hand is not over yet.
        """
        if not self.over:
            raise ValueError("the hand is not over")
        mine = self.teams[team]
        points = {
            "distance": mine.km,
            "safeties": 100 * len(mine.safeties),
            "all_safeties": 300 if len(mine.safeties) == 4 else 0,
            "coups_fourres": 300 * len(mine.coups_fourres),
            "trip_completed": 0,
            "delayed_action": 0,
            "safe_trip": 0,
            "extension": 0,
            "shutout": 0,
        }
        if self.winner == team:
            others = [other for number, other in enumerate(self.teams) if number != team]
            points["trip_completed"] = 400
            if self.pile_size() == 0:
                points["delayed_action"] = 300  # E37: nothing is drawn after the finishing card
            if "DISTANCE_200" not in mine.distance_pile:
                points["safe_trip"] = 300  # E39, E40
            if all(not other.distance_pile for other in others):
                points["shutout"] = 500  # once, all opponents blank, at the end: E41, E42
        if self.extension_caller is not None:
            succeeded = self.winner == self.extension_caller
            if succeeded == (team == self.extension_caller):
                points["extension"] = 200  # the caller's success, or his failure for each opponent (E47)
        return points

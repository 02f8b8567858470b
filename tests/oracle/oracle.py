"""A naive second implementation of Mille Bornes: one hand of any edition, played with lists of card names.

It was written from the rule texts alone, without a look at the fast kernels that it is compared with, and
prefers the obvious to the quick. What differs from edition to edition is in `rules.py` beside it, which
also explains how sources are cited; a rule cited here from one text holds in every edition unless said
otherwise. "House" is a convention of this project that no rule text fixes: the draw streams, the order of the
decisions.
"""

from __future__ import annotations

import copy

from tests.oracle.rules import (
    BATTLE_HAZARDS,
    DISTANCE_KM,
    FULL_DECK,
    HAZARD_OF_REMEDY,
    SAFETIES,
    SAFETY_AGAINST,
    TABLES,
    OracleRules,
    OracleTeam,
    deck,
    rules_for,
    with_options,
)

__all__ = [
    "BATTLE_HAZARDS",
    "DISTANCE_KM",
    "FULL_DECK",
    "HAZARD_OF_REMEDY",
    "SAFETIES",
    "SAFETY_AGAINST",
    "TABLES",
    "Action",
    "OracleRound",
    "OracleTeam",
    "count_sequences",
    "deck",
    "match_winner",
    "next_dealer",
]

Action = tuple[str, ...]


def match_winner(totals: list[int], goal: int = 5000) -> int | None:
    """Tells which team has won the match.

    The goal reached or passed wins; if several did, the higher total (rules 1.5 "match"); equal highest
    totals are settled by another hand (E52): None.
    """
    best = max(totals)
    if best < goal or totals.count(best) > 1:
        return None
    return totals.index(best)


def next_dealer(dealer: int, players: int) -> int:
    """Names the dealer of the next hand: the left neighbour (rules 1.1 "dealer rotation")."""
    return (dealer + 1) % players


def count_sequences(game: OracleRound, depth: int) -> int:
    """Counts the sequences of exactly `depth` legal actions from this position."""
    if depth == 0:
        return 1
    total = 0
    for action in game.legal_actions():  # none when the hand is over
        after = copy.deepcopy(game)
        after.step(action)
        total += count_sequences(after, depth - 1)
    return total


class OracleRound:
    """One hand of the game, from the deal to the score.

    Attributes:
        rules: The rules that hold at the table.
        edition: The edition that is played.
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

    def __init__(
        self,
        edition: str,
        players: int,
        teams: int,
        streams: list[list[str]],
        dealer: int,
        options: dict[str, int] | None = None,
    ) -> None:
        """Deals the hands and starts the first turn.

        Args:
            edition: One of the names in `TABLES`.
            players: The number of seats.
            teams: The number of teams.
            streams: The cards of each seat, first drawn first; the first ones are its hand.
            dealer: The seat that deals; its left neighbour starts (rules 1.1 "first player").
            options: Values of `OPTIONS` that differ from the edition's.
        """
        self.rules: OracleRules = with_options(rules_for(edition, players, teams), options or {})
        if len(streams) != players:
            raise ValueError(f"{players} players, but {len(streams)} streams")
        self.edition = edition
        self.players = players
        self.hands: list[list[str]] = [list(stream[: self.rules.hand_size]) for stream in streams]
        self.streams: list[list[str]] = [list(stream[self.rules.hand_size :]) for stream in streams]
        self.discard_pile: list[str] = []
        self.teams: list[OracleTeam] = [OracleTeam(self.rules) for _ in range(teams)]
        self.target: int = self.rules.target
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
        plays: set[Action] = set()
        discards: set[Action] = set()
        for card in self.hands[self.seat]:
            plays |= self._ways_to_play(self.seat, card)
            if card not in SAFETIES or self.rules.discard_safeties:
                discards.add(("discard", card))  # 004:28; a safety too, E21
        if self.rules.discard_only_if_stuck and plays:
            return plays  # 000:184, 002:148
        return plays | discards

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
            self.target = self.rules.extended_target or self.target
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
        """Lays a distance card; the target ends the hand or opens the choice to extend it (E44)."""
        team = self.team_of(seat)
        self.teams[team].distance_pile.append(card)
        longer = self.rules.extended_target
        if self.teams[team].km < self.target:
            self._start_turn_left_of(seat)
        elif longer is not None and self.target < longer and self.teams[team].km < longer:
            # Where the trip starts at 700 it can be extended, once; once extended, the target is 1000 for
            # everybody and no second offer can come (E44, E49). Empty hands or pile do not matter (E45).
            # Where the finish need not be exact, the longer trip may be done: nothing to offer (house).
            self.decision = "extension"
            self.seat = seat
        else:
            self._end(team)  # 000:219, 002:156, 004:34

    def _play_safety(self, seat: int, card: str) -> None:
        """Lays a safety in the normal way: one more card, one more play (004:22, 002:168, E17 to E19)."""
        self.discard_pile += self.teams[self.team_of(seat)].lay_safety(card)
        if self.pile_size() == 0 and not self.rules.replay_on_empty_pile:
            self._start_turn_left_of(seat)  # E17
            return
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
        hand and one for the turn that is now his, what there is (E14). Those between the attacker and him
        lose their turn, because play goes on at his left. With the draw pile empty an edition may give no
        extra play (E15): then nobody loses a turn (E16).
        """
        safety = SAFETY_AGAINST[hazard]
        team = self.teams[self.team_of(seat)]
        self.hands[seat].remove(safety)
        self.discard_pile.append(hazard)
        self.discard_pile += team.lay_safety(safety)  # Right of Way: what shows already goes too (E7)
        team.coups_fourres.append(safety)
        if self.pile_size() == 0 and not self.rules.replay_after_claim:
            self._start_turn_left_of(seat if self.rules.turn_follows_claim else self._attacker)
            return
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

        With the draw pile empty the hand is over where it is not played out (000:219, E34), and it may be
        over when all are stuck (BSD). A seat that has no card even after the draw is skipped, and the hand is
        over when that is so for all, the last player included (004:35, 004:37, E50).
        """
        extended = self.rules.play_out_after_extension and self.extension_caller is not None
        if self.pile_size() == 0 and not self.rules.play_out and not extended:
            self._end(None)
            return
        if self.pile_size() == 0 and self.rules.end_when_stuck and not self._anybody_can_play():
            self._end(None)
            return
        for distance in range(1, self.players + 1):
            candidate = (seat + distance) % self.players
            self._draw(candidate)
            if self.hands[candidate]:
                self.decision = "play"
                self.seat = candidate
                return
        self._end(None)

    def _anybody_can_play(self) -> bool:
        """Tells whether some seat holds a card that it could lay if it were its turn now."""
        return any(
            self._ways_to_play(seat, card) for seat in range(self.players) for card in self.hands[seat]
        )

    def _end(self, winner: int | None) -> None:
        """Ends the hand."""
        self.winner = winner
        self.over = True
        self.decision = None
        self.seat = None

    def score(self, team: int) -> dict[str, int]:
        """Counts the points of a team item by item, 0 for what was not earned (rules 1.5).

        Raises:
            ValueError: The hand is not over yet.
        """
        if not self.over:
            raise ValueError("the hand is not over")
        points = dict.fromkeys(
            (
                *("distance", "safeties", "all_safeties", "coups_fourres", "trip_completed"),
                *("delayed_action", "safe_trip", "extension", "shutout"),
            ),
            0,
        )
        if not self.rules.count_points:
            return points
        mine = self.teams[team]
        caller = self.extension_caller
        points["distance"] = mine.km
        if team == caller != self.winner and self.rules.failed_extension_forfeits_bonuses:
            return points  # 002:29 taken strictly: E48
        points["safeties"] = self.rules.per_safety * len(mine.safeties)
        points["all_safeties"] = self.rules.all_safeties if len(mine.safeties) == 4 else 0
        points["coups_fourres"] = self.rules.per_coup_fourre * len(mine.coups_fourres)
        points["shutout"] = self._shutout(team)
        if self.winner == team:
            points["trip_completed"] = self.rules.trip_completed
            if self.pile_size() == 0:
                points["delayed_action"] = (
                    self.rules.delayed_action
                )  # E37: nothing is drawn after the finishing card
            if "DISTANCE_200" not in mine.distance_pile:
                points["safe_trip"] = self.rules.safe_trip  # E39, E40
        if caller is not None and self.winner == caller == team:
            points["extension"] = self.rules.extension
        if caller is not None and self.winner != caller != team:
            points["extension"] = self.rules.extension_failure  # to each opponent: E47
        return points

    def _shutout(self, team: int) -> int:
        """Counts the points for opponents without any distance card, at the end of the hand (E41, E42)."""
        others = [other for number, other in enumerate(self.teams) if number != team]
        blank = sum(1 for other in others if not other.distance_pile)
        if self.rules.shutout_to_all_placed:  # no win needed, but a blank team has nothing of it (E43)
            return self.rules.shutout * blank if self.teams[team].distance_pile else 0
        return self.rules.shutout if self.winner == team and blank == len(others) else 0

    def round_winner(self) -> int | None:
        """Names the team that has won the hand alone; None if the win is shared (E53).

        Raises:
            ValueError: The hand is not over yet.
        """
        winners = self.round_winners()
        return winners[0] if len(winners) == 1 else None

    def round_winners(self) -> list[int]:
        """Names the teams that have won the hand: by points, or else by distance.

        Those who are equally near share the win, all others have lost (E53).

        Raises:
            ValueError: The hand is not over yet.
        """
        teams = range(len(self.teams))
        ranks: list[tuple[int, ...]] = [(sum(self.score(team).values()),) for team in teams]
        if not self.rules.count_points:
            if self.winner is not None:
                return [self.winner]  # 001:32
            ranks = [(self.teams[team].km,) for team in teams]  # the nearest: rules 1.4
            if self.rules.safeties_break_tie:
                ranks = [(self.teams[team].km, len(self.teams[team].safeties)) for team in teams]
        return [team for team in teams if ranks[team] == max(ranks)]

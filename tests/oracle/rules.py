"""The cards, the rules of the six editions as data, and the display of a team that keeps them.

This is one half of the naive second implementation; the other is `oracle.py` beside it. Every value was taken
from the rule texts alone. Sources are cited as follows: "000:45" is line 45 of rule text 000 (dutch), 001
(dujardin), 002 (winning_moves) or 004 (Wikipedia, with the US sheet: parker); "rules 1.2" is a table of the
project's rule specification, read in the column of the edition (NL, FR01, DE, WP with US, FRC, FR14); "E37"
is a ruling of its section 2, "house" is a convention of this project that no rule text fixes, and BSD is the
computer game of 1982, which no edition follows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from millebornes_env.games.millebornes.editions import edition as find_edition

# rules 0.2; 004:24 and 002:41-45 name the values
DISTANCE_KM: dict[str, int] = {
    "DISTANCE_25": 25,
    "DISTANCE_50": 50,
    "DISTANCE_75": 75,
    "DISTANCE_100": 100,
    "DISTANCE_200": 200,
}

# The hazards of the battle area (004:9, 000:150, 001:96-98) and the remedies that answer them (000:103-107).
# Stop is not in the second table: it is answered by a Roll (rules 1.2 "Stop cured by").
BATTLE_HAZARDS: tuple[str, ...] = ("ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "STOP")
HAZARD_OF_REMEDY: dict[str, str] = {
    "REPAIRS": "ACCIDENT",
    "GASOLINE": "OUT_OF_GAS",
    "SPARE_TIRE": "FLAT_TIRE",
}

# 000:103-107, 004:22 "the corresponding hazard"; 004:26, 001:186-188 and 002:170 for Right of Way
SAFETY_AGAINST: dict[str, str] = {
    "ACCIDENT": "DRIVING_ACE",
    "OUT_OF_GAS": "EXTRA_TANK",
    "FLAT_TIRE": "PUNCTURE_PROOF",
    "STOP": "RIGHT_OF_WAY",
    "SPEED_LIMIT": "RIGHT_OF_WAY",
}
SAFETIES: tuple[str, ...] = ("DRIVING_ACE", "EXTRA_TANK", "PUNCTURE_PROOF", "RIGHT_OF_WAY")

# rules 0.2, 002:41-57, 002:92-107: the printed counts of the 106 cards
# fmt: off
FULL_DECK: dict[str, int] = {
    "DISTANCE_25": 10, "DISTANCE_50": 10, "DISTANCE_75": 10, "DISTANCE_100": 12, "DISTANCE_200": 4,
    "ACCIDENT": 3, "OUT_OF_GAS": 3, "FLAT_TIRE": 3, "STOP": 5, "SPEED_LIMIT": 4,
    "REPAIRS": 6, "GASOLINE": 6, "SPARE_TIRE": 6, "ROLL": 14, "END_OF_LIMIT": 6,
    "DRIVING_ACE": 1, "EXTRA_TANK": 1, "PUNCTURE_PROOF": 1, "RIGHT_OF_WAY": 1,
}
# fmt: on

# rules 1.1 "players" and "seating": (players, teams); a seat plays for team seat % teams
PAIRS = ((2, 2), (3, 3), (4, 2), (6, 3))  # 002:190, 002:33; FRC, US: from four players on in pairs
TABLES: dict[str, tuple[tuple[int, int], ...]] = {
    "parker": PAIRS,
    "dujardin_classic": PAIRS,
    "winning_moves": PAIRS,
    "dutch": ((2, 2), (3, 3), (4, 2), (6, 2)),  # 000:126: six are two teams of three, alternating (E58)
    "dujardin": ((2, 2), (3, 3), (4, 4), (4, 2), (6, 3), (8, 4)),  # 001:3, 001:30
    "dujardin_2014": ((2, 2), (3, 3), (4, 4), (4, 2), (6, 3), (8, 4)),  # FR14: 2-4 solo, 4-8 in pairs
}

# What a caller may set to 0 or 1; everything else is fixed by the edition and the table.
OPTIONS: tuple[str, ...] = (
    "start_needs_roll",
    "any_safety_starts",
    "roll_after_remedy",
    "roll_after_safety",
    "attack_needs_roll",
    "one_hazard_at_a_time",
    "exact_finish",
    "discard_only_if_stuck",
    "discard_safeties",
    "play_out_after_extension",
    "end_when_stuck",
    "count_points",
    "failed_extension_forfeits_bonuses",
    "safeties_break_tie",
)


@dataclass(frozen=True)
class OracleRules:
    """The rules of one edition, or of a drawn sheet, at one table.

    Attributes:
        edition: The edition's name.
        players: The number of seats.
        teams: The number of teams.
        cards: How many copies of each card are in play.
        hand_size: The cards of a hand.
        target: The km that complete the trip.
        extended_target: The km that complete it once the extension is called; None: there is no extension.
        start_needs_roll: With an empty battle pile a team stands (Right of Way apart).
        any_safety_starts: Every safety, not Right of Way alone, lets a team drive with an empty battle pile.
        roll_after_remedy: A remedy that shows needs a Roll on it before the team drives.
        roll_after_safety: A hazard cured by its safety stays, cancelled, and needs a Roll on it; otherwise it
            is discarded and what lay beneath shows again.
        hazard_may_open: A battle hazard may be laid on an empty battle pile although that team stands.
        opening_remedy_starts: The remedy of a hazard that lay on an empty pile makes the team drive at once.
        attack_needs_roll: A battle hazard goes on a Roll, or on a team that drives by Right of Way, only.
        one_hazard_at_a_time: Of a Speed Limit and a battle hazard only one can be in force on a team.
        most_200s: How many 200s one display takes.
        exact_finish: A distance card must not carry a team past the target.
        discard_only_if_stuck: Nothing may be discarded while any card of the hand can be laid.
        discard_safeties: A safety may be discarded like any other card.
        play_out: With the draw pile empty play goes on until the hands are empty; otherwise the hand ends
            with the turn in which the last card was drawn.
        play_out_after_extension: Once the extension is called the hands are played out in any case.
        end_when_stuck: With the draw pile empty the hand ends with a turn after which nobody can lay a card.
        replay_on_empty_pile: A safety laid when the draw pile is empty still gives its extra play.
        replay_after_claim: A coup fourré when it is empty does.
        turn_follows_claim: Where it does not, play goes on at the left of the responder, not of the attacker.
        count_points: The hand is scored; otherwise it is only won or lost.
        per_safety: The points of each safety.
        all_safeties: The points of all four, on top.
        per_coup_fourre: The points of each coup fourré.
        trip_completed: The points for completing the trip.
        delayed_action: Those for completing it when the draw pile is empty.
        safe_trip: Those for completing it without a 200.
        extension: Those of a team that called the extension and completed the longer trip.
        extension_failure: The points of each opponent of a team that called the extension and failed.
        shutout: The points for opponents without a distance card.
        failed_extension_forfeits_bonuses: A team that called the extension and failed scores its km only.
        shutout_to_all_placed: Every team with a distance card has the shut-out for each opponent without one;
            otherwise the winner has it, once, if all his opponents are without one.
        safeties_break_tie: In a hand without points the number of safeties decides between equal km.
    """

    edition: str
    players: int
    teams: int
    cards: Mapping[str, int]
    hand_size: int
    target: int
    extended_target: int | None
    start_needs_roll: bool
    any_safety_starts: bool
    roll_after_remedy: bool
    roll_after_safety: bool
    hazard_may_open: bool
    opening_remedy_starts: bool
    attack_needs_roll: bool
    one_hazard_at_a_time: bool
    most_200s: int
    exact_finish: bool
    discard_only_if_stuck: bool
    discard_safeties: bool
    play_out: bool
    play_out_after_extension: bool
    end_when_stuck: bool
    replay_on_empty_pile: bool
    replay_after_claim: bool
    turn_follows_claim: bool
    count_points: bool
    per_safety: int
    all_safeties: int
    per_coup_fourre: int
    trip_completed: int
    delayed_action: int
    safe_trip: int
    extension: int
    extension_failure: int
    shutout: int
    failed_extension_forfeits_bonuses: bool
    shutout_to_all_placed: bool
    safeties_break_tie: bool

    def __deepcopy__(self, memo: dict[int, Any]) -> OracleRules:
        """Returns itself: nothing in it can change."""
        return self


# What no edition does otherwise by default.
EVERYWHERE: dict[str, Any] = {
    "any_safety_starts": False,  # 002:199 says it, 002:152 and 002:170 do not: E31
    "attack_needs_roll": False,  # 001:96 "un adversaire qui roule": E1, E55
    "one_hazard_at_a_time": False,  # 001:19-21, 004:18; 002:61 with two piles: E29
    "most_200s": 2,  # 001:86-88, 002:49, 004:24; NL silent: rules 1.2; in teams for the display: E60
    "exact_finish": True,  # 000:235, 002:156, 004:30; FR01 cut: FR14 "exactly 1000"
    "discard_only_if_stuck": False,  # 004:28; 000:184, 002:148 and FR14 are loose wording: REC of rules 1.2
    "discard_safeties": True,  # no text forbids it: E21
    "play_out_after_extension": False,  # hands are always played out, or there is no extension: E34
    "end_when_stuck": False,  # BSD; no text says it
    "failed_extension_forfeits_bonuses": False,  # E48
    "safeties_break_tie": False,  # E53
    "hand_size": 6,  # rules 1.1 "hand size": 000:138, 001:40, 002:192, 004:5
    "turn_follows_claim": False,  # nobody loses a turn: E16
    # rules 1.5, 000:251-263, 002:113-143; 700 for all safeties together: 000:257
    **{"per_safety": 100, "all_safeties": 300, "per_coup_fourre": 300, "trip_completed": 400},
    **{"delayed_action": 300, "safe_trip": 300, "extension": 200, "shutout": 500},
}

EDITION_RULES: dict[str, dict[str, Any]] = {
    "parker": {
        "start_needs_roll": True,  # 004:13
        "roll_after_remedy": True,  # 004:20
        "roll_after_safety": True,  # 004:22; E22
        "hazard_may_open": False,  # 004:18
        "opening_remedy_starts": False,  # no hazard opens a pile
        "play_out": True,  # 004:35, 004:37
        "replay_on_empty_pile": True,  # E15, E17 (US, WP)
        "count_points": True,  # rules 1.5, US
        "extension_failure": 200,  # rules 1.5, US "to his opponent or opponents"; E47
        "shutout_to_all_placed": False,  # rules 1.5, US; E42
    },
    "dujardin_classic": {
        "start_needs_roll": True,  # rules 1.2, FRC
        "roll_after_remedy": True,  # rules 1.2, FRC "on a later turn"
        "roll_after_safety": False,  # rules 1.3, FRC: hazard removed, the light beneath shows again; E22
        "hazard_may_open": False,  # rules 1.2, FRC: only the Limit
        "opening_remedy_starts": False,  # no hazard opens a pile
        "play_out": True,  # rules 1.4, FRC
        "replay_on_empty_pile": False,  # rules 1.4, FRC: a safety no longer gives a turn; E15, E17
        "count_points": True,  # rules 1.5, FRC
        "extension_failure": 200,  # rules 1.5, FRC "chacun"; E47
        "shutout_to_all_placed": True,  # rules 1.5, FRC; E42, E43
    },
    "dutch": {
        "start_needs_roll": True,  # 000:43-47, 000:172
        "roll_after_remedy": True,  # 000:59, 000:174, 000:201
        "roll_after_safety": False,  # 000:97, 000:174 "Behalve bij een troefkaart"
        "hazard_may_open": False,  # 000:195
        "opening_remedy_starts": False,  # no hazard opens a pile
        "play_out": False,  # 000:219 "of als de stok leeg is"; E34
        "play_out_after_extension": True,  # 000:237 "tot alle kaarten uitgespeeld zijn"; E34
        "replay_on_empty_pile": False,  # E15, E17; in an extended round as FRC
        "count_points": True,  # 000:251-263
        "extension_failure": 200,  # 000:245; to each opponent: E47
        "shutout_to_all_placed": True,  # 000:227-229, 000:263
    },
    "winning_moves": {
        "start_needs_roll": True,  # 002:184
        "roll_after_remedy": True,  # 002:98; any later turn: E32
        "roll_after_safety": False,  # 002:98 asks for the light after a Hilfekarte only; rules 1.3, E22
        "hazard_may_open": True,  # 002:147; the battle hazards: E30
        "opening_remedy_starts": True,  # 002:184 "ohne weitere Freie Fahrt"
        "play_out": True,  # 002:156; by turns: E33
        "replay_on_empty_pile": True,  # E15, E17
        "count_points": True,  # 002:113-143
        "extension_failure": 0,  # 002:29: the caller has no bonus, nobody else has one for it
        "shutout_to_all_placed": False,  # 002:140-143; E42
    },
    "dujardin": {
        "start_needs_roll": False,  # 001:11-12 without a condition: rules 0.1, first fact
        "roll_after_remedy": False,  # 001:100-102
        "roll_after_safety": False,  # 001:164-166
        "hazard_may_open": True,  # rules 1.7 (and 1.2: "yes"); 001:14-16 ask for nothing more
        "opening_remedy_starts": False,  # of no use: every remedy starts
        "play_out": False,  # cut; rules 1.4, FR14
        "replay_on_empty_pile": False,  # E17: in the very last turn no card to draw, no extra play
        "count_points": False,  # rules 1.5
        "extension_failure": 0,  # there is no extension
        "shutout_to_all_placed": True,  # if points are counted, then those of FRC: rules 1.5, last paragraph
    },
    "dujardin_2014": {
        "start_needs_roll": True,  # rules 0.1, FR14 possibility 1
        "roll_after_remedy": False,  # rules 0.1, FR14 (the original rule is its variante)
        "roll_after_safety": False,  # rules 1.3, FR14
        "hazard_may_open": False,  # rules 1.2, FR14: only the Limit
        "opening_remedy_starts": False,  # no hazard opens a pile
        "play_out": False,  # rules 1.4, FR14; E54
        "replay_on_empty_pile": False,  # E17
        "count_points": False,  # rules 1.5
        "extension_failure": 0,  # there is no extension
        "shutout_to_all_placed": True,  # if points are counted, then those of FRC: rules 1.5, last paragraph
    },
}

MODERN = ("dujardin", "dujardin_2014")  # 106 cards and 1000 km at every table


def _removed(edition: str, players: int) -> tuple[str, ...]:
    """Names the hazards that lose one card each (rules 0.2 "Reduced decks")."""
    if edition in MODERN or players not in (2, 3):
        return ()
    if edition == "winning_moves":
        return ("ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "SPEED_LIMIT")  # 002:25: Stop is not named
    return ("ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "STOP", "SPEED_LIMIT")  # 000:134; FRC 17; US rule A


def _cards(edition: str, players: int) -> dict[str, int]:
    """Counts the cards in play."""
    removed = _removed(edition, players)
    return {card: count - removed.count(card) for card, count in FULL_DECK.items()}


def _target(edition: str, players: int, teams: int) -> int:
    """Names the km of the trip (rules 1.1 "target")."""
    if edition in MODERN:
        return 1000  # 001:32; FR14
    if edition == "dutch":
        return 700 if players in (2, 3) else 1000  # 000:122: solo 700, teams 1000, six players too (E58)
    return 1000 if (players, teams) == (4, 2) else 700  # 002:27, 002:33, 002:156; FRC, US: three teams 700


@cache  # asked for at every decision
def rules_for(edition: str, players: int, teams: int) -> OracleRules:
    """Puts together the rules of an edition at one of its tables, or of a drawn sheet at any.

    Raises:
        ValueError: There is no such edition, or no such table in it.
    """
    if ":" in edition:
        return drawn_rules(edition, players, teams)
    if (players, teams) not in TABLES.get(edition, ()):
        raise ValueError(f"no table for {players} players in {teams} teams in the edition {edition!r}")
    target = _target(edition, players, teams)
    return OracleRules(
        edition=edition,
        players=players,
        teams=teams,
        cards=_cards(edition, players),
        target=target,
        # rules 1.1 "extension": wherever the trip is 700 km long (000:233, 002:29, 002:33; FRC, US); E44
        extended_target=1000 if target == 700 else None,
        replay_after_claim=EDITION_RULES[edition]["replay_on_empty_pile"],  # E15 as E17
        **EVERYWHERE | EDITION_RULES[edition],
    )


def drawn_rules(name: str, players: int, teams: int) -> OracleRules:
    """Reads the answers of a drawn sheet to the questions of `games.millebornes.rules.Rules`."""
    said = find_edition(name).table(players, teams)._asdict()
    return OracleRules(
        edition=name,
        players=players,
        teams=teams,
        cards={card: said[f"copies_of_{card.lower().removeprefix('distance_')}"] for card in FULL_DECK},
        hand_size=said["hand_limit"],
        target=said["target"],
        extended_target=said["extended_target"] or None,
        hazard_may_open=bool(said["hazard_opens_pile"]),
        opening_remedy_starts=bool(said["opening_remedy_starts"]),
        most_200s=said["max_200"],
        play_out=said["when_pile_is_empty"] == 0,
        replay_on_empty_pile=bool(said["replay_after_safety_when_empty"]),
        replay_after_claim=bool(said["replay_after_claim_when_empty"]),
        turn_follows_claim=bool(said["turn_follows_claim_when_empty"]),
        per_safety=said["points_per_safety"],
        all_safeties=said["points_all_safeties"],
        per_coup_fourre=said["points_per_coup_fourre"],
        trip_completed=said["points_trip_completed"],
        delayed_action=said["points_delayed_action"],
        safe_trip=said["points_safe_trip"],
        extension=said["points_extension"],
        extension_failure=said["points_extension_failed"],
        shutout=said["points_shutout"],
        shutout_to_all_placed=said["shutout_for"] == 1,
        **{option: bool(said[option]) for option in OPTIONS},
    )


def with_options(rules: OracleRules, options: dict[str, int]) -> OracleRules:
    """Replaces the values of some of the `OPTIONS`.

    Raises:
        ValueError: An option is unknown or neither 0 nor 1.
    """
    for name, value in options.items():
        if name not in OPTIONS or value not in (0, 1):
            raise ValueError(f"no option {name} = {value}")
    return dataclasses.replace(rules, **{name: bool(value) for name, value in options.items()})


def deck(edition: str, players: int, teams: int) -> list[str]:
    """Lists the cards in play at a table, unshuffled (rules 0.2)."""
    cards = rules_for(edition, players, teams).cards
    return [card for card, count in cards.items() for _ in range(count)]


class OracleTeam:
    """The display of one team, or of one player who plays for himself (004:7, 000:128, 001:35, 002:186).

    Attributes:
        rules: The rules that hold at the table.
        battle_pile: Battle hazards, their remedies and Rolls; the last card is the one that shows.
        speed_pile: Speed Limits and Ends of Limit; the last card is the one that shows.
        distance_pile: The distance cards laid.
        safeties: The safeties laid, however they were laid.
        coups_fourres: Those of the safeties that were laid as a coup fourré.
    """

    def __init__(self, rules: OracleRules) -> None:
        """Starts with an empty display."""
        self.rules = rules
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
        and waits for a Roll from then on (E22, where a Roll is needed after a safety).
        """
        top = self.battle_top()
        if top in BATTLE_HAZARDS and not self.is_safe_from(top):
            return top
        return None

    def has_right_of_way(self) -> bool:
        """Tells whether Right of Way is out."""
        return "RIGHT_OF_WAY" in self.safeties

    def is_moving(self) -> bool:
        """Tells whether the team rolls: E1, the one test for distances and for being open to attack.

        A Roll shows (004:13), or Right of Way is out (004:26, 000:113, 002:170) and no gas, tire or accident
        hazard is in force (E4): with it an empty area, a remedy and a cancelled hazard will do (E2, E5, E24).
        Otherwise the edition says whether an empty area or a remedy will do.
        """
        top = self.battle_top()
        if self.live_hazard() is not None:
            return False
        if top == "ROLL" or self.has_right_of_way():
            return True
        if top is None:
            started = self.rules.any_safety_starts and len(self.safeties) > 0  # E31
            return started or not self.rules.start_needs_roll
        if top in HAZARD_OF_REMEDY:
            return self.shows_opening_remedy() or not self.rules.roll_after_remedy
        return False  # a cancelled hazard

    def shows_opening_remedy(self) -> bool:
        """Tells whether the remedy that shows answers a hazard that opened the pile (002:184)."""
        return self.rules.opening_remedy_starts and len(self.battle_pile) == 2

    def is_limited(self) -> bool:
        """Tells whether a Speed Limit is in force (004:24; Right of Way lifts it, 004:26)."""
        return self.speed_top() == "SPEED_LIMIT" and not self.has_right_of_way()

    def may_lay_distance(self, card: str, target: int) -> bool:
        """Tells whether this distance card may be laid when the trip is `target` km long."""
        if not self.is_moving():
            return False  # 004:13
        if self.is_limited() and DISTANCE_KM[card] > 50:
            return False  # 000:35; 004:24, first sentence
        if card == "DISTANCE_200" and self.distance_pile.count(card) >= self.rules.most_200s:
            return False  # 001:86-88; 004:24, second sentence: for a player or team
        return self.km + DISTANCE_KM[card] <= target or not self.rules.exact_finish  # 004:30; E64

    def may_lay_remedy(self, card: str) -> bool:
        """Tells whether this remedy, Roll or End of Limit may be laid."""
        if card == "END_OF_LIMIT":
            return self.is_limited()  # 004:15, E26
        if card == "ROLL":
            return self.may_lay_roll()
        return self.live_hazard() == HAZARD_OF_REMEDY[card]  # 004:14, E27

    def may_lay_roll(self) -> bool:
        """Tells whether a Roll may be laid: on a Stop, and where the edition may need one (004:18, E25)."""
        top = self.battle_top()
        if top is None:
            return self.rules.start_needs_roll
        if top in HAZARD_OF_REMEDY:
            return self.rules.roll_after_remedy
        if top in BATTLE_HAZARDS:
            return top == "STOP" or self.live_hazard() is None  # or a cancelled hazard, E22
        return False

    def is_open_to(self, hazard: str) -> bool:
        """Tells whether an opponent may lay this hazard here.

        Never against the safety (004:16). A Speed Limit needs no moving target (001:92-94, 004:18) but does
        not go on another one (E28); the others need a moving target (004:16, 004:18, 000:195, E1), or an
        empty battle pile where a hazard may open one (002:147).
        """
        if self.is_safe_from(hazard):
            return False
        if hazard == "SPEED_LIMIT":
            blocked = self.rules.one_hazard_at_a_time and self.live_hazard() is not None  # E29
            return not self.is_limited() and not blocked
        if self.rules.one_hazard_at_a_time and self.is_limited():
            return False  # E29
        if self.rules.hazard_may_open and not self.battle_pile:
            return True
        if self.rules.attack_needs_roll and self.battle_top() != "ROLL" and not self.has_right_of_way():
            return False  # E55
        return self.is_moving()

    def take_hazard(self, hazard: str) -> None:
        """Lays a hazard on the pile it belongs to (004:9)."""
        if hazard == "SPEED_LIMIT":
            self.speed_pile.append(hazard)
        else:
            self.battle_pile.append(hazard)

    def lay_safety(self, card: str) -> list[str]:
        """Lays a safety out and returns the cards that go to the discard pile for it.

        Right of Way takes away a Stop and a Speed Limit that show (004:26, 000:73, E3, E6, E7). The others
        take away their hazard (000:97), or leave it, cancelled, where a Roll is still needed (E22).
        """
        self.safeties.append(card)
        removed: list[str] = []
        top = self.battle_top()
        stays = self.rules.roll_after_safety and top != "STOP"
        if top in BATTLE_HAZARDS and SAFETY_AGAINST[top] == card and not stays:
            removed.append(self.battle_pile.pop())
        if card == "RIGHT_OF_WAY" and self.speed_top() == "SPEED_LIMIT":
            removed.append(self.speed_pile.pop())
        return removed

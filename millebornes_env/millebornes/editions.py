"""One `Edition` per published rule sheet: data, not code.

A rule that differs between sheets is a named field of `Rules`, a tuple of ints that the chapters read
(`rules.roll_after_remedy`). An edition is one value for each field, with its source, and what changes from
table to table. Nothing else in the rulebook knows which edition is played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.compile import rule
from millebornes_env.errors import PlayersError, RulesError, UnknownEditionError
from millebornes_env.millebornes.cards import COUNTS, DISTANCE_200, NUM_CARD_TYPES, STOP, is_hazard

# Values of `Rules.when_pile_is_empty`.
PLAY_OUT: Final = 0
"""The cards in hand are played or discarded in turn until no hand is left."""
END_AFTER_TURN: Final = 1
"""The round ends with the turn in which the last card was drawn."""

# Values of `Rules.shutout_for`.
WINNER: Final = 0
"""Once, to the team that completed the trip, if no opponent laid a distance card."""
EVERY_PLACED_TEAM: Final = 1
"""For each opponent without a distance card, to every team that has one, won or not."""


class Rules(NamedTuple):
    """Every rule in which the sheets differ, as ints.

    Compiled code gets them as a record with the same fields (`rules_record`): passing so many values one
    by one from function to function was measured to cost more than the rules themselves.

    A field that answers a yes-or-no question is 1 or 0. The comments give the question, the sections of the
    rule comparison that discuss it and, for rulings, their number (E1 ... E64).
    """

    # the table (1.1)
    players: int  # seats
    teams: int  # tableaux; team = seat % teams, so partners sit opposite and the turn alternates (1.1)
    hand_limit: int  # cards dealt to each seat
    # the deck (0.2)
    remove_one_of_each_hazard: int  # one Accident, Out of Gas, Flat Tire and Speed Limit taken out?
    remove_one_stop: int  # and one Stop?
    # the trip (1.1, 1.2)
    target: int  # km to complete
    extended_target: int  # km after an extension; 0: no extension at this table
    exact_finish: int  # must the target be met exactly?
    max_200: int  # 200s that one team may lay
    # moving (1.2, 1.3)
    start_needs_roll: int  # must a Roll open the battle pile?
    any_safety_starts: int  # does any safety, not Right of Way only, replace that Roll? (E31)
    roll_after_remedy: int  # is a Roll needed on Repairs, Gasoline and Spare Tire?
    roll_after_safety: int  # and after a safety that was played on its hazard? (E22)
    hazard_opens_pile: int  # may a hazard begin an opponent's battle pile?
    opening_remedy_starts: int  # does the remedy on such a hazard start the car without a Roll?
    # playing (1.2)
    discard_only_if_stuck: int  # may a card be discarded only if none can be laid?
    # the empty draw pile (1.4)
    when_pile_is_empty: int  # PLAY_OUT or END_AFTER_TURN
    replay_after_safety_when_empty: int  # does a safety still give another play? (E17)
    replay_after_claim_when_empty: int  # does a coup fourré? (E15)
    # scoring (1.5)
    count_points: int  # 0: the round is won or lost, and the nearest wins if nobody finishes
    points_per_safety: int
    points_all_safeties: int  # on top of those
    points_per_coup_fourre: int  # on top of the safety's
    points_trip_completed: int
    points_delayed_action: int
    points_safe_trip: int
    points_extension: int  # to the caller who completes the trip
    points_extension_failed: int  # to each opponent of a caller who does not (E47)
    points_shutout: int
    shutout_for: int  # WINNER or EVERY_PLACED_TEAM (E42)
    goal: int  # points that decide the match


_YES_OR_NO: Final = (
    "remove_one_of_each_hazard",
    "remove_one_stop",
    "exact_finish",
    "start_needs_roll",
    "any_safety_starts",
    "roll_after_remedy",
    "roll_after_safety",
    "hazard_opens_pile",
    "opening_remedy_starts",
    "discard_only_if_stuck",
    "when_pile_is_empty",
    "replay_after_safety_when_empty",
    "replay_after_claim_when_empty",
    "count_points",
    "shutout_for",
)


@rule
def card_count(rules: Rules, card: int) -> int:
    """Copies of the card in the deck of this table.

    Rule: rules 0.2, reduced decks (101 cards with 2 and 3 players: one of each hazard is removed).
    """
    removed = 0
    if card == STOP:
        removed = rules.remove_one_stop
    elif is_hazard(card):
        removed = rules.remove_one_of_each_hazard
    return int(COUNTS[card]) - removed


@rule
def deck_size(rules: Rules) -> int:
    """Cards in the deck of this table."""
    size = 0
    for card in range(NUM_CARD_TYPES):
        size += card_count(rules, card)
    return size


@dataclass(frozen=True, kw_only=True)
class Edition:
    """A published rule sheet as data.

    Attributes:
        name: how code and command lines call it.
        title: what a person calls it.
        rules: the value of each rule at the sheet's first table.
        tables: what differs by table: for (players, teams) the fields of `Rules` with another value there.
            The first table with a given number of players is that number's default.
        sources: for each field of `Rules`, where the sheet, or the ruling, says so.
        changes: fields that a user has overridden with `replace`, so that saved results name them.
    """

    name: str
    title: str
    rules: Rules
    tables: Mapping[tuple[int, int], Mapping[str, int]]
    sources: Mapping[str, str]
    changes: Mapping[str, int] = field(default_factory=dict)

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of seats that the sheet has a table for."""
        return tuple(sorted({players for players, _ in self.tables}))

    def table(self, players: int, teams: int | None = None) -> Rules:
        """The rules at one table.

        Args:
            players: number of seats.
            teams: number of tableaux; None for the sheet's usual way to play with so many.

        Returns:
            The value of every rule.

        Raises:
            PlayersError: the sheet has no such table.
        """
        for (seats, sides), differences in self.tables.items():
            if seats == players and teams in (None, sides):
                at_table = self.rules._replace(players=seats, teams=sides, **differences)
                try:
                    return validated(at_table._replace(**self.changes))
                except RulesError as error:
                    raise RulesError(f"at the table of {players} players, {error}") from None
        known = ", ".join(f"{seats} players in {sides} teams" for seats, sides in self.tables)
        asked = f"{players} players" + ("" if teams is None else f" in {teams} teams")
        raise PlayersError(f"the edition {self.name!r} has no table for {asked}; it has: {known}")

    def replace(self, **changes: int) -> Edition:
        """The same edition with some rules overridden, e.g. `edition("parker").replace(max_200=4)`.

        Args:
            changes: fields of `Rules` with their new values, the same at every table.

        Returns:
            A new edition; `changes` and `label` name what was overridden.

        Raises:
            RulesError: an unknown field, or a value that makes no game at any table. (Where it makes none at
                some, `table` says so when that table is asked for.)
        """
        for name in changes:
            if name not in Rules._fields or name in ("players", "teams"):
                known = ", ".join(field for field in Rules._fields if field not in ("players", "teams"))
                raise RulesError(f"there is no rule {name!r} to override; the rules are: {known}")
        changed = dataclass_replace(self, changes={**self.changes, **changes})
        refusals = []
        for players, teams in self.tables:
            try:
                changed.table(players, teams)
            except RulesError as error:
                refusals.append(error)
        if len(refusals) == len(self.tables):
            raise refusals[0]
        return changed

    @property
    def label(self) -> str:
        """The name, with what was overridden: `parker` or `parker+max_200=4`."""
        return "+".join([self.name, *(f"{name}={value}" for name, value in sorted(self.changes.items()))])


RULES: Final = np.dtype([(name, np.int64) for name in Rules._fields])
"""The structured dtype of `Rules`."""


def rules_record(rules: Rules) -> npt.NDArray[np.void]:
    """The rules as an array of one record, which compiled code can read.

    Returns:
        `RULES[1]`; its element 0 has the fields of `Rules` as attributes, compiled or not.
    """
    return np.array([tuple(rules)], dtype=RULES).view(np.recarray)


def validated(rules: Rules) -> Rules:
    """The rules as given, if they make a game.

    Raises:
        RulesError: they do not; the message names the field and what it may be.
    """
    for name in _YES_OR_NO:
        if getattr(rules, name) not in (0, 1):
            raise RulesError(f"the rule {name} is {getattr(rules, name)!r}: it may be 0 or 1")
    for name, value in rules._asdict().items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise RulesError(f"the rule {name} is {value!r}: it must be a whole number, 0 or more")
        if name.startswith("points_") and value > _MOST_POINTS:
            raise RulesError(f"the rule {name} is {value}: it may be at most {_MOST_POINTS}")
    if rules.goal > _HIGHEST_GOAL:
        raise RulesError(f"the rule goal is {rules.goal}: it may be at most {_HIGHEST_GOAL}")
    _check_trip(rules)
    dealt = rules.hand_limit * rules.players
    if not rules.hand_limit >= 1 or dealt >= deck_size(rules):
        raise RulesError(
            f"hand_limit is {rules.hand_limit}: {rules.players} hands of it need {dealt} cards, "
            f"and the deck of {deck_size(rules)} must leave some to draw"
        )
    return rules


def _check_trip(rules: Rules) -> None:
    for name, km in (("target", rules.target), ("extended_target", rules.extended_target)):
        if km % 25 or km > _LONGEST_TRIP or (name == "target" and km == 0):
            raise RulesError(f"{name} is {km} km: it must be a multiple of 25, at most {_LONGEST_TRIP}")
    if rules.extended_target and rules.extended_target <= rules.target:
        raise RulesError(
            f"extended_target is {rules.extended_target} km: it must be more than target "
            f"({rules.target} km), or 0 for no extension"
        )
    if rules.max_200 > COUNTS[DISTANCE_200]:
        raise RulesError(f"max_200 is {rules.max_200}: the deck holds {COUNTS[DISTANCE_200]} of them")


_LONGEST_TRIP: Final = 2500
"""So that km in 25s fit the observation's int8."""
_MOST_POINTS: Final = 1000
_HIGHEST_GOAL: Final = 10_000
"""So that totals fit the record's int16 with room for the last round."""

PARKER: Final = Edition(
    name="parker",
    title="Parker Brothers and Winning Moves USA",
    rules=Rules(
        players=2,
        teams=2,
        hand_limit=6,
        remove_one_of_each_hazard=1,
        remove_one_stop=1,
        target=700,
        extended_target=1000,
        exact_finish=1,
        max_200=2,
        start_needs_roll=1,
        any_safety_starts=0,
        roll_after_remedy=1,
        roll_after_safety=1,
        hazard_opens_pile=0,
        opening_remedy_starts=0,
        discard_only_if_stuck=0,
        when_pile_is_empty=PLAY_OUT,
        replay_after_safety_when_empty=1,
        replay_after_claim_when_empty=1,
        count_points=1,
        points_per_safety=100,
        points_all_safeties=300,
        points_per_coup_fourre=300,
        points_trip_completed=400,
        points_delayed_action=300,
        points_safe_trip=300,
        points_extension=200,
        points_extension_failed=200,
        points_shutout=500,
        shutout_for=WINNER,
        goal=5000,
    ),
    tables={
        (2, 2): {},
        (3, 3): {},
        (4, 2): {
            "target": 1000,
            "extended_target": 0,
            "remove_one_of_each_hazard": 0,
            "remove_one_stop": 0,
        },
        (6, 3): {"remove_one_of_each_hazard": 0, "remove_one_stop": 0},
    },
    sources={
        "players": "US: 2, 3, 4 or 6 players (rules 1.1)",
        "teams": "US: partners sit opposite; 6 are three pairs (rules 1.1)",
        "hand_limit": "004:5",
        "remove_one_of_each_hazard": "US: rules for 2 or 3 players, A (rules 0.2)",
        "remove_one_stop": "US: rules for 2 or 3 players, A (rules 0.2)",
        "target": "004:30; US: rules for 2 or 3 players, B; for 6 players, B (rules 1.1)",
        "extended_target": "US: rules for 2 or 3 players, C; for 6 players, C (rules 1.1)",
        "exact_finish": "004:30",
        "max_200": "004:24",
        "start_needs_roll": "004:13",
        "any_safety_starts": "004:26 (Right of Way only); E31",
        "roll_after_remedy": "004:20",
        "roll_after_safety": "004:22; E22",
        "hazard_opens_pile": "004:18",
        "opening_remedy_starts": "does not arise: no hazard opens a pile (004:18)",
        "discard_only_if_stuck": "004:28",
        "when_pile_is_empty": "004:35-37",
        "replay_after_safety_when_empty": "E17",
        "replay_after_claim_when_empty": "E15",
        "count_points": "US: scoring (rules 1.5)",
        "points_per_safety": "US: scoring (rules 1.5)",
        "points_all_safeties": "US: scoring (rules 1.5)",
        "points_per_coup_fourre": "US: scoring (rules 1.5)",
        "points_trip_completed": "US: scoring (rules 1.5)",
        "points_delayed_action": "US: scoring (rules 1.5); E37",
        "points_safe_trip": "US: scoring (rules 1.5); E39",
        "points_extension": "US: rules for 2 or 3 players, C (rules 1.5)",
        "points_extension_failed": "US: rules for 2 or 3 players, C; E47",
        "points_shutout": "US: scoring (rules 1.5)",
        "shutout_for": "US: scoring (rules 1.5); E42",
        "goal": "US: winning the game (rules 1.5)",
    },
)

_EDITIONS: Final[Mapping[str, Edition]] = {edition.name: edition for edition in (PARKER,)}


def editions() -> tuple[str, ...]:
    """The names of all editions."""
    return tuple(_EDITIONS)


def edition(name: str | Edition) -> Edition:
    """The edition of that name (an `Edition` is returned as it is).

    Raises:
        UnknownEditionError: there is none; the message lists those there are.
    """
    if isinstance(name, Edition):
        return name
    if str(name) not in _EDITIONS:
        raise UnknownEditionError(f"there is no edition {name!r}; the editions are: {', '.join(_EDITIONS)}")
    return _EDITIONS[name]

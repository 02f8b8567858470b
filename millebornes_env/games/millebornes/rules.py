"""Every rule in which the rule sheets differ, as a tuple of ints; `rule_checks` validates them.

The annotation of each field of `Rules` has the question that it answers, the meanings of its values and its
unit in observations. Nothing else in the rulebook depends on the edition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple, NewType, cast, get_type_hints

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import for_kernels, literal_unroll, rule
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.sheets import NO_OR_YES

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


class Field(NamedTuple):
    """The meaning of a field of `Rules`.

    Attributes:
        question: the question that the field answers, with the ruling (E1 ... E64) if there is one.
        choices: meanings of the values 0, 1, ...; empty for a number.
        unit: unit of the value in observations, rounded down, so that it fits an int8.
    """

    question: str
    choices: tuple[str, ...] = ()
    unit: int = 1


class Rules(NamedTuple):
    """Every rule in which the sheets differ.

    Compiled code gets them as a record with the same fields (`RulesRecord`): passing this many values from
    function to function was measured to cost more than the rules themselves.
    """

    # The table (rules 1.1)
    players: Annotated[int, Field("seats")]
    teams: Annotated[int, Field("teams; that of a seat is seat % teams, so partners alternate")]
    hand_limit: Annotated[int, Field("cards dealt to each seat")]
    # The deck (0.2)
    copies_of_25: Annotated[int, Field("copies of 25 km in the deck")]
    copies_of_50: Annotated[int, Field("copies of 50 km")]
    copies_of_75: Annotated[int, Field("copies of 75 km")]
    copies_of_100: Annotated[int, Field("copies of 100 km")]
    copies_of_200: Annotated[int, Field("copies of 200 km")]
    copies_of_accident: Annotated[int, Field("copies of Accident")]
    copies_of_out_of_gas: Annotated[int, Field("copies of Out of gas")]
    copies_of_flat_tire: Annotated[int, Field("copies of Flat tire")]
    copies_of_stop: Annotated[int, Field("copies of Stop")]
    copies_of_speed_limit: Annotated[int, Field("copies of Speed limit")]
    copies_of_repairs: Annotated[int, Field("copies of Repairs")]
    copies_of_gasoline: Annotated[int, Field("copies of Gasoline")]
    copies_of_spare_tire: Annotated[int, Field("copies of Spare tire")]
    copies_of_roll: Annotated[int, Field("copies of Roll")]
    copies_of_end_of_limit: Annotated[int, Field("copies of End of limit")]
    copies_of_driving_ace: Annotated[int, Field("copies of Driving ace")]
    copies_of_extra_tank: Annotated[int, Field("copies of Extra tank")]
    copies_of_puncture_proof: Annotated[int, Field("copies of Puncture proof")]
    copies_of_right_of_way: Annotated[int, Field("copies of Right of way")]
    # The trip (1.1, 1.2)
    target: Annotated[int, Field("km to complete", unit=25)]
    extended_target: Annotated[int, Field("km after an extension; 0: there is none", unit=25)]
    exact_finish: Annotated[int, Field("must the target be met exactly?", NO_OR_YES)]
    max_200: Annotated[int, Field("200s that one team may lay")]
    # Moving (1.2, 1.3)
    start_needs_roll: Annotated[int, Field("must a Roll open the battle pile?", NO_OR_YES)]
    any_safety_starts: Annotated[
        int, Field("may any safety, not Right of Way only, replace that Roll? (E31)", NO_OR_YES)
    ]
    roll_after_remedy: Annotated[
        int, Field("is a Roll needed on Repairs, Gasoline and Spare Tire?", NO_OR_YES)
    ]
    roll_after_safety: Annotated[
        int, Field("is a Roll needed after a safety played on its hazard? (E22)", NO_OR_YES)
    ]
    # Attacking (1.2)
    hazard_opens_pile: Annotated[int, Field("may a hazard begin an opponent's battle pile?", NO_OR_YES)]
    opening_remedy_starts: Annotated[
        int, Field("does the remedy on such a hazard start the car, without a Roll? (E30)", NO_OR_YES)
    ]
    attack_needs_roll: Annotated[
        int, Field("is a team that rolls on a mere remedy safe from battle hazards? (E55)", NO_OR_YES)
    ]
    one_hazard_at_a_time: Annotated[
        int, Field("do Speed Limit and battle hazards keep each other away? (E29)", NO_OR_YES)
    ]
    # Playing (1.2)
    discard_only_if_stuck: Annotated[
        int, Field("may a card be discarded only if none can be laid?", NO_OR_YES)
    ]
    discard_safeties: Annotated[int, Field("may a safety be discarded? (E21)", NO_OR_YES)]
    # The empty draw pile (1.4)
    when_pile_is_empty: Annotated[
        int, Field("what happens when the draw pile is empty?", ("play_out", "end_after_turn"))
    ]
    play_out_after_extension: Annotated[
        int, Field("are the hands played out after all if an extension was called? (E34)", NO_OR_YES)
    ]
    end_when_stuck: Annotated[
        int, Field("does the round then end as soon as no hand holds a card that can be laid?", NO_OR_YES)
    ]
    replay_after_safety_when_empty: Annotated[
        int, Field("does a safety then still give another play? (E17)", NO_OR_YES)
    ]
    replay_after_claim_when_empty: Annotated[int, Field("does a coup fourré? (E15)", NO_OR_YES)]
    turn_follows_claim_when_empty: Annotated[
        int, Field("if not, does the turn go on to the left of the responder? (E16)", NO_OR_YES)
    ]
    # Scoring (1.5)
    count_points: Annotated[
        int, Field("are points counted? If not, a round is won or lost, a match one round", NO_OR_YES)
    ]
    safeties_break_tie: Annotated[
        int, Field("without points: do more safeties decide between equal km? (E53)", NO_OR_YES)
    ]
    points_per_safety: Annotated[int, Field("points for each safety laid", unit=10)]
    points_all_safeties: Annotated[int, Field("points for all four of them, on top", unit=10)]
    points_per_coup_fourre: Annotated[
        int, Field("points for each coup fourré, on top of the safety's", unit=10)
    ]
    points_trip_completed: Annotated[int, Field("points for completing the trip", unit=10)]
    points_delayed_action: Annotated[
        int, Field("points for completing it with the draw pile empty (E37)", unit=10)
    ]
    points_safe_trip: Annotated[int, Field("points for completing it without a 200 (E39)", unit=10)]
    points_extension: Annotated[int, Field("points to the caller of an extension who completes it", unit=10)]
    points_extension_failed: Annotated[
        int, Field("points to each opponent of a caller who does not (E47)", unit=10)
    ]
    failed_extension_forfeits_bonuses: Annotated[
        int, Field("does such a caller score nothing but km? (E48)", NO_OR_YES)
    ]
    points_shutout: Annotated[int, Field("points for a shut-out", unit=10)]
    shutout_for: Annotated[
        int, Field("who is paid for a shut-out? (E42, E43)", ("winner", "every_placed_team"))
    ]
    goal: Annotated[int, Field("points that decide the match (E52)", unit=100)]

    @property
    def deck(self) -> tuple[int, ...]:
        """Copies of each card, by card id; also a field of the record."""
        return tuple(self[_FIRST_COPIES : _FIRST_COPIES + NUM_CARD_TYPES])

    @property
    def observed(self) -> Any:  # a tuple; in a record an array
        """The values in observations: in units, rounded down, at most 127; also a field of the record."""
        return tuple(min(value // FIELDS[name].unit, _MAX_INT8) for name, value in self._asdict().items())


FIELDS: Final[Mapping[str, Field]] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Rules, include_extras=True).items()
}
"""The meaning of each field of `Rules`."""

TABLE_FIELDS: Final = ("players", "teams")
"""The fields that are chosen with the table and cannot be overridden."""

_FIRST_COPIES: Final = Rules._fields.index("copies_of_25")

RULES: Final = np.dtype(
    [(name, np.int64) for name in Rules._fields if not name.startswith("copies_of_")]
    + [("deck", np.int64, (NUM_CARD_TYPES,)), ("observed", np.int8, (len(Rules._fields),))]
)
"""The structured dtype of `Rules`: its fields (with an array in place of the copies of each card), and their
row in observations. Every additional field makes compilation slower."""


RulesRecord = NewType("RulesRecord", Rules)
"""The rules of a table for compiled code: one record of `RULES`; a separate type for type checkers.

It has the same attributes as the tuple, with arrays for `deck` and `observed`. Passing the tuple to a kernel
would compile the kernel again for it, and pass every field separately.
"""

AnyRules = Rules
"""The rules in either form, for functions that Python also calls with the tuple."""

_MAX_INT8: Final = 127
_SINGLE_FIELDS: Final = tuple(name for name in Rules._fields if not name.startswith("copies_of_"))
_SINGLE_INDICES: Final = np.array([Rules._fields.index(name) for name in _SINGLE_FIELDS])
UNITS: Final = np.array([field.unit for field in FIELDS.values()])


@rule
def card_count(rules: AnyRules, card: int) -> int:
    """Return the number of copies of the card in the deck of this table (rules 0.2)."""
    return int(rules.deck[card])


@rule
def deck_size(rules: AnyRules) -> int:
    """Return the number of cards in the deck of this table."""
    size = 0
    for card in range(NUM_CARD_TYPES):
        size += card_count(rules, card)
    return size


def rules_array(rules: Rules) -> npt.NDArray[np.void]:
    """Return the rules as `RULES[1]`, since parallel kernels take arrays but no records."""
    row = tuple(getattr(rules, name) for name in RULES.names or ())
    return np.array([row], dtype=RULES).view(np.recarray)


def rules_record(rules: Rules) -> RulesRecord:
    """Return the record of the rules, with attributes for plain Python."""
    return cast("RulesRecord", rules_array(rules)[0])


def rules_of_record(record: RulesRecord) -> Rules:
    """Return the rules as a tuple of ints."""
    values = {name: int(getattr(record, name)) for name in _SINGLE_FIELDS}
    copies = dict(zip(Rules._fields[_FIRST_COPIES:], map(int, record.deck), strict=False))
    return Rules(**values | copies)


@rule
def write_rules(rules: Any, values: npt.NDArray[np.int64]) -> None:
    """Write the rules from int64[56], in the order of the fields of `Rules`, as `rules_array` does."""
    index = 0
    for name in literal_unroll(_SINGLE_FIELDS):
        rules[name] = values[int(_SINGLE_INDICES[index])]
        index += 1  # noqa: SIM113 - enumerate does not compile here
    for card in range(NUM_CARD_TYPES):
        rules.deck[card] = values[_FIRST_COPIES + card]
    for field in range(len(UNITS)):
        rules.observed[field] = min(values[field] // int(UNITS[field]), _MAX_INT8)


def compiled_rules(rules: Rules) -> RulesRecord:
    """Return the record of the rules for kernels, which is faster to pass than one with attributes."""
    return cast("RulesRecord", for_kernels(rules_array(rules))[0])

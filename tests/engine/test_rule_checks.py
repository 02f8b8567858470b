"""Rules that make a game: compiled checks and plain Python agree."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env.errors import EditionError
from millebornes_env.games.millebornes import rule_checks
from millebornes_env.games.millebornes.cards import DISTANCE_200, KM, NUM_DISTANCES
from millebornes_env.games.millebornes.editions import edition, editions, mini_decks
from millebornes_env.games.millebornes.rule_checks import NO_PROBLEM, limits, validated
from millebornes_env.games.millebornes.rules import FIELDS, TABLE_FIELDS, Rules
from tests.each import each

COPIES = Rules._fields[Rules._fields.index("copies_of_25") :][:NUM_DISTANCES]


def sums(rules: Rules) -> set[int]:
    """Return all sums of the distance cards that one team may play."""
    result = {0}
    for card in range(NUM_DISTANCES):
        most = rules.max_200 if card == DISTANCE_200 else rules.deck[card]
        result |= {km + int(KM[card]) * count for km in result for count in range(1, most + 1)}
    return result


def test_a_trip_is_possible_if_cards_add_up_to_it() -> None:
    random = np.random.default_rng(5)
    seen = set()
    for _ in range(300):
        copies = random.integers(0, 4, NUM_DISTANCES).tolist()
        target, exact = 25 * int(random.integers(1, 40)), int(random.integers(2))
        changes = dict(zip(COPIES, copies, strict=True))
        rules = edition("parker").table(2)._replace(**changes, max_200=copies[DISTANCE_200])
        rules = rules._replace(target=target, extended_target=0, exact_finish=exact)
        reached = sums(rules)
        expected = target in reached or (exact == 0 and max(reached) >= target)
        assert (rule_checks._problem_of(rules) == NO_PROBLEM) == expected, rules
        seen.add((expected, exact))
    assert len(seen) == 4


NO_STARTERS = dict.fromkeys(
    (f"copies_of_{card}" for card in ("roll", "right_of_way", "driving_ace", "extra_tank", "puncture_proof")),
    0,
)


@each(
    ("changes", "starts"),
    [
        ({}, False),
        ({"copies_of_roll": 1}, True),
        ({"copies_of_right_of_way": 1}, True),
        ({"start_needs_roll": 0}, True),
        ({"any_safety_starts": 1}, False),
        ({"copies_of_extra_tank": 1}, False),
        ({"any_safety_starts": 1, "copies_of_extra_tank": 1}, True),
        ({"roll_after_remedy": 0}, False),
        ({"hazard_opens_pile": 1}, False),
        ({"hazard_opens_pile": 1, "roll_after_remedy": 0}, True),
        ({"hazard_opens_pile": 1, "opening_remedy_starts": 1}, True),
        (
            {"hazard_opens_pile": 1, "opening_remedy_starts": 1}
            | {"copies_of_accident": 0, "copies_of_gasoline": 0, "copies_of_spare_tire": 0},
            False,
        ),
    ],
)
def test_a_card_of_the_deck_must_start_a_car(changes: dict[str, int], starts: bool) -> None:
    rules = edition("parker").table(2)._replace(**NO_STARTERS | changes)
    if starts:
        assert validated(rules) == rules
    else:
        with pytest.raises(EditionError, match=r"no team can ever move: start_needs_roll is 1 \(yes\), and"):
            validated(rules)


def test_the_values_of_every_sheet_are_within_what_a_form_allows() -> None:
    for name in (*editions(), *mini_decks()):
        for table in edition(name).tables:
            for field, value in edition(name).table(*table)._asdict().items():
                if field not in TABLE_FIELDS:
                    least, most, step = limits(field)
                    assert least <= value <= most, (name, field)
                    assert value % step == 0, (name, field)


@each("field", [name for name in FIELDS if name not in TABLE_FIELDS])
def test_what_a_form_does_not_allow_makes_no_game(field: str) -> None:
    rules = edition("parker").table(2)
    with pytest.raises(EditionError, match=f"{field}|the deck has"):
        validated(rules._replace(**{field: limits(field).most + limits(field).step}))

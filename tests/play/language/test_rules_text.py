"""The rules in words follow from the values of the rules: where one changes the game, the text changes."""

from __future__ import annotations

from millebornes_env import edition, editions
from millebornes_env.games.millebornes.editions import OVERRIDABLE
from millebornes_env.games.millebornes.rules import FIELDS
from millebornes_env.play.language.millebornes_rules import rules_text

# What has to be so for a rule to matter; where nothing stands here, it matters at `parker`.
MATTERS_WITH: dict[str, dict[str, int]] = {
    "any_safety_starts": {"start_needs_roll": 1},
    "opening_remedy_starts": {"hazard_opens_pile": 1, "roll_after_remedy": 1},
    "play_out_after_extension": {"when_pile_is_empty": 1, "extended_target": 1000},
    "turn_follows_claim_when_empty": {"replay_after_claim_when_empty": 0},
    "safeties_break_tie": {"count_points": 0},
}
OTHER_VALUES = {"target": 900, "extended_target": 0, "max_200": 4, "hand_limit": 5, "goal": 3000}


def test_every_rule_is_told() -> None:
    untold = []
    for field in OVERRIDABLE:
        usual = edition("parker").replace(**MATTERS_WITH.get(field, {}))
        value = getattr(usual.table(2), field)
        other = OTHER_VALUES.get(field, 1 - value if FIELDS[field].choices else max(0, value - 1))
        changed = usual.replace(**{field: other})
        if rules_text(usual.table(2), "match") == rules_text(changed.table(2), "match"):
            untold.append(f"{field} is {value} or {other}, and the text is the same")
    assert not untold


def test_points_are_not_told_where_none_are_counted() -> None:
    usual = edition("dujardin")
    fields = [name for name in OVERRIDABLE if name.startswith("points_")]
    text = rules_text(usual.table(2), "round")
    told = [field for field in fields if rules_text(usual.replace(**{field: 990}).table(2), "round") != text]
    assert fields
    assert not told


def test_every_table_of_every_edition_has_a_text_of_its_own() -> None:
    texts: dict[str, tuple[object, ...]] = {}
    for name in editions():
        for table in edition(name).tables:
            rules = edition(name).table(*table)
            text = rules_text(rules, "round")
            assert "_" not in text
            assert "None" not in text
            other = texts.setdefault(text, tuple(rules))
            assert other == tuple(rules), "two tables with other rules have the same text"


def test_the_words_are_those_of_the_table() -> None:
    text = rules_text(edition("parker").table(6), "match")
    assert "6 players; in 3 teams of 2." in text
    assert "You play against: opponents 1 and 3, opponents 2 and 4." in text
    assert "Rounds are played until a team has 5000 points or more" in text
    text = rules_text(edition("dujardin").table(2), "round")
    assert "A team with an empty battle pile is moving." in text
    assert "points" not in text
    assert "EXTENSION" not in text

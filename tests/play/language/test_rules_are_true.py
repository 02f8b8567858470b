"""The rules in words agree with the rulebook: sentence by sentence, with sheets that differ."""

from __future__ import annotations

from typing import NamedTuple

from millebornes_env import edition, editions
from millebornes_env.errors import NotationError
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.state import ROUND_OVER
from millebornes_env.notation import read_record, replay
from millebornes_env.play.language.millebornes_rules import rules_text
from tests.each import each
from tests.support import Position

FLIPPED = (
    *("exact_finish", "start_needs_roll", "any_safety_starts", "roll_after_remedy", "roll_after_safety"),
    *("hazard_opens_pile", "attack_needs_roll", "one_hazard_at_a_time", "discard_only_if_stuck"),
    "discard_safeties",
)


def sheets() -> list[Edition]:
    """All editions, and two that differ much with one rule of those above the other way, or several."""
    result = [edition(name) for name in editions()]
    for sheet in (edition("parker"), edition("dujardin")):
        result += [sheet.replace(**{field: 1 - getattr(sheet.table(2), field)}) for field in FLIPPED]
        result.append(sheet.replace(hazard_opens_pile=1, roll_after_remedy=1, opening_remedy_starts=1))
    parker = edition("parker")
    result.append(parker.replace(any_safety_starts=1, opening_remedy_starts=1))
    result.append(parker.replace(start_needs_roll=0, attack_needs_roll=1))
    return result


class Claim(NamedTuple):
    """A sentence of the text, and a play that is legal in a position if and only if it stands there.

    Attributes:
        sentence: or a part of one.
        lines: of the position.
        play: of seat 0.
        is_allowed: whether the play is legal where the sentence stands.
        needs: other sentences without which the position says nothing about this one.
    """

    sentence: str
    lines: tuple[str, ...]
    play: str
    is_allowed: bool
    needs: tuple[str, ...] = ()


ROLLS = "battle 0: roll"
CLAIMS = (
    Claim("A team with an empty battle pile is moving.", ("hand 0: 25 stop",), "play 25", True),
    Claim(
        "With a safety of any kind before it, a team with an empty battle pile moves",
        ("hand 0: 25 stop", "safeties 0: extra_tank"),
        "play 25",
        True,
        needs=("A team with an empty battle pile is not moving",),
    ),
    Claim("or on an empty battle pile", ("hand 0: roll stop",), "play roll", True),
    Claim(
        "or on Repairs, Gasoline or Spare tire", ("battle 0: repairs", "hand 0: roll stop"), "play roll", True
    ),
    Claim(
        "or on a hazard that a safety has cancelled",
        ("battle 0: accident on roll", "safeties 0: driving_ace", "hand 0: roll stop"),
        "play roll",
        True,
    ),
    Claim(
        "With Repairs, Gasoline or Spare tire on top of its battle pile a team is moving.",
        ("battle 0: repairs", "hand 0: 25 stop"),
        "play 25",
        True,
    ),
    Claim(
        "But where a hazard began the battle pile, the remedy on it is enough",
        ("battle 0: repairs (opened by a hazard)", "covered 0: accident", "hand 0: 25 stop"),
        "play 25",
        True,
        needs=("Spare tire a Roll has to be laid",),
    ),
    Claim(
        "A team with a hazard on top of its battle pile is not moving.",
        ("battle 0: accident on roll", "hand 0: 25 stop"),
        "play 25",
        False,
    ),
    Claim(
        "it moves unless a hazard is on top",
        ("battle 0: gasoline", "safeties 0: right_of_way", "hand 0: 25 stop"),
        "play 25",
        True,
    ),
    Claim(
        "Under a Speed limit a team may lay 25 km and 50 km only.",
        (ROLLS, "speed 0: speed_limit", "hand 0: 75 stop"),
        "play 75",
        False,
    ),
    Claim(
        "A team may lay 2 cards of 200 km in a round at most.",
        (ROLLS, "distance 0: 2x200", "hand 0: 200 stop"),
        "play 200",
        False,
    ),
    Claim(
        "or more: the last card may take you beyond it",
        (ROLLS, "distance 0: 2x200 2x100 75", "hand 0: 50 stop"),
        "play 50",
        True,
        needs=("of 700 km in all",),
    ),
    Claim(
        "They can be laid on an empty battle pile, too.",
        ("hand 0: stop 25",),
        "play stop",
        True,
        needs=("A team with an empty battle pile is not moving",),
    ),
    Claim(
        "But not against a team that moves with no Roll on top",
        ("hand 0: stop 25",),
        "play stop",
        False,
        needs=("A team with an empty battle pile is moving.",),
    ),
    Claim(
        "But not against a team that moves with",
        ("battle 1: repairs", "hand 0: stop 25"),
        "play stop",
        False,
        needs=("With Repairs, Gasoline or Spare tire on top of its battle pile a team is moving.",),
    ),
    Claim(
        "A team under a Speed limit can be given no other hazard",
        ("battle 1: roll", "speed 1: speed_limit", "hand 0: stop 25"),
        "play stop",
        False,
    ),
    Claim(
        "and a team that a hazard stops no Speed limit",
        ("battle 1: stop on roll", "hand 0: speed_limit 25"),
        "play speed_limit",
        False,
    ),
    Claim(
        "No hazard can be laid against a team that has laid the safety against it.",
        ("battle 1: roll", "safeties 1: right_of_way", "hand 0: stop 25"),
        "play stop",
        False,
    ),
    Claim("or discard one.", (ROLLS, "hand 0: 25 stop"), "discard stop", True),
    Claim(
        "Safeties cannot be discarded.",
        ("hand 0: extra_tank",),
        "discard extra_tank",
        False,
        needs=("or discard one.",),
    ),
    Claim(
        "A safety can be laid in any turn of your own.", ("hand 0: extra_tank stop",), "play extra_tank", True
    ),
)
"""A claim whose sentence stands in every text is checked only where it stands."""


def is_allowed(claim: Claim, sheet: Edition) -> bool:
    """Return True if the play is legal; False also if there is no such position."""
    try:
        return Position(*claim.lines, edition=sheet).can(claim.play)
    except NotationError:
        return False


@each("claim", CLAIMS)
def test_a_claim_holds_where_it_is_made_and_only_there(claim: Claim) -> None:
    texts = [(sheet, rules_text(sheet.table(2), "round")) for sheet in sheets()]
    asked = [(sheet, text) for sheet, text in texts if all(one in text for one in claim.needs)]
    assert any(claim.sentence in text for _, text in asked), "no sheet makes this claim"
    for sheet, text in asked:
        stands = claim.sentence in text
        result = is_allowed(claim, sheet)
        assert result == (claim.is_allowed == stands), (
            f"{sheet.label}: {claim.sentence!r} stands there: {stands}"
        )


def test_play_goes_on_after_a_coup_fourre_with_the_pile_empty_where_the_rules_say_so() -> None:
    for name in editions():
        for label in (name, f"{name}+replay_after_claim_when_empty=0"):
            record = read_record(
                f"edition: {label}\nbattle 1: roll\nstream 0: none\nstream 1: none\nhand 0: stop 25\n"
                "hand 1: right_of_way 50 75\ndiscard pile: ...\nto act: seat 0, play\n"
                "plays:\nseat 0: stop against team 1\nseat 1: claim\n"
            )
            *_, end = replay(record)
            text = rules_text(record.position.rules, "round")
            _, is_told, after = text.partition("A coup fourré with the draw pile empty gives no play")
            goes_on = after.startswith(": play continues") or not is_told
            assert goes_on == (int(end["phase"][0]) != ROUND_OVER), label

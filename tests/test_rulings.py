"""Every ruling has a position that shows it: loaded and played at the table, as by its link."""

from __future__ import annotations

from typing import Any

from docs.site.rulings import Example, examples, rulings
from millebornes_env.play.web.table import CardTable
from tests.each import each


def reached(one: Example, edition: str) -> tuple[str, dict[str, Any]]:
    """The position after the plays, as text and as the table shows it."""
    table = CardTable()
    table.load(one.text(edition), one.episode)
    view = table.goto(len(one.plays))
    return table.save()["text"], view | {"hands": [seat["hand_size"] for seat in table.position()["seats"]]}


@each(
    "one, edition",
    [(one, edition) for several in examples().values() for one in several for edition in one.editions],
)
def test_a_position_shows_what_the_ruling_says(one: Example, edition: str) -> None:
    text, view = reached(one, edition)
    may = {choice["notation"].partition(": ")[2] or choice["notation"] for choice in view["legal"]}
    assert set(one.legal) <= may
    assert not set(one.illegal) & may
    assert not set(one.lines) - set(text.splitlines()), text
    assert one.to_draw in (None, view["draw_pile"])
    assert one.hands in ([], view["hands"])
    assert one.winners in (None, view["winners"])


def test_every_ruling_has_a_position() -> None:
    assert list(examples()) == list(rulings())
    for several in examples().values():
        for one in several:
            checks = (one.legal, one.illegal, one.lines, one.hands, one.winners)
            assert any(checks) or one.to_draw is not None

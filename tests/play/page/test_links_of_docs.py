"""Links of the documentation site open in the page."""

from __future__ import annotations

from typing import Any

from docs.site import positions
from docs.site.rulings import examples
from tests.play.page.test_page import Opened

FIRST_WITH = {
    "a position": next(one for one in examples()["E2"]),
    "a record": next(one for one in examples()["E32"]),
}


OPEN_HANDS = """
const isOpen = () => document.querySelector("#looking:not([hidden])") !== null;
new MutationObserver(() => { globalThis.wereHandsOpen ||= isOpen(); })
  .observe(document, { subtree: true, childList: true, attributes: true });
"""
"""Notes whether the table was ever shown as one steps through it, with the cards of all seats."""


def opened_at(opened: Opened, text: str, first: str = "") -> Any:
    """The page where a link of the docs leads."""
    return opened(hash_=positions.link(text).removeprefix("table/index.html"), first=first)


def test_a_position_of_a_ruling_is_played_on(opened: Opened) -> None:
    one = FIRST_WITH["a position"]
    page = opened_at(opened, one.text(one.editions[0]), OPEN_HANDS)
    page.wait_for_selector("#hand .card")
    assert page.locator("#hand .card").count() == 7
    assert not page.locator("dialog[open]").count()
    assert not page.evaluate("globalThis.wereHandsOpen"), "the other hands were shown before one sat down"


def test_a_record_of_a_ruling_is_stepped_through(opened: Opened) -> None:
    one = FIRST_WITH["a record"]
    page = opened_at(opened, one.text(one.editions[0]), OPEN_HANDS)
    page.click("[data-step='Last position']")
    page.wait_for_selector("text=8 / 8")
    assert not page.locator("dialog[open]").count()
    assert page.evaluate("globalThis.wereHandsOpen")

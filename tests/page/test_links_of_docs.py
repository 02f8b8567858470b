"""What the documentation site links to opens in the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from millebornes_env.games import GAMES
from website import positions, stage, tables
from website.rulings import shown

FIRST_WITH = {
    "a position": next(one for one in shown()["E2"]),
    "a record": next(one for one in shown()["E32"]),
}


@pytest.mark.parametrize(("name", "plays"), [("a position", 0), ("a record", 8)])
def test_a_ruling_opens_in_the_table(opened: Callable[..., Any], name: str, plays: int) -> None:
    one = FIRST_WITH[name]
    page = opened(hash_=positions.link(one.text(one.editions[0])).removeprefix("table/index.html"))
    page.wait_for_selector("#hand .card, #looking:not([hidden])")
    assert not page.locator("dialog[open]").count()
    if plays:
        page.click("[data-step='Last position']")
        page.wait_for_selector(f"text={plays} / {plays}")
    else:
        assert page.locator("#hand .card").count() == 7


def test_the_deal_of_a_table_opens(opened: Callable[..., Any]) -> None:
    text = tables.table_page(GAMES["millebornes"], "dujardin", 8, 4, docs=stage.ROOT / "docs")
    (deal,) = re.findall(r"^```picture\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    page = opened(hash_=positions.link(deal).removeprefix("table/index.html"))
    page.wait_for_selector("#hand .card")
    assert page.locator(".mb-total").count() == 4

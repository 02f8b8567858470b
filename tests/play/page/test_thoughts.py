"""Rules of one's own in the form of a new game, and what an agent thinks beside the table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.play.page.test_page import EXTENSION, Opened, Pictured, deal, load, record_of, settled

RACE_TO_THE_LINE = """\
edition: parker
table: 2 players
battle 0: roll
battle 1: roll
distance 0: 2x200 2x100 75
distance 1: 2x200 2x100 50
hand 0: 25 50 75 100 roll roll stop
hand 1: 4x50 roll roll
"""


def test_the_champion_thinks(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    load(page, EXTENSION)
    page.click("#thoughts summary")
    page.wait_for_selector("#thoughts .bars li")
    assert re.search(r"Expects you to end the round [\d,]+ points ahead", page.inner_text("#thoughts .value"))
    assert page.locator("#thoughts .bars li").first.inner_text()
    pictured(page, "thoughts")
    page.click("text=Search deeper")
    page.wait_for_selector("#thoughts p:has-text('Search:')")
    said = page.locator("#thoughts p:has-text('Search:') + .bars span:last-child").all_inner_texts()
    gains = [float(re.sub("[±+,]", "", one.partition(" ")[0]).replace("\u2212", "-")) for one in said]
    assert gains == sorted(gains, reverse=True)  # the best first
    assert len(gains) > 2


def test_what_the_champion_would_have_done(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    load(page, RACE_TO_THE_LINE + "plays:\nseat 0: 25\n")
    page.click("#play-on")
    for seat in ("#seat-0", "#seat-1"):
        page.select_option(seat, "you")
    page.click("dialog .main")
    page.click("#hand [data-card='2']")
    page.click(
        "#choices [data-kind=discard]"
    )  # with 25 km the trip would be complete; now the other completes it
    settled(page)  # until then the hand is still the old one
    page.click("#hand [data-card='1']")
    page.click("#choices [data-kind=play]")
    page.click("#choices [data-kind=finish]")
    page.click("text=What would the champion have done?")
    page.wait_for_selector("text=Estimated by playing on")
    pictured(page, "review")
    assert "discard 75 km: the champion would rather play 25 km" in page.inner_text("dialog .review li")
    page.click("dialog .review button")
    page.wait_for_selector("text=Position 0 of")


def test_who_may_hold_what(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    load(page, EXTENSION)
    page.click("#thoughts summary")
    page.click("#thoughts .belief summary")
    lines = page.locator("#thoughts .belief [data-seat='1'] li")
    lines.first.wait_for()
    words = lines.all_inner_texts()
    assert [one.partition("\n")[0] for one in words[:4]] == [
        "Driving ace",
        "Extra tank",
        "Puncture proof",
        "Right of way",
    ]
    assert all(re.search(r"(\d+|< 1) %$", one) for one in words)
    pictured(page, "beliefs")


def change_rule(page: Any, field: str, value: str) -> None:
    """Change a rule in the form of a new game."""
    if not page.locator(f"#rule-{field}").count():
        page.click("#own-rules > summary")
        page.wait_for_selector(".own-rules details")
    for part in page.locator(".own-rules details:not([open]) > summary").all()[::-1]:
        part.click()
    page.fill(f"#rule-{field}", value)
    page.press(f"#rule-{field}", "Tab")


def test_rules_of_ones_own(opened: Opened, pictured: Pictured) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    page = opened()
    page.click("#new")
    change_rule(page, "hand_limit", "70")
    page.click("#deal")
    page.wait_for_selector("dialog .error:not(:empty)")
    assert "must leave some to draw" in page.inner_text("dialog .error")
    pictured(page, "own_rules")
    change_rule(page, "target", "701")  # not in steps of 25
    page.click(".own-rules details[open] > summary")  # folded away
    page.click("#deal")
    page.wait_for_selector("#rule-target:focus")
    change_rule(page, "target", "700")
    change_rule(page, "hand_limit", "4")
    page.select_option("#rule-start_needs_roll", "0")
    assert page.inner_text("#own-rules > summary") == "Change the rules (2 changed)"
    deal(page, seat_1="greedy")
    sync_api.expect(page.locator("#hand .card")).to_have_count(5)  # no longer those of the game before
    settled(page)
    page.click("#rules summary")
    page.wait_for_selector("#rules dd")
    assert "2 rules changed" in page.inner_text("#rules p")
    assert page.inner_text("#rules dd >> nth=0") == "4 (the edition says 6)"
    assert "edition: parker+hand_limit=4+start_needs_roll=0" in record_of(page)
    page.click("#new")  # the form remembers them
    assert page.inner_text("#own-rules > summary") == "Change the rules (2 changed)"

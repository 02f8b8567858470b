"""Error messages of the page, and the state that survives reloading it."""

from __future__ import annotations

import json
from typing import Any

from millebornes_env.play.web.server import PAGE
from tests.patience import SECONDS_OF_A_PAGE
from tests.play.page.test_page import RECORD, Opened, deal, load, play_once, record_of, settled, until

KEPT = "JSON.parse(localStorage.getItem('millebornes.game')).text"
NO_ENGINE = """
    const fetched = fetch;
    fetch = (url, how) => /engine.engine.json$/.test(url)
        ? Promise.resolve(new Response("", { status: 404 })) : fetched(url, how);
"""
HELD_DEAL = """
    const fetched = fetch;
    fetch = async (url, how) => {
        if (how?.body?.includes('"start"')) await globalThis.held;
        return fetched(url, how);
    };
"""
NO_STORE = """
    for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(window, name, { get() { throw new Error("forbidden"); } });
    }
"""


def test_what_the_page_lacks_is_said(opened: Opened, folder: str) -> None:
    for first, said in (
        (NO_ENGINE, "The engine was not built into this folder (make web): type"),
        (
            "delete globalThis.WebAssembly",
            "This browser has no WebAssembly, which the page needs: use another",
        ),
    ):
        page = opened(address=folder, may_fail=True, first=first)
        assert said in page.inner_text("#status .error")


def test_a_browser_that_keeps_nothing_plays(opened: Opened) -> None:
    page = opened(first=NO_STORE)
    deal(page, seat_1="greedy")
    assert play_once(page)


def test_the_cards_of_before_play_nothing_while_new_ones_are_dealt(opened: Opened) -> None:
    page = opened(first=HELD_DEAL)
    settled(page)
    page.evaluate("() => { globalThis.held = new Promise((go) => (globalThis.letGo = go)); }")
    deal(page, seat_1="greedy")
    page.locator("#hand .card").first.click()
    assert not page.locator("#choices > *").count()
    page.evaluate("letGo()")
    assert play_once(page)


def test_without_javascript_the_page_says_so(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(1000 * SECONDS_OF_A_PAGE)
    page = context.new_page()
    page.goto(address)
    assert "JavaScript, which this browser has turned off" in page.inner_text("noscript")
    context.close()


def test_a_damaged_record_is_refused_in_words(opened: Opened) -> None:
    page = opened()
    load(page, RECORD.replace("seat 0: 25\n", "seat 0: 26\n", 1))
    page.wait_for_selector("dialog .error:not(:empty)")
    assert "Line 10" in page.inner_text("dialog .error")
    assert "seat 0: 26" in page.input_value("#record-text")  # what was typed is not lost


def test_a_damaged_link(opened: Opened) -> None:
    page = opened(hash_="#z=AAAA")
    page.wait_for_selector("dialog p:has-text('This link is damaged')")
    page.click("dialog >> text=New game")
    page.wait_for_selector("#deal")


def test_a_game_goes_on_after_a_reload(opened: Opened) -> None:
    page = opened()
    deal(page, seat_1="greedy")
    for _ in range(4):
        play_once(page)
    settled(page)
    log, record = page.locator("#log li").all_inner_texts(), record_of(page)
    until(page, f"{KEPT} === {json.dumps(record)}")  # kept a moment after it is shown
    page.reload()
    page.wait_for_selector("#hand .card")
    assert page.locator("#log li").all_inner_texts() == log
    assert not page.locator("dialog[open]").count()
    page.click("#undo")
    until(page, f"document.querySelectorAll('#log li').length < {len(log)}")


def test_what_was_typed_is_there_after_a_reload(opened: Opened) -> None:
    page = opened()
    page.click("#new")
    page.select_option("#edition", "dutch")
    page.select_option("#table", "3/3")
    page.select_option("#seat-2", "greedy")
    page.fill("#seed", "77")  # unfolded, for the setup has a seed
    page.reload()
    page.wait_for_selector("#deal")
    chosen = [page.input_value(f"#{name}") for name in ("edition", "table", "seat-2", "seed")]
    assert chosen == ["dutch", "3/3", "greedy", "77"]
    page.click("#deal")
    settled(page)
    page.click("#records")
    page.fill("#record-text", "half a record")
    page.reload()
    page.wait_for_selector("#record-text")
    assert page.input_value("#record-text") == "half a record"
    page.keyboard.press("Escape")  # thrown away
    until(page, "sessionStorage.getItem('millebornes.draft') === null")
    page.reload()
    page.wait_for_selector("#hand .card")
    assert not page.locator("dialog[open]").count()


def test_a_game_without_a_page_says_where_it_is_played(opened: Opened, folder: str) -> None:
    has_engine = (PAGE / "engine" / "engine.wasm").is_file()
    for where in ({}, {"address": folder})[: 1 + has_engine]:
        page = opened(**where)
        load(page, "edition: arc_en_ciel\n")
        page.wait_for_selector("dialog .error:has-text('on the terminal')")

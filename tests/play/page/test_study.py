"""The page of a participant in a study, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from millebornes_env.notation import replay, write_record
from millebornes_env.play.study import read_study
from tests.play.page.test_page import Opened, Pictured, play_once, play_to_the_end, settled, until, violations
from tests.play.study.served import Served, served


def opened_by(opened: Opened, place: Served, number: int = 0) -> Any:
    """The page that a participant's link opens."""
    token = place.participants[number].token
    return opened(address=f"{place.origin}/", hash_=f"#join={token}")


def test_a_study_by_mouse_and_what_is_written(opened: Opened, pictured: Pictured, tmp_path: Path) -> None:
    with served(tmp_path / "study", intro="Play as you like.\n\nThank you.") as place:
        page = opened_by(opened, place)
        page.keyboard.press("Escape")  # the welcome can be opened again
        page.click("#new")
        assert "Play as you like." in page.inner_text("dialog")
        pictured(page, "study_welcome")
        page.click("dialog >> text=Begin")
        play_to_the_end(page)
        sums = page.locator("#score-sheet tr.sum td").all_inner_texts()
        pictured(page, "study_score")
        assert "Thank you for taking part" in page.inner_text("dialog")
        page.keyboard.press("Escape")
        assert "Thank you for taking part" in page.inner_text("#status")
        page.click("text=Score sheet")
        assert page.locator("#score-sheet").count() == 1
    (game,) = read_study(tmp_path / "study")
    *_, end = replay(game.record())
    assert game.result is not None
    assert [int(one.replace(",", "")) for one in sums] == game.result["points"]
    assert list(end["score"][0, :2]) == game.result["points"]
    assert write_record(game.record()) == game.result["record"]
    people = [line for line in game.decisions if "participant" in line]
    assert all(line["ms"] <= line["server_ms"] for line in people)


def test_the_next_game_what_is_off_and_a_page_that_is_opened_anew(opened: Opened, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
    with served(tmp_path / "study", games=2) as place:
        with place.page() as first:
            first.ask("begin", game=0)
            first.play_on()
        page = opened_by(opened, place)
        page.click("text=Go on with game 2 of 2")
        for _ in range(3):
            assert play_once(page)
        settled(page)
        assert violations(axe, page) == []
        for button in ("#undo", "#records", "#link", "#thoughts", "#new"):
            assert not page.is_visible(button)
        hand = page.locator("#hand .card").evaluate_all("all => all.map((one) => one.dataset.card)")
        plays = page.locator("#log li").count()
        page.keyboard.press("u")
        assert "Undo is off in a study" in page.inner_text("dialog")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open] .keys")
        assert "champion" not in page.inner_text("dialog")
        page.keyboard.press("Escape")
        page.reload()
        page.wait_for_selector("#hand button")
        assert page.locator("#hand .card").evaluate_all("all => all.map((one) => one.dataset.card)") == hand
        assert page.locator("#log li").count() == plays
        assert play_once(page)


def test_a_page_goes_on_after_the_server_was_stopped(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    with served(folder) as place:
        page = opened_by(opened, place)
        page.click("dialog >> text=Begin")
        assert play_once(page)
        settled(page)
        port = place.port
    until(page, "document.querySelector('#status').textContent.includes('reconnecting')")
    with served(folder, port=port):
        until(page, "document.querySelector('#status').textContent.includes('Your turn')")
        assert play_once(page)


def test_a_link_of_nobody(opened: Opened, tmp_path: Path) -> None:
    with served(tmp_path / "study") as place:
        page = opened(address=f"{place.origin}/", hash_="#join=nobody")
        assert "This link belongs to no participant" in page.inner_text("#status")
        page = opened(address=f"{place.origin}/")
        assert "open the complete link" in page.inner_text("#status")

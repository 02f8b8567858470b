"""The page of a participant in a study, in the browser."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.notation import replay, write_record
from millebornes_env.play.study import read_study
from millebornes_env.play.study.design import open_study
from millebornes_env.play.study.journal import Journal
from millebornes_env.play.study.session import Session
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


def play_a_round_of_two(folder: Path) -> None:
    """Begin a study of two people at a table, who play the first round of a match."""
    design = {"edition": "mini7-v0", "seats": (0, 1), "episode": "match"}
    session = Session(open_study(folder, design, 2, 1), 0)
    for seat in (0, 1):
        session.begin(seat, 0)
    while True:
        for seat in (0, 1):
            news = session.news(seat)
            if news and news["steps"][-1]["over"]:
                return
            if news and news["decision"] is not None:
                session.play(seat, news["decision"], news["steps"][-1]["legal"][0]["action"], 0)


def test_both_of_two_people_press_for_the_next_round(opened: Opened, tmp_path: Path) -> None:
    play_a_round_of_two(tmp_path / "study")
    with served(tmp_path / "study", participants=2) as place:
        pages = [opened_by(opened, place, number) for number in (0, 1)]
        for page in pages:
            page.click("text=Deal the next round")
            page.wait_for_selector("#hand .card")
            assert not page.locator("dialog[open]").count()
        to_act = next(page for page in pages if "Your turn" in page.inner_text("#status"))
        assert play_once(to_act)


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


def test_a_page_goes_on_after_a_line_that_could_not_be_written(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, until_full = Journal._write, [-1]  # lines until the disk is full for one

    def write(journal: Journal, content: bytes, is_last: bool) -> None:
        until_full[0] -= 1
        if until_full[0] == -1:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(journal, content, is_last)

    with served(tmp_path / "study") as place:
        page = opened_by(opened, place)
        page.click("dialog >> text=Begin")
        settled(page)
        monkeypatch.setattr(Journal, "_write", write)
        for lines in (0, 1):  # that of the person, that of the agent
            until_full[0] = lines
            assert play_once(page)
            page.wait_for_selector("dialog[open]")
            assert "cannot save the decisions" in page.inner_text("dialog")
            page.keyboard.press("Escape")
            until(page, "document.querySelector('#status').textContent.includes('reconnecting')")
            until(page, "document.querySelector('#status').textContent.includes('Your turn')")
        assert play_once(page)
        settled(page)


def test_a_link_of_nobody(opened: Opened, tmp_path: Path) -> None:
    with served(tmp_path / "study") as place:
        page = opened(address=f"{place.origin}/", hash_="#join=nobody")
        assert "This link belongs to no participant" in page.inner_text("#status")
        page = opened(address=f"{place.origin}/")
        assert "open the complete link" in page.inner_text("#status")

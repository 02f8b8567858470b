"""The page as a person uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from millebornes_env.notation import read_position, read_record
from millebornes_env.play.web.server import PAGE
from millebornes_env.render.millebornes.filling import filled, text_of, values_of_side
from millebornes_env.render.millebornes.table_view import table_view
from tests.patience import SECONDS_OF_A_PAGE

Opened = Callable[..., Any]
Pictured = Callable[[Any, str], None]

MOST_PLAYS = 400

COUP_FOURRE = """\
edition: parker
table: 2 players
dealer: 0
battle 0: roll
battle 1: roll
hand 0: right_of_way 25 50 75 100 200
hand 1: stop 25 50 75 100 200 roll
"""

EXTENSION = """\
edition: parker
table: 2 players
battle 0: roll
distance 0: 2x200 2x100 75
hand 0: 25 50 75 100 roll roll stop
hand 1: 25 50 75 100 roll roll
"""

RECORD = """\
edition: parker
table: 2 players in 2 teams
battle 0: roll
distance 0: 2x200 2x100 50
hand 0: 25 stop roll 50
hand 1: right_of_way roll gasoline
stream 0: 50 25 ...
stream 1: 75 100 ...
plays:
seat 0: 25
seat 1: roll
seat 0: stop against team 1
seat 1: claim
seat 1: 75
seat 0: 25
seat 0: finish
result: 1100 475
"""


def deal(page: Any, *, seed: int = 1, table: str = "2/2", edition: str = "parker", **seats: str) -> None:
    """Fill the form of a new game in, and deal; `seat_1="greedy"` says who sits there."""
    if not page.locator("dialog[open]").count():
        page.click("#new")
    page.select_option("#edition", edition)
    page.select_option("#table", table)
    for seat, who in seats.items():
        page.select_option(f"#{seat.replace('_', '-')}", who)
    page.evaluate("document.querySelector('#more').open = true")
    page.fill("#seed", str(seed))
    page.click("#deal")


def settled(page: Any) -> None:
    """Wait until the person is to act, or the round is over."""
    page.wait_for_selector("dialog[open], #choices button, #choices p")


def until(page: Any, condition: str) -> None:
    """Wait until an expression holds; Playwright's own function evaluates text, which the page forbids."""
    look = f"const look = () => (({condition}) ? done() : requestAnimationFrame(look)); look();"
    give_up = f"setTimeout(() => fail(new Error('it never held')), {1000 * SECONDS_OF_A_PAGE});"
    page.evaluate(f"() => new Promise((done, fail) => {{ {give_up} {look} }})")


def boxes(page: Any, *selectors: str) -> list[list[dict[str, float]]]:
    """Return where elements are, for each selector, once there are any and no dialog is open.

    All are measured at one moment: between two questions the page may draw itself again.
    """
    measured: list[list[dict[str, float]]] = page.evaluate(
        """(selectors) => new Promise((done) => {
            const look = () => {
                const found = selectors.map((one) => [...document.querySelectorAll(one)]);
                const isReady = !document.querySelector("dialog[open]") && found.every((all) => all.length);
                if (!isReady) requestAnimationFrame(look);
                else done(found.map((all) => all.map((one) => one.getBoundingClientRect().toJSON())));
            };
            look();
        })""",
        selectors,
    )
    return measured


def load(page: Any, text: str) -> None:
    """Paste a text."""
    if page.locator("dialog[open]").count():
        page.keyboard.press("Escape")
    page.click("#records")
    page.fill("dialog[open] #record-text", text)
    page.click("text=Load this text")


def play_once(page: Any) -> bool:
    """Make a decision by mouse: lay the first card that can be laid, else discard one; False: it is over."""
    settled(page)
    if page.locator("dialog[open]").count():
        return False
    if page.locator("#choices [data-kind]").count():
        page.click("#choices [data-kind]")
        return True
    laid = page.locator("#hand .card:not(.idle)")
    (laid if laid.count() else page.locator("#hand .card")).first.click()
    page.locator("#choices [data-kind]").first.click()
    return True


def play_to_the_end(page: Any) -> None:
    assert any(not play_once(page) for _ in range(MOST_PLAYS))


def test_a_table_is_ready_to_play(opened: Opened) -> None:
    page = opened(first="")
    page.wait_for_selector("#hand .card")
    assert not page.locator("dialog[open]").count()
    assert page.locator("#goal").get_attribute("open") is not None
    page.click("#new")
    words = page.inner_text("dialog")
    assert "Your seat" in words
    assert "Opponent" in words
    assert "team 0" not in words


def test_a_round_by_mouse(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    settled(page)
    pictured(page, "first_turn")
    for _ in range(MOST_PLAYS):
        if not play_once(page):
            break
        if page.locator("#log li").count() in (20, 21):
            pictured(page, "in_the_middle")
    rows = page.locator("#score-sheet tbody tr")
    assert rows.count() == 10
    pictured(page, "score_sheet")
    title = page.inner_text("#dialog-title")
    assert title == "The round is over"
    assert page.inner_text("#status strong") == f"{title}."
    (winner,) = page.locator("#score-sheet th.won").all_inner_texts()
    assert page.inner_text(".winner").startswith(winner)
    assert page.locator(".team.won svg").get_attribute("aria-label").startswith(f"{winner}:")
    assert page.locator("#curve .line").count() == 2
    km = page.locator("#score-sheet tbody tr:first-child td").all_inner_texts()
    assert page.locator("#curve li").all_inner_texts() == [f"You: {km[0]} km", f"Greedy: {km[1]} km"]
    sums = page.locator("#score-sheet tr.sum td").all_inner_texts()
    text = record_of(page)
    assert f"result: {' '.join(one.replace(',', '') for one in sums)}" in text
    read_record(text)


def record_of(page: Any) -> str:
    """The record that the page shows."""
    if page.locator("dialog[open]").count():
        page.keyboard.press("Escape")
    page.click("#records")
    text = str(page.input_value("dialog[open] #record-text"))
    page.keyboard.press("Escape")
    return text


@pytest.mark.skipif(
    not (PAGE / "engine" / "engine.wasm").is_file(), reason="the engine in WebAssembly is not built: make web"
)
def test_a_round_without_our_server(opened: Opened, folder: str) -> None:
    page = opened(address=folder)
    deal(page, seat_1="greedy")
    play_to_the_end(page)
    assert page.locator("#score-sheet tbody tr").count() == 10
    read_record(record_of(page))


def test_a_round_by_keyboard_alone(opened: Opened) -> None:
    page = opened()
    press = page.keyboard.press
    for _ in range(MOST_PLAYS):
        settled(page)
        if page.locator("dialog[open]").count():
            break
        if not page.locator("#choices [data-kind]").count():
            places = page.locator("#hand .card").evaluate_all("all => all.map(one => one.matches('.idle'))")
            for _ in range(places.index(False) if False in places else 0):
                press("ArrowRight")
            press("Enter")
            page.wait_for_selector("#choices [data-kind]")
        until(page, "document.querySelector('#choices :focus')")
        plays = page.locator("#log li").count()
        press("Enter")
        until(page, f"document.querySelectorAll('#log li').length > {plays}")
    assert "over" in page.locator("#dialog-title").inner_text()
    assert "result:" in record_of(page)


def test_a_coup_fourre(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    load(page, COUP_FOURRE + "plays:\nseat 1: stop against team 0\n")
    page.click("[data-step='Last position']")
    page.wait_for_selector("text=1 / 1")
    page.click("#play-on")
    page.select_option("#seat-0", "you")
    page.select_option("#seat-1", "greedy")
    page.click("dialog .main")
    page.wait_for_selector("#choices [data-kind=claim]")
    pictured(page, "coup_fourre_question")
    assert "lays Stop against you" in page.inner_text("#choices")
    page.click("#choices [data-kind=claim]")
    settled(page)
    own = page.locator("[data-target='0'] use[href='#card-18']")
    assert own.get_attribute("transform").startswith("rotate(90")  # a coup fourré lies across
    assert "coup fourré" in page.locator("[data-target='0'] svg").get_attribute("aria-label")
    pictured(page, "coup_fourre")


def test_an_extension(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    load(page, EXTENSION)
    page.click("#hand [data-card='0']")
    page.click("#choices [data-kind=play]")
    page.wait_for_selector("#choices [data-kind=extend]")
    pictured(page, "extension")
    page.click("#choices [data-kind=extend]")
    page.wait_for_selector("text=1,000 km (extended)")


def test_more_seats(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    for seats in (3, 6):
        deal(page, table=f"{seats}/3", **{f"seat_{seat}": "greedy" for seat in range(1, seats)})
        page.wait_for_selector(f".others .other:nth-child({seats - 1})")
        for _ in range(3):
            play_once(page)
        settled(page)
        assert page.locator("[data-target] svg.side").count() == 3
        assert page.locator(".other").count() == seats - 1
        pictured(page, f"{seats}_seats")
    page.click("#new")
    assert page.locator("dialog label").all_inner_texts()[2:8] == [
        *("Your seat", "Opponent 1", "Opponent 2", "Partner", "Opponent 3", "Opponent 4")
    ]


def test_a_record_both_ways(opened: Opened, pictured: Pictured) -> None:
    page = opened()
    load(page, RECORD)
    assert page.inner_text("#looking span") == "0 / 7"
    for _ in range(3):
        page.click("[data-step='One play on']")
    page.wait_for_selector("text=3 / 7")
    assert page.locator("[data-target='0'] .mb-total").text_content() == "675 / 700 km"
    pictured(page, "record")
    page.click("[data-step='One play back']")
    page.wait_for_selector("text=2 / 7")
    page.click("#log li:last-child button")
    page.wait_for_selector("text=7 / 7")
    assert record_of(page) == str(read_record(RECORD))


def test_a_link_opened_anew(opened: Opened) -> None:
    page = opened()
    load(page, EXTENSION)
    page.click("#link")
    link = page.input_value("#link-text")
    other = opened(hash_="#" + link.partition("#")[2])
    other.wait_for_selector("#hand .card")
    assert other.locator("[data-target='0'] .mb-total").text_content() == "675 / 700 km"
    assert other.url.endswith("?pace=0")  # a reload goes on with the game


def test_an_illegal_play_says_why(opened: Opened) -> None:
    page = opened()
    load(page, EXTENSION)
    page.click("#hand [data-card='3']")  # 100 km: beyond the target
    page.wait_for_selector("#why:not(:empty)")
    assert (
        page.inner_text("#why")
        == "100 km cannot be laid: you have gone 675 of 700 km: not beyond the target."
    )
    page.click("#hand [data-card='8']")  # Stop, of which the other team is safe: it does not roll
    until(page, "document.querySelector('#why').textContent.startsWith('Stop')")
    assert "is not rolling" in page.inner_text("#why")


def test_dragging_a_card(opened: Opened) -> None:
    page = opened()
    load(page, EXTENSION)
    page.wait_for_selector("#dialog:not([open])", state="attached")  # the hand is drawn before it closes
    card = page.locator("#hand [data-card='13']").first.bounding_box()
    pile = page.locator("[data-target=discard]").bounding_box()
    page.mouse.move(card["x"] + 20, card["y"] + 20)
    page.mouse.down()
    page.mouse.move(card["x"] + 60, card["y"] - 40, steps=3)
    page.mouse.move(pile["x"] + 10, pile["y"] + 10, steps=3)
    page.mouse.up()
    page.wait_for_selector("#log li:has-text('discard Roll')")


def test_dark_mode(opened: Opened, pictured: Pictured) -> None:
    page = opened(color_scheme="dark")
    deal(page, seat_1="greedy")
    settled(page)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    pictured(page, "dark")
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_a_phone(opened: Opened, pictured: Pictured) -> None:
    page = opened(width=360, height=740, has_touch=True, is_mobile=True)
    page.click("#new")
    pictured(page, "phone_new_game")
    assert page.evaluate("document.querySelector('dialog').scrollHeight") <= 740
    deal(page, seat_1="greedy")
    settled(page)
    pictured(page, "phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    [hand], [rival] = boxes(page, "#mine", "[data-target='1']")
    assert rival["bottom"] <= hand["top"] + 1  # both sides and the hand are seen at once
    page.locator("#hand .card").first.tap()
    page.locator("#choices [data-kind]").first.tap()


def test_all_sides_are_seen_above_the_hand(opened: Opened, pictured: Pictured) -> None:
    page = opened(first="")
    for width, height, edition, table in (
        (1280, 900, "dujardin", "4/4"),
        (1280, 720, "parker", "3/3"),
        (1920, 1080, "parker", "2/2"),
        (1366, 768, "parker", "2/2"),
        (1020, 700, "parker", "2/2"),
        (768, 1024, "parker", "2/2"),
    ):
        page.set_viewport_size({"width": width, "height": height})
        deal(page, edition=edition, table=table)
        page.wait_for_selector(f".sides.of-{table[-1]}")
        settled(page)
        pictured(page, f"{width}x{height}_{edition}_{table[0]}")
        [hand], sides, [card, *_] = boxes(page, "#mine", "[data-target] svg.side", "#hand .card")
        for side in sides:
            assert side["bottom"] <= hand["top"] + 1, (width, height)
        if width >= 1366:  # the hand fills what would be empty
            assert card["width"] > 110, width
            assert height - 60 < hand["bottom"] <= height, (width, height)


def test_a_card_of_another_seat_moves_to_where_it_is_laid(opened: Opened) -> None:
    page = opened()
    assert not page.evaluate(WATCH), "less motion is asked for"
    play_once(page)
    settled(page)
    assert page.evaluate("globalThis.flown") == 0
    page = opened(reduced_motion="no-preference")
    page.evaluate(WATCH)
    play_once(page)
    until(page, "globalThis.flown >= 2")  # the own card, and the other seat's
    until(page, "!document.querySelector('.flying')")


WATCH = """() => {
    globalThis.flown = 0;
    const flies = (node) => node.className === "flying";
    const added = (all) => all.flatMap((one) => [...one.addedNodes]);
    const count = (all) => (globalThis.flown += added(all).filter(flies).length);
    new MutationObserver(count).observe(document.body, { childList: true });
}"""


def test_agents_have_short_names(opened: Opened) -> None:
    names = {
        "champion": "champion",
        "/home/me/a run/first/": "first",
        "runs\\first": "first",
        "me@runs/first": "me",
        "agents/cautious.py:Cautious": "cautious.py:Cautious",
        "search:over=runs/first": "search:over=first",
        "a" * 11 + "x" * 50 + "b" * 12: "a" * 11 + "…" + "b" * 12,
    }
    result = opened().evaluate(
        "async (all) => all.map((await import('./table/names.js')).shortName)", [*names]
    )
    assert result == [*names.values()]


def test_page_and_python_draw_the_same(opened: Opened) -> None:
    page = opened()
    position = read_position(
        RECORD.partition("plays:")[0].replace("hand 0: ", "safeties 0: extra_tank!\nhand 0: ")
    )
    sides = table_view(position.state[0], position.rules)["sides"]
    for side, name in zip(sides, ("A team", "A team with a name that reaches the kilometres"), strict=True):
        ours = text_of(filled("side.svg", values_of_side(side, 700, name, " · 5 points")))
        assert " · 5 points" in ours
        theirs = page.evaluate(
            """async ([side, name]) => {
                const { filled, valuesOfSide } = await import("./table/filling.js");
                const svg = filled("side.svg", valuesOfSide(side, 700, name, " · 5 points"));
                return new XMLSerializer().serializeToString(svg);
            }""",
            [side, name],
        )
        assert plain_svg(theirs) == plain_svg(ours)


def plain_svg(text: str) -> str:
    """Without comments, blank text and the ways of writing the same."""
    import xml.etree.ElementTree as ET  # noqa: PLC0415

    return ET.canonicalize(text, strip_text=True)


def test_no_accessibility_violations(opened: Opened) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
    page = opened()
    page.click("#new")
    page.click("#own-rules > summary")
    page.click(".own-rules details >> nth=0")
    assert violations(axe, page) == []  # the form
    deal(page, seat_1="greedy")
    settled(page)
    page.click("#thoughts summary")
    page.wait_for_selector("#thoughts .bars li")
    page.click("#thoughts .belief summary")
    page.wait_for_selector("#thoughts .belief li")
    assert violations(axe, page) == []
    page.click("#theme")
    assert violations(axe, page) == []
    load(page, RECORD)
    page.click("[data-step='Last position']")
    page.wait_for_selector("text=7 / 7")
    assert violations(axe, page) == []
    page.click("text=Score sheet")
    page.wait_for_selector("#score-sheet")
    assert violations(axe, page) == []
    page.keyboard.press("Escape")
    page.click("#help")
    assert violations(axe, page) == []


def violations(axe: Any, page: Any) -> list[str]:
    result = axe.Axe().run(page).response["violations"]
    return [f"{one['id']}: {[node['html'][:120] for node in one['nodes']]}" for one in result]

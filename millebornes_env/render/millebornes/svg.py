"""The hook `render.picture` of Mille Bornes: the table as SVG."""

from __future__ import annotations

import re
from typing import Any, Final
from xml.etree import ElementTree as ET

from millebornes_env.errors import OptionError, shown
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import State
from millebornes_env.render.millebornes.filling import (
    element,
    filled,
    symbols,
    text_of,
    theme,
    values_of_side,
)
from millebornes_env.render.millebornes.table_view import ALL, table_view

THEMES: Final = ("auto", "light", "dark")
"""The colour themes of a picture; "auto" follows the browser's setting."""

_GAP: Final = 16
_SIDE: Final = (480, 300)
_TOP: Final = 112
_HAND: Final = 106
_CARD: Final = (52, 73)
_STEP: Final = 58
_COLUMNS: Final = 2
_QUESTIONS: Final = {
    "play": "{who} is to play",
    "coup_fourre": "{who} may claim a coup fourré",
    "extension": "{who} may extend the trip",
}


def draw_picture(state: State, rules: Rules, observer: int | None = None, theme: str = "auto") -> str:
    """Draw the table.

    Args:
        state: a record of `STATE`.
        rules: the table's rules.
        observer: the seat whose hand is shown; None shows all hands.
        theme: "light", "dark", or "auto" for the setting of the browser.

    Returns:
        An SVG document. "auto" needs a browser; the other themes work in all SVG viewers.

    Raises:
        OptionError: there is no such theme.
    """
    given: object = theme
    if not isinstance(given, str) or given not in THEMES:
        raise OptionError(f"a picture's theme is one of {', '.join(THEMES)}; got {shown(given)}")
    view = table_view(state, rules, ALL if observer is None else observer)
    return _coloured(_document(view), theme)


def _document(view: dict[str, Any]) -> str:
    """Return the picture with colours as CSS variables."""
    rows = -(-view["teams"] // _COLUMNS)
    hands_from = _TOP + rows * (_SIDE[1] + _GAP)
    width = _COLUMNS * _SIDE[0] + 3 * _GAP
    height = hands_from + -(-view["players"] // _COLUMNS) * _HAND + _GAP
    root = element(
        "svg", class_="mb", viewBox=f"0 0 {width} {height}", width=width, height=height, role="img"
    )
    root.append(element("title", _headline(view)))
    root.append(element("style", "STYLE"))
    root.append(symbols())
    root.append(element("rect", width=width, height=height, rx=18, fill="var(--table)"))
    root.append(_top(view))
    for side in view["sides"]:
        x, y = _position(side["team"], _TOP, _SIDE[1] + _GAP)
        root.append(_moved(_drawn_side(view, side), x, y))
    for seat in view["seats"]:
        x, y = _position(seat["seat"], hands_from, _HAND)
        root.append(_moved(_hand(view, seat), x, y))
    return text_of(root)


def _position(number: int, top: int, height: int) -> tuple[int, int]:
    """Return the position of an element by its number, with two elements in each row."""
    row, column = divmod(number, _COLUMNS)
    return _GAP + column * (_SIDE[0] + _GAP), top + row * height


def _moved(content: ET.Element, x: float, y: float) -> ET.Element:
    group = element("g", transform=f"translate({x:g} {y:g})")
    group.append(content)
    return group


def _card(symbol: str, x: float, y: float, width: float, height: float) -> ET.Element:
    return element("use", href=f"#card-{symbol}", x=f"{x:g}", y=f"{y:g}", width=width, height=height)


def _top(view: dict[str, Any]) -> ET.Element:
    """Draw the draw pile, the discard pile, and the status of the round."""
    group = element("g", class_="top")
    outline = {"stroke": "var(--place)", "stroke_dasharray": "5 4", "fill": "none"}
    for x in (_GAP, _GAP + 70):
        group.append(element("rect", x=x, y=16, width=60, height=84, rx=6, **outline))
    if view["draw_pile"]:
        group.append(_card("back", _GAP, 16, 60, 84))
    if view["discard_top"] is not None:
        group.append(_card(str(view["discard_top"]), _GAP + 70, 16, 60, 84))
    lines = (_headline(view), f"{view['draw_pile']} cards to draw", _question(view))
    for number, line in enumerate(lines):
        group.append(
            element(
                "text", line, x=_GAP + 150, y=40 + 26 * number, class_="mb-small" if number else "mb-name"
            )
        )
    return group


def _headline(view: dict[str, Any]) -> str:
    extended = " (extended)" if view["extended"] else ""
    return f"Round {view['round_number'] + 1}: a trip of {view['target']} km{extended}"


def _question(view: dict[str, Any]) -> str:
    if view["over"]:
        won = " and ".join(f"team {team}" for team in view["winners"])
        return f"The round is over: {won} won" if won else "The round is over: nobody won"
    return _QUESTIONS[view["asks"]].format(who=f"player_{view['to_act']}")


def _drawn_side(view: dict[str, Any], side: dict[str, Any]) -> ET.Element:
    are_shown = view["counts_points"] and (view["round_number"] or view["over"])
    points = f" · {side['score']} points" if are_shown else ""
    name, seats = f"Team {side['team']}", ", ".join(f"player_{seat}" for seat in side["seats"])
    name += f" ({seats.replace('player_', '') if points else seats})"
    return filled("side.svg", values_of_side(side, view["target"], name, points))


def _hand(view: dict[str, Any], seat: dict[str, Any]) -> ET.Element:
    group = element("g", class_="hand")
    is_to_act = seat["seat"] == view["to_act"]
    if is_to_act:
        group.append(element("circle", cx=7, cy=12, r=6, fill="var(--accent)"))
    label = f"player_{seat['seat']}" + (" to act" if is_to_act else "")
    group.append(element("text", label, x=20 if is_to_act else 0, y=17, class_="mb-small"))
    cards = ["back"] * seat["hand_size"] if seat["hand"] is None else [str(card) for card in seat["hand"]]
    step = min(_STEP, (_SIDE[0] - _CARD[0]) / max(1, len(cards) - 1))
    for number, card in enumerate(cards):
        group.append(_card(card, number * step, 25, *_CARD))
    return group


def _coloured(document: str, chosen: str) -> str:
    """Add the colours of a theme to the document, or both themes for a browser to choose from."""
    light, dark, letters = theme()
    if chosen == "auto":
        dark_only = f"@media (prefers-color-scheme: dark) {{ {_block(dark)} }}"
        return document.replace("STYLE", f"{_block(light)}\n{dark_only}\n{letters}", 1)
    colours = light if chosen == "light" else dark
    document = document.replace("STYLE", letters, 1)
    return re.sub(r"var\((--[\w-]+)\)", lambda match: colours[match[1]], document)


def _block(colours: dict[str, str]) -> str:
    return ".mb { " + " ".join(f"{name}: {value};" for name, value in colours.items()) + " }"

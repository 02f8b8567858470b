"""Fills in the templates of the drawing (`drawing/`).

`play/web/table/filling.js` does the same in the page; a browser test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

DRAWING: Final = Path(__file__).with_name("drawing")
"""The folder with the cards, the template of a team's side, and the colours."""

Values = Mapping[str, str | int | float | None]

_SVG: Final = "{http://www.w3.org/2000/svg}"
_RULES: Final = ("data-if", "data-card", "data-text", "data-x", "data-class")
_ROAD: Final = 388
"""Length of the car's road, in units of the template."""
_NAME_LETTERS: Final = 29
"""Maximum length of a team's name; a longer one would reach the kilometres."""
_FIRST_SAFETY: Final = 15
_SAFETIES: Final = 4
_DISTANCES: Final = 5

ET.register_namespace("", "http://www.w3.org/2000/svg")


def values_of_side(
    side: Mapping[str, Any], target: int, name: str, after: str = ""
) -> dict[str, str | int | float | None]:
    """Return the values that fill the template `side.svg`.

    Args:
        side: an entry of "sides" of `table_view`.
        target: km of the trip.
        name: name of the team, shortened if it would reach the kilometres.
        after: text after the name, never shortened.

    Returns:
        A value for each name in the template.
    """
    laid = {one["card"]: one["coup_fourre"] for one in side["safeties"]}
    battle, speed = side["battle"], side["speed"]
    letters = _NAME_LETTERS - len(after)
    values: dict[str, str | int | float | None] = {
        "name": (name if len(name) <= letters else f"{name[: letters - 1]}…") + after,
        "km": f"{side['km']:,} / {target:,} km",
        "rolling": int(side["can_drive"]),
        "stopped": int(not side["can_drive"]),
        "cured": int(bool(side.get("cured"))),
        "car": round(_ROAD * min(1, side["km"] / max(target, 1)), 1),
        "battle": battle[-1] if battle else None,
        "under": battle[-2] if len(battle) > 1 else None,
        "speed": speed[-1] if speed else None,
        "pending": side.get("pending"),
    }
    for card in range(_FIRST_SAFETY, _FIRST_SAFETY + _SAFETIES):
        values[f"safety_{card}"] = card if laid.get(card) is False else None
        values[f"coup_{card}"] = card if laid.get(card) is True else None
    for card in range(_DISTANCES):
        count = side["distances"].get(str(card), 0)
        for number, ordinal in enumerate(("first", "second", "third")):
            values[f"{ordinal}_{card}"] = card if count > number else None
        values[f"count_{card}"] = f"\u00d7{count}" if count > 1 else ""
    return values


@cache
def _text_of(name: str) -> str:
    return (DRAWING / name).read_text(encoding="utf-8")


def filled(template: str, values: Values) -> ET.Element:
    """Return a template of `DRAWING`, whose first comment explains the attributes, filled with values."""
    root = ET.fromstring(_text_of(template))
    _fill(root, values)
    return root


def _fill(element: ET.Element, values: Values) -> None:
    for child in list(element):
        if _is_left_out(child, values):
            element.remove(child)
        else:
            _fill_one(child, values)
            _fill(child, values)


def _is_left_out(element: ET.Element, values: Values) -> bool:
    condition, card = element.get("data-if"), element.get("data-card")
    if condition is not None and values.get(condition) in (None, 0, ""):
        return True
    return card is not None and values.get(card) is None  # card 0 is a card


def _fill_one(element: ET.Element, values: Values) -> None:
    rules = {rule: element.attrib.pop(rule) for rule in _RULES if rule in element.attrib}
    if "data-card" in rules:
        element.set("href", f"#card-{values[rules['data-card']]}")
    if "data-text" in rules:
        element.text = str(values[rules["data-text"]])
    if "data-x" in rules:
        element.set("transform", f"translate({values[rules['data-x']]:g} 0)")
    if "data-class" in rules:
        element.set("class", f"{element.get('class', '')} {values[rules['data-class']]}".strip())


def symbols() -> ET.Element:
    """Return the element `defs` with all cards."""
    result = ET.fromstring(_text_of("cards.svg")).find(f"{_SVG}defs")
    assert result is not None, "cards.svg has no defs"
    return result


def element(tag: str, text: str = "", **attributes: str | int | float) -> ET.Element:
    """Return an SVG element; "_" in names stands for "-", and is removed at the end (`class_`)."""
    named = {name.rstrip("_").replace("_", "-"): str(value) for name, value in attributes.items()}
    result = ET.Element(f"{_SVG}{tag}", named)
    result.text = text or None
    return result


def text_of(root: ET.Element) -> str:
    """Return the element as text."""
    return ET.tostring(root, encoding="unicode")


def theme() -> tuple[dict[str, str], dict[str, str], str]:
    """Return the light and the dark colours of `theme.css`, and its rules for letters."""
    css = _text_of("theme.css")
    light, dark = (_colours(css.partition(start)[2]) for start in (":root {", ':root[data-theme="dark"] {'))
    return light, dark, css.partition("/* Letters of the drawing */")[2].strip()


def _colours(block: str) -> dict[str, str]:
    lines = (line.strip().rstrip(";") for line in block.partition("}")[0].splitlines())
    pairs = (line.partition(":") for line in lines if line.startswith("--"))
    return {name.strip(): value.strip() for name, _, value in pairs}

"""Positions for the rulings: reads docs/rules/rulings.toml and writes their page of the site."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

RULES: Final = Path(__file__).parents[1] / "rules"
_ROW: Final = re.compile(r"^\| (E\d+) \| (.+?) \| (.+?) \| ", flags=re.MULTILINE)
_CHAPTER: Final = re.compile(r"^### (.+)$", flags=re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A position that illustrates a ruling; all but the first three attributes is checked after the plays.

    Attributes:
        shows: caption.
        editions: editions in which it is checked; the picture shows the first.
        position: lines of our notation, without the edition.
        plays: plays from the position.
        legal: some legal actions of the seat to act.
        illegal: some illegal actions.
        lines: lines of the final position.
        to_draw: number of cards left to draw; None: not checked.
        hands: number of cards in each hand; empty: not checked.
        winners: the teams that have won; None: not checked.
        episode: "round" or "match".
    """

    shows: str
    editions: list[str]
    position: str
    plays: list[str] = field(default_factory=list)
    legal: list[str] = field(default_factory=list)
    illegal: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    to_draw: int | None = None
    hands: list[int] = field(default_factory=list)
    winners: list[int] | None = None
    episode: str = "round"

    def text(self, edition: str) -> str:
        """Return the position with its plays, in our notation."""
        plays = ["plays:", *self.plays] if self.plays else []
        return "\n".join([f"edition: {edition}", self.position.strip(), *plays]) + "\n"


def rulings() -> dict[str, tuple[str, str]]:
    """Return question and decision of every ruling of Mille Bornes, by its name, in the order of the page."""
    return {name: (question, decision) for name, question, decision in _ROW.findall(_rulings_page())}


def examples() -> dict[str, list[Example]]:
    """Return the positions of every ruling, by its name."""
    content: dict[str, list[dict[str, Any]]] = tomllib.loads(
        (RULES / "rulings.toml").read_text(encoding="utf-8")
    )
    return {name: [Example(**one) for one in several] for name, several in content.items()}


def describe_checks(one: Example) -> str:
    """Return the checks of a position as a sentence."""
    said = []
    if one.legal:
        said.append(f"legal: {_quoted(one.legal)}")
    if one.illegal:
        said.append(f"not legal: {_quoted(one.illegal)}")
    if one.lines:
        said.append(_quoted(one.lines))
    if one.to_draw is not None:
        said.append(f"cards left to draw: {one.to_draw}")
    if one.hands:
        said.append(f"cards in the hands: {', '.join(map(str, one.hands))}")
    if one.winners is not None:
        said.append(f"{one.episode} won by " + " and ".join(f"team {team}" for team in one.winners))
    return ("After these plays: " if one.plays else "Here: ") + "; ".join(said) + "."


def page() -> str:
    """Return the page of positions, chapter by chapter."""
    positions = examples()
    lines = [
        "# The rulings, position by position",
        "",
        "Made from `docs/rules/rulings.toml`; a test plays every position in each of "
        "the editions below it. The reasons: [rulings.md](rulings.md). To try one, paste its text under "
        "*Record* of the table: `python -m millebornes_env play`.",
    ]
    for chapter, names in _chapters().items():
        lines += ["", f"## {chapter}"]
        for name in names:
            question, decision = rulings()[name]
            lines += ["", f"### {name}", "", f"**{question}** {decision}"]
            for one in positions.get(name, []):
                lines += ["", one.shows, "", "```record" if one.plays else "```position"]
                lines += [*one.text(one.editions[0]).splitlines(), "```", "", describe_checks(one)]
                lines += [f"Checked in {_quoted(one.editions)}."]
    return "\n".join(lines) + "\n"


def _quoted(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _rulings_page() -> str:
    return (
        (RULES / "rulings.md")
        .read_text(encoding="utf-8")
        .partition("\n## Rulings\n")[2]
        .partition("\n## ")[0]
    )


def _chapters() -> dict[str, list[str]]:
    """Return the names of the rulings, by the heading above them."""
    _, *parts = _CHAPTER.split(_rulings_page())
    result = {heading: _ROW.findall(text) for heading, text in zip(parts[::2], parts[1::2], strict=True)}
    return {heading: [row[0] for row in rows] for heading, rows in result.items() if rows}


__all__ = ["Example", "describe_checks", "examples", "page", "rulings"]

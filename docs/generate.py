"""Write the pages of docs/ that are made from the code: `python docs/generate.py` (tests compare them)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from docs.site import card
from millebornes_env import Edition, edition, editions, vector_env
from millebornes_env.engine.layout import Section
from millebornes_env.games.millebornes.actions import action_name, num_actions
from millebornes_env.games.millebornes.cards import CARD_NAMES
from millebornes_env.games.millebornes.observation import OBSERVATION_VERSION
from millebornes_env.games.millebornes.rules import FIELDS, Rules
from millebornes_env.games.millebornes.sections import ObservationSpec, full_state_sections, sections
from millebornes_env.games.registry import GAMES
from millebornes_env.render.millebornes.editions import (
    CHAPTERS,
    LEGEND,
    agreement,
    cell,
    table_name,
    tables_row,
)

FOLDER = Path(__file__).parent


IN_SHORT = (
    "- Two to four teams drive 700 or 1,000 km by laying distance cards of 25 to 200 km, and must land",
    "  on the target exactly.",
    "- In your turn you draw a card, then lay or discard one. In most editions a team starts with a",
    "  *Roll* on its battle pile.",
    "- *Hazards* are laid against others. An accident, an empty tank or a flat tire halts a team until",
    "  it lays the *remedy*, in most editions another Roll, too; a Stop, until it lays a Roll. A Speed",
    "  Limit leaves it only 25s and 50s.",
    "- Each of the four *safeties* protects from its hazard for the rest of the round. Laid out of",
    "  turn, as an answer to that very hazard, it is a *coup fourré*: it pays a bonus where points are",
    "  counted, and the turn goes on from that seat.",
    "- A *round* ends when a team has completed the trip or no cards are left. Points are counted then;",
    "  in two editions there is only a winner. A *match* is rounds until a team has 5,000 points.",
)


def section_rows(layout: tuple[Section, ...]) -> list[str]:
    """Lines of a Markdown table of sections."""
    return [
        "| section | from | size | values | meaning |",
        "|---|--:|--:|---|---|",
        *(f"| `{one.name}` | {one.start} | {one.size} | 0 .. {one.high} | {one.meaning} |" for one in layout),
    ]


def size_rows() -> list[str]:
    """Lines of a Markdown table: the sizes of every table that some edition has, and of the padded layout."""
    tables = sorted({table for name in editions() for table in edition(name).tables})
    rows = []
    for players, teams in tables:
        rules = next(
            edition(name).table(players, teams)
            for name in sorted(editions(), key=lambda name: name != "parker")
            if (players, teams) in edition(name).tables
        )
        sizes = sections(rules)[-1].stop, num_actions(teams), full_state_sections(rules)[-1].stop
        rows.append(f"| {table_name(players, teams)} | {sizes[0]} | {sizes[1]} | {sizes[2]} |")
    padded = ObservationSpec(padded=1)
    rules = edition("parker").table(2)
    sizes = sections(rules, padded)[-1].stop, num_actions(4), full_state_sections(rules, padded)[-1].stop
    rows.append(f"| any, `padded` | {sizes[0]} | {sizes[1]} | {sizes[2]} |")
    return rows


def meaning_of(field: str) -> str:
    """The question that a rule answers, and what its values mean."""
    known = FIELDS[field]
    values = ", ".join(f"{value} {name.replace('_', ' ')}" for value, name in enumerate(known.choices))
    return known.question + (f" ({values})" if values else "")


def observations_page() -> str:
    """The page about observations and actions."""
    parker = edition("parker")
    two = parker.table(2)
    lines = [
        "# Observations, actions and the full state",
        "",
        "After this page you can read every number of an observation, name every action, and find a section",
        "by its name.",
        "Made from the code by `python docs/generate.py`.",
        "",
        f"## Observation (version {OBSERVATION_VERSION}), two players",
        "",
        "A row of int8. Teams and seats are counted from the observer: its own first, then to the left.",
        'In code: `env.observation_sections`; `env.section("km")` is the slice of a section, and',
        '`env.columns` has a name for each number (`"draw_pile"`, `"hand[3]"`), on the vector and PettingZoo',
        "environments; Gymnasium's have `section` and `columns` (after `gymnasium.make`: `env.unwrapped`).",
        "The last section is left out by `observe_unseen=False`.",
        "In words: `env.describe(seat)`, or `describe()` of one Gymnasium game, which tells no hidden card",
        "(`render()` shows all hands).",
        "",
        *section_rows(sections(two)),
        "",
        "The order by card type (`games.millebornes.cards.Card`): "
        + ", ".join(f"{card} {name}" for card, name in enumerate(CARD_NAMES))
        + ".",
        "",
        "## Sizes by table",
        "",
        "The same in every edition that has the table; the full state depends on the deck too.",
        "",
        "| table | observation | actions | full state |",
        "|---|--:|--:|--:|",
        *size_rows(),
        "",
        LEGEND,
        "",
        "## One layout for all tables and editions",
        "",
        "`vector_env(..., padded=True)` gives every table the layout of the largest (8 seats, 4 teams): a "
        "section starts at the same place everywhere, and seats and teams that a table does not have are 0. "
        "The action mask has the 52 ids of 4 teams. `observe_rules=True` appends the rules themselves, so "
        "that one network can tell the editions apart:",
        "",
        "| number | rule | counted in | meaning |",
        "|--:|---|--:|---|",
        *(
            f"| {place} | `{name}` | {FIELDS[name].unit} | {meaning_of(name)} |"
            for place, name in enumerate(Rules._fields)
        ),
        "",
        "## Full state, two players",
        "",
        "`env.state()`: the observation of the seat that decides, then what it cannot see. In code: "
        "`env.state_sections`.",
        "",
        *section_rows(full_state_sections(two)[len(sections(two)) :]),
        "",
        "## Actions",
        "",
        "The ids of a table with fewer teams are the first ids of a table with more.",
        "",
        "| id | action (3 teams) |",
        "|--:|---|",
    ]
    teams = parker.table(3).teams
    lines += [f"| {action} | {action_name(action, teams)} |" for action in range(num_actions(teams))]
    return "\n".join(lines) + "\n"


def usual(field: str, sheets: list[Edition]) -> str | None:
    """Return the value that most editions use; None if no single value is the most frequent."""
    counted = Counter(cell(sheet, field) for sheet in sheets)
    counted.pop("-", None)
    (value, most), *others = [*counted.most_common(2), ("", 0)][:2]
    return None if others[0][1] == most else value


def cited(sheet: Edition, field: str, most_play: str | None) -> str:
    """The value of a rule, bold where most editions play another, with its source below."""
    value = cell(sheet, field)
    if value == "-":
        return value
    marked = value if most_play in (None, value) else f"**{value}**"
    return f"{marked}<br><sub>{sheet.sources[field]}</sub>"


def asked(field: str) -> str:
    """A rule's question and its name."""
    return f"{FIELDS[field].question} <sub>`{field}`</sub>"


def rulebook_page() -> str:
    """The page that sets the editions beside each other, each point with its source."""
    sheets = [edition(name) for name in editions()]
    lines = [
        "# The rulebook, edition by edition",
        "",
        "After this page you know every rule of each edition and where its sheet says so. "
        "Made from the rule sheets in `millebornes_env/games/millebornes/sheets` by "
        "`python docs/generate.py`; in a terminal: `python -m millebornes_env editions`. Below each value "
        "stands its source: the line of a rule text (`000:219`), another sheet by its name, a section of our "
        "comparison (`rules 1.4`) or a "
        "ruling where the sheets are silent (`E34`): [rulings.md](rulings.md) explains them. Every rule can "
        'be overridden by its name: `edition("parker").replace(max_200=4)`. A sheet of your own: '
        "[extend.md](../environment/extend.md#add-an-edition).",
        "",
        "## The game in short",
        "",
        *IN_SHORT,
        "",
        "## The editions",
        "",
        "| edition | rule sheet | in short |",
        "|---|---|---|",
        *(f"| `{sheet.name}` | {sheet.title} | {sheet.summary} |" for sheet in sheets),
        "",
        f"{LEGEND} A dash: the rule means nothing in that edition. Bold: most editions play otherwise.",
    ]
    for chapter in CHAPTERS:
        different, same = agreement(chapter, sheets)
        rows = [
            [asked(field), *(cited(sheet, field, usual(field, sheets)) for sheet in sheets)]
            for field in different
        ]
        lines += ["", f"## {chapter}", ""]
        if chapter == "Tables":
            title, *tables = tables_row(sheets)
            sources = (f"<br><sub>{sheet.sources['players']}</sub>" for sheet in sheets)
            rows.insert(0, [title, *(a + b for a, b in zip(tables, sources, strict=True))])
        if rows:
            lines += ["| | " + " | ".join(f"`{sheet.name}`" for sheet in sheets) + " |"]
            lines += ["|---" * (len(sheets) + 1) + "|", *("| " + " | ".join(row) + " |" for row in rows)]
        if same:
            lines += ["", "The same in all editions:", "", *same_rows(same, sheets)]
    return "\n".join([*lines, "", *size_lines()]) + "\n"


def same_rows(same: dict[str, str], sheets: list[Edition]) -> list[str]:
    """Lines of a Markdown table of the rules in which all agree, those of the same sources together."""
    rows: dict[str, list[str]] = {}
    for field, value in same.items():
        said = [f"`{sheet.name}` {sheet.sources[field]}" for sheet in sheets if cell(sheet, field) != "-"]
        rows.setdefault("<br>".join(said), []).append(f"{asked(field)}: {value}")
    return [
        "| rule | sources |",
        "|---|---|",
        *(f"| {'<br>'.join(rules)} | <sub>{sources}</sub> |" for sources, rules in rows.items()),
    ]


def size_lines() -> list[str]:
    """Lines of the section with all tables of all editions."""
    lines = [
        "## Every table as an environment",
        "",
        'A line is `vector_env(4096, edition="parker", players=4, teams=2)`, `millebornes_v0.env(...)` or, '
        "for [the race](race.md), `wielerspel_v0.env(...)` with these arguments. "
        "[observations.md](../environment/observations.md) names each number and each action.",
        "",
        "| edition | players | teams | observation | actions | full state |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for game in GAMES.values():
        for name in game.sheet_names:
            sheet: Any = game.sheet(name)  # a rule sheet has more than a `Sheet` must have
            for players, teams in getattr(sheet, "tables", [(seats, seats) for seats in sheet.players]):
                env = vector_env(1, name, players=players, teams=teams)
                sizes = (
                    env.observation_sections[-1].stop,
                    env.single_action_space.n,
                    env.state_sections[-1].stop,
                )
                lines.append(f"| `{name}` | " + " | ".join(map(str, (players, teams, *sizes))) + " |")
    return lines


PAGES = {
    "environment/observations.md": observations_page,
    "rules/rulebook.md": rulebook_page,
    "research/card.md": card.page,
    "research/card.json": card.as_json,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

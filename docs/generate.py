"""Write the pages of docs/ that are made from the code: `python docs/generate.py` (tests compare them)."""

from __future__ import annotations

from pathlib import Path

from millebornes_env import edition
from millebornes_env.millebornes.actions import action_name, num_actions
from millebornes_env.millebornes.observation import (
    OBSERVATION_VERSION,
    Section,
    full_state_sections,
    sections,
)

FOLDER = Path(__file__).parent
TABLES = (2, 3, 4, 6)


def section_rows(layout: tuple[Section, ...]) -> list[str]:
    """Lines of a Markdown table of sections."""
    return [
        "| section | from | size | values | meaning |",
        "|---|--:|--:|---|---|",
        *(f"| `{one.name}` | {one.start} | {one.size} | 0 .. {one.high} | {one.meaning} |" for one in layout),
    ]


def observations_page() -> str:
    """The page about observations and actions."""
    parker = edition("parker")
    two = parker.table(2)
    lines = [
        "# Observations, actions and the full state",
        "",
        "Made from the code by `python docs/generate.py`.",
        "",
        f"## Observation (version {OBSERVATION_VERSION}), two players",
        "",
        "A row of int8. Teams and seats are counted from the observer: its own first, then to the left.",
        "In code: `env.observation_sections`. The last section is left out by `observe_unseen=False`.",
        "",
        *section_rows(sections(two)),
        "",
        "## Sizes by table (`parker`)",
        "",
        "| players | teams | observation | actions | full state |",
        "|--:|--:|--:|--:|--:|",
    ]
    for players in TABLES:
        rules = parker.table(players)
        sizes = (sections(rules)[-1].stop, num_actions(rules.teams), full_state_sections(rules)[-1].stop)
        lines.append(f"| {players} | {rules.teams} | {sizes[0]} | {sizes[1]} | {sizes[2]} |")
    lines += [
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


PAGES = {"observations.md": observations_page}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""A page for each edition, with PettingZoo's headings, and its tables."""

from __future__ import annotations

from typing import Any

from millebornes_env import edition, editions, vector_env
from millebornes_env.all_sheets import edition as any_edition
from millebornes_env.games import GAMES
from millebornes_env.render.editions import table_name


def facts(rows: dict[str, str]) -> list[str]:
    """Lines of a Markdown table of two columns."""
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]


def table_section(name: str, players: int, teams: int, anchor: str) -> list[str]:
    """Lines about one table, by the words of PettingZoo's pages."""
    env = vector_env(1, name, players=players, teams=teams)
    module = "wielerspel_v0" if anchor else "millebornes_v0"
    names = ", ".join(f"`'player_{seat}'`" for seat in range(min(players, 2)))
    heading = f"{players} players" + ("" if teams == players else f" in {teams} teams")
    options = f'edition="{name}", players={players}' + ("" if teams == players else f", teams={teams}")
    sizes = env.observation_sections[-1].stop, int(env.single_action_space.n)
    return [
        f"## {heading}",
        "",
        *facts(
            {
                "Import": f"`from millebornes_env import {module}`",
                "Make": f"`{module}.env({options})`, `vector_env(4096, {options})`",
                "Actions": "Discrete",
                "Parallel API": "No: one seat acts at a time",
                "Manual Control": f"`python -m millebornes_env play --edition {name} --players {players}`",
                "Agents": f"{names}{', ...' if players > 2 else ''}",
                "Agents count": str(players),
                "Action Shape": "`(1,)`",
                "Action Values": f"`Discrete({sizes[1]})`",
                "Observation Shape": f"`({sizes[0]},)`",
                "Observation Values": "int8, 0 to the highest value of each section",
                "Full state": f"`({env.state_sections[-1].stop},)`" if env.state_sections else "-",
                "Episodes": ", ".join(f"`{kind}`" for kind in env.game.module().EPISODES),
                "Rewards": ", ".join(f"`{kind}`" for kind in env.game.module().REWARDS),
            }
        ),
        "",
    ]


def observation_section(name: str) -> list[str]:
    """Lines about what is seen at the sheet's smallest table."""
    env = vector_env(1, name)
    return [
        "## Observation Space",
        "",
        f"With {env.players} players; a dictionary of `observation` and `action_mask` in the AEC "
        "environment, arrays in the vector environment. Other tables have the same sections in other sizes.",
        "",
        "| section | from | size | values | meaning |",
        "|---|--:|--:|---|---|",
        *(
            f"| `{one.name}` | {one.start} | {one.size} | 0 .. {one.high} | {one.meaning} |"
            for one in env.observation_sections
        ),
        "",
        "## Legal Actions Mask",
        "",
        "int8, 1 where an action is legal. An illegal action raises an error that names the game, the seat "
        "and the play.",
        "",
    ]


def edition_page(name: str, race: bool) -> str:
    """The page of a sheet."""
    sheet: Any = any_edition(name) if race else edition(name)
    rules = "[race.md](../race.md)" if race else "[the rulebook](../rulebook.md)"
    lines = [
        f"# `{name}`",
        "",
        f"{sheet.title}." if not str(sheet.title).endswith(".") else str(sheet.title),
        "",
        f"{getattr(sheet, 'summary', '')}".strip(),
        "",
        f"Every rule, with its source: {rules}. Every rule can be overridden by its name: "
        f'`edition("{name}").replace(...)`.',
        "",
    ]
    seated = [(players, players) for players in sheet.players] if race else sheet.tables
    for players, teams in seated:
        lines += table_section(name, players, teams, "race" if race else "")
    return "\n".join([*lines, *observation_section(name)])


def pages() -> dict[str, str]:
    """All pages, by their places."""
    found = {f"editions/{name}.md": edition_page(name, race=False) for name in editions()}
    for name in GAMES["wielerspel"].editions:
        found[f"editions/{name}.md"] = edition_page(name, race=True)
    rows = [
        f"| [`{name}`]({name}.md) | {edition(name).title} | "
        + ", ".join(table_name(*table) for table in edition(name).tables)
        + " |"
        for name in editions()
    ]
    toc = "\n".join(place.removeprefix("editions/").removesuffix(".md") for place in found)
    found["editions/index.md"] = "\n".join(
        [
            "# Editions and tables",
            "",
            "| edition | rule sheet | tables |",
            "|---|---|---|",
            *rows,
            "",
            "```{toctree}",
            ":hidden:",
            "",
            toc,
            "```",
            "",
        ]
    )
    return found

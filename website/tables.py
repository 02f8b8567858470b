"""A page for each edition with its rules, and one for each of its tables under PettingZoo's headings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from millebornes_env import VectorEnv, edition, editions, vector_env
from millebornes_env.games import GAMES, Game
from millebornes_env.notation import write_position
from millebornes_env.render.editions import CHAPTERS, cell, fields_of, table_name

_LEADERBOARDS: Final = {"millebornes": "leaderboard", "wielerspel": "race_leaderboard"}
_MODULES: Final = {"millebornes": "millebornes_v0", "wielerspel": "wielerspel_v0"}
_RULES: Final = {"millebornes": "[The rulebook](../rulebook.md)", "wielerspel": "[The race](../race.md)"}
_REWARDS: Final = {
    "points": "The points of the episode less the mean of the others' points, in thousands; where an edition "
    "counts no points, as `win`.",
    "win": "1 to the winner, and -1 shared among the others.",
}
"""What `reward="..."` pays; [a shared win](../training.md) is the same in all games."""


def facts(rows: dict[str, str]) -> list[str]:
    """Lines of a Markdown table of two columns."""
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]


def seated(players: int, teams: int) -> str:
    """A table in words."""
    return f"{players} players" + ("" if teams == players else f" in {teams} teams")


def file_of(name: str, players: int, teams: int) -> str:
    """The name of a table's page, without its ending: `parker-4-in-2`."""
    return f"{name}-{players}" + ("" if teams == players else f"-in-{teams}")


def options_of(name: str, players: int, teams: int) -> str:
    """The arguments that make an environment of this table."""
    return f'edition="{name}", players={players}' + ("" if teams == players else f", teams={teams}")


def picture_lines(env: VectorEnv) -> list[str]:
    """The first deal of a table, which opens in the page; nothing for games that have no picture."""
    if not env.game.has("picture"):
        return []
    env.reset(seed=1)
    position = write_position(env.get_states()[0], env.edition, env.rules)
    return ["```picture", *position.splitlines(), "```", ""]


def facts_of(env: VectorEnv, name: str) -> list[str]:
    """The box of PettingZoo's pages."""
    players, module = env.players, _MODULES[env.game.name]
    options = options_of(name, players, env.teams)
    names = ", ".join(f"'player_{seat}'" for seat in range(players))
    play = f"python -m millebornes_env play --edition {name} --players {players}"
    if env.teams != players:
        play += f" --teams {env.teams}"
    return facts(
        {
            "Import": f"`from millebornes_env import {module}`",
            "Make": f"`{module}.env({options})`, `vector_env(4096, {options})`",
            "Actions": "Discrete",
            "Parallel API": "No: one seat acts at a time",
            "Manual Control": f"`{play}`",
            "Agents": f"`agents=[{names}]`",
            "Agents count": str(players),
            "Action Shape": "`()`",
            "Action Values": f"`Discrete({int(env.single_action_space.n)})`",
            "Observation Shape": f"`({env.observation_sections[-1].stop},)`",
            "Observation Values": "int8, 0 to the highest value of each section",
            "Full state": f"`({env.state_sections[-1].stop},)`" if env.state_sections else "-",
            "Episodes": ", ".join(f"`{kind}`" for kind in env.game.module().EPISODES),
            "Rewards": ", ".join(f"`{kind}`" for kind in env.game.module().REWARDS),
        }
    )


def observation_lines(env: VectorEnv) -> list[str]:
    """What a seat sees, and which actions are legal."""
    return [
        "## Observation Space",
        "",
        "In the AEC environment a dictionary of `observation` and `action_mask`, in the vector environment "
        "an array int8[N, O] and `infos['action_mask']`. Seats and teams are counted from the observer.",
        "",
        "| section | from | size | values | meaning |",
        "|---|--:|--:|---|---|",
        *(
            f"| `{one.name}` | {one.start} | {one.size} | 0 .. {one.high} | {one.meaning} |"
            for one in env.observation_sections
        ),
        "",
        "### Legal Actions Mask",
        "",
        "int8, 1 where an action is legal. An illegal action raises an error that names the game, the seat "
        "and the play.",
        "",
    ]


def action_lines(env: VectorEnv) -> list[str]:
    """What each action is."""
    rulebook = env.game.module()
    rows = [
        f"| {action} | {rulebook.action_name(action, env.rules, 0)} |"
        for action in range(int(env.single_action_space.n))
    ]
    return ["## Action Space", "", "As seat 0 reads them.", "", "| id | action |", "|--:|---|", *rows, ""]


def reward_lines(env: VectorEnv) -> list[str]:
    """What is paid at the end of an episode."""
    rows = [f"| `{kind}` | {_REWARDS[kind]} |" for kind in env.game.module().REWARDS]
    return [
        "## Rewards",
        "",
        "0 until the episode ends. Members of a team are paid the same, and the rewards of the teams add up "
        "to 0 ([a shared win](../training.md#what-a-shared-win-pays)).",
        "",
        "| `reward` | at the end |",
        "|---|---|",
        *rows,
        "",
    ]


def usage_lines(env: VectorEnv, name: str) -> list[str]:
    """The loop of PettingZoo's pages."""
    module, options = _MODULES[env.game.name], options_of(name, env.players, env.teams)
    return [
        "## Usage",
        "",
        "```python",
        f"from millebornes_env import {module}",
        "",
        f'env = {module}.env({options}, render_mode="human")',
        "env.reset(seed=42)",
        "",
        "for agent in env.agent_iter():",
        "    observation, reward, termination, truncation, info = env.last()",
        "    if termination or truncation:",
        "        action = None",
        "    else:",
        '        action = env.action_space(agent).sample(observation["action_mask"])',
        "    env.step(action)",
        "env.close()",
        "```",
        "",
        "Many games at once, and one learner against agents: [gymnasium.md](../gymnasium.md). The classes: "
        "[Environments](../reference/environments.md).",
        "",
        "## Version History",
        "",
        f"- v0: the first version; its observations are of version {env.game.version()}.",
        "",
    ]


def table_page(game: Game, name: str, players: int, teams: int, docs: Path) -> str:
    """The page of one table."""
    env = vector_env(1, name, players=players, teams=teams)
    lines = [f"# `{name}`, {seated(players, teams)}", "", f"One of the tables of [{name}]({name}.md).", ""]
    lines += picture_lines(env)
    lines += [*facts_of(env, name), ""]
    report = f"{_LEADERBOARDS[game.name]}/{name}-{players}/report.md"
    is_usual = env.edition.table(players) == env.rules
    if is_usual and (docs / report).is_file():
        lines += [f"Who plays best here: [the leaderboard's report](../{report}).", ""]
    lines += observation_lines(env) + action_lines(env) + reward_lines(env) + usage_lines(env, name)
    return "\n".join(lines)


def linked(source: str) -> str:
    """A source whose rulings lead to the positions that show them."""
    return re.sub(r"\bE(\d+)\b", r"[E\1](../rulings_positions.md#e\1)", source)


def rule_lines(name: str) -> list[str]:
    """The rules of an edition of Mille Bornes with their sources, chapter by chapter."""
    sheet = edition(name)
    lines = [
        "## Rules",
        "",
        "Each with its source ([what the sources are](../rulings.md#how-sources-are-cited)).",
        "",
    ]
    for chapter in CHAPTERS:
        lines += [f"### {chapter}", "", "| rule | | source |", "|---|---|---|"]
        for field in fields_of(chapter):
            value = cell(sheet, field)
            source = "" if value == "-" else linked(sheet.sources[field])
            lines.append(f"| `{field}` | {value} | {source} |")
        lines.append("")
    return lines


def edition_page(game: Game, name: str) -> str:
    """The page of a sheet."""
    sheet: Any = game.sheet(name)
    title, summary = str(sheet.title), str(getattr(sheet, "summary", ""))
    files = [(seated(*table), file_of(name, *table)) for table in tables_of(sheet)]
    return "\n".join(
        [
            f"# `{name}`",
            "",
            f"{title.rstrip('.')}. {summary}".strip(),
            "",
            f"{_RULES[game.name]} sets the rules beside those of other editions. Every rule can be "
            f'overridden by its name: `edition("{name}").replace(...)`.',
            "",
            "## Tables",
            "",
            *(f"- [{words}]({file}.md)" for words, file in files),
            "",
            "```{toctree}",
            ":hidden:",
            "",
            *(f"{words} <{file}>" for words, file in files),
            "```",
            "",
            *(rule_lines(name) if name in editions() else []),
        ]
    )


def tables_of(sheet: Any) -> list[tuple[int, int]]:
    """Players and teams of every table of a sheet."""
    found = getattr(sheet, "tables", None) or [(players, players) for players in sheet.players]
    return [(int(players), int(teams)) for players, teams in found]


def pages(docs: Path) -> dict[str, str]:
    """All pages, by their places.

    Args:
        docs: the folder of the pages that people write, where the reports are.
    """
    found, rows, names = {}, [], []
    for game in (GAMES[key] for key in _MODULES):
        for name in game.sheet_names:
            sheet: Any = game.sheet(name)
            tables = tables_of(sheet)
            names.append(name)
            found[f"editions/{name}.md"] = edition_page(game, name)
            for table in tables:
                found[f"editions/{file_of(name, *table)}.md"] = table_page(game, name, *table, docs=docs)
            links = ", ".join(f"[{table_name(*table)}]({file_of(name, *table)}.md)" for table in tables)
            rows.append(f"| [`{name}`]({name}.md) | {sheet.title} | {links} |")
    head = ["# Editions and tables", "", "| edition | rule sheet | tables |", "|---|---|---|"]
    toc = ["", "```{toctree}", ":hidden:", "", *names, "```", ""]
    found["editions/index.md"] = "\n".join([*head, *rows, *toc])
    return found


__all__ = ["pages", "tables_of"]

"""The data card of a folder of recorded rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from millebornes_env._util.versions import versions
from millebornes_env.arena.recording.description import sizes

_HEAD: Final = """\
---
pretty_name: Recorded rounds of a card game
tags:
- reinforcement-learning
- imitation-learning
- tabular
configs:
- config_name: decisions
  data_files: decisions/*.parquet
  default: true
- config_name: rounds
  data_files: rounds/*.parquet
---
"""
"""Metadata for Hugging Face `datasets`, with the two tables as configurations."""

_READING: Final = """\
## Reading it

```python
import pandas, polars
from datasets import load_dataset

decisions = pandas.read_parquet("decisions")
decisions = polars.read_parquet("decisions/*.parquet")
decisions = load_dataset(".", "decisions")["train"]
```

`millebornes_env.arena.recording.open_data(".")` checks the files first; `millebornes record --check --out .`
plays every round again and compares it with the rows, number by number.
"""


class Column(NamedTuple):
    """A column of a table of recorded rounds.

    Attributes:
        name: name of the column.
        type: type of its numbers, such as "int8".
        size: length of the list in each row; 0: a single value.
        meaning: description.
    """

    name: str
    type: str
    size: int
    meaning: str


def card(described: Mapping[str, Any], summary: Mapping[str, int], commands: Sequence[str]) -> str:
    """Return the card, in Markdown.

    Args:
        described: description of the recording.
        summary: numbers of rounds, decisions, bytes and files.
        commands: commands that made it.
    """
    agents = ", ".join(f"`{one['name']}`" for one in described["agents"])
    table = f"`{described['edition']}`, {described['players']} players in {described['teams']} teams"
    each = summary["bytes"] / max(1, summary["decisions"])
    lines = [
        _HEAD,
        f"# {summary['rounds']:,} rounds of {agents}",
        "",
        f"The game `{described['game']}`, edition {table}, recorded by millebornes_env. Every deal is played "
        f"{described['teams']} times, once from each team's place: round n has the cards of deal "
        f"n // {described['teams']}, and agent i plays team (i + n) % {described['teams']}.",
        "",
        "| | |",
        "|---|---|",
        f"| rounds | {summary['rounds']:,} |",
        f"| decisions | {summary['decisions']:,} |",
        f"| bytes a decision | {each:.1f} |",
        f"| files of each table | {summary['files']} |",
        f"| seed | {described['seed']} |",
        f"| version of observations | {described['observation_version']} |",
        f"| version of the format | {described['format_version']} |",
        *(f"| {name} | {version} |" for name, version in versions().items() if name != "platform"),
        "",
        "Agents, with a digest of the code and the network of each:",
        "",
        *(_agent_line(number, one) for number, one in enumerate(described["agents"])),
        "",
        "Made by:",
        "",
        "```",
        *commands,
        "```",
        "",
        "## Table `decisions`: a row for each decision",
        "",
        *_table(decision_columns(described)),
        "",
        "## Table `rounds`: a row for each round",
        "",
        *_table(round_columns(described)),
        "",
        *_observation(described),
        "",
        "## Actions",
        "",
        "| id | action |",
        "|---|---|",
        *(f"| {action} | {name} |" for action, name in enumerate(described["actions"])),
        "",
        _READING,
    ]
    return "\n".join(lines)


def _agent_line(number: int, agent: Mapping[str, Any]) -> str:
    sees = ", which sees hidden cards" if agent["cheats"] else ""
    return f"- {number}: `{agent['name']}` ({agent['fingerprint']}){sees}"


def decision_columns(described: Mapping[str, Any]) -> list[Column]:
    """Return the columns of the table of decisions."""
    numbers, actions, hidden = sizes(described)
    columns = [
        Column("round", "int32", 0, "the round, from 0"),
        Column("decision", "int16", 0, "the number of the decision in its round, from 0"),
        Column("seat", "int8", 0, f"the acting seat; its team is `seat % {described['teams']}`"),
        Column("agent", "int8", 0, "the number of the agent, as above"),
        Column("observation", "int8", numbers, "the seat's observation, with the sections below"),
        Column("action_mask", "int8", actions, "1 where an action is legal"),
        Column("action", "int8", 0, "the chosen action"),
        Column(
            "reward_to_go",
            "float32",
            0,
            f"the seat's undiscounted return to the end of the round ({described['reward']})",
        ),
    ]
    if hidden:
        meaning = "the number of each card in the other hands, to the left; hidden from the agents"
        columns.append(Column("hidden", "int8", hidden, meaning))
    return columns


def round_columns(described: Mapping[str, Any]) -> list[Column]:
    """Return the columns of the table of rounds."""
    seats, teams = described["players"], described["teams"]
    return [
        Column("round", "int32", 0, "the round, from 0"),
        Column("deal", "int32", 0, "rounds of one deal have the same cards"),
        Column("sheet", "int32", 0, "number of the rule sheet, if each deal draws one"),
        Column("decisions", "int32", 0, "the number of rows in `decisions`"),
        Column("agents", "int8", teams, "the agent of each team"),
        Column("points", "int16", teams, "each team's points"),
        Column("rewards", "float32", seats, f"each seat's reward ({described['reward']})"),
        Column("winner", "int8", 0, "the sole winning team, or -1"),
        Column("notation", "string", 0, "the deal and every play: `millebornes_env.notation.read_record`"),
    ]


def _table(columns: Sequence[Column]) -> list[str]:
    kinds = [f"{one.type}[{one.size}]" if one.size else one.type for one in columns]
    rows = [f"| `{one.name}` | {kind} | {one.meaning} |" for one, kind in zip(columns, kinds, strict=True)]
    return ["| field | type | meaning |", "|---|---|---|", *rows]


def _observation(described: Mapping[str, Any]) -> list[str]:
    rows = [
        f"| `{one['name']}` | {one['start']} | {one['size']} | {one['high']} | {one['meaning']} |"
        for one in described["observation"]
    ]
    head = ["| section | from | numbers | at most | meaning |", "|---|---|---|---|---|"]
    return ["## What an observation holds", "", *head, *rows]

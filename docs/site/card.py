"""The benchmark card: what the benchmarks measure and what they do not, as data and as a page.

It follows what OpenReward's environment cards and the Evaluations & Datasets track of NeurIPS ask for. The
words are those of docs/research/card.toml; splits, decks, tables and versions come from the code.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from millebornes_env import edition, editions, mini_decks
from millebornes_env.games.millebornes.observation import OBSERVATION_VERSION
from millebornes_env.games.variants import splits
from research.baselines.plan import PROTOCOL

_ROOT: Final = Path(__file__).parents[2]


def content() -> dict[str, Any]:
    """Return the card as data."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    words = tomllib.loads((_ROOT / "docs" / "research" / "card.toml").read_text(encoding="utf-8"))
    return {
        "name": project["name"],
        "version": project["version"],
        "description": project["description"],
        **words,
        "licences": {"code, networks and results": project["license"], **words["licences"]},
        "protocols": {
            "exploitability": PROTOCOL,
            "variants": sorted({name.partition(":")[0] for name in splits()}),
            "environment": "millebornes_v0",
            "observation": OBSERVATION_VERSION,
        },
        "splits": {name: int(one.size) for name, one in splits().items()},
        "decks": list(mini_decks()),
        "editions": {name: edition(name).title for name in editions()},
        "tables": sum(len(edition(name).tables) for name in editions()),
    }


def as_json() -> str:
    """Return the text of docs/research/card.json."""
    return json.dumps(content(), indent=2, ensure_ascii=False) + "\n"


def page() -> str:
    """Return the text of docs/research/card.md."""
    card = content()
    versions = (
        f"{name} {', '.join(one) if isinstance(one, list) else one}"
        for name, one in card["protocols"].items()
    )
    tasks = [
        [
            f"[{task['name']}]({task['page']})",
            *(task[key] for key in ("question", "metric")),
            *(", ".join(f"`{name}`" if ":" in name or "-" in name else name for name in task[key])
              for key in ("tune_on", "report_on")),
            task["verified_by"],
        ]
        for task in card["tasks"]
    ]  # fmt: skip
    lines = [
        "# Benchmark card: what this measures and what it does not",
        "",
        "After this page you know which claims a result on these benchmarks supports. Made by",
        "`python docs/generate.py` from [card.toml](card.toml) and the code. For programs: "
        "[card.json](card.json).",
        "",
        f"**Purpose.** {card['purpose']} Not for: {card['not_for'][0].lower()}{card['not_for'][1:]}",
        "",
        "## What it does not measure",
        "",
        *_list(card["limitations"]),
        "",
        "## Claims that a result can support",
        "",
        *_table(["claim", "assumes"], [[one["claim"], one["assumes"]] for one in card["claims"]]),
        "",
        "## Tasks",
        "",
        *_table(["task", "question", "metric", "tune on", "report on", "how an answer is verified"], tasks),
        "",
        *_table(["split", "sheets"], [[f"`{name}`", f"{size:,}"] for name, size in card["splits"].items()]),
        "",
        f"Versions: {'; '.join(versions)}. A change of rules, splits or statistics gets a new version, and "
        "results name theirs.",
    ]
    for heading in ("compute", "licences", "provenance"):
        lines += ["", f"## {heading.capitalize()}", ""]
        lines += _list([f"**{name}**: {text}" for name, text in card[heading].items()])
    lines += ["", "## Verification of the rules", "", *_list(card["verification"])]
    lines += [
        "",
        "## People",
        "",
        f"{card['people']} [What a study stores](../start/play.md#studies-with-people).",
    ]
    return "\n".join(lines) + "\n"


def _list(texts: Sequence[str]) -> list[str]:
    return [f"- {text}" for text in texts]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (headings, ["---"] * len(headings), *rows)]

"""The sections of the site, and the pages in each: a new page of docs/ needs its name here."""

from __future__ import annotations

from typing import Final

SECTIONS: Final = {
    "start": (
        "Start",
        "Install it, and play a first round.",
        ("readme", "install", "notebooks/01_first_round", "notebooks/02_train_and_beat"),
    ),
    "game": (
        "Games",
        "The rules, edition by edition, with their sources; positions and games as text; the cycling race.",
        (
            *(
                "rulebook",
                "editions/index",
                "rulings",
                "rulings_positions",
                "notation",
                "race",
                "add_an_edition",
                "add_a_game",
            ),
            *("audit", "audit_race"),
        ),
    ),
    "environments": (
        "Environments",
        "What an environment shows, and the libraries that it works with.",
        (
            *("observations", "histories", "gymnasium", "rllib", "works_with", "openspiel"),
            *("language_models", "data", "threads", "testing"),
        ),
    ),
    "play": (
        "Agents",
        "Who plays, who is better, and by how much.",
        (
            *("table", "studies", "agents", "models", "leaderboard", "race_leaderboard", "reports", "arena"),
            *("arnold", "search_log", "hidden_information", "research"),
        ),
    ),
    "learn": (
        "Training",
        "Scripts that learn the game, on one machine and on many.",
        ("training", "scaling", "hidden_information", "benchmarks"),
    ),
    "about": (
        "Reference",
        "The package from its docstrings; why it is as it is, and how to change it.",
        ("reference/index", "cite", "contributing", "decisions", "changelog"),
    ),
}
"""Pages that list others: the heading, what the section is about, and its pages."""

_TITLES: Final = {"race_leaderboard": "Leaderboard of the race"}
"""What a list calls a page whose own heading says too little there."""


def contents(names: tuple[str, ...], *, depth: int = 1, hidden: bool = False) -> str:
    """A table of contents in Markdown."""
    options = f":maxdepth: {depth}\n" + (":hidden:\n" if hidden else "")
    lines = (f"{_TITLES[name]} </{name}>" if name in _TITLES else f"/{name}" for name in names)
    return f"```{{toctree}}\n{options}\n" + "\n".join(lines) + "\n```\n"


def pages() -> dict[str, str]:
    """The pages of the sections, by their places, and the first page."""
    found = {
        f"{name}.md": f"# {heading}\n\n{about}\n\n{contents(within)}"
        for name, (heading, about, within) in SECTIONS.items()
    }
    rows = "\n".join(
        f"| [{heading}]({name}.md) | {about} |" for name, (heading, about, _) in SECTIONS.items()
    )
    found["index.md"] = f"{FIRST_PAGE}\n| | |\n|---|---|\n{rows}\n\n{contents(tuple(SECTIONS), hidden=True)}"
    return found


FIRST_PAGE: Final = """# Mille Bornes for machine learning

```{raw} html
<iframe class="game" src="table/index.html" title="A game of Mille Bornes against the champion"></iframe>
<p><a href="table/index.html">The game in a page of its own</a></p>
```

The game runs in this page, by the same rules code, compiled to WebAssembly; nothing is sent anywhere. On your
own machine `python -m millebornes_env play` opens it ([about the table](table.md)).

`millebornes_env` is this card game, in six editions and at 28 tables, as a vectorised PettingZoo environment:
hidden hands, answers out of turn, partners, two to eight players. It has agents to play against, an arena
that says who is better, training scripts, studies with people, and ten research questions with their answers.
"""

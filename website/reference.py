"""The reference of the package: a page for each part that users import, made from docstrings."""

from __future__ import annotations

from typing import Final

PARTS: Final = {
    "environments": (
        "Environments",
        "Many games as arrays, one game for PettingZoo, one learner for Gymnasium, and what is made of them.",
        (
            "millebornes_env",
            "millebornes_env.envs.vector",
            "millebornes_env.envs.aec",
            "millebornes_env.envs.sb3",
            "millebornes_env.single_agent",
            "millebornes_env.rollout",
        ),
    ),
    "games": (
        "Games and their rules",
        "Rule sheets, and the table of games that a game of your own is entered into.",
        ("millebornes_env.games", "millebornes_env.all_sheets", "millebornes_env.rule_sheet"),
    ),
    "notation": ("Notation", "Positions and games as text.", ("millebornes_env.notation",)),
    "agents": (
        "Agents",
        "Who plays, by name, and what an agent of your own must do.",
        ("millebornes_env.agents",),
    ),
    "arena": (
        "Arena",
        "Matches, tournaments, win rates and ratings.",
        (
            "millebornes_env.arena.match",
            "millebornes_env.arena.outcome",
            "millebornes_env.arena.tournament",
            "millebornes_env.arena.ratings",
        ),
    ),
    "text": ("Language models", "Prompts, and what answers mean.", ("millebornes_env.text",)),
    "recording": ("Recorded games", "Rounds as Parquet.", ("millebornes_env.recording",)),
    "study": (
        "Studies with people",
        "What was written of a study, read back.",
        ("millebornes_env.study",),
    ),
    "testing": (
        "Checks",
        "Checks for agents, editions and states of your own.",
        ("millebornes_env.testing",),
    ),
    "errors": ("Errors", "Every exception that the package raises.", ("millebornes_env.errors",)),
}
"""Pages: the heading, what it is about, and the modules."""


def page(heading: str, about: str, modules: tuple[str, ...]) -> str:
    """The Markdown of one page."""
    lines = [f"# {heading}", "", about, ""]
    for module in modules:
        lines += [f"## `{module}`", "", "```{eval-rst}", f".. automodule:: {module}", "   :members:"]
        lines += ["   :imported-members:" if module in _REEXPORT else "   :show-inheritance:", "```", ""]
    return "\n".join(lines)


_REEXPORT: Final = frozenset(
    (
        *("millebornes_env.agents", "millebornes_env.single_agent", "millebornes_env.notation"),
        *("millebornes_env.text", "millebornes_env.recording", "millebornes_env.testing"),
    )
)


def pages() -> dict[str, str]:
    """All pages, by their places."""
    found = {f"reference/{name}.md": page(*part) for name, part in PARTS.items()}
    names = "\n".join(PARTS)
    found["reference/index.md"] = (
        f"# Reference\n\nMade from the docstrings.\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"
    )
    return found

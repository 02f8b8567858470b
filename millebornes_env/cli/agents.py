"""The command `agents`, which lists agents with their options and tables.

    python -m millebornes_env agents
    python -m millebornes_env agents holder champion

It requires no extra.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Final

from millebornes_env._util.texts import closest
from millebornes_env.agents.champion import champions_of, describe_champions
from millebornes_env.agents.options import defaults_of, ranges_of
from millebornes_env.agents.protocol import game_of
from millebornes_env.agents.registry import AGENTS
from millebornes_env.errors import AgentError, shown
from millebornes_env.games.registry import GAMES
from millebornes_env.solving.equilibrium.agent import FOLDER as SOLVED

_OTHERS: Final = """\
A trained network is named by the path of its run folder, your own agent by my_file.py:Class or module:Class.
Options follow a colon: holder:pile=30. For compiled agents of Mille Bornes, the suffix +search adds
lookahead search with the agent as rollout policy: strategist+search."""


def listing(names: Sequence[str]) -> str:
    """Describe the named agents, or all of them and the ways to name others."""
    for name in names:
        if name not in AGENTS:
            known = ", ".join(AGENTS)
            raise AgentError(f"there is no agent {shown(name)}.{closest(name, AGENTS)} There are: {known}")
    width = max(map(len, AGENTS))
    lines = []
    for name in names or AGENTS:
        maker = AGENTS[name]
        what = (inspect.getdoc(maker) or "").partition("\n")[0]
        lines.append(f"{name:{width}}  {_played_by(name)}: {what}")
        bounds = ranges_of(maker)
        for option, default in defaults_of(maker).items():
            between = bounds.get(option)
            limits = "" if between is None else f" ({between.least:,} to {between.most:,})"
            lines.append(f"{'':{width}}    {option}={_as_typed(default)}{limits}")
        if name == "champion":
            lines += [
                f"{'':{width}}    {game}: {describe_champions(champions)}"
                for game in GAMES
                if (champions := champions_of(game))
            ]
    return "\n".join(lines if names else [*lines, "", _OTHERS])


def _played_by(name: str) -> str:
    """Describe the tables that an agent plays."""
    if name == "equilibrium":
        decks = sorted((file.stem for file in SOLVED.glob("*.npz")), key=lambda deck: (len(deck), deck))
        return f"the mini decks {', '.join(decks)}"
    if name in ("policy", "champion"):
        return "the tables that it was trained for"
    game = game_of(AGENTS[name])
    return "every game" if game is None else f"every table of {game}"


def _as_typed(default: object) -> str:
    """Format a default value as it is typed on the command line."""
    return ("no", "yes")[default] if isinstance(default, bool) else str(default)

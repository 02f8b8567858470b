"""Play against an agent, on the terminal.

    python -m millebornes_env play
    python -m millebornes_env play --against arnold --episode match
    python -m millebornes_env play --against runs/first --edition dujardin --players 4
    python -m millebornes_env play --edition arc_en_ciel --players 4

You have seat 0; the agent plays all the others, your partners too. `hint` asks a strong agent what it would
do, `undo` takes your last decision back, `?` tells the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.protocol import Agent, sees_hidden_cards
from millebornes_env.command_line import carry_out, complain
from millebornes_env.commands.options import TableArgs, parse_options, table_asked_for
from millebornes_env.commands.session import Session
from millebornes_env.envs.options import USUAL
from millebornes_env.errors import MilleBornesError
from millebornes_env.stopping import Stopped, exit_code_of

_STRONGEST = "champion"
_WEAKEST = "random"


@dataclass(kw_only=True)
class Args(TableArgs):
    """Play Mille Bornes, or another game, against an agent, on the terminal."""

    episode: str = USUAL
    """Play whole matches, or single rounds. usual: the shortest that the game has, such as round."""
    seed: int | None = None
    """Seed of the deals and of the agents. None: other cards, or dice, every time."""
    against: str | None = None
    """Who plays the other seats: `name:option=value`, the path of a run folder, or `my_file.py:Class`. None:
    who usually does in the game; in Mille Bornes the strategist."""


def main(
    arguments: Sequence[str] | None = None, source: TextIO | None = None, sink: TextIO | None = None
) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None for those of the process.
        source: where the answers come from; None: the standard input.
        sink: where the table is shown; None: the standard output.

    Returns:
        The exit code: 0; 2 if the arguments make no sense or nobody can answer; 130 if you stopped.
    """
    if source is None and sys.stdin is None:
        return complain("standard input is closed: nobody can answer")
    return carry_out(lambda: _command(arguments, source, sink), prints=sink is None)


def _command(arguments: Sequence[str] | None, source: TextIO | None, sink: TextIO | None) -> int:
    args = parse_options(Args, "play", arguments)
    seed = args.seed if args.seed is not None else int(np.random.default_rng().integers(2**32))
    edition, players, teams = table_asked_for(args, [] if args.against is None else [args.against])
    env = vector_env(
        1,
        edition,
        players=players,
        teams=teams,
        episode=args.episode,
        autoreset_mode="disabled",
    )
    env.reset(seed=seed)
    opponent = agents.load(env.game.rival if args.against is None else args.against, env, seed)
    kind: Any = Session if env.game.session is None else env.game.part("session", "play")
    person = kind.person_for(env)
    person.source, person.sink = source, sink
    person.adviser = lambda: adviser(env, seed)
    if sees_hidden_cards(opponent):
        person.say(f"note: {opponent.name} sees hidden cards")
    try:
        kind(env, person, opponent).play()
    except Stopped:
        raise
    except KeyboardInterrupt as stop:  # "q" or the end of the input: the person was told goodbye
        return exit_code_of(stop)
    return 0


def adviser(env: VectorEnv, seed: int) -> Agent | None:
    """Who is asked for hints: the champion, or the usual opponent where there is none for the table.

    None: the game has nobody but who plays at random.
    """
    try:
        return agents.load(_STRONGEST, env, seed)
    except MilleBornesError:
        rival = env.game.rival
        return None if rival == _WEAKEST else agents.load(rival, env, seed)

"""Play against an agent, on the terminal.

    python -m train.play
    python -m train.play --against arnold --episode match
    python -m train.play --against runs/first --edition dujardin --players 4

You have seat 0; the agent plays all the others, your partners too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

import numpy as np
import tyro

import agents
from agents.human import HumanAgent
from agents.protocol import Agent, Table, ask_in, is_honest
from millebornes_env import VectorEnv, vector_env
from millebornes_env.millebornes.actions import action_name
from millebornes_env.render.text import draw_score_sheet
from train.command_line import carry_out, complain
from train.stopping import Stopped, exit_code_of


@dataclass
class Args:
    """Play Mille Bornes against an agent, on the terminal."""

    against: str = "strategist"
    """Who plays the other seats: `name:option=value`, the path of a run folder, or `my_file.py:Class`."""
    edition: str = "parker"
    """The rule sheet to play by."""
    players: int = 2
    """Seats at the table."""
    episode: Literal["round", "match"] = "round"
    """One round, or a whole match."""
    seed: int | None = None
    """Of the cards. None: other cards every time."""


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
    args = tyro.cli(Args, prog="python -m train.play", args=arguments)
    seed = args.seed if args.seed is not None else int(np.random.default_rng().integers(2**32))
    env = vector_env(1, args.edition, players=args.players, episode=args.episode, autoreset_mode="disabled")
    env.reset(seed=seed)
    opponent = agents.load(args.against, env, seed)
    person = HumanAgent(Table.of(env))
    person.source, person.sink = source, sink
    if not is_honest(opponent):
        print(f"note: {opponent.name} sees hidden cards", file=sink or sys.stdout)
    try:
        play(env, person, opponent, seed)
    except Stopped:
        raise
    except KeyboardInterrupt as stop:  # "q" or the end of the input: `HumanAgent` has said goodbye
        return exit_code_of(stop)
    return 0


def play(env: VectorEnv, person: HumanAgent, opponent: Agent, seed: int) -> None:
    """Play one episode, telling what the others do and how each round ended.

    Args:
        env: of one game.
        person: seat 0.
        opponent: all other seats.
        seed: of the cards.

    Raises:
        KeyboardInterrupt: the person wants to stop.
    """
    observations, _ = env.reset(seed=seed)
    out = person.sink or sys.stdout
    over = False
    while not over:
        seat = int(env.agent_selection[0])
        action = int(ask_in(env, person if seat == 0 else opponent, observations)[0])
        if seat != 0:
            team = seat % env.teams
            print(f"player_{seat} (team {team}): {action_name(action, env.teams, team)}", file=out)
        rounds = int(env.games.states["round_number"][0])
        observations, _, ended, _, _ = env.step(np.array([action]))
        over = bool(ended[0])
        if over:
            print("\n" + draw_score_sheet(env.games.states[0], env.rules), file=out)
        if env.episode == "match" and (over or int(env.games.states["round_number"][0]) != rounds):
            totals = [int(points) for points in env.games.states["score"][0, : env.teams]]
            print(f"\nRound {rounds + 1} is over. Points of the match, team by team: {totals}", file=out)


if __name__ == "__main__":
    sys.exit(main())

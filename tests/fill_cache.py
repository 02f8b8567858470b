"""Compile what most tests need, before the processes of pytest start: `python -m tests.fill_cache`.

Two processes compile a half each, in a minute on an empty cache and in seconds on a full one. Without this,
all workers begin with the same kernels and each compiles its own copy. What is not listed here is compiled by
the test that needs it.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from millebornes_env import agents, vector_env
from millebornes_env.__main__ import main
from millebornes_env.testing import check_edition


def play(name: str, players: int, num_threads: int = 1) -> None:
    """Play a few steps and read states in every way."""
    env = vector_env(1024, name, players=players, seed=1, num_threads=num_threads)
    env.reset()
    env.step(env.sample_actions())
    env.observe(0)
    env.determinize(0)
    env.set_states(env.get_states())


def act(name: str, players: int, *names: str) -> None:
    """Let agents choose one action each."""
    env = vector_env(4, name, players=players, seed=1)
    observations, _ = env.reset()
    for agent in names:
        agents.load(agent, env).act(observations["observation"], observations["action_mask"])


def run_command(*arguments: str) -> None:
    """Run a command of the package, without its output.

    Raises:
        SystemExit: It failed.
    """
    sys.argv = ["millebornes", *arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main()
    except SystemExit as ended:
        if ended.code:
            raise


def play_against(name: str, opponent: str) -> None:
    """Step Gymnasium's environment of a game, with an opponent."""
    import gymnasium  # noqa: PLC0415

    env = gymnasium.make_vec(f"millebornes_env:millebornes/{name}", num_envs=64, opponent=opponent)
    _, infos = env.reset(seed=1)
    env.step(np.argmax(infos["action_mask"], axis=1))


def compile_rounds(folder: Path) -> None:
    """Compile the environments, agents, search and arena of Mille Bornes."""
    play("parker", 2)
    play("parker", 2, num_threads=2)
    play_against("MilleBornes-v0", "greedy")
    act("parker", 2, "greedy", "holder", "racer", "hoarder", "attacker", "strategist", "arnold", "champion")
    act("parker", 2, "champion+search")
    run_command("arena", "greedy", "holder", "--deals", "20", "--aivat", "--out", str(folder / "compiled"))
    run_command(
        "arena", "greedy", "agents/cautious.py:Cautious", "--deals", "2", "--out", str(folder / "python")
    )


def compile_races(folder: Path) -> None:
    """Compile the race, the audit and the exact solver."""
    play("arc_en_ciel", 4)
    act("arc_en_ciel", 4, "bidder", "saver", "escaper", "champion")
    play_against("Wielerspel-v0", "bidder")
    check_edition("parker", players=2, steps=50)
    run_command("solve", "mini7", "--until", "10")
    race = ("--edition", "arc_en_ciel", "--players", "2", "--deals", "2", "--out", str(folder / "race"))
    run_command("arena", "bidder", "saver", *race)


HALVES = {"rounds": compile_rounds, "races": compile_races}

if __name__ == "__main__":
    if sys.argv[1:]:
        with tempfile.TemporaryDirectory() as results:
            HALVES[sys.argv[1]](Path(results))
    else:
        halves = [subprocess.Popen([sys.executable, "-m", "tests.fill_cache", half]) for half in HALVES]
        sys.exit(max(half.wait() for half in halves))

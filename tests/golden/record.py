"""Make the golden games anew: `python tests/golden/record.py [EDITION ...]`; then read the diff.

Of many rounds at a table those are kept that show most: claims, passes, extensions, safeties, an empty pile.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from millebornes_env import Edition, edition, editions
from millebornes_env.engine.batch import NO_GAME
from millebornes_env.games.millebornes.state import NO_TEAM
from millebornes_env.notation.millebornes.actions import write_action
from tests.golden.trace import FOLDER, dealt, file_of, is_over, player, trace

ROUNDS = 2
CANDIDATES = 100
WORTH_A_KIND = 5
"""Decisions that something new to be seen may cost: shorter files are read more carefully."""


def played(sheet: Edition, players: int, teams: int, seed: int) -> list[str]:
    """The kinds of decisions of a round, and how it ended."""
    games, choose = dealt(sheet, players, teams, seed), player(seed)
    kinds = []
    while not is_over(games):
        action, state = choose(games), games.states[0]
        empty = "with an empty pile " if int(state.draw_pile) == 0 else ""
        kinds.append(empty + write_action(action, games.rules, int(state.seat)).split(" against ")[0])
        assert games.step(np.array([action], np.int64)) == NO_GAME
    return [*kinds, "completed" if int(games.states[0].winner) != NO_TEAM else "not completed"]


def golden(sheet: Edition, players: int, teams: int) -> str:
    """The text of a table's file."""
    rounds = {seed: played(sheet, players, teams, seed) for seed in range(CANDIDATES)}
    chosen: list[int] = []
    covered: set[str] = set()
    for _ in range(ROUNDS):
        best = max(
            rounds.keys() - chosen,
            key=lambda seed: (len(set(rounds[seed]) - covered) - len(rounds[seed]) / WORTH_A_KIND, -seed),
        )
        chosen.append(best)
        covered |= set(rounds[best])
    head = f"# Golden games of {sheet.name}, {players} players in {teams} teams; trace.py explains the lines."
    parts = [
        f"\nround with seed {seed}\n"
        + "\n".join(trace(dealt(sheet, players, teams, seed), sheet, player(seed)))
        for seed in sorted(chosen)
    ]
    return head + "\n" + "\n".join(parts) + "\n"


def main(names: list[str]) -> None:
    """Write the files of the named editions, or of all."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or editions():
        sheet = edition(name)
        for players, teams in sheet.tables:
            path = file_of(sheet, players, teams)
            text = golden(sheet, players, teams)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                print(f"changed: {path.name}")
                path.write_text(text, encoding="utf-8")
    if not names:
        known = {file_of(edition(name), *table) for name in editions() for table in edition(name).tables}
        for stray in set(FOLDER.glob("*.txt")) - known:
            print(f"removed: {stray.name}")
            stray.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])

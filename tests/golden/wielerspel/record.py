"""Make the race's golden games: `python tests/golden/wielerspel/record.py [TABLE ...]`; then read the diff.

Of many races at a table one is kept that shows most kinds of decisions and squares in few decisions.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from millebornes_env.games.wielerspel.actions import action_name
from millebornes_env.games.wielerspel.squares import KIND_NAMES
from millebornes_env.games.wielerspel.state import PHASE_NAMES
from tests.golden.wielerspel.trace import FOLDER, TABLES, Table, begun, is_over, play, player, trace

CANDIDATES = 100
WORTH_A_KIND = 40
"""Decisions that something new to be seen may cost: shorter files are read more carefully."""


def worth(table: Table, seed: int) -> float:
    """Score a race by how much it shows, less what it takes to read."""
    games, choose = begun(table, seed), player(seed)
    shown: set[object] = set()
    decisions = 0
    while not is_over(games):
        state, action = games.states[0], choose(games)
        shown.add((PHASE_NAMES[int(state.phase)], action_name(action).split()[0]))
        shown.add(KIND_NAMES[int(state.kind)])
        decisions += 1
        play(games, action)
    shown.add(("ending", int(games.states[0].ending)))
    return len(shown) - decisions / WORTH_A_KIND


def golden(table: Table) -> str:
    """Return the text of a table's file."""
    seed = max(range(CANDIDATES), key=lambda seed: (worth(table, seed), -seed))
    head = f"# Golden games of the race, {table.players} players, {table.changes or 'the usual sheet'}; "
    lines = trace(begun(table, seed), player(seed))
    return "\n".join([f"{head}trace.py explains the lines.", "", f"race with seed {seed}", *lines, ""])


def main(names: list[str]) -> None:
    """Write the files of the named tables, or of all."""
    FOLDER.mkdir(exist_ok=True)
    known = {table.name: table for table in TABLES}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"there is no table {', '.join(unknown)}; the tables are {', '.join(known)}")
    for table in (known[name] for name in names or known):
        text = golden(table)
        if not table.path.exists() or table.path.read_text(encoding="utf-8") != text:
            print(f"changed: {table.path.name}")
            table.path.write_text(text, encoding="utf-8")
    if not names:
        for stray in set(FOLDER.glob("*.txt")) - {table.path for table in TABLES}:
            print(f"removed: {stray.name}")
            stray.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])

"""CONTRIBUTING's recipe to add to the observation, done to a copy of the sources: all else follows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).parents[2]

LINES = """
    round_number: Annotated[T, Content(1, MAX_INT8, "finished rounds of the match")]
    covered: Annotated[T, Content(2, 1, "whether the pile has one card, or more", "team")]
"""
"""Of the table of sections; they come before the draw pile, so that nearly all others move."""

WRITERS = '''

@rule
def write_round_number(state: State, rules: RulesRecord, seat: int, row: Int8Array, at: int) -> None:
    """Section `round_number`."""
    row[at] = state.round_number


@rule
def write_covered(state: State, rules: RulesRecord, team: int, row: Int8Array, at: int) -> None:
    """Section `covered`, of one team."""
    is_covered = int(state.battle_below[team]) != NO_CARD
    row[at] = 1 if int(state.battle[team]) != NO_CARD and not is_covered else 0
    row[at + 1] = 1 if is_covered else 0
'''

CALLS = {
    "draw_pile": "round_number(state, rules, seat, row, start_of(OFFSETS.round_number, shape))",
    "battle": "covered(state, rules, team, row, part_of(OFFSETS.covered, shape, index))",
}
"""Calls that write the new sections, each before the call given."""

GAMES = """
import json
import numpy as np
from millebornes_env.agents import load
from millebornes_env.agents.millebornes.features import num_features, write_features
from millebornes_env import vector_env
from millebornes_env.games.millebornes.rules import RulesRecord, rules_record

env = vector_env(3, players=3, episode="match", seed=1)
observations, _ = env.reset()
agents = [load("racer", env), load("attacker", env)]
rules = rules_record(env.rules)
size = observations["observation"].shape[1]
played, features, right, highest = [], [], [], np.zeros(7, int)
for step in range(200):
    rows = observations["observation"]
    assert env.observation_space["observation"].contains(rows)
    row = np.zeros(size + num_features(rules, env.observation_spec), np.int8)
    row[:size] = rows[0]
    write_features(rules, env.observation_spec, row, size)
    features.append(row[size:].tolist())
    if any(one.name == "covered" for one in env.observation_sections):
        for game, state in enumerate(env.get_states()):
            teams = [(int(state["seat"]) + place) % 3 for place in range(3)]
            below, top = state["battle_below"][teams] >= 0, state["battle"][teams] >= 0
            right.append(rows[game, env.section("round_number")].tolist() == [int(state["round_number"])])
            expected = np.stack([top & ~below, below], axis=1).astype(int).ravel().tolist()
            right.append(rows[game, env.section("covered")].tolist() == expected)
            highest = np.maximum(highest, [*rows[game, env.section("round_number")], *expected])
    actions = agents[step // 5 % 2].act(rows, observations["action_mask"])
    played.append(actions.tolist())
    observations = env.step(actions).observations
results = {"size": size, "played": played, "features": features, "right": right}
print(json.dumps(results | {"highest": highest.tolist()}))
"""


def replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new), encoding="utf-8")


def results_of(folder: Path) -> dict[str, Any]:
    """Return the games' answers in plain Python, with the sources in this folder."""
    surroundings = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", GAMES],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_OF_A_HANG,
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the sources."""
    no_weights = shutil.ignore_patterns("champions", "__pycache__")
    shutil.copytree(ROOT / "millebornes_env", tmp_path / "millebornes_env", ignore=no_weights)
    return tmp_path


def test_a_section_is_a_line_a_function_and_its_call(copied: Path) -> None:
    rulebook = copied / "millebornes_env" / "games" / "millebornes"
    replaced(rulebook / "sections.py", "\n    draw_pile: Annotated[", LINES + "    draw_pile: Annotated[")
    writing = rulebook / "observation.py"
    for before_it, call in CALLS.items():
        line = f"    write_{before_it}("
        replaced(writing, line, f"    write_{call}\n{line}")
    writing.write_text(writing.read_text(encoding="utf-8") + WRITERS, encoding="utf-8")
    before, after = results_of(ROOT), results_of(copied)
    assert after["size"] == before["size"] + 1 + 2 * 3
    assert len(after["right"]) == 2 * 3 * len(after["played"])
    assert all(after["right"])
    assert min(after["highest"]) > 0
    assert after["played"] == before["played"]  # the agents read what they read before, from other places
    assert after["features"] == before["features"]

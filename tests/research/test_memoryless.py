"""`research.baselines.memoryless`: policies that are functions of observations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.policies import FunctionPolicy, write_rows
from millebornes_env.solving.values import Uniform, judge, judge_tree
from research.baselines.memoryless import SharedCfr, Table
from research.exploitability import measure
from research.parts import Part

SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"


def test_a_table_is_the_same_policy_as_a_function_of_observations() -> None:
    game = solvable(SMALL)
    table = Table(game)
    policy = table.normalized(np.random.default_rng(1).random(table.firsts[-1]))
    targets = {row.tobytes(): of for row, of in zip(table.rows, table.targets(policy), strict=True)}
    assert len(targets) < len(table.tree.decision_states)  # some information sets look the same

    def look_up(states: Any, masks: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(masks), table.rows.shape[1]), np.int8)
        write_rows(states, game.record, DEFAULT_SPEC, rows)
        return np.array([targets[row.tobytes()] for row in rows])

    expected = judge(game, FunctionPolicy("by observation", look_up))
    result = judge_tree(table.tree, table.weights(policy))
    assert [result.value, *result.best] == pytest.approx([expected.value, *expected.best], abs=1e-3)
    assert result.nash_conv > 10


def test_regrets_are_the_gains_of_changing_one_choice() -> None:
    """At the first decision of the round, by differences."""
    table = Table(solvable(SMALL))
    policy = table.normalized(np.random.default_rng(2).random(table.firsts[-1]))
    weights, step = table.weights(policy), 1e-6
    regrets = table.regrets(0, weights)
    first = np.zeros((1, table.rows.shape[1]), np.int8)
    write_rows(table.tree.decision_states[:1], table.tree.game.record, DEFAULT_SPEC, first)
    row = int((table.rows == first).all(axis=1).argmax())
    for slot in range(table.firsts[row], table.firsts[row + 1]):
        moved = policy.copy()
        moved[table.firsts[row] : table.firsts[row + 1]] *= 1 - step
        moved[slot] += step
        values = [
            judge_tree(table.tree, (one, weights[1])).value for one in (weights[0], table.weights(moved)[0])
        ]
        assert (values[1] - values[0]) / step == pytest.approx(regrets[slot], rel=1e-3, abs=1e-3)
    assert np.abs(np.add.reduceat(policy * regrets, table.firsts[:-1])).max() < 1e-9


def test_shared_regrets_come_close_to_an_equilibrium() -> None:
    solver = SharedCfr(Table(solvable(SMALL)))
    found = []
    for _ in range(3):
        solver.run(30)
        found.append(judge_tree(solver.table.tree, solver.table.weights(solver.policy())).of_range)
    assert found[2] < found[1] < found[0] < 0.01
    assert found[2] < 1e-4


def test_a_network_is_fitted_and_ppo_starts_from_it(tmp_path: Path) -> None:
    def run(name: str, samples: int, options: dict[str, Any]) -> list[float]:
        method = "selfplay" if "over" in options else "fitted"
        config = {"method": name, "deck": SMALL, "run": method, "samples": samples, "options": options}
        part = Part(f"{name}_on_{SMALL}_seed_1", 1, config, folder=tmp_path)
        return [point["percent"] for point in measure(part, lambda share: None)["curve"]]

    (fitted,) = run("fitted", 0, {"steps": 200, "rollouts": 2, "iterations": 50, "hidden": (16,)})
    uniform = judge(solvable(SMALL), Uniform()).of_range
    assert fitted < 100 * uniform / 3
    options = {"over": "fitted", "hidden": (16,), "learning_rate": 1e-5, "final_learning_rate": 1e-5}
    assert run("on", 10_000, options)[0] == pytest.approx(fitted, rel=0.1)

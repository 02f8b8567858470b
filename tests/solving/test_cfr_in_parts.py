"""CFR+ on a trunk and branches: the same iterates as on the whole tree, checkpoints, memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env.errors import SolvingError
from millebornes_env.solving import cfr_in_parts, memory
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.cfr_in_parts import SolverInParts, bytes_of_branches, solver_of
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import TRUNK

SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"
QUICK = "mini7+target=50"


def learned(solver: SolverInParts) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in solver._arrays().items()}


def without_ties(whole: Solver, parts: SolverInParts) -> None:
    """Pay a little more at each end: among choices that are worth the same, rounding decides."""
    chances = whole.tree.end_chances
    assert (np.concatenate([branch.tree.end_chances for branch in parts._branches]) == chances).all()
    more = chances * np.random.default_rng(1).uniform(0, 10, len(chances))
    whole.tree.end_values[:] += more
    start = 0
    for branch in parts._branches:
        values = branch.tree.end_values
        values[:] += more[start : start + len(values)]
        start += len(values)


@pytest.mark.parametrize("predictive", [True, False])
def test_the_iterates_are_those_of_the_whole_tree(predictive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On eight cards, to 1e-9 points: only the order of sums is another."""
    monkeypatch.setattr(cfr_in_parts, "TRUNK", 2)  # so that no round ends in the trunk
    whole = Solver(solvable("mini8"), predictive=predictive)
    parts = SolverInParts(solvable("mini8"), predictive=predictive)
    without_ties(whole, parts)
    agree(whole, parts)


def test_rounds_that_end_in_the_trunk() -> None:
    whole, parts = Solver(solvable(QUICK)), SolverInParts(solvable(QUICK))
    assert len(parts.tree.end_values) > 0
    agree(whole, parts)


def agree(whole: Solver, parts: SolverInParts) -> None:
    assert len(parts._branches) > 10
    assert parts.counts == whole.counts
    for iterations in (1, 1, 8):
        whole.run(iterations)
        parts.run(iterations)
        one, other = whole.judge(), parts.judge()
        assert (other.value, *other.best) == pytest.approx((one.value, *one.best), abs=1e-9)
        assert other.name == one.name


def test_threads_change_nothing() -> None:
    """To the last bit; and judging leaves what was learned as it is."""
    one, three = (SolverInParts(solvable(SMALL), threads=threads) for threads in (1, 3))
    one.run(12)
    for _ in range(12):
        three.run(1)
        three.judge()
    assert learned(one) == learned(three)
    assert one.judge() == three.judge()


@pytest.mark.parametrize("kind", [Solver, SolverInParts])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(kind: Any, tmp_path: Path) -> None:
    """To the last bit."""
    straight, first, second = (kind(solvable(SMALL)) for _ in range(3))
    straight.run(20)
    first.run(9)
    first.save(tmp_path / "run.npz")
    second.load(tmp_path / "run.npz")
    assert second.judge() == first.judge()
    second.run(11)
    assert second.iteration == 20
    assert learned(second) == learned(straight)


def test_after_a_checkpoint_that_is_damaged_the_solver_is_as_new(tmp_path: Path) -> None:
    """And those of other games are refused."""
    path = tmp_path / "run.npz"
    solver, new = (SolverInParts(solvable(SMALL)) for _ in range(2))
    solver.run(3)
    solver.save(path)
    with np.load(path) as result:
        arrays: dict[str, Any] = {name: result[name] for name in result.files}
    arrays["average_1"] = arrays["average_1"] * np.nan
    np.savez(path, **arrays)
    with pytest.raises(SolvingError, match="average_1 has non-finite values"):
        solver.load(path)
    assert solver.iteration == 0
    assert solver.judge() == new.judge()
    with pytest.raises(SolvingError, match=r"is a checkpoint of 'mini7-v0.*, and not of"):
        SolverInParts(solvable(QUICK)).load(path)


def test_small_games_are_kept_whole_and_large_ones_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(solver_of(solvable(SMALL)), Solver)
    monkeypatch.setattr(cfr_in_parts, "WHOLE", 4)
    done: list[tuple[int, int]] = []
    solver = solver_of(solvable(SMALL), threads=2, on_progress=lambda *at: done.append(at))
    assert isinstance(solver, SolverInParts)
    assert done == [(at, len(solver._branches)) for at in range(1, len(solver._branches) + 1)]


def test_a_game_that_does_not_fit_in_memory_says_what_it_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 3 << 30)
    with pytest.raises(
        SolvingError, match=r"mini12-v0: .* about [5-9]\.\d GiB of memory, and 3\.0 GiB are free"
    ):
        SolverInParts(solvable("mini12"))
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    SolverInParts(solvable(SMALL))


def test_the_memory_is_estimated_from_some_branches() -> None:
    """Within a third of what all take."""
    game = solvable("mini8")
    trunk = Grower(game).trunk(TRUNK)
    taken = sum(array.nbytes for array in SolverInParts(game)._arrays().values())
    for node in trunk.frontier:
        tree = Grower(game).branch(node)
        taken += tree.end_sequences.nbytes + tree.end_values.nbytes + tree.end_chances.nbytes
        for seat in tree.seats:
            taken += seat.choices.nbytes + sum(column.nbytes for column in seat.operations)
    assert bytes_of_branches(game, trunk) == pytest.approx(taken, rel=0.33)


def test_what_is_free_is_what_machine_and_container_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = tmp_path / "meminfo"
    machine.write_text("MemTotal:       24000000 kB\nMemAvailable:   8000000 kB\n", encoding="ascii")
    monkeypatch.setattr(memory, "_PROC", machine)
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.free_memory() == 8_000_000 * 1024
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert memory.free_memory() == 8_000_000 * 1024
    (tmp_path / "memory.max").write_text("4000000000\n", encoding="ascii")
    (tmp_path / "memory.stat").write_text("anon 1000000000\nfile 3\n", encoding="ascii")
    assert memory.free_memory() == 3_000_000_000

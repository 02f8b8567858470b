"""Values, policies and checkpoints of the shipped mini decks."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import mini_decks
from millebornes_env.errors import SolvingError
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.solving import values
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.checkpoints import identity
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.policies import FunctionPolicy, TablePolicy, read_policy, write_policy
from millebornes_env.solving.tree import Grower, Tree
from millebornes_env.solving.values import Uniform, judge
from tests.each import each
from tests.solving.naive import solve_sequence_form

SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"
VALUE_OF_7 = 1670 / 63
VALUE_OF_8 = 1445 / 28


def value_by_linear_program(tree: Tree) -> float:
    """The value of the game, by the sequence form of the tree: decisions and merges pass on what comes in."""
    pays: dict[tuple[int, int], float] = defaultdict(float)
    for one, other, value in zip(*tree.end_sequences.tolist(), tree.end_values.tolist(), strict=True):
        pays[one, other] += value
    decisions: list[dict[int, tuple[int, list[int]]]] = [{}, {}]
    for seat, result in zip(tree.seats, decisions, strict=True):
        for row, (head, first, count) in enumerate(zip(*seat.operations[:3], strict=True)):
            sources = seat.operations.sources[first : first - count].tolist()
            result[row] = head, list(range(first, first + count)) if count > 0 else sources
    return solve_sequence_form([seat.size for seat in tree.seats], decisions, pays)


def solved(game: str, nash_conv: float) -> Solver:
    solver = Solver(solvable(game))
    solver.run(100_000, lambda done: done.iteration % 200 == 0 and done.judge().nash_conv < nash_conv)
    return solver


# The value of the game --------------------------------------------------------------------------------------


def test_seven_cards_by_linear_program_and_by_cfr() -> None:
    """To 1e-6; the value is a fraction that can be written down."""
    solver = solved("mini7-v0", 1e-6)
    assert solver.iteration <= 1000  # 16,000 with policies weighed by the square of the iteration
    result = solver.judge()
    assert result.value == pytest.approx(value_by_linear_program(solver.tree), abs=1e-6)
    assert result.value == pytest.approx(VALUE_OF_7, abs=1e-6)
    assert -result.best[1] <= result.value <= result.best[0]


@pytest.mark.slow
def test_eight_cards_by_linear_program() -> None:
    """A minute."""
    assert value_by_linear_program(Grower(solvable("mini8-v0")).whole()) == pytest.approx(
        VALUE_OF_8, abs=1e-6
    )


# Judging ----------------------------------------------------------------------------------------------------


def uniform(_: Any, masks: Any) -> Any:
    return masks / masks.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_game_walked_in_parts_is_the_same_game(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trunk and branches add up, whoever walks them; a policy that is asked comes to the same as a table."""
    whole = judge(solvable("mini8"), Uniform())
    monkeypatch.setattr(values, "SMALL", 7)
    done: list[tuple[int, int]] = []
    told = lambda *at: done.append(at)  # noqa: E731
    parts = judge(solvable("mini8"), FunctionPolicy("uniform", uniform), threads=threads, on_progress=told)
    assert parts.counts == whole.counts
    assert (parts.value, *parts.best) == pytest.approx((whole.value, *whole.best), abs=1e-9)
    assert done[-1] == (len(done), len(done))


@pytest.mark.parametrize("spec", ["greedy", "strategist", "random"])
def test_agents_are_judged(spec: str) -> None:
    """Somebody can gain something against each, and nobody more than the payoffs allow."""
    game = solvable("mini7")
    result = judge(game, policy_of(spec, game))
    assert result.name == ("uniform" if spec == "random" else spec)
    assert 1 < result.nash_conv < result.counts.payoff_range
    assert result.best[0] >= VALUE_OF_7 - 1e-6
    assert -result.best[1] <= VALUE_OF_7 + 1e-6


def test_an_agent_is_asked_about_games_that_can_be() -> None:
    """Each is one of the table by every law of the audit, and no two of a seat look the same to it."""
    game = solvable("mini7")
    tree = Grower(game).trunk(game.max_depth, states=True)
    assert not tree.frontier
    assert first_violation(tree.decision_states, game.rules) is None
    assert len(tree.decision_states) == sum(int((seat.operations.counts > 0).sum()) for seat in tree.seats)
    for number, seat in enumerate(Grower(game).whole(keys=True).seats):
        decisions = seat.operations.counts > 0
        assert len(set(seat.keys[decisions])) == int((tree.decision_seats == number).sum())


def test_who_sees_hidden_cards_is_not_judged() -> None:
    game = solvable("mini7")
    with pytest.raises(SolvingError, match="sees hidden cards"):
        policy_of("strategist+search:sees=hands", game)


@pytest.mark.parametrize("name", mini_decks())
def test_the_decks_are_as_large_as_the_page_says(name: str) -> None:
    """The two smallest are counted here, the others by `python -m research.measurements.mini_decks`."""
    page = (Path(__file__).parents[2] / "docs" / "research" / "hidden_information.md").read_text(
        encoding="utf-8"
    )
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    if name in {"mini7-v0", "mini8-v0"}:
        counts = Grower(solvable(name)).whole().counts
        numbers = (counts.chance_nodes, counts.play_nodes, counts.end_nodes, *counts.infosets)
        assert all(f"{number:,}" in row for number in numbers)


# What is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (
            lambda masks: np.ones(masks.shape) / masks.shape[1],
            r"gives 'play 25 km' the weight .* not legal \(.* to play at 0 km, the other .*, holding \w",
        ),
        (lambda masks: masks * 0.9, r"not probabilities: their sum is .* \(mini7-v0\+.*, seat \d to play"),
        (lambda masks: masks[:, :3], r"must be float\["),
        (lambda masks: None, r"returned object\[\] for .*a row of probabilities for each"),
        (lambda masks: [[1.0], [1.0, 2.0]], "returned rows of different lengths for"),
        (lambda masks: masks * np.nan, "not probabilities: their sum is nan"),
    ],
)
def test_a_policy_that_is_none_is_refused(weights: Any, words: str) -> None:
    """The message says which action, and where."""
    policy = FunctionPolicy("wrong", lambda _, masks: weights(masks))
    with pytest.raises(SolvingError, match=words) as refused:
        judge(solvable(SMALL), policy)
    assert "wrong" in str(refused.value)


def test_probabilities_of_float32_are_judged_as_what_they_are_rounded_from() -> None:
    """Networks answer in float32, whose sums differ from 1 by more than a walk may."""

    def ask(states: Any, masks: Any) -> Any:
        logits = np.random.default_rng(1).normal(size=masks.shape).astype(np.float32)
        weights = np.where(masks != 0, np.exp(logits), np.float32(0))
        return weights / weights.sum(axis=1, keepdims=True)

    result = judge(solvable(SMALL), FunctionPolicy("network", ask))
    assert 0 < result.exploitability < judge(solvable(SMALL), Uniform()).exploitability * 2


def test_a_table_that_is_none_is_refused() -> None:
    tree = Grower(solvable(SMALL)).whole()
    first, second = Uniform().weights(tree)
    for wrong, words in (
        (first * 1.1, "sum to"),
        (-first, "negative or non-finite"),
        (first[:-1], "weights for seat 0"),
        *((np.append(first[:-1], number), "negative or non-finite") for number in (np.nan, np.inf)),
    ):
        with pytest.raises(SolvingError, match=words):
            judge(solvable(SMALL), TablePolicy("wrong", (wrong, second), {}))


def test_a_game_that_is_too_large_says_how_large_and_how_long() -> None:
    with pytest.raises(SolvingError, match=r"101 cards and about .* information sets: .* years of one core"):
        solvable("parker")
    with pytest.raises(SolvingError, match=r"mini12-v0 has 12 cards: its tree is too large .* in parts"):
        Solver(solvable("mini12"))
    with pytest.raises(SolvingError, match="end_when_stuck=0"):
        solvable("mini7+end_when_stuck=1")


# Files ------------------------------------------------------------------------------------------------------


def test_checkpoints_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    solver = Solver(solvable(SMALL))
    solver.save(path)
    with pytest.raises(
        SolvingError, match=r"run.npz is a checkpoint of 'mini7-v0\+.*, and not of 'mini7-v0'"
    ):
        Solver(solvable("mini7")).load(path)
    with pytest.raises(SolvingError, match="other variant"):
        Solver(solvable(SMALL), predictive=False).load(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(SolvingError, match=r"damaged .*its end is missing"):
        solver.load(path)
    np.savez(path, about=np.array(json.dumps({"format": 1, "game": None})))
    with pytest.raises(SolvingError, match="checkpoint of None"):
        solver.load(path)
    about = {"format": 1, "game": identity(solver.tree), "predictive": True}
    np.savez(path, about=np.array(json.dumps(about)))
    with pytest.raises(SolvingError, match="number of iterations is missing"):
        solver.load(path)
    with pytest.raises(OSError, match="nowhere"):
        solver.load(tmp_path / "nowhere.npz")


def test_a_policy_is_written_and_read(tmp_path: Path) -> None:
    """Rounded to steps of probability; what it gives away is small, and stated."""
    solver = solved(SMALL, 1e-7)
    path = tmp_path / "policy.npz"
    written = write_policy(path, solver.tree, solver.weights(), {"made_by": "a test"})
    read = read_policy(path, solver.tree)
    assert read.about["made_by"] == "a test"
    for one, other in zip(written.table, read.table, strict=True):
        assert (one == other).all()
    assert judge(solvable(SMALL), read).nash_conv < 0.1
    with pytest.raises(SolvingError, match="holds a policy of"):
        read_policy(path, Grower(solvable("mini7")).whole())
    np.savez(path, about=np.array(json.dumps({"format": 1, "game": None})))
    with pytest.raises(SolvingError, match="holds a policy of None"):
        read_policy(path, solver.tree)


def half_overwritten(path: Path) -> None:
    np.savez_compressed(path, about=np.array("{}"), seat_0=np.arange(10_000))
    content = bytearray(path.read_bytes())
    content[len(content) // 3 : len(content) // 2] = bytes(len(content) // 2 - len(content) // 3)
    path.write_bytes(content)


@each(
    "write",
    [
        lambda path: path.write_bytes(b"nothing of the kind"),
        lambda path: np.savez(path, about=np.array(["{}", None], dtype=object)),
        lambda path: np.savez(path, seat_0=np.zeros(3)),
        lambda path: np.savez(path, about=np.array("3")),
        half_overwritten,
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path: Path, write: Callable[[Path], object]) -> None:
    """In words that tell nobody to unpickle them."""
    path = tmp_path / "other.npz"
    write(path)
    with pytest.raises(SolvingError, match=r"other.npz holds no policy") as policy:
        read_policy(path, Grower(solvable(SMALL)).whole())
    with pytest.raises(SolvingError, match=r"other.npz is not a checkpoint") as run:
        Solver(solvable(SMALL)).load(path)
    assert "unsafely" not in str(policy.value) + str(run.value)


def test_arrays_of_another_size_are_not_read(tmp_path: Path) -> None:
    """A small file may claim any size: only headers are looked at, and the message is short."""
    tree = Grower(solvable(SMALL)).whole()
    path = tmp_path / "policy.npz"
    write_policy(path, tree, Uniform().weights(tree), {})
    with zipfile.ZipFile(path) as archive:
        about = archive.read("about.npy")
    size = tree.seats[0].size
    record = [("x" * 50, "<u2")]
    for shape, dtype in (((10**15,), "<u2"), ((size,), "<f8"), ((size, 10**9), "<u2"), ((size,), record)):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("about.npy", about)
            with archive.open("seat_0.npy", "w") as part:
                head = {"descr": dtype, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(part, head)
        with pytest.raises(SolvingError, match="seat_0 is of another size or type") as refused:
            read_policy(path, tree)
        assert len(str(refused.value)) < 300
    np.savez_compressed(path, about=np.array("x" * 1_000_001))
    with pytest.raises(SolvingError, match="does not say what it is"):
        read_policy(path, tree)

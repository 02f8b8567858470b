"""Exact evaluation of any policy in one call."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env.agents import GreedyAgent
from millebornes_env.errors import AgentError, OptionError, SolvingError
from millebornes_env.solving import ExploitabilityCurve, exploitability
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.extensive import Tree
from millebornes_env.solving.extensive.evaluation import by_table, evaluate
from millebornes_env.solving.minis import judge_sheets, solved_sheets
from millebornes_env.solving.report import MOST_COSTLY, costs_of
from millebornes_env.solving.values import Uniform, Weights, judge

ENV = vector_env(1, "mini7")
SIZE, ACTIONS = ENV.observation_sections[-1].stop, int(ENV.single_action_space.n)


def uniform(rows: Any, masks: Any) -> Any:
    assert rows.dtype == masks.dtype == np.int8
    assert rows.shape == (len(masks), SIZE)
    return masks / masks.sum(axis=1, keepdims=True)


def test_a_function_an_agent_and_a_policy_come_to_the_same() -> None:
    wanted = judge(solvable("mini7"), Uniform())
    for given in (uniform, "random", Uniform()):
        found = exploitability(given, "mini7")
        assert found.deck == "mini7-v0"
        assert found.value == pytest.approx(wanted.value)
        assert found.best_responses == pytest.approx(wanted.best)
        assert found.points == pytest.approx(wanted.exploitability)
        assert found.percent == pytest.approx(100 * wanted.of_range)
        assert len(found.costly) == MOST_COSTLY


@pytest.mark.parametrize("small", [True, False])
def test_the_costs_of_all_information_sets_add_up_to_nash_conv(
    small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is walked as a whole, and in parts."""
    if not small:
        monkeypatch.setattr("millebornes_env.solving.values.SMALL", 6)
    costs: list[float] = []

    def add(tree: Any, weights: Weights, reach: Weights, gains: Weights) -> None:
        for seat in (0, 1):
            costs.extend(costs_of(tree, seat, weights[seat], reach[seat], gains[seat]).tolist())

    game = solvable("mini7")
    judged = judge(game, policy_of("greedy", game), on_tree=add)
    assert min(costs) >= 0
    assert sum(costs) == pytest.approx(judged.nash_conv)
    assert [one.cost for one in exploitability("greedy", "mini7").costly] == pytest.approx(
        sorted(costs, reverse=True)[:MOST_COSTLY]
    )


def test_the_report_names_the_decisions() -> None:
    text = str(exploitability("greedy", "mini7"))
    assert text.startswith("greedy on mini7-v0: exploitability 105.9 points, 2.65 % of the payoff range\n")
    lines = text.splitlines()
    assert len(lines) == 3 + MOST_COSTLY
    assert lines[3] == (
        "  21.905  seat 0 to play at 0 km (Roll), the other at 0 km (Roll), 2 cards to draw, "
        "holding Stop, Stop: Stop against the other team 100%; best: discard Stop"
    )
    first = exploitability(uniform, "mini7").costly[0]
    assert sum(first.probabilities.values()) == pytest.approx(1)
    assert first.best in first.probabilities


def test_an_equilibrium_costs_nothing() -> None:
    found = exploitability("equilibrium", "mini7")
    assert found.percent < 1e-5
    assert found.value == pytest.approx(1670 / 63, abs=1e-3)
    assert sum(one.cost for one in found.costly) < 1e-3


def test_a_pytorch_module_in_three_lines() -> None:
    torch = pytest.importorskip("torch")
    policy = torch.nn.Linear(SIZE, ACTIONS)
    with torch.no_grad():
        policy.weight.zero_()
        policy.bias.zero_()
    assert exploitability(policy, "mini7").value == pytest.approx(exploitability(uniform, "mini7").value)

    class Both(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, rows: Any, masks: Any, extra: int = 0) -> Any:
            return masks * 5.0, rows.sum(dim=1)

    assert exploitability(Both(), "mini7").value == pytest.approx(exploitability(uniform, "mini7").value)

    class Three(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, rows: Any, masks: Any, state: Any) -> Any:
            return rows

    with pytest.raises(SolvingError, match="forward of Three takes 3 arguments"):
        exploitability(Three(), "mini7")
    with pytest.raises(
        SolvingError, match=rf"int8\[\d+, {SIZE}\] of mini7-v0, without its rules \(RuntimeError: "
    ):
        exploitability(torch.nn.Linear(SIZE + 56, ACTIONS), "mini7")
    with pytest.raises(SolvingError, match=r"test/\d, with its rules \(RuntimeError: .*for this sheet"):
        judge_sheets(torch.nn.Linear(SIZE, ACTIONS), count=1)

    class Named(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, rows: Any) -> Any:
            return {"logits": rows}

    with pytest.raises(
        SolvingError, match=r"Named returned \{'logits'.* for \d+ observations; it must be \["
    ):
        exploitability(Named(), "mini7")
    with pytest.raises(SolvingError, match=r"returned logits of the shape .*a logit for each action"):
        exploitability(torch.nn.Linear(SIZE, 3), "mini7")


def test_a_module_that_learns_is_evaluated_without_dropout_and_goes_on_learning() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    policy = torch.nn.Sequential(
        torch.nn.Linear(SIZE, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(), torch.nn.Linear(8, ACTIONS)
    )
    policy[2].eval()
    first, second = (exploitability(policy, "mini7").points for _ in range(2))
    assert first == second
    assert policy[1].num_batches_tracked == 0
    assert [part.training for part in policy] == [True, True, False, True]
    assert exploitability(policy.eval(), "mini7").points == first


@pytest.mark.filterwarnings("ignore:.*torch.jit.trace.*:DeprecationWarning")
def test_modules_in_wrappers() -> None:
    torch = pytest.importorskip("torch")

    class Both(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, rows: Any, masks: Any) -> Any:
            return masks * 5.0

    wanted = exploitability(uniform, "mini7").value
    traced = torch.jit.trace(torch.nn.Linear(SIZE, ACTIONS), torch.zeros(2, SIZE))
    assert exploitability(torch.nn.DataParallel(Both()), "mini7").value == pytest.approx(wanted)
    assert exploitability(traced, "mini7").percent < 30


def test_a_model_of_stable_baselines3_and_its_file(tmp_path: Path) -> None:
    contrib = pytest.importorskip("sb3_contrib")
    from millebornes_env.envs.sb3 import SB3VecEnv  # noqa: PLC0415 - of the extra

    env = SB3VecEnv(8, "random", edition="mini7", seed=1)
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=1)
    curve = ExploitabilityCurve("mini7", every=256, out=tmp_path / "curve")
    model.learn(3 * 256, callback=curve.for_sb3())
    assert [decisions for decisions, _ in curve.points] == [0, 256, 512, 768]
    assert json.loads((tmp_path / "curve.json").read_text())["deck"] == "mini7-v0"
    assert (tmp_path / "curve.png").stat().st_size > 5_000
    found = exploitability(model, "mini7")
    assert found.judgement.name == "MaskablePPO"
    assert 0 < found.percent < 30
    model.save(tmp_path / "model.zip")
    assert exploitability(str(tmp_path / "model.zip"), "mini7").percent == pytest.approx(found.percent)
    with pytest.raises(SolvingError, match=r"observations .*those of mini8-v0.*trained on another sheet"):
        exploitability(model, "mini8+copies_of_stop=1", observe_rules=True)
    with pytest.raises(SolvingError, match=r"MaskablePPO was trained on mini7-v0; this is mini8-v0"):
        exploitability(tmp_path / "model.zip", "mini8")
    with pytest.raises(SolvingError, match=r"there is no file '.*none\.zip'"):
        exploitability(tmp_path / "none.zip", "mini7")
    other = pytest.importorskip("stable_baselines3").DQN("MlpPolicy", env, buffer_size=100)
    with pytest.raises(SolvingError, match="DQN gives no probabilities of actions"):
        exploitability(other, "mini7")
    other.save(tmp_path / "other.zip")
    with pytest.raises(SolvingError, match=r"other\.zip is not a model of PPO \("):
        exploitability(tmp_path / "other.zip", "mini7")
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(SolvingError, match=r"text\.zip is not a model of Stable-Baselines3"):
        exploitability(tmp_path / "text.zip", "mini7")


def test_an_agent_of_a_user() -> None:
    env = vector_env(1, "mini7")
    from millebornes_env.agents.protocol import Table  # noqa: PLC0415

    assert exploitability(GreedyAgent(Table.of(env)), "mini7").points == pytest.approx(105.9, abs=0.1)
    with pytest.raises(AgentError, match="there is no agent 'gredy'"):
        exploitability("gredy", "mini7")


def test_what_cannot_be_evaluated() -> None:
    with pytest.raises(SolvingError, match="up to 12 cards can be walked"):
        exploitability("greedy", "parker")
    with pytest.raises(OptionError, match="every is 0"):
        ExploitabilityCurve("mini7", every=0)


def test_a_curve_of_a_loop_of_ones_own() -> None:
    curve = ExploitabilityCurve("mini7", every=10)
    assert curve(0, uniform) == pytest.approx(5.98, abs=0.01)
    assert curve(9, uniform) is None
    assert curve(10, "greedy") == pytest.approx(2.65, abs=0.01)
    assert curve.points == [(0, curve.points[0][1]), (10, curve.points[1][1])]


def test_a_curve_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "curve"
    curve = ExploitabilityCurve("mini7", every=1, out=out)
    for decisions in (0, 5, 9):
        curve(decisions, uniform)
    later = ExploitabilityCurve("mini7", every=1, out=out)
    later(7, "greedy")  # from a checkpoint before the last evaluation
    assert [decisions for decisions, _ in later.points] == [0, 5, 7]
    with pytest.raises(SolvingError, match=r"is a curve of 'mini7-v0', not of mini8-v0"):
        ExploitabilityCurve("mini8", out=out)
    (tmp_path / "curve.json").write_text('{"deck": "mini7-v0"}')
    with pytest.raises(SolvingError, match=r"curve\.json is damaged"):
        ExploitabilityCurve("mini7", out=str(out))


def test_two_curves_whose_names_have_dots_are_two_files(tmp_path: Path) -> None:
    for name in ("rate_0.001", "rate_0.003"):
        ExploitabilityCurve("mini7", out=tmp_path / name)(1000, uniform)
    names = {f"rate_0.00{digit}{suffix}" for digit in (1, 3) for suffix in (".json", ".png")}
    assert {one.name for one in tmp_path.iterdir()} == names


SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"


def table_of(tree: Tree, form: str) -> dict[Any, Any]:
    """Uniform play at every information state, by key."""
    table: dict[Any, Any] = {}
    nodes = [tree.root]
    while nodes:
        node = nodes.pop()
        nodes += [node.child(action) for action in node.actions]
        if node.player >= 0:
            key = (
                node.key(node.player)
                if form == "bytes"
                else node.text(node.player, compact=form == "compact")
            )
            table[key] = {action: 1 / len(node.actions) for action in node.actions}
    return table


@pytest.mark.parametrize("form", ["bytes", "text", "compact"])
def test_a_table_by_information_state(form: str) -> None:
    """Best responses that may remember all that a seat has seen win no more than those of the walk."""
    table = table_of(Tree(SMALL), form)
    found, wanted = exploitability(table, SMALL), exploitability("random", SMALL)
    assert found.value == pytest.approx(wanted.value)
    assert found.best_responses == pytest.approx(wanted.best_responses)
    assert found.judgement.counts == wanted.judgement.counts
    values = evaluate(Tree(SMALL), by_table(table))
    assert sum(one.cost for one in values.sets) == pytest.approx(found.judgement.nash_conv)


def test_a_wrong_table_is_told_with_the_information_state() -> None:
    table = table_of(Tree(SMALL), "text")
    key = max(table, key=len)
    with pytest.raises(SolvingError, match="no entry for the information state"):
        exploitability({key: table[key]}, SMALL)
    wrongs: list[tuple[dict[int, Any], str]] = [
        ({}, "their sum is 0, the lowest is 0"),
        ({41: 1.0}, "action 41 the weight 1.0 where it is illegal"),
        ({20: "much"}, "must be a probability by action, at the information set"),
    ]
    for wrong, words in wrongs:
        with pytest.raises(SolvingError, match=words):
            exploitability(dict.fromkeys(table, wrong), SMALL)
    with pytest.raises(SolvingError, match="on decks of up to 8 cards; mini10-v0 has 10"):
        exploitability(table, "mini10")


def test_a_policy_that_reads_rules_is_evaluated_on_mini_sheets() -> None:
    sizes = []

    def play(rows: Any, masks: Any) -> Any:
        sizes.append(rows.shape[1])
        return masks / masks.sum(axis=1, keepdims=True)

    done: list[int] = []
    found = judge_sheets(play, count=4, threads=1, on_progress=done.append)
    assert done == [1, 2, 3, 4]
    assert set(sizes) == {vector_env(1, "mini7", observe_rules=True).observation_sections[-1].stop}
    for one, solved in zip(found, solved_sheets(), strict=False):
        assert one.exploitability == pytest.approx(solved.uniform, abs=1e-3)
        assert one.counts.infosets == solved.infosets
        assert one.best[0] >= solved.value - 1e-3
        assert -one.best[1] <= solved.value + 1e-3


def test_one_thread_at_a_time_calls_a_policy_that_all_sheets_share() -> None:
    in_use, calls = Lock(), []

    def play(rows: Any, masks: Any) -> Any:
        calls.append(in_use.acquire(blocking=False))
        weights = masks / masks.sum(axis=1, keepdims=True)
        if calls[-1]:
            in_use.release()
        return weights

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that calls from several threads would overlap
    try:
        judge_sheets(play, count=8, threads=4)
    finally:
        sys.setswitchinterval(interval)
    assert all(calls)
    with pytest.raises(OptionError, match="threads is -1"):
        judge_sheets(play, threads=-1)

"""OpenSpiel's ESCHER on a mini deck: its inputs, and exact evaluation of its average policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.openspiel
pytest.importorskip("torch")
pyspiel = pytest.importorskip("pyspiel")

import millebornes_env.solving.openspiel  # noqa: E402, F401 - registers the game
from millebornes_env.solving.deck import solvable  # noqa: E402
from research.baselines.escher import EscherOptions, ObservedGame, learn_by_escher  # noqa: E402
from research.baselines.judging import Task, small_tree  # noqa: E402
from research.baselines.nfsp import UNIT, Encoder  # noqa: E402


def test_its_information_states_are_observations_of_the_tree() -> None:
    tree, encoder = small_tree("mini7-v0"), Encoder(solvable("mini7"))
    known = {row.tobytes() for row in encoder.encode_states(tree.decision_states)}
    openspiel = pyspiel.load_game("python_mille_bornes", {"edition": "mini7"})
    game = ObservedGame(openspiel, encoder)
    rng = np.random.default_rng(1)
    choices = 0
    for _ in range(20):
        state, theirs = game.new_initial_state(), openspiel.new_initial_state()
        while not state.is_terminal():
            assert state.current_player() == theirs.current_player()
            assert state.returns() == [0.0, 0.0]
            if state.is_chance_node():
                cards, chances = zip(*state.chance_outcomes(), strict=True)
                action = int(rng.choice(cards, p=chances))
                state.apply_action(action)
            else:
                mask = state.legal_actions_mask()
                assert mask == theirs.legal_actions_mask()
                inputs = np.asarray(state.information_state_tensor(), np.float32)
                assert len(inputs) == game.information_state_tensor_size()
                if sum(mask) > 1:
                    assert inputs.tobytes() in known
                    choices += 1
                action = int(rng.choice(np.flatnonzero(mask)))
                state = state.child(action)
            theirs.apply_action(action)
        assert state.returns() == [payoff / UNIT for payoff in theirs.returns()]
    assert game.decisions == choices > 50


def test_it_learns_and_is_judged(tmp_path: Path) -> None:
    few = {"value_batch_steps": 100, "regret_batch_steps": 100, "avg_policy_batch_steps": 200}
    options = EscherOptions(hidden=(16,), value_traversals=60, regret_traversals=60, batch_size=64, **few)
    ends = set()
    for seed in (1, 2, 1):
        task = Task(solvable("mini7"), seed, 2_000, tmp_path, "escher_on_mini7", "mini7", lambda share: None)
        learn_by_escher(task, options)
        assert task.curve[-1]["samples"] >= 2_000
        assert task.curve[-1]["exploitability"] != task.curve[0]["exploitability"]
        assert 0 < task.curve[-1]["percent"] < 20
        ends.add(task.curve[-1]["exploitability"])
    assert len(ends) == 2

"""OpenSpiel's NFSP on a mini deck: what it sees, and that its average policy can be judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.openspiel
pytest.importorskip("torch")
pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import rl_environment  # noqa: E402

import millebornes_env.solving.openspiel  # noqa: E402, F401 - registers the game
from millebornes_env.solving.deck import solvable  # noqa: E402
from research.baselines.judging import Task, small_tree  # noqa: E402
from research.baselines.nfsp import Encoder, NfspOptions, learn_by_nfsp  # noqa: E402


def test_its_agents_see_in_openspiel_what_they_are_asked_about_in_the_tree() -> None:
    """Whatever comes in a round of OpenSpiel's is an information set of the tree, number by number."""
    tree, encoder = small_tree("mini7-v0"), Encoder(solvable("mini7"))
    known = {row.tobytes() for row in encoder.encode_states(tree.decision_states)}
    game = pyspiel.load_game("python_mille_bornes", {"edition": "mini7"})
    env = rl_environment.Environment(game, observation_type=rl_environment.ObservationType.OBSERVATION)
    env.seed(1)
    rng = np.random.default_rng(1)
    seen = 0
    for _ in range(20):
        step = encoder.encode_time_step(env.reset())
        while not step.last():
            seat = step.observations["current_player"]
            legal = step.observations["legal_actions"][seat]
            if len(legal) > 1:
                assert np.asarray(step.observations["info_state"][seat], np.float32).tobytes() in known
                seen += 1
            step = encoder.encode_time_step(env.step([int(rng.choice(legal))]))
    assert seen > 50


def test_it_plays_learns_and_is_judged(tmp_path: Path) -> None:
    task = Task(solvable("mini7"), 1, 4_000, tmp_path, "nfsp_on_mini7_seed_1", "mini7", lambda share: None)
    learn_by_nfsp(task, NfspOptions(hidden=(16,), anticipatory_param=1.0))
    assert task.curve[-1]["samples"] >= 4_000
    assert task.curve[-1]["exploitability"] != task.curve[0]["exploitability"]
    assert 0 < task.curve[-1]["percent"] < 20

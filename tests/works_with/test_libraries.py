"""The doors of other libraries: the page's examples run, masks arrive, foreign learners learn.

What is not installed is skipped; `make works-with` runs all of it, in an environment that has the libraries.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from millebornes_env import millebornes_v0
from research.measurements.works_with import __main__ as works_with
from research.measurements.works_with.__main__ import (
    BEGIN,
    END,
    LIBRARIES,
    Args,
    Row,
    lines_of,
    table,
    write_docs,
)
from research.measurements.works_with.rounds import share_won

PAGE = Path(__file__).parent.parent.parent / "docs" / "environment" / "libraries.md"
NEEDED = {
    "Stable-Baselines3": "sb3_contrib",
    "TorchRL": "torchrl",
    "Tianshou": "tianshou",
    "OpenSpiel": "open_spiel",
}
"""Sections of the page with examples, and what these import."""
UPDATES = {"maskable_ppo": 12, "cleanrl": 12, "torchrl": 12, "tianshou": 16, "openspiel": 24, "rllib": 16}
"""After so many, a learner has seen about 100,000 decisions."""
PACKAGES = {
    "maskable_ppo": "sb3_contrib",
    "cleanrl": "torch",
    "torchrl": "torchrl",
    "tianshou": "tianshou",
} | {"openspiel": "open_spiel", "rllib": "ray"}

torchrl = pytest.mark.skipif(importlib.util.find_spec("torchrl") is None, reason="TorchRL is not installed")
tianshou = pytest.mark.skipif(
    importlib.util.find_spec("tianshou") is None, reason="Tianshou is not installed"
)


def sections() -> dict[str, str]:
    """The page's text by heading."""
    _, *parts = re.split(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_library_has_its_section() -> None:
    with_examples = {name for name, text in sections().items() if "```python" in text}
    assert with_examples == {*NEEDED, "OpenSpiel, and other solvers", "RLlib and Ray clusters"}


@pytest.mark.parametrize("section", NEEDED)
@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_the_examples_run(section: str) -> None:
    pytest.importorskip(NEEDED[section])
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", sections()[section], flags=re.DOTALL):
        exec(compile(example, section, "exec"), names)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_door_is_five_lines_at_most(name: str) -> None:
    assert 1 <= lines_of(LIBRARIES[name]) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.filterwarnings("ignore")
def test_a_foreign_learner_learns(name: str) -> None:
    pytest.importorskip(PACKAGES[name])
    module = importlib.import_module(f"research.measurements.works_with.{LIBRARIES[name].module}")
    learner = module.learn(1)
    *_, act = islice(learner, UPDATES[name])
    learner.close()
    assert share_won(act, rounds=400, seed=2) > 0.65


@torchrl
@pytest.mark.filterwarnings("ignore")
def test_torchrl_plays_legal_actions_in_game_after_game() -> None:
    from research.measurements.works_with.torchrl_ppo import make_env  # noqa: PLC0415

    env = make_env()
    env.set_seed(1)
    rollout = env.rollout(120, break_when_any_done=False)
    assert rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1)).all()
    ended = rollout["next", "done"].squeeze(-1)
    assert ended.any(dim=1).all()  # every game has ended, and the next one has begun:
    games, steps = ended[:, :-1].nonzero(as_tuple=True)
    assert not rollout["done"][games, steps + 1].any()
    assert (rollout["observation"][games, steps + 1] != rollout["next", "observation"][games, steps]).any()
    assert rollout["next", "reward"][~rollout["next", "done"]].count_nonzero() == 0  # a round pays at its end
    assert rollout["next", "reward"][rollout["next", "done"]].count_nonzero() > 0


@torchrl
@pytest.mark.filterwarnings("ignore")
def test_torchrl_plays_all_seats_of_the_pettingzoo_environment() -> None:
    from torchrl.envs import MarlGroupMapType, PettingZooWrapper  # noqa: PLC0415

    groups = MarlGroupMapType.ALL_IN_ONE_GROUP
    env = PettingZooWrapper(
        millebornes_v0.env(episode="round"), use_mask=True, group_map=groups, categorical_actions=True
    )
    rollout = env.rollout(400)
    (group,) = env.group_map
    decides, masks = rollout[group, "mask"], rollout[group, "action_mask"]
    assert (decides.sum(dim=1) == 1).all()
    assert not masks[decides].all(dim=-1).any()  # no decision in which all is legal
    assert masks.gather(-1, rollout[group, "action"].unsqueeze(-1)).squeeze(-1)[decides].all()
    assert rollout["next", "done"][-1].all()
    assert rollout["next", group, "reward"][-1].sum() == pytest.approx(0.0)  # of a game for two


def test_an_environment_handed_to_last_means_true_as_tianshou_does() -> None:
    env = millebornes_v0.env()
    env.reset(seed=1)
    assert (env.last(env)[0]["observation"] == env.last()[0]["observation"]).all()


@tianshou
@pytest.mark.filterwarnings("ignore")
def test_tianshou_plays_all_seats_of_the_pettingzoo_environment() -> None:
    from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm  # noqa: PLC0415
    from tianshou.data import Batch  # noqa: PLC0415
    from tianshou.env import PettingZooEnv  # noqa: PLC0415

    env = PettingZooEnv(millebornes_v0.env(episode="round"))
    player = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space)
    observation, _ = env.reset(seed=1)
    over, rewards, seats = False, [], set()
    while not over:
        seats.add(observation["agent_id"])
        mask = np.array([observation["mask"]])
        action = int(player.policy(Batch(obs=Batch(mask=mask), info={})).act[0])
        assert mask[0, action]
        observation, rewards, over, _, _ = env.step(action)
    assert seats == {"player_0", "player_1"}
    assert sum(rewards) == pytest.approx(0.0)


def test_the_table_says_who_did_not_get_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row("one", "One", "1.0", 3, 12.3, 0.85, 9), Row("two", "Two", "2.0", 4, 60.2, 0.7, 5)]
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}old\n{END}after\n", encoding="utf-8")
    monkeypatch.setattr(works_with, "PAGE", page)
    monkeypatch.setattr(works_with, "FIGURES", tmp_path / "figures.json")
    write_docs(rows, Args(), (0.5, 1.5))
    assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n{table(rows, Args())}\n{END}after\n"
    assert "| One | 1.0 | 3 | 12.3 | 85.0 % |\n| Two | 2.0 | 4 | not in 60 | 70.0 % |" in table(rows, Args())
    assert '"share_won": 0.85' in (tmp_path / "figures.json").read_text(encoding="utf-8")


def test_rows_of_other_environments_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}{END}", encoding="utf-8")
    monkeypatch.setattr(works_with, "PAGE", page)
    monkeypatch.setattr(works_with, "FIGURES", tmp_path / "figures.json")
    old, new = Row("openspiel", "O", "1", 5, 9.0, 0.9, 1), Row("rllib", "R", "1", 5, 8.0, 0.9, 1)
    write_docs([old, Row("rllib", "R", "0", 5, 30.0, 0.9, 1)], Args(), (0.0, 0.0))
    write_docs([new], Args(), (0.0, 0.0))
    assert page.read_text(encoding="utf-8") == f"{BEGIN}\n{table([new, old], Args())}\n{END}"

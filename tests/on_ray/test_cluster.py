"""Commands on a cluster do what they do on one machine, and lose only the tasks of a node that dies."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

pytest.importorskip("ray")

from millebornes_env.arena.cluster.match import Player, play_share
from millebornes_env.arena.cluster.ray import connected
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.outcome import Outcome
from millebornes_env.cli.arena import main as arena
from millebornes_env.cli.leaderboard import main as leaderboard
from millebornes_env.cli.record import main as record
from millebornes_env.errors import ArenaError
from tests.on_ray.conftest import ROOT, LocalCluster, wait_until
from train.exploit import Args as BestResponse
from train.exploit import respond, respond_on_cluster

pytestmark = pytest.mark.ray

ROUNDS = MatchConfig(episode="round", threads=1)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files_of(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).rglob("*.npz"))}


@pytest.mark.parametrize(
    "options",
    [
        ["holder", "greedy", "random", "--deals", "700"],
        ["greedy", "random", "--players", "3", "--deals", "40"],
        ["greedy", "random", "--deals", "2000", "--until", "ci<20"],
        ["greedy", f"{ROOT}/agents/cautious.py:Cautious", "--deals", "40"],
        ["saver", "random", "--edition", "arc_en_ciel", "--players", "4", "--deals", "20"],
    ],
    ids=" ".join,
)
def test_an_arena_is_the_same(cluster: LocalCluster, options: list[str]) -> None:
    line = [*options, "--out"] if "arc_en_ciel" in options else [*options, "--episode", "round", "--out"]
    assert arena([*line, "here"]) == 0
    assert arena([*line, "there", "--cluster", cluster.address]) == 0
    assert len(files_of("here")) > 0
    assert files_of("here") == files_of("there")
    assert Path("here/report.md").read_text() == Path("there/report.md").read_text()


def test_a_tournament_begun_here_goes_on_there(cluster: LocalCluster) -> None:
    line = ["greedy", "random", "--episode", "round", "--out"]
    assert arena([*line, "both", "--deals", "100"]) == 0
    assert arena([*line, "here", "--deals", "100"]) == 0
    for file in Path("both/lineups").iterdir():
        file.unlink()
    assert arena([*line, "both", "--deals", "100", "--cluster", cluster.address]) == 0
    assert files_of("both") == files_of("here")


def test_a_fault_closes_its_lineup_in_the_same_words(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.py").write_text(
        "from millebornes_env.agents.protocol import BaseAgent\n"
        "class Bad(BaseAgent):\n"
        "    def act(self, observations, action_masks):\n"
        "        return action_masks.argmin(axis=1)\n"
    )
    line = ["greedy", "random", "bad.py:Bad", "--deals", "40", "--episode", "round", "--out"]
    here, there = arena([*line, "here"]), arena([*line, "there", "--cluster", cluster.address])
    assert (here, there) == (0, 0)
    assert files_of("here") == files_of("there")
    assert "is illegal" in Path("there/report.md").read_text()


def test_a_leaderboard_is_the_same(cluster: LocalCluster) -> None:
    Path("list.toml").write_text(
        'anchor = "random"\nseed = 1\nagents = ["random", "greedy"]\n'
        'tables = [{ edition = "parker", players = 2, deals = 20 }]\n'
    )
    for out, options in (("here", []), ("there", ["--cluster", cluster.address])):
        assert (
            leaderboard(["--list", "list.toml", "--out", out, "--tournaments", f"{out}-kept", *options]) == 0
        )
    assert Path("here/leaderboard.md").read_text() == Path("there/leaderboard.md").read_text()


def test_a_recording_is_the_same(cluster: LocalCluster) -> None:
    line = ["greedy", "random", "--rounds", "25", "--rounds-per-file", "5", "--out"]
    assert record([*line, "here"]) == 0
    assert record([*line, "there", "--cluster", cluster.address]) == 0
    for path in Path("here").rglob("*.parquet"):
        assert path.read_bytes() == (Path("there") / path.relative_to("here")).read_bytes()


def test_a_best_response_is_the_same(cluster: LocalCluster) -> None:
    few = {"total_timesteps": 1000, "deals": 4, "threads": 1, "hidden": (8,)}
    here = respond(BestResponse("greedy", run_dir=Path("here"), **few))  # type: ignore[arg-type]
    there = respond_on_cluster(
        BestResponse("greedy", run_dir=Path("there"), cluster=cluster.address, **few)  # type: ignore[arg-type]
    )
    assert there.score == here.score
    assert set(os.listdir("there")) == set(os.listdir("here"))
    for folder in ("here", "there"):
        assert Path(folder, "policy.safetensors").read_bytes() == Path("here/policy.safetensors").read_bytes()


def slow_share(first: int, marks: str) -> Outcome:
    """A share that says that it has begun, and then waits for a word."""
    with Path(marks, f"{first}-{os.getpid()}").open("w"):
        pass
    while not Path(marks, "go on").exists():
        time.sleep(0.1)
    outcome = play_share(ROUNDS, [Player("greedy", 1), Player("random", 2)], first, 16)
    assert isinstance(outcome, Outcome)
    return outcome


def test_a_lost_node_costs_its_tasks_only(cluster: LocalCluster, tmp_path: Path) -> None:
    node = cluster.nodes[0]
    with connected(cluster.address) as ray:
        wait_until(lambda: ray.cpus() == 2, node, "the second node")
        for first in (0, 16):
            ray.submit(first, slow_share, (first, str(tmp_path)))
        wait_until(lambda: len(list(tmp_path.glob("*-*"))) == 2, node, "a task on each node")
        cluster.kill_node(node)
        (tmp_path / "go on").touch()
        played = dict(ray.next() for _ in range(2))
    assert len(list(tmp_path.glob("*-*"))) == 3  # one of the two was carried out again
    for first, outcome in played.items():
        again = play_share(ROUNDS, [Player("greedy", 1), Player("random", 2)], first, 16)
        assert isinstance(again, Outcome)
        assert (outcome.points == again.points).all()
    wait_until(lambda: True, cluster.add_node(), "a new node")


def test_an_agent_that_is_another_one_there_is_refused() -> None:
    with pytest.raises(ArenaError, match="differs between a node of the cluster and the machine"):
        play_share(ROUNDS, [Player("greedy", 1, "0" * 16), Player("random", 2)], 0, 16)


def test_what_a_task_raises_is_raised_here(cluster: LocalCluster) -> None:
    with connected(cluster.address) as ray:
        ray.submit("x", play_share, (ROUNDS, [Player("greedi", 1), Player("random", 2)], 0, 16))
        with pytest.raises(ValueError, match="Did you mean 'greedy'"):
            ray.next()


def test_no_cluster_is_said_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert arena(["greedy", "random", "--deals", "1", "--out", "x", "--cluster", "127.0.0.1:1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: there is no Ray cluster at '127.0.0.1:1'")
    assert "ray start --head" in said

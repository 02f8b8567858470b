"""Trees as text: what stands in a file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from millebornes_env.__main__ import main
from millebornes_env.errors import SolvingError
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.extensive import Tree
from millebornes_env.solving.extensive.export import estimate_nodes, export
from millebornes_env.solving.values import Uniform, judge
from tests.solving.extensive.test_tree import FIVE


def test_a_file_of_gambit_has_a_line_for_each_node(tmp_path: Path) -> None:
    tree = Tree(FIVE)
    seen: list[int] = []
    written = export(tree, tmp_path / "five.efg", on_progress=seen.append)
    lines = (tmp_path / "five.efg").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith('EFG 2 R "mini7-v0+')
    assert lines[0].endswith('{ "player_0" "player_1" }')
    nodes = lines[2:]
    kinds = [line[0] for line in nodes]
    counts = written.chance_nodes, written.decisions, written.ends
    assert counts == (kinds.count("c"), kinds.count("p"), kinds.count("t"))
    assert len(nodes) == len(list(tree.nodes()))
    assert nodes[0].startswith('c "" 1 "" { "player_0 draws 50 km" 7/10 "player_0 draws Stop" ')
    sets = {line.split('"')[2].strip() for line in nodes if line[0] == "p"}
    assert len(sets) == sum(written.information_sets)
    assert seen == [0]


def test_a_file_of_liteefg_names_every_node_and_its_set(tmp_path: Path) -> None:
    tree = Tree(FIVE)
    written = export(tree, tmp_path / "five.game", "game", compact=True)
    lines = (tmp_path / "five.game").read_text(encoding="utf-8").splitlines()
    assert "#     num_players: 2," in lines
    nodes = {words[1]: words[2:] for line in lines if (words := line.split())[0] == "node"}
    children = set()
    for path, (kind, *rest) in nodes.items():
        who = {"chance": "C", "player": f"P{rest[0]}"}.get(kind)
        actions = rest[1:] if kind == "chance" else rest[2:]
        if who is not None:
            children |= {f"{path.rstrip('/')}/{who}:{action.partition('=')[0]}" for action in actions}
    assert children | {"/"} == set(nodes)
    sets = [line.split()[3:] for line in lines if line.startswith("infoset ")]
    assert len(sets) == sum(written.information_sets)
    assert sorted(path for members in sets for path in members) == sorted(
        path for path, (kind, *_) in nodes.items() if kind == "player"
    )
    assert uniform_value(nodes) == pytest.approx(judge(solvable(FIVE), Uniform()).value, abs=1e-9)
    full = export(tree, tmp_path / "full.game", "game")
    assert sum(full.information_sets) > sum(written.information_sets)


def uniform_value(nodes: dict[str, list[str]]) -> float:
    """Return the value of random play for the first player, from the lines of a `.game` file alone."""
    children: dict[str, list[str]] = {}
    for path in nodes:
        if path != "/":
            children.setdefault(path.rpartition("/")[0] or "/", []).append(path)

    def value(path: str) -> float:
        kind, *rest = nodes[path]
        if kind == "leaf":
            return float(rest[1].removeprefix("1="))
        below = children[path]
        if kind == "player":
            return sum(map(value, below)) / len(below)
        chances = {f":{name}": float(chance) for name, _, chance in (one.partition("=") for one in rest[1:])}
        assert sum(chances.values()) == pytest.approx(1)
        return sum(chances[one[one.rindex(":") :]] * value(one) for one in below)

    return value("/")


def test_a_tree_that_is_too_large_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "large.efg"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(SolvingError, match="the tree of 'parker' has more than 1,000 nodes"):
        export(Tree("parker"), path, most_nodes=1_000)
    assert path.read_text(encoding="utf-8") == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["large.efg"]
    with pytest.raises(
        SolvingError, match=r"more than 5,000,000 nodes, about \de\+\d+ \(\de\+\d+ GB\): take"
    ):
        export(Tree("parker"), path)
    with pytest.raises(SolvingError, match="the format is 'nfg'; it must be one of efg, game"):
        export(Tree(FIVE), path, "nfg")


def test_no_tree_is_guessed_to_be_larger_than_it_is() -> None:
    nodes = sum(1 for _ in Tree(FIVE).nodes())
    assert nodes / 20 < estimate_nodes(Tree(FIVE)) < 2 * nodes
    assert estimate_nodes(Tree("mini7")) < 2 * 343_855
    assert estimate_nodes(Tree("parker")) > 1e50


def test_the_command_says_what_it_has_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", FIVE.label, "--out", "five.efg"]) == 0
    assert capsys.readouterr().out.startswith("five.efg: ")
    assert main(["export", "parker", "--most-nodes", "500"]) == 2
    assert "more than 500 nodes" in capsys.readouterr().err
    assert main(["export", "mini99"]) == 2
    assert capsys.readouterr().err.startswith("error: there is no edition 'mini99'")
    assert main(["export", "arc_en_ciel", "--players", "3"]) == 2
    assert "has no list of chance nodes" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["five.efg"]

"""The build of `make web`, as far as it can be tested without it: a toy module, the words, staleness."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from export import page_data, wasm
from export.module import module_of
from export.page_kernels import agents_of, table_of
from export.platforms import ExportError, object_code
from export.wasm import DATA_FILE, MODULE_FILE, WASM, stale
from millebornes_env.agents.champion import ChampionAgent
from millebornes_env.agents.policy.network import weights_block
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.editions import edition, editions, mini_decks
from millebornes_env.notation.millebornes.actions import read_action
from tests.each import each

TABLES = [(name, *table) for name in editions() for table in edition(name).tables]


@pytest.fixture(scope="module")
def described() -> tuple[dict[str, Any], dict[str, bytes]]:
    return page_data.described()


@pytest.mark.skipif(not IS_COMPILED, reason="is about the compiler")
def test_a_kernel_becomes_a_webassembly_object() -> None:
    def doubled(numbers: Any) -> int:
        for place in range(len(numbers)):
            numbers[place] *= 2
        return len(numbers)

    compiled = numba.njit(_nrt=False, nogil=True, error_model="numpy")(doubled)
    module = module_of([(compiled, (np.zeros(1, np.int16),), "twice")])
    assert list(module.kernels) == ["twice"]
    code = object_code(module.text, WASM)
    assert code.startswith(b"\0asm")
    assert b"mb_twice" in code
    assert b"mb_doubled" not in code
    assert code == object_code(module.text, WASM)


TOY = """
define i32 @mb_toy(ptr %words) {{
  %value = load float, ptr %words
  %x = call float @{name}(float %value)
  store float %x, ptr %words
  ret i32 0
}}
declare float @{name}(float)
"""


def test_a_module_imports_only_what_pages_have() -> None:
    assert wasm.linked(TOY.format(name="expf"), ["toy"], []).startswith(b"\0asm")
    with pytest.raises(ExportError, match="undefined symbol: sinhf"):
        wasm.linked(TOY.format(name="sinhf"), ["toy"], [])


def built(folder: Path, **changed: Any) -> Path:
    """A folder as `make web` leaves it, with something else in it than a module."""
    (folder / MODULE_FILE).write_bytes(b"a module")
    told = {
        "source_digest": wasm.digest(),
        "made_with": {"ziglang": "0.17.1"} | wasm._versions(),
        "files": {MODULE_FILE: hashlib.sha256(b"a module").hexdigest()},
    }
    (folder / DATA_FILE).write_text(json.dumps(told | changed), encoding="utf-8")
    return folder


def test_files_of_these_sources_are_not_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stale(tmp_path) == "there is no engine.json"
    assert stale(built(tmp_path)) == ""
    assert wasm.main(["--check", "--folder", str(tmp_path)]) == 0
    assert wasm.main(["--folder", str(tmp_path)]) == 0  # nothing is built again
    assert "already" in capsys.readouterr().out


@each(
    "changed, reason",
    [
        ({"source_digest": "0" * 16}, "they were built from other sources"),
        ({"files": {MODULE_FILE: "0" * 64}}, "engine.wasm is not the file that was built"),
        ({"files": {"other.bin": "0" * 64}}, "there is no other.bin"),
        ({"made_with": {"numpy": "1.0", "numba": "0.1"}}, "they were built with numba 0.1, and "),
        ({"files": 3}, "engine.json cannot be read"),
    ],
)
def test_other_files_are_stale(
    changed: dict[str, Any], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reason in stale(built(tmp_path, **changed))
    assert wasm.main(["--check", "--folder", str(tmp_path)]) == 1
    assert "run make web" in capsys.readouterr().out


def test_what_an_earlier_build_wrote_is_removed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("not built", encoding="utf-8")
    data = {"source_digest": wasm.digest(), "made_with": {"ziglang": "0.17.1"} | wasm._versions()}
    for names in (("old.bin", MODULE_FILE), ("new.bin", MODULE_FILE)):
        wasm.write_files(tmp_path, {name: name.encode() for name in names}, data)
        assert stale(tmp_path) == ""
    result = {file.name for file in tmp_path.iterdir()}
    assert result == {"mine.txt", "new.bin", MODULE_FILE, DATA_FILE}


def test_a_changed_source_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = (
        "export/wasm.py",
        "millebornes_env/games/millebornes/turn.py",
        "millebornes_env/agents/x.safetensors",
    )
    for file in (*files, "millebornes_env/arena/match.py", "millebornes_env/games/millebornes/notes.txt"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(file, encoding="utf-8")
    monkeypatch.setattr(wasm, "ROOT", tmp_path)

    def digest_after(file: str) -> str:
        (tmp_path / file).write_text("changed", encoding="utf-8")
        wasm.digest.cache_clear()
        return wasm.digest()

    try:
        result = [digest_after("millebornes_env/games/millebornes/notes.txt")]
        assert digest_after("millebornes_env/arena/match.py") == result[0]
        result += [digest_after(file) for file in files]
    finally:
        wasm.digest.cache_clear()
    assert len(set(result)) == 4


def test_every_table_is_described(described: tuple[dict[str, Any], dict[str, bytes]]) -> None:
    data, weights = described
    result = {
        (sheet["name"], table["players"], table["teams"]): table
        for sheet in data["editions"]
        for table in sheet["tables"]
    }
    minis = [(name, *table) for name in mini_decks() for table in edition(name).tables]
    assert list(result) == [*TABLES, *minis]
    for (name, players, teams), table in result.items():
        assert table["values"] == list(edition(name).table(players, teams))
        assert set(table["agents"]) == set(agents_of(table_of(name, players, teams)))
        assert table["champion"] is not None
    assert {f"{table['champion']}.bin" for table in result.values()} == set(weights)


@pytest.mark.parametrize("name", ["parker-2", "all-4-in-2"])
def test_weights_are_written_as_kernels_read_them(
    name: str, described: tuple[dict[str, Any], dict[str, bytes]]
) -> None:
    data, files = described
    sheet = next(
        (one["name"], table["players"], table["teams"])
        for one in data["editions"]
        for table in one["tables"]
        if table["champion"] == name
    )
    layers, content = data["champions"][name]["layers"], files[f"{name}.bin"]
    floats = np.frombuffer(content, "<f4", sum(biases + rows for biases, rows, _ in layers))
    numbers = np.frombuffer(content, np.int8, offset=floats.nbytes)
    result, number, at = [], 0, 0
    for biases, rows, width in layers:
        result += floats[at : at + biases].tolist()
        for scale in floats[at + biases : at + biases + rows]:
            result += (numbers[number : number + width] * scale).astype(np.float32).tolist()
            number += width
        at += biases + rows
    assert number == len(numbers)
    assert result == weights_block(ChampionAgent(table_of(*sheet), which=name).layers).tolist()


def test_the_words_of_actions_read_back(described: tuple[dict[str, Any], dict[str, bytes]]) -> None:
    for teams, by_team in described[0]["actions"].items():
        name, players, _ = next(table for table in TABLES if table[2] == teams)
        rules = edition(name).table(players, teams)
        for team, actions in enumerate(by_team):
            assert [one["action"] for one in actions] == list(range(num_actions(teams)))
            for one in actions:
                assert read_action(one["notation"], rules, team) == one["action"]
                assert (one["target_team"] == team) == (
                    one["kind"] == "play" and "against" not in one["words"]
                )

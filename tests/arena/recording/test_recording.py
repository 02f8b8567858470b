"""Recorded rounds: the rows are what the environment shows, the files survive a killed run, and read back."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet

from millebornes_env import edition, vector_env
from millebornes_env.arena.recording import RecordedData, Recording, check, folder, open_data, record
from millebornes_env.arena.recording.folder import path_of
from millebornes_env.arena.recording.tables import read_rows
from millebornes_env.errors import AgentFaultError, ArenaError
from millebornes_env.notation import read_record, record_of
from tests.each import each

SMALL = Recording(agents=["greedy", "random"], rounds_per_file=8, hidden=True, seed=3)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("written") / "data"
    record(place, SMALL, 20)
    return place


@pytest.fixture
def data(written: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    return Path(shutil.copytree(written, tmp_path / "data"))


def rows_of(data: RecordedData) -> tuple[pa.Table, pa.Table]:
    return data.decisions().to_table(), data.rounds_played().to_table()


def test_the_rows_are_what_the_environment_shows(written: Path) -> None:
    """Played again by hand: observation, mask, seat, hidden cards and reward of every decision."""
    decisions, rounds = rows_of(open_data(written))
    env = vector_env(1, reward="points", autoreset_mode="disabled")
    own = next(one for one in env.state_sections if one.name == "other_hands")
    rows = iter(decisions.to_pylist())
    for number, played in enumerate(rounds.to_pylist()):
        texts = read_record(played["notation"])
        env.reset(options={"positions": texts.position})
        paid: list[tuple[int, float]] = []
        for _ in range(played["decisions"]):
            row = next(rows)
            seat = int(env.agent_selection[0])
            assert (row["round"], row["decision"], row["seat"]) == (number, len(paid), seat)
            assert row["agent"] == played["agents"][seat]
            assert row["observation"] == env.observe(seat)[0].tolist()
            assert row["action_mask"] == env.games.buffers.action_mask[0].tolist()
            assert row["hidden"] == env.state()[0, own.start : own.stop].tolist()
            assert row["action_mask"][row["action"]] == 1
            paid.append((seat, row["reward_to_go"]))
            _, rewards, ended, _, infos = env.step([row["action"]])
        assert ended[0]
        assert all(rewards[0, seat] == np.float32(reward) for seat, reward in paid)
        assert rewards[0].tolist() == played["rewards"]
        assert infos["final_score"][0].tolist() == played["points"]
        assert infos["final_winner"][0] == played["winner"]
    assert next(rows, None) is None


@pytest.mark.parametrize(
    ("name", "players", "teams"), [("dutch", 6, 2), ("parker+max_200=4", 4, 2), ("dujardin", 8, 4)]
)
def test_every_kind_of_table(name: str, players: int, teams: int, tmp_path: Path) -> None:
    recording = Recording(
        agents=["random"], edition=name, players=players, teams=teams, reward="win", rounds_per_file=6
    )
    data = record(tmp_path / "data", recording, 9)
    decisions, rounds = rows_of(data)
    texts = [read_record(text) for text in rounds["notation"].to_pylist()]
    assert [len(one.plays) for one in texts] == rounds["decisions"].to_pylist()
    assert {len(row) for row in decisions["observation"].to_pylist()[:3]} == {
        vector_env(1, name, players=players, teams=teams).observation_sections[-1].stop
    }
    for one in texts[:3]:
        assert str(record_of(one.position, [play.action for play in one.plays])) == str(one)
    assert check(tmp_path / "data").rounds == (6, 3)


def test_every_deal_draws_a_sheet_of_a_split(tmp_path: Path) -> None:
    name = "variants-v1:test/inside"
    data = record(tmp_path / "data", Recording(agents=["greedy"], edition=name, rounds_per_file=20), 30)
    _, rounds = rows_of(data)
    sheets = rounds["sheet"].to_pylist()
    assert sheets[::2] == sheets[1::2]  # a deal is played from each team's place
    assert len(set(sheets)) > 10
    for sheet, text in zip(sheets, rounds["notation"].to_pylist(), strict=True):
        texts = read_record(text)
        assert texts.position.edition.name == f"{name}/{sheet}"
        assert str(record_of(texts.position, [play.action for play in texts.plays])) == str(texts)
    assert check(tmp_path / "data").rounds == (20, 10)


def test_the_same_recording_is_the_same_files_with_any_threads(written: Path, tmp_path: Path) -> None:
    record(tmp_path / "other", SMALL, 20, threads=1)
    for table in ("decisions", "rounds"):
        for file in range(3):
            first, second = (
                path_of(place, table, file).read_bytes() for place in (written, tmp_path / "other")
            )
            assert first == second


def test_a_stopped_recording_goes_on(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal after the first file: what is there is whole, and the rest is the same as without it."""
    place = tmp_path / "data"

    def stop(done: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(place, SMALL, 20, threads=1, on_progress=stop)
    assert path_of(place, "rounds", 0).exists()
    assert not path_of(place, "rounds", 2).exists()
    begun = path_of(place, "decisions", 0).stat().st_mtime_ns
    seen: list[int] = []
    record(place, SMALL, 20, on_progress=seen.append)
    assert seen[0] >= 8
    assert path_of(place, "decisions", 0).stat().st_mtime_ns == begun
    for table in ("decisions", "rounds"):
        for file in range(3):
            assert path_of(place, table, file).read_bytes() == path_of(written, table, file).read_bytes()


def test_more_rounds_are_added(data: Path) -> None:
    before = path_of(data, "rounds", 1).read_bytes()
    assert record(data, SMALL, 30).rounds == (8, 8, 8, 6)
    assert path_of(data, "rounds", 1).read_bytes() == before
    with pytest.raises(ArenaError, match="already holds more than 20 rounds"):
        record(data, SMALL, 20)


def test_a_full_disk_leaves_no_half_file(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("millebornes_env.arena.recording.folder.write_bytes_atomically", full)
    with pytest.raises(OSError, match="No space left on device"):
        record(data, SMALL, 40)
    monkeypatch.undo()
    assert open_data(data).rounds == (8, 8, 4)
    assert record(data, SMALL, 40).rounds == (8, 8, 8, 8, 8)


def test_a_disk_that_is_full_between_the_tables_of_a_longer_file(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = folder.write_bytes_atomically

    def full(path: Path, content: bytes) -> None:
        if path.parent.name == "rounds":
            raise OSError(28, "No space left on device", str(path))
        write(path, content)

    monkeypatch.setattr(folder, "write_bytes_atomically", full)
    with pytest.raises(OSError, match="No space left on device"):
        record(data, SMALL, 24)
    monkeypatch.undo()
    assert open_data(data).rounds == (8, 8)
    assert record(data, SMALL, 24).rounds == (8, 8, 8)


@pytest.mark.parametrize("table", ["decisions", "rounds"])
@pytest.mark.parametrize("kept", [0, 0.5])
def test_a_half_written_file_is_named(data: Path, table: str, kept: float) -> None:
    path = path_of(data, table, 1)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept) if isinstance(kept, float) else kept])
    for read in (lambda: open_data(data), lambda: check(data), lambda: record(data, SMALL, 20)):
        with pytest.raises(
            ArenaError, match=rf"{path.name}: the file is half-written or damaged .*remove it"
        ):
            read()
    path.unlink()
    assert record(data, SMALL, 20).rounds == (8, 8, 4)


@pytest.mark.parametrize("table", ["decisions", "rounds"])
def test_changed_bytes_are_told_with_the_file(data: Path, table: str) -> None:
    """The library has its own errors for them, or none: then the rows are not what the game says."""
    path = path_of(data, table, 1)
    content = path.read_bytes()
    rng = np.random.default_rng(8)
    said = []
    for place in (4, 5, len(content) - 6, *rng.integers(4, len(content) - 4, 60).tolist()):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            open_data(data)
            read_rows(path)
        except ArenaError as error:
            said.append(str(error))
    assert len(said) > 10
    assert all(str(path) in one and len(one) < 600 for one in said)


WRONG_ENTRIES: dict[str, list[object]] = {
    "players": [None, "two", 2.5, True, 0, 10**30],
    "teams": [[], -1],
    "rounds_per_file": [0, "8", {}],
    "seed": [-1, "x", 2**64],
    "hidden": [None, -1, 10**9],
    "observation_version": ["1"],
    "edition": [3, None],
    "rules": [[], {"max_200": "two"}],
    "agents": [None, [], ["greedy"], [{"name": 3, "fingerprint": "", "cheats": False}]],
    "observation": [{}, [{}], [{"name": "hand", "start": "0", "size": 19, "high": 7, "meaning": ""}]],
    "actions": [3, [None], []],
}


@pytest.mark.parametrize("name", WRONG_ENTRIES)
def test_an_entry_that_cannot_be_is_named_with_its_file(data: Path, name: str) -> None:
    file = data / "recording.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    for value in WRONG_ENTRIES[name]:
        changed = {**content, "recording": {**content["recording"], name: value}}
        file.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(ArenaError, match=f"recording.json: its entry '{name}' is .*; it must be"):
            open_data(data)
    with pytest.raises(ArenaError, match=f"recording.json: its entry '{name}' is .*; it must be"):
        record(data, SMALL, 20)


@pytest.mark.parametrize("text", ["[]", "{", '{"recording": 3}', "[" * 10**5, "\udcff"])
def test_a_manifest_that_is_none_is_told(data: Path, text: str) -> None:
    (data / "recording.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ArenaError, match=r"recording\.json: "):
        open_data(data)


@pytest.mark.parametrize("gone", ["the folder", "recording.json", ".lock"])
def test_a_removed_folder_ends_the_recording(tmp_path: Path, gone: str) -> None:
    """Nothing more is written, so that the same command begins anew."""
    place = tmp_path / "data"

    def remove(done: int) -> None:
        if done == 8:
            shutil.rmtree(place) if gone == "the folder" else (place / gone).unlink()

    with pytest.raises(ArenaError, match="was removed during recording; recording stops"):
        record(place, SMALL, 40, threads=1, on_progress=remove)
    if gone == "the folder":
        assert not place.exists()
        record(place, SMALL, 8)
    else:
        assert len(list((place / "rounds").iterdir())) == 1


def test_other_recordings_and_versions_are_refused(data: Path, tmp_path: Path) -> None:
    for other, reason in (
        (
            Recording(agents=["greedy", "random"], rounds_per_file=8, hidden=True, seed=4),
            "seed is 4 now, and was 3",
        ),
        (replace(SMALL, agents=["random"]), "the agents are random now, and were greedy"),
        (
            Recording(agents=["greedy", "random"], edition="dujardin", rounds_per_file=8, seed=3),
            "edition is 'dujardin' now",
        ),
    ):
        with pytest.raises(ArenaError, match=reason):
            record(data, other, 40)
    manifest = data / "recording.json"
    result = json.loads(manifest.read_text(encoding="utf-8"))
    result["recording"]["agents"][0]["fingerprint"] = "0" * 16
    manifest.write_text(json.dumps(result), encoding="utf-8")
    with pytest.raises(ArenaError, match="greedy is a different agent now"):
        record(data, SMALL, 40)
    result["recording"]["format_version"] = 99
    manifest.write_text(json.dumps(result), encoding="utf-8")
    for read in (lambda: record(data, SMALL, 40), lambda: open_data(data), lambda: check(data)):
        with pytest.raises(
            ArenaError, match="it has version 99 of the format, and this release reads version 2"
        ):
            read()
    manifest.write_text("{", encoding="utf-8")
    with pytest.raises(ArenaError, match=r"recording\.json: this is not JSON"):
        open_data(data)
    with pytest.raises(ArenaError, match="there is no recording in this folder"):
        open_data(tmp_path)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine", encoding="utf-8")
    with pytest.raises(ArenaError, match="is not empty and holds no recording"):
        record(tmp_path, SMALL, 8)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine"


def test_a_file_of_another_recording_is_refused(data: Path, tmp_path: Path) -> None:
    other = replace(SMALL, agents=["random", "random"])
    record(tmp_path / "other", other, 8)
    shutil.copy(path_of(tmp_path / "other", "rounds", 0), path_of(data, "rounds", 1))
    with pytest.raises(ArenaError, match="the file is of another recording"):
        open_data(data)
    path = path_of(data, "rounds", 1)
    pyarrow.parquet.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(ArenaError, match=r"this was not written by `millebornes record`"):
        open_data(data)


@pytest.mark.parametrize("column", ["observation", "action", "reward_to_go"])
def test_a_changed_number_is_found(data: Path, column: str) -> None:
    path = path_of(data, "decisions", 0)
    table = pyarrow.parquet.read_table(path)
    values = table[column].to_pylist()
    if isinstance(values[17], list):
        values[17][5] += 1
    elif column == "action":  # another legal one
        masks = table["action_mask"].to_pylist()
        values[17] = next(a for a, legal in enumerate(masks[17]) if legal and a != values[17])
    else:
        values[17] += 1
    place = table.column_names.index(column)
    pyarrow.parquet.write_table(
        table.set_column(
            place, table.schema.field(column), pa.array(values, table.schema.field(column).type)
        ),
        path,
    )
    with pytest.raises(ArenaError, match=path.name):
        check(data)


def test_the_card_says_what_there_is(written: Path) -> None:
    text = (written / "README.md").read_text(encoding="utf-8")
    decisions, rounds = rows_of(open_data(written))
    assert f"| decisions | {decisions.num_rows:,} |" in text
    for name in (*decisions.column_names, *rounds.column_names):
        assert f"| `{name}` | " in text
    assert "rounds=20" in text
    for section in vector_env(1).observation_sections:
        assert f"| `{section.name}` | {section.start} | {section.size} |" in text


@pytest.mark.filterwarnings("ignore")  # deprecations of rdflib and pandas, as mlcroissant uses them
def test_croissant_describes_every_column(written: Path) -> None:
    """As `mlcroissant validate` reads it; only the publisher knows address, licence, creator and day."""
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(jsonld=written / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    left = "citeAs|creator|datePublished|license|url"
    assert not [one for one in dataset.metadata.ctx.issues.warnings if not re.search(left, one)]
    decisions, rounds = rows_of(open_data(written))
    for name, table in (("decisions", decisions), ("rounds", rounds)):
        record = next(iter(dataset.records(name)))
        assert {key.removeprefix(f"{name}/") for key in record} == set(table.column_names)
        for column in table.column_names:
            value, expected = record[f"{name}/{column}"], table[column][0].as_py()
            plain = value.decode() if isinstance(value, bytes) else np.asarray(value).tolist()
            assert plain == expected, column


def test_pandas_and_polars_read_it(written: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    decisions, _ = rows_of(open_data(written))
    wanted = np.array(decisions["observation"].to_pylist(), np.int8)
    result = pandas.read_parquet(written / "decisions")
    assert (np.stack(result["observation"]) == wanted).all()
    assert result["action"].tolist() == decisions["action"].to_pylist()
    frame = polars.read_parquet(written / "decisions" / "*.parquet")
    assert (frame["observation"].to_numpy() == wanted).all()
    assert frame["round"].n_unique() == 20


class Cheater:
    """Chooses what is not legal in its third decision."""

    name = "cheater"

    def __init__(self, *_: object, **__: object) -> None:
        self.calls = 0

    def act(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        self.calls += 1
        legal = masks.argmax(axis=1)
        if self.calls == 3:
            legal[:] = masks.argmin(axis=1)
        return legal


def test_an_illegal_action_is_told_with_its_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from millebornes_env import agents  # noqa: PLC0415

    monkeypatch.setitem(agents.AGENTS, "cheater", Cheater)
    with pytest.raises(
        AgentFaultError, match=r"cheater chose .* which is illegal, in round 0, seat \d; legal were"
    ):
        record(tmp_path / "data", Recording(agents=["cheater"], rounds_per_file=4), 4)


@each(
    ("options", "reason"),
    [
        ({"agents": "greedy"}, "agents is 'greedy'; it must be a list of names"),
        ({"agents": []}, "it must be a list of names"),
        ({"agents": ["greedy"], "rounds_per_file": 0}, "rounds_per_file is 0"),
        ({"agents": ["random"], "edition": "arc_en_ciel", "players": 3}, "is of the game 'wielerspel'"),
        ({"agents": ["greedy"], "players": 5}, "has no table for 5 players"),
        ({"agents": ["greedy"], "reward": "gold"}, "reward"),
    ],
)
def test_what_cannot_be_recorded(options: dict[str, object], reason: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=reason):
        record(tmp_path / "data", Recording(**options), 4)  # type: ignore[arg-type]
    assert not (tmp_path / "data").exists()


def test_two_processes_do_not_record_into_one_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with folder._locked(tmp_path / "data"), pytest.raises(ArenaError, match="another process records"):
        record(tmp_path / "data", SMALL, 4)


def test_a_sheet_of_ones_own_is_checked_with_the_sheet(tmp_path: Path) -> None:
    import millebornes_env.games.millebornes.editions as module  # noqa: PLC0415

    sheets = Path(module.__file__).parent / "sheets"
    text = (sheets / "parker.toml").read_text(encoding="utf-8").replace('name = "parker"', 'name = "mine"')
    own = tmp_path / "mine.toml"
    own.write_text(text.replace("max_200 = { value = 2", "max_200 = { value = 3"), encoding="utf-8")
    record(tmp_path / "data", Recording(agents=["random"], edition=str(own), rounds_per_file=4), 4)
    with pytest.raises(ArenaError, match="the recorded table cannot be set up"):
        check(tmp_path / "data")
    assert check(tmp_path / "data", edition=str(own)).rounds == (4,)
    with pytest.raises(ArenaError, match="have changed since it was recorded"):
        check(tmp_path / "data", edition=edition("parker").replace(max_200=1))

"""Files of JSON Lines: whole or not at all, a damaged line refused with its number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from millebornes_env.errors import NotationError
from millebornes_env.notation import Play, Record, write_record
from millebornes_env.notation.jsonl import read_jsonl, write_jsonl
from millebornes_env.notation.millebornes.positions import read_position
from tests.each import each
from tests.notation.test_records import POSITION, TABLES, played, record, refused


def test_a_file_of_records_survives(tmp_path: Path) -> None:
    records = [played(*table, seed=3, rounds=1)[0] for table in TABLES[::4]]
    records.append(record("seat 0: 25"))
    path = tmp_path / "new" / "games.jsonl"
    write_jsonl(path, records)
    assert list(read_jsonl(path)) == records
    assert path.read_bytes().count(b"\n") == len(records)
    assert [file.name for file in path.parent.iterdir()] == ["games.jsonl"]
    entries = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert list(entries) == ["millebornes", "position", "plays", "result"]
    assert entries["position"]["table"] == "2 players in 2 teams"
    assert "key" not in json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["position"]


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_jsonl(path, [record("seat 0: 25")])
    before = path.read_bytes()
    bad = Record(read_position(POSITION), (Play(0, 99),))
    with pytest.raises(NotationError, match="no action 99"):
        write_jsonl(path, [record("seat 0: 25"), bad])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


GOOD = {"millebornes": 1, "position": {"hand 0": "roll"}, "plays": ["seat 0: roll"]}


@each(
    ("line", "words"),
    [
        ('{"millebornes": 1, "position": {"hand 0": "ro', ["this is not JSON", "was the file cut off?"]),
        ("nonsense\n", ["this is not JSON"]),
        ("[1]\n", ["a record is an object"]),
        ('{"millebornes": 1, "millebornes": 1}\n', ["'millebornes' is there twice"]),
        (GOOD | {"millebornes": 2}, ["version of the format, is 2; this release reads 1"]),
        ({"position": {}}, ["is None"]),
        (GOOD | {"posision": {}}, ["unknown entry 'posision'", "Did you mean 'position'?"]),
        (GOOD | {"position": {"dealer": 1}}, ["'position' must be an object"]),
        (GOOD | {"position": {"hand 0": "rol"}}, ["'hand 0: rol'", "Did you mean 'roll'?"]),
        (GOOD | {"plays": "seat 0: roll"}, ["'plays' must be a list of texts"]),
        (GOOD | {"result": [1]}, ["'result' must be a list of 2"]),
        (GOOD | {"result": [1, True]}, ["'result' must be"]),
        (GOOD | {"result": [1, 10**30]}, ["'result' must be", "up to 32767"]),
        (GOOD | {"winner": 1}, ["unknown entry 'winner'"]),
        (GOOD | {"plays": ["result: 1 2"]}, ["play 1, 'result: 1 2'", "are entries, not plays"]),
        (GOOD | {"millebornes": 1.0}, ["is 1.0"]),
        (GOOD | {"position": {"edition": "\0"}}, ["there is no edition '\\x00'"]),
        (GOOD | {"position": {"edition": "a\0.toml"}}, ["cannot name a file"]),
        (GOOD | {"position": {"hand 0": "x" * 9000}}, ["there is no card"]),
        (GOOD | {"plays": ["seat 0: roll", 3]}, ["play 2 is 3"]),
        (GOOD | {"x" * 9000: 1}, ["unknown entry 'xxx"]),
        ('{"millebornes": 1, "position": {}, "result": [NaN, 1]}\n', ["NaN is not a number"]),
        ('{"millebornes": ' + "9" * 5000 + "}\n", ["this is not JSON: Exceeds the limit"]),
        ('{"millebornes": 1, "position": {"dealer": "0", "dealer": "1"}}\n', ["'dealer' is there twice"]),
    ],
)
def test_a_damaged_line(tmp_path: Path, line: object, words: list[str]) -> None:
    path = tmp_path / "games.jsonl"
    bad = line if isinstance(line, str) else json.dumps(line) + "\n"
    path.write_text(json.dumps(GOOD) + "\n\n" + bad, encoding="utf-8")
    result = read_jsonl(path)
    assert next(result).plays == (Play(0, 13),)
    with pytest.raises(NotationError) as error:
        next(result)
    refused(error.value, f"{path}, line 3: ", *words)
    assert len(str(error.value)) < 1000


def test_byte_order_marks(tmp_path: Path) -> None:
    """Of UTF-8 they are no part of what they stand before; of UTF-16 the message says so."""
    path = tmp_path / "games.jsonl"
    write_jsonl(path, [record("seat 0: 25")])
    mark = b"\xef\xbb\xbf"
    content = path.read_bytes()
    path.write_bytes(mark + content + mark + content + mark + b"\n")
    assert list(read_jsonl(path)) == [record("seat 0: 25")] * 2
    path.write_text(content.decode(), encoding="utf-16")
    with pytest.raises(NotationError, match=r"line 1: this is not JSON: its byte order mark says .* UTF-16"):
        next(read_jsonl(path))


def test_a_line_that_never_ends(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.symlink_to("/dev/zero")
    with pytest.raises(NotationError, match=r"line 1: it has more than 16,777,216 bytes, which is too long"):
        next(read_jsonl(path))


@pytest.mark.parametrize("result", [(1,), (1, 2, 3), (1, 40_000), (1, 2.0), (1, True), "12", 3])
def test_a_result_that_could_not_be_read_is_not_written(tmp_path: Path, result: object) -> None:
    game = Record(read_position(POSITION), (), result)  # type: ignore[arg-type]
    path = tmp_path / "games.jsonl"
    for write in (lambda: write_record(game), lambda: write_jsonl(path, [game])):
        with pytest.raises(NotationError, match="'result' must be a list of 2 whole numbers up to 32767"):
            write()
    assert list(tmp_path.iterdir()) == []

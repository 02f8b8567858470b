"""`python -m millebornes_env play --study DIR`."""

from __future__ import annotations

import csv
import gc
import re
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.errors import PlayError
from millebornes_env.play.command import main
from millebornes_env.play.study import read_study
from millebornes_env.play.study.design import Design, open_study
from tests.play.study.served import served

pytestmark = pytest.mark.usefixtures("extra")


def refusal(options: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the command's error message for its options."""
    assert main([*options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


def test_options_that_make_no_sense(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], free_ports: None
) -> None:
    folder = tmp_path / "study"
    for options, words in (
        (["--players", "9"], "9"),
        (["--seats", "2"], "no seat 2"),
        (["--seats", "0", "0"], "different seats"),
        (["--seats", "0", "1", "--participants", "3"], "3 do not fill whole tables"),
        (["--participants", "0"], "1 to 10,000 participants"),
        (["--games", "0"], "1 to 1000 games"),
        (["--against", "nobody"], "nobody"),
        (["--edition", "arc_en_ciel", "--players", "3"], "no table for studies"),
        (["--edition", "variants-v1:train"], "is a split, not one sheet: add a number"),
        (["--port", "70000"], "1 to 65535"),
        (["--host", "no.such.host.example"], "cannot be used"),
        (["--against", "human"], "'human' asks a person at the server's terminal"),
        (["--host", "0.0.0.0"], "with --address"),
        (["--address", "study.example"], "--address must be like"),
        (["--intro", "missing.txt"], "missing.txt"),
        (["--terminal"], "played in the browser"),
        (["--seed", "-1"], "a seed is 0 to"),
    ):
        assert words in refusal(["--study", str(folder), *options], capsys), options
        assert not (folder / "study.json").exists(), options


def test_a_folder_with_something_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(PlayError, match="other files and no study"):
        open_study(tmp_path, {}, None, None)


def test_a_damaged_study(tmp_path: Path) -> None:
    for content in ("{", "[]", '{"format": 99}', '{"format": 1}', '{"format": 1, "design": 3}'):
        (tmp_path / "study.json").write_text(content)
        with pytest.raises(PlayError, match=re.escape(str(tmp_path / "study.json"))):
            open_study(tmp_path, {}, None, None)


def test_a_study_goes_on_with_the_same_design(tmp_path: Path) -> None:
    first = open_study(tmp_path, {"games": 3, "against": "greedy"}, 2, None)
    assert first.design == Design(games=3, against="greedy", teams=2, episode="round")
    assert Design().checked().against == "strategist"
    again = open_study(tmp_path, {}, None, None)
    assert again == first
    more = open_study(tmp_path, {"games": 3}, 5, first.seed)
    assert list(more.participants)[:2] == list(first.participants)
    assert [one.name for one in more.participants.values()] == ["p0001", "p0002", "p0003", "p0004", "p0005"]
    for asked, participants, seed, words in (
        ({"games": 4}, None, None, "has games 3, not 4"),
        ({"players": 3}, None, None, "has players 2, not 3"),
        ({}, 2, None, "cannot be reduced"),
        ({}, None, first.seed + 1, "another seed"),
    ):
        with pytest.raises(PlayError, match=words):
            open_study(tmp_path, asked, participants, seed)


def test_only_the_owner_reads_what_is_secret(tmp_path: Path) -> None:
    study = open_study(tmp_path, {"seats": (0, 1)}, 4, 1)
    links = study.write_links("http://127.0.0.1:8653/")
    for path in (links, tmp_path / "study.json"):
        assert path.stat().st_mode & 0o077 == 0
    rows = list(csv.DictReader(links.read_text(encoding="utf-8").splitlines()))
    assert [(row["participant"], row["session"], row["seat"]) for row in rows] == [
        ("p0001", "s0001", "0"),
        ("p0002", "s0001", "1"),
        ("p0003", "s0002", "0"),
        ("p0004", "s0002", "1"),
    ]
    assert len({row["link"].partition("#join=")[2] for row in rows}) == 4


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    from millebornes_env.play.study.serving import locked  # noqa: PLC0415 - of the extra

    with (
        locked(tmp_path),
        pytest.raises(PlayError, match="another process runs this study"),
        locked(tmp_path),
    ):
        pass


def test_where_pages_may_be_opened() -> None:
    from millebornes_env.play.study.serving import addresses_of  # noqa: PLC0415 - of the extra

    assert addresses_of("127.0.0.1", 8653, None) == ["http://127.0.0.1:8653", "http://localhost:8653"]
    assert addresses_of("192.0.2.7", 8653, None) == ["http://192.0.2.7:8653"]
    assert addresses_of("::1", 8653, None)[0] == "http://[::1]:8653"
    assert addresses_of("127.0.0.1", 8653, "https://study.example/") == [
        "https://study.example",
        "http://127.0.0.1:8653",
    ]
    assert addresses_of("0.0.0.0", 8653, "http://lab-pc:8653") == ["http://lab-pc:8653"]
    for host, port, address, first in (  # as browsers write them
        ("127.0.0.1", 80, None, "http://127.0.0.1"),
        ("LocalHost", 80, None, "http://localhost"),
        ("0:0:0:0:0:0:0:1", 80, None, "http://[::1]"),
        ("127.0.0.1", 8653, "https://Study.Example", "https://study.example"),
        ("127.0.0.1", 8653, "HTTPS://study.example:443/", "https://study.example"),
        ("127.0.0.1", 8653, "https://study.example:80", "https://study.example:80"),
        ("127.0.0.1", 8653, "http://[2001:DB8::0]:80", "http://[2001:db8::]"),
    ):
        assert addresses_of(host, port, address)[0] == first
    for none in ("https://", "https://:443", "https://a:b", "https://[a", "https://me@a.example", "ftp://a"):
        with pytest.raises(PlayError, match="--address must be like"):
            addresses_of("127.0.0.1", 8653, none)


@pytest.mark.filterwarnings("error")
def test_a_port_that_is_taken() -> None:
    from millebornes_env.play.web.server import listening  # noqa: PLC0415 - of the extra

    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(PlayError, match="cannot be used"):
            listening("127.0.0.1", taken.getsockname()[1])
        gc.collect()  # a socket that was left open would warn now
    with pytest.raises(PlayError, match=r"--host is the name or the address of a computer; got 'a\.\.b'"):
        listening("a..b", 0)


def test_a_study_that_was_stopped_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    with served(folder, against="greedy") as place, place.page() as before:
        before.ask("begin", game=0)
        for _ in range(3):
            assert "error" not in before.play()
    with served(folder) as place, place.page() as page:
        assert page.view == before.view
        assert page.log == before.log
        page.play_on()
    (game,) = read_study(folder)
    assert game.result is not None
    assert game.record().result == tuple(game.result["points"])


def test_ctrl_c_ends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, free_ports: None
) -> None:
    from millebornes_env.play.study.serving import locked  # noqa: PLC0415 - of the extra

    def interrupted(server: Any, sockets: list[socket.socket]) -> None:
        """End as uvicorn does at Ctrl-C: return, and raise the signal again."""
        assert sockets[0].getsockname()[0] == "127.0.0.1"
        signal.raise_signal(signal.SIGINT)

    options = ["--study", str(tmp_path / "study"), "--against", "greedy"]
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    for _ in range(2):  # the same command goes on
        assert main([*options, "--seats", "1", "0"]) == 0
    monkeypatch.setattr("uvicorn.Server.run", interrupted)
    assert main(options) == 130
    said = capsys.readouterr()
    assert "continues the study" in said.out
    assert said.err == ""
    with locked(tmp_path / "study"):
        pass  # the folder is free again

"""The server of the page: what it hands out, to whom, and what it refuses."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from millebornes_env.play.command import main
from millebornes_env.play.web.server import HOST, MOST_BYTES, TOKEN_HEADER, TableServer
from millebornes_env.play.web.table import CardTable
from tests.patience import SECONDS_OF_A_HANG
from tests.play.page.conftest import running


@pytest.fixture(scope="module")
def server() -> Iterator[TableServer]:
    with running(TableServer(CardTable)) as server:
        yield server


def asked(
    server: TableServer, method: str, path: str, body: str | bytes | None = None, **headers: str
) -> Any:
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection(HOST, server.port, timeout=SECONDS_OF_A_HANG)
    try:
        connection.request(
            method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def told(server: TableServer, message: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    body = message if isinstance(message, (str, bytes)) else json.dumps(message)
    status, _, answer = asked(server, "POST", "/engine", body, **({TOKEN_HEADER: server.token} | headers))
    return status, json.loads(answer)


def message(name: str, table: str = "one", **arguments: Any) -> dict[str, Any]:
    return {"table": table, "message": name, "arguments": arguments}


def test_the_page_and_its_files(server: TableServer) -> None:
    for path, kind in (
        ("/", "text/html"),
        ("/table/main.js", "text/javascript"),
        ("/drawing/cards.svg", "image/svg"),
    ):
        status, headers, body = asked(server, "GET", path)
        assert status == 200
        assert headers["Content-Type"].startswith(kind)
        assert body
        assert "default-src 'self'" in headers["Content-Security-Policy"]


def test_nothing_else_is_handed_out(server: TableServer) -> None:
    paths = [
        "/server.py",
        "/../errors.py",
        "/..%2ferrors.py",
        "//etc/passwd",
        "/nothing.js",
        "/table",
        "/%00.js",
    ]
    assert {asked(server, "GET", path)[0] for path in paths} == {404}


def test_every_page_has_a_table_of_its_own(server: TableServer) -> None:
    for table, players in (("one", 2), ("two", 3)):
        told(server, message("start", table, edition="parker", players=players))
    assert told(server, message("position"))[1]["result"]["players"] == 2


def test_who_has_no_token_or_another_name_for_this_server_is_refused(server: TableServer) -> None:
    assert told(server, message("catalogue"), **{TOKEN_HEADER: "x"}) == (
        403,
        {"error": "the server was restarted: reload this page"},
    )
    for headers in (
        *({"Host": host} for host in NO_HOSTS),
        *({"Host": "localhost:9000", "Origin": origin} for origin in NO_ORIGINS),
    ):
        for method, path in (("GET", "/engine.json"), ("POST", "/engine")):
            status, _, body = asked(server, method, path, "{}", **headers, **{TOKEN_HEADER: server.token})
            assert status == 403, headers
            name, value = list(headers.items())[-1]
            assert f"{name} is {value!r}".encode() in body
            assert f"Open {server.url};".encode() in body
            assert server.token.encode() not in body


NO_HOSTS = (
    "evil.example",
    "evil.example:8653",
    "localhost.evil.example:1",
    "localhost:1@evil.example",
    "127.0.0.2",
    "",
)
NO_ORIGINS = (
    "http://evil.example",
    "https://localhost.evil.example",
    "null",
    "file://localhost",
    "localhost",
    "",
)


def test_a_forwarded_port_is_served(server: TableServer) -> None:
    for host in ("localhost:9000", "LocalHost", "127.0.0.1", "[::1]:1", f"{HOST}:{server.port}"):
        headers = {"Host": host, "Origin": f"http://{host.lower()}"}
        assert asked(server, "GET", "/", **headers)[0] == 200, host
        assert "editions" in told(server, message("catalogue"), **headers)[1]["result"]


def test_what_is_no_message(server: TableServer) -> None:
    told(server, message("start", edition="parker"))
    for body, status, words in (
        ("{", 400, "not JSON"),
        ("[" * 100_000, 400, "not JSON"),
        ("[]", 200, "table, message and arguments"),
        ({"table": "one", "message": "catalogue"}, 200, "table, message and arguments"),
        ({"table": 1, "message": "catalogue", "arguments": {}}, 200, "the entry 'table'"),
        (message("shuffle"), 200, "no message 'shuffle'"),
        (message("position", "three"), 200, "there is no game yet"),
        (message("start", "three", edition="nope"), 200, "nope"),
        ('{"table": "one", "message": "play", "arguments": {"action": 1e999}}', 200, "action must be"),
    ):
        result, answer = told(server, body)
        assert result == status, body
        assert words in answer["error"], body


def test_a_message_that_is_too_long(server: TableServer) -> None:
    status, answer = told(server, b"", Content_Length=str(MOST_BYTES + 1))
    assert status == 413
    assert "at most" in answer["error"]


def test_tables_that_nobody_uses_are_given_up(server: TableServer) -> None:
    told(server, message("start", "old", edition="parker"))
    for number in range(70):
        told(server, message("catalogue", f"new {number}"))
    assert "there is no game yet" in told(server, message("position", "old"))[1]["error"]
    assert len(server._tables) <= 64


def test_a_person_at_the_terminal_plays_on_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--against", "human", "--no-browser"]) == 2
    assert "'human' asks a person at the server's terminal" in capsys.readouterr().err


def test_a_port_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port), "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: port {port} of {HOST} cannot be used")
    assert error.count("\n") == 1


def test_the_command_serves_the_page_until_ctrl_c() -> None:
    """In a process of its own: Playwright leaves an event loop in this one."""
    command = [sys.executable, "-u", "-m", "millebornes_env", "play", "--seed", "1", "--no-browser", "--port"]
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    output = subprocess.PIPE
    with subprocess.Popen([*command, str(port)], stdout=output, stderr=output, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        url = f"http://{HOST}:{port}/"
        assert f"The table is at {url}" in said
        with urllib.request.urlopen(f"{url}engine.json", timeout=SECONDS_OF_A_HANG) as answer:
            assert json.load(answer)["engine"] == "server"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS_OF_A_HANG)
    assert process.returncode == 130
    assert "the browser keeps your game" in out
    assert err == ""


def test_no_browser_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    monkeypatch.setattr(TableServer, "run", lambda self: self._socket.close())
    assert main(["--seed", "1"]) == 0
    assert "No browser could be opened" in capsys.readouterr().out

"""The server of the page: what it hands out, to whom, and what it refuses."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.commands.play import main
from millebornes_env.web.server import HOST, MOST_BYTES, TOKEN_HEADER, TableServer
from millebornes_env.web.table import CardTable
from tests.patience import SECONDS_OF_A_HANG


@pytest.fixture(scope="module")
def server() -> Iterator[TableServer]:
    with TableServer(CardTable) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def asked(
    server: TableServer, method: str, path: str, body: str | bytes | None = None, **headers: str
) -> Any:
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=SECONDS_OF_A_HANG)
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


@pytest.mark.parametrize(
    "path",
    ["/server.py", "/../errors.py", "/..%2ferrors.py", "//etc/passwd", "/nothing.js", "/table", "/%00.js"],
)
def test_nothing_else_is_handed_out(server: TableServer, path: str) -> None:
    assert asked(server, "GET", path)[0] == 404


def test_every_page_has_a_table_of_its_own(server: TableServer) -> None:
    assert told(server, message("start", edition="parker", players=2))[1]["result"]["players"] == 2
    assert told(server, message("start", "two", edition="parker", players=3))[1]["result"]["players"] == 3
    assert told(server, message("position"))[1]["result"]["players"] == 2


def test_who_has_no_token_or_another_name_for_this_server_is_refused(server: TableServer) -> None:
    assert told(server, message("catalogue"), **{TOKEN_HEADER: "x"}) == (
        403,
        {"error": "this page is of an earlier start: load it anew"},
    )
    for method, path in (("GET", "/engine.json"), ("POST", "/engine")):
        status, _, body = asked(
            server, method, path, "{}", Host="evil.example", **{TOKEN_HEADER: server.token}
        )
        assert status == 403
        assert server.token.encode() not in body


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("{", 400, "no JSON"),
        ("[" * 100_000, 400, "no JSON"),
        ("[]", 200, "table, message and arguments"),
        ({"table": "one", "message": "catalogue"}, 200, "table, message and arguments"),
        ({"table": 1, "message": "catalogue", "arguments": {}}, 200, "the entry 'table'"),
        (message("shuffle"), 200, "no message 'shuffle'"),
        (message("position", "three"), 200, "nothing was dealt yet"),
        (message("start", "three", edition="nope"), 200, "nope"),
    ],
)
def test_what_is_no_message(server: TableServer, body: Any, status: int, words: str) -> None:
    found, answer = told(server, body)
    assert found == status
    assert words in answer["error"]


def test_a_message_that_is_too_long(server: TableServer) -> None:
    status, answer = told(server, b"", Content_Length=str(MOST_BYTES + 1))
    assert status == 413
    assert "at most" in answer["error"]


def test_tables_that_nobody_uses_are_given_up(server: TableServer) -> None:
    told(server, message("start", "old", edition="parker"))
    for number in range(70):
        told(server, message("catalogue", f"new {number}"))
    assert "nothing was dealt" in told(server, message("position", "old"))[1]["error"]
    assert len(server._tables) <= 64


# The command ------------------------------------------------------------------------------------------------


def test_a_port_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port), "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: port {port} cannot be used")
    assert error.count("\n") == 1


@pytest.mark.parametrize("options", [["--port", "70000"], ["--players", "9"], ["--against", "nobody"]])
def test_options_that_make_no_sense(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*options, "--no-browser"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_the_command_serves_the_page_until_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "millebornes_env", "play", "--seed", "1"]
    nobody = {**os.environ, "BROWSER": "/bin/false", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=nobody
    ) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            port = int(first.partition(f"{HOST}:")[2].partition("/")[0])
            connection = http.client.HTTPConnection(HOST, port, timeout=SECONDS_OF_A_HANG)
            connection.request("GET", "/engine.json")
            assert json.loads(connection.getresponse().read())["engine"] == "server"
            connection.close()
            process.send_signal(signal.SIGINT)
            rest, error = process.communicate(timeout=SECONDS_OF_A_HANG)
        finally:
            process.kill()  # a failed test does not wait for it
    assert process.returncode == 130
    assert "the browser keeps your game" in rest
    assert error == ""

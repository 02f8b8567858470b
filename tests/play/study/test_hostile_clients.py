"""Hostile clients get a clear error message and harm nobody."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import json
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.errors import PlayError
from millebornes_env.play.study.design import Study, open_study
from millebornes_env.play.study.messages import MOST_BYTES, Allowance, read_message
from millebornes_env.play.study.session import Session
from tests.patience import SECONDS_OF_A_HANG
from tests.play.study.served import Page, Served, heard, lines_of, served

pytestmark = pytest.mark.usefixtures("extra")

PEOPLE = 40
REFUSED, REPLACED = 1008, 4000


def limits_of(**given: Any) -> Any:
    from millebornes_env.play.study.server import Limits  # noqa: PLC0415 - of the extra

    return Limits(**given)


def server_of(study: Study, address: str = "http://x", **limits: Any) -> Any:
    from millebornes_env.play.study.server import StudyServer  # noqa: PLC0415 - of the extra

    return StudyServer(study, [address], limits_of(**limits))


def is_closed() -> Any:
    """Expect that a connection is closed, or refused."""
    from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: PLC0415 - of the extra

    return pytest.raises((ConnectionClosed, InvalidStatus))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study of many; each test takes participants of its own."""
    with served(tmp_path_factory.mktemp("hostile") / "study", PEOPLE) as result:
        yield result


def asked_for(place: Served, path: str = "/", **headers: str) -> tuple[int, bytes, Any]:
    """Status, body and headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=SECONDS_OF_A_HANG)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def plays_well(place: Served, number: int) -> None:
    """An honest participant is not disturbed."""
    with place.page(number) as page:
        if page.welcome["game"] < 0:
            page.ask("begin", game=0)
        assert "error" not in page.play()


# Messages ---------------------------------------------------------------------------------------------------


def play(**entries: Any) -> dict[str, Any]:
    return {"type": "play", "id": 1, "decision": 0, "action": 3, "ms": 5} | entries


def test_messages_that_make_none() -> None:
    table: list[tuple[Any, str]] = [
        (None, "text, not bytes"),
        ("", "a JSON object"),
        ("{", "a JSON object"),
        ("[" * 4000, "a JSON object"),
        ("17", "a JSON object"),
        ({}, "no message None"),
        ({"type": "shuffle"}, "no message 'shuffle'"),
        ({"type": ["play"]}, "no message ['play']"),
        ({"type": "think", "id": 1}, "no message 'think'"),
        ({"type": "play", "id": 1}, "'decision' is missing"),
        (play(seat=1), "no entry 'seat'"),
        (play(action="3"), "'action' is '3'"),
        (play(action=True), "'action' is True"),
        (play(action=-1), "'action' is -1"),
        (play(action=10**3000), "'action' is "),
        (play(ms=float("nan")), "'ms' is nan"),
        ({"type": "join", "token": "x" * 101}, "'token' is "),
    ]
    for sent, words in table:
        text = sent if sent is None or isinstance(sent, str) else json.dumps(sent)
        with pytest.raises(PlayError) as caught:
            read_message(text)
        assert words in str(caught.value)
        assert len(str(caught.value)) < 300


def test_nonsense_is_answered_and_then_put_out(place: Served) -> None:
    with place.page(0) as page:
        page.ask("begin", game=0)
        for nonsense in (
            "{",
            b"\x00\xff",
            "[]",
            play(seat=1),
            {"type": "shuffle"},
            {"type": "join", "token": "x"},
        ):
            page.tell(nonsense)
            assert page.next("refused")["error"]
        assert "error" not in page.play(), "a few mistakes are forgiven"
        for _ in range(4):
            page.tell("{")
        assert page.closing() == (
            REFUSED,
            "too many invalid messages; the last one: a message is a JSON object",
        )
    plays_well(place, 0)


def test_a_message_that_is_too_large(place: Served) -> None:
    for parts in (["x" * (MOST_BYTES + 1)], ["x" * 1000] * 5, ["x" * 10_000_000]):
        with place.page(1) as page:
            with contextlib.suppress(Exception):  # closed before all of it was sent
                page.socket.send(parts if len(parts) > 1 else parts[0])
            assert page.closing()[0] in (0, 1009)
    plays_well(place, 1)


def test_too_many_messages(tmp_path: Path) -> None:
    limits = limits_of(burst=6, per_second=1e-6)
    with served(tmp_path / "study", 2, limits) as place, place.page(1) as other:
        other.ask("begin", game=0)
        with place.page(0) as page:
            with contextlib.suppress(Exception):  # closed, perhaps, before all are sent
                for number in range(20):
                    page.tell({"type": "why_not", "id": number, "card": 0, "target_team": None})
            code, words = page.closing()
        assert code == REFUSED
        assert "too many messages" in words
        with place.page(0) as page:  # nor does a new connection help
            assert "too many messages" in page.welcome["error"]
        assert "error" not in other.play()


def test_the_allowance_comes_back() -> None:
    clock = [0.0]
    allowance = Allowance(2, 1, lambda: clock[0])
    assert [allowance.takes() for _ in range(3)] == [True, True, False]
    clock[0] += 1
    assert [allowance.takes() for _ in range(2)] == [True, False]
    clock[0] += 100
    assert [allowance.takes() for _ in range(3)] == [True, True, False]


# The game ---------------------------------------------------------------------------------------------------


def test_illegal_plays_and_decisions_that_were_made(place: Served) -> None:
    with place.page(4) as page:
        assert page.ask("play", decision=0, action=0, ms=1)["error"] == "no game is being played"
        assert "cannot begin now" in page.ask("begin", game=1)["error"]
        page.ask("begin", game=0)
        view, legal = page.view, [one["action"] for one in page.view["legal"]]
        for action in {*range(60)} - {*legal}:
            if action % 9 == 0:
                assert "do not allow" in page.ask("play", decision=0, action=action, ms=1)["error"]
        assert "already" in page.ask("play", decision=7, action=legal[0], ms=1)["error"]
        assert "error" in page.ask("why_not", card=77, target_team=None)
        assert "error" in page.ask("why_not", card=3, target_team=9)
        assert "error" in page.ask("why_not", card=3, target_team="nowhere")
        assert "no round" in page.ask("next_round")["error"]
        assert page.view is view
        assert "error" not in page.play()
    assert [one["line"] for one in lines_of(place, 4)].count("result") == 0


def test_a_move_out_of_turn_between_two_people(tmp_path: Path) -> None:
    with served(tmp_path / "study", 2, seats=(0, 1)) as place, place.page(0) as one, place.page(1) as two:
        one.tell({"type": "begin", "id": 1, "game": 0})
        two.tell({"type": "begin", "id": 1, "game": 0})
        pages = (one, two)
        for page in pages:
            page.next("table")
        waits = next(page for page in pages if page.decision is None)
        acts = next(page for page in pages if page is not waits)
        action = acts.view["legal"][0]["action"]
        assert waits.view["legal"] == []
        assert "not your turn" in waits.ask("play", decision=0, action=action, ms=1)["error"]
        assert "not your turn" in waits.ask("why_not", card=0, target_team=None)["error"]
        assert "error" not in acts.play()


# Who is let in ----------------------------------------------------------------------------------------------


def test_tokens_that_are_nobodys(place: Served) -> None:
    good = place.participants[5].token
    for token in (
        "",
        "x",
        good[:-1],
        good + "x",
        good.swapcase(),
        "../study.json",
        place.study.name,
        "p0006",
    ):
        with place.connected() as connection:
            page = Page(connection, token)
            assert "no participant" in page.welcome["error"]
            assert page.closing()[0] == REFUSED


def test_the_first_message_joins(place: Served) -> None:
    for first in (json.dumps(play()), "{", b"join", '{"type": "join"}'):
        with place.connected() as connection:
            connection.send(first)
            assert heard(connection)["type"] == "refused"
            with is_closed():
                heard(connection)


def test_a_link_that_is_opened_twice(place: Served) -> None:
    with place.page(6) as first:
        first.ask("begin", game=0)
        with place.page(6) as second:
            assert first.closing() == (REPLACED, "This game was opened in another window: continue there.")
            assert second.view["seats"] == first.view["seats"]
            assert "error" not in second.play()


HOSTS = ("localhost:9000", "LocalHost", "127.0.0.1", "127.0.0.1:1", "[::1]:65535")
"""This computer: through a forwarded port it may be any of these."""
NO_ORIGINS = ("http://evil.example", "null", None, "file://localhost", "http://localhost:1@evil.example")


def test_this_computer_may_be_named_with_any_port(place: Served) -> None:
    for host in HOSTS:
        status, _, headers = asked_for(place, "/engine.json", Host=host)
        assert status == 200, host
        assert f"ws://{host.lower()}" in headers["Content-Security-Policy"].split()
        joining(place, host, f"http://{host.lower()}").close()


def test_another_origin_is_refused_with_the_address_to_open(place: Served) -> None:
    """Hosts are checked by the tests of the other server, whose app this is."""
    from websockets.exceptions import InvalidStatus  # noqa: PLC0415 - of the extra

    for origin in NO_ORIGINS:
        with pytest.raises(InvalidStatus) as caught, place.connected(origin=origin):
            pass
        assert caught.value.response.status_code == 403
        assert b"Origin is " in caught.value.response.body
        assert f"Open {place.origin}/".encode() in caught.value.response.body


def test_the_page_and_nothing_else_is_handed_out(place: Served) -> None:
    status, body, headers = asked_for(place)
    assert (status, b"<title>Mille Bornes</title>" in body) == (200, True)
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert f"ws://127.0.0.1:{place.port}" in headers["Content-Security-Policy"]
    assert json.loads(asked_for(place, "/engine.json")[1]) == {"engine": "study"}
    own = ("/study.json", "/sessions/s0001.jsonl", f"/{place.study.folder}/study.json")
    for path in ("/server.py", "/..%2f..%2ferrors.py", "/study", "/engine/engine.wasm", *own):
        assert asked_for(place, path)[0] == 404, path


# Connections ------------------------------------------------------------------------------------------------


def closed(connection: socket.socket) -> bytes:
    """Return everything received until the server closes the connection."""
    connection.settimeout(SECONDS_OF_A_HANG)
    said = b""
    try:
        while part := connection.recv(4096):
            said += part
    except ConnectionResetError:
        pass
    return said


def joining(place: Served, host: str = "localhost", origin: str = "http://localhost") -> socket.socket:
    """A WebSocket that reads no more after the handshake."""
    connection = socket.socket()
    for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        connection.setsockopt(socket.SOL_SOCKET, buffer, 2**12)
    connection.settimeout(SECONDS_OF_A_HANG)
    connection.connect(("127.0.0.1", place.port))
    key = base64.b64encode(bytes(16)).decode()
    lines = f"GET /study HTTP/1.1|Host: {host}|Origin: {origin}|Upgrade: websocket|Connection: Upgrade|"
    lines += f"Sec-WebSocket-Key: {key}|Sec-WebSocket-Version: 13||"
    connection.sendall(lines.replace("|", "\r\n").encode())
    assert b"101" in connection.recv(4096)
    return connection


def frame(kind: int, content: bytes = b"", *, is_last: bool = True) -> bytes:
    """A frame as a browser sends it, masked by zeros."""
    return bytes([0x80 * is_last + kind, 0x80 + len(content)]) + bytes(4) + content


TEXT, BINARY, PING, PONG = 1, 2, 9, 10
MANY = 100_000


@pytest.mark.parametrize(
    ("limits", "first", "then"),
    [
        ({}, b"", frame(PING, bytes(125))),
        ({}, b"", frame(PONG)),
        ({}, frame(TEXT, is_last=False), frame(0, is_last=False)),
        ({}, b"", frame(BINARY)),
        ({"burst": MANY, "most_unread": 2**14}, b"", frame(PING, bytes(125))),
        ({"burst": MANY, "most_unread": 2**30, "to_read": 0.01}, b"", frame(PING, bytes(125))),
    ],
    ids=["pings", "pongs", "parts", "messages", "unread bytes", "unread for long"],
)
def test_frames_without_end(limits: dict[str, Any], first: bytes, then: bytes, tmp_path: Path) -> None:
    """The server drops a connection that sends too many frames, or that does not read the answers."""
    from millebornes_env.play.study.slow_clients import FrameLimits  # noqa: PLC0415 - of the extra

    frames = FrameLimits(**limits)
    with served(tmp_path / "study", limits=limits_of(to_join=SECONDS_OF_A_HANG), frames=frames) as place:
        with joining(place) as connection:
            connection.sendall(first)
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                connection.sendall(MANY * then)
        plays_well(place, 0)


def test_text_that_is_not_utf_8_costs_one_line_of_the_log(
    place: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with joining(place) as connection, caplog.at_level(logging.ERROR):
        connection.sendall(frame(TEXT, b"\xff"))
        assert closed(connection)[:4] == b"\x88\x02\x03\xef"  # closed with 1007
    (record,) = caplog.records
    assert len(caplog.text.splitlines()) == 1, caplog.text
    assert record.exc_info is None


def test_half_open_and_slow_connections_are_closed(tmp_path: Path) -> None:
    with served(tmp_path / "study", to_ask=0.05) as place:
        address = ("127.0.0.1", place.port)
        for begun in (b"", b"GET / HTTP/1.1\r\nHost: ", b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 50):
            with socket.create_connection(address) as connection:
                connection.sendall(begun)
                assert closed(connection) == b""
        request = f"GET /engine.json HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\n\r\n".encode()
        said = b""
        while not said:  # a busy machine may be too slow for the first request, too
            with socket.create_connection(address) as connection:
                connection.sendall(request + request[:20])  # and the beginning of a second one
                said = closed(connection)
        assert said.count(b"200 OK") == 1


def test_who_does_not_join_is_put_out(tmp_path: Path) -> None:
    with served(tmp_path / "study", limits=limits_of(to_join=0.01)) as place, place.connected() as silent:
        assert heard(silent)["error"] == "no message was received: open the link again"


def test_hundreds_of_strangers_take_nobodys_place(tmp_path: Path) -> None:
    limits = limits_of(most_unjoined=8, to_join=SECONDS_OF_A_HANG)
    with served(tmp_path / "study", limits=limits) as place, contextlib.ExitStack() as all_of_them:
        address = ("127.0.0.1", place.port)
        half_open = [all_of_them.enter_context(socket.create_connection(address)) for _ in range(200)]
        strangers = [all_of_them.enter_context(place.connected()) for _ in range(40)]
        plays_well(place, 0)
        assert asked_for(place)[0] == 200
        assert heard(strangers[0])["error"].startswith("too many connections are waiting")
        assert closed(half_open[0]) == b""


def test_a_session_that_is_joined_stays_in_memory(tmp_path: Path) -> None:
    study = open_study(tmp_path, {"against": "greedy"}, 2, 1)
    joins, other = study.participants.values()
    Session(study, joins.session).begin(joins.seat, 0)
    heard: list[str] = []

    class Slow:
        """A WebSocket that takes what it is sent while another session is read."""

        async def send_text(self, text: str) -> None:
            heard.append(json.loads(text)["type"])
            await server._in_session(other, lambda session: None)

    slow: Any = Slow()
    server = server_of(study, sessions=1)
    with contextlib.closing(server), ThreadPoolExecutor() as thread:
        thread.submit(asyncio.run, server._let_in(slow, joins)).result()
    assert heard == ["welcome", "table"]
    assert not server._joining


def test_a_host_is_known_by_what_browsers_and_proxies_call_it(tmp_path: Path) -> None:
    server = server_of(open_study(tmp_path, {}, 1, 1), "https://study.example")
    for host, status in (
        ("study.example", 200),
        ("Study.Example", 200),
        ("study.example:443", 200),
        ("study.example:80", 403),
    ):
        sent: list[Any] = []

        async def keep(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        headers = [(b"host", host.encode())]
        scope = {"type": "http", "method": "GET", "path": "/engine.json", "headers": headers}
        with ThreadPoolExecutor() as thread:
            thread.submit(asyncio.run, server.app(scope, None, keep)).result()
        assert sent[0]["status"] == status, host
    server.close()


def test_a_session_that_cannot_be_written_harms_no_other(tmp_path: Path) -> None:
    with served(tmp_path / "study", 2) as place:
        place.study.path_of(0).mkdir(parents=True)
        with place.page(0) as page:
            assert "cannot save" in page.welcome["error"]
            assert str(tmp_path) not in page.welcome["error"]
        plays_well(place, 1)

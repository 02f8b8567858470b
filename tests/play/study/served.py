"""A study on a port of its own, and pages that talk with it without a browser."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from millebornes_env.play.study.design import Participant, Study, open_study
from millebornes_env.play.study.session import Session
from tests.patience import SECONDS_OF_A_HANG

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection


@dataclass
class Served:
    """A study that answers.

    Attributes:
        study: what is played.
        port: where.
    """

    study: Study
    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def participants(self) -> list[Participant]:
        return list(self.study.participants.values())

    def link(self, number: int = 0) -> str:
        return f"{self.origin}/#join={self.participants[number].token}"

    def connected(self, **given: Any) -> AbstractContextManager[ClientConnection]:
        """A WebSocket that has not joined."""
        from websockets.sync.client import connect  # noqa: PLC0415 - of the extra

        given = {
            "origin": self.origin,
            "open_timeout": SECONDS_OF_A_HANG,
            "close_timeout": 5,
            "proxy": None,
        } | given
        return connect(f"ws://127.0.0.1:{self.port}/study", **given)

    @contextlib.contextmanager
    def page(self, number: int = 0) -> Iterator[Page]:
        """A page of a participant."""
        with self.connected() as connection:
            yield Page(connection, self.participants[number].token)


def heard(connection: ClientConnection) -> dict[str, Any]:
    """The next message of the server."""
    message: dict[str, Any] = json.loads(connection.recv(timeout=SECONDS_OF_A_HANG))
    return message


class Page:
    """A page without a browser.

    Attributes:
        heard: every message of the server.
        view: the last step of the game.
        decision: the number of the decision that is asked for.
    """

    def __init__(self, connection: ClientConnection, token: str) -> None:
        self.socket, self._last = connection, 100
        self.heard: list[dict[str, Any]] = []
        self.view: dict[str, Any] = {}
        self.log: list[dict[str, Any]] = []
        self.decision: int | None = None
        self.tell({"type": "join", "token": token})
        self.welcome = self.next("welcome", "refused")
        if self.welcome.get("game", -1) >= 0:
            self.next("table")

    def tell(self, message: Any) -> None:
        self.socket.send(message if isinstance(message, (str, bytes)) else json.dumps(message))

    def hear(self) -> dict[str, Any]:
        message = heard(self.socket)
        self.heard.append(message)
        if message["type"] == "table":
            self.view, self.decision = message["steps"][-1], message["decision"]
            self.log = [*self.log[: message["log_from"]], *message["log"]]
        return message

    def next(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these types."""
        while True:
            message = self.hear()
            if message["type"] in kinds:
                return message

    def ask(self, kind: str, **entries: Any) -> dict[str, Any]:
        """Send a message and return the answer."""
        self._last += 1
        self.tell({"type": kind, "id": self._last, **entries})
        while (result := self.next("answer", "refused"))["id"] not in (None, self._last):
            pass
        return result

    def play(self, place: int = 0, ms: int = 1) -> dict[str, Any]:
        """Make one of the decisions that are legal."""
        action = self.view["legal"][place]["action"]
        return self.ask("play", decision=self.decision, action=action, ms=ms)

    def play_on(self) -> None:
        """Play until the game is over, where all others are agents."""
        while not self.view["over"]:
            assert "error" not in self.play()

    def closing(self) -> tuple[int, str]:
        """The code and the last sentence with which the server closes the connection."""
        from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - of the extra

        said = ""
        try:
            while True:
                said = self.hear().get("error", said)
        except ConnectionClosed as end:
            return (0, "broken off") if end.rcvd is None else (end.rcvd.code, said)


@contextlib.contextmanager
def served(
    folder: Path,
    participants: int = 1,
    limits: Any = None,
    port: int = 0,
    to_ask: float = 10,
    frames: Any = None,
    **design: Any,
) -> Iterator[Served]:
    """Serve a study for as long as the block lasts; its connections have small buffers."""
    pytest.importorskip("websockets", reason="pip install -e '.[study]'")
    from millebornes_env.play.study.server import StudyServer  # noqa: PLC0415 - of the extra
    from millebornes_env.play.study.serving import server_of  # noqa: PLC0415 - of the extra

    with socket.create_server(("127.0.0.1", port)) as taken:
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            taken.setsockopt(socket.SOL_SOCKET, buffer, 2**14)
        port = taken.getsockname()[1]
        asked = {"against": "greedy"} | design if not (folder / "study.json").exists() else design
        study = open_study(folder, asked, participants, 1)
        answers = StudyServer(study, [f"http://127.0.0.1:{port}"], limits)
        server = server_of(answers, to_ask=to_ask, most_asking=32, frames=frames)
        serving = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        serving.start()
        try:
            yield Served(study, port)
        finally:
            server.should_exit = True
            serving.join()
            answers.close()


def study_of(folder: Path, participants: int | None = None, **design: Any) -> Study:
    return open_study(folder, {"against": "greedy"} | design, participants, 3)


def play_out(session: Session) -> None:
    """Let the person in seat 0 play a round to its end, where all others are agents."""
    while (news := session.news(0)) and not news["over"]:
        session.play(0, news["decision"], news["steps"][-1]["legal"][0]["action"], 0)


def lines_of(served_study: Served, session: int = 0) -> list[dict[str, Any]]:
    """Return the lines of a session's file."""
    path = served_study.study.path_of(session)
    return [json.loads(line) for line in path.read_text().splitlines()]

"""Read the games of a study, and each decision with the observation of its seat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import JournalError, PlayError
from millebornes_env.notation import NEXT_ROUND, Play, Record, read_record, replay
from millebornes_env.play.study.design import SHEET
from millebornes_env.play.study.journal import parsed

_KEPT: Final = ("session", "game", "time", "participant", "agent", "ms", "server_ms", "interrupted")
"""Entries that a transition copies from the line of its decision."""


@dataclass
class StudyGame:
    """A game of a study.

    Attributes:
        session: name of the session, such as "s0001".
        game: index of the game in the session.
        edition: name of the rule sheet, or path of the study's copy of it, with overrides.
        players, teams, episode: the table and the length of the game.
        deal: the deal as a record without plays.
        decisions: the lines of its decisions, as they are in the file.
        actions: all actions, with NEXT_ROUND between the rounds of a match.
        result: the line of the result; None if the game was not finished.
    """

    session: str
    game: int
    edition: str
    players: int
    teams: int
    episode: str
    deal: str
    decisions: list[dict[str, Any]] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    result: dict[str, Any] | None = None

    def record(self) -> Record:
        """Return the game as a record, made from the deal and the decisions.

        Raises:
            NotationError: the deal cannot be read.
        """
        start = read_record(self.deal, edition=self.edition).position
        seats = iter([int(line["seat"]) for line in self.decisions])
        plays = tuple(Play(-1 if action == NEXT_ROUND else next(seats), action) for action in self.actions)
        points = None if self.result is None else tuple(int(one) for one in self.result["points"])
        return Record(start, plays, points)


def read_study(folder: str | Path) -> list[StudyGame]:
    """Read all games of a study in the order of its sessions; the study may be running.

    Args:
        folder: folder of the study.

    Raises:
        PlayError: the folder has no study.
        JournalError: a file is damaged; the message names the line.
    """
    sessions = Path(folder) / "sessions"
    if not sessions.is_dir():
        raise PlayError(f"{folder} is not the folder of a study: it has no folder 'sessions'")
    games: list[StudyGame] = []
    for path in sorted(
        sessions.glob("*.jsonl"), key=lambda path: (len(path.stem), path.stem)
    ):  # s10000: last
        games += _games_of(path)
    return games


def _games_of(path: Path) -> list[StudyGame]:
    games: list[StudyGame] = []
    head: dict[str, Any] = {}
    sheet = path.parents[1] / SHEET
    for number, line in enumerate(parsed(path.read_bytes(), path), 1):
        try:
            kind = line["line"]
            if kind == "session":
                head = {name: line[name] for name in ("session", "edition", "players", "teams", "episode")}
                if sheet.is_file():  # a sheet of one's own, which the line has by its name
                    head["edition"] = "+".join([str(sheet), *str(line["edition"]).split("+")[1:]])
            elif kind == "deal":
                games.append(StudyGame(**head, game=int(line["game"]), deal=line["record"]))
            elif kind == "decision":
                games[-1].decisions.append(line)
                games[-1].actions.append(int(line["action"]))
            elif kind == "next_round":
                games[-1].actions.append(NEXT_ROUND)
            elif kind == "result":
                games[-1].result = line
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise JournalError(
                f"{path}: line {number} is damaged ({type(error).__name__}: {error})"
            ) from None
    return games


def transitions(folder: str | Path) -> Iterator[dict[str, Any]]:
    """Yield each decision with the observation of its seat, under the names of recorded data.

    Args:
        folder: folder of the study.

    Yields:
        `session`, `game`, `time`, `participant` or `agent` (the other is None), `ms`, `server_ms` and
        `interrupted` of the line; and `decision` (its index in the game), `seat`, `observation` (int8[D]),
        `action_mask` (int8[A]), `action`, and `reward_to_go`, the seat's reward at the end of
        the round, as in `vector_env`: its team's points in it less the mean of the other teams', in
        thousands; without points, the reward of the win (NaN: the round was not finished).

    Raises:
        PlayError: the folder has no study, or a file is damaged.
        NotationError: a play breaks the rules of this version of the package.
    """
    for game in read_study(folder):
        yield from _transitions_of(game)


def _transitions_of(game: StudyGame) -> Iterator[dict[str, Any]]:
    if not game.actions:  # dealt, but without a decision
        return
    record = game.record()
    start, *after = replay(record)
    env = vector_env(
        1,
        record.position.edition,
        players=game.players,
        teams=game.teams,
        episode=game.episode,
        autoreset_mode="disabled",
    )
    env.set_states(np.array(start).reshape(1))
    lines = iter(game.decisions)
    rows: list[dict[str, Any]] = []
    is_round_over = plain(env.games.rulebook.is_round_over)
    for action, position in zip(game.actions, after, strict=True):
        if action == NEXT_ROUND:  # the environment deals by itself
            continue
        row, rewards = _stepped(env, action)
        line = next(lines)
        rows.append({name: line.get(name) for name in _KEPT} | {"decision": len(rows)} | row)
        if is_round_over(position.view(np.recarray)[0]):
            _pay(rows, rewards)
    yield from rows


def _stepped(env: VectorEnv, action: int) -> tuple[dict[str, Any], Any]:
    """Apply an action; return the seat's observation, mask and action, and the rewards of all seats."""
    buffers = env.games.buffers
    row = {
        "seat": int(env.agent_selection[0]),
        "observation": buffers.observation[0].copy(),
        "action_mask": buffers.action_mask[0].copy(),
        "action": action,
        "reward_to_go": float("nan"),
    }
    _, rewards, _, _, _ = env.step(np.array([action]))
    return row, rewards[0]


def _pay(rows: list[dict[str, Any]], rewards: Any) -> None:
    """Set the rewards of a round in its decisions."""
    for row in reversed(rows):
        if not np.isnan(row["reward_to_go"]):
            break
        row["reward_to_go"] = float(rewards[row["seat"]])

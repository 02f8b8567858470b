"""Check recorded rounds by replaying them and comparing every number of every row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from millebornes_env.agents.protocol import Actions, BaseAgent, Masks, Observations, SlotIds
from millebornes_env.arena.recording.folder import RecordedData, open_data, path_of
from millebornes_env.arena.recording.playing import play_rounds
from millebornes_env.arena.recording.tables import DECISIONS, TABLES, damaged, read_rows, tables_of
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import AgentFaultError, ArenaError, MilleBornesError
from millebornes_env.games.millebornes.editions import Edition

if TYPE_CHECKING:
    import pyarrow


class _Replayer(BaseAgent):
    """An agent that plays the recorded actions, game by game."""

    name = "the recording"
    has_memory = True

    def __init__(self, rounds: Any, actions: Any, first_round: int, games: int, players: int) -> None:
        """Take the columns of a file: rounds, int[M], sorted; actions, int[M]."""
        self._actions, self._players = actions, players
        begins = np.searchsorted(rounds, first_round + np.arange(games + 1))
        self._next, self._end = begins[:-1].copy(), begins[1:]

    def act(self, observations: Observations, masks: Masks, slot_ids: SlotIds | None = None) -> Actions:
        """Return the next recorded action of each game, or -1 if none is left."""
        assert slot_ids is not None, "it declares a memory"
        games = slot_ids // self._players
        is_left = self._next[games] < self._end[games]
        actions: Actions = np.full(len(games), -1, np.int64)
        actions[is_left] = self._actions[self._next[games[is_left]]]
        self._next[games] += 1
        return actions

    @property
    def has_more(self) -> bool:
        """True if unplayed actions are left."""
        return bool((self._next < self._end).any())


def check(
    folder: str | Path,
    *,
    edition: str | Edition | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> RecordedData:
    """Replay every recorded round and compare every row.

    Args:
        folder: folder of the recording.
        edition: the rule sheet, if it is not a shipped one.
        on_progress: called with the number of rounds compared.

    Raises:
        ArenaError: a row differs from the game (the message names the file, the round and the column), or
            as `open_data`.
    """
    data = open_data(folder)
    done = 0
    for file in range(len(data.rounds)):
        _check_file(data, file, edition)
        done += data.rounds[file]
        if on_progress is not None:
            on_progress(done)
    return data


def _check_file(data: RecordedData, file: int, edition: str | Edition | None) -> None:
    described = data.described
    recorded = {name: read_rows(path_of(data.folder, name, file)) for name in TABLES}
    path = path_of(data.folder, DECISIONS, file)
    env = _env(described, data.rounds[file], edition)
    first_round = file * described["rounds_per_file"]
    rounds, actions = (recorded[DECISIONS].column(name).to_numpy() for name in ("round", "action"))
    player = _Replayer(rounds, actions, first_round, env.num_envs, env.players)
    agents = [player] * len(described["agents"])
    try:
        played = play_rounds(agents, env, described["seed"], first_round, bool(described["hidden"]))
    except AgentFaultError as error:
        raise ArenaError(f"{path}: {error}") from None
    if player.has_more:
        raise ArenaError(f"{path}: a round has decisions after its end")
    for name, table in tables_of(played, env, described).items():
        _compare(path_of(data.folder, name, file), recorded[name], table)


def _env(described: Mapping[str, Any], rounds: int, edition: str | Edition | None) -> VectorEnv:
    """Return the environment of the recording; raise an ArenaError if its rules have changed."""
    try:
        env = vector_env(
            rounds,
            described["edition"] if edition is None else edition,
            players=described["players"],
            teams=described["teams"],
            episode="round",
            reward=described["reward"],
            autoreset_mode="disabled",
        )
    except MilleBornesError as error:
        raise ArenaError(f"the recorded table cannot be set up: {error}") from None
    if env.rules._asdict() != described["rules"]:
        raise ArenaError(
            f"the rules of the edition {described['edition']!r} have changed since it was recorded: check it "
            "with the release that wrote it, or give the sheet (edition=...)"
        )
    if env.observation_version != described["observation_version"]:
        raise ArenaError(
            f"observations have version {env.observation_version} now, and had version "
            f"{described['observation_version']}: check it with the release that wrote it"
        )
    return env


def _compare(path: Path, recorded: pyarrow.Table, replayed: pyarrow.Table) -> None:
    """Raise an ArenaError with the first round and column that differ."""
    if recorded.column_names != replayed.column_names:
        raise damaged(path, f"its columns are {', '.join(recorded.column_names)}")
    if recorded.num_rows != replayed.num_rows:
        raise damaged(path, f"it has {recorded.num_rows} rows, and the game {replayed.num_rows}")
    for name in replayed.column_names:
        if not recorded.column(name).equals(replayed.column(name)):
            pairs = zip(recorded.column(name).to_pylist(), replayed.column(name).to_pylist(), strict=True)
            row = next(row for row, (one, other) in enumerate(pairs) if one != other)
            number = recorded.column("round")[row].as_py()
            raise ArenaError(f"{path}: round {number}: {name!r} is not what the game says (row {row})")

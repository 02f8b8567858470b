"""A folder of recorded rounds: written file by file, so that a killed recording goes on where it stopped.

    data/
      README.md                         the data card
      recording.json                    what is recorded: agents, table, seed, layout of the rows
      decisions/decisions-00000.parquet a row for each decision
      rounds/rounds-00000.parquet       a row for each round

File n of both tables has the same rounds, and is a function of the recording and of n only.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from millebornes_env._util.files import (
    identity_of,
    locked,
    remove_drafts,
    write_bytes_atomically,
    write_json_atomically,
    write_text_atomically,
)
from millebornes_env._util.texts import json_of_file
from millebornes_env._util.versions import versions
from millebornes_env.arena.cluster.ray import Cluster
from millebornes_env.arena.recording.card import card
from millebornes_env.arena.recording.description import Recording, checked, first_difference
from millebornes_env.arena.recording.notations import notations
from millebornes_env.arena.recording.playing import play_rounds
from millebornes_env.arena.recording.tables import (
    DECISIONS,
    ROUNDS,
    TABLES,
    arrow,
    check_columns,
    decisions_table,
    description_of,
    place_of,
    reading,
    rounds_table,
    table_bytes,
)
from millebornes_env.errors import ArenaError, shown

if TYPE_CHECKING:
    import pyarrow.dataset

MANIFEST: Final = "recording.json"
CARD: Final = "README.md"
_LOCK: Final = ".lock"
_MOST_ROUNDS: Final = 10**9

OnProgress = Callable[[int], None]
"""Is told how many rounds are in the folder."""


def path_of(folder: Path, table: str, file: int) -> Path:
    """Where a file of one of `TABLES` lies."""
    return folder / table / f"{table}-{file:05d}.parquet"


# Writing ---------------------------------------------------------------------------------------------------


def record(
    folder: Path,
    recording: Recording,
    rounds: int,
    *,
    threads: int = 2,
    command: str = "",
    on_progress: OnProgress | None = None,
    cluster: Cluster | None = None,
) -> RecordedData:
    """Play rounds and write them; what the folder has already is kept.

    Args:
        folder: an empty one, one that is not there yet, or one with the same recording.
        recording: what to record.
        rounds: how many rounds the folder is to hold.
        threads: files that are made at the same time; they change no file.
        command: what was typed, for the data card; empty: this call.
        on_progress: called when a file is done.
        cluster: plays the rounds, a task for each file, instead of this process's threads; the folder is on
            this machine, and the files are the same.

    Returns:
        What the folder holds.

    Raises:
        ArenaError: the folder holds something else, more rounds, or a damaged file; another process
            records into it; it was removed meanwhile; a library is missing; or a value that cannot be.
        AgentFaultError: an agent raised, or chose what is illegal.
        ArenaError: the cluster is gone, or has other agents.
        OSError: a file could not be written. All files that were written before are whole.
        ValueError: there is no such table or agent.
    """
    arrow()
    for name, value, most in (("rounds", rounds, _MOST_ROUNDS), ("threads", threads, 1024)):
        given: object = value
        if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= most:
            raise ArenaError(f"{name} is {shown(value)}; it must be a whole number from 1 to {most}")
    described = recording.described()
    folder = Path(folder)
    with _locked(folder) as still_there:
        commands = _begin(folder, described, command or _call(recording, rounds))
        missing = _missing_files(folder, described, rounds)
        done = rounds - sum(missing.values())
        if on_progress is not None:
            on_progress(done)
        made = (
            _made_by_threads(recording, described, missing, threads)
            if cluster is None
            else _made_by_tasks(recording, described, missing, cluster)
        )
        with contextlib.closing(made):
            for file, contents in made:
                still_there()
                for table in (DECISIONS, ROUNDS):
                    write_bytes_atomically(path_of(folder, table, file), contents[table])
                done += missing[file]
                if on_progress is not None:
                    on_progress(done)
        still_there()
        data = open_data(folder)
        write_text_atomically(folder / CARD, card(data.described, data.summary(), commands))
    return data


_Contents = Mapping[str, bytes]
"""The files of both tables, by table."""


def _made_by_threads(
    recording: Recording, described: Mapping[str, Any], missing: Mapping[int, int], threads: int
) -> Generator[tuple[int, _Contents]]:
    """The contents of files by number, as they are done; after an error nothing new is begun."""
    pool = ThreadPoolExecutor(threads)
    left = iter(missing.items())
    jobs: dict[Future[_Contents], int] = {}
    try:
        while True:
            while len(jobs) < 2 * threads and (one := next(left, None)) is not None:
                jobs[pool.submit(_contents, recording, described, *one)] = one[0]
            if not jobs:
                return
            for job in wait(jobs, return_when=FIRST_COMPLETED).done:
                yield jobs.pop(job), job.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _made_by_tasks(
    recording: Recording, described: Mapping[str, Any], missing: Mapping[int, int], cluster: Cluster
) -> Generator[tuple[int, _Contents]]:
    """The same by the tasks of a cluster."""
    arguments = {file: (recording, described, file, rounds) for file, rounds in missing.items()}
    yield from cluster.map(_contents_there, arguments)


def _contents_there(recording: Recording, described: Mapping[str, Any], file: int, rounds: int) -> _Contents:
    """What a node of a cluster does.

    Raises:
        ArenaError: its agents are other ones.
    """
    difference = first_difference(described, recording.described())
    if difference is not None:
        raise ArenaError(
            f"a node of the cluster would record something else ({difference}): put the same files in the "
            "same place on all nodes"
        )
    return _contents(recording, described, file, rounds)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[Callable[[], None]]:
    """Lock the folder; yields a call that raises if the folder is not the one that was locked any more."""
    refusal = ArenaError(
        f"{folder}: another process records into this folder: wait for it, or choose another folder"
    )
    with locked(folder / _LOCK, refusal):
        own = identity_of(folder / _LOCK)

        def still_there() -> None:
            if identity_of(folder / _LOCK) != own or not (folder / MANIFEST).exists():
                raise ArenaError(
                    f"{folder}: the folder, or {MANIFEST} in it, was removed while it was written to; "
                    "recording stops, and nothing more is written there"
                )

        yield still_there


def _call(recording: Recording, rounds: int) -> str:
    return f"record(folder, {recording}, rounds={rounds})"


def _begin(folder: Path, described: Mapping[str, Any], command: str) -> list[str]:
    """Make the folder one of this recording; all commands that wrote to it.

    Raises:
        ArenaError: it holds something else.
    """
    for place in (folder, *(folder / table for table in TABLES)):
        remove_drafts(place)
    commands: list[str] = []
    if (folder / MANIFEST).exists():
        found = _manifest(folder)
        difference = first_difference(described, found["recording"])
        if difference is not None:
            raise ArenaError(
                f"{folder} holds another recording ({difference}): choose another folder, or ask for the same"
            )
        commands = [str(one) for one in found.get("commands", [])]
    else:
        others = sorted(one.name for one in folder.iterdir() if one.name != _LOCK)
        if others:
            raise ArenaError(
                f"{folder} is not empty, and no recording is in it (it holds {shown(others[0])}): choose "
                "another folder"
            )
    if command not in commands:
        commands.append(command)
    content = {"recording": described, "commands": commands, "versions": versions()}
    write_json_atomically(folder / MANIFEST, content)
    return commands


def _missing_files(folder: Path, described: Mapping[str, Any], rounds: int) -> dict[int, int]:
    """How many rounds each file has that is still to be written, by its number.

    Raises:
        ArenaError: the folder has more rounds than were asked for; or as `_rounds_in`.
    """
    size = described["rounds_per_file"]
    count = -(-rounds // size)
    wanted = {file: min(size, rounds - file * size) for file in range(count)}
    for file in _files_of(folder):
        found = _rounds_in(folder, described, file)
        if found > wanted.get(file, 0):
            raise ArenaError(
                f"{folder} holds more than {rounds:,} rounds already: ask for as many or more, or choose "
                "another folder"
            )
        if found == wanted[file]:
            del wanted[file]
    return wanted


def _files_of(folder: Path) -> list[int]:
    """The numbers of the files of which the folder has both tables; one alone is written again."""
    found = []
    for path in (folder / ROUNDS).glob(f"{ROUNDS}-*.parquet"):
        number = path.stem.rpartition("-")[2]
        if number.isdecimal() and path_of(folder, DECISIONS, int(number)).exists():
            found.append(int(number))
    return sorted(found)


def _rounds_in(folder: Path, described: Mapping[str, Any], file: int) -> int:
    """How many rounds one file has, both tables of it.

    Raises:
        ArenaError: one of them is damaged, of another recording, or has other rounds.
    """
    places = set()
    for table in TABLES:
        path = path_of(folder, table, file)
        difference = first_difference(described, description_of(path))
        if difference is not None:
            raise ArenaError(f"{path}: the file is of another recording ({difference}): remove it")
        check_columns(path, table, described)
        places.add(place_of(path))
    first, rounds = next(iter(places))
    if len(places) > 1 or first != file * described["rounds_per_file"]:
        path = path_of(folder, ROUNDS, file)
        raise ArenaError(f"{path}: it has other rounds than its name says, or than the other table")
    return rounds


def _contents(recording: Recording, described: Mapping[str, Any], file: int, rounds: int) -> _Contents:
    """Play the rounds of one file, for both tables."""
    env = recording.env(rounds)
    first_round = file * recording.rounds_per_file
    players = recording.players_of(env, file)
    played = play_rounds(players, env, recording.seed, first_round, recording.hidden)
    said = {"recording": described, "first_round": first_round, "rounds": rounds}
    texts = notations(played, env.edition, env.rules)
    return {
        DECISIONS: table_bytes(decisions_table(played, described), said),
        ROUNDS: table_bytes(rounds_table(played, texts, described), said),
    }


# Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedData:
    """A folder of recorded rounds.

    Attributes:
        folder: where it is.
        described: what was recorded, as `arena.recording.json` has it under "recording".
        rounds: how many rounds each file has.
    """

    folder: Path
    described: Mapping[str, Any]
    rounds: tuple[int, ...]

    def table(self, name: str) -> pyarrow.dataset.Dataset:
        """One of `TABLES`, read when it is asked (`.to_table()`, `.to_batches()`, `.scanner()`).

        Raises:
            ArenaError: there is no such table.
        """
        if name not in TABLES:
            raise ArenaError(f"there is no table {shown(name)}; there are {' and '.join(TABLES)}")
        arrow()
        import pyarrow.dataset  # noqa: PLC0415 - of the extra `data`

        return pyarrow.dataset.dataset(self.files(name))

    def decisions(self) -> pyarrow.dataset.Dataset:
        """A row for each decision."""
        return self.table(DECISIONS)

    def rounds_played(self) -> pyarrow.dataset.Dataset:
        """A row for each round."""
        return self.table(ROUNDS)

    def files(self, name: str) -> list[str]:
        """The paths of a table's files, in the order of their rounds."""
        return [str(path_of(self.folder, name, file)) for file in range(len(self.rounds))]

    def summary(self) -> dict[str, int]:
        """Rounds, decisions, bytes of both tables, and files of each."""
        rows = {name: sum(self._rows(path) for path in self.files(name)) for name in TABLES}
        size = sum(Path(path).stat().st_size for name in TABLES for path in self.files(name))
        return {
            "rounds": rows[ROUNDS],
            "decisions": rows[DECISIONS],
            "bytes": size,
            "files": len(self.rounds),
        }

    def _rows(self, path: str) -> int:
        with reading(Path(path)):
            return int(arrow().parquet.read_metadata(path).num_rows)


def open_data(folder: str | Path) -> RecordedData:
    """A folder that `record` has written; the files are looked at, their rows not yet read.

    Raises:
        ArenaError: it is none, of another version, or a file is missing or damaged.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).is_file():
        raise ArenaError(f"{folder}: there is no recording in this folder (no {MANIFEST})")
    described = _manifest(folder)["recording"]
    files = _files_of(folder)
    if files != list(range(len(files))):
        missing = next(file for file in range(len(files)) if file not in files)
        raise ArenaError(
            f"{path_of(folder, DECISIONS, missing)}, or the same of {ROUNDS}, is missing: record again, "
            "which writes what is missing"
        )
    rounds = tuple(_rounds_in(folder, described, file) for file in files)
    for file, found in enumerate(rounds[:-1]):
        if found != described["rounds_per_file"]:
            raise ArenaError(
                f"{path_of(folder, ROUNDS, file)} has {found} rounds, and others follow: record again, which "
                "writes what is missing"
            )
    return RecordedData(folder, described, rounds)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    found = json_of_file(path, ArenaError)
    checked(found.get("recording"), str(path))
    commands = found.get("commands", [])
    if not isinstance(commands, list) or not all(isinstance(one, str) for one in commands):
        raise ArenaError(f"{path}: its entry 'commands' is {shown(commands)}; it must be a list of texts")
    return found


def command_line(arguments: list[str]) -> str:
    """A command of the package as it was typed."""
    return shlex.join(["millebornes", *arguments])

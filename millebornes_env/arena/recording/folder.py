"""A folder of recorded rounds, written file by file so that a killed recording can go on.

    data/
      README.md                         the data card
      croissant.json                    the same for programs: files and columns, as Croissant metadata
      recording.json                    the description: agents, table, seed, layout of the rows
      decisions/decisions-00000.parquet a row for each decision
      rounds/rounds-00000.parquet       a row for each round

File n of both tables has the same rounds, which depend only on the recording and on n.
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
from millebornes_env.arena.recording.croissant import croissant
from millebornes_env.arena.recording.description import Recording, checked, first_difference
from millebornes_env.arena.recording.playing import play_rounds
from millebornes_env.arena.recording.tables import (
    DECISIONS,
    ROUNDS,
    TABLES,
    arrow,
    check_columns,
    description_of,
    reading,
    rounds_of,
    table_bytes,
    tables_of,
)
from millebornes_env.errors import ArenaError, shown

if TYPE_CHECKING:
    import pyarrow.dataset

MANIFEST: Final = "recording.json"
CARD: Final = "README.md"
CROISSANT: Final = "croissant.json"
_LOCK: Final = ".lock"
_MOST_ROUNDS: Final = 10**9

OnProgress = Callable[[int], None]
"""Callback with the number of rounds in the folder."""


def path_of(folder: Path, table: str, file: int) -> Path:
    """Return the path of a file of one of `TABLES`."""
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
    """Play rounds and write them; full files already in the folder are kept, a shorter last one is replaced.

    Args:
        folder: a new or empty folder, or one with the same recording.
        recording: the recording.
        rounds: total number of rounds in the folder.
        threads: number of files made at the same time; their content does not depend on it.
        command: command line for the data card; empty: this call.
        on_progress: called when a file is done.
        cluster: cluster to play on, with a task for each file, instead of threads; the files are the same.

    Returns:
        The data in the folder.

    Raises:
        ArenaError: the folder holds something else, more rounds, or a damaged file; another process records
            into it; it was removed; a library is missing; or a value is invalid; or the cluster is gone, or
            has different agents.
        AgentFaultError: an agent raised, or chose an illegal action.
        OSError: a file could not be written. Files written before are complete.
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
        commands = _begin(folder, described, command or f"record(folder, {recording}, rounds={rounds})")
        missing = _missing_files(folder, described, rounds)
        done = rounds - sum(missing.values())
        if on_progress is not None:
            on_progress(done)
        made: Generator[tuple[int, _Contents]]
        if cluster is None:
            made = _made_by_threads(recording, described, missing, threads)
        else:
            tasks = {file: (recording, described, file, count) for file, count in missing.items()}
            made = (one for one in cluster.map(_contents_there, tasks))
        with contextlib.closing(made):
            for file, contents in made:
                still_there()
                write_bytes_atomically(path_of(folder, DECISIONS, file), contents[DECISIONS])
                rounds_path = path_of(folder, ROUNDS, file)
                rounds_path.unlink(missing_ok=True)  # it may have fewer rounds than the new decisions
                write_bytes_atomically(rounds_path, contents[ROUNDS])
                done += missing[file]
                if on_progress is not None:
                    on_progress(done)
        still_there()
        data = open_data(folder)
        write_text_atomically(folder / CARD, card(data.described, data.summary(), commands))
        write_json_atomically(folder / CROISSANT, croissant(data.described, data.summary()))
    return data


_Contents = Mapping[str, bytes]
"""The bytes of a file of each table, by table."""


def _made_by_threads(
    recording: Recording, described: Mapping[str, Any], missing: Mapping[int, int], threads: int
) -> Generator[tuple[int, _Contents]]:
    """Yield the contents of files by number, in order of completion; after an error no file is started."""
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


def _contents_there(recording: Recording, described: Mapping[str, Any], file: int, rounds: int) -> _Contents:
    """Play one file on a node; raise an ArenaError if its agents differ."""
    difference = first_difference(described, recording.described())
    if difference is not None:
        raise ArenaError(
            f"a node of the cluster would record something else ({difference}): put the same files in "
            "the same place on all nodes"
        )
    return _contents(recording, described, file, rounds)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[Callable[[], None]]:
    """Lock the folder; yield a function that raises if the folder was removed or replaced."""
    refusal = ArenaError(
        f"{folder}: another process records into this folder: wait for it, or choose another folder"
    )
    with locked(folder / _LOCK, refusal):
        own = identity_of(folder / _LOCK)

        def still_there() -> None:
            if identity_of(folder / _LOCK) != own or not (folder / MANIFEST).exists():
                raise ArenaError(
                    f"{folder}: the folder, or {MANIFEST} in it, was removed during recording; recording "
                    "stops, and nothing more is written there"
                )

        yield still_there


def _begin(folder: Path, described: Mapping[str, Any], command: str) -> list[str]:
    """Start or continue the recording in the folder; return all commands that wrote to it.

    Raises:
        ArenaError: the folder holds something else.
    """
    for directory in (folder, *(folder / table for table in TABLES)):
        remove_drafts(directory)
    commands: list[str] = []
    if (folder / MANIFEST).exists():
        manifest = _manifest(folder)
        difference = first_difference(described, manifest["recording"])
        if difference is not None:
            raise ArenaError(
                f"{folder} holds another recording ({difference}): choose another folder, or the same options"
            )
        commands = [str(one) for one in manifest.get("commands", [])]
    else:
        others = sorted(one.name for one in folder.iterdir() if one.name != _LOCK)
        if others:
            raise ArenaError(
                f"{folder} is not empty and holds no recording, but {shown(others[0])}: choose another folder"
            )
    if command not in commands:
        commands.append(command)
    content = {"recording": described, "commands": commands, "versions": versions()}
    write_json_atomically(folder / MANIFEST, content)
    return commands


def _missing_files(folder: Path, described: Mapping[str, Any], rounds: int) -> dict[int, int]:
    """Return the numbers of missing files, with the number of rounds of each.

    Raises:
        ArenaError: the folder has more rounds than requested; or as `_rounds_in`.
    """
    size = described["rounds_per_file"]
    count = -(-rounds // size)
    wanted = {file: min(size, rounds - file * size) for file in range(count)}
    for file in _files_of(folder):
        written = _rounds_in(folder, described, file)
        if written > wanted.get(file, 0):
            raise ArenaError(
                f"{folder} already holds more than {rounds:,} rounds: request as many or more, or choose "
                "another folder"
            )
        if written == wanted[file]:
            del wanted[file]
    return wanted


def _files_of(folder: Path) -> list[int]:
    """Return the numbers of files that exist for both tables; single ones are written again."""
    files = []
    for path in (folder / ROUNDS).glob(f"{ROUNDS}-*.parquet"):
        number = path.stem.rpartition("-")[2]
        if number.isdecimal() and path_of(folder, DECISIONS, int(number)).exists():
            files.append(int(number))
    return sorted(files)


def _rounds_in(folder: Path, described: Mapping[str, Any], file: int) -> int:
    """Return the number of rounds in a file of both tables.

    Raises:
        ArenaError: one of them is damaged, of another recording, or has other rounds.
    """
    ranges = set()
    for table in TABLES:
        path = path_of(folder, table, file)
        difference = first_difference(described, description_of(path))
        if difference is not None:
            raise ArenaError(f"{path}: the file is of another recording ({difference}): remove it")
        check_columns(path, table, described)
        ranges.add(rounds_of(path))
    first, rounds = next(iter(ranges))
    if len(ranges) > 1 or first != file * described["rounds_per_file"]:
        path = path_of(folder, ROUNDS, file)
        raise ArenaError(f"{path}: its rounds do not fit its name, or the other table")
    return rounds


def _contents(recording: Recording, described: Mapping[str, Any], file: int, rounds: int) -> _Contents:
    """Play the rounds of one file, for both tables."""
    env = recording.env(rounds, reward=recording.reward)
    first_round = file * recording.rounds_per_file
    players = recording.players_of(env, file)
    played = play_rounds(players, env, recording.seed, first_round, recording.hidden)
    said = {"recording": described, "first_round": first_round, "rounds": rounds}
    return {name: table_bytes(table, said) for name, table in tables_of(played, env, described).items()}


# Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedData:
    """A folder of recorded rounds.

    Attributes:
        folder: the folder.
        described: description of the recording, the entry "recording" of `recording.json`.
        rounds: number of rounds in each file.
    """

    folder: Path
    described: Mapping[str, Any]
    rounds: tuple[int, ...]

    def table(self, name: str) -> pyarrow.dataset.Dataset:
        """Return one of `TABLES`, which is read lazily (`.to_table()`, `.to_batches()`, `.scanner()`).

        Raises:
            ArenaError: there is no such table.
        """
        if name not in TABLES:
            raise ArenaError(f"there is no table {shown(name)}; there are {' and '.join(TABLES)}")
        arrow()
        import pyarrow.dataset  # noqa: PLC0415 - of the extra `data`

        return pyarrow.dataset.dataset(self.files(name))

    def decisions(self) -> pyarrow.dataset.Dataset:
        """Return the table of decisions."""
        return self.table(DECISIONS)

    def rounds_played(self) -> pyarrow.dataset.Dataset:
        """Return the table of rounds."""
        return self.table(ROUNDS)

    def files(self, name: str) -> list[str]:
        """Return the paths of a table's files, in order."""
        return [str(path_of(self.folder, name, file)) for file in range(len(self.rounds))]

    def summary(self) -> dict[str, int]:
        """Return the numbers of rounds, decisions, bytes of both tables, and files of each."""
        rows = {name: sum(self._rows(path) for path in self.files(name)) for name in TABLES}
        size = sum(Path(path).stat().st_size for name in TABLES for path in self.files(name))
        return {**rows, "bytes": size, "files": len(self.rounds)}

    def _rows(self, path: str) -> int:
        with reading(Path(path)):
            return int(arrow().parquet.read_metadata(path).num_rows)


def open_data(folder: str | Path) -> RecordedData:
    """Open a folder written by `record`; the files are checked, but their rows are not read yet.

    Raises:
        ArenaError: it is not a recording, has another version, or a file is missing or damaged.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).is_file():
        raise ArenaError(f"{folder}: there is no recording in this folder (no {MANIFEST})")
    described = _manifest(folder)["recording"]
    files = _files_of(folder)
    if files != list(range(len(files))):
        missing = next(file for file in range(len(files)) if file not in files)
        raise ArenaError(
            f"{path_of(folder, DECISIONS, missing)}, or its file of {ROUNDS}, is missing: record again to "
            "write missing files"
        )
    rounds = tuple(_rounds_in(folder, described, file) for file in files)
    for file, count in enumerate(rounds[:-1]):
        if count != described["rounds_per_file"]:
            raise ArenaError(
                f"{path_of(folder, ROUNDS, file)} has only {count} rounds, but is not the last file: record "
                "again to write missing rounds"
            )
    return RecordedData(folder, described, rounds)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    manifest = json_of_file(path, ArenaError)
    checked(manifest.get("recording"), str(path))
    commands = manifest.get("commands", [])
    if not isinstance(commands, list) or not all(isinstance(one, str) for one in commands):
        raise ArenaError(f"{path}: its entry 'commands' is {shown(commands)}; it must be a list of texts")
    return manifest


def command_line(arguments: list[str]) -> str:
    """Return a command of the package as typed."""
    return shlex.join(["millebornes", *arguments])

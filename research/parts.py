"""The parts of a question, each measured separately and saved in its own file.

Files are written atomically and hold all that the result depends on, so a killed run continues with the parts
that have no file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from millebornes_env._util.files import write_json_atomically
from millebornes_env._util.texts import json_of_file
from millebornes_env.errors import MilleBornesError, shown


@dataclass(frozen=True)
class Part:
    """One measurement, for example an algorithm, a deck and a seed.

    Attributes:
        name: name of the file; letters, digits, `-`, `_`, `+`, `=` and `.`.
        seed: seed of all random numbers.
        config: all else that the result depends on, as JSON values.
        weight: approximate duration for the progress bar, in any unit shared by all parts of the question.
        folder: folder of the question's records, set by the framework; larger results can be saved in its
            subfolders.
    """

    name: str
    seed: int
    config: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    folder: Path = Path()


@dataclass(frozen=True)
class Record:
    """The result of a part.

    Attributes:
        part: the part.
        result: the result as JSON values.
        seconds: elapsed time.
        processor_seconds: processor time of the process, all threads together.
        about: the command, the versions, the machine and the day.
    """

    part: Part
    result: Mapping[str, Any]
    seconds: float
    processor_seconds: float
    about: Mapping[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        result = asdict(self)
        del result["part"]["folder"]
        return result


class Parts:
    """The folder with the records of a question."""

    def __init__(self, folder: Path) -> None:
        """Use a folder; it is created with the first record."""
        self.folder = folder
        self._known: set[Path] = set()

    def path(self, part: Part) -> Path:
        """Return the path of a part's file."""
        return self.folder / f"{part.name}.json"

    def read(self, part: Part) -> Record | None:
        """Read the record of a part; None if it was not measured yet.

        Raises:
            MilleBornesError: the file is damaged, or it was measured with another seed or configuration.
            OSError: the file cannot be read.
        """
        path = self.path(part)
        try:
            result = json_of_file(path, MilleBornesError)
            kept = result["part"]
            record = Record(
                part,
                dict(result["result"]),
                float(result["seconds"]),
                float(result["processor_seconds"]),
                dict(result["about"]),
            )
            measured = {"seed": kept["seed"], **kept["config"]}
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise MilleBornesError(
                f"{str(path)!r} is damaged ({error!r}): remove it, and the part is measured again"
            ) from None
        wanted = {"seed": part.seed, **json.loads(json.dumps(part.config))}
        for name in sorted({*measured, *wanted}):
            if measured.get(name) != wanted.get(name):
                raise MilleBornesError(
                    f"{str(path)!r} was measured with {name} {shown(measured.get(name))}, and now it is "
                    f"{shown(wanted.get(name))}: give another --out, or --no-resume to measure "
                    "everything again"
                )
        self._known.add(path)
        return record

    def save(self, record: Record) -> None:
        """Write a record atomically.

        Raises:
            MilleBornesError: earlier records were removed meanwhile, or a number of the result is not finite,
                which JSON does not support.
            OSError: the file could not be written.
        """
        if gone := sorted(path for path in self._known if not path.exists()):
            raise MilleBornesError(
                f"{str(gone[0])!r} was removed while other parts were measured: the run stops and writes "
                "nothing more there; the same command measures missing parts again"
            )
        try:
            write_json_atomically(self.path(record.part), record.content())
        except ValueError as error:
            raise MilleBornesError(
                f"the result of part {record.part.name} cannot be saved: {error}"
            ) from None
        self._known.add(self.path(record.part))

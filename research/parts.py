"""The work of a question in parts: each is measured by itself and kept in a file of its own.

A file is written whole or not at all, and holds everything that the result depends on: a killed run goes on
with the parts that have no file.
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
        name: of its file; letters, digits, `-`, `_`, `+`, `=` and `.`.
        seed: of everything random in it.
        config: what else the result depends on, as JSON values.
        weight: about how long it takes, in any unit that all parts of the question share, for the time left.
        folder: of the question's records; what is too large for a record can be kept beside it, in a
            subfolder. The frame says it.
    """

    name: str
    seed: int
    config: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    folder: Path = Path()


@dataclass(frozen=True)
class Record:
    """A part that was measured.

    Attributes:
        part: which.
        result: what was found, as JSON values.
        seconds: that it took.
        processor_seconds: processor time of the process, all threads together.
        about: the command, the versions, the machine and the day.
    """

    part: Part
    result: Mapping[str, Any]
    seconds: float
    processor_seconds: float
    about: Mapping[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """As JSON values."""
        result = asdict(self)
        del result["part"]["folder"]
        return result


class Parts:
    """The folder with the records of a question."""

    def __init__(self, folder: Path) -> None:
        """Take a folder; it is made when the first record is kept."""
        self.folder = folder
        self._known: set[Path] = set()

    def path(self, part: Part) -> Path:
        """The file of a part."""
        return self.folder / f"{part.name}.json"

    def read(self, part: Part) -> Record | None:
        """The record of a part; None if it was not measured yet.

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

    def keep(self, record: Record) -> None:
        """Write a record, whole or not at all.

        Raises:
            MilleBornesError: earlier records were removed meanwhile, or a number of the result is not finite,
                which JSON cannot hold.
            OSError: it could not be written.
        """
        if gone := sorted(path for path in self._known if not path.exists()):
            raise MilleBornesError(
                f"{str(gone[0])!r} was removed while other parts were measured: the work stops, and nothing "
                "more is written there; the same command measures again what is missing"
            )
        try:
            write_json_atomically(self.path(record.part), record.content())
        except ValueError as error:
            raise MilleBornesError(f"the result of part {record.part.name} cannot be kept: {error}") from None
        self._known.add(self.path(record.part))

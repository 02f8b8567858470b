"""Numbers over time, for TensorBoard and Weights & Biases; a disk that is full does not stop training."""

from __future__ import annotations

import importlib
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

_FILE_VERSION: Final = "brain.Event:2"


class Scalars:
    """Event files in a folder, written in the caller's thread: errors in PyTorch's writer's own are lost.

    Attributes:
        problem: why the last numbers could not be written, or None; the next ones begin a new file.
    """

    def __init__(self, folder: Path, step: int, wandb_run: Any = None) -> None:
        """Nothing is written yet.

        Args:
            folder: the folder of the event files.
            step: from which on older numbers are not valid any more: a killed run may have gone farther.
            wandb_run: of Weights & Biases, or None.
        """
        self.problem: OSError | None = None
        self._folder = folder
        self._first_step = step
        self._wandb = wandb_run
        self._file: BinaryIO | None = None

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Write numbers by name; what cannot be written is left out."""
        summary = Summary(
            value=[Summary.Value(tag=name, simple_value=float(n)) for name, n in values.items()]
        )
        try:
            self._write(Event(wall_time=time.time(), step=step, summary=summary))
            self.problem = None
        except OSError as error:
            self.problem = error
            self.begin_anew(step)
        if self._wandb is not None:
            self._wandb.log(dict(values), step=step)

    def begin_anew(self, step: int) -> None:
        """Write what comes to a new file: the old one is gone, or did not take the last numbers."""
        self.close()
        self._first_step = step

    def close(self) -> None:
        """Write out what is left, if that goes."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self.problem = error
        self._file = None

    def _write(self, event: Event) -> None:
        if self._file is None:
            self._file = self._opened()
            now = time.time()
            start = SessionLog(status=SessionLog.START)
            self._put(Event(wall_time=now, file_version=_FILE_VERSION))
            self._put(Event(wall_time=now, step=self._first_step, session_log=start))
        self._put(event)
        self._file.flush()

    def _put(self, event: Event) -> None:
        RecordWriter(self._file).write(event.SerializeToString())

    def _opened(self) -> BinaryIO:
        self._folder.mkdir(parents=True, exist_ok=True)
        seconds, rest = divmod(time.time_ns(), 10**9)  # TensorBoard reads them in the order of their names
        name = f"events.out.tfevents.{seconds:010d}.{socket.gethostname()}.{os.getpid()}.{rest:09d}"
        return (self._folder / name).open("xb")


def started_wandb(project: str, name: str, config: Mapping[str, Any]) -> Any:
    """A run of Weights & Biases, which must be installed."""
    wandb = importlib.import_module("wandb")
    return wandb.init(project=project, name=name, config=dict(config))

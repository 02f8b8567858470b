"""Several processes that train one network together, started by PyTorch's `torchrun`.

Each process plays its share of the games and holds the same weights: the gradients of a minibatch are
averaged over the processes (an all-reduce of `torch.distributed`, by gloo), so that all take the same step.
Process 0 holds the run folder, evaluates and saves; it tells the others what to do, and they follow.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load, save
from torch import Tensor, distributed, nn

from millebornes_env._util.signals import SIGNALS, Stopped
from train.common.run_folder import LossError, RunError

_BITS_OF_A_SEED: Final = 64
_BITS_OF_A_PROCESS: Final = 48  # of a seed: where the number of the process is added
_OF_A_LAUNCHER: Final = "WORLD_SIZE"


class Order(IntEnum):
    """The commands of process 0 to the others."""

    BEGIN = 0
    UPDATE = 1
    CHECKPOINT = 2
    RESTORE = 3
    END = 4


class Workers:
    """The processes of a run, seen from one of them. By itself, a process is the only one.

    Every method but `seed` and the attributes is called by all processes at the same time, and fails with
    `RunError` where another one has ended.

    Attributes:
        rank: the number of this process, from 0.
        count: of the processes.
    """

    def __init__(self, group: distributed.ProcessGroup | None = None) -> None:
        """A process.

        Args:
            group: PyTorch's group of the processes; None: there are no others.
        """
        self._group = group
        self._is_broken = False  # an exchange has failed
        self.rank = 0 if group is None else group.rank()
        self.count = 1 if group is None else group.size()

    def leave(self) -> None:
        """Let go of the others: from now on this process is by itself.

        Gloo's threads end with the last reference to the group. A thread that frees a tensor while Python
        shuts down aborts the process ("terminate called without an active exception").
        """
        self._group = None
        self.rank, self.count = 0, 1

    def seed(self, seed: int) -> int:
        """The seed of this process: that of process 0 is the run's."""
        return int((seed + (self.rank << _BITS_OF_A_PROCESS)) % 2**_BITS_OF_A_SEED)

    def share_of_games(self, num_envs: int) -> int:
        """The games of each process.

        Raises:
            ValueError: they cannot be shared equally.
        """
        if num_envs % self.count:
            raise ValueError(
                f"--num-envs is {num_envs}; {self.count} processes cannot share the games equally: "
                f"give a multiple of {self.count}"
            )
        return num_envs // self.count

    # Orders -------------------------------------------------------------------------------------------------

    def tell(self, order: Order, value: float = 0.0) -> None:
        """Tell the others what to do, with a number; for process 0."""
        self._number_of_0(float(order))
        self._number_of_0(value)

    def told(self) -> tuple[Order, float]:
        """Wait for an order of process 0; for the others."""
        return Order(int(self._number_of_0(0.0))), self._number_of_0(0.0)

    @contextlib.contextmanager
    def leading(self) -> Iterator[None]:
        """In a `with` block of process 0: at its end the others are told to end, too.

        Where they cannot be waiting for an order, because something went wrong in between, nothing is said:
        they notice that process 0 has ended.
        """
        try:
            yield
        except (LossError, RunError, Stopped) as error:
            if not self._is_broken and not getattr(error, "half_done", False):
                with contextlib.suppress(RunError):
                    self.tell(Order.END)
            raise
        self.tell(Order.END)

    @contextlib.contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """In a `with` block: signals wait until several exchanges that belong together are done."""
        if not hasattr(signal, "pthread_sigmask"):  # Windows
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    # Exchanges ----------------------------------------------------------------------------------------------

    def sums(self, *numbers: float) -> tuple[float, ...]:
        """The sums of numbers over all processes."""
        if self._group is None:
            return numbers
        total = torch.tensor(numbers, dtype=torch.float64)
        self._do("allreduce", [total])
        return tuple(total.tolist())

    def mean_and_std(self, values: npt.NDArray[np.float32]) -> tuple[float, float]:
        """Mean and standard deviation of the values of all processes."""
        if self._group is None:
            return values.mean(), values.std()
        exact = values.astype(np.float64)
        count, total = self.sums(len(exact), float(exact.sum()))
        mean = total / count
        (squares,) = self.sums(float(np.square(exact - mean).sum()))
        return mean, (squares / count) ** 0.5

    def average(
        self, parameters: Iterable[nn.Parameter], means: npt.NDArray[np.float64], rows: int
    ) -> npt.NDArray[np.float64]:
        """Average the gradients of a minibatch over its rows in all processes.

        Args:
            parameters: whose gradients are overwritten.
            means: of this process's rows.
            rows: of this process in the minibatch, more than 0.

        Returns:
            The means over all processes.
        """
        if self._group is None:
            return means
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        parts = [gradient.reshape(-1) for gradient in gradients]
        flat = torch.cat([*parts, torch.from_numpy(means).float(), torch.ones(1)])
        flat *= rows
        self._do("allreduce", [flat])
        flat /= flat[-1].clone()
        first = 0
        for gradient in gradients:
            piece = flat[first : first + gradient.numel()]
            gradient.copy_(piece.view_as(gradient))
            first += gradient.numel()
        return flat[-1 - len(means) : -1].double().numpy()

    def gathered(self, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The rows of all processes, those of process 0 first; process 0 tells the others to send theirs.

        Args:
            own: rows by name, in all processes equally many.
        """
        if self._group is None:
            return dict(own)
        everywhere = {}
        with self._undisturbed():
            if self.rank == 0:
                self.tell(Order.CHECKPOINT)
            for name, rows in own.items():
                sent = rows.contiguous().view(torch.uint8)  # gloo does not know all types
                result = [torch.empty_like(sent) for _ in range(self.count)]
                self._do("allgather", [result], [sent])
                everywhere[name] = torch.cat(result).view(rows.dtype)
        return everywhere

    def own(self, rows: Tensor) -> Tensor:
        """This process's part of what was gathered."""
        size = len(rows) // self.count
        return rows[self.rank * size : (self.rank + 1) * size]

    def send(self, tensors: Mapping[str, Tensor], progress: Mapping[str, Any]) -> None:
        """Tell the others to go on from a checkpoint, if this is process 0 and there are others."""
        if self.count == 1 or self.rank:
            return
        with self._undisturbed():
            self.tell(Order.RESTORE)
            for content in (save(dict(tensors)), json.dumps(dict(progress)).encode()):
                self._number_of_0(float(len(content)))
                self._do("broadcast", torch.frombuffer(bytearray(content), dtype=torch.uint8), 0)

    def received(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and JSON values of a checkpoint, by name, as sent by process 0."""
        result = []
        for _ in range(2):
            content = torch.zeros(int(self._number_of_0(0.0)), dtype=torch.uint8)
            self._do("broadcast", content, 0)
            result.append(content.numpy().tobytes())
        return load(result[0]), json.loads(result[1])

    def _number_of_0(self, number: float) -> float:
        if self._group is None:
            return number
        sent = torch.tensor([number], dtype=torch.float64)
        self._do("broadcast", sent, 0)
        return float(sent.item())

    def _do(self, exchange: str, *arguments: Any) -> None:
        """Carry out an exchange of the group, by name, and wait for it.

        Raises:
            RunError: another process has ended.
        """
        try:
            getattr(self._group, exchange)(*arguments).wait()
        except RuntimeError as error:
            self._is_broken = True
            reason = str(error).partition("\n")[0]
            raise RunError(
                f"another process of this run has ended or cannot be reached ({reason}): "
                "start all processes again, with --resume if the run folder holds a checkpoint"
            ) from None


ALONE: Final = Workers()
"""A process without others."""


@contextlib.contextmanager
def joined() -> Iterator[Workers]:
    """The processes that `torchrun` has started with this one; this one alone without `torchrun`.

    Raises:
        RunError: the others cannot be reached.
    """
    by_torchrun = distributed.is_available() and distributed.is_torchelastic_launched()
    if not by_torchrun or int(os.environ.get(_OF_A_LAUNCHER, "1")) == 1:
        yield ALONE
        return
    try:
        distributed.init_process_group("gloo")
    except (RuntimeError, ValueError) as error:
        raise RunError(f"the other processes of torchrun cannot be reached: {error}") from None
    workers = Workers(distributed.group.WORLD)
    try:
        yield workers
    finally:
        workers.leave()
        distributed.destroy_process_group()


@contextlib.contextmanager
def signals_ignored() -> Iterator[None]:
    """In a `with` block: signals do nothing; process 0 gets them too, and says when to end."""
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


__all__ = ["ALONE", "Order", "Workers", "joined", "signals_ignored"]

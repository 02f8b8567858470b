"""Several processes that train one network together, started by PyTorch's `torchrun`.

Each process plays its share of the games and holds the same weights: the gradients of a minibatch are
averaged over the processes (an all-reduce of `torch.distributed`, by gloo), so that all take the same step.
Process 0 owns the run folder, evaluates and saves; it sends commands to the others, which follow.
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

_SEED_BITS: Final = 64
_RANK_SHIFT: Final = 48  # bit of a seed from which the rank is added


class Order(IntEnum):
    """The commands of process 0 to the others."""

    BEGIN = 0
    UPDATE = 1
    CHECKPOINT = 2
    RESTORE = 3
    END = 4


class Workers:
    """The processes of a run, from the perspective of one of them; without `torchrun` it is the only one.

    All processes call each method but `seed` at the same time; it raises `RunError` if another process
    ended.

    Attributes:
        rank: index of this process, from 0.
        count: number of processes.
    """

    def __init__(self, group: distributed.ProcessGroup | None = None) -> None:
        """Join PyTorch's group of the processes; without one this is a single process."""
        self._group = group
        self._is_broken = False  # an exchange has failed
        self.rank = 0 if group is None else group.rank()
        self.count = 1 if group is None else group.size()

    def leave(self) -> None:
        """Leave the group; from now on this process is a single one.

        Gloo's threads end with the last reference to the group. A thread that frees a tensor while Python
        shuts down aborts the process ("terminate called without an active exception").
        """
        self._group = None
        self.rank, self.count = 0, 1

    def seed(self, seed: int) -> int:
        """Return the seed of this process; process 0 has the seed of the run."""
        return int((seed + (self.rank << _RANK_SHIFT)) % 2**_SEED_BITS)

    def share_of_games(self, num_envs: int) -> int:
        """Return the number of games of each process.

        Raises:
            ValueError: the games cannot be shared equally.
        """
        if num_envs % self.count:
            raise ValueError(
                f"--num-envs is {num_envs}; {self.count} processes cannot share the games equally: "
                f"give a multiple of {self.count}"
            )
        return num_envs // self.count

    # Orders -------------------------------------------------------------------------------------------------

    def send_order(self, order: Order, value: float = 0.0) -> None:
        """Send an order with a number to the others; for process 0."""
        self._broadcast(float(order))
        self._broadcast(value)

    def receive_order(self) -> tuple[Order, float]:
        """Wait for an order of process 0; for the others."""
        return Order(int(self._broadcast(0.0))), self._broadcast(0.0)

    @contextlib.contextmanager
    def leading(self) -> Iterator[None]:
        """Send `Order.END` to the others at the end of a `with` block of process 0.

        After an error during which the others do not wait for an order, nothing is sent: they notice that
        process 0 ended.
        """
        try:
            yield
        except (LossError, RunError, Stopped) as error:
            if not self._is_broken and not getattr(error, "half_done", False):
                with contextlib.suppress(RunError):
                    self.send_order(Order.END)
            raise
        self.send_order(Order.END)

    @contextlib.contextmanager
    def _signals_blocked(self) -> Iterator[None]:
        """Delay signals until a series of exchanges in a `with` block is complete."""
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
        """Return the sums of numbers over all processes."""
        if self._group is None:
            return numbers
        total = torch.tensor(numbers, dtype=torch.float64)
        self._exchange("allreduce", [total])
        return tuple(total.tolist())

    def mean_and_std(self, values: npt.NDArray[np.float32]) -> tuple[float, float]:
        """Return mean and standard deviation of the values of all processes."""
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
        """Average the gradients of a minibatch, which are overwritten, over its rows in all processes.

        Return the averages of means float64[M] of statistics, given those of this process and the number of
        its rows in the minibatch, 1 or more.
        """
        if self._group is None:
            return means
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        parts = [gradient.reshape(-1) for gradient in gradients]
        flat = torch.cat([*parts, torch.from_numpy(means).float(), torch.ones(1)])
        flat *= rows
        self._exchange("allreduce", [flat])
        flat /= flat[-1].clone()
        pieces = torch.split(flat, [*map(len, parts), len(means), 1])
        for gradient, piece in zip(gradients, pieces, strict=False):
            gradient.copy_(piece.view_as(gradient))
        return pieces[-2].double().numpy()

    def gathered(self, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the rows of all processes by name, in order of rank, given the own ones, equally many.

        Process 0 orders the others to send theirs.
        """
        if self._group is None:
            return dict(own)
        everywhere = {}
        with self._signals_blocked():
            if self.rank == 0:
                self.send_order(Order.CHECKPOINT)
            for name, rows in own.items():
                sent = rows.contiguous().view(torch.uint8)  # gloo does not support all types
                result = [torch.empty_like(sent) for _ in range(self.count)]
                self._exchange("allgather", [result], [sent])
                everywhere[name] = torch.cat(result).view(rows.dtype)
        return everywhere

    def own(self, rows: Tensor) -> Tensor:
        """Return the part of this process in gathered rows."""
        size = len(rows) // self.count
        return rows[self.rank * size : (self.rank + 1) * size]

    def send(self, tensors: Mapping[str, Tensor], progress: Mapping[str, Any]) -> None:
        """Order the others to continue from a checkpoint, if this is process 0 and there are others."""
        if self.count == 1 or self.rank:
            return
        with self._signals_blocked():
            self.send_order(Order.RESTORE)
            for content in (save(dict(tensors)), json.dumps(dict(progress)).encode()):
                self._broadcast(float(len(content)))
                self._exchange("broadcast", torch.frombuffer(bytearray(content), dtype=torch.uint8), 0)

    def received(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and JSON values of a checkpoint, by name, as sent by process 0."""
        result = []
        for _ in range(2):
            content = torch.zeros(int(self._broadcast(0.0)), dtype=torch.uint8)
            self._exchange("broadcast", content, 0)
            result.append(content.numpy().tobytes())
        return load(result[0]), json.loads(result[1])

    def _broadcast(self, number: float) -> float:
        """Return the number that process 0 passes."""
        if self._group is None:
            return number
        sent = torch.tensor([number], dtype=torch.float64)
        self._exchange("broadcast", sent, 0)
        return float(sent.item())

    def _exchange(self, method: str, *arguments: Any) -> None:
        """Call a method of the group, and wait for its end.

        Raises:
            RunError: another process ended.
        """
        try:
            getattr(self._group, method)(*arguments).wait()
        except RuntimeError as error:
            self._is_broken = True
            reason = str(error).partition("\n")[0]
            raise RunError(
                f"another process of this run ended or cannot be reached ({reason}): "
                "start all processes again, with --resume if the run folder holds a checkpoint"
            ) from None


ALONE: Final = Workers()
"""A single process."""


@contextlib.contextmanager
def joined() -> Iterator[Workers]:
    """Join the processes started by `torchrun`; without it, yield `ALONE`.

    Raises:
        RunError: the others cannot be reached.
    """
    by_torchrun = distributed.is_available() and distributed.is_torchelastic_launched()
    if not by_torchrun or int(os.environ.get("WORLD_SIZE", "1")) == 1:
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
    """Ignore signals in a `with` block: process 0 receives them too, and ends the run."""
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)

"""Work on a Ray cluster: functions of this package, carried out as Ray tasks on one CPU each.

    with connected("auto") as cluster:
        for key, result in cluster.map(function, {"a": (1, 2), "b": (3, 4)}):
            ...

A task is a function of its arguments alone, so it does not matter where it runs, nor how often: if its node
is lost, Ray carries it out again on another. Ray is imported by `connected` (the extra `ray`).
docs/environment/libraries.md says what the nodes must have.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import logging
import os
import platform
import signal
import socket
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from millebornes_env.errors import ArenaError, shown

LOCAL: Final = "local"
"""The address of a Ray of one's own on this machine, which ends with the command."""

MOST_LOSSES: Final = 10
"""So often a task is carried out again if its node was lost: it may be the task that kills them."""

_SECONDS_BETWEEN_LOOKS: Final = 0.5
_SECONDS_TO_ANSWER: Final = 30.0
_TASKS_FOR_A_CPU: Final = 2  # one is carried out, one waits
_OBJECT_STORE: Final = 200 << 20  # bytes, of a Ray of our own; results are small, and /dev/shm can be
_PACKAGE: Final = Path(__file__).parents[2]

Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class _Place:
    """The environment that a task needs on its node, as it is where the command was started."""

    folder: str
    """The current one, in which relative paths of run folders and of agents' files are looked up."""
    modules: tuple[str, ...]
    """Those that register the games of the user's."""
    version: str
    """Of the package's sources."""

    def take(self) -> None:
        """Make this process a place like it.

        Raises:
            ArenaError: this node has another version of the package, or lacks a module.
        """
        if self.version != sources_version():
            raise ArenaError(
                f"the node {platform.node()} has another version of millebornes_env in {str(_PACKAGE)!r} "
                "than the machine where the command was given: install the same on all nodes"
            )
        with contextlib.suppress(OSError):  # then only what has absolute paths is found
            os.chdir(self.folder)
        if self.folder not in sys.path:
            sys.path.append(self.folder)
        for module in self.modules:
            try:
                importlib.import_module(module)
            except Exception as error:
                raise ArenaError(
                    f"the node {platform.node()} cannot import the game's module {shown(module)} ({error}): "
                    "put it on every node, in the same place"
                ) from None


class Cluster:
    """A Ray cluster that the command is connected to."""

    def __init__(self, ray: Any, address: str, modules: Sequence[str] = ()) -> None:
        """Use a Ray that was initialised.

        Args:
            ray: the library.
            address: for messages.
            modules: that the tasks import first.
        """
        self.address = address
        self._ray = ray
        self._place = _Place(os.getcwd(), tuple(modules), sources_version())
        self._run_task = ray.remote(_run_task)
        self._keys: dict[Any, Hashable] = {}
        self._cpus = 0
        self._look_again = 0.0

    def cpus(self) -> int:
        """CPUs of all nodes that are alive."""
        now = time.monotonic()
        if now > self._look_again:
            self._cpus = int(self._ray.cluster_resources().get("CPU", 0))
            self._look_again = now + _SECONDS_BETWEEN_LOOKS
        return self._cpus

    @property
    def num_waiting(self) -> int:
        """Tasks that were submitted and whose results were not yet returned."""
        return len(self._keys)

    @property
    def is_full(self) -> bool:
        """True if every CPU has a task, and another one waiting."""
        return self.num_waiting >= _TASKS_FOR_A_CPU * max(1, self.cpus())

    def submit(
        self, key: Hashable, function: Callable[..., Any], arguments: Sequence[Any], cpus: int = 1
    ) -> None:
        """Let a function be carried out on some node.

        Args:
            key: what its result is to be known by.
            function: of a module that all nodes have, whose result depends on its arguments only.
            arguments: of it.
            cpus: that it uses.
        """
        task = self._run_task.options(num_cpus=cpus, max_retries=MOST_LOSSES)
        self._keys[task.remote(self._place, function, tuple(arguments))] = key

    def next(self, on_wait: Callable[[], None] | None = None) -> tuple[Any, Any]:
        """The key and the result of a task that is done, waiting for one if need be.

        Args:
            on_wait: called twice a second meanwhile.

        Raises:
            ArenaError: a task's node was lost time after time, or the cluster is gone.
            Exception: what the function raised.
        """
        done: list[Any] = []
        while not done:
            done, _ = self._ray.wait(list(self._keys), num_returns=1, timeout=_SECONDS_BETWEEN_LOOKS)
            if on_wait is not None:
                on_wait()
        key = self._keys.pop(done[0])
        return key, self._result(done[0])

    def _result(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise ArenaError(f"a task failed: {_last_line(error)}") from None
        except errors.RayError as error:
            raise ArenaError(
                f"a task was lost {MOST_LOSSES + 1} times with its node, or the cluster at {self.address} is "
                f"gone ({_last_line(error)}): what was done before is kept; look at the nodes, and give the "
                "same command again"
            ) from None

    def map(
        self, function: Callable[..., Result], arguments: Mapping[Key, Sequence[Any]]
    ) -> Iterator[tuple[Key, Result]]:
        """Carry a function out for many arguments, and return results as they come.

        Args:
            function: as in `submit`.
            arguments: by key.

        Raises:
            ArenaError: as in `next`.
            Exception: what the function raised.
        """
        left = list(arguments.items())[::-1]
        while left or self._keys:
            while left and not self.is_full:
                key, given = left.pop()
                self.submit(key, function, given)
            yield self.next()


def _run_task(place: _Place, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run one task on a node."""
    place.take()
    return function(*arguments)


def _last_line(error: BaseException) -> str:
    """Of what Ray says, which can be a page."""
    return (str(error).strip() or type(error).__name__).splitlines()[-1].strip()


@contextlib.contextmanager
def connected(
    address: str | None, *, cpus: int = 1, modules: Sequence[str] = (), log_to_driver: bool = False
) -> Iterator[Cluster]:
    """Connect to a Ray cluster, and leave it at the end of the block.

    Args:
        address: "auto" (the cluster that this machine belongs to), "10.0.0.1:6379", "ray://10.0.0.1:10001";
            "local" or None: a Ray of its own on this machine.
        cpus: of that one.
        modules: that the tasks import first, such as those that register games.
        log_to_driver: whether what tasks print is printed here.

    Raises:
        ArenaError: Ray is not installed, or there is no cluster at the address.
    """
    address = address or LOCAL
    ray = _ray()
    if ray.is_initialized():
        yield Cluster(ray, address, modules)
        return
    options: dict[str, Any] = {"log_to_driver": log_to_driver, "logging_level": logging.ERROR}
    if address == LOCAL:
        options |= {"num_cpus": cpus, "object_store_memory": _OBJECT_STORE, "include_dashboard": False}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        _knock(address)
        ray.init(address, **options)
    except (ConnectionError, OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ArenaError(
            f"there is no Ray cluster at {shown(address)} that takes this program ({_last_line(error)}): "
            "start one with `ray start --head`, and give the address that it prints, or auto on one of its "
            "nodes; if it was started with a token, export RAY_AUTH_MODE=token"
        ) from None
    finally:
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGTERM, handler)  # Ray puts its own there, which ends without a word
    try:
        cluster = Cluster(ray, address, modules)
        if cluster.cpus() < 1:
            raise ArenaError(f"the Ray cluster at {shown(address)} has no CPU: start a node with --num-cpus")
        yield cluster
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Look whether anybody is there: Ray itself would try for minutes.

    Raises:
        OSError: nobody is.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()


def _ray() -> Any:
    """The library.

    Raises:
        ArenaError: it is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage statistics are sent
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns that it will change
    try:
        import ray  # noqa: PLC0415 - of the extra `ray`
    except ModuleNotFoundError as error:
        raise ArenaError(
            f"a cluster needs {error.name}, which is not installed: pip install 'millebornes-env[ray]'"
        ) from None
    return ray


@functools.cache
def sources_version() -> str:
    """Sixteen hexadecimal digits that change with any file of the package that can change a result."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.suffix in {".py", ".toml", ".safetensors"}:
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

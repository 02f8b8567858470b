"""A Ray cluster on this machine: a head without a CPU and two nodes with one, started by Ray's commands."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).parents[2]


class LocalCluster:
    """A cluster that the tests start.

    Attributes:
        address: of the head.
        nodes: the processes of the nodes, which are killed with all that belongs to them.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self.nodes: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._head = self._start(
            *("--head", "--node-ip-address=127.0.0.1", f"--port={port}", "--num-cpus=0"),
            *("--include-dashboard=false", f"--temp-dir={folder}"),
        )
        wait_until(lambda: self._is_there(port), self._head, "the head")

    def _is_there(self, port: int) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        ray = str(Path(sys.executable).with_name("ray"))
        memory = "--object-store-memory=80000000"
        with (self._folder.parent / "nodes.log").open("ab") as log:
            return subprocess.Popen(
                [ray, "start", "--block", memory, *options],
                stdout=log,
                stderr=log,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                start_new_session=True,
            )

    def add_node(self) -> subprocess.Popen[bytes]:
        node = self._start(f"--address={self.address}", "--node-ip-address=127.0.0.1", "--num-cpus=1")
        self.nodes.append(node)
        return node

    def wait_for_nodes(self, count: int) -> None:
        """Until all have joined."""
        import ray  # noqa: PLC0415 - the environment of the other tests has none

        ray.init(self.address, logging_level="ERROR", log_to_driver=False)
        try:
            wait_until(lambda: ray.cluster_resources().get("CPU", 0) == count, self._head, f"{count} nodes")
        finally:
            ray.shutdown()

    def kill_node(self, node: subprocess.Popen[bytes]) -> None:
        """As a machine dies that loses its power."""
        kill(node)
        self.nodes.remove(node)

    def stop(self) -> None:
        for process in [*self.nodes, self._head]:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """The process and all that it has started, and those that they have started."""
    family = [process.pid]
    for one in family:
        result = subprocess.run(["ps", "-o", "pid=", "--ppid", str(one)], capture_output=True, check=False)
        family += [int(number) for number in result.stdout.split()]
    for one in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    process.wait()


def wait_until(is_so: object, process: subprocess.Popen[bytes], what: str) -> None:
    began = time.monotonic()
    while not is_so():  # type: ignore[operator]
        assert process.poll() is None, f"{what} has ended"
        assert time.monotonic() - began < SECONDS_OF_A_HANG, f"{what} does not come up"
        time.sleep(0.2)


# Ray reads them when it is imported. A token of our own keeps others out; with a niceness of 0 workers have
# their share beside other processes.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - Ray's name


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """With two nodes. Paths of sockets may not be long, so its folder is not pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        result = LocalCluster(folder / "ray", port)
        try:
            for count in (1, 2):  # two that begin at the same time on one machine take each other's ports
                result.add_node()
                result.wait_for_nodes(count)
            yield result
        finally:
            result.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

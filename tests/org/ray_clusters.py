"""Ray clusters of this machine: two nodes with a processor each, on addresses of the loopback."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psutil

from tests.org.clusters import free_port

HEAD: Final = "127.0.0.2"
"""Not 127.0.0.1, for which Ray takes the first address of the machine, on which nobody listens then."""

_SETTINGS: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Its client server forks, and a thread of gRPC crashed in the child.
    "GRPC_ENABLE_FORK_SUPPORT": "0",
}
_STORE_BYTES: Final = 80 << 20
_TASK: Final = "ray::answer_request"
"""Name of a process while it runs a task."""


class RayCluster:
    """A head, which takes publishers at `address`, and another node, which can be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        port = free_port()
        self._cluster: Any = Cluster()
        self._common = {"num_cpus": 1, "object_store_memory": _STORE_BYTES}
        self._head = self._cluster.add_node(
            **self._common, node_ip_address=HEAD, ray_client_server_port=port, include_dashboard=False
        )
        self.address = f"ray://{HEAD}:{port}"
        self._other: Any = None
        self._nodes = 0

    def start_other(self) -> None:
        """Add the other node, unless it runs."""
        if self._other is None:
            self._nodes += 1  # a new node must not look like the lost one
            self._other = self._cluster.add_node(**self._common, node_ip_address=f"127.0.0.{2 + self._nodes}")

    def find_task(self, *, of_other: bool = True) -> psutil.Process | None:
        """Return a process that runs a task right now, on the other node or on the head."""
        for process in _descendants(_raylet(self._other if of_other else self._head)):
            with suppress(psutil.Error):
                if " ".join(process.cmdline()).startswith(_TASK):
                    return process
        return None

    def suspend_other(self) -> None:
        """Stop all processes of the other node, which then says nothing, like one whose network is cut."""
        for process in self._other_processes():
            with suppress(psutil.NoSuchProcess):
                process.suspend()

    def kill_other(self) -> None:
        """Kill all processes of the other node at once."""
        processes = self._other_processes()
        self.suspend_other()  # none cleans up after another one
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._other = None

    def _other_processes(self) -> list[psutil.Process]:
        raylet = _raylet(self._other)
        return [raylet, *_descendants(raylet)]

    def cpu_seconds(self) -> float:
        """Return the processor time of all processes so far, without those that ended and were not waited for."""
        total = 0.0
        for node in filter(None, (self._head, self._other)):
            for infos in node.all_processes.values():
                for info in infos:
                    first = psutil.Process(info.process.pid)
                    for process in (first, *_descendants(first)):
                        with suppress(psutil.NoSuchProcess):
                            total += sum(process.cpu_times()[:4])
        return total

    def stop(self) -> None:
        """End all processes."""
        self._cluster.shutdown()


def _raylet(node: Any) -> psutil.Process:
    return psutil.Process(node.all_processes["raylet"][0].process.pid)


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.NoSuchProcess:
        return []


@contextmanager
def running_ray() -> Iterator[RayCluster]:
    """Run a cluster for a `with` block."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # the path of a socket is limited
    settings = {**_SETTINGS, "RAY_TMPDIR": folder}
    before = {name: os.environ.get(name) for name in settings}
    os.environ |= settings
    try:
        (Path(folder) / "ray").mkdir()
        cluster = RayCluster()
        try:
            cluster.start_other()
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)

"""Connect to a Ray cluster, whose nodes make rows for `indexing.remote_pool`.

Nodes get the contents of files and the sizes of chunks, nothing else: no settings, no keys, no DSN. Ray authenticates
nobody by default and its tasks run any code, so a cluster is trusted like a machine of the own CI.
"""

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from gitmem import __version__
from gitmem.errors import GitmemError, UsageError, WorkersFailed
from gitmem.indexing.batch_task import answer_request
from gitmem.indexing.remote_pool import TaskEngine
from gitmem.named_tuple import NamedTuple

_DEFAULT_PORT: Final = 10001
_CONNECT_SECONDS: Final = 10.0

RETRIES: Final = 5
"""Repetitions of a task whose process or node was lost. One that always ends its process must end the run."""

_MAX_REASON: Final = 400
"""Characters of a reason. That of other versions names both, on several lines."""

_RESUME: Final = "run it again: finished batches are kept"
_ADDRESS: Final = "--on ray://HOST:10001"


class ClusterAddress(NamedTuple):
    """Address of the client server on the head node."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ray://{host}:{self.port}"


def parse_address(address: str) -> ClusterAddress:
    """Parse `ray://HOST[:PORT]`. Raises UsageError."""
    refusal = UsageError("expected an address of the form ray://HOST:PORT", hint=_ADDRESS)
    # An address with a user may have a password, which no message repeats; a malformed port could be a part of it.
    if "@" in address or any(char.isspace() for char in address):
        raise refusal
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, _DEFAULT_PORT if parts.port is None else parts.port
    except ValueError as problem:
        raise UsageError(f"malformed address of an engine: {problem}", hint=_ADDRESS) from None
    if parts.scheme != "ray" or not host or not port or parts.path.strip("/") or parts.query or parts.fragment:
        raise refusal
    return ClusterAddress(host, port)


@contextmanager
def open_cluster(address: ClusterAddress) -> Iterator[TaskEngine]:
    """Connect to a cluster for a `with` block. Tasks that are left at its end are dropped by the cluster.

    Raises: UsageError without Ray, WorkersFailed if the cluster cannot be reached or runs other versions.
    """
    # Under `uv run`, Ray would upload the working folder, and with it files that git ignores. Read at the import.
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    try:
        import grpc  # noqa: F401 (the client of Ray needs it, and Ray is installed without it by default)
        import ray
    except ModuleNotFoundError as problem:
        raise UsageError("this needs Ray", hint="pip install 'gitmem-cli[org,ray]'") from problem
    _require_listener(address)
    try:
        # Ray repeats the output of its processes, logs each retry, and warns; errors come back as exceptions.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(str(address), log_to_driver=False, logging_level=logging.CRITICAL)
            _silence_head()
    except Exception as problem:
        reason = " ".join(str(problem).split())[:_MAX_REASON]
        hint = "`ray status` on its head node, and `ray --version`"
        raise WorkersFailed(f"cannot use {address}: {reason}", hint=hint) from problem
    try:
        task = ray.remote(answer_request).options(num_cpus=1, max_retries=RETRIES)

        def submit(request: bytes) -> "Future[bytes]":
            try:
                # An argument that is stored is sent once, however often the task is repeated.
                answer: Future[bytes] = task.remote(ray.put(request)).future()
            except Exception as problem:
                raise explain_failure(problem) from problem
            return answer

        yield TaskEngine(submit, explain_failure)
    finally:
        ray.shutdown()


def _silence_head() -> None:
    """Keep the log of the head node for this connection out of standard output, which may be JSON, and of errors."""
    from ray.util.client import ray as client

    logging.getLogger("ray.util.client.logsclient").addFilter(lambda _: False)
    with suppress(AttributeError):  # not part of Ray's interface; a version without it logs more
        client.get_context().client_worker.log_client.disable_logs()


def _require_listener(address: ClusterAddress) -> None:
    """Check that somebody listens: Ray's own attempts take half a minute, and do not name the failure."""
    try:
        socket.create_connection(address, _CONNECT_SECONDS).close()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise WorkersFailed(
            f"cannot reach {address}: {reason}", hint=f"{_ADDRESS} names the client server of the head node"
        ) from problem


def explain_failure(problem: BaseException) -> GitmemError:
    """Return the error of gitmem for an exception of a task or of the connection."""
    if "No module named 'gitmem" in str(problem):
        return WorkersFailed(
            "a node of the cluster does not have this version of gitmem",
            hint=f"pip install gitmem-cli=={__version__} on all nodes",
        )
    if isinstance(problem, ConnectionError):
        return WorkersFailed("the connection to the cluster was lost", hint=_RESUME)
    from ray import exceptions as lost

    kinds: Any = (lost.WorkerCrashedError, lost.NodeDiedError, lost.ObjectLostError, lost.OutOfMemoryError)
    if isinstance(problem, kinds):
        reason = f"{type(problem).__name__}: {_lines(problem)[0]}"
        return WorkersFailed(f"the cluster lost a batch {RETRIES + 1} times: {reason}", hint=_RESUME)
    # The error of a task is a traceback, whose last line names it.
    return WorkersFailed(f"the cluster failed: {_lines(problem)[-1]}", hint=_RESUME)


def _lines(problem: BaseException) -> list[str]:
    """Return the lines of an error, at least one."""
    return [line.strip() for line in str(problem).splitlines() if line.strip()] or [type(problem).__name__]

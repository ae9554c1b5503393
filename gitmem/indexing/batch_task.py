"""One batch of blobs as a task for another machine: a request as bytes there, an answer as bytes back.

The machine needs gitmem and nothing else: the request has the contents of the blobs, so it needs no repository, and it
gets neither settings nor keys. Rows are the same wherever they are made, because a machine on which anything differs
that rows depend on makes none.
"""

import io
import platform
from functools import cache
from importlib.metadata import version
from typing import Final

from gitmem import __version__
from gitmem.errors import WorkersFailed
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.indexing.worker_process import WorkerProcess
from gitmem.indexing.worker_protocol import BatchRequest, PackedRows, read_batch, read_rows, write_batch, write_rows
from gitmem.named_tuple import NamedTuple
from gitmem.processes.frames import read_frame, write_frame
from gitmem.settings import Settings

_PARSERS: Final = ("tree-sitter", "tree-sitter-language-pack")
"""Libraries whose versions decide where a chunk ends."""

_MAX_RESIDENT: Final = 512 << 20
"""Memory at which the worker is replaced between two batches. The budget of the run is that of another machine."""


class _Outcome(NamedTuple):
    """Beginning of an answer: the number of parts with rows that follow, or why there are none."""

    parts: int
    problem: str = ""
    hint: str = ""


@cache
def row_versions() -> dict[str, str]:
    """Return the versions of all that rows depend on besides their blobs and the request."""
    parsers = {name: version(name) for name in _PARSERS}
    # Settings of the repository are part of the request, so the fingerprint of the defaults is compared.
    return {"gitmem": __version__, "format, chunker and model": current_fingerprint(Settings()), **parsers}


def encode_request(request: BatchRequest) -> bytes:
    """Return a request for `answer_request`."""
    stream = io.BytesIO()
    write_frame(stream, row_versions())
    write_batch(stream, request)
    return stream.getvalue()


def answer_request(request: bytes) -> bytes:
    """Make the rows of a batch in a worker process, which serves the following requests, too.

    A blob that crashes the worker costs only itself, as in a run on one machine. Errors are part of the answer: an
    exception would have to be known to the other version of gitmem that may have asked.
    """
    stream, answer = io.BytesIO(request), io.BytesIO()
    wanted = read_frame(stream)
    problem = _describe_difference(wanted)
    if problem:
        hint = f"install gitmem-cli=={wanted['gitmem']} with the same libraries on all nodes, best by one image"
        write_frame(answer, tuple(_Outcome(0, problem, hint)))
        return answer.getvalue()
    batch, _, _, bounds, embeds = read_batch(stream)
    worker = shared_worker()
    worker.bounds, worker.embeds = bounds, embeds
    try:
        parts = worker.build_rows(batch)
    except WorkersFailed as failure:
        hint = f"run `gitmem doctor` on {platform.node()}"
        write_frame(answer, tuple(_Outcome(0, f"node {platform.node()}: {failure.message}", hint)))
    else:
        write_frame(answer, tuple(_Outcome(len(parts))))
        for part in parts:
            write_rows(answer, part)
    worker.recycle(_MAX_RESIDENT)
    return answer.getvalue()


def _describe_difference(wanted: dict[str, str]) -> str:
    """Return how this machine differs from that of the request, "" if rows of both are the same."""
    own = row_versions()
    for name, value in wanted.items():
        if own.get(name) != value:
            return f"node {platform.node()} has {name} {own.get(name, 'of another version')} instead of {value}"
    return ""


@cache
def shared_worker() -> WorkerProcess:
    """Return the worker process that serves all requests to this process, one after the other."""
    return WorkerProcess()


def read_answer(answer: bytes) -> list[PackedRows]:
    """Return the rows of an answer. Raises WorkersFailed if it has none, or cannot be read."""
    stream = io.BytesIO(answer)
    try:
        outcome = _Outcome(*read_frame(stream))
        parts = [read_rows(stream) for _ in range(outcome.parts)]
    except (EOFError, ValueError, TypeError) as problem:
        raise WorkersFailed(f"a node gave an answer that cannot be read: {problem}") from problem
    if outcome.problem:
        raise WorkersFailed(outcome.problem, hint=outcome.hint)
    return parts

"""Routes of S1's index manager, as its scripts know them: at the root, with names in camel case.

The old manager served one workspace and this server serves all, so `repository` names one. Without it the request is
about the only registered repository. Old scripts therefore run unchanged for a user of one repository, and never
change another repository than they mean.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from gitmem.actions.cancel import cancel
from gitmem.answering.answer_json import json_path
from gitmem.answering.index_status import read_status
from gitmem.embedding.provider import selected_provider
from gitmem.errors import Busy
from gitmem.freshness.cancellation import RunProgress, read_progress, read_run
from gitmem.freshness.index_runs import IndexRun, read_runs
from gitmem.git.status import read_status as read_changes
from gitmem.indexing.fingerprint import is_made_with
from gitmem.locks import is_locked
from gitmem.registry import read_registry
from gitmem.resident.call import Call
from gitmem.web.api.operation import BOOLEAN, COUNT, NAME, TEXT, Arguments, Operation, array, record
from gitmem.web.errors import Problem
from gitmem.web.index_jobs import CANCELLED, DONE, FAILED, RUNNING, IndexJob
from gitmem.web.service import Service
from gitmem.workspace import Workspace, find_index, read_dimensions

_TYPES: Final = {RUNNING: "progress", DONE: "complete", CANCELLED: "cancelled", FAILED: "error"}
"""Types of the last entry by the state of a run."""

_START: Final = RunProgress(0, 0, 0)


def show_progress(service: Service, arguments: Arguments, _call: Call) -> list[dict[str, Any]]:
    """Return the entries of the last run, the newest last: its start, and its progress or its end."""
    name = _choose(service, arguments)
    workspace, job = service.workspace(name), service.jobs.find(name)
    if job is not None and job.state == RUNNING:
        return _job_entries(job)
    # Another process may index: a hook, a command, a server for an agent. Its progress is in the state folder.
    if is_locked(workspace.paths.lock):
        run = read_run(workspace.paths)
        reached = (run and read_progress(workspace.paths, run)) or _START
        return [_entry("progress", datetime.now(UTC), reached)]
    logged = read_runs(workspace.paths)[-1:]
    if job is not None and (not logged or datetime.fromisoformat(logged[0].at) <= _end_of(job)):
        return _job_entries(job)
    return [entry for one in logged for entry in _logged_entries(one)]


def _choose(service: Service, arguments: Arguments) -> str:
    """Return the name of the repository that a request is about. Raises: Problem."""
    if arguments["repository"]:
        return str(arguments["repository"])
    known = read_registry(service.environment)
    if not known:
        raise Problem(404, "unknown_repository", "no repository is registered", hint="gitmem index PATH")
    if len(known) > 1:
        message = f"{len(known)} repositories are registered: name one with `?repository=NAME`"
        raise Problem(400, "invalid_argument", message, hint="gitmem repos list")
    return known[0].name


def _job_entries(job: IndexJob) -> list[dict[str, Any]]:
    started = datetime.fromtimestamp(job.started, UTC)
    is_running = job.state == RUNNING
    reached = RunProgress(job.files, job.files_total, job.chunks, job.path if is_running else "")
    now = datetime.now(UTC) if is_running else _end_of(job)
    last = _entry(_TYPES[job.state], now, reached, job.message, waiting=is_running and bool(job.waiting))
    return [_entry("start", started, _START), last]


def _end_of(job: IndexJob) -> datetime:
    return datetime.fromtimestamp(job.started, UTC) + timedelta(seconds=job.seconds)


def _logged_entries(run: IndexRun) -> list[dict[str, Any]]:
    report, end = run.report, datetime.fromisoformat(run.at)
    files, chunks = int(report.get("blobs_embedded", 0)), int(report.get("chunks_added", 0))
    start = end - timedelta(seconds=float(report.get("seconds", 0)))
    message = "; ".join(map(str, (report.get("problems") or [])[:3]))
    return [_entry("start", start, _START), _entry("complete", end, RunProgress(files, files, chunks), message)]


def _entry(
    kind: str, time: datetime, reached: RunProgress, message: str = "", *, waiting: bool = False
) -> dict[str, Any]:
    # The number of chunks is known only at the end of a run. Until then it is estimated from the files that are done,
    # so that the share of chunks is that of the files.
    chunks = reached.chunks * reached.blobs_total // reached.blobs if reached.blobs else reached.chunks
    return {
        "timestamp": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "type": kind,
        "message": message,
        "completedChunks": reached.chunks,
        "totalChunks": chunks,
        "completedFiles": reached.blobs,
        "totalFiles": reached.blobs_total,
        "waitingForRateLimit": waiting,
        **({"currentFileName": json_path(reached.path)} if reached.path else {}),
    }


def show_schema(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return whether the index fits the configured model, and the numbers of files."""
    workspace = service.workspace(_choose(service, arguments))
    status = read_status(workspace)
    return {
        "workspacePath": json_path(str(workspace.location.worktree or workspace.location.git_dir)),
        **_dimensions(workspace),
        "status": status.state,
        # Empty files and those that are excluded count neither as files nor as missing, as in the old server.
        "totalFilesInProject": status.indexed + status.not_indexed,
        "indexedFiles": status.indexed,
        "notIndexedFiles": status.not_indexed,
        "deletedFiles": _count_deleted(workspace),
    }


def _count_deleted(workspace: Workspace) -> int:
    """Return the number of committed files that the working tree lacks; the index keeps the chunks of their blobs."""
    if workspace.location.worktree is None or workspace.location.plain:
        return 0  # without a working tree, or outside git
    # Git knows no mode of a path that does not exist.
    return sum(entry.mode is None for entry in read_changes(workspace.location).entries)


def _dimensions(workspace: Workspace) -> dict[str, Any]:
    """Return the lengths of the vectors in the index and of the configured model, 0 if nobody knows them yet."""
    manifest, stored = find_index(workspace), read_dimensions(workspace)
    is_valid = manifest is not None and is_made_with(manifest.fingerprint, workspace.settings)
    # A provider is not asked for it: that would send a text to another machine.
    own = stored if is_valid else selected_provider(workspace.settings).dimensions
    return {"schemaDimension": stored, "embeddingDimension": own, "isValid": is_valid}


def rebuild(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Start to update the index, or to rebuild it."""
    name, full = _choose(service, arguments), arguments["reindex_all"]
    workspace = service.workspace(name)
    # The run refuses to start beside another process as well, but only its thread would learn of that.
    if is_locked(workspace.paths.lock):
        raise Busy(f"`{name}` is being indexed already")
    service.jobs.start(name, workspace, full=full, uncommitted=True)
    return {"success": True, "message": f"Index {'rebuild' if full else 'update'} started"}


def stop(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Stop the index run in any process, and wait for its end."""
    outcome = cancel(service.workspace(_choose(service, arguments)))
    if not outcome.found:
        return {"success": False, "message": "No indexing operation is running"}
    message = "Indexing was cancelled" if outcome.stopped else "Indexing had finished"
    return {"success": outcome.stopped, "message": message}


_FLAG: Final = {"type": "boolean"}
_QUERY: Final = {"repository": {**NAME, "default": ""}}
_DONE: Final = record(success=_FLAG, message=TEXT)
_PROGRESS: Final = array(
    record(
        timestamp=TEXT, type={"type": "string", "enum": ["start", *_TYPES.values()]}, message=TEXT,
        completedChunks=COUNT, totalChunks=COUNT, completedFiles=COUNT, totalFiles=COUNT, waitingForRateLimit=_FLAG,
    )
)  # fmt: skip
_SCHEMA: Final = record(
    workspacePath=TEXT, schemaDimension=COUNT, embeddingDimension=COUNT, isValid=_FLAG, status=TEXT,
    totalFilesInProject=COUNT, indexedFiles=COUNT, notIndexedFiles=COUNT, deletedFiles=COUNT,
)  # fmt: skip
OPERATIONS: Final = (
    Operation("GET", "/progress", "showProgress", "Show the last run.", show_progress, _PROGRESS, query=_QUERY),
    Operation("GET", "/schema-status", "showSchema", "Show the schema.", show_schema, _SCHEMA, query=_QUERY),
    Operation(
        "POST", "/rebuild-index", "rebuildIndex", "Update or rebuild the index.", rebuild, _DONE, query=_QUERY,
        body={"reindex_all": BOOLEAN},
    ),
    Operation("POST", "/cancel-indexing", "cancelIndexing", "Stop the run.", stop, _DONE, query=_QUERY, body={}),
)  # fmt: skip
"""Operations of this module."""

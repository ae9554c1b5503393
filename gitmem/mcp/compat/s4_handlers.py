"""Handlers of the tools of S4, and the form of its errors."""

import json
import os
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from gitmem import __version__
from gitmem.actions.health import examine_health, health_json
from gitmem.actions.watched_run import FULL, INCREMENTAL, update_index
from gitmem.answering.answer import Answer
from gitmem.answering.answer_json import hit_json, time_json
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.hit_details import indexed_time
from gitmem.answering.location_lookup import chunk_names
from gitmem.answering.readings import NameOptions
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.errors import GitmemError, UnknownRecord, UsageError
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.path_encoding import path_bytes
from gitmem.mcp.compat.adapter import Adapter, Served, error_text, json_answer, search_own
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.get import read_from_index
from gitmem.mcp.tools.tool_answer import ToolAnswer
from gitmem.memory.document import MANUAL, Document
from gitmem.memory.kinds import CODE, DEFAULT
from gitmem.records.documents import add_document, get_document
from gitmem.resident.open_tree import OpenTree
from gitmem.secrets.masking import mask_text, mask_value

_DOCUMENTS: Final = "documents"
_ID: Final = re.compile(r"(?P<path>.+):(?:chunk_)?(?P<number>[0-9]{1,6})", re.DOTALL)
"""Id of a chunk of a file: `path:0`, or `path:chunk_0`."""

_SPECIAL: Final = re.compile(r"[\\*?\[\]]")
_ESCAPED: Final = r"\\\g<0>"
"""Replacement of a special character of a pattern by its escape."""


def _ks_search(served: Served, arguments: Arguments) -> ToolAnswer:
    limit, file_type, prefix = arguments["top_k"], arguments["file_type"], arguments["file_path_prefix"]
    query = partial(Query, arguments["query"], details=True)
    if not file_type and not prefix:
        answers = [search_own(served, query(limit=limit, filters=SearchFilters(kinds=DEFAULT)))]
    else:
        # Paths are known of files only. Documents have theirs in the metadata, so the best ones are filtered here.
        files = SearchFilters(kinds=(CODE,), include=_globs(file_type, prefix))
        most = served.get("").current_workspace().settings.search_max_limit
        answers = [
            search_own(served, query(limit=limit, filters=files)),
            search_own(served, query(limit=most, filters=SearchFilters(kinds=(_DOCUMENTS,)))),
        ]
    results = [_result(served, answer, index) for answer in answers for index in range(len(answer.hits))]
    passing = [one for one in results if _passes(one["metadata"], file_type, prefix)]
    # Scores are likelihoods, so those of two searches can be compared; ties keep the order of the searches.
    best = sorted(passing, key=lambda one: -one["score"])[:limit]
    return json_answer({"success": True, "count": len(best), "results": best})


def _globs(file_type: str, prefix: str) -> tuple[str, ...]:
    """Return patterns of the paths that begin with a prefix and end with an extension."""
    end = f"*.{_SPECIAL.sub(_ESCAPED, file_type.lstrip('.'))}" if file_type else "*"
    if not prefix:
        return (end,)
    # A prefix may end within a name: then it means files of such names, and all below folders of such names.
    start = f"/{_SPECIAL.sub(_ESCAPED, prefix.lstrip('/'))}"
    return (f"{start}{end}", f"{start}*/**/{end}")


def _passes(metadata: Mapping[str, Any], file_type: str, prefix: str) -> bool:
    path, own_type = str(metadata["file_path"]), str(metadata["file_type"])
    has_type = not file_type or own_type.lstrip(".") == file_type.lstrip(".")
    return has_type and path.startswith(prefix.lstrip("/"))


def _result(served: Served, answer: Answer, index: int) -> dict[str, Any]:
    values = hit_json(answer, index)
    record = values["record"]
    if record:
        manual = record.get("source", MANUAL) == MANUAL and record.get("source_id")
        metadata = _record_metadata(record.get("metadata", {}), record["stored"])
        return {"doc_id": manual or values["path"], "content": values["content"], "score": values["score"],
                "metadata": metadata}  # fmt: skip
    chunk, total = values["chunk_index"], values["total_chunks"]
    metadata = {**_file_metadata(served, values["path"], chunk, total), "indexed_at": values["indexed_at"] or ""}
    return {"doc_id": f"{values['path']}:{chunk}", "content": values["content"], "score": values["score"],
            "metadata": metadata}  # fmt: skip


def _file_metadata(served: Served, path: str, chunk: int, total: int) -> dict[str, Any]:
    return {
        "file_path": path,
        "file_type": os.path.splitext(path)[1],  # noqa: PTH122 (a path in git, not of this machine)
        "chunk_index": chunk,
        "total_chunks": total,
        "repo_path": str(served.get("").workspace.location.worktree or served.table.own),
    }


def _record_metadata(metadata: Mapping[str, str], stored: str) -> dict[str, Any]:
    """Return the metadata of a document that somebody added: its own, with the fields that every document has."""
    return {"file_path": "", "file_type": "", **metadata, "chunk_index": 0, "total_chunks": 1, "indexed_at": stored}


def _ks_get(served: Served, arguments: Arguments) -> ToolAnswer:
    identity = arguments["doc_id"]
    document = _find_document(served, identity)
    if document is not None:
        metadata = _record_metadata(mask_value(dict(document.fields.metadata)), document.stored)
        content = mask_text(document.content)
        return json_answer({"success": True, "doc_id": identity, "content": content, "metadata": metadata})
    match = _ID.fullmatch(identity)
    if match is None:
        raise _not_found(identity)
    path, number = match["path"], int(match["number"])

    def read(tree: OpenTree) -> tuple[Excerpt, int, str]:
        view, snapshot = tree.searcher.view, tree.searcher.snapshot
        entry = view.find(path_bytes(path))
        if entry is None:
            raise _not_found(identity)
        names = chunk_names(tree.searcher.indexed_tree, path)
        if number >= len(names):
            raise _not_found(identity)
        (excerpts,) = read_from_index(tree, [names[number]], NameOptions()).found.values()
        if isinstance(excerpts, GitmemError):
            raise excerpts
        return excerpts[0], len(names), time_json(indexed_time(snapshot, int(snapshot.match(view)[entry]))) or ""

    excerpt, total, indexed_at = served.get("").with_tree(WORKING_TREE, (), served.call, read)
    metadata = {**_file_metadata(served, path, number, total), "indexed_at": indexed_at}
    return json_answer({"success": True, "doc_id": identity, "content": excerpt.content, "metadata": metadata})


def _find_document(served: Served, identity: str) -> Document | None:
    """Return the document of an id that somebody gave it, or of its own id; None if there is none."""
    try:
        return get_document(served.workspace, identity)
    except UnknownRecord:
        return None


def _not_found(identity: str) -> UsageError:
    return UsageError(f"Document not found: {identity}")


def _ks_index(served: Served, arguments: Arguments) -> ToolAnswer:
    metadata = {name: arguments[name] for name in ("file_path", "file_type") if arguments[name]}
    fields = {"source": MANUAL, "source_id": arguments["doc_id"], **({"metadata": metadata} if metadata else {})}
    add_document(served.workspace, arguments["content"], fields)
    return json_answer({"success": True, "doc_id": arguments["doc_id"]})


def _ks_health(served: Served, _arguments: Arguments) -> ToolAnswer:
    health = health_json(examine_health(served.workspace, probe=False))
    cluster = mask_value({name: one["status"] for name, one in health["components"].items()})
    backend = f"gitmem {__version__}"
    return json_answer({"success": True, "status": health["status"], "backend": backend, "cluster": cluster})


def _ks_ingest_repo(served: Served, arguments: Arguments) -> ToolAnswer:
    # A path is taken like `root` of our own tools: another folder must have been registered by the user.
    workspace = served.get(arguments["repo_path"]).reopen()
    report = update_index(workspace, FULL if arguments["force_reindex"] else INCREMENTAL, served.call)
    return json_answer(
        {
            "success": True,
            "files_processed": report.embedded,
            "documents_created": report.chunks_added,
            "files_skipped": max(0, report.files - report.embedded),
            "errors": [list(mask_text(problem).partition(": ")[::2]) for problem in report.problems],
            "duration_seconds": round(report.seconds, 3),
        }
    )


def fail(_tool: str, error: GitmemError) -> ToolAnswer:
    """Return an error in the old form."""
    return ToolAnswer(json.dumps({"success": False, "error": error_text(error)}), is_error=True)


ADAPTER: Final = Adapter(
    {
        "ks_search": _ks_search,
        "ks_get": _ks_get,
        "ks_index": _ks_index,
        "ks_health": _ks_health,
        "ks_ingest_repo": _ks_ingest_repo,
    },
    fail,
)

"""Handlers of the tools of S0, and the form of its answers and errors."""

import os
from pathlib import Path
from typing import Any, Final

from gitmem.actions.repository_rows import RepositoryRow
from gitmem.answering.federated_json import federated_hit_json
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.errors import Busy, GitmemError, ProviderFailed, UsageError
from gitmem.git.remotes import find_origin_url
from gitmem.mcp.compat.adapter import Adapter, Served, error_text, json_answer, read_served_rows, search_named
from gitmem.mcp.tools.arguments import Arguments, InvalidArgument
from gitmem.mcp.tools.tool_answer import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError, ToolAnswer
from gitmem.memory.kinds import CODE
from gitmem.secrets.masking import mask_text
from gitmem.workspace import open_workspace

_SNIPPET: Final = 500
"""Characters of a snippet."""


def _semantic_search(served: Served, arguments: Arguments) -> ToolAnswer:
    threshold = arguments["threshold"]
    query = Query(
        arguments["query"],
        limit=arguments["limit"],
        mode="semantic",
        filters=SearchFilters(kinds=(CODE,)),
        min_score=threshold if threshold >= 0 else None,  # -1 stands for a missing number
        details=True,
    )
    answer = search_named(served, query, [arguments["repository"] or "*"])
    hits = [federated_hit_json(answer, rank) for rank in range(len(answer.order))]
    return json_answer(
        {
            "results": [_result(hit) for hit in hits],
            "metadata": {
                "total_matches": len(hits),
                "query_time_ms": answer.stats["query_time_ms"],
                "repositories_searched": [one.name for one in answer.searched],
            },
        }
    )


def _result(hit: dict[str, Any]) -> dict[str, Any]:
    return {
        "file_path": hit["path"],
        "repository": hit["repository"],
        "content_snippet": hit["content"][:_SNIPPET],
        "similarity_score": hit["score"],
        "chunk_index": hit["chunk_index"],
        "metadata": {
            "file_extension": os.path.splitext(hit["path"])[1],  # noqa: PTH122 (a path in git, not of this machine)
            "file_size_bytes": hit["file_size_bytes"],
            "indexed_at": hit["indexed_at"] or "",
        },
    }


def _list_indexed_repositories(served: Served, _arguments: Arguments) -> ToolAnswer:
    rows = read_served_rows(served)
    values = [_repository(row, served) for row in rows]
    return json_answer(
        {
            "repositories": values,
            "summary": {
                "total_repositories": len(values),
                "total_files_indexed": sum(value["file_count"] for value in values),
                "total_chunks": sum(value["chunk_count"] for value in values),
            },
        }
    )


def _repository(row: RepositoryRow, served: Served) -> dict[str, Any]:
    status, run = row.status, row.last_run
    value: dict[str, Any] = {
        "name": row.name,
        "url": _url(row, served),
        "file_count": status.indexed if status else 0,
        "chunk_count": status.chunks if status else 0,
        "last_indexed": run.at if run else "",
        "status": "error" if status is None else "indexing" if status.writing else "ready",
    }
    if run:
        value["index_duration_ms"] = round(1000 * run.report.get("seconds", 0))
    if status is None:
        value["error_message"] = mask_text(row.problem) or f"the folder `{row.path}` does not exist"
    return value


def _url(row: RepositoryRow, served: Served) -> str:
    """Return the URL that a repository was cloned from, without a password in it, else its folder."""
    url = find_origin_url(open_workspace(Path(row.path), served.environment).location) if row.status else ""
    return mask_text(url) or Path(row.path).as_uri()


def fail(_tool: str, error: GitmemError) -> ToolAnswer:
    """Raise an error as one of the protocol. Raises: ProtocolError."""
    if isinstance(error, UsageError):
        text = error_text(error)
        if isinstance(error, InvalidArgument) and error.value is None:
            text = f"{error.name.capitalize()} parameter is required"
        raise ProtocolError(INVALID_PARAMS, text, {"details": error.hint, "retryable": False}) from error
    retryable = isinstance(error, Busy) or (isinstance(error, ProviderFailed) and error.is_passing)
    message = "Service temporarily unavailable" if retryable else "Internal error occurred"
    raise ProtocolError(INTERNAL_ERROR, message, {"details": error_text(error), "retryable": retryable}) from error


ADAPTER: Final = Adapter(
    {"semantic_search": _semantic_search, "list_indexed_repositories": _list_indexed_repositories}, fail
)

"""Handlers of the tools of S1, and the form of its answers and errors."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from gitmem.actions.cancel import cancel
from gitmem.actions.report_creation import Report, ReportRequest, create_report
from gitmem.actions.report_template import read_template
from gitmem.actions.watched_run import FULL, INCREMENTAL, RESET, update_index
from gitmem.actions.web_page import find_page, open_page, stop_page
from gitmem.answering.answer import Answer
from gitmem.answering.answer_json import json_path
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.index_status import NO_INDEX, read_status
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.session_excerpts import read_results
from gitmem.answering.sessions import Session, list_sessions, save_session, session_time, use_session
from gitmem.display import count
from gitmem.errors import Busy, Cancelled, GitmemError, UnknownRecord, UsageError
from gitmem.freshness.index_runs import read_runs
from gitmem.indexing.run import Progress
from gitmem.mcp.compat.adapter import Adapter, Served, error_text, json_answer, search_own
from gitmem.mcp.compat.s1_tools import PREVIEW_RESULTS, SEARCH_RESULTS
from gitmem.mcp.tools.admin_handlers import reload_settings
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.tool_answer import ToolAnswer
from gitmem.secrets.masking import mask_text
from gitmem.workspace import Workspace

_PREVIEW: Final = 200
"""Characters of a result in the answer of a search."""

_ID_DIGITS: Final = 16


def _search_knowledge(served: Served, arguments: Arguments) -> ToolAnswer:
    scope = arguments["scope"]
    most = served.get("").current_workspace().settings.search_max_limit
    query = Query(
        arguments["query"],
        limit=min(SEARCH_RESULTS, most),
        filters=SearchFilters(files=scope["files"], folders=scope["folders"]),
        # Without one, the calibrated threshold applies: that of the old server was made for another model.
        min_score=arguments["min_similarity"] if arguments["min_similarity"] >= 0 else None,
    )
    workspace = served.workspace
    name = save_session(workspace, _search_current(served, query)).session
    if not name:
        raise UsageError("no sessions are kept: gitmem.sessions is 0, or the index cannot be written")
    session = use_session(workspace, name)
    previews = read_results(workspace, session, session.results[:PREVIEW_RESULTS])
    results = [{**_result(excerpt, "preview"), "preview": excerpt.content[:_PREVIEW]} for excerpt in previews]
    return json_answer({"session_id": name, "result_count": len(session.results), "results": results})


def _search_current(served: Served, query: Query) -> Answer:
    """Search after an update of the index, as the old server did: its answers cannot say that files are missing."""
    answer = search_own(served, query)
    # A small update is part of the search. `gitmem.healBudget` 0 means that a search never updates the index.
    if not answer.view.stale or not served.get("").current_workspace().settings.heal_budget:
        return answer
    with suppress(Busy, Cancelled):
        update_index(served.workspace, INCREMENTAL, served.call, _describe_progress, wait=True)
    return search_own(served, query)


def _result(excerpt: Excerpt, text: str = "content") -> dict[str, Any]:
    """Return a result in the old form, with its content under a name."""
    fields = excerpt.fields
    return {
        "file_path": fields["path"],
        "file_uri": fields["file_uri"] or "",
        "start_line": fields["start_line"],
        "end_line": fields["end_line"],
        "similarity": fields["score"],
        text: excerpt.content,
    }


def _get_search_results(served: Served, arguments: Arguments) -> ToolAnswer:
    workspace = served.workspace
    single, several = arguments["session_id"], arguments["session_ids"]
    if not single and not several:
        raise UsageError("Either session_id or session_ids is required")
    limit = max(0, arguments["limit"]) or workspace.settings.session_results
    if not several:
        session = _get_session(workspace, single)
        results = _results_of(workspace, session, limit)
        return json_answer(_counts(session, results) | {"results": results})
    sessions = [_get_session(workspace, name) for name in dict.fromkeys([*([single] if single else []), *several])]
    found = [(session, _results_of(workspace, session, limit)) for session in sessions]
    listed = [{"session_id": session.id, **_counts(session, results)} for session, results in found]
    everything = [{"session_id": session.id, **result} for session, results in found for result in results]
    return json_answer({"sessions": listed, "total_results": len(everything), "results": everything})


def _get_session(workspace: Workspace, name: str) -> Session:
    try:
        return use_session(workspace, name)
    except UnknownRecord as error:
        raise UnknownRecord(f"Session not found: {name[:80]}") from error


def _results_of(workspace: Workspace, session: Session, limit: int) -> list[dict[str, Any]]:
    return [_result(excerpt) for excerpt in read_results(workspace, session, session.results[:limit])]


def _counts(session: Session, results: Sequence[object]) -> dict[str, Any]:
    return {"query": session.query, "total_results": len(session.results), "returned_results": len(results)}


def _create_rag_report(served: Served, arguments: Arguments) -> ToolAnswer:
    request = _request(arguments, arguments["variables"])
    return _written(create_report(served.workspace, request._replace(ascii_name=arguments["ascii_filename"])))


def _generate_report(served: Served, arguments: Arguments) -> ToolAnswer:
    variables: dict[str, Any] = {"overall_summary": arguments["overall_summary"]}
    if arguments["sections"]:  # otherwise the results of the session become sections
        variables["sections"] = list(arguments["sections"])
    session = _get_session(served.workspace, arguments["session_id"])
    return _written(create_report(served.workspace, _request(arguments, variables)._replace(sessions=[session.id])))


def _request(arguments: Arguments, variables: Mapping[str, Any]) -> ReportRequest:
    return ReportRequest(
        variables, arguments["template"], folder=arguments["output_dir"], file_name=arguments["file_name"]
    )


def _written(report: Report) -> ToolAnswer:
    value = report.to_json()
    shown = {name: value[name] for name in ("file_uri", "template", "preview")}
    return json_answer({"file_path": value["path"], **shown})


def _list_search_results(served: Served, _arguments: Arguments) -> ToolAnswer:
    sessions = sorted(list_sessions(served.workspace), key=lambda session: -session.time)
    return json_answer(
        {
            "sessions": [
                {
                    "session_id": session.id,
                    "query": session.query,
                    "timestamp": session_time(session),
                    "result_count": len(session.results),
                }
                for session in sessions
            ]
        }
    )


def _get_template_schema(served: Served, arguments: Arguments) -> ToolAnswer:
    return json_answer(read_template(served.workspace, arguments["template"]).schema)


def _rebuild_index(served: Served, arguments: Arguments) -> ToolAnswer:
    return _index(served, FULL if arguments["reindex_all"] else INCREMENTAL)


def _reinitialize_schema(served: Served, _arguments: Arguments) -> ToolAnswer:
    return _index(served, RESET)


def _index(served: Served, mode: str) -> ToolAnswer:
    # As before, a run of this server is refused, and one of another process is waited for.
    report = update_index(served.workspace, mode, served.call, _describe_progress, wait=True)
    files, chunks = count(report.embedded, "file"), count(report.chunks_in_view, "chunk")
    return json_answer(
        {
            "status": report.status,
            "processed_files": report.embedded,
            "total_files": report.files,
            "total_chunks": report.chunks_in_view,
            "errors": [mask_text(problem) for problem in report.problems],
            "message": f"Processed {files}; {chunks} in the index",
        }
    )


def _describe_progress(progress: Progress) -> str:
    share = 100 * progress.blobs // max(1, progress.blobs_total)
    parts = [f"{share}%", f"{progress.rows} chunks", f"[{progress.blobs}/{progress.blobs_total} files]"]
    return " ".join([*parts, *([f"- {progress.waiting}"] if progress.waiting else [])])


def _cancel_index_generation(served: Served, _arguments: Arguments) -> ToolAnswer:
    outcome = cancel(served.workspace)
    if not outcome.found:
        return json_answer({"cancelled": False, "message": "No index generation is running"})
    message = "Index generation was cancelled" if outcome.stopped else "Index generation had finished"
    return json_answer({"cancelled": outcome.stopped, "message": message})


def _index_status(served: Served, _arguments: Arguments) -> ToolAnswer:
    workspace = served.workspace
    status, runs = read_status(workspace), read_runs(workspace.paths)
    return json_answer(
        {
            "isInitialized": status.state != NO_INDEX,
            "state": status.state,
            "totalFiles": status.indexed + status.not_indexed,
            "indexedFiles": status.indexed,
            "lastUpdated": runs[-1].at if runs else "",
            "embeddingModel": status.model,
            "stats": {"rowCount": status.chunks, "dataSize": status.bytes},
        }
    )


def _reload_config(served: Served, _arguments: Arguments) -> ToolAnswer:
    made = reload_settings(served.table, served.get(""), served.call)
    message = f"Configuration reloaded: {count(len(made['changed']), 'setting')} changed"
    advice = "; rebuild the index" if made["needs_reindex"] else ""
    return json_answer({"message": message + advice, "updated": made["changed"], "needsRebuild": made["needs_reindex"]})


def _open_index_manager(served: Served, _arguments: Arguments) -> ToolAnswer:
    link = open_page(served.table.own, served.environment)
    return json_answer({"url": link, "message": "Index Manager is open. The link works once."})


def _list_index_managers(served: Served, _arguments: Arguments) -> ToolAnswer:
    return json_answer({"managers": _managers(served)})


def _managers(served: Served) -> list[dict[str, Any]]:
    """Return the server of the page under the id of this workspace: one serves all of a user's repositories."""
    running = find_page(served.table.own, served.environment)
    if running is None:
        return []
    location = served.workspace.location
    folder = str(location.worktree or location.git_dir)
    # The id of the old server: the beginning of a hash of the path.
    digest = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()
    return [
        {
            "workspaceId": digest[:_ID_DIGITS],
            "workspacePath": json_path(folder),
            "pid": running.pid,
            "port": urlsplit(running.url).port or 0,
            "url": running.url,
            "startedAt": running.started,
        }
    ]


def _stop_index_manager(served: Served, arguments: Arguments) -> ToolAnswer:
    name = arguments["workspace_id"]
    manager = next((one for one in _managers(served) if one["workspaceId"] == name), None)
    if manager is None:
        raise UsageError(f"No running Index Manager found for workspace ID: {name[:80]}")
    stop_page(served.table.own, served.environment)
    return json_answer({"message": f"Stopped Index Manager for {manager['workspacePath']}", "workspaceId": name})


def fail(_tool: str, error: GitmemError) -> ToolAnswer:
    """Return an error in the old form."""
    return ToolAnswer(f"Error: {error_text(error)}", is_error=True)


ADAPTER: Final = Adapter(
    {
        "search_knowledge": _search_knowledge,
        "get_search_results": _get_search_results,
        "create_rag_report": _create_rag_report,
        "generate_report": _generate_report,
        "list_search_results": _list_search_results,
        "get_template_schema": _get_template_schema,
        "rebuild_index": _rebuild_index,
        "cancel_index_generation": _cancel_index_generation,
        "index_status": _index_status,
        "reinitialize_schema": _reinitialize_schema,
        "reload_config": _reload_config,
        "open_index_manager": _open_index_manager,
        "list_index_managers": _list_index_managers,
        "stop_index_manager": _stop_index_manager,
    },
    fail,
)

"""Handlers of the tools of toolset `admin`."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from gitmem.actions.cancel import cancel
from gitmem.actions.watched_run import INCREMENTAL, update_index
from gitmem.actions.web_page import open_page, stop_page
from gitmem.display import count, shares, visible
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.run_preview import preview_run
from gitmem.indexing.fingerprint import is_made_with
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.json_output import dump
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.named_tuple import NamedTuple
from gitmem.resident.repositories import OpenRepositories
from gitmem.secrets.masking import mask_value
from gitmem.settings import SETTINGS
from gitmem.workspace import Workspace, find_index

if TYPE_CHECKING:
    from gitmem.freshness.file_details import FileDetails
    from gitmem.resident.open_repository import OpenRepository

_MAX_PROBLEMS: Final = 5
_MAX_FILES: Final = 100


class AdminCall(NamedTuple):
    """Call with the open repositories; `get` returns that of a `root` argument."""

    table: OpenRepositories
    get: "Callable[[str], OpenRepository]"
    call: ToolCall


def index_update(server: AdminCall, arguments: Arguments) -> str:
    """Update the index, or report what would be done."""
    workspace = server.get(arguments["root"]).reopen()
    if arguments["dry_run"]:
        report = preview_run(
            workspace, workspace.location.head_tree, staged=True, uncommitted=True,
            full=arguments["mode"] != INCREMENTAL, list_files=arguments["verbose"],
        )  # fmt: skip
    else:
        report = update_index(workspace, arguments["mode"], server.call, list_files=arguments["verbose"])
    return dump(mask_value(_as_json(report))) if arguments["format"] == "json" else _describe(report)


def _as_json(report: IndexReport) -> dict[str, Any]:
    """Return a report with at most so many files as an answer may name."""
    values = report.as_json()
    for name in ("skipped_files", "latin1_files"):
        if len(values.get(name, ())) > _MAX_FILES:
            values[f"more_{name}"] = len(values[name]) - _MAX_FILES
            values[name] = values[name][:_MAX_FILES]
    return values


def _describe(report: IndexReport) -> str:
    lines = [_outcome(report)]
    if report.skipped and (report.details or not report.up_to_date):
        lines.append(f"skipped {report.skipped.total():,}: {shares(report.skipped)}")
    lines += _describe_files(report.details) if report.details else []
    lines += [f"note: rebuilt: {visible(report.rebuilt)}"] if report.rebuilt else []
    return "\n".join([*lines, *(f"note: {visible(problem)}" for problem in report.problems[:_MAX_PROBLEMS])])


def _outcome(report: IndexReport) -> str:
    if report.dry_run:
        return f"would index {count(report.files, 'file')}: {count(report.embedded, 'blob')} to embed"
    if report.up_to_date:
        return "the index is up to date"
    return (
        f"{report.status}: {count(report.files, 'file')}, {count(report.embedded, 'blob')} embedded, "
        f"{report.reused:,} reused, {count(report.chunks, 'chunk')}"
    )


def _describe_files(details: "FileDetails") -> list[str]:
    lines = [file.line for file in details.skipped] + [f"read as Latin-1: {visible(path)}" for path in details.latin1]
    more = [f"{len(lines) - _MAX_FILES:,} more files"] if len(lines) > _MAX_FILES else []
    shown = {visible(name): files for name, files in details.extensions.items()}
    return [*lines[:_MAX_FILES], *more, *([f"without a grammar: {shares(shown)}"] if shown else [])]


def index_cancel(server: AdminCall, arguments: Arguments) -> str:
    """Stop a run of any process."""
    outcome = cancel(server.get(arguments["root"]).reopen())
    if arguments["format"] == "json":
        return dump(outcome._asdict())
    if outcome.stopped:
        return f"stopped; completed work is kept, continue with: {visible(outcome.resume)}"
    return "the run ended before it could be stopped" if outcome.found else "no index run to stop"


def config_reload(server: AdminCall, arguments: Arguments) -> str:
    """Replace the open repository by one with the present configuration."""
    value = reload_settings(server.table, server.get(arguments["root"]), server.call)
    if arguments["format"] == "json":
        return dump(value)
    changed = value["changed"]
    lines = [f"reloaded; changed: {', '.join(changed) or 'nothing'}"]
    lines += ["note: the index was made with another model or other settings: gitmem index"] * value["needs_reindex"]
    return "\n".join(lines)


def reload_settings(table: OpenRepositories, repository: "OpenRepository", call: ToolCall) -> dict[str, Any]:
    """Open a repository with the present configuration; return what changed. An error leaves the open one in use."""
    before = repository.workspace.settings
    after = table.reload(repository, call).workspace
    pairs = zip(SETTINGS, before, after.settings, strict=True)
    changed = [setting.key for setting, old, new in pairs if old != new]
    return {"changed": changed, "needs_reindex": _needs_reindex(after)}


def _needs_reindex(workspace: Workspace) -> bool:
    manifest = find_index(workspace)
    return manifest is not None and not is_made_with(manifest.fingerprint, workspace.settings)


def manager(server: AdminCall, arguments: Arguments) -> str:
    """Open the page, or stop its server."""
    if arguments["action"] == "stop":
        return stop_page(server.table.own, server.table.environment)
    return open_page(server.table.own, server.table.environment, browser=arguments["browser"])


Handler = Callable[[AdminCall, Arguments], str]

HANDLERS: Final[Mapping[str, Handler]] = {
    "index_update": index_update,
    "index_cancel": index_cancel,
    "config_reload": config_reload,
    "manager": manager,
}
"""Handlers by the name of the tool."""

"""Routes of S3, a codebase memory server, as its clients know them: below `/api`, with names in camel case.

Those of S1 are in `index_manager`. All are operations like those of the API, with the same checks of token, host,
origin and arguments. Only the addresses, the values and the codes of errors are the old ones.
"""

from http import HTTPStatus
from typing import Any, Final

from starlette.routing import Route

from gitmem.actions.repos import drop_run, remove_known
from gitmem.actions.repository_rows import read_row, read_rows
from gitmem.answering.federated_answer import mask_federated
from gitmem.answering.repository_selection import choose_members
from gitmem.display import visible
from gitmem.errors import UsageError
from gitmem.freshness.index_runs import read_runs
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.mcp.compat.s3_forms import NO_RESULTS, code_query, codebase_json, results_json, statistics_json
from gitmem.mcp.compat.s3_tools import CODEBASES, SEARCH_INPUT, SEARCHED, STATISTICS
from gitmem.registry import rename_repository
from gitmem.resident.call import Call
from gitmem.resident.open_federation import answer_open_repositories
from gitmem.web.api.operation import COUNT, NAME, TEXT, Arguments, Operation, record
from gitmem.web.api.routes import Runner, make_routes
from gitmem.web.errors import Problem, describe_error
from gitmem.web.index_manager import OPERATIONS as INDEX_OPERATIONS
from gitmem.web.service import Service

_PREFIX: Final = "/api"


def list_codebases(service: Service, _arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return the repositories that have been indexed."""
    return {"codebases": [codebase_json(row) for row in read_rows(service.environment) if row.status]}


def search(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Search one repository or all. An unknown one, or an unknown language, has no results."""
    try:
        query = code_query(arguments)
        chosen = choose_members(service.environment, [arguments["codebaseName"] or "*"], None, allow_folders=False)
    except UsageError:
        return dict(NO_RESULTS)
    settings = service.settings([one.name for one in chosen.local])
    answer = answer_open_repositories(service.repositories, chosen, query, WORKING_TREE, settings, call)
    return results_json(mask_federated(answer))


def show_statistics(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return the statistics of a repository."""
    return statistics_json(read_row(service.known(arguments["repository"]), service.environment))


def rename(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Give a repository another name."""
    former = service.known(arguments["repository"]).name
    rename_repository(service.environment, former, arguments["newName"])
    return {"success": True, "message": f"Renamed {former} to {arguments['newName']}"}


def delete(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Delete the index of a repository, and its entry in the list. Its memory stays in git."""
    known = service.known(arguments["repository"])
    remove_known(known, service.environment, all_data=False)
    return {"success": True, "message": f"Deleted {known.name}"}


def delete_chunks(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Delete the chunks that one run embedded."""
    workspace, at = service.workspace(arguments["repository"]), arguments["timestamp"]
    if all(run.at != at for run in read_runs(workspace.paths)):
        raise Problem(404, "not_found", f"no ingestion at `{visible(at)}`")
    return {"success": True, "chunksDeleted": drop_run(workspace, at).chunks}


_ONE: Final = "/knowledgebases/{repository}"
_DONE: Final = record(success={"type": "boolean"}, message=TEXT)
OPERATIONS: Final = (
    Operation("GET", "/knowledgebases", "listCodebases", "List code bases.", list_codebases, CODEBASES),
    Operation(
        "POST", "/search", "searchCodebases", "Search code bases.", search, SEARCHED,
        body=SEARCH_INPUT["properties"], required=tuple(SEARCH_INPUT["required"]),
    ),
    Operation("GET", f"{_ONE}/stats", "showStatistics", "Show statistics.", show_statistics, STATISTICS),
    Operation(
        "PUT", _ONE, "renameCodebase", "Rename a code base.", rename, _DONE, body={"newName": {**NAME, "minLength": 1}},
        required=("newName",),
    ),
    Operation("DELETE", _ONE, "deleteCodebase", "Delete a code base.", delete, _DONE),
    Operation(
        "DELETE", f"{_ONE}/chunk-sets/{{timestamp}}", "deleteChunks", "Delete the chunks of an ingestion.",
        delete_chunks, record(success={"type": "boolean"}, chunksDeleted=COUNT),
    ),
)  # fmt: skip

_CODES: Final = {
    HTTPStatus.BAD_REQUEST: "VALIDATION_ERROR",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.CONFLICT: "CONFLICT",
    HTTPStatus.INTERNAL_SERVER_ERROR: "INTERNAL_ERROR",
}


def _describe(error: Exception) -> Problem:
    """Return an error with the old code of its status."""
    problem = describe_error(error)
    code = _CODES.get(HTTPStatus(problem.status), problem.code.upper())
    return Problem(problem.status, code, problem.message, details=problem.details)


def make_older_routes(runner: Runner) -> list[Route]:
    """Return the old routes."""
    return [
        *make_routes(runner, OPERATIONS, _PREFIX, _describe),
        *make_routes(runner, INDEX_OPERATIONS, "", _describe),
    ]

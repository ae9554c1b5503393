"""Operations on the registered repositories: their state, their index runs, their configuration."""

from typing import Any, Final

from gitmem.actions.cancel import cancel
from gitmem.actions.configuration import find_config_problems, read_configuration
from gitmem.actions.repos import remove_known
from gitmem.actions.repository_rows import read_row, read_rows, row_json, run_json, totals_json
from gitmem.answering.answer_json import json_path
from gitmem.errors import GitmemError
from gitmem.freshness.index_runs import MAX_RUNS, read_runs
from gitmem.git.revision_names import list_revision_names
from gitmem.registry import rename_repository
from gitmem.resident.call import Call
from gitmem.secrets.masking import mask_text, mask_value
from gitmem.web.api.operation import (
    BOOLEAN,
    COUNT,
    NAME,
    NUMBER,
    TEXT,
    Arguments,
    Operation,
    array,
    nullable,
    number,
    record,
    text,
)
from gitmem.web.errors import Problem
from gitmem.web.index_jobs import STATES
from gitmem.web.service import Service

_RUN: Final = {**record(at=TEXT, event=TEXT, status=TEXT), "type": ["object", "null"]}
_REPOSITORY: Final = record(
    name=TEXT,
    path=TEXT,
    state=TEXT,
    problem=TEXT,
    commit=nullable(TEXT),
    files=COUNT,
    indexed=COUNT,
    not_indexed=COUNT,
    skipped={"type": "object", "additionalProperties": COUNT},
    chunks=COUNT,
    languages={"type": "object", "additionalProperties": record(files=COUNT, chunks=COUNT)},
    chunk_types={"type": "object", "additionalProperties": COUNT},
    bytes=COUNT,
    model=TEXT,
    last_run=_RUN,
    errors=array(TEXT),
)
_TOTALS: Final = record(repositories=COUNT, files=COUNT, indexed=COUNT, not_indexed=COUNT, chunks=COUNT, bytes=COUNT)
JOB: Final = record(
    repository=TEXT,
    full={"type": "boolean"},
    state={"type": "string", "enum": list(STATES)},
    started=TEXT,
    seconds=NUMBER,
    percent=NUMBER,
    files=COUNT,
    files_total=COUNT,
    chunks=COUNT,
    bytes=COUNT,
    waiting=TEXT,
    path=TEXT,
    message=TEXT,
)


def list_repositories(service: Service, _arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return all registered repositories, and the sums over them."""
    rows = read_rows(service.environment)
    return {"repositories": [mask_value(row_json(row)) for row in rows], "totals": totals_json(rows)}


def show_repository(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return one repository, with its last run in this server."""
    row = read_row(service.known(arguments["repository"]), service.environment)
    job = service.jobs.find(arguments["repository"])
    return {**mask_value(row_json(row)), "job": job.as_json() if job else None}


def rename(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Give a repository another name."""
    former = service.known(arguments["repository"])
    repository = rename_repository(service.environment, former.name, arguments["name"])
    assert repository is not None, "a repository is known only with a registry"
    return {"name": repository.name, "path": json_path(str(repository.path))}


def remove(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Remove a repository from the list and delete its index. Its memory stays in git unless all data is named."""
    repository = service.known(arguments["repository"])
    # The command line asks on a terminal; here the name is the confirmation.
    if arguments["all_data"] and arguments["confirm"] != repository.name:
        message = "to delete the memory, repeat the name of the repository in `confirm`"
        raise Problem(400, "invalid_argument", message)
    result = remove_known(repository, service.environment, all_data=arguments["all_data"])
    return {
        "name": repository.name,
        "index_removed": result.had_index,
        "records_removed": result.removed,
        "records_kept": result.kept,
        "objects_left": result.left,
    }


def update(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Start to bring the index up to date."""
    name = arguments["repository"]
    job = service.jobs.start(
        name, service.workspace(name), full=arguments["full"], uncommitted=arguments["uncommitted"]
    )
    return job.as_json()


def cancel_run(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Stop the index run of a repository, in this or another process, and wait for its end."""
    return cancel(service.workspace(arguments["repository"]))._asdict()


def list_runs(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return the logged index runs, the newest first."""
    runs = read_runs(service.workspace(arguments["repository"]).paths)[::-1]
    return {"runs": [mask_value(run_json(run)) for run in runs[: arguments["limit"]]], "total": len(runs)}


def list_revisions(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return branches and tags, the newest first."""
    names = list_revision_names(service.workspace(arguments["repository"]).location, arguments["limit"])
    return names._asdict()


def show_configuration(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return the settings that are in force, with the origin of each value."""
    repository = service.known(arguments["repository"])
    problems: list[GitmemError] = []
    problems += find_config_problems(repository.path, service.environment)
    rows = []
    # With a problem no value is certain, so none is shown.
    if not problems:
        rows = [setting._asdict() for setting in read_configuration(repository.path, service.environment).settings]
    messages = [{"message": mask_text(one.message), "hint": mask_text(one.hint)} for one in problems]
    return {"settings": mask_value(rows), "problems": messages}


_ONE: Final = "/repositories/{repository}"
OPERATIONS: Final = (
    Operation(
        "GET", "/repositories", "listRepositories", "List the registered repositories.", list_repositories,
        record(repositories=array(_REPOSITORY), totals=_TOTALS),
    ),
    Operation(
        "GET", _ONE, "showRepository", "Show the state and the content of a repository.", show_repository,
        {**_REPOSITORY, "properties": {**_REPOSITORY["properties"], "job": {**JOB, "type": ["object", "null"]}}},
    ),
    Operation(
        "PATCH", _ONE, "renameRepository", "Rename a repository.", rename, record(name=TEXT, path=TEXT),
        body={"name": {**NAME, "minLength": 1, "description": "New name."}}, required=("name",),
    ),
    Operation(
        "DELETE", _ONE, "removeRepository", "Remove a repository from the list, and delete its index.", remove,
        record(name=TEXT, index_removed={"type": "boolean"}, records_removed=COUNT, records_kept=COUNT,
               objects_left=COUNT),
        query={
            "all_data": {**BOOLEAN, "description": "Delete its notes, documents and conversations, too."},
            "confirm": text("Name of the repository again; needed to delete its memory."),
        },
    ),
    Operation(
        "POST", f"{_ONE}/update", "updateIndex", "Start to bring the index up to date.", update, JOB,
        body={
            "full": {**BOOLEAN, "description": "Embed everything again."},
            "uncommitted": {**BOOLEAN, "description": "Index changed and untracked files as well."},
        },
        status=202,
    ),
    Operation(
        "POST", f"{_ONE}/cancel", "cancelRun", "Stop the index run in any process; completed work is kept.", cancel_run,
        record(found={"type": "boolean"}, stopped={"type": "boolean"}, resume=TEXT), body={},
    ),
    Operation(
        "GET", f"{_ONE}/runs", "listRuns", "List the logged index runs, the newest first.", list_runs,
        record(runs=array(record(at=TEXT, event=TEXT, folder=TEXT)), total=COUNT),
        query={"limit": number("Number of runs.", 1, MAX_RUNS, 20)},
    ),
    Operation(
        "GET", f"{_ONE}/revisions", "listRevisions", "List branches and tags, the newest first.", list_revisions,
        record(branch=nullable(TEXT), branches=array(TEXT), tags=array(TEXT)),
        query={"limit": number("Number of branches, and of tags.", 1, 1000, 200)},
    ),
    Operation(
        "GET", f"{_ONE}/configuration", "showConfiguration", "Show the settings in force and their origins.",
        show_configuration,
        record(settings=array(record(name=TEXT, value=TEXT, origin=TEXT, place=TEXT)),
               problems=array(record(message=TEXT, hint=TEXT))),
    ),
)  # fmt: skip
"""Operations of this module."""

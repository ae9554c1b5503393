"""Operations on search sessions and reports: keep and list searches, write reports from them, read reports."""

from typing import Any, Final

from gitmem.actions.report_creation import MAX_SESSIONS, ReportRequest, create_report
from gitmem.actions.report_list import list_reports, read_report
from gitmem.actions.report_template import list_templates, read_template
from gitmem.actions.report_text import MAX_VARIABLES
from gitmem.answering.answer_json import answer_json
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.search_query import check_query
from gitmem.answering.sessions import list_sessions, save_session, session_json
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.resident.call import Call
from gitmem.resident.open_tree import OpenTree
from gitmem.secrets.masking import mask_value
from gitmem.web.api.operation import COUNT, TEXT, Arguments, Operation, array, record, text, texts
from gitmem.web.api.searching import SEARCH_ARGUMENTS, query_of
from gitmem.web.errors import Problem
from gitmem.web.service import Service

_ONE: Final = "/repositories/{repository}"
_MAX_NAME: Final = 200


def sessions(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List the searches that are kept, the one used last first."""
    kept = list_sessions(service.workspace(arguments["repository"]))
    return {"items": mask_value([session_json(session) for session in kept])}


def keep_search(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Search one repository, and keep the search as a session."""
    query, selection = query_of(arguments), TreeSelection(arguments["rev"])

    def use(tree: OpenTree) -> dict[str, Any]:
        limit = check_query(query, selection, tree.workspace.settings)
        answer = save_session(tree.workspace, mask_answer(tree.answer(query, limit)))
        if answer.view.stale:  # a file changed while it was read: the next call looks again
            tree.mark_stale()
        if not answer.session:
            hint = "git config gitmem.sessions 10, if it is 0"
            raise Problem(409, "failed", "the search cannot be kept in this repository", hint=hint)
        return {**answer_json(answer, [None] * len(answer.hits)), "id": answer.session}

    return service.open(arguments["repository"]).with_tree(selection, query.filters.kinds, call, use)


def templates(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List the templates of reports with the descriptions of their variables."""
    workspace = service.workspace(arguments["repository"])
    schemas = [read_template(workspace, name).schema for name in list_templates(workspace)]
    return {"items": mask_value([_described(schema) for schema in schemas])}


def _described(schema: Any) -> dict[str, Any]:
    # A template of the user may lack any of these.
    return {"description": "", "variables": {}, **schema}


def reports(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List the reports of a folder, newest first."""
    listed = list_reports(service.workspace(arguments["repository"]), arguments["folder"])
    return {"items": [report._asdict() for report in listed]}


def report_text(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return the text of a report."""
    name = arguments["name"]
    content = read_report(service.workspace(arguments["repository"]), name, arguments["folder"])
    return {"name": name, "content": content}


def write_report(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Write a report from a template; sessions supply the query and the sections that are not given."""
    request = ReportRequest(
        arguments["variables"], arguments["template"], arguments["session"], arguments["folder"], arguments["file_name"]
    )
    report = create_report(service.workspace(arguments["repository"]), request)
    value: dict[str, Any] = mask_value(report.to_json())
    return {"id": report.path.name, **value}


_SESSION: Final = record(id=TEXT, query=TEXT, time=TEXT, tree=TEXT, total_results=COUNT)
_FOLDER: Final = text("Folder of the reports in the repository, or an allowed one; empty is that of the settings.")
_KEPT: Final = {name: schema for name, schema in SEARCH_ARGUMENTS.items() if name != "repository"}

OPERATIONS: Final = (
    Operation(
        "GET", f"{_ONE}/sessions", "listSessions",
        "List the searches that are kept, the one used last first; `items` reads them by their ids.", sessions,
        record(items=array(_SESSION)),
    ),
    Operation(
        "POST", f"{_ONE}/sessions", "keepSearch", "Search, and keep the search as a session.", keep_search,
        record(id=TEXT, query=TEXT, results=array({"type": "object"})), body=_KEPT, required=("query",), status=201,
    ),
    Operation(
        "GET", f"{_ONE}/templates", "listTemplates", "List the templates of reports with their variables.", templates,
        record(items=array(record(name=TEXT, description=TEXT, variables={"type": "object"}))),
    ),
    Operation(
        "GET", f"{_ONE}/reports", "listReports", "List the reports of a folder, newest first.", reports,
        record(items=array(record(name=TEXT, bytes=COUNT, time=TEXT))), query={"folder": _FOLDER},
    ),
    Operation(
        "POST", f"{_ONE}/reports", "createReport", "Write a report from a template; no file is replaced.", write_report,
        record(id=TEXT, path=TEXT, file_uri=TEXT, template=TEXT, bytes=COUNT, preview=TEXT), status=201,
        body={
            "variables": {"type": "object", "description": "Variables, as the template describes them.", "default": {}},
            "template": text("Template; empty is that of the settings.", most=64),
            "session": texts("Ids of searches that supply the query and the sections.", most=MAX_SESSIONS),
            "folder": _FOLDER,
            "file_name": text("Name of the file, behind the time.", most=_MAX_NAME),
        },
        max_body=4 * MAX_VARIABLES,
    ),
    Operation(
        "GET", f"{_ONE}/reports/text", "readReport", "Read a report.", report_text, record(name=TEXT, content=TEXT),
        query={"name": text("Name of the report.", most=_MAX_NAME + 100, least=1), "folder": _FOLDER},
        required=("name",),
    ),
)  # fmt: skip
"""Operations of this module."""

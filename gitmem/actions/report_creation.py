"""Create a report: variables and search sessions in, a Markdown file out."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gitmem.actions.report_file import find_folder, report_name, write_report
from gitmem.actions.report_process import render_in_process
from gitmem.actions.report_template import read_template
from gitmem.actions.report_text import (
    MAX_ITEMS,
    SECTIONS,
    check_variables,
    complete_sections,
    preview_of,
    require_variables,
)
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.session_excerpts import read_results
from gitmem.answering.sessions import is_session_name, use_session
from gitmem.errors import UsageError
from gitmem.named_tuple import NamedTuple
from gitmem.secrets.masking import mask_text
from gitmem.workspace import Workspace

MAX_SESSIONS: Final = 50


class ReportRequest(NamedTuple):
    """Variables of a report, and the sessions that supply the query and the sections that are not among them.

    Empty texts stand for the defaults of the settings.
    """

    variables: Mapping[str, Any]
    template: str = ""
    sessions: Sequence[str] = ()
    folder: str = ""
    file_name: str = ""
    ascii_name: str = ""


class Report(NamedTuple):
    """A report that was written."""

    path: Path
    template: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return its place and beginning as JSON values."""
        return {
            "path": str(self.path),
            "file_uri": self.path.as_uri(),
            "template": self.template,
            "bytes": len(self.text.encode("utf-8")),
            "preview": preview_of(self.text),
        }


def create_report(workspace: Workspace, request: ReportRequest, clock: Callable[[], float] = time.time) -> Report:
    """Render a template with variables and write the report.

    Everything is checked before anything is written. Raises: UsageError, UnknownRecord, WorkersFailed, StorageFailed.
    """
    template = read_template(workspace, request.template)
    folder = find_folder(workspace, request.folder)
    now = time.gmtime(clock())
    values = {
        "generated_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", now),
        **_session_values(workspace, request.sessions),
        **check_variables(request.variables),
    }
    require_variables(template.name, template.variables, values)
    query = values.get("query", "")
    name = report_name(
        time.strftime("%Y%m%d_%H%M%S", now),
        request.file_name,
        request.ascii_name,
        query if isinstance(query, str) else "",
    )
    settings = workspace.settings
    keep_blank = settings.report_blank_lines == "keep"
    values = complete_sections(values, settings.report_quote_lines, keep_blank=keep_blank)
    text = render_in_process(template.name, template.text, values, keep_blank=keep_blank)
    return Report(write_report(workspace, folder, name, text), template.name, text)


def _session_values(workspace: Workspace, names: Sequence[str]) -> dict[str, Any]:
    """Return the variables that sessions supply: the queries, and one section for each result. Raises: UsageError."""
    if len(names) > MAX_SESSIONS:
        raise UsageError(f"{len(names)} sessions, at most {MAX_SESSIONS} can be used at once")
    if not names:
        return {}
    wrong = next((name for name in names if not is_session_name(name)), None)
    if wrong is not None:
        raise UsageError(f"`{wrong[:80]}` is not the id of a session", hint="gitmem report sessions lists them")
    sessions = [use_session(workspace, name) for name in dict.fromkeys(names)]
    limit = workspace.settings.session_results
    sections = [
        _section(excerpt)
        for session in sessions
        for excerpt in read_results(workspace, session, session.results[:limit])
    ]
    queries = dict.fromkeys(session.query for session in sessions)
    return {"query": _as_text("; ".join(queries)), SECTIONS: sections[:MAX_ITEMS]}


def _section(excerpt: Excerpt) -> dict[str, str]:
    fields = excerpt.fields
    section = {
        "file_name": fields["path"].rpartition("/")[2],
        "file_name_with_line": fields["id"],
        "file_uri": fields["file_uri"] or "",
        "section_summary": mask_text(fields["symbol"]),
        "section_quote": "\n".join(excerpt.lines),
    }
    return {name: _as_text(value) for name, value in section.items()}


def _as_text(text: str) -> str:
    """Return a text without characters that UTF-8 cannot represent: bytes of a file in another encoding."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")

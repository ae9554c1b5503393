"""Pages of a search that is kept, with the form of a report, and of a report."""

from typing import Any, Final

from gitmem.actions.report_template import list_templates, read_template
from gitmem.answering.answer_json import describe_currency
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.readings import collect
from gitmem.answering.repository_ids import RepositoryId
from gitmem.answering.sessions import is_session_name
from gitmem.errors import UnknownRecord
from gitmem.memory.kinds import CODE
from gitmem.resident.call import Call
from gitmem.secrets.masking import mask_text, mask_value
from gitmem.web.api.reports import report_text
from gitmem.web.api.searching import read
from gitmem.web.page.highlight import highlight
from gitmem.web.page.search_view import ShownHit, ShownLine, link_to
from gitmem.web.page.templates import address
from gitmem.web.page.view import Page, Query, first
from gitmem.web.service import Service
from gitmem.workspace import Workspace

_RESULTS: Final = 50
_LINES: Final = 20
"""Lines of a result: what a report quotes is shorter."""

_SUPPLIED: Final = ("generated_at", "sections")
"""Variables of a template that the form leaves to the session."""


def session_page(service: Service, query: Query, call: Call) -> Page:
    """Show the results of a search that is kept, and the form of a report about them."""
    name, identity = first(query, "repository"), first(query, "id")
    if not is_session_name(identity):
        raise UnknownRecord("this is not the id of a search", hint="open the searches of the memory")
    reading = read(service, {"repository": name, "id": [identity], "rev": "", "limit": _RESULTS}, call)
    excerpts, failures = collect([reading], [RepositoryId("", identity)])
    if failures:
        raise failures[0]
    heading, *found = excerpts
    values = {
        "repository": name,
        "session": heading.fields,
        "summary": "; ".join(heading.description),
        "hits": [_hit(name, excerpt) for excerpt in found],
        "notes": [],
        "problem": None,
        "keep": None,
        **_form(service.workspace(name), first(query, "template")),
    }
    return Page("session", values)


def _hit(repository: str, excerpt: Excerpt) -> ShownHit:
    """Return a result of a session as results of searches are shown; its notes say if its text is gone."""
    fields = excerpt.fields
    is_code = fields["kind"] == CODE
    start, end, path = int(fields["start_line"]), int(fields["end_line"]), str(fields["path"])
    html = highlight(excerpt.lines[:_LINES], fields["language"] if is_code else "markdown")
    first_number = excerpt.first
    return ShownHit(
        repository=repository,
        place=f"{path}:{start}-{end}",
        symbol=fields["symbol"],
        chunk_type=fields["chunk_type"],
        language=fields["language"] if is_code else "",
        change="",
        percent=round(100 * max(0.0, min(1.0, fields["score"]))),
        link=link_to(repository, "", path, (start, end), is_code=is_code),
        similar="",
        lines=[ShownLine(first_number + place, line) for place, line in enumerate(html)],
        notes=[],
        marks=describe_currency(fields) if excerpt.lines else list(excerpt.description),
    )


def _form(workspace: Workspace, chosen: str) -> dict[str, Any]:
    """Return the templates, and the variables of the chosen one that are texts."""
    template = read_template(workspace, chosen)
    variables = [
        {"name": name, "required": bool(about.get("required")), "about": str(about.get("description", ""))}
        for name, about in template.variables.items()
        if isinstance(about, dict) and about.get("type", "string") == "string" and name not in _SUPPLIED
    ]
    return {
        "templates": list_templates(workspace),
        "template": template.name,
        "about": mask_text(str(template.schema.get("description", ""))),
        "variables": mask_value(variables),
    }


def report_page(service: Service, query: Query, call: Call) -> Page:
    """Show a report."""
    name, report, folder = first(query, "repository"), first(query, "name"), first(query, "folder")
    content = report_text(service, {"repository": name, "name": report, "folder": folder}, call)["content"]
    lines = highlight(content.splitlines(), "markdown")
    back = address("/memory", repository=name, kind="reports")
    return Page("report", {"repository": name, "name": report, "lines": lines, "back": back})

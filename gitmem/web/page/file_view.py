"""The page of a file: its lines at a revision, and the notes about it."""

import re
from typing import Any, Final

from gitmem.answering.readings import collect, describe_trees
from gitmem.answering.repository_ids import RepositoryId
from gitmem.errors import UsageError
from gitmem.locations import LineRange, Location, format_location
from gitmem.records.code_notes import read_file_notes
from gitmem.records.note_states import describe_state, read_states
from gitmem.records.record_json import note_json
from gitmem.resident.call import Call
from gitmem.web.api.searching import read
from gitmem.web.page.highlight import highlight
from gitmem.web.page.search_view import ShownLine
from gitmem.web.page.view import Page, Query, first
from gitmem.web.service import Service
from gitmem.workspace import Workspace

LINES: Final = 1000
"""Lines of one page."""

_BEFORE: Final = 20
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
_MAX_DIGITS: Final = 9


def file_page(service: Service, query: Query, call: Call) -> Page:
    """Show the lines of a file around those that are asked for."""
    name, path, rev = first(query, "repository"), first(query, "path"), first(query, "rev")
    if not path:
        raise UsageError("no path is given", hint="open a result of a search")
    selected = _lines(query)
    # The start of a file says what it is: it is left out only if the selected lines are too far behind it.
    start = max(1, selected[0] - _BEFORE) if selected and selected[0] > LINES - _BEFORE else 1
    text = format_location(Location(path, LineRange(start, start + LINES - 1)))
    reading = read(service, {"repository": name, "id": [text], "rev": rev, "limit": 1}, call)
    excerpts, _ = collect([reading], [RepositoryId("", text)])
    excerpt, (tree, notes) = excerpts[0], describe_trees([reading])
    last = start + len(excerpt.lines) - 1
    # The identifiers decide which notes about symbols belong here; no index is needed for that.
    html = highlight(excerpt.lines, str(excerpt.fields["language"]))
    values: dict[str, Any] = {
        "repository": name,
        "path": path,
        "rev": rev,
        "tree": tree,
        "notes": notes,
        "language": excerpt.fields["language"],
        "bytes": excerpt.fields["file_size_bytes"],
        "lines": [ShownLine(start + place, line) for place, line in enumerate(html)],
        "wanted": selected or (0, 0),
        "before": max(1, start - LINES + _BEFORE) if start > 1 else 0,
        "after": last + 1 + _BEFORE if len(excerpt.lines) == LINES else 0,
        "code_notes": _notes(service.workspace(name), path, excerpt.content),
        "location": format_location(Location(path, LineRange(selected[0], selected[0])))
        if selected and not rev
        else "",
    }
    return Page("file", values)


def _notes(workspace: Workspace, path: str, content: str) -> list[dict[str, Any]]:
    """Return the notes about a file, each with the lines that say what makes it doubtful."""
    notes = read_file_notes(workspace, path, set(_IDENTIFIER.findall(content)))
    states = read_states(workspace, notes)
    return [{**note_json(note), "marks": describe_state(state)} for note, state in zip(notes, states, strict=True)]


def _lines(query: Query) -> tuple[int, int] | None:
    """Return the lines that are asked for. Raises: UsageError."""
    texts = [text for name in ("first", "last") if (text := first(query, name))]
    if not texts:
        return None
    if not all(text.isdecimal() and text.isascii() and len(text) <= _MAX_DIGITS and int(text) for text in texts):
        raise UsageError("lines are numbers from 1", hint="open a result of a search")
    numbers = sorted(map(int, texts))
    # In any order: people edit addresses.
    return numbers[0], numbers[-1]

"""Read commits that are named by id, as search prints them: `3f9c2d1a8b0e`, or with lines `3f9c2d1a8b0e:1-5`."""

import re
from typing import Final

from gitmem.answering.excerpts import Excerpt
from gitmem.answering.hit_text import COMMIT_DIGITS
from gitmem.commit import commit_text, parse_commit
from gitmem.display import count, visible
from gitmem.errors import UnknownRevision, UsageError
from gitmem.git.batch import COMMITS as COMMIT_OBJECTS
from gitmem.git.batch import ProgramReader
from gitmem.git.locate import RepositoryLocation
from gitmem.git.revisions import resolve
from gitmem.locations import MAX_LINE
from gitmem.memory.kinds import COMMITS
from gitmem.search.snippet import lines_of
from gitmem.secrets.masking import mask_secrets, mask_value
from gitmem.words import decode

_NAME: Final = re.compile(r"(?P<id>[0-9a-f]{7,64})(?::(?P<first>[1-9]\d{0,8})-(?P<last>[1-9]\d{0,8}))?")


def find_commit_excerpt(location: RepositoryLocation, name: str) -> Excerpt | None:
    """Return the message of a commit, or some of its lines; None if the name is not that of a commit.

    Lines beyond the end are left out, as in files. Raises: UsageError if the message has none of the lines, GitFailed.
    """
    match = _NAME.fullmatch(name)
    found = _find_commit(location, match["id"]) if match else None
    if match is None or found is None:
        return None
    oid, text = found
    commit = parse_commit(text)
    message = mask_secrets(text)[commit.message_start :].removesuffix(b"\n")
    first = int(match["first"] or 1)
    lines = lines_of(message, first, int(match["last"] or MAX_LINE))
    if not lines:
        length = message.count(b"\n") + 1
        raise UsageError(f"the message of `{match['id']}` has {count(length, 'line')}, line {first} does not exist")
    last = first + len(lines) - 1
    fields = mask_value(commit.fields(oid))
    description = [f"{key}: {visible(fields[key])}" for key in ("author", "time")]
    heading = f"{oid[:COMMIT_DIGITS]}:{first}-{last}"
    content = decode(b"\n".join(message.split(b"\n", last)[first - 1 : last]))
    fields = {"kind": COMMITS, **fields, "start_line": first, "end_line": last}
    return Excerpt(heading, lines, first, content, fields, description, oid[:COMMIT_DIGITS])


def _find_commit(location: RepositoryLocation, name: str) -> tuple[str, bytes] | None:
    """Return the id and the text of a commit with an id, in full or abbreviated; None if there is no such commit."""
    try:
        oid = resolve(location, name).commit
    except UnknownRevision:
        return None
    if oid is None or not oid.startswith(name):  # a branch or tag may be named like an id
        return None
    with ProgramReader(location, COMMIT_OBJECTS) as reader:
        data = reader.read(oid)
    return None if data is None else (oid, commit_text(data))

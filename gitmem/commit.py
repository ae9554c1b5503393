"""Parsing of commit objects: author, time and message. Pure.

The message stays as it was written, with body, trailers and references to issues.
"""

from datetime import UTC, datetime
from typing import Any, Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

_END: Final = b"\n\n"
_FOLD: Final = b"\n "
"""Continues a header on the next line, as signatures do."""

_PERSON: Final = lazy_pattern(rb"(.*?) ?<([^>\n]*)>(?: (-?\d{1,18}) [+-]\d{4})?")
_MAX_SECONDS: Final = 253_402_300_799
"""Last second of the year 9999; `datetime` knows no later ones."""


class Commit(NamedTuple):
    """Author, time of the commit (ISO 8601, UTC) and subject, and where the message begins in the object.

    `headers` is the number of lines before the message.
    """

    author: str
    address: str
    time: str
    subject: str
    message_start: int
    headers: int

    def fields(self, commit: str) -> dict[str, Any]:
        """Return the fields of a commit by its id, as those of a record."""
        person = f"{self.author} <{self.address}>"
        return {"id": commit, "author": person, "time": self.time, "subject": self.subject}


def commit_text(data: bytes) -> bytes:
    """Return a commit object in UTF-8. Its header may name another encoding of the message."""
    encoding = _header(data, b"encoding")
    if not encoding:
        return data
    try:
        return data.decode(encoding.decode("ascii")).encode()
    except (LookupError, UnicodeError):
        return data


def parse_commit(data: bytes) -> Commit:
    """Parse the text of a commit object. Missing fields are empty: git accepts commits of many faulty programs."""
    author = _PERSON.match(_header(data, b"author"))
    committer = _PERSON.match(_header(data, b"committer"))
    name, address = (author[1], author[2]) if author else (b"", b"")
    start = message_start(data)
    return Commit(
        name.decode("utf-8", "replace"),
        address.decode("utf-8", "replace"),
        format_seconds(int(committer[3])) if committer and committer[3] else "",
        _subject(data[start:]),
        start,
        data.count(b"\n", 0, start),
    )


def message_start(data: bytes) -> int:
    """Return the offset of the message in a commit object."""
    # A header never holds an empty line: continued lines begin with a space.
    end = data.find(_END)
    return len(data) if end < 0 else end + len(_END)


def format_seconds(seconds: int) -> str:
    """Return seconds since 1970 as ISO 8601; those that no calendar has as the nearest that it has."""
    moment = datetime.fromtimestamp(min(max(seconds, 0), _MAX_SECONDS), UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _header(data: bytes, name: bytes) -> bytes:
    """Return the value of a header of a commit object, empty without one."""
    # Unfolded first, so that a line of a signature cannot pass for a header.
    head = data[: message_start(data)].replace(_FOLD, b" ")
    start = head.find(b"\n%s " % name) + 1
    return head[start + len(name) + 1 : head.find(b"\n", start)] if start else b""


def _subject(message: bytes) -> str:
    """Return the first paragraph of a message as one line, as git does."""
    paragraph = message.lstrip(b"\n").split(_END, 1)[0]
    return b" ".join(paragraph.split()).decode("utf-8", "replace")

"""Excerpts: text of a file or record that somebody asked for by name."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.display import visible
from gitmem.named_tuple import NamedTuple


class Excerpt(NamedTuple):
    """Text with its location."""

    heading: str
    lines: Sequence[str]
    """Lines for reading."""
    first: int
    """Number of the first line."""
    content: str
    """The same text byte for byte."""
    fields: Mapping[str, Any]
    """Further fields for JSON."""
    description: Sequence[str] = ()
    """Fields shown as lines before the text."""
    name: str = ""
    """Id to which lines can be added, as in `NAME:10-40`; empty if its content cannot be divided by lines."""

    def first_lines(self, size: int) -> "Excerpt":
        """Return the excerpt with the first lines of its content alone, and the id of the others as `next`."""
        lines = self.content.split("\n")
        content = "".join(line + "\n" for line in lines[:size])
        rest = {"next": f"{self.name}:{self.first + size}-{self.first + len(lines) - 1}"}
        changed = {"end_line": self.first + size - 1, "content_hash": hash_content(content)}
        if "start" in self.fields:
            changed["end"] = self.fields["start"] + len(content)
        fields = {**self.fields, **{key: value for key, value in changed.items() if key in self.fields}, **rest}
        return self._replace(lines=self.lines[:size], content=content, fields=fields)

    def in_repository(self, name: str) -> "Excerpt":
        """Return the excerpt under the name of its repository."""
        fields = {"repository": name, **self.fields}
        if "id" in fields:
            fields["id"] = f"{name}:{fields['id']}"
        own = f"{name}:{self.name}" if self.name else ""
        return self._replace(heading=f"{visible(name)}:{self.heading}", fields=fields, name=own)


def hash_content(content: str) -> str:
    """Return the SHA-256 of content as hex digits."""
    return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()

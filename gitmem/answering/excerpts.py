"""Excerpts: text of a file or record that somebody asked for by name."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.display import visible


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

    def in_repository(self, name: str) -> "Excerpt":
        """Return the excerpt under the name of its repository."""
        fields = {"repository": name, **self.fields}
        if "id" in fields:
            fields["id"] = f"{name}:{fields['id']}"
        return self._replace(heading=f"{visible(name)}:{self.heading}", fields=fields)

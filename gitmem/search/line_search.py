"""Find the lines or names that may have a term of the query, by the letters they must contain. Pure.

Most have none of the terms. A search for substrings shows that without splitting and stemming them: a stem keeps the
letters of its word, except for the last one (y becomes i).
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

_LINE_END: Final = re.compile("\n")


def prefixes_of(terms: Iterable[str]) -> list[str]:
    """Return the letters that a word must contain to have each of the terms."""
    return [term[:-1] or term for term in terms]


def lines_containing(prefixes: Sequence[str], lines: Sequence[str]) -> set[int]:
    """Return the positions of the lines that contain one of the prefixes, ignoring case and underscores."""
    # One search through the joined text per prefix; after a hit it goes on in the next line.
    text = "\n".join(lines).replace("_", "").lower()
    ends = [match.start() for match in _LINE_END.finditer(text)]
    positions = set()
    for prefix in prefixes:
        at = text.find(prefix)
        while at >= 0:
            position = bisect_left(ends, at)
            positions.add(position)
            at = text.find(prefix, ends[position]) if position < len(ends) else -1
    return positions


def names_containing(prefixes: Sequence[str], names: Sequence[str]) -> Iterable[int]:
    """Return the positions of the names that may have a term with one of the prefixes."""
    joined = "".join(names)
    # The lower case of other letters may depend on their neighbours. A path may contain a line feed.
    return lines_containing(prefixes, names) if joined.isascii() and "\n" not in joined else range(len(names))

"""Suggest the known name that a user may have meant.

Importing `difflib` takes milliseconds, and only wrong names need it: import this module where the error is raised.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_SIMILARITY: Final = 0.7
"""Least similarity of a suggestion, from 0 to 1. One wrong, missing or swapped letter in five passes; a word that only
shares letters does not: a wrong suggestion is worse than none."""


def find_similar_name(name: str, known: Iterable[str]) -> str:
    """Return the most similar known name; "" if none is similar enough."""
    return next(iter(get_close_matches(name, sorted(known), 1, _SIMILARITY)), "")

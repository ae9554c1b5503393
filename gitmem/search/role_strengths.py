"""How much the roles of files count against them, by the query and by the composition of the repository. Pure."""

from collections.abc import Mapping, Sequence
from re import IGNORECASE, Pattern
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.lazy_pattern import lazy_pattern

_CUES: Final[Mapping[str, frozenset[str]]] = {
    "test": frozenset(("test", "spec", "fixtur", "mock")),
    "example": frozenset(("exampl", "sampl", "demo", "tutorial", "benchmark", "bench")),
    "document": frozenset(("doc", "document", "documentation", "readm", "changelog", "guid", "licens")),
    "auxiliary": frozenset(("vendor", "compat", "legacy", "deprecat", "generat", "migrat", "local", "noop")),
}
"""Terms of a query that mention a role."""

USUAL_SHARE: Final = 0.7
DOMINANT_SHARE: Final = 0.95
"""Shares of documents in the files other than tests: up to the first, documents count against a file as usual.

From the second on the repository consists of documents, so they are what a query looks for.
"""

ASKED_STRENGTH: Final = -0.3
"""How much a role counts against a file if the query asks for it: for it, by one logit for tests."""

_OF: Final = r" (?:for|of|about|on|that|which|covering|using|with)\b"
_ASKING: Final[Mapping[str, Pattern[str]]] = {
    "test": lazy_pattern(
        r"\b(?:unit|integration|regression|functional|e2e)[ -]tests?\b|\btest cases?\b|\btests?"
        + _OF
        + r"|(?<!\bfor )(?<!\bin )(?<!\bduring )\btests\W*$",
        IGNORECASE,
    ),
    "example": lazy_pattern(r"(?<!for )\bexamples?(?:" + _OF + r"|\W*$)|\bsample (?:code|app)", IGNORECASE),
    "document": lazy_pattern(
        r"\b(?:documentation|docs)(?:" + _OF + r"|\W*$)|\breadme\b|\bchangelog\b|\buser guide\b",
        IGNORECASE,
    ),
}
"""Forms that name what is wanted. `test runner`, `fake for tests` and `documentation generator` are code."""


def weigh_roles(
    text: str, terms: Sequence[str], idf: Mapping[str, float], shares: Mapping[str, float]
) -> dict[str, float]:
    """Return how much each role counts against a file, from 0 to 1, or `ASKED_STRENGTH`.

    It counts less by the share of the query's idf that mentions the role: one word of many does not waive it. `text` is
    that of the query, `shares` is the share of each role in the searched files.
    """
    total = sum(idf.values()) or 1.0
    strengths = {}
    for role, cues in _CUES.items():
        mentioned = sum(idf.get(term, 0.0) for term in terms if term in cues) / total
        is_asked = mentioned > 0 and asks_for(role, text)
        strengths[role] = ASKED_STRENGTH if is_asked else max(0.0, 1.0 - mentioned)
    documents = shares.get("document", 0.0) / max(1.0 - shares.get("test", 0.0), 1e-9)
    usual = (DOMINANT_SHARE - documents) / (DOMINANT_SHARE - USUAL_SHARE)
    strengths["document"] *= min(1.0, max(0.0, usual))
    return strengths


def asks_for(role: str, query: str) -> bool:
    """Return whether a query asks for files of a role; False for roles that nobody asks for."""
    pattern = _ASKING.get(role)
    return pattern is not None and pattern.search(query) is not None


def find_descriptions(
    roles: Mapping[str, NDArray[np.float64]], is_prose: NDArray[np.float64], shares: Mapping[str, float]
) -> NDArray[np.float64]:
    """Return how much a candidate is code about other code, from 0 to 1: less if the query asks for its role.

    `roles` has a column for each role, with its strength for the candidates that have it.
    """
    # Where nearly all files are tests, they are the subject themselves. Prose has the names of subjects that people
    # look for, too, such as `CONTRIBUTING.md`.
    of_tests = min(1.0, (1.0 - shares.get("test", 0.0)) / (1.0 - DOMINANT_SHARE))
    of_examples = roles["example"] + roles["document"]
    described = of_tests * roles["test"] + of_examples * (1.0 - is_prose)
    return np.maximum(described, 0.0)

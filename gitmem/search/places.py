"""What a path says about its file: test, example, documentation, generated or vendored code. Pure."""

import posixpath
import re
from functools import lru_cache
from typing import Final

from gitmem.words import count_identifiers, terms_of

_TEST: Final = re.compile(
    r"(^|/)(tests?|specs?|__tests__|__mocks__|testdata|test-data|testing|fixtures?|e2e|mocks?|testutils?)(/|$)"
    r"|(^|/)(test_[^/]*|[^/]*[_.-](test|tests|spec|specs|bench)|conftest|[^/]*(Test|Tests|TestCase|Spec|IT))\.\w+$"
)
_EXAMPLE: Final = re.compile(r"(^|/)(examples?|samples?|demos?|tutorials?|docs?_src|benchmarks?|bench)(/|$)", re.I)
_DOCUMENT: Final = re.compile(
    r"(^|/)(docs?|documentation|changelogs?|man)(/|$)|\.(md|rst|adoc|txt|mdx)$|(^|/)(CHANGELOG|CHANGES|HISTORY|NEWS|AUTHORS|LICENSE)",
    re.I,
)
_ASIDE: Final = re.compile(
    r"(^|/)(vendor|third[_-]?party|external|deps|compat|_?legacy|deprecated|polyfills?|shims?|generated|gen|migrations|locales?|i18n)(/|$)"
    r"|(^|/)[^/]*(_compat|compat|\.d|\.gen|_generated|\.generated)\.\w+$",
    re.I,
)


@lru_cache(maxsize=8192)
def place_of(path: str) -> str:
    """`test`, `example`, `document`, `aside` (vendored, generated, compatibility) or empty for ordinary code."""
    if _TEST.search(path):
        return "test"
    if _EXAMPLE.search(path):
        return "example"
    if _ASIDE.search(path):
        return "aside"
    return "document" if _DOCUMENT.search(path) else ""


def stem_terms(path: str) -> tuple[str, ...]:
    """Terms of a file's name without its ending."""
    return _terms(posixpath.basename(path).split(".")[0])


def folder_terms(path: str) -> tuple[str, ...]:
    """Terms of the folders of a path."""
    return _terms(posixpath.dirname(path))


@lru_cache(maxsize=8192)
def _terms(text: str) -> tuple[str, ...]:
    found = count_identifiers(text).identifiers
    return tuple(dict.fromkeys(term for identifier in found for term in terms_of(identifier)))

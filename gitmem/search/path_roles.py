"""Classify a file by its path: test, example, documentation, or generated and vendored code. Pure."""

import posixpath
from functools import lru_cache
from typing import Final, NamedTuple

from gitmem.search.query_parser import STOP_WORDS
from gitmem.words import count_identifiers, terms_of

ROLES: Final = ("test", "example", "document", "auxiliary")
"""Roles of files that are rarely what a query about code looks for; also the names of their ranking features."""

_TEST_FOLDERS: Final = frozenset(
    "test tests spec specs __tests__ __mocks__ mock mocks testdata test-data testing fixture fixtures e2e testutil "
    "testutils".split()
)
_EXAMPLE_FOLDERS: Final = frozenset(
    "example examples sample samples demo demos tutorial tutorials doc_src docs_src bench benchmark benchmarks".split()
)
_DOCUMENT_FOLDERS: Final = frozenset("doc docs documentation changelog changelogs man".split())
_AUXILIARY_FOLDERS: Final = frozenset(
    "vendor third_party third-party thirdparty external deps compat legacy _legacy deprecated polyfill polyfills shim "
    "shims generated gen migration migrations locale locales i18n".split()
)
_TEST_ENDINGS: Final = ("_test", "_tests", "_spec", "_bench", "-test", "-tests", "-spec", ".test", ".tests", ".spec")
_TEST_CLASSES: Final = ("Test", "Tests", "TestCase", "Spec", "IT")
_DOCUMENT_ENDINGS: Final = (".md", ".rst", ".adoc", ".txt", ".mdx")
_DOCUMENT_NAMES: Final = ("changelog", "changes", "history", "news", "authors", "license")
_AUXILIARY_ENDINGS: Final = ("compat", ".d", ".gen", "_generated", ".generated")
_FOLDER_FILES: Final = frozenset("__init__ index init lib main mod".split())
"""Lower-case names of files that represent their folder."""

CACHED_NAMES: Final = 1 << 15
"""Paths and names whose terms a long-lived process caches: at most some 20 MB."""


class PathNames(NamedTuple):
    """Names in a path. `stem` is the file's name without its ending, or the folder it represents (`mod.rs`).

    `folder` has all folders.
    """

    stem: str
    folder: str


def path_names(path: str) -> PathNames:
    """Return the names in a path."""
    folder, name = posixpath.split(path)
    stem = name.split(".")[0]
    if folder and stem.lower() in _FOLDER_FILES:
        stem = posixpath.basename(folder)
    return PathNames(stem, folder)


@lru_cache(maxsize=CACHED_NAMES)
def path_role(path: str) -> str:
    """Return `test`, `example`, `auxiliary` (vendored, generated, compatibility), `document`, or "" for plain code."""
    folder, name = posixpath.split(path)
    folders = folder.lower().split("/")
    stem = posixpath.splitext(name)[0]
    lower = stem.lower()
    # The first role that fits wins: a README in a test folder belongs to the tests.
    if not _TEST_FOLDERS.isdisjoint(folders) or _is_test(stem, lower):
        return "test"
    if not _EXAMPLE_FOLDERS.isdisjoint(folders):
        return "example"
    if not _AUXILIARY_FOLDERS.isdisjoint(folders) or lower.endswith(_AUXILIARY_ENDINGS):
        return "auxiliary"
    is_document = name.lower().endswith(_DOCUMENT_ENDINGS) or lower.startswith(_DOCUMENT_NAMES)
    return "document" if is_document or not _DOCUMENT_FOLDERS.isdisjoint(folders) else ""


def _is_test(stem: str, lower: str) -> bool:
    return (
        lower.startswith("test_")
        or lower == "conftest"
        or lower.endswith(_TEST_ENDINGS)
        or stem.endswith(_TEST_CLASSES)
    )


@lru_cache(maxsize=CACHED_NAMES)
def content_terms(name: str) -> tuple[str, ...]:
    """Return the distinct terms of a name without stop words."""
    identifiers = count_identifiers(name).identifiers
    terms = dict.fromkeys(term for identifier in identifiers for term in terms_of(identifier))
    return tuple(term for term in terms if term not in STOP_WORDS)

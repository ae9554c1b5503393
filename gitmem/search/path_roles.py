"""What a path says about its file: test, example, documentation, generated or vendored code. Pure."""

import posixpath
from functools import lru_cache
from typing import Final, NamedTuple

from gitmem.search.query_parser import STOP_WORDS
from gitmem.words import count_identifiers, terms_of

ROLES: Final = ("test", "example", "document", "auxiliary")
_TEST_FOLDERS: Final = frozenset(
    "test tests spec specs __tests__ __mocks__ mock mocks testdata test-data testing fixture fixtures e2e testutil "
    "testutils".split()
)
_EXAMPLE_FOLDERS: Final = frozenset(
    "example examples sample samples demo demos tutorial tutorials doc_src docs_src bench benchmark benchmarks".split()
)
_DOCUMENT_FOLDERS: Final = frozenset("doc docs documentation changelog changelogs man".split())
_ASIDE_FOLDERS: Final = frozenset(
    "vendor third_party third-party thirdparty external deps compat legacy _legacy deprecated polyfill polyfills shim "
    "shims generated gen migration migrations locale locales i18n".split()
)
_TEST_ENDINGS: Final = ("_test", "_tests", "_spec", "_bench", "-test", "-tests", "-spec", ".test", ".tests", ".spec")
_TEST_CLASSES: Final = ("Test", "Tests", "TestCase", "Spec", "IT")
_DOCUMENT_ENDINGS: Final = (".md", ".rst", ".adoc", ".txt", ".mdx")
_DOCUMENT_NAMES: Final = ("changelog", "changes", "history", "news", "authors", "license")
_ASIDE_ENDINGS: Final = ("compat", ".d", ".gen", "_generated", ".generated")
_FOLDER_FILES: Final = frozenset("__init__ index init lib main mod".split())
"""Names, in lower case, of the file that stands for its folder."""

CACHED_NAMES: Final = 1 << 15
"""Paths and names a process that stays keeps the words of, some 20 MB at most."""


class PathTerms(NamedTuple):
    """Terms of a file's name without its ending (of its folder's, where it stands for that: `mod.rs`), of its folders,
    and the place it stands at."""

    stem: tuple[str, ...]
    folder: tuple[str, ...]
    place: str


@lru_cache(maxsize=CACHED_NAMES)
def path_terms(path: str) -> PathTerms:
    """What a path says."""
    folder, name = posixpath.split(path)
    stem = name.split(".")[0]
    if folder and stem.lower() in _FOLDER_FILES:
        stem = posixpath.basename(folder)
    return PathTerms(content_terms(stem), content_terms(folder), path_role(path))


def path_role(path: str) -> str:
    """`test`, `example`, `auxiliary` (vendored, generated, compatibility), `document` or empty for ordinary code."""
    folder, name = posixpath.split(path)
    folders = folder.lower().split("/")
    stem = posixpath.splitext(name)[0]
    lower = stem.lower()
    if not _TEST_FOLDERS.isdisjoint(folders) or _is_test(stem, lower):
        return "test"
    if not _EXAMPLE_FOLDERS.isdisjoint(folders):
        return "example"
    if not _ASIDE_FOLDERS.isdisjoint(folders) or lower.endswith(_ASIDE_ENDINGS):
        return "auxiliary"
    told = name.lower().endswith(_DOCUMENT_ENDINGS) or lower.startswith(_DOCUMENT_NAMES)
    return "document" if told or not _DOCUMENT_FOLDERS.isdisjoint(folders) else ""


def _is_test(stem: str, lower: str) -> bool:
    return (
        lower.startswith("test_")
        or lower == "conftest"
        or lower.endswith(_TEST_ENDINGS)
        or stem.endswith(_TEST_CLASSES)
    )


@lru_cache(maxsize=CACHED_NAMES)
def content_terms(name: str) -> tuple[str, ...]:
    """Distinct terms of a name, without the words that say nothing."""
    found = count_identifiers(name).identifiers
    terms = dict.fromkeys(term for identifier in found for term in terms_of(identifier))
    return tuple(term for term in terms if term not in STOP_WORDS)

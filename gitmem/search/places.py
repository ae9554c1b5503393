"""What a path says about its file: test, example, documentation, generated or vendored code. Pure."""

import posixpath
from functools import lru_cache
from typing import Final

from gitmem.words import count_identifiers, terms_of

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


@lru_cache(maxsize=8192)
def place_of(path: str) -> str:
    """`test`, `example`, `aside` (vendored, generated, compatibility), `document` or empty for ordinary code."""
    folder, name = posixpath.split(path)
    folders = folder.lower().split("/")
    stem = posixpath.splitext(name)[0]
    lower = stem.lower()
    if not _TEST_FOLDERS.isdisjoint(folders) or _is_test(stem, lower):
        return "test"
    if not _EXAMPLE_FOLDERS.isdisjoint(folders):
        return "example"
    if not _ASIDE_FOLDERS.isdisjoint(folders) or lower.endswith(_ASIDE_ENDINGS):
        return "aside"
    told = name.lower().endswith(_DOCUMENT_ENDINGS) or lower.startswith(_DOCUMENT_NAMES)
    return "document" if told or not _DOCUMENT_FOLDERS.isdisjoint(folders) else ""


def _is_test(stem: str, lower: str) -> bool:
    return (
        lower.startswith("test_")
        or lower == "conftest"
        or lower.endswith(_TEST_ENDINGS)
        or stem.endswith(_TEST_CLASSES)
    )


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

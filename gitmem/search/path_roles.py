"""Classify a file by its path: test, example, documentation, or generated, vendored and translated text. Pure."""

import posixpath
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple
from gitmem.package_names import SOURCE_SET
from gitmem.search.stop_words import STOP_WORDS
from gitmem.search.translated_paths import names_translation
from gitmem.words import count_identifiers, terms_of

ROLES: Final = ("test", "example", "document", "auxiliary")
"""Roles of files that are rarely what a query about code looks for; also the names of their ranking features."""


class _Words(NamedTuple):
    """Words that give a name its role as its first word, as its last word, or as the whole name."""

    first: frozenset[str]
    last: frozenset[str]
    whole: frozenset[str]


class _RoleWords(NamedTuple):
    """Words that give files and folders a role (`foo_test.go`, `integration-tests/`), and folders alone (`dist/`)."""

    names: _Words
    folders: _Words


def _words(first: str, last: str, whole: str) -> _Words:
    return _Words(*(frozenset(words.split()) for words in (first, last, whole)))


# Which words a name has matters less than where: `latest/`, `testing.go` and `specification/` are none of these. A
# name of words joined by sign or case is compared word by word, so `unit_tests`, `unitTests` and `Unit.Tests` are one.
#
# Many words are the subject of a file, but say of a folder what all of its files are: `doc_comments.rs`, `locale.py`,
# `GeneratedRouter.scala` and `plan_migration.py` are plain code.
_ROLE_WORDS: Final = {
    "test": _RoleWords(
        _words(
            "test tests",
            "test tests testcase testcases testdata testutil testutils unittest unittests fixture fixtures mocks fuzz "
            "fuzzing e2e snapshots",
            "conftest",
        ),
        _words("", "spec specs", "testing mock testlib testsuite testsupport fuzzers"),
    ),
    "example": _RoleWords(
        _words(
            "example examples bench benchmark benchmarks",
            "example examples demo demos tutorial tutorials bench benches benchmark benchmarks playground playgrounds",
            "",
        ),
        _words("", "sample samples", "docsrc docssrc storybook showcase sandbox"),
    ),
    "auxiliary": _RoleWords(
        _words(
            "legacy noop",
            "polyfill polyfills shim shims generated legacy deprecated amalgamated amalgamation noop",
            "",
        ),
        _words(
            "generated",
            "vendored migrations locales",
            "vendor migration locale thirdparty external extern deps compat gen i18n nodemodules dist build bundled "
            "singleinclude singleheader",
        ),
    ),
    "document": _RoleWords(
        _words("", "", ""),
        _words("doc docs", "doc docs documentation changelog changelogs", "man website wiki"),
    ),
}
"""The first role that fits wins: a README in a test folder belongs to the tests."""

_PACKAGE_ROLES: Final = ("auxiliary",)
"""Roles that folders in a source set (`src/main/java/`) have, by words that count in names of files, too.

They are packages: the name of a product rather than of a kind of file. `com/example/demo/`, `org/acme/samples/` and
most of `mock`, `testing`, `migration` and `external` are plain code there; `generated` is not.
"""


class _Sets(NamedTuple):
    """Sets of roles by the first word of a name, by the last one and by the whole name. A bit stands for a role."""

    first: Mapping[str, int]
    last: Mapping[str, int]
    whole: Mapping[str, int]


def _sets(words: Mapping[str, Sequence[_Words]]) -> _Sets:
    """Map words to the set of the roles that have them."""
    tables: tuple[dict[str, int], ...] = ({}, {}, {})
    for role, groups in words.items():
        for group in groups:
            for table, own in zip(tables, group, strict=True):
                table.update((word, table.get(word, 0) | _BITS[role]) for word in own)
    return _Sets(*tables)


_BITS: Final = {role: 1 << rank for rank, role in enumerate(_ROLE_WORDS)}
"""Sets of one role. The lowest bit of a set is the role that counts."""

_TEST: Final = _BITS["test"]
_OF_FILES: Final = _sets({role: (words.names,) for role, words in _ROLE_WORDS.items()})
_OF_FOLDERS: Final = _sets(_ROLE_WORDS)
_OF_PACKAGES: Final = _sets({role: (words.names,) for role, words in _ROLE_WORDS.items() if role in _PACKAGE_ROLES})

_STORY: Final = lazy_pattern(r"(?:^|[/._-])stories(?:/.*)?\.(?:[cm]?[jt]sx?|mdx|vue|svelte|s?css)$")
"""Examples of components in Storybook: `Button.stories.tsx`, and files of the web in `stories/`."""

_TEST_NAME: Final = lazy_pattern(
    r"\.t$|(?<=[^A-Z.])IT(?:\.[^.]*)?$"
    r"|(?:^|[^A-Za-z])specs?\.(?:rb|lua|cr|[cm]?[jt]sx?|coffee|moon|fnl)$"
    r"|Specs?\.(?:scala|groovy|hs|purs|php|cs|fs|[jt]sx?)$"
)
"""Files that are tests by their ending, their case, or their language.

Tests in Perl (`deploy.t`), classes of integration tests (`UserServiceIT`, unlike `LICENSE-MIT`), and specs where tests
are called so (`parser_spec.rb`, unlike `parse_shape_specs.rs`).
"""

_CERTAIN_TEST: Final = lazy_pattern(
    r"(?i:\.tests?\.[^.]+$)|_test\.(?:go|rb|exs?|py|[cm]?[jt]sx?)$|^conftest\.|\.t$"
    r"|specs?\.(?:rb|lua|cr|[cm]?[jt]sx?|coffee|moon|fnl)$|(?i:tests?[-_]?(?:base|common|data|helper|setup|support|util))"
)
"""Files that a test runner collects by their names, and those that tests share, even without a test in them."""

_TEST_PACKAGE: Final = lazy_pattern(r"\w[-_.]test$")
_SOURCE_FOLDERS: Final = frozenset("src lib common jvm js native commonMain jvmMain Sources".split())
"""Folders with the code of a package: `bloc_test/lib/` is a product, unlike the rest of `bloc_test/`."""

_TOOLS: Final = "testing"
"""Name of folders with tools for the tests of others."""

_TEST_ROOTS: Final = ("t", "xt")
"""Folders at the root with the tests of a project in Perl, or of git."""

_BUNDLES: Final = (".bundle", ".cjs", ".esm", ".iife", ".umd")
"""Formats in which bundlers write a package, before the ending: `name.esm.js`, beside `name.cjs.js`."""

_AUXILIARY_ENDINGS: Final = ("compat", ".d", ".gen", "_gen", ".g", ".pb", "_pb2", ".min", ".designer", *_BUNDLES)
_DOCUMENT_ENDINGS: Final = (".md", ".rst", ".adoc", ".txt", ".mdx")
_DOCUMENT_NAMES: Final = frozenset(
    "changelog changes history news authors license licence licenses licences copying notice".split()
)
_FOLDER_FILES: Final = frozenset("__init__ index init lib main mod".split())
"""Lower-case names of files that represent their folder."""

# Digits stay with their letters: `e2e`, `i18n`.
_NAME_WORD: Final = lazy_pattern(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z][a-z0-9]*|[0-9]+")

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
    folder, _, name = path.rpartition("/")
    stem = name.split(".", 1)[0]
    if folder and stem.lower() in _FOLDER_FILES:
        stem = folder.rpartition("/")[2]
    return PathNames(stem, folder)


@lru_cache(maxsize=CACHED_NAMES)
def path_role(path: str) -> str:
    """Return `test`, `example`, `auxiliary` (vendored, generated, compatibility), `document`, or "" for plain code."""
    return _first_role(_roles(path))


def file_role(path: str, *, may_test: bool) -> str:
    """Return the role of a file by its path, and by whether it may contain tests."""
    return path_role(path) if may_test else role_without_tests(path)


@lru_cache(maxsize=CACHED_NAMES)
def role_without_tests(path: str) -> str:
    """Return the role of a file that contains no tests.

    It may still belong to them: a helper in `tests/`, a file in the form of a test. A name that only begins or ends
    with a word for tests may be that of a test runner, and a package `bloc_test` a tool for the tests of others.
    """
    folder, _, name = path.rpartition("/")
    roles = _roles(path)
    if roles & _TEST and not _CERTAIN_TEST.search(name) and not _is_test_folder(folder):
        roles &= ~_TEST
    return _first_role(roles)


def _roles(path: str) -> int:
    folder, _, name = path.rpartition("/")
    story = _BITS["example"] if _STORY.search(path) else 0
    return _folder_roles(folder) | _file_roles(name) | _translation(folder, name) | story


def _first_role(roles: int) -> str:
    """Return the role of a set that counts."""
    return next((role for role, bit in _BITS.items() if roles & bit), "")


@lru_cache(maxsize=CACHED_NAMES)
def _folder_roles(folder: str) -> int:
    """Return the roles of a folder and of those above it."""
    if not folder or folder.endswith("\0"):  # the name of a repository in front of a path says nothing about it
        return 0
    above, _, name = folder.rpartition("/")
    return _folder_roles(above) | _own_roles(folder) | _translation(above, name)


def _own_roles(folder: str) -> int:
    """Return the roles that a folder has by its name."""
    above, _, name = folder.rpartition("/")
    if folder in _TEST_ROOTS:
        return _TEST
    return _word_roles(name, _OF_PACKAGES if SOURCE_SET.match(above + "/") else _OF_FOLDERS)


@lru_cache(maxsize=CACHED_NAMES)
def _is_test_folder(folder: str) -> bool:
    """Return whether all files below a folder belong to tests."""
    names = folder.split("/")
    for depth, name in enumerate(names, 1):
        if _own_roles("/".join(names[:depth])) & _TEST:
            is_package = _TEST_PACKAGE.search(name) and depth < len(names) and names[depth] in _SOURCE_FOLDERS
            if not is_package and name.lower() != _TOOLS:
                return True
    return False


def _translation(folder: str, name: str) -> int:
    return _BITS["auxiliary"] if names_translation(folder, name) else 0


def _file_roles(name: str) -> int:
    stem = posixpath.splitext(name)[0]
    roles = _word_roles(stem, _OF_FILES)
    if _TEST_NAME.search(name):
        return _TEST
    if stem.lower().endswith(_AUXILIARY_ENDINGS):
        return roles | _BITS["auxiliary"]
    return roles | (_BITS["document"] if _is_document(name) else 0)


def _is_document(name: str) -> bool:
    """Return whether a file is prose: by its ending, or by a name such as `LICENSE-MIT` or `CHANGES.2`."""
    if name.lower().endswith(_DOCUMENT_ENDINGS):
        return True
    # `history.rs` and `LicenseModel.cs` are code: such a name is in capitals, or has no ending.
    stem, dot, _ = name.partition(".")
    word = stem.replace("_", "-").partition("-")[0]
    return word.lower() in _DOCUMENT_NAMES and (word.isupper() or not dot)


def _word_roles(name: str, sets: _Sets) -> int:
    """Return the roles that the words of a name have."""
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    if not words:
        return 0
    return sets.first.get(words[0], 0) | sets.last.get(words[-1], 0) | sets.whole.get("".join(words), 0)


@lru_cache(maxsize=CACHED_NAMES)
def content_terms(name: str) -> tuple[str, ...]:
    """Return the distinct terms of a name without stop words, or with them if it has no others (`find`)."""
    identifiers = count_identifiers(name).identifiers
    terms = dict.fromkeys(term for identifier in identifiers for term in terms_of(identifier))
    return tuple(term for term in terms if term not in STOP_WORDS) or tuple(terms)

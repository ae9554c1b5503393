"""Classify a file by its path: test, example, documentation, or generated, vendored and translated text. Pure."""

import posixpath
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple
from gitmem.search.stop_words import STOP_WORDS
from gitmem.search.translated_paths import names_translation
from gitmem.words import count_identifiers, terms_of

ROLES: Final = ("test", "example", "document", "auxiliary")
"""Roles of files that are rarely what a query about code looks for; also the names of their ranking features."""


class _Words(NamedTuple):
    """Words of names that give their file a role, by where they stand in the name.

    - `beginning`: first word of a folder's or file's name (`test-utils/`, `TestFoo.java`).
    - `end`: last word of either (`integration-tests/`, `X.Tests/`, `foo_test.go`).
    - `folder_end`: last word of a folder's name alone (`code-samples/`, unlike `plan_sample.cpp`).
    - `folder`: the whole name of a folder. `file`: the whole name of a file, without its ending.
    """

    beginning: frozenset[str]
    end: frozenset[str]
    folder_end: frozenset[str]
    folder: frozenset[str]
    file: frozenset[str]


def _words(beginning: str, end: str, folder_end: str, folder: str, file: str) -> _Words:
    return _Words(*(frozenset(words.split()) for words in (beginning, end, folder_end, folder, file)))


# Which words a name has matters less than where: `latest/`, `testing.go` and `specification/` are none of these. A
# name of words joined by sign or case is compared word by word, so `unit_tests`, `unitTests` and `Unit.Tests` are one.
_ROLE_WORDS: Final = {
    "test": _words(
        "test tests",
        "test tests testcase testcases testdata testutil testutils unittest unittests fixture fixtures mocks fuzz "
        "fuzzing e2e snapshots",
        "spec specs",
        "testing mock testlib testsuite testsupport fuzzers",
        "conftest",
    ),
    "example": _words(
        "example examples bench benchmark benchmarks",
        "example examples demo demos tutorial tutorials bench benches benchmark benchmarks stories playground "
        "playgrounds",
        "sample samples",
        "docsrc docssrc storybook showcase sandbox",
        "",
    ),
    "auxiliary": _words(
        "generated legacy noop",
        "vendor vendored polyfill polyfills shim shims generated migration migrations locale locales legacy deprecated "
        "amalgamated amalgamation noop",
        "",
        "thirdparty external extern deps compat gen i18n nodemodules dist build bundled singleinclude singleheader",
        "",
    ),
    "document": _words("doc docs", "doc docs documentation changelog changelogs", "", "man website wiki", ""),
}
"""The first role that fits wins: a README in a test folder belongs to the tests."""

_RANKED: Final = tuple(_ROLE_WORDS)
_AUXILIARY_RANK: Final = _RANKED.index("auxiliary")


def _ranks(names: Sequence[frozenset[str]]) -> dict[str, int]:
    """Map each name to the rank of the first role that has it."""
    return {name: rank for rank in reversed(range(len(names))) for name in names[rank]}


_FIRST_RANKS: Final = _ranks([words.beginning for words in _ROLE_WORDS.values()])
_LAST_RANKS: Final = _ranks([words.end for words in _ROLE_WORDS.values()])
_FOLDER_LAST_RANKS: Final = _ranks([words.end | words.folder_end for words in _ROLE_WORDS.values()])
_FOLDER_RANKS: Final = _ranks([words.folder for words in _ROLE_WORDS.values()])
_FILE_RANKS: Final = _ranks([words.file for words in _ROLE_WORDS.values()])

_TEST_NAME: Final = lazy_pattern(
    r"\.t$|(?<=[^A-Z.])IT(?:\.[^.]*)?$"
    r"|(?:^|[^A-Za-z])specs?\.(?:rb|lua|cr|[cm]?[jt]sx?|coffee|moon|fnl)$"
    r"|Specs?\.(?:scala|groovy|hs|purs|php|cs|fs|[jt]sx?)$"
)
"""Files that are tests by their ending, their case, or their language.

Tests in Perl (`deploy.t`), classes of integration tests (`UserServiceIT`, unlike `LICENSE-MIT`), and specs where tests
are called so (`parser_spec.rb`, unlike `parse_shape_specs.rs`).
"""

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
    folder, _, name = path.rpartition("/")
    rank = min(_folder_rank(folder), _file_rank(name), _translation_rank(folder, name))
    return _RANKED[rank] if rank < len(_RANKED) else ""


@lru_cache(maxsize=CACHED_NAMES)
def _folder_rank(folder: str) -> int:
    """Return the best rank of a folder and those above it."""
    if not folder or folder.endswith("\0"):  # the name of a repository in front of a path says nothing about it
        return len(_RANKED)
    above, _, name = folder.rpartition("/")
    if folder in _TEST_ROOTS:
        return 0
    return min(
        _folder_rank(above), _words_rank(name, _FOLDER_LAST_RANKS, _FOLDER_RANKS), _translation_rank(above, name)
    )


def _translation_rank(folder: str, name: str) -> int:
    return _AUXILIARY_RANK if names_translation(folder, name) else len(_RANKED)


def _file_rank(name: str) -> int:
    stem = posixpath.splitext(name)[0]
    rank = _words_rank(stem, _LAST_RANKS, _FILE_RANKS)
    if _TEST_NAME.search(name):
        return 0
    if stem.lower().endswith(_AUXILIARY_ENDINGS):
        return min(rank, _AUXILIARY_RANK)
    return min(rank, _RANKED.index("document")) if _is_document(name) else rank


def _is_document(name: str) -> bool:
    """Return whether a file is prose: by its ending, or by a name such as `LICENSE-MIT` or `CHANGES.2`."""
    if name.lower().endswith(_DOCUMENT_ENDINGS):
        return True
    # `history.rs` and `LicenseModel.cs` are code: such a name is in capitals, or has no ending.
    stem, dot, _ = name.partition(".")
    word = stem.replace("_", "-").partition("-")[0]
    return word.lower() in _DOCUMENT_NAMES and (word.isupper() or not dot)


def _words_rank(name: str, last: Mapping[str, int], whole: Mapping[str, int]) -> int:
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    if not words:
        return len(_RANKED)
    ranks = (_FIRST_RANKS.get(words[0]), last.get(words[-1]), whole.get("".join(words)))
    return min((rank for rank in ranks if rank is not None), default=len(_RANKED))


@lru_cache(maxsize=CACHED_NAMES)
def content_terms(name: str) -> tuple[str, ...]:
    """Return the distinct terms of a name without stop words, or with them if it has no others (`find`)."""
    identifiers = count_identifiers(name).identifiers
    terms = dict.fromkeys(term for identifier in identifiers for term in terms_of(identifier))
    return tuple(term for term in terms if term not in STOP_WORDS) or tuple(terms)

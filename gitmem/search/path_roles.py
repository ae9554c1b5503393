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

_RANKED: Final = tuple(_ROLE_WORDS)
_EXAMPLE_RANK: Final = _RANKED.index("example")
_AUXILIARY_RANK: Final = _RANKED.index("auxiliary")

_PACKAGE_ROLES: Final = ("auxiliary",)
"""Roles that folders in a source set (`src/main/java/`) have, by words that count in names of files, too.

They are packages: the name of a product rather than of a kind of file. `com/example/demo/`, `org/acme/samples/` and
most of `mock`, `testing`, `migration` and `external` are plain code there; `generated` is not.
"""


class _Ranks(NamedTuple):
    """Ranks of roles by the first word of a name, by the last one and by the whole name."""

    first: Mapping[str, int]
    last: Mapping[str, int]
    whole: Mapping[str, int]


def _ranks(words: Sequence[Sequence[_Words]]) -> _Ranks:
    """Map words to the rank of the first role that has them; `words` are those of each role."""
    first, last, whole = (
        {word: rank for rank in reversed(range(len(words))) for own in words[rank] for word in own[place]}
        for place in range(3)
    )
    return _Ranks(first, last, whole)


_FILE_RANKS: Final = _ranks([(words.names,) for words in _ROLE_WORDS.values()])
_FOLDER_RANKS: Final = _ranks(list(_ROLE_WORDS.values()))
_PACKAGE_RANKS: Final = _ranks(
    [(words.names,) if role in _PACKAGE_ROLES else () for role, words in _ROLE_WORDS.items()]
)

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
    if rank > _EXAMPLE_RANK and _STORY.search(path):
        rank = _EXAMPLE_RANK
    return _RANKED[rank] if rank < len(_RANKED) else ""


@lru_cache(maxsize=CACHED_NAMES)
def _folder_rank(folder: str) -> int:
    """Return the best rank of a folder and those above it."""
    if not folder or folder.endswith("\0"):  # the name of a repository in front of a path says nothing about it
        return len(_RANKED)
    above, _, name = folder.rpartition("/")
    if folder in _TEST_ROOTS:
        return 0
    ranks = _PACKAGE_RANKS if SOURCE_SET.match(above + "/") else _FOLDER_RANKS
    return min(_folder_rank(above), _words_rank(name, ranks), _translation_rank(above, name))


def _translation_rank(folder: str, name: str) -> int:
    return _AUXILIARY_RANK if names_translation(folder, name) else len(_RANKED)


def _file_rank(name: str) -> int:
    stem = posixpath.splitext(name)[0]
    rank = _words_rank(stem, _FILE_RANKS)
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


def _words_rank(name: str, ranks: _Ranks) -> int:
    """Return the best rank that the words of a name have."""
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    if not words:
        return len(_RANKED)
    found = (ranks.first.get(words[0]), ranks.last.get(words[-1]), ranks.whole.get("".join(words)))
    return min((rank for rank in found if rank is not None), default=len(_RANKED))


@lru_cache(maxsize=CACHED_NAMES)
def content_terms(name: str) -> tuple[str, ...]:
    """Return the distinct terms of a name without stop words, or with them if it has no others (`find`)."""
    identifiers = count_identifiers(name).identifiers
    terms = dict.fromkeys(term for identifier in identifiers for term in terms_of(identifier))
    return tuple(term for term in terms if term not in STOP_WORDS) or tuple(terms)

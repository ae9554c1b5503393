"""Labelled queries of a public repository: messages of its commits, its documentation comments, names it defines.

Messages are mined by `models.recipe.histories`, and searched in the tree before the commit. Documentation is searched
in a tree without it: the first sentence of the comment of a definition or file is the query, and the comment is blanked
out. A name is a query if a single file of ordinary code defines it.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gitmem.chunking.languages import language_of
from gitmem.search.path_roles import path_role
from gitmem.search.scope import Scope
from gitmem.types import CHUNK_TYPES
from models.recipe.pairs import described_file, documented_chunks, read_source
from tests.bench.subjects import git, git_with_input

COMMITS: Final = 40
DOCS: Final = 14
FILES: Final = 8
NAMES: Final = 8
"""Most queries of each kind from one repository."""

READ_FILES: Final = 400
SIZES: Final = range(500, 300_000)
"""Bytes of a file whose documentation is used."""

_FUNCTIONS: Final = ("function", "method")
_PROSE: Final = ("section", "text")


class TreeQuery(NamedTuple):
    """Query for a tree, with the paths that answer it. `kind` is commit, doc, file or name."""

    kind: str
    tree: str
    text: str
    paths: tuple[str, ...]


def read_commit_queries(mined: Path) -> list[TreeQuery]:
    """Read the messages that `models.recipe.histories` mined from one repository."""
    queries = []
    for line in mined.read_text(encoding="utf-8").splitlines()[:COMMITS]:
        entry = json.loads(line)
        paths = {function["path"]: None for function in entry["functions"]}
        queries.append(TreeQuery("commit", entry["tree"], entry["text"], tuple(paths)))
    return queries


def make_doc_queries(clone: Path, tree: str) -> list[TreeQuery]:
    """Choose documented definitions and files; write a tree without their documentation to the clone."""
    queries: dict[str, list[TreeQuery]] = {"file": [], "doc": []}
    limits = {"file": FILES, "doc": DOCS}
    edited: list[tuple[str, bytes]] = []
    for path in _sample_code(clone, tree):
        candidate = _find_documentation(clone, tree, path)
        if candidate is None or len(queries[candidate.kind]) >= limits[candidate.kind]:
            continue
        edited.append((path, candidate.content))
        queries[candidate.kind].append(TreeQuery(candidate.kind, "", candidate.text, (path,)))
        if all(len(queries[kind]) >= limit for kind, limit in limits.items()):
            break
    own = write_tree(clone, tree, edited) if edited else ""
    return [query._replace(tree=own) for kind in queries for query in queries[kind]]


class _Documentation(NamedTuple):
    """A query and the content of its file without it."""

    kind: str
    text: str
    content: bytes


def _find_documentation(clone: Path, tree: str, path: str) -> _Documentation | None:
    """Return the description of a file, else the documentation of one of its definitions."""
    data = git_with_input(clone, b"", "cat-file", "blob", f"{tree}:{path}")
    source = read_source(data, language_of(path), path) if len(data) in SIZES else None
    if source is None:
        return None
    text, spans = described_file(source)
    if text:
        return _Documentation("file", text, blank_out(data, spans))
    documented = min(documented_chunks(source), key=lambda one: _draw(one.query), default=None)
    if documented is None:
        return None
    return _Documentation("doc", documented.query, blank_out(data, documented.spans))


def _sample_code(clone: Path, tree: str) -> list[str]:
    """Return files of ordinary code in an order that depends on their names alone."""
    names = git(clone, "ls-tree", "-r", "-z", "--name-only", tree).split("\0")
    code = [name for name in names if language_of(name) and not path_role(name)]
    return sorted(code, key=_draw)[:READ_FILES]


def _draw(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()


def blank_out(data: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """Replace spans by spaces; line ends stay."""
    content = bytearray(data)
    for start, end in spans:
        content[start:end] = bytes(byte if byte in b"\r\n" else 32 for byte in data[start:end])
    return bytes(content)


def write_tree(clone: Path, tree: str, files: Sequence[tuple[str, bytes]]) -> str:
    """Write a tree that differs from another in the contents of some files; return its id."""
    git(clone, "read-tree", tree)
    for path, content in files:
        oid = git_with_input(clone, content, "hash-object", "-w", "--stdin").decode().strip()
        git(clone, "update-index", "--cacheinfo", f"100644,{oid},{path}")
    return git(clone, "write-tree", "--missing-ok").strip()


def choose_names(scope: Scope, tree: str) -> list[TreeQuery]:
    """Choose names that one file of ordinary code defines: mostly classes and other types, some functions."""
    holders: dict[str, set[str]] = defaultdict(set)
    types: dict[str, str] = {}
    for path, chunk_type, symbol in _iter_symbols(scope):
        name = symbol.rpartition(".")[2]
        if ", " not in symbol and len(name) > 3 and name.replace("_", "").isalnum():
            holders[name].add(path)
            types[name] = chunk_type
    names = [name for name, paths in holders.items() if len(paths) == 1 and not path_role(min(paths))]
    functions = sorted((name for name in names if types[name] in _FUNCTIONS), key=_draw)
    others = sorted((name for name in names if types[name] not in _FUNCTIONS), key=_draw)[: NAMES * 3 // 4]
    return [TreeQuery("name", tree, name, tuple(holders[name])) for name in (*others, *functions)][:NAMES]


def _iter_symbols(scope: Scope) -> Iterator[tuple[str, str, str]]:
    """Yield path, chunk type and symbol of the named chunks of code."""
    rows = np.flatnonzero(scope.mask)
    kinds = scope.snapshot.gather(("kind",), rows)["kind"].tolist()
    for row, kind, symbol in zip(rows.tolist(), kinds, scope.snapshot.symbols(rows), strict=True):
        if symbol and CHUNK_TYPES[kind] not in _PROSE:
            yield scope.view.path(int(scope.entry_of[row])).decode("utf-8", "replace"), CHUNK_TYPES[kind], symbol

"""Search in the code of the past: methods by their commits, deleted functions, size and cost of the index.

`--methods` is the list of the benchmark `history`, whose introducing commits experts agreed on. The queries are the
first sentence of a method's documentation, or the words of its name. Deleted functions are taken from files that
commits deleted, by git alone. `--repositories` holds a clone of each repository, `OWNER+NAME` or `OWNER+NAME/repo`. The
repositories of `--also` are measured too, and searched for deleted functions. No clone is changed. With `--keep` the
indexed clones stay in a folder; a further run finds them there, and measures no CPU of indexing.
"""

import argparse
import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gitmem.answering.past_hit import PastHit
from gitmem.answering.past_search import PastQuery, search_past
from gitmem.answering.search_query import Query
from gitmem.chunking.languages import language_of
from gitmem.search.path_roles import path_role
from gitmem.types import Chunk
from gitmem.workspace import Workspace, open_workspace
from models.recipe.pairs import Documented, Source, documented_chunks, read_source
from models.recipe.prose import words_of
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.issues import clone_without_files, find_clone
from tests.bench.processes import Command, run_measured
from tests.bench.scoring import mean
from tests.bench.size import bytes_below
from tests.bench.subjects import SubjectError, git, git_with_input, work_folder

LEAST_FIRST: Final = 0.60
LEAST_TENTH: Final = 0.85
LEAST_DELETED: Final = 0.80
MOST_BYTES: Final = 1.0
"""Least shares of introducing commits among the first and the first ten results, of deleted functions among the first
ten, and most bytes for 1,000 commits, in sizes of HEAD's index."""

_SIZES: Final = 7
"""Figures of an index before those of its cost."""

_FUNCTIONS: Final = ("function", "method")
_OF_FILE: Final = 3
"""Functions of one deleted file that are searched."""

_COMMITS: Final = 4000
"""Commits among which deletions of files are looked for: all of a small repository."""


class Case(NamedTuple):
    """Query with the ids of the commits of which one is expected, and the name of the definition."""

    name: str
    text: str
    introduced: frozenset[str] = frozenset()
    removed: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for methods and repositories."""
    parser.add_argument("--methods", type=Path, required=True, help="JSON list of methods with their histories")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with a clone of each repository")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="OWNER/NAME", help="repositories of the list to search"
    )
    parser.add_argument("--also", nargs="+", default=[], metavar="OWNER/NAME", help="other repositories to measure")
    parser.add_argument("--deleted", type=int, default=10, metavar="N", help="deleted functions of each repository")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the indexed clones here, or use those here")
    parser.add_argument("--since", metavar="DATE", help="index only commits from this time on")
    parser.add_argument("--blame", action="store_true", help="trace the introductions of the results")
    parser.add_argument("--misses", type=Path, metavar="FILE", help="write the misses and their first results as text")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index the past of every repository, and search it."""
    methods: list[dict[str, Any]] = json.loads(options.methods.read_text(encoding="utf-8"))
    names = [name for name in dict.fromkeys(one["repository"] for one in methods) if name in (options.only or [name])]
    figures: list[Figure] = []
    ranks: dict[str, list[int]] = {"introduced": [], "deleted": []}
    with work_folder(options) as work:
        for name in dict.fromkeys([*names, *options.also]):
            clone = find_clone(options.repositories, name)
            path = (options.keep or work) / name.replace("/", "+")
            is_new = not path.is_dir()
            if is_new:
                clone_without_files(clone, name, path.parent)
            size_and_cost = measure_index(load_gitmem(options), name, path, options.since)
            figures += size_and_cost if is_new else size_and_cost[:_SIZES]
            workspace = open_workspace(path, os.environ)
            own = [method for method in methods if method["repository"] == name]
            cases = {"introduced": list(method_cases(clone, own)), "deleted": deleted_cases(clone, options.deleted)}
            for kind, queries in cases.items():
                seconds = math.inf if options.blame and kind == "introduced" else 0.0
                ranks[kind] += [rank_case(workspace, case, options.misses, seconds) for case in queries]
    return [*figures, *summarise(ranks)]


def measure_index(gitmem: Gitmem, name: str, path: Path, since: str | None) -> list[Figure]:
    """Index HEAD and its past, and return size and cost."""
    command = [*gitmem.words, "index", "--history", "--json", *(["--since", since] if since else [])]
    run_measured(Command([*gitmem.words, "index"], cwd=path))
    head = bytes_below(path / ".gitmem") - bytes_below(path / ".gitmem" / "history")
    output, cpu = run_measured(Command(command, cwd=path))
    report = json.loads(output)
    commits, size = report["past"]["commits"], report["past"]["index_bytes"]
    _, again = run_measured(Command(command, cwd=path))
    return [
        Figure(name, "commits", commits),
        Figure(name, "versions of files", report["past"]["versions"]),
        Figure(name, "definitions", report["past"]["chunks"]),
        Figure(name, "index of HEAD", head / 1e6, "MB"),
        Figure(name, "index of the past", size / 1e6, "MB"),
        Figure(name, "for 1,000 commits", size / head / commits * 1000, "indexes of HEAD", MOST_BYTES),
        Figure(name, "index of the messages", report["history"]["index_bytes"] / 1e6, "MB"),
        Figure(name, "CPU with messages", cpu, "s"),
        Figure(name, "CPU with nothing to do", again, "s"),
    ]


def method_cases(clone: Path, methods: Sequence[dict[str, Any]]) -> Iterator[Case]:
    """Yield the query for each method: its documentation at the commit from which experts traced it, or its name."""
    for method in methods:
        introduced = frozenset(change["commit"] for change in method["changes"] if "INTRODUCTION" in change["tags"])
        try:
            source = read_at(clone, method["commit"], method["path"])
        except SubjectError:  # the clone lacks the commit
            continue
        documented = {one.chunk.start_line: one for one in documented_chunks(source)} if source is not None else {}
        lines = range(method["start"], method["end"] + 1)
        text = next((one.query for one in documented.values() if one.chunk.end_line in lines), "")
        yield Case(method["symbol"], text or name_in_words(method["symbol"]), introduced)


def deleted_cases(clone: Path, count: int) -> list[Case]:
    """Return queries for functions of files that commits deleted for good, chosen by their names alone."""
    cases: dict[str, Case] = {}
    present = set(git(clone, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0"))
    for commit, path in sorted(list_deletions(clone), key=lambda pair: draw(pair[1])):
        if len(cases) >= count:
            break
        try:
            source = read_at(clone, f"{commit}^", path) if path not in present else None
        except SubjectError:  # the clone lacks the file
            continue
        functions = [one for one in documented_functions(source) if not is_mentioned(clone, commit, one.chunk.symbol)]
        for one in sorted(functions, key=lambda one: draw(one.query))[:_OF_FILE]:
            cases.setdefault(one.query, Case(one.chunk.symbol, one.query, removed=commit))
    return list(cases.values())[:count]


def documented_functions(source: Source | None) -> Iterator[Documented]:
    """Yield the documented functions of a file. A comment in a further piece of a long one does not document it."""
    if source is None:
        return
    first: dict[str, Chunk] = {}
    for chunk in source.chunks:
        first.setdefault(chunk.symbol, chunk)
    for one in documented_chunks(source):
        if one.chunk.chunk_type in _FUNCTIONS and one.chunk is first[one.chunk.symbol]:
            yield one


def is_mentioned(clone: Path, commit: str, symbol: str) -> bool:
    """Return whether a tree still has the name of a function: it may have been moved without a rename of its file."""
    try:
        git(clone, "grep", "-q", "-w", "-F", symbol.rpartition(".")[2], commit)
    except SubjectError:
        return False
    return True


def list_deletions(clone: Path) -> Iterator[tuple[str, str]]:
    """Yield commits with the files of ordinary code that they deleted, not renamed."""
    output = git(
        clone, "log", "--no-merges", f"--max-count={_COMMITS}", "--diff-filter=D", "--find-renames", "--name-only",
        "--format=%x00%H", "HEAD",
    )  # fmt: skip
    for entry in output.split("\0")[1:]:
        commit, *paths = entry.split("\n")
        yield from ((commit, path) for path in paths if path and language_of(path) and not path_role(path))


def read_at(clone: Path, commit: str, path: str) -> Source | None:
    """Return a file of a commit; None if it cannot be parsed. Raises SubjectError."""
    return read_source(git_with_input(clone, b"", "cat-file", "blob", f"{commit}:{path}"), language_of(path), path)


def name_in_words(symbol: str) -> str:
    """Return the words of the last part of a symbol."""
    return " ".join(words_of(symbol.rpartition(".")[2]))


def draw(name: str) -> bytes:
    """Return the place of a name in an order that depends on nothing else."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()


def rank_case(workspace: Workspace, case: Case, misses: Path | None, seconds: float) -> int:
    """Return the place of the first result that is right, 0 if none of ten is; introductions are traced for a time."""
    hits = search_past(workspace, PastQuery(Query(case.text, 10, min_score=0.0, blame=seconds))).hits
    rank = next((place for place, hit in enumerate(hits, 1) if is_right(hit, case)), 0)
    if rank != 1 and misses is not None:
        with misses.open("a", encoding="utf-8") as file:
            file.write(f"{rank} {case}\n" + "".join(f"    {describe(hit)}\n" for hit in hits))
    return rank


def is_right(hit: PastHit, case: Case) -> bool:
    """Return whether a result has an expected commit; of a deleted function the name must be right too."""
    if case.introduced:
        return hit.introduced is not None and hit.introduced.commit in case.introduced
    same_name = hit.hit.symbol.rpartition(".")[2] == case.name.rpartition(".")[2]
    return same_name and hit.removed is not None and hit.removed.commit == case.removed


def describe(hit: PastHit) -> str:
    """Return a result as one line."""
    first, last = (details and details.commit[:9] for details in (hit.introduced, hit.removed))
    return f"{hit.hit.score:.3f} {hit.hit.path}:{hit.hit.start_line} {hit.hit.symbol} {first} {last} {hit.versions}"


def summarise(ranks: dict[str, list[int]]) -> list[Figure]:
    """Return the shares of the queries that are answered first, and among the first ten."""
    introduced, deleted = ranks["introduced"], ranks["deleted"]
    return [
        Figure("all", "methods", len(introduced)),
        Figure("all", "introducing commit first", mean(rank == 1 for rank in introduced), "", None, LEAST_FIRST),
        Figure("all", "in the first ten", mean(rank > 0 for rank in introduced), "", None, LEAST_TENTH),
        Figure("all", "deleted functions", len(deleted)),
        Figure("all", "removing commit first", mean(rank == 1 for rank in deleted)),
        Figure("all", "in the first ten", mean(rank > 0 for rank in deleted), "", None, LEAST_DELETED),
    ]

"""Mine commit histories: the message of a commit is a query, the functions that it changed are the answer.

usage: python -m models.recipe.histories OUT --repositories FOLDER [--excluded FILE ...] [--evaluation FOLDER ...]

`FOLDER/OWNER+NAME/repo` are bare clones. Writes `OUT/OWNER+NAME.jsonl`, one query per line with the tree to search (the
parent's) and the changed functions with their text, and `OUT/report.tsv`. The rules are those of `gitmem eval`. A query
is the subject and the first paragraph of the message. The same clones give the same bytes.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.answering.labelled_queries import MAX_TARGETS, NO_CODE, TOO_WIDE, LabelledQuery, mine_queries
from gitmem.chunking.languages import language_of
from gitmem.errors import GitmemError
from gitmem.git.commit_diffs import LineSpan
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_text
from gitmem.git.program import run_git
from gitmem.search.commit_subjects import clean_message
from gitmem.types import Chunk
from gitmem.workspace import open_workspace
from models.recipe.contamination import digests_of_folders
from models.recipe.pairs import Source, digest_without_comments, read_source

QUERIES: Final = 60
"""Most queries of one repository, so that none dominates."""

CHANGED_LINES: Final = range(3, 300)
"""Changed lines of a usable commit. A smaller change says little about its place, a larger one has many."""

MAX_PARAGRAPH: Final = 600
MAX_CODE: Final = 1500

TINY: Final = "change too little"
COPIED: Final = "change copies of evaluation code"
UNPARSED: Final = "change no function that can be parsed"

_PROSE: Final = ("text", "section")
_VENDORED: Final = re.compile(
    r"(?i)(?:^|/)(?:vendor(?:ed)?|third[-_]?party|external|extern|deps|bundled|node_modules|pods)/"
    r"|(?:^|/)(?:fmt|nlohmann|redis|hiredis|curl|libuv|gson|rack|abseil(?:-cpp)?|absl)/(?=.*\.(?:c|cc|cpp|h|hpp|java|rb)$)"
)
"""Copies of other projects, among them those held out, which cannot be compared by content."""


class ChangedFunction(NamedTuple):
    """Function in the tree before the commit. Lines are 1-based and inclusive."""

    path: str
    start: int
    end: int
    symbol: str
    language: str
    code: str
    digest: str


class HistoryQuery(NamedTuple):
    """Message of a commit as a query for the tree of its parent."""

    commit: str
    tree: str
    subject: str
    text: str
    functions: list[ChangedFunction]


class MinedHistory(NamedTuple):
    """Queries of a repository, and the number of rejected commits by reason."""

    queries: list[HistoryQuery]
    rejected: Counter[str]


def mine_history(clone: Path, forbidden: frozenset[str] = frozenset(), limit: int = QUERIES) -> MinedHistory:
    """Return at most `limit` queries of a bare clone, the latest commits first. Raises GitmemError."""
    location = open_workspace(clone, {}).location
    mined = mine_queries(location, 2 * limit)
    messages = read_messages(location, [query.commit for query in mined.queries])
    queries: list[HistoryQuery] = []
    for query in mined.queries:
        functions = list(_changed_functions(location, query))
        reason = _rejection(query, functions, forbidden)
        mined.rejected[reason] += bool(reason)
        if reason:
            continue
        subject, text = clean_message(*messages[query.commit], MAX_PARAGRAPH)
        queries.append(HistoryQuery(query.commit, query.tree, subject, text, functions))
        if len(queries) == limit:
            break
    return MinedHistory(queries, mined.rejected)


def read_messages(location: RepositoryLocation, commits: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return subject and body of each commit."""
    args = [
        "--no-replace-objects",
        "log",
        "--no-walk=unsorted",
        "--stdin",
        "-z",
        "--encoding=UTF-8",
        "--format=%H%n%s%n%b",
    ]
    output = run_git(args, git_dir=location.git_dir, stdin="".join(f"{oid}\n" for oid in commits).encode()).stdout
    messages = {}
    for record in output.decode("utf-8", "replace").split("\0"):
        oid, _, rest = record.partition("\n")
        subject, _, body = rest.partition("\n")
        messages[oid] = (subject, body)
    return messages


def _rejection(query: LabelledQuery, functions: Sequence[ChangedFunction], forbidden: frozenset[str]) -> str:
    """Return why a query is not used, "" if it is."""
    lines = sum(max(1, span.size) for _, spans in query.changed for span in spans)
    if lines not in CHANGED_LINES:
        return TINY if lines < CHANGED_LINES.start else TOO_WIDE
    if not functions:
        return UNPARSED if any(language_of(path_text(path)) for path, _ in query.changed) else NO_CODE
    if len(functions) > MAX_TARGETS:
        return TOO_WIDE
    return COPIED if any(one.digest in forbidden or _VENDORED.search(one.path) for one in functions) else ""


def _changed_functions(location: RepositoryLocation, query: LabelledQuery) -> Iterator[ChangedFunction]:
    for path, spans in query.changed:
        name = path_text(path)
        data = run_git(
            ["--no-replace-objects", "cat-file", "blob", f"{query.tree}:{name}"], git_dir=location.git_dir, check=False
        ).stdout
        source = read_source(data, language_of(name), name) if data and len(data) < 1_000_000 else None
        if source is None:
            continue
        for chunk in _innermost(source, spans):
            code = data[chunk.start : chunk.end].decode("utf-8", "replace")[:MAX_CODE]
            digest = digest_without_comments(source, chunk)
            yield ChangedFunction(name, chunk.start_line, chunk.end_line, chunk.symbol, source.language, code, digest)


def _innermost(source: Source, spans: Iterable[LineSpan]) -> list[Chunk]:
    """Return the innermost named chunk of each changed line, each once."""
    selected: set[int] = set()
    for span in spans:
        for line in range(span.first, span.first + max(1, span.size)):
            below = line if span.size else line + 1  # an insertion lies between two lines of the same chunk
            enclosing = [
                (chunk.end_line - chunk.start_line, number)
                for number, chunk in enumerate(source.chunks)
                if chunk.start_line <= line and below <= chunk.end_line
            ]
            selected |= {min(enclosing)[1]} if enclosing else set()
    chunks = (source.chunks[number] for number in sorted(selected))
    # A merged chunk (`A, B`) holds imports and constants: it changes along and names nothing.
    return [chunk for chunk in chunks if chunk.symbol and ", " not in chunk.symbol and chunk.chunk_type not in _PROSE]


def main(out: Path, repositories: Path, excluded: list[Path], evaluation: list[Path]) -> None:
    """Mine all clones that are not excluded."""
    names = {line.strip().lower() for file in excluded for line in file.read_text().splitlines()}
    forbidden = digests_of_folders(evaluation)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "report.tsv").open("w", encoding="utf-8") as report:
        for folder in sorted(repositories.iterdir()):
            if folder.name.replace("+", "/").lower() in names or not (folder / "repo" / "HEAD").is_file():
                continue
            try:
                mined = mine_history(folder / "repo", forbidden)
            except GitmemError as error:
                report.write(f"{folder.name}\t0\t{error}\n")
                continue
            lines = [
                json.dumps(query._asdict() | {"functions": [one._asdict() for one in query.functions]})
                for query in mined.queries
            ]
            (out / f"{folder.name}.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(mined.rejected.items()) if count)
            report.write(f"{folder.name}\t{len(mined.queries)}\t{reasons}\n")
            report.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m models.recipe.histories", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--excluded", type=Path, nargs="*", default=[])
    parser.add_argument("--evaluation", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    main(options.out, options.repositories, options.excluded, options.evaluation)

"""Whether outlines show the definitions that documents and messages of commits name.

What authors write about does not depend on the references from which `gitmem map` computes importance. A definition
counts the more, the more documents and messages have its name. An outline is compared with the best one of as many
definitions.
"""

import argparse
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.answering.map_answer import MapQuery, read_map
from gitmem.answering.searched_trees import path_weight
from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.mcp.tools.token_estimate import estimate_tokens
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace, open_workspace
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import run
from tests.bench.scoring import mean
from tests.bench.subjects import Subject, add_subject_options, git, iter_subjects, work_folder

LEAST: Final = 0.45
"""Least mean share of the best outlines."""

_MESSAGES: Final = 6_000
_DOCUMENT_CHARACTERS: Final = 200_000
_SHORTEST: Final = 3

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_COMPOUND: Final = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
_CODE_SPAN: Final = re.compile(r"``?([^`\n]{1,120})``?")
_CODE_BLOCK: Final = re.compile(r"^(```+|~~~+).*?$(.*?)^\1", re.MULTILINE | re.DOTALL)
_INDENTED: Final = re.compile(r"^(?: {4}|\t)(.*)$", re.MULTILINE)
_TRAILER: Final = re.compile(
    r"^\s*(?:signed-off|co-authored|reviewed|cc:|merge|revert).*$", re.IGNORECASE | re.MULTILINE
)
_DOCUMENT: Final = re.compile(r"\.(?:md|mdx|rst|adoc|txt)$", re.IGNORECASE)
_NO_DOCUMENT: Final = re.compile(r"(?:change|history|news|release|licen[sc]e|authors)[^/]*$", re.IGNORECASE)


class Mentions(NamedTuple):
    """In how many messages of commits and in how many documents each name occurs."""

    messages: Counter[str]
    documents: Counter[str]

    def value(self, name: str) -> float:
        """Return what an outline gains by a definition of a name."""
        if len(name) < _SHORTEST:
            return 0.0
        # In a document any word may be part of an example, so only names that no prose has count there.
        telling = bool(_COMPOUND.search(name)) or name[:1].isupper()
        return math.log2(1 + self.messages[name]) + telling * math.log2(1 + self.documents[name])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, which need their history, and the budget of an outline."""
    add_subject_options(parser, 500)
    parser.add_argument("--tokens", type=int, default=1_000, help="budget of each outline")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Outline each repository, and compare the outline with the best one."""
    with work_folder(options) as work:
        shares = {
            subject.name: measure_subject(subject, options.tokens, load_gitmem(options))
            for subject in iter_subjects(options, work)
        }
    figures = [Figure(name, "share of the best outline", share) for name, share in shares.items()]
    return [*figures, Figure("all", "share of the best outline", mean(shares.values()), at_least=LEAST)]


def measure_subject(subject: Subject, tokens: int, gitmem: Gitmem) -> float:
    """Return what the definitions of an outline gain, as a share of the most that as many can."""
    run(gitmem.index(subject.path))
    workspace = open_workspace(subject.path, os.environ)
    mentions = read_mentions(subject.path)
    values = definition_values(workspace, mentions)
    shown = read_map(workspace, MapQuery(tokens=tokens), estimate_tokens, refresh=False)
    names = [(file.path, each.symbol.rpartition(".")[2]) for file in shown.files for each in file.definitions]
    return compare_outline(names, values)


def compare_outline(shown: Sequence[tuple[str, str]], values: dict[tuple[str, str], float]) -> float:
    """Return the value of shown definitions, each a path and a name, as a share of the best ones of their number."""
    best = sum(sorted(values.values(), reverse=True)[: len(shown)])
    return sum(values.get(each, 0.0) for each in set(shown)) / best if best else 0.0


def definition_values(workspace: Workspace, mentions: Mentions) -> dict[tuple[str, str], float]:
    """Return the value of each definition of plain code by path and name; files that share a name divide its value."""
    searcher = open_searcher(workspace, WORKING_TREE, refresh=False)
    graph = searcher.names.graph(path_weight, lambda: None)
    defined: set[tuple[str, str]] = set()
    for entry in graph.files(np.arange(len(graph.blob_of)))[1].tolist():
        file = searcher.names.file(entry)
        if path_weight(file.path) == 1:
            defined.update((file.path, each.name) for each in file.all_definitions())
    files = Counter(name for _, name in defined)
    return {(path, name): mentions.value(name) / files[name] for path, name in defined}


def read_mentions(folder: Path) -> Mentions:
    """Return the names in the messages of the latest commits and in the documents of a repository."""
    messages = git(folder, "log", "-n", str(_MESSAGES), "--no-merges", "--format=%B%x00").split("\0")
    paths = [path for path in git(folder, "ls-files", "-z").split("\0") if is_document(path)]
    files = [folder / path for path in paths if (folder / path).is_file()]
    return Mentions(
        _count(map(names_in_message, messages)),
        _count(names_in_document(file.name, file.read_text("utf-8", "replace")) for file in files),
    )


def _count(sets: Iterable[set[str]]) -> Counter[str]:
    return Counter(name for names in sets for name in names)


def is_document(path: str) -> bool:
    """Return whether a path is that of a document, other than a change log or a licence."""
    return bool(_DOCUMENT.search(path)) and not _NO_DOCUMENT.search(path)


def names_in_message(message: str) -> set[str]:
    """Return the names of code in the message of a commit: those in backticks, and those of several words."""
    text = _TRAILER.sub("", message)
    compound = {name for name in _NAME.findall(text) if _COMPOUND.search(name)}
    return compound.union(*map(_NAME.findall, _CODE_SPAN.findall(text)))


def names_in_document(name: str, text: str) -> set[str]:
    """Return the words in the code of a document: blocks, backticks, and indented lines of reStructuredText."""
    text = text[:_DOCUMENT_CHARACTERS]
    blocks = [body for _, body in _CODE_BLOCK.findall(text)]
    rest = _CODE_BLOCK.sub("", text)
    indented = _INDENTED.findall(rest) if name.endswith(".rst") else []
    return set().union(*map(_NAME.findall, [*blocks, *_CODE_SPAN.findall(rest), *indented]))

"""Usages compared with those of an oracle: precision of single definitions, recall of callers, CPU time.

The CPU time of `gitmem map` is measured in the same open tree.

A sample of the calls in each repository is resolved by both. Calls for which the oracle names no definition are left
out: jedi names none for most calls without annotations. jedi belongs to the extra `bench`; `definition_oracles` has the
others.
"""

import argparse
import itertools
import os
import random
import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.answering.map_answer import MapQuery, map_of
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.answering.usage_answer import UsageQuery, usages_of
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.mcp.tools.token_estimate import estimate_tokens
from gitmem.references.file_names import CODES
from gitmem.references.resolution import Resolver
from gitmem.types import Occurrence
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.definition_calls import AskedCall
from tests.bench.definition_oracles import ORACLES
from tests.bench.figures import Figure
from tests.bench.processes import Command, median_cpu
from tests.bench.scoring import mean
from tests.bench.subjects import Subject, add_subject_options, iter_subjects, work_folder

LEAST_PRECISION: Final = 0.95
LEAST_RECALL: Final = 0.85
MOST_MS: Final = 10
MOST_COLD: Final = 1.3
MOST_MAP_MS: Final = 200
MAP_WORDS: Final = ("", "read the configuration", "parse a request", "write the file", "close the connection")
FILES: Final = 10_000
"""Files of the synthetic repository: about 50,000 chunks."""

NAMES: Final = 200
ROUNDS: Final = 5

SAMPLED: Final = 8
"""Calls that an oracle is asked for one that counts: many are a library's."""


@dataclass(slots=True)
class Agreement:
    """Calls that the oracle resolves to a definition of the repository, or of a library, and how gitmem does."""

    inside: int = 0
    hits: int = 0
    single: int = 0
    right: int = 0
    by_rule: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, rule: str, expected: set[tuple[str, int]], actual: set[tuple[str, int]], *, single: bool) -> None:
        """Count one call, with its definitions as paths and lines."""
        correct = not expected.isdisjoint(actual)
        self.inside += bool(expected)
        self.hits += correct
        if single:
            self.single += 1
            self.right += correct
            self.by_rule.setdefault(rule, []).append(correct)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the size of the sample."""
    add_subject_options(parser, FILES)
    parser.add_argument("--calls", type=int, default=300, help="calls of each repository with a definition in it")
    parser.add_argument("--seconds", type=float, default=100, help="CPU time of jedi for each repository")
    parser.add_argument("--oracle", choices=sorted(ORACLES), default="jedi", help="type checker to compare with")
    parser.add_argument("--typescript", type=Path, metavar="FOLDER", help="installed package `typescript`")
    parser.add_argument("--server", default="", metavar="COMMAND", help="command of the language server or compiler")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="calls that the repository's tests made")
    parser.add_argument("--misses", action="store_true", help="print the calls that differ")
    parser.add_argument("--no-times", action="store_true", help="compare with the oracle only")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, compare the definitions of its calls with those of the oracle, and measure the time."""
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            report, _ = load_gitmem(options).index_report(subject.path)
            figures.append(Figure(subject.name, "chunks in the index", report["chunks"]))
            searcher = open_searcher(open_workspace(subject.path, os.environ), WORKING_TREE, ("code",), refresh=False)
            if options.repo:
                figures += agreement_figures(subject.name, compare(subject.path, searcher, options))
            if not options.no_times:
                figures += time_figures(subject, searcher, options)
    return figures


def compare(root: Path, searcher: Searcher, options: argparse.Namespace) -> Agreement:
    """Resolve calls in random order by gitmem and by an oracle, until there are enough or the time is over."""
    oracle = ORACLES[options.oracle]
    calls = list(itertools.islice(sample_calls(root, searcher, oracle.extensions), SAMPLED * options.calls))
    resolver, agreement = Resolver(searcher.names), Agreement()
    end = time.process_time() + options.seconds
    answers = oracle.answer(root, [asked for asked, _ in calls], options)
    for (asked, call), expected in zip(calls, answers, strict=False):
        if agreement.inside >= options.calls or time.process_time() > end:
            break
        if expected is None:
            continue
        entry = searcher.view.find(asked.path.encode())
        assert entry is not None
        file = searcher.names.file(entry)
        resolution = resolver.resolve(file, call.name.decode(), call.receiver.decode(), call.line)
        actual = {(searcher.names.file(each.entry).path, each.line) for each in resolution.definitions}
        if options.misses and expected.isdisjoint(actual) and (expected or resolution.is_sure):
            print(
                f"{asked.path}:{asked.line}: {call.name.decode()} {resolution.rule}", sorted(expected), sorted(actual)
            )
        agreement.add(resolution.rule, expected, actual, single=resolution.is_sure)
    return agreement


def sample_calls(root: Path, searcher: Searcher, extensions: tuple[str, ...]) -> Iterator[tuple[AskedCall, Occurrence]]:
    """Yield the calls of all files of a language in random order; those twice on a line are left out."""
    ends = tuple(extension.encode() for extension in extensions)
    places = [
        (entry, place)
        for entry, path in enumerate(searcher.view.paths)
        if path.endswith(ends) and searcher.names.has_names(entry)
        for place in np.flatnonzero(searcher.names.file(entry).occurrences.kinds == CODES["call"]).tolist()
    ]
    random.Random(7).shuffle(places)
    for entry, place in places:
        file = searcher.names.file(entry)
        (call,) = file.occurrences.at([place])
        lines = (root / file.path).read_text(encoding="utf-8", errors="replace").split("\n")
        line = lines[call.line - 1]
        end = r"(?!\w)" if extensions == (".rb",) else r"(?=\s*\()"  # calls of Ruby need no brackets
        columns = [each.start() for each in re.finditer(rf"\b{re.escape(call.name.decode())}{end}", line)]
        # Programs count columns in bytes or in units of UTF-16.
        if len(columns) == 1 and line.isascii():
            yield AskedCall(file.path, call.line, columns[0]), call


def agreement_figures(subject: str, agreement: Agreement) -> list[Figure]:
    """Return precision, recall and the shares of the rules."""
    precision = agreement.right / agreement.single if agreement.single else None
    recall = agreement.hits / agreement.inside if agreement.inside else None
    rules = [
        Figure(subject, f"precision by {rule}, {len(correct)} calls", mean(correct))
        for rule, correct in sorted(agreement.by_rule.items())
    ]
    return [
        Figure(subject, "calls with a definition", agreement.inside),
        Figure(subject, "precision of single definitions", precision, at_least=LEAST_PRECISION),
        Figure(subject, "recall of callers", recall, at_least=LEAST_RECALL),
        *rules,
    ]


def time_figures(subject: Subject, searcher: Searcher, options: argparse.Namespace) -> list[Figure]:
    """Return the CPU time of usages of random names in an open tree, and that of a command relative to a query."""
    names = sample_names(searcher)
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        times: list[float] = []
        for _ in range(2):  # the first round reads each block of the index once
            times = []
            for name in names:
                started = time.process_time()
                usages_of(searcher, UsageQuery(name), reader)
                times.append(1000 * (time.process_time() - started))
        maps = [map_time(searcher, reader, text) for _ in range(2) for text in MAP_WORDS][-len(MAP_WORDS) :]
    words = load_gitmem(options).words
    commands = {
        "query": Command([*words, "query", names[0]], cwd=subject.path, expect=(0, 1)),
        "usages": Command([*words, "usages", names[0]], cwd=subject.path, expect=(0, 1)),
    }
    cold = median_cpu(commands, ROUNDS)
    return [
        Figure(subject.name, "usages in an open tree, median", statistics.median(times), "ms CPU", at_most=MOST_MS),
        Figure(subject.name, "usages in an open tree, 95 of 100", sorted(times)[int(len(times) * 0.95)], "ms CPU"),
        Figure(subject.name, "map in an open tree, slowest", max(maps), "ms CPU", at_most=MOST_MAP_MS),
        Figure(subject.name, "cold usages", cold["usages"] / cold["query"], "x a query", at_most=MOST_COLD),
    ]


def map_time(searcher: Searcher, reader: ObjectReader, text: str) -> float:
    """Return the CPU time of one outline in milliseconds."""
    started = time.process_time()
    map_of(searcher, MapQuery(text), estimate_tokens, reader)
    return 1000 * (time.process_time() - started)


def sample_names(searcher: Searcher) -> list[str]:
    """Return names of definitions of the repository."""
    entries = [entry for entry in range(len(searcher.view)) if searcher.names.has_names(entry)]
    chosen = random.Random(7).sample(entries, min(NAMES, len(entries)))
    names = [each.name for entry in chosen for each in searcher.names.file(entry).all_definitions()[:1]]
    return names or ["main"]

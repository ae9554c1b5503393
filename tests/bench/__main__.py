"""Command line: run a benchmark, print its table, and append its figures to a file with `--json`."""

import argparse
import os
import sys
from pathlib import Path
from typing import Final, Protocol

from gitmem.registry import OFF_VARIABLE
from tests.bench import (
    ablation,
    bisect_hints,
    calibration,
    call_questions,
    change_requests,
    cold,
    contradicting_notes,
    conversation_quality,
    definition_choice,
    definitions,
    document_quality,
    fit_calibration,
    fit_code_weights,
    fit_document_weights,
    fit_history_weights,
    fit_past_weights,
    fit_request_words,
    fit_unit_weights,
    history,
    hook,
    http_search,
    idle,
    index,
    index_pull,
    issues,
    long_query,
    many_notes,
    many_repositories,
    mcp_server,
    memory,
    mixed_kinds,
    name_cost,
    name_quality,
    org,
    org_cluster,
    org_graph,
    org_quality,
    outline_quality,
    past_search,
    quality,
    quality_together,
    quotations,
    reference_recall,
    refresh,
    scale,
    secret_scan,
    served,
    server_memory,
    sharing_cost,
    similar_notes,
    size,
    token_cost,
    usages,
    warm,
)
from tests.bench.commands import add_program_options
from tests.bench.figures import Figure, format_columns, format_table
from tests.bench.processes import CommandFailed
from tests.bench.records import append_run
from tests.bench.subjects import SubjectError


class Benchmark(Protocol):
    """Interface of a benchmark's module; the first line of its docstring is its help."""

    __doc__: str | None

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this benchmark."""

    def measure(self, options: argparse.Namespace) -> list[Figure]:
        """Run the benchmark and return its figures."""


BENCHMARKS: Final[dict[str, Benchmark]] = {
    "call-questions": call_questions,
    "change-requests": change_requests,
    "cold": cold,
    "contradicting-notes": contradicting_notes,
    "conversation-quality": conversation_quality,
    "definition-choice": definition_choice,
    "definitions": definitions,
    "long-query": long_query,
    "index": index,
    "index-pull": index_pull,
    "served": served,
    "sharing-cost": sharing_cost,
    "idle": idle,
    "name-cost": name_cost,
    "refresh": refresh,
    "hook": hook,
    "scale": scale,
    "warm": warm,
    "size": size,
    "secret-scan": secret_scan,
    "memory": memory,
    "mcp-server": mcp_server,
    "http-search": http_search,
    "server-memory": server_memory,
    "quality": quality,
    "quality-together": quality_together,
    "quotations": quotations,
    "issues": issues,
    "history": history,
    "name-quality": name_quality,
    "outline-quality": outline_quality,
    "past-search": past_search,
    "bisect-hints": bisect_hints,
    "usages": usages,
    "reference-recall": reference_recall,
    "document-quality": document_quality,
    "mixed-kinds": mixed_kinds,
    "calibration": calibration,
    "many-notes": many_notes,
    "many-repositories": many_repositories,
    "org": org,
    "org-cluster": org_cluster,
    "org-graph": org_graph,
    "org-quality": org_quality,
    "similar-notes": similar_notes,
    "token-cost": token_cost,
    "ablation": ablation,
    "fit-calibration": fit_calibration,
    "fit-code-weights": fit_code_weights,
    "fit-document-weights": fit_document_weights,
    "fit-history-weights": fit_history_weights,
    "fit-past-weights": fit_past_weights,
    "fit-request-words": fit_request_words,
    "fit-unit-weights": fit_unit_weights,
}


def main(args: list[str] | None = None) -> int:
    """Run the benchmark named on the command line."""
    options = build_parser().parse_args(args)
    # Without compiled modules every measured start would compile them.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Copies that are measured would remain in the user's list of repositories.
    os.environ.setdefault(OFF_VARIABLE, "1")
    try:
        figures = BENCHMARKS[options.benchmark].measure(options)
    except (CommandFailed, SubjectError) as problem:
        print(problem, file=sys.stderr)
        return 1
    print((format_columns if options.benchmark == "scale" else format_table)(figures))
    if options.json:
        append_run(options.json, options.benchmark, figures)
    return 0


def build_parser() -> argparse.ArgumentParser:
    """Build a parser with one subcommand for each benchmark and the shared options."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    commands = parser.add_subparsers(dest="benchmark", required=True, metavar="NAME")
    for name, benchmark in BENCHMARKS.items():
        summary = (benchmark.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=summary, description=benchmark.__doc__)
        add_program_options(command)
        command.add_argument("--work", type=Path, help="folder for working copies (default: a temporary one)")
        command.add_argument("--json", type=Path, metavar="FILE", help="append the figures to this file")
        benchmark.add_options(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())

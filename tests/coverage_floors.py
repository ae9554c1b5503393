"""Combine the coverage data of the test processes and compare it with the floors."""

import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from coverage import Coverage
from coverage.exceptions import CoverageException, CoverageWarning

LINES: Final[Mapping[str, float]] = {
    "gitmem/": 90.0,
    "gitmem/chunking/": 95.0,
    "gitmem/mcp/tools/": 95.0,
    "gitmem/search/": 95.0,
}
"""Least share of covered lines of all files in a folder, in per cent."""

BRANCHES: Final[Mapping[str, float]] = {"gitmem/": 80.0}
"""Least share of covered branches. One number for lines and branches would let one hide behind the other."""

_MOST_FILES: Final = 10


def hold(data: Path) -> bool:
    """Print the coverage of the processes that wrote beside `data`; return whether it reaches the floors."""
    measured = Coverage(data_file=str(data))
    report = data.with_name("report.json")
    with warnings.catch_warnings(record=True) as unreadable:
        warnings.simplefilter("always")
        try:
            measured.combine()
            measured.json_report(outfile=str(report))
        except CoverageException as error:
            print(f"no coverage: {error}")
            return False
    # Tests kill processes, some of them while coverage writes its file.
    damaged = sum(issubclass(warning.category, CoverageWarning) for warning in unreadable)
    if damaged:
        print(f"{damaged} data files of killed processes are not readable and do not count")
    files = {name: file["summary"] for name, file in json.loads(report.read_text())["files"].items()}
    print_least_covered(files)
    return check_floors(files)


def print_least_covered(files: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the files with the most lines that no test runs."""
    ranked = sorted(files.items(), key=lambda item: -item[1]["missing_lines"])
    for name, summary in ranked[:_MOST_FILES]:
        if summary["missing_lines"]:
            print(f"{summary['missing_lines']:5} lines of {name} are not covered")


def check_floors(files: Mapping[str, Mapping[str, Any]]) -> bool:
    """Print the shares beside their floors; return whether all floors are reached."""
    shares = [*_shares(files, LINES, "lines", "covered_lines", "num_statements")]
    shares += _shares(files, BRANCHES, "branches", "covered_branches", "num_branches")
    for text, _ in shares:
        print(text)
    return all(reached for _, reached in shares)


def _shares(
    files: Mapping[str, Mapping[str, Any]], floors: Mapping[str, float], unit: str, covered: str, total: str
) -> Iterator[tuple[str, bool]]:
    for folder, floor in floors.items():
        chosen = [summary for name, summary in files.items() if name.startswith(folder)]
        count = sum(summary[covered] for summary in chosen)
        of = sum(summary[total] for summary in chosen)
        share = 100 * count / of if of else 0.0
        yield f"{folder}: {share:.1f} % of the {unit} are covered, floor {floor:.0f} %", share >= floor

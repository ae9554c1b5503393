"""Peak memory of a full index, summed over all its processes, and its CPU time.

The sum of resident sizes counts shared pages once per process. Proportional sizes (PSS) divide them between the
processes, so their sum is the memory in use. Both are sampled from /proc, so this benchmark runs on Linux only.
"""

import argparse
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.commands import add_rival_options, find_rival, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import Command, require_success
from tests.bench.subjects import SubjectError, add_subject_options, git, iter_subjects, work_folder

LIMIT: Final = 1024
FILES: Final = 50_000
INTERVAL: Final = 0.05
PROC: Final = Path("/proc")


@dataclass(slots=True)
class Peak:
    """Largest sums in kB, the largest number of processes, the CPU and elapsed seconds, and the standard output."""

    resident: int = 0
    proportional: int = 0
    processes: int = 0
    cpu: float = 0.0
    elapsed: float = 0.0
    output: bytes = b""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, the bound and the rival."""
    add_subject_options(parser, FILES)
    add_rival_options(parser)
    parser.add_argument("--graph", action="store_true", help="also build the neighbour graph")
    parser.add_argument("--max-memory", type=int, default=LIMIT, metavar="MIB", help="gitmem.maxMemory of the run")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every repository from scratch and sample its memory."""
    if not (PROC / "self/smaps_rollup").exists():
        raise SubjectError("memory is sampled from /proc, which this system lacks")
    gitmem, rival = load_gitmem(options), find_rival(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            git(subject.path, "config", "gitmem.maxMemory", f"{options.max_memory}m")
            figures += describe(subject.name, "full index", watch(gitmem.index(subject.path)), options.max_memory)
            if options.graph:
                peak = watch(gitmem.index(subject.path, "--graph"))
                figures += describe(subject.name, "neighbour graph", peak, options.max_memory)
            if rival:
                cache = work / "rival"
                shutil.rmtree(cache, ignore_errors=True)
                cache.mkdir()
                peak = watch(rival.search(subject.path, "how is a request handled", cache))
                figures += describe(subject.name, "rival's full index", peak, None)
    return figures


def describe(subject: str, name: str, peak: Peak, bar: float | None) -> list[Figure]:
    """Return a peak as figures; the limit applies to the proportional size."""
    return [
        Figure(subject, f"{name}, processes", peak.processes),
        Figure(subject, f"{name}, resident sizes added up", peak.resident / 1024, "MiB"),
        Figure(subject, f"{name}, memory", peak.proportional / 1024, "MiB", at_most=bar),
        Figure(subject, f"{name}, CPU", peak.cpu, "s CPU"),
    ]


def watch(command: Command, interval: float = INTERVAL) -> Peak:
    """Run a command to its end, sampling the memory of its process tree. Its output must fit into a pipe."""
    peak = Peak()
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(
        command.args,
        cwd=command.cwd,
        env=command.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while process.poll() is None:
            sample(process.pid, peak)
            time.sleep(interval)
        peak.output, errors = process.communicate()
    peak.elapsed = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    require_success(command, process.returncode, errors)
    return peak


def sample(root: int, peak: Peak) -> None:
    """Sum the current process tree and update the peak."""
    tree = process_tree(root)
    sizes = [read_sizes(pid) for pid in tree]
    peak.processes = max(peak.processes, len(tree))
    peak.resident = max(peak.resident, sum(resident for resident, _ in sizes))
    peak.proportional = max(peak.proportional, sum(proportional for _, proportional in sizes))


def process_tree(root: int) -> list[int]:
    """Return a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (parent := find_parent(folder)) is not None:
            children.setdefault(parent, []).append(int(folder.name))
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


def find_parent(folder: Path) -> int | None:
    """Return the parent of the process with this folder, or None if it has ended."""
    try:
        # The name is in brackets and may contain anything, so count the fields after its end.
        return int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None


def read_sizes(pid: int) -> tuple[int, int]:
    """Return resident and proportional size in kB; zero if the process has ended."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    fields = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
    return fields.get("Rss", 0), fields.get("Pss", 0)

"""The entry point of the console script: run a command, print errors as two lines, exit with the documented code.

Modules of gitmem are imported inside functions here, so that an interrupt during an import is handled as well.
"""

import gc
import io
import os
import sys

_FAILED = 5
"""`ExitCode.FAILED`, for the case that `gitmem.errors` itself cannot be imported."""

_GC_THRESHOLD = 200_000
"""Allocations before the first garbage collection. Imports and reports make some 150,000 objects that stay: two
collections took 10 ms of every `gitmem index`."""


def main() -> None:
    """Run the command line of this process and exit with the command's code."""
    gc.set_threshold(_GC_THRESHOLD)
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # importing numpy would start a thread per core, for tiny products
    try:
        _occupy_standard_streams()
        answered = _ask_server(sys.argv[1:])
        code = run(sys.argv[1:]) if answered is None else answered
        sys.stderr.flush()
    except KeyboardInterrupt:
        from gitmem.errors import ExitCode

        code = ExitCode.INTERRUPTED
    # The interpreter's shutdown costs a fifth of a query, and an interrupt during it would print a traceback.
    os._exit(code)


def _ask_server(args: list[str]) -> int | None:
    """Print the answer of a running gitmem and return the exit code; None if this process must answer."""
    try:
        from gitmem.cli.ask_server import ask_server

        return ask_server(args)
    except KeyboardInterrupt as interrupt:
        return _interrupted(interrupt)
    except Exception as problem:
        return _report(problem)


def run(args: list[str]) -> int:
    """Run a command line and return the exit code. Raises nothing except for a second interrupt."""
    try:
        from gitmem.errors import ExitCode

        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a path must not fail on the terminal's encoding
        code: int | None = _run_fast_path(args)
        if code is None:
            from gitmem.cli.root import invoke

            code = invoke(args)
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        return _interrupted(interrupt)
    except BrokenPipeError:
        return ExitCode.OK  # the reader, `head` for example, closed the pipe because it has enough
    except Exception as problem:
        return _report(problem)
    return code


def _report(problem: Exception) -> int:
    """Print an error. If memory or descriptors are too scarce to import the formatter, print it plainly."""
    try:
        from gitmem.cli.error_output import report

        return report(problem, os.environ)
    except (ImportError, MemoryError, OSError, SystemError):  # the last is how Python, rarely, reports lack of memory
        message = "" if isinstance(problem, MemoryError) else str(problem)
        sys.stderr.write(f"error: {message or 'out of memory'}\n{_conflict_hint(problem)}")
    return _FAILED


def _conflict_hint(problem: Exception) -> str:
    """Return the remedy as a line if a module of gitmem is missing, or replaced by another project's distribution."""
    if not isinstance(problem, ImportError) or not (problem.name or "").startswith("gitmem"):
        return ""
    from gitmem.distribution import conflict_remedy, find_conflicts

    return f"hint: {conflict_remedy(find_conflicts())}\n"


def _run_fast_path(args: list[str]) -> int | None:
    """Run the commands that programs call repeatedly without click: hooks, `gitmem index`, and most queries."""
    if args[:1] == ["hook"]:
        from gitmem.cli.hook import run_hook

        return run_hook(args[1:])
    if args == ["index"]:
        from gitmem.cli.fast_path import index_head

        return index_head()
    from gitmem.cli.ask_server import only_reads

    if only_reads(args):
        from gitmem.numpy_core import import_core_only

        import_core_only()
    from gitmem.cli.plain_query import parse_plain_query

    query = parse_plain_query(args, os.environ)
    if query is None:
        return None
    from gitmem.cli.plain_search import run_plain_query

    return run_plain_query(query)


def _occupy_standard_streams() -> None:
    """Open closed standard streams on the null device: otherwise the next opened file would get the stream's number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 (open for as long as the process)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _interrupted(interrupt: KeyboardInterrupt) -> int:
    """Print the notes of an interrupt, for example how to continue a run, and return the exit code."""
    from gitmem.errors import ExitCode

    if sys.stderr.isatty():
        sys.stderr.write("\n")  # the terminal has echoed ^C without a line end
    for note in getattr(interrupt, "__notes__", ()):
        sys.stderr.write(f"{note}\n")
    return ExitCode.INTERRUPTED

"""The console entry. Whatever happens below, a person sees an answer, or two lines: what went wrong and what helps.

Nothing is imported here before interrupts are caught.
"""

import gc
import io
import os
import sys

_FAILED = 5
"""`ExitCode.FAILED`, for the case that `gitmem.errors` itself cannot be imported."""

_GARBAGE = 50_000
"""Objects made before the first search for garbage: imports make thousands, none of them garbage."""


def main() -> None:
    """Run the command line of this process and end it with the command's exit code."""
    gc.set_threshold(_GARBAGE)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's import would start a thread a core, for tiny products
    try:
        _occupy_standard_streams()
        code = run(sys.argv[1:])
        sys.stderr.flush()
    except KeyboardInterrupt:
        from gitmem.errors import ExitCode

        code = ExitCode.INTERRUPTED
    # Taking down the interpreter would cost a fifth of a query, and a late interrupt would be shown as a traceback.
    os._exit(code)


def run(args: list[str]) -> int:
    """Run a command line to its end; returns the exit code, never raises but for a second interrupt."""
    try:
        from gitmem.errors import ExitCode

        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # no encoding may cost a result
        code: int | None = _run_quickly(args)
        if code is None:
            from gitmem.cli.root import invoke

            code = invoke(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        return ExitCode.OK  # whoever read the output has enough
    except Exception as problem:
        return _report(problem)
    return code


def _report(problem: Exception) -> int:
    """Tell what went wrong; plainly where too little memory or too few files are left for what tells it well."""
    try:
        from gitmem.cli.error_output import report

        return report(problem, os.environ)
    except (ImportError, MemoryError):
        sys.stderr.write(f"error: {problem or 'out of memory'}\n{_conflict_hint(problem)}")
    return _FAILED


def _conflict_hint(problem: Exception) -> str:
    """Return the remedy as a line if another project's distribution has replaced modules of gitmem."""
    if not isinstance(problem, ImportError):
        return ""
    from gitmem.distribution import conflict_remedy, find_conflicts

    names = find_conflicts()
    return f"hint: {conflict_remedy(names)}\n" if names else ""


def _run_quickly(args: list[str]) -> int | None:
    """What machines call again and again needs no parser: hooks, and `gitmem index` with nothing to do."""
    if args[:1] == ["hook"]:
        from gitmem.cli.hook import run_hook

        return run_hook(args[1:])
    if args != ["index"]:
        return None
    from gitmem.cli.fast_path import answer_if_current

    return answer_if_current()


def _occupy_standard_streams() -> None:
    """Where one of them is closed, the next file opened would take its number, and be written to as if it were it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 (open for as long as the process)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _interrupted() -> int:
    from gitmem.errors import ExitCode

    if sys.stderr.isatty():
        sys.stderr.write("\n")  # ends the line with the terminal's ^C
    return ExitCode.INTERRUPTED

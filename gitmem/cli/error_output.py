"""Errors as two lines on standard error, `error:` and `hint:`, and their exit codes."""

import errno
import sys
from collections.abc import Mapping

from gitmem.cli import console
from gitmem.cli.style import fold, terminal_width
from gitmem.display import visible
from gitmem.errors import ExitCode, GitmemError

DEBUG_VARIABLE = "GITMEM_DEBUG"
_FEWER = "close other programs, or index with fewer processes: git config gitmem.jobs 1"


def report(problem: Exception, environment: Mapping[str, str]) -> ExitCode:
    """Print an error on standard error; return its exit code. With GITMEM_DEBUG set, print the traceback too.

    Raises: OSError, ImportError or MemoryError, before it has printed a line, if memory or descriptors are too scarce.
    """
    if environment.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(problem, file=console.stderr())
    message, hint, code = explain(problem)
    for line in [_shown_line(line) for line in (f"error: {message}", f"hint: {hint}" if hint else "") if line]:
        _print(line)
    return code


def explain(problem: Exception) -> tuple[str, str, ExitCode]:
    """Return message, hint (may be "") and exit code of an error."""
    if isinstance(problem, GitmemError):
        return problem.message, problem.hint, problem.exit_code
    click = sys.modules.get("click")  # an error of it can only occur if it is loaded
    if click is not None and isinstance(problem, click.ClickException):
        from gitmem.cli.usage_errors import explain_usage

        return (*explain_usage(problem), ExitCode.USAGE)
    if _is_out_of_memory(problem):
        return "out of memory", _FEWER, ExitCode.FAILED
    if isinstance(problem, RuntimeError) and "start new thread" in str(problem):
        return "cannot start a thread: out of memory, or too many processes", _FEWER, ExitCode.FAILED
    if isinstance(problem, OSError) and problem.strerror:
        place = f": {problem.filename}" if problem.filename else ""
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT) and not place
        hint = "the output is redirected to a full disk" if full else _debug_hint()
        return f"{problem.strerror}{place}", hint, ExitCode.FAILED
    return f"gitmem failed: {type(problem).__name__}: {problem}", _debug_hint(), ExitCode.FAILED


def _is_out_of_memory(problem: BaseException) -> bool:
    """Return whether memory ran out. A library that cannot be loaded for that reason says so only in its message."""
    if isinstance(problem, ImportError):
        message = str(problem).lower()
        return "cannot allocate memory" in message or "failed to map segment" in message
    return isinstance(problem, MemoryError) or getattr(problem, "errno", None) == errno.ENOMEM


def _debug_hint() -> str:
    return f"run it again with {DEBUG_VARIABLE}=1 for the traceback"


def say(line: str) -> None:
    """Write one line to standard error, with secrets as dots.

    A failure to write is ignored, because it could be reported nowhere else.
    """
    _print(_shown_line(line))


def _shown_line(line: str) -> str:
    """Return a line with secrets as dots and unsafe characters as escapes."""
    from gitmem.cli.shown_secrets import shown_text  # most commands say nothing

    return visible(shown_text(line))


def _print(line: str) -> None:
    try:
        # A hint may be a command, which must stay one line to be pasted.
        if not line.startswith("hint: ") and console.stderr().isatty():
            line = fold(line, terminal_width(console.environment()))
        print(line, file=console.stderr())
    except (OSError, ValueError, AttributeError):
        return

"""Errors as two lines on standard error, `error:` and `hint:`, and their exit codes."""

import errno
import sys
from collections.abc import Mapping

import click

from gitmem.display import visible
from gitmem.errors import ExitCode, GitmemError

DEBUG_VARIABLE = "GITMEM_DEBUG"
_FEWER = "close other programs, or index with fewer processes: git config gitmem.jobs 1"


def report(problem: Exception, environment: Mapping[str, str]) -> ExitCode:
    """Print an error on standard error; return its exit code. With GITMEM_DEBUG set, print the traceback too."""
    if environment.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(problem)
    message, hint, code = explain(problem)
    say(f"error: {message}")
    if hint:
        say(f"hint: {hint}")
    return code


def explain(problem: Exception) -> tuple[str, str, ExitCode]:
    """Return message, hint (may be "") and exit code of an error."""
    if isinstance(problem, GitmemError):
        return problem.message, problem.hint, problem.exit_code
    if isinstance(problem, click.ClickException):
        return _usage(problem)
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


def _usage(problem: click.ClickException) -> tuple[str, str, ExitCode]:
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "gitmem"
    message = " ".join(problem.format_message().split()).rstrip(".")
    return message[:1].lower() + message[1:], f"{command} --help", ExitCode.USAGE


def say(line: str) -> None:
    """Write one line to standard error. Ignore a failure, which could be reported nowhere else."""
    try:
        print(visible(line), file=sys.stderr)
    except (OSError, ValueError, AttributeError):
        return

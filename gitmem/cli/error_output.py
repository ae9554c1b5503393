"""Errors as two lines on standard error, `error:` and `hint:`, and their exit codes."""

import errno
from collections.abc import Iterable, Mapping

import click

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
    message, hint = _describe_usage(problem, f"{command} --help")
    return message, hint, ExitCode.USAGE


def _describe_usage(problem: click.ClickException, help_command: str) -> tuple[str, str]:
    """Return message and hint of a usage error. The cases that name a value are formatted as gitmem's own errors."""
    if isinstance(problem, click.NoSuchOption):
        return f"no such option: `{problem.option_name}`", _option_hint(problem) or help_command
    choices = getattr(getattr(getattr(problem, "param", None), "type", None), "choices", ())
    if isinstance(problem, click.BadParameter) and choices and problem.param and "is not one of" in problem.message:
        value = problem.message.partition(" is not one of")[0].strip("'\"")
        name = next(
            (option for option in problem.param.opts if option.startswith("--")), problem.param.human_readable_name
        )
        similar = _find_similar(value, map(str, choices))
        advice = f"did you mean `{similar}`? " if similar else ""
        return f"`{name}` is `{value}`, expected one of: {', '.join(map(str, choices))}", advice + help_command
    message = " ".join(problem.format_message().split()).rstrip(".")
    return message[:1].lower() + message[1:], help_command


def _option_hint(problem: click.NoSuchOption) -> str:
    """Return the option that a wrong one may mean; click itself suggests options that only share a few letters."""
    context = problem.ctx
    if context is None:
        return ""
    options = [option for param in context.command.get_params(context) for option in param.opts]
    similar = _find_similar(problem.option_name, options)
    if similar:
        return f"did you mean `{similar}`?"
    leading = getattr(context.command, "leading_dash_hint", None)
    return leading(problem.option_name) if leading else ""


def _find_similar(name: str, known: Iterable[str]) -> str:
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong names only

    return find_similar_name(name, known)


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

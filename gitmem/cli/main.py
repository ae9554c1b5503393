"""The console entry. Whatever happens below, a person sees an answer, or two lines: what went wrong and what helps.

Nothing is imported here before interrupts are caught.
"""

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process and end it with the command's exit code."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def run(args: list[str]) -> int:
    """Run a command line to its end; returns the exit code, never raises but for a second interrupt."""
    try:
        from gitmem.cli.root import invoke

        code = invoke(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        return _reader_gone()
    except Exception as problem:
        from gitmem.cli.failures import report

        return report(problem, os.environ)
    return code


def _interrupted() -> int:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("\n")  # ends the line with the terminal's ^C
    return INTERRUPTED


def _reader_gone() -> int:
    """Whoever read the output has enough: the rest goes nowhere, and the interpreter must not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0

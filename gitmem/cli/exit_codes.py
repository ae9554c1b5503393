"""Meaning of each exit code for users, as the reference and the manual print it."""

from typing import Final

from gitmem.errors import ExitCode

EXIT_CODES: Final = {
    ExitCode.OK: "The command succeeded; a search has results.",
    ExitCode.NO_RESULTS: "A search has no results, or `gitmem eval` found too few commits.",
    ExitCode.USAGE: "An argument or a setting is wrong.",
    ExitCode.NO_INDEX: "The repository has no index yet.",
    ExitCode.BUSY: "Another process is writing the index (`--no-wait`).",
    ExitCode.FAILED: "The command failed, or succeeded only in part.",
    ExitCode.INTERRUPTED: "The command was interrupted.",
}
"""Meaning of each exit code."""

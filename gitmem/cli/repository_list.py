"""The list of the registered repositories, as `gitmem repos list` and `gitmem status --all` print it."""

import os
from typing import Final

from gitmem.actions.repository_rows import list_lines, read_rows, row_json, totals_json
from gitmem.cli.context import write_json
from gitmem.cli.error_output import say
from gitmem.cli.invocation import current_invocation
from gitmem.cli.style import print_line
from gitmem.registry import registry_file

_OFF: Final = "the registry of repositories is disabled (unset GITMEM_NO_REGISTRY, and set HOME)"


def print_repositories(*, as_json: bool) -> None:
    """Print a line or JSON for each registered repository, and the sums."""
    rows = read_rows(os.environ)
    if as_json:
        write_json({"repositories": [row_json(row) for row in rows], "totals": totals_json(rows)})
        return
    for line in list_lines(rows):
        print_line(line)
    if not rows and not current_invocation().quiet:
        is_off = registry_file(os.environ) is None
        say(f"note: {_OFF if is_off else 'no repository is known (gitmem repos add PATH)'}")

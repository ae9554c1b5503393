"""The list of the registered repositories."""

from collections.abc import Mapping

from gitmem.actions.repository_rows import list_lines, read_rows, row_json, totals_json
from gitmem.errors import UsageError
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.descriptions import LIST_MAX
from gitmem.mcp.tools.json_output import dump, fit_values
from gitmem.mcp.tools.text_output import Block, render_blocks


def list_repositories(environment: Mapping[str, str], arguments: Arguments) -> str:
    """List the registered repositories in order of name, with the sums over all of them."""
    if arguments["type"]:
        raise UsageError("repositories have no type", hint="leave out `type`")
    # All are read, although few may be shown: the sums are over all.
    rows = read_rows(environment)
    shown = rows[: arguments["limit"]]
    if arguments["format"] == "json":
        items, omitted = fit_values([row_json(row) for row in shown])
        omitted += len(rows) - len(shown)
        return dump({"what": arguments["what"], "items": items, "omitted": omitted, "totals": totals_json(rows)})
    # The last line has the sums over all repositories.
    lines = list_lines(rows)
    notes = [] if rows else ["no repository is known; the user can add one: gitmem repos add PATH"]
    if len(shown) < len(rows):
        advice = "raise the limit" if len(shown) < LIST_MAX else "the user can list all of them: gitmem repos list"
        notes.append(f"{len(rows) - len(shown)} more; {advice}")
    blocks = [Block(line, []) for line in lines[: len(shown)]]
    return render_blocks(blocks, lines[-1] if lines else "registry", notes, advice="lower the limit")

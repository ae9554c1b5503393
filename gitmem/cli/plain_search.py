"""Run a query that was parsed without click. Events, output and errors are those of the command."""

from gitmem.answering.search_query import Query
from gitmem.cli.answer_output import Format
from gitmem.cli.context import open_here
from gitmem.cli.invocation import Invocation, begin, invocation_scope
from gitmem.cli.plain_query import FLAGS, PlainQuery
from gitmem.cli.tree_search import hint_at_paths, nested_names, read_query, search_trees
from gitmem.errors import ExitCode
from gitmem.events import measured
from gitmem.freshness.tree_selection import WORKING_TREE


def run_plain_query(plain: PlainQuery) -> ExitCode:
    """Run the query and return its exit code. Raises what the command raises."""
    command, _, folder, flags = plain.line
    with invocation_scope(), measured(f"cli.{command}") as operation:
        pager, server = "no_pager" not in flags, "no_server" not in flags
        invocation = begin(Invocation(folder or ".", quiet="quiet" in flags, pager=pager, server=server))
        try:
            code = _search(plain, invocation)
        finally:
            operation.paths = invocation.paths
        operation.outcome = "ok" if code == ExitCode.OK else f"exit_{code}"
        return code


def _search(plain: PlainQuery, invocation: Invocation) -> ExitCode:
    flags = {name: name in plain.flags for name in dict.fromkeys(FLAGS.values())}
    form = Format(limit=plain.limit, context=0, color="auto", quiet=invocation.quiet, **flags)
    workspace = open_here(invocation)
    names = nested_names(workspace, WORKING_TREE, None, is_default=True)
    query = Query(read_query(plain.words), form.limit, details=form.has_details)
    if len(plain.words) > 1 and not invocation.quiet:
        hint_at_paths(invocation.folder, plain.words)
    return search_trees(workspace, names, query, WORKING_TREE, form, refresh=True)

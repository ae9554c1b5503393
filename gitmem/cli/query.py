"""`gitmem query`, also called `gitmem search`."""

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from gitmem.answering.search_query import MODES, Query, SearchFilters
from gitmem.cli.answer_options import format_options, load_format, min_score_option, neighbors_option
from gitmem.cli.answer_output import Format, answer_here, write_answer
from gitmem.cli.completer import AFTER_DASHES, complete
from gitmem.cli.context import folder_in_tree, open_here, open_here_if_any
from gitmem.cli.filter_options import (
    PastOptions,
    code_filter_options,
    filter_options,
    past_options,
    take_code_filters,
    take_filters,
    take_past_options,
)
from gitmem.cli.revision_option import revision_options
from gitmem.cli.tree_options import all_option, changed_option, no_refresh_option, repository_option, staged_option
from gitmem.cli.tree_search import hint_at_paths, nested_names, read_query, search_trees
from gitmem.errors import ExitCode, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.memory.kinds import CHOICES, parse_kinds
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.patterns.pathspec import Pathspec

ALL_NAMES: Final = ("*",)
"""Names of repositories that mean all of them."""


class QueryCommand(click.Command):
    """Command whose arguments behind `--` are paths, as in `git grep`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # click drops the `--`, so the arguments are split before it parses them.
        end = args.index("--") if "--" in args else len(args)
        ctx.params["paths"] = tuple(args[end + 1 :])
        ctx.meta[AFTER_DASHES] = end < len(args)
        return super().parse_args(ctx, args[:end])

    @staticmethod
    def leading_dash_hint(option: str) -> str:
        """Return the hint for an unknown option: it may be a text to search for."""
        return f"to search for text that begins with a dash: gitmem query -e {option}"


@click.command(cls=QueryCommand)
@click.argument("words", metavar="TEXT...|- [-- PATH...]", shell_complete=complete("query words"), nargs=-1)
@click.option("-e", "texts", metavar="TEXT", multiple=True, help="Text of the query, for one that begins with a dash.")
@revision_options("Search a commit, tag, branch or tree, without uncommitted files.")
@staged_option("Search the staged files.")
@changed_option("Search only the changes between two revisions.")
@code_filter_options
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(CHOICES),
    multiple=True,
    metavar="KIND",
    help="Search code, documents, notes, conversations, commits or all.  [default: code, documents]",
)
@repository_option(
    "Search this repository (see gitmem repos list), or org:NAME or org:* on the server (see gitmem org)."
)
@click.option(
    "--recurse-submodules/--no-recurse-submodules",
    "recurse",
    default=None,
    help="Search submodules and nested repositories too.",
)
@all_option("Search all known repositories.")
@filter_options(
    "source",
    "sensitivity",
    "visibility",
    "conversation",
    "since",
    "until",
    "author",
    "min_confidence",
    type_="--record-type",
)
@click.option("--mode", type=click.Choice(MODES), default="hybrid", help="Use both scores or one.")
@min_score_option
@format_options
@neighbors_option
@click.option("--explain", is_flag=True, help="Explain the score of each result.")
@click.option("--blame", is_flag=True, help="Show the commits that introduced and last changed each result.")
@past_options
@no_refresh_option
@click.pass_context
def command(
    ctx: click.Context, /, *, words: tuple[str, ...], texts: tuple[str, ...], paths: tuple[str, ...], rev: str,
    staged: bool, changed: str, repositories: tuple[str, ...], recurse: bool | None, everything: bool, mode: str,
    limit: int | None, no_refresh: bool, min_score: float | None, **shown: Any,
) -> ExitCode:  # fmt: skip
    """Search the code in words or by symbol.

    Searches the working tree, including uncommitted files. Files that are not indexed yet are indexed first, within a
    time budget. Several words are one query. They may be a name in words: "copy to clipboard". A line of code finds the
    place that has it, and so does a message that a program printed, whatever values are in it. A query may also be a
    whole issue, log or stack trace of up to 32,000 characters: its parts count by their type, and the files, lines and
    functions that it names come first. PATHs behind `--` limit it, relative to the current folder as in git grep, and
    in addition to `--path`. A filter given several times matches any of its values. With `--repo` or `--all` the
    repositories are searched as one; results of the repository of the current folder come first unless others are much
    better. The score of a result is the likelihood that it is relevant, whatever the filters. `--author`, `--since` and
    `--until` restrict code by the commit that last changed the result. `--history` searches the definitions that
    `gitmem index --history` found in all commits up to HEAD; each is listed once, with the commits that introduced and
    removed it. Then these filters apply to the commit that wrote the version, and `--blame` finds the first commit by a
    trace, as `gitmem when` does. The exit code is 0 with results and 1 without: a query that makes no sense in the
    repository has none.

    \b
    Examples:
      gitmem query "where are cookies signed"
      gitmem query retry with backoff -- src/ ':!*_test.py'
      gitmem query SessionInterface.save_session
      gitmem query "ValueError: no session 'a7f3' in the store"
      gitmem query --rev v0.12 --path src/ --lang python "error handling"
      gitmem query --changed main..HEAD "error handling"
      gitmem query -n 1 --explain "error handling"
      gitmem query --min-score 0.5 "error handling"
      gitmem query --blame --since 2026-01-01 --author ada "error handling"
      gitmem query --history --removed v1.0..v2.0 "json encoder"
      gitmem query --history --blame "json encoder"
      gitmem query --repo flask --repo click "parse options"
      gitmem query --all --folder src "retry with backoff"
      gitmem query --kind documents --record-type email --since 2026-01-01 "release date"
      git log -1 --format=%B | gitmem query -
      gitmem query - < issue.md
    """
    filters, past = _take_search_filters(shown), take_past_options(shown)
    form = load_format(ctx, limit, shown)
    names = (*repositories, *(ALL_NAMES if everything else ()))
    workspace = open_here_if_any(ctx.obj) if names and not recurse else open_here(ctx.obj)
    selection = TreeSelection(rev, staged, changed)
    names = (*names, *nested_names(workspace, selection, recurse, is_default=not (names or paths)))
    if paths:
        filters = filters._replace(pathspecs=_parse_paths(ctx, workspace, paths))
    query = _make_query(ctx, [*texts, *words], paths, mode, filters, min_score, form)
    if past.history:
        return _search_past(ctx, query, past, form)
    return search_trees(workspace, names, query, selection, form, refresh=not no_refresh)


def _take_search_filters(options: dict[str, Any]) -> SearchFilters:
    """Remove the filters from the options of the command and return them, without pathspecs. Raises UsageError."""
    kinds, records = parse_kinds(options.pop("kinds")), take_filters(options)
    return take_code_filters(options)._replace(kinds=kinds, records=records)


def _make_query(
    ctx: click.Context, words: Sequence[str], paths: Sequence[str], mode: str, filters: SearchFilters,
    min_score: float | None, form: Format,
) -> Query:  # fmt: skip
    """Return the query of the words, with a hint if one of several is an existing path. Raises UsageError."""
    text = read_query(words, paths)
    given = ctx.params["words"]
    if len(given) > 1 and not paths and not form.quiet:
        hint_at_paths(ctx.obj.folder, given)
    blame = math.inf if form.blame else 0.0
    return Query(text, form.limit, mode, filters, form.neighbors, min_score, form.has_details, blame)


def _search_past(ctx: click.Context, query: Query, past: PastOptions, form: Format) -> ExitCode:
    from gitmem.cli.past_query import check_options, query_past  # most queries search one tree

    check_options(ctx)
    return query_past(open_here(ctx.obj), query, past, form)


def search_records(
    ctx: click.Context, text: str, kinds: tuple[str, ...], limit: int | None, shown: dict[str, object]
) -> ExitCode:
    """Search some kinds of records and return the exit code. `shown` holds the options of filters and output."""
    filters = SearchFilters(kinds=kinds, records=take_filters(shown))
    form = load_format(ctx, limit, shown)
    workspace = open_here(ctx.obj)
    query = Query(text, form.limit, filters=filters, neighbors=form.neighbors, details=form.has_details)
    return write_answer(workspace, answer_here(workspace, query), form)


def _parse_paths(ctx: click.Context, workspace: Workspace | None, paths: Sequence[str]) -> "tuple[Pathspec, ...]":
    """Return the pathspecs behind `--`. Raises UsageError."""
    if workspace is None:
        raise UsageError("paths after `--` apply to one repository", hint="use `--folder`, `--file` or `--path`")
    from gitmem.patterns.pathspec import parse_pathspec  # the glob matcher is a tenth of the search's imports

    folder, root = folder_in_tree(ctx.obj, workspace), workspace.location.worktree
    if root is None:
        return tuple(parse_pathspec(path, folder) for path in paths)
    return tuple(
        parse_pathspec(os.path.relpath(os.path.realpath(path), root), "")
        if path.startswith("/")
        else parse_pathspec(path, folder)
        for path in paths
    )

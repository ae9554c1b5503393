"""`gitmem org query`: search published repositories."""

from typing import Final

import click

from gitmem.answering.search_query import MODES, Query
from gitmem.cli.answer_options import format_options, load_format, min_score_option
from gitmem.cli.filter_options import code_filter_options, take_code_filters
from gitmem.cli.org_options import dsn_option, org_settings, role_option
from gitmem.cli.tree_search import read_query
from gitmem.errors import ExitCode, UsageError
from gitmem.org.connection import open_database
from gitmem.org.retries import try_again

_QUERY_RETRY_SECONDS: Final = 2.0
"""Pauses between attempts of a query, together: a replica ends queries that stop it from following its server."""


@click.command()
@click.argument("words", metavar="TEXT...|-", nargs=-1)
@click.option("--repo", "names", metavar="NAME", multiple=True, help="Search only this repository.")
@click.option("--rev", metavar="NAME", default="", help="Search this published revision instead of the default.")
@code_filter_options
@click.option("--mode", type=click.Choice(MODES), default="hybrid", help="Use both scores or one.")
@min_score_option
@format_options
@click.option("--explain", is_flag=True, help="Explain the score of each result.")
@dsn_option
@role_option
@click.pass_context
def query(
    ctx: click.Context, /, *, words: tuple[str, ...], names: tuple[str, ...], rev: str, mode: str, limit: int | None,
    min_score: float | None, dsn: str, role: str, **shown: object,
) -> ExitCode:  # fmt: skip
    """Search the published repositories that this role may read, as one.

    The server selects candidates, and gitmem ranks them as in `gitmem query`; the output is the same. Only this role's
    repositories count in the statistics, so a score says nothing about others. A filter given several times matches any
    of its values.

    \b
    Examples:
      gitmem org query "where are refunds booked"
      gitmem org query --lang python --path src/ "where are refunds booked"
      gitmem org query --repo payments --rev v1.0 --json "retry with backoff"
    """
    from gitmem.answering.federated_answer import FederatedAnswer
    from gitmem.cli.federated_output import write_federated  # loads the output of searches
    from gitmem.org.database_query import answer_from_database

    filters = take_code_filters(shown)
    form = load_format(ctx, limit, {**shown, "neighbors": False, "blame": False})
    if form.context:
        raise UsageError("`-C` needs the files of the repository", hint="use `--full`")
    settings = org_settings(ctx)
    asked = Query(read_query(list(words)), form.limit, mode, filters, min_score=min_score, details=False)

    def answer() -> FederatedAnswer:
        with open_database(dsn or settings.org, role) as database:
            return answer_from_database(database, settings, names or ("*",), asked, rev)

    return write_federated(try_again(answer, _QUERY_RETRY_SECONDS), form)

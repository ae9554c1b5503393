"""`gitmem org`."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import click

from gitmem.answering.search_query import MODES, Query
from gitmem.cli.answer_output import Format, format_options, min_score_option
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.confirmation import confirm
from gitmem.cli.context import is_quiet, open_here, open_here_if_any, write_json
from gitmem.cli.error_output import say
from gitmem.cli.filter_options import code_filter_options, take_code_filters
from gitmem.cli.org_sync import sync
from gitmem.cli.query import read_query
from gitmem.cli.style import print_line
from gitmem.display import count, visible
from gitmem.errors import ExitCode, GitmemError, UsageError
from gitmem.org.connection import OPEN_SHARE, open_database
from gitmem.org.database_health import DatabaseHealth, read_health
from gitmem.org.migrations import migrate as migrate_schema
from gitmem.org.partitions import divide, divide_among
from gitmem.org.published_repositories import ListedHead, drop_repository, list_heads
from gitmem.org.repository_grants import grant as grant_role
from gitmem.org.repository_grants import read_grants, synchronise
from gitmem.org.repository_grants import revoke as revoke_role
from gitmem.org.retries import try_again
from gitmem.settings import Settings
from gitmem.workspace import read_user_settings

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_dsn_option = click.option("--dsn", metavar="DSN", default="", help="Database.  [default: the setting gitmem.org]")
_role_option = click.option("--role", metavar="ROLE", default="", help="Act as this role, with its rights.")


_QUERY_RETRY_SECONDS: Final = 2.0
"""Pauses between attempts of a query, together: a replica ends queries that stop it from following its server."""


def _settings(ctx: click.Context) -> Settings:
    workspace = open_here_if_any(ctx)
    return workspace.settings if workspace else read_user_settings(os.environ)


def _say(ctx: click.Context, line: str) -> None:
    if not is_quiet(ctx):
        print_line(line)


@click.group(cls=CommandGroup)
def command() -> None:
    """Publish repositories to PostgreSQL, and search them together under the rights of each person.

    Needs `pip install 'gitmem-cli[org]'` and a server; docs/organisation.md describes both. A DSN has no
    password: it comes from PGPASSWORD, a password file or a service file. A search sees the repositories that
    the role of its connection may read, and nothing else.

    \b
    Examples:
      gitmem org init postgresql://admin@db.example.com/code
      git config --global gitmem.org postgresql://db.example.com/code
      gitmem org publish --name payments
      gitmem org grant payments alice
      gitmem org query "where are refunds booked"
    """


@command.command()
@click.argument("dsn", metavar="DSN")
@click.option("--partitions", metavar="N", type=click.IntRange(2, 64), help="Divide the contents on this server.")
@click.option("--shard", "shards", metavar="DSN", multiple=True, help="Move the contents to this database and others.")
@click.pass_context
def init(ctx: click.Context, dsn: str, partitions: int | None, shards: tuple[str, ...]) -> ExitCode:
    """Create the schema, the roles and the policies in a database; does nothing if they exist.

    The user of the DSN must be able to create roles. It becomes the owner of the tables and
    a member of the role gitmem_admin.

    With `--shard`, names, rights and paths stay in this database, and other servers keep the contents and search
    them at the same time: one share for each DSN. It creates a role there, and the extensions postgres_fdw
    and dblink here, which takes a superuser. A database is divided once; what is published already is moved.

    \b
    Examples:
      gitmem org init postgresql://admin@db.example.com/code
      gitmem org init postgresql://admin@db/code --shard postgresql://admin@db1/part --shard postgresql://admin@db2/part
    """
    if partitions and shards:
        raise UsageError("`--partitions` and `--shard` exclude each other", hint="one partition lies on each shard")
    with open_database(dsn) as database:
        before, after = migrate_schema(database)
        unprotected = divide_among(database, shards) if shards else []
        if partitions:
            divide(database, partitions)
    _say(ctx, f"schema {after}: " + ("unchanged" if before == after else "created" if not before else "upgraded"))
    if shards or partitions:
        _say(ctx, f"contents: divided into {len(shards) or partitions} partitions")
    for server in unprotected if not is_quiet(ctx) else []:
        say(f"note: server {server} lets its role in without the password: {OPEN_SHARE}")
    _say(ctx, f"next: git config --global gitmem.org {visible(dsn)}")
    return ExitCode.OK


@command.command()
@_dsn_option
@click.pass_context
def migrate(ctx: click.Context, dsn: str) -> ExitCode:
    """Upgrade the schema to that of this version. Older versions of gitmem then ask to be upgraded.

    \b
    Examples:
      gitmem org migrate
    """
    with open_database(dsn or _settings(ctx).org) as database:
        before, after = migrate_schema(database)
    _say(ctx, f"schema {after}: " + ("unchanged" if before == after else f"upgraded from {before}"))
    return ExitCode.OK


@command.command()
@click.option("--rev", "revisions", metavar="REV", multiple=True, help="Publish this revision.  [default: HEAD]")
@click.option("--as", "alias", metavar="NAME", default="", help="Name of the revision on the server.")
@click.option("--name", metavar="NAME", default="", help="Name of the repository instead of its folder's.")
@click.option("--default", "is_default", is_flag=True, help="Search this revision by default.")
@click.option(
    "--retry-seconds",
    metavar="SECONDS",
    type=click.IntRange(0, 3600),
    default=60,
    show_default=True,
    help="Try again for so long after a lost connection.",
)
@click.option("--on", "cluster", metavar="ADDRESS", default="", help="Index on the nodes of a Ray cluster.")
@_dsn_option
@_json_option
@click.pass_context
def publish(
    ctx: click.Context, /, *, revisions: tuple[str, ...], alias: str, name: str, is_default: bool, retry_seconds: int,
    cluster: str, dsn: str, as_json: bool,
) -> ExitCode:  # fmt: skip
    """Publish revisions of this repository: a clone, the checkout of a CI job, or a bare mirror.

    Uploads the blobs that the server lacks, and then replaces the paths of the revision at once. An interrupted run
    leaves the old ones, and the next run continues. The first revision of a repository is the one that queries search;
    `--default` chooses another. A server that restarts, or fails over, is tried again with growing pauses.

    `--on` sends the files that are not indexed yet to the nodes of a cluster (`ray://HOST:10001`), which need the
    same gitmem; `pip install 'gitmem-cli[org,ray]'`. The rows are the same, and only this process publishes them.

    \b
    Examples:
      gitmem org publish
      gitmem org publish --name payments --as main
      gitmem org publish --rev v1.0 --rev v2.0
      gitmem org publish --on ray://head.example.com:10001
    """
    from gitmem.org.head_publication import PublishedHead, publish_head  # loads numpy and the search

    if alias and len(revisions) > 1:
        raise UsageError("`--as` names one revision", hint="publish each `--rev` by itself")
    workspace = open_here(ctx)
    folder = workspace.location.worktree or workspace.location.git_dir
    repository = name or folder.name.removesuffix(".git")
    if not repository or any(char.isspace() or char in ":*#" for char in repository):
        raise UsageError(f"`{visible(repository)}` cannot be the name of a repository", hint="choose one by `--name`")
    if cluster:
        from gitmem.cli.org_cluster import index_on_cluster

        index_on_cluster(workspace, revisions or ("HEAD",), cluster, quiet=as_json or is_quiet(ctx))
    heads = []

    def publish_revision(rev: str) -> PublishedHead:
        with open_database(dsn or workspace.settings.org) as database:
            return publish_head(workspace, database, repository, rev, alias, is_default=is_default)

    for rev in revisions or ("",):
        head = try_again(partial(publish_revision, rev), retry_seconds, partial(_announce, ctx))
        heads.append(head)
        if not as_json:
            state = "published" if head.is_changed else "unchanged"
            added = f"{count(head.blobs, 'blob')} and {count(head.chunks, 'chunk')} new, {head.bytes:,} bytes"
            name = f"{visible(head.repository)} {visible(head.revision)}"
            _say(ctx, f"{state} {name}: {count(head.files, 'file')}, {added}")
    if as_json:
        write_json({"published": [head._asdict() for head in heads]})
    return ExitCode.OK


def _announce(ctx: click.Context, problem: GitmemError, pause: float) -> None:
    if not is_quiet(ctx):
        say(f"note: {visible(problem.message)}; trying again in {pause:.1f} s")


@command.command()
@click.argument("words", metavar="TEXT...|-", nargs=-1)
@click.option("--repo", "names", metavar="NAME", multiple=True, help="Search only this repository.")
@click.option("--rev", metavar="NAME", default="", help="Search this published revision instead of the default.")
@code_filter_options
@click.option("--mode", type=click.Choice(MODES), default="hybrid", help="Use both scores or one.")
@min_score_option
@format_options
@click.option("--explain", is_flag=True, help="Explain the score of each result.")
@_dsn_option
@_role_option
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
    form = Format.load(ctx, limit, {**shown, "neighbors": False, "blame": False})
    if form.context:
        raise UsageError("`-C` needs the files of the repository", hint="use `--full`")
    settings = _settings(ctx)
    asked = Query(read_query(list(words)), form.limit, mode, filters, min_score=min_score, details=False)

    def answer() -> FederatedAnswer:
        with open_database(dsn or settings.org, role) as database:
            return answer_from_database(database, settings, names or ("*",), asked, rev)

    return write_federated(try_again(answer, _QUERY_RETRY_SECONDS), form)


@command.command()
@click.argument("repository", metavar="[REPOSITORY", default="")
@click.argument("role", metavar="ROLE]", default="")
@click.option("--file", "file", metavar="FILE", default="", help="Make the grants of this file those of the database.")
@_dsn_option
@_json_option
@click.pass_context
def grant(ctx: click.Context, repository: str, role: str, file: str, dsn: str, as_json: bool) -> ExitCode:
    """Let a role of the server read a repository, or synchronise all grants with a file.

    The file has a line for each repository: its name and the roles that may read it, separated by spaces. Grants that
    came from a file and are no longer in it are revoked, those made one by one stay. Roles are those of PostgreSQL: a
    person or a group.

    \b
    Examples:
      gitmem org grant payments alice
      gitmem org grant --file grants.txt
    """
    if bool(file) == bool(repository and role):
        raise UsageError("name a repository and a role, or `--file`", hint="gitmem org grant payments alice")
    with open_database(dsn or _settings(ctx).org) as database:
        if not file:
            grant_role(database, repository, role)
            _say(ctx, f"{visible(role)} may read {visible(repository)}")
            return ExitCode.OK
        done = synchronise(database, read_grants(Path(ctx.obj["folder"]) / file))
    if as_json:
        write_json(done._asdict())
    else:
        _say(ctx, f"{done.granted} granted, {done.revoked} revoked")
    for name in done.unknown if not is_quiet(ctx) else []:
        say(f"note: the server has no role {visible(name)}")
    return ExitCode.OK


@command.command()
@click.argument("repository", metavar="REPOSITORY")
@click.argument("role", metavar="ROLE")
@_dsn_option
@click.pass_context
def revoke(ctx: click.Context, repository: str, role: str, dsn: str) -> ExitCode:
    """Take the right to read a repository from a role; searches that run already still see it.

    \b
    Examples:
      gitmem org revoke payments alice
    """
    with open_database(dsn or _settings(ctx).org) as database:
        revoke_role(database, repository, role)
    _say(ctx, f"{visible(role)} may no longer read {visible(repository)}")
    return ExitCode.OK


@command.command()
@_dsn_option
@_role_option
@_json_option
@click.pass_context
def repos(ctx: click.Context, dsn: str, role: str, as_json: bool) -> ExitCode:
    """List the published repositories that this role may read, with their revisions.

    \b
    Examples:
      gitmem org repos
      gitmem org repos --role alice
    """
    with open_database(dsn or _settings(ctx).org, role) as database:
        heads = list_heads(database)
    if as_json:
        write_json({"heads": [head._asdict() for head in heads]})
    for head in [] if as_json else heads:
        print_line(_head_line(head))
    return ExitCode.OK


def _head_line(head: ListedHead) -> str:
    if head.revision is None:
        return f"{visible(head.repository)}  not published"
    mark = " (default)" if head.is_default else ""
    sizes = f"{count(head.files, 'file')}, {count(head.chunks, 'chunk')}"
    return f"{visible(head.repository)}  {visible(head.revision)}{mark} {(head.commit or '')[:7]}  {sizes}"


@command.command()
@_dsn_option
@_role_option
@_json_option
@click.pass_context
def status(ctx: click.Context, dsn: str, role: str, as_json: bool) -> ExitCode:
    """Show the state of the server: versions, sizes, last publication, connections and replication.

    Everybody sees the numbers of the own repositories; roles that publish see those of the tables, and members
    of pg_monitor those of the replicas. Problems are named. For Prometheus: `gitmem metrics --org --prometheus`.

    \b
    Examples:
      gitmem org status
      gitmem org status --json
    """
    with open_database(dsn or _settings(ctx).org, role) as database:
        state = read_health(database)
    if as_json:
        replicas = [replica._asdict() for replica in state.replicas]
        shares = [share._asdict() for share in state.status.shares]
        write_json({**state.values(), "replicas": replicas, "shares": shares, "healthy": not state.problems})
        return ExitCode.OK
    for line in _status_lines(state):
        print_line(line)
    return ExitCode.OK


def _status_lines(state: DatabaseHealth) -> Iterator[str]:
    own = state.status
    kind = f", a replica that is {state.lag_seconds:,.0f} s behind" if state.is_replica else ""
    yield f"schema      {own.schema}, PostgreSQL {own.server}{kind}"
    yield f"role        {visible(own.role)}"
    heads, chunks = count(own.heads, "revision"), count(own.chunks, "chunk")
    yield f"visible     {count(own.repositories, 'repository', 'repositories')}, {heads}, {chunks}"
    if own.blobs is not None:
        yield f"stored      {count(own.blobs, 'blob')}, {own.unused:,} unused, {sum(own.bytes.values()):,} bytes"
    if state.published_seconds is not None:
        yield f"published   {state.published_seconds:,.0f} s ago; {count(state.publishers, 'publisher')} at work"
    yield f"connections {state.connections} of {state.max_connections}"
    for share in state.status.shares:
        size = "no answer" if share.bytes is None else f"{share.bytes:,} bytes"
        yield f"server      {visible(share.server)}: {size}"
    for replica in state.replicas:
        behind = f"{replica.lag_bytes or 0:,} bytes behind"
        yield f"replica     {visible(replica.name)}: {replica.state}, {replica.sync_state}, {behind}"
    for problem in state.problems:
        yield f"problem     {visible(problem)}"


@command.command()
@click.argument("repository", metavar="REPOSITORY")
@click.option("--rev", metavar="NAME", default="", help="Drop only this revision.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@_dsn_option
@_json_option
@click.pass_context
def drop(ctx: click.Context, repository: str, rev: str, yes: bool, dsn: str, as_json: bool) -> ExitCode:
    """Remove a repository or one of its revisions from the server, and free the blobs that no other has.

    Waits for publishers that are at work. The clone is not touched, so it can be published again. Without `--rev`,
    the records that were shared there go as well; clones that have them keep them.

    \b
    Examples:
      gitmem org drop payments
      gitmem org drop payments --rev v1.0 --yes
    """
    if not yes:
        target = f"revision {visible(rev)} of {visible(repository)}" if rev else visible(repository)
        confirm(f"remove {target} from the server?", "gitmem org drop REPOSITORY --yes")
    with open_database(dsn or _settings(ctx).org) as database:
        freed = drop_repository(database, repository, rev)
    if as_json:
        write_json({"repository": repository, "revision": rev or None, "blobs_freed": freed})
    else:
        _say(ctx, f"dropped {visible(repository)}; {count(freed, 'blob')} freed")
    return ExitCode.OK


command.add_command(sync)

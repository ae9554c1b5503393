"""`gitmem org`: the group of commands about the server of an organisation."""

import click

from gitmem.cli.command_group import CommandGroup
from gitmem.cli.org_grants import grant, revoke
from gitmem.cli.org_publish import publish
from gitmem.cli.org_query import query
from gitmem.cli.org_repositories import drop, repos
from gitmem.cli.org_schema import init, migrate
from gitmem.cli.org_status import status
from gitmem.cli.org_sync import sync


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


for _each in (init, migrate, publish, query, grant, revoke, repos, status, drop, sync):
    command.add_command(_each)

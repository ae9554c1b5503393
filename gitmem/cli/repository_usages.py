"""Show the usages of a name in several repositories."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.answering.federated_usages import read_federated_usages
from gitmem.answering.usage_answer import UsageQuery
from gitmem.cli import console
from gitmem.cli.federated_output import describe_repositories, put_repository_notes
from gitmem.cli.shown_secrets import shows_secrets
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.federated_usages import FederatedUsages


def usages_of_repositories(
    own: Workspace | None, names: Sequence[str], query: UsageQuery, selection: TreeSelection, *, refresh: bool
) -> "FederatedUsages":
    """Return the usages in some repositories, for a client of this process from the trees that it holds open."""
    client = console.client_console()
    if client is not None:
        return client.answers.usages_of_repositories(names, query, selection, refresh=refresh, mask=not shows_secrets())
    return read_federated_usages(own, names, query, selection, os.environ, refresh=refresh, mask=not shows_secrets())


def put_usage_notes(answer: "FederatedUsages") -> None:
    """Print which repositories were skipped or are not completely indexed, and the other notes."""
    put_repository_notes(answer.searched, answer.skipped, answer.notes)


def describe_usages(answer: "FederatedUsages") -> str:
    """Return how many repositories were searched and skipped, and the time."""
    return describe_repositories(answer.searched, answer.skipped, answer.stats["query_time_ms"])

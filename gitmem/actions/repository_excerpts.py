"""Registered repositories as excerpts: their statistics, by the id `repository:NAME`."""

from collections.abc import Mapping, Sequence

from gitmem.actions.repos import get_repository
from gitmem.actions.repository_rows import RepositoryRow, read_row, row_json, row_lines
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.repository_ids import REPOSITORY
from gitmem.errors import GitmemError


def read_repositories(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, list[Excerpt] | GitmemError]:
    """Return the statistics of some repositories by name, or why there are none."""
    found: dict[str, list[Excerpt] | GitmemError] = {}
    for name in names:
        try:
            found[name] = [_to_excerpt(read_row(get_repository(environment, name), environment))]
        except GitmemError as error:
            found[name] = error
    return found


def _to_excerpt(row: RepositoryRow) -> Excerpt:
    fields = {"id": f"{REPOSITORY}:{row.name}", "kind": REPOSITORY, **row_json(row)}
    return Excerpt(f"{REPOSITORY}:{row.name}", [], 1, "", fields, row_lines(row)[1:])

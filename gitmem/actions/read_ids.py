"""`gitmem get`: read by id in any repository: files, lines, symbols, chunks, records, templates, statistics."""

from collections.abc import Collection, Mapping, Sequence

from gitmem.actions.published_reading import read_from_server
from gitmem.actions.repository_excerpts import read_repositories
from gitmem.actions.template_excerpts import read_templates
from gitmem.answering.readings import NameOptions, Reading, needs_no_tree, read_from_git, read_without_tree
from gitmem.answering.repository_ids import (
    REPOSITORY,
    TEMPLATE,
    RepositoryId,
    is_published,
    parse_ids,
    repository_hint,
    repository_like,
)
from gitmem.errors import GitmemError, NotARepository, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.registry import read_registry
from gitmem.workspace import Workspace, open_workspace, read_user_settings


def read_ids(
    own: Workspace | None, ids: Sequence[str], environment: Mapping[str, str], options: NameOptions
) -> tuple[list[Reading], list[RepositoryId]]:
    """Read ids from git alone, without an index; each repository is opened once.

    `own` is the repository of the user, None outside of one. What cannot be read is part of the readings. Raises:
    UnknownRevision, UsageError and others of the user's own repository as a whole.
    """
    places = {entry.name: entry.path for entry in read_registry(environment)}
    parsed = parse_ids(ids, places)
    by_repository: dict[str, list[str]] = {}
    for repository, name in parsed:
        by_repository.setdefault(repository, []).append(name)
    readings = []
    for repository, names in by_repository.items():
        if repository == REPOSITORY:
            readings.append(Reading(read_repositories(names, environment), "", (), repository))
        elif repository == TEMPLATE:
            absent = {name: _outside(f"{TEMPLATE}:{name}", places) for name in names}
            readings.append(Reading(read_templates(own, names) if own else absent, "", (), repository))
        elif not repository:
            own_options = options._replace(repositories=places)
            readings.append(_read(own, names, own_options) if own else _explain_absence(names, places))
        elif is_published(repository):
            settings = own.settings if own else read_user_settings(environment)
            readings.append(read_from_server(settings.org, repository, names, options))
        else:
            try:
                workspace = open_workspace(places[repository], environment)
                # The user's folder is one of another repository.
                reading = _read(workspace, names, options._replace(folder="")).in_repository(repository)
            except GitmemError as error:
                reading = Reading(dict.fromkeys(names, error), "", (), repository)
            readings.append(reading)
    return readings, parsed


def _explain_absence(names: Sequence[str], known: Collection[str]) -> Reading:
    """Return an error for each id of no known repository, outside of all repositories."""
    return Reading({name: _outside(name, known) for name in names}, "", ())


def _outside(text: str, known: Collection[str]) -> GitmemError:
    name = repository_like(text)
    if name:
        return UsageError(f"unknown repository `{name}`, so `{text}` cannot be read", hint=repository_hint(name, known))
    hint = "give the repository as well, `NAME:ID`, or run it there: gitmem -C FOLDER get"
    return NotARepository(f"not in a git repository, so `{text}` cannot be read", hint=hint)


def _read(workspace: Workspace, names: Sequence[str], options: NameOptions) -> Reading:
    if all(map(needs_no_tree, names)):
        return read_without_tree(workspace, names, options)
    return read_from_git(workspace, TreeSelection(options.rev), names, options)

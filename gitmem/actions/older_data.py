"""`gitmem import`: take over the data of an older system, as far as gitmem has a counterpart.

IMPORTERS has one function for each system, by its name. It gets an OlderData, reads the data of the system, and returns
an ImportedData; each item that it cannot import becomes a Skipped with the reason. To add a system, add a row. A second
import finds nothing new: records are compared with the memory, settings and repositories with the known ones.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gitmem.actions.env_file import read_env
from gitmem.actions.repos import enter_repository
from gitmem.errors import GitmemError, UsageError
from gitmem.git.git_config import read_config
from gitmem.git.program import run_git
from gitmem.memory.bounds import check_path
from gitmem.memory.older_exports import ConvertedLine, convert_s2, convert_s4
from gitmem.named_tuple import NamedTuple
from gitmem.records.transfer import parse_lines, write_items
from gitmem.registry import read_registry
from gitmem.secrets.masking import mask_text
from gitmem.settings import PREFIX, parse_settings
from gitmem.workspace import Workspace, open_workspace

_GLOBAL: Final = "global"


class Skipped(NamedTuple):
    """What was not imported: its place in the file, such as `line 3` or the name of a setting, and the reason."""

    place: str
    reason: str


class ImportedData(NamedTuple):
    """Numbers of new and of known records, new settings and repositories by name, and what was skipped."""

    records: int = 0
    unchanged: int = 0
    settings: Mapping[str, str] = {}
    repositories: Sequence[str] = ()
    skipped: Sequence[Skipped] = ()
    notices: Sequence[str] = ()


class OlderData(NamedTuple):
    """File of an older system, its lines, and where to import it. With `dry_run` nothing is written."""

    workspace: Workspace
    file: Path
    lines: Iterable[str]
    environment: Mapping[str, str]
    dry_run: bool

    def parse(self) -> dict[str, Any]:
        """Return the whole file as a JSON object. Raises: UsageError."""
        try:
            value = json.loads("".join(self.lines))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"`{self.file}` is not valid JSON", hint="name the file that the system wrote") from error
        if not isinstance(value, dict):
            raise UsageError(f"`{self.file}` is not a JSON object", hint="name the file that the system wrote")
        return value


def import_older_data(system: str, data: OlderData) -> ImportedData:
    """Import the data of a system of IMPORTERS. Raises: UsageError, GitFailed, StorageFailed."""
    return IMPORTERS[system](data)


def _import_s0(data: OlderData) -> ImportedData:
    """Import the repositories of the metadata store, or the settings of a configuration file."""
    value = data.parse()
    repositories = value.get("repositories")
    if isinstance(repositories, dict):
        return _import_repositories(data, repositories)
    return import_settings(data, flatten(value), {
        "search.defaultLimit": "searchDefaultLimit", "search.maxLimit": "searchMaxLimit", "logging.level": "log",
    })  # fmt: skip


def _import_repositories(data: OlderData, repositories: Mapping[str, Any]) -> ImportedData:
    """Enter the clones that exist into the registry."""
    known = {one.path for one in read_registry(data.environment)}
    new, skipped = [], []
    for name, about in repositories.items():
        about = about if isinstance(about, dict) else {}
        place = str(about.get("localPath") or "")
        url = mask_text(str(about.get("url") or "URL"))
        # The old server wrote paths relative to its own folder, which is the one above its `data`.
        folders = [folder / place for folder in (data.file.parent, data.file.parent.parent) if place]
        folder = next((folder for folder in folders if folder.is_dir()), None)
        if folder is None:
            skipped.append(Skipped(name, f"there is no clone at `{place}`; gitmem index {url}"))
            continue
        try:
            workspace = open_workspace(folder, data.environment)
            if workspace.paths.root.parent in known:
                continue
            if not data.dry_run:
                enter_repository(workspace, data.environment, name)
            new.append(name)
        except GitmemError as problem:
            skipped.append(Skipped(name, problem.message))
    return ImportedData(repositories=new, skipped=skipped)


def _import_s1(data: OlderData) -> ImportedData:
    """Import the variables of an `.env` file."""
    env = read_env(data.lines)
    done = import_settings(data, env.values, env.names)
    return done._replace(skipped=[*(Skipped(*one) for one in env.skipped), *done.skipped])


def _import_s2(data: OlderData) -> ImportedData:
    return _import_records(data, convert_s2(data.lines))


def _import_s3(data: OlderData) -> ImportedData:
    return import_settings(data, flatten(data.parse()), {
        "search.defaultMaxResults": "searchDefaultLimit", "ingestion.maxFileSize": "maxFileBytes",
        "logging.level": "log",
    })  # fmt: skip


def _import_s4(data: OlderData) -> ImportedData:
    location = data.workspace.location

    def has_file(path: str) -> bool:
        try:
            name = check_path("path", path)
        except UsageError:
            return False  # a path outside of the repository
        return location.worktree is not None and (location.worktree / name).is_file()

    return _import_records(data, convert_s4(data.lines, has_file))


def _import_records(data: OlderData, converted: Sequence[ConvertedLine]) -> ImportedData:
    """Import the lines that can be; each bad line costs only itself."""
    bad = [Skipped(f"line {one.number}", one.problem) for one in converted if one.problem]
    items, refused = parse_lines((one.number, one.line) for one in converted if not one.problem)
    result = write_items(data.workspace, items, dry_run=data.dry_run)
    bad += [Skipped(f"line {one.number}", one.reason) for one in refused]
    return ImportedData(result.written, result.unchanged, skipped=bad, notices=result.notices)


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the leaves of nested objects by their names joined by dots."""
    leaves: dict[str, Any] = {}
    for name, value in values.items():
        leaves |= flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return leaves


def import_settings(data: OlderData, values: Mapping[str, Any], names: Mapping[str, str]) -> ImportedData:
    """Write settings into the user's git configuration; `names` are ours by the old ones.

    A setting that the user has made stays, and one without a counterpart is skipped.
    """
    # Outside of any repository, so that only the user's own configuration is read.
    own = {entry.key: entry.value for entry in read_config(None, Path("/"))}
    new: dict[str, str] = {}
    skipped = []
    for old, value in values.items():
        if old not in names:
            skipped.append(Skipped(old, "gitmem has no such setting"))
            continue
        key, text = PREFIX + names[old], str(value)
        text = _LEVELS.get(text, text) if names[old] == "log" else text
        present = own.get(key.lower())
        if present == text:
            continue
        if present is not None:
            skipped.append(Skipped(old, f"`{key}` is set to `{present}` already"))
            continue
        try:
            parse_settings([(key, text, _GLOBAL)], {})
        except UsageError as problem:
            skipped.append(Skipped(old, problem.message))
            continue
        new[key] = text
        if not data.dry_run:
            run_git(["config", "--global", key, text])
    return ImportedData(settings=new, skipped=skipped)


_LEVELS: Final = {"warn": "error", "trace": "debug"}
"""Levels of logs that have another name here."""

IMPORTERS: Final[Mapping[str, Callable[[OlderData], ImportedData]]] = {
    "s0": _import_s0,
    "s1": _import_s1,
    "s2": _import_s2,
    "s3": _import_s3,
    "s4": _import_s4,
}
"""Importers by the name of the system."""

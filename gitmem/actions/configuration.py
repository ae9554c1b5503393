"""`gitmem config`: the values of all settings with their origins, and every problem of the configuration."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gitmem.content_rules import MAX_TEAM_BYTES, TEAM_FILE, ContentRules, parse_team_file
from gitmem.errors import ConfigError, NotARepository
from gitmem.fsio import read_file
from gitmem.git.git_config import ConfigEntry, read_config, read_origins
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.named_tuple import NamedTuple
from gitmem.secrets.masking import mask_text
from gitmem.settings import (
    PREFIX,
    SETTINGS,
    Effective,
    find_obsolete,
    find_unknown_variable,
    resolve_settings,
)
from gitmem.workspace import check_languages

_ENVIRONMENT: Final = "environment"
_HIDDEN: Final = "(set)"
DEFAULT: Final = "default"


class ShownSetting(NamedTuple):
    """Setting as it is shown: its value as text, where it comes from, and the file or variable that sets it."""

    name: str
    value: str
    origin: str
    place: str = ""


class Configuration(NamedTuple):
    """Everything that is configured. `repository` is None outside a repository, `team` without a `.gitmem.toml`."""

    repository: Path | None
    settings: list[ShownSetting]
    obsolete: list[str]


def read_configuration(folder: Path, environment: Mapping[str, str]) -> Configuration:
    """Return the configuration that is in force in a folder, of this user alone if it is in no repository.

    Raises: ConfigError.
    """
    location = _find_repository(folder)
    origins = read_origins(location, folder)
    settings = [_show(effective, origins) for effective in resolve_settings(_read_own(location, folder), environment)]
    for file, rules in _iter_team_rules(location):
        settings += [
            ShownSetting(PREFIX + name, ", ".join(patterns), TEAM_FILE, str(file))
            for name, patterns in rules._asdict().items()
            if patterns
        ]
    root = (location.worktree or location.git_dir) if location else None
    return Configuration(root, settings, find_obsolete(environment))


def find_config_problems(folder: Path, environment: Mapping[str, str]) -> list[ConfigError]:
    """Return every problem of the configuration. Other commands stop at the first."""
    location = _find_repository(folder)
    problems = []
    for entry in _read_own(location, folder):
        problems += _try([entry], {})
    for setting in SETTINGS:
        for name in (setting.variable, *(alias.variable for alias in setting.aliases)):
            if name in environment:
                problems += _try([], {name: environment[name]})
    unknown = find_unknown_variable(environment)
    problems += [unknown] if unknown else []
    try:
        for _ in _iter_team_rules(location):
            pass
    except ConfigError as problem:
        problems.append(problem)
    return problems


def _try(entries: list[ConfigEntry], environment: Mapping[str, str]) -> list[ConfigError]:
    try:
        values = {effective.setting.name: effective.value for effective in resolve_settings(entries, environment)}
        names = values["languages"]
        assert isinstance(names, tuple)
        check_languages(names, "gitmem.languages")
    except ConfigError as problem:
        return [problem]
    return []


def _find_repository(folder: Path) -> RepositoryLocation | None:
    try:
        return locate(folder)
    except NotARepository:
        return None


def _read_own(location: RepositoryLocation | None, folder: Path) -> list[ConfigEntry]:
    return [entry for entry in read_config(location, folder) if entry.key.startswith(PREFIX)]


def _show(effective: Effective, origins: Mapping[str, str]) -> ShownSetting:
    setting, value, origin = effective
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    # An address may have a password in it, although no setting should.
    text = _HIDDEN if setting.secret and text else mask_text(text)
    if origin == DEFAULT:
        return ShownSetting(setting.key, text, DEFAULT)
    if origin in ("system", "global", "local", "worktree"):
        return ShownSetting(setting.key, text, origin, origins.get(setting.key.lower(), ""))
    return ShownSetting(setting.key, text, _ENVIRONMENT, origin)


def _iter_team_rules(location: RepositoryLocation | None) -> Iterator[tuple[Path, ContentRules]]:
    """Yield the file of the working tree with its rules, if it exists. Raises ConfigError."""
    file = location.worktree / TEAM_FILE if location and location.worktree else None
    if file is not None and file.is_file() and not file.is_symlink():
        rules = parse_team_file(read_file(file, MAX_TEAM_BYTES) or b"", os.fspath(file))
        check_languages(rules.languages, os.fspath(file))
        yield file, rules

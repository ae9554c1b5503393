"""All settings with range, default and meaning, and their parsing. Pure: callers supply git's configuration and the
environment.

A setting is `gitmem.camelCase` in git's configuration and `GITMEM_CAMEL_CASE` in the environment, which has precedence.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from gitmem.errors import ConfigError

PREFIX: Final = "gitmem."

NO_GRAPH: Final = 2**31 - 1
"""Default of `graphThreshold`: a graph over all rows costs nearly as much as the index, at any size."""


class Setting(NamedTuple):
    """Setting with its range (numbers) or choices (words); `meaning` is one sentence for the reference."""

    name: str
    default: int | str
    meaning: str
    minimum: int = 0
    maximum: int = 2**31 - 1
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Name in git's configuration."""
        return PREFIX + self.name

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return "GITMEM_" + re.sub(r"(?=[A-Z])", "_", self.name).upper()


SEARCH_MAX_LIMIT: Final = Setting("searchMaxLimit", 50, "Largest limit of a query.", 1, 1000)

SETTINGS: Final = (
    Setting("searchDefaultLimit", 10, "Number of results of a query without a limit.", 1, 50),
    SEARCH_MAX_LIMIT,
    Setting("fusion", "zscore", "How the semantic and the lexical ranking are combined.", choices=("zscore", "rrf")),
    Setting("maxFileBytes", 1 << 20, "Larger files are not indexed.", 1024, 1 << 30),
    Setting("healBudget", 300, "Milliseconds that a query may spend on indexing changes before it answers.", 0, 60_000),
    Setting("graphThreshold", NO_GRAPH, "Number of chunks from which on each run builds a neighbour graph.", 1000),
    Setting("useServer", "true", "Whether a running gitmem answers queries of commands.", choices=("true", "false")),
    Setting("maxMemory", 1 << 30, "Bytes that all processes of an index run may occupy together.", 384 << 20, 1 << 38),
    Setting("jobs", 0, "Number of worker processes for indexing; 0 is one per core.", 0, 256),
)


class Settings(NamedTuple):
    """Effective values of all settings."""

    search_default_limit: int = 10
    search_max_limit: int = 50
    fusion: str = "zscore"
    max_file_bytes: int = 1 << 20
    heal_budget: int = 300
    graph_threshold: int = NO_GRAPH
    use_server: str = "true"
    max_memory: int = 1 << 30
    jobs: int = 0


_FIELD_OF: Final = {setting.name.lower(): field for setting, field in zip(SETTINGS, Settings._fields, strict=True)}
_BY_KEY: Final = {setting.name.lower(): setting for setting in SETTINGS}


def parse_settings(entries: Iterable[tuple[str, str | None, str]], environment: Mapping[str, str]) -> Settings:
    """Return the settings from git's configuration (key, value, scope) and the environment.

    Of several entries for a key the last one wins, and missing ones have their default. Raises: ConfigError for an
    unknown key or a value out of range; the message names key, value, range and origin.
    """
    values: dict[str, Any] = {}
    for key, value, scope in entries:
        name = key.removeprefix(PREFIX).lower()
        setting = _BY_KEY.get(name)
        if setting is None:
            raise _unknown_key(key, scope)
        # A key without a value means true in git.
        values[_FIELD_OF[name]] = _parse_value(setting, value or "true", f"git config, {scope}")
    for setting in SETTINGS:
        if setting.variable in environment:
            values[_FIELD_OF[setting.name.lower()]] = _parse_value(
                setting, environment[setting.variable], f"environment, {setting.variable}"
            )
    return Settings(**values)


def _parse_value(setting: Setting, text: str, origin: str) -> int | str:
    if setting.choices:
        if text not in setting.choices:
            raise _invalid_value(setting, text, "one of " + ", ".join(setting.choices), origin)
        return text
    # At most 12 digits: even with a suffix the number stays small enough to compare and print.
    match = re.fullmatch(r"(\d{1,12})([kmg]?)", text.strip().lower())
    number = int(match[1]) * 1024 ** " kmg".index(match[2] or " ") if match else -1
    if not setting.minimum <= number <= setting.maximum:
        raise _invalid_value(setting, text, f"a number from {setting.minimum} to {setting.maximum}", origin)
    return number


def _invalid_value(setting: Setting, text: str, allowed: str, origin: str) -> ConfigError:
    return ConfigError(
        f"`{PREFIX}{setting.name}` is `{text}` ({origin}), expected {allowed}",
        hint=f"git config {PREFIX}{setting.name} {setting.default}",
    )


def _unknown_key(key: str, scope: str) -> ConfigError:
    names = [setting.name for setting in SETTINGS]
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong keys only

    similar = find_similar_name(key.removeprefix(PREFIX), names)
    advice = f"did you mean `{PREFIX}{similar}`? " if similar else ""
    scope_option = "" if scope in ("worktree", "command", "") else f" --{scope}"
    return ConfigError(f"unknown setting `{key}` ({scope})", hint=f"{advice}git config{scope_option} --unset {key}")

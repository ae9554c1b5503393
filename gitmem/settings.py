"""Every setting with its range, default and meaning, and the parsing of them. Pure: the front doors read git and the
environment and hand both in.

Git's configuration names a setting `gitmem.camelCase`, the environment `GITMEM_CAMEL_CASE`; the environment wins.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from gitmem.errors import ConfigError

PREFIX: Final = "gitmem."


class Setting(NamedTuple):
    """One setting: its range (numbers) or choices (words), and what it does in a sentence."""

    name: str
    default: int | str
    meaning: str
    minimum: int = 0
    maximum: int = 2**31 - 1
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "GITMEM_" + re.sub(r"(?=[A-Z])", "_", self.name).upper()


SETTINGS: Final = (
    Setting("searchDefaultLimit", 10, "Results of a query that names no limit.", 1, 50),
    Setting("searchMaxLimit", 50, "The largest limit a query may name.", 1, 1000),
    Setting("fusion", "zscore", "How the semantic and the lexical ranking are joined.", choices=("zscore", "rrf")),
    Setting("maxFileBytes", 1 << 20, "Larger files are not indexed.", 1024, 1 << 30),
    Setting("healBudget", 300, "Milliseconds a query may spend on indexing what is new before it answers.", 0, 60_000),
    Setting("graphThreshold", 50_000, "From this many chunks on an approximate neighbour graph is built.", 1000),
    Setting("jobs", 0, "Worker processes for indexing; 0 is one a core.", 0, 256),
)


class Settings(NamedTuple):
    """The values in force."""

    search_default_limit: int = 10
    search_max_limit: int = 50
    fusion: str = "zscore"
    max_file_bytes: int = 1 << 20
    heal_budget: int = 300
    graph_threshold: int = 50_000
    jobs: int = 0


_FIELD_OF: Final = {setting.name.lower(): field for setting, field in zip(SETTINGS, Settings._fields, strict=True)}
_BY_KEY: Final = {setting.name.lower(): setting for setting in SETTINGS}


def parse_settings(entries: Iterable[tuple[str, str | None, str]], environment: Mapping[str, str]) -> Settings:
    """Values from git's configuration (key, value, scope; the last wins) and the environment, over the defaults.

    Raises: ConfigError for an unknown key or a value out of range, naming key, value, range and origin.
    """
    values: dict[str, Any] = {}
    for key, value, scope in entries:
        name = key.removeprefix(PREFIX).lower()
        setting = _BY_KEY.get(name)
        if setting is None:
            raise _unknown(key, scope)
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
            raise _refused(setting, text, "one of " + ", ".join(setting.choices), origin)
        return text
    match = re.fullmatch(r"(\d{1,12})([kmg]?)", text.strip().lower())
    number = int(match[1]) * 1024 ** " kmg".index(match[2] or " ") if match else -1
    if not setting.minimum <= number <= setting.maximum:
        raise _refused(setting, text, f"a number from {setting.minimum} to {setting.maximum}", origin)
    return number


def _refused(setting: Setting, text: str, allowed: str, origin: str) -> ConfigError:
    return ConfigError(
        f"`{PREFIX}{setting.name}` is `{text}` ({origin}), it must be {allowed}",
        hint=f"git config {PREFIX}{setting.name} {setting.default}",
    )


def _unknown(key: str, scope: str) -> ConfigError:
    names = [setting.name for setting in SETTINGS]
    from difflib import get_close_matches  # only a wrong key pays for it

    near = get_close_matches(key.removeprefix(PREFIX), names, 1, 0.5)
    advice = f"did you mean `{PREFIX}{near[0]}`? " if near else ""
    where = "" if scope in ("worktree", "command", "") else f" --{scope}"
    return ConfigError(f"`{key}` is no setting of gitmem ({scope})", hint=f"{advice}git config{where} --unset {key}")

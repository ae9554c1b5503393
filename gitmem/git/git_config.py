"""The `gitmem.*` settings of git's own configuration, all levels, by one git child. Their meaning lies elsewhere."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import GitFailed
from gitmem.git.locate import Location
from gitmem.git.program import first_error_line, run_git


class ConfigEntry(NamedTuple):
    """One line of configuration, in the order git applies them: the last one wins.

    `key` is lower case and begins with `gitmem.`; `value` is None for a key without `=`, which git reads as true;
    `scope` is `system`, `global`, `local` or `worktree`.
    """

    key: str
    value: str | None
    scope: str


def read_config(location: Location) -> list[ConfigEntry]:
    """List all `gitmem.*` entries."""
    args = ["config", "--null", "--show-scope", "--get-regexp", r"^gitmem\."]
    result = run_git(args, git_dir=location.git_dir, check=False)
    if result.code not in (0, 1):
        raise GitFailed(f"git cannot read its configuration: {first_error_line(result.stderr)}")
    fields = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [_parse(scope, entry) for scope, entry in zip(fields[0::2], fields[1::2], strict=False)]


_NAMING_FILES: Final = ("core.excludesfile", "core.attributesfile")


def configuration_files(location: Location, environment: Mapping[str, str]) -> list[Path]:
    """The files that tell git what is ignored and how files are read: configuration with all that it includes, ignore
    and attributes files. Those that git would read if they were there are among them."""
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 (raises nothing where there is none)
    shared = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    found = [home / ".gitconfig", *(shared / name for name in ("config", "ignore", "attributes"))]
    result = run_git(["config", "--null", "--list", "--show-origin"], git_dir=location.git_dir, check=False)
    fields = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    for origin, entry in zip(fields[0::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        told = [origin.removeprefix("file:")] if origin.startswith("file:") else []
        told += [value] if key.lower() in _NAMING_FILES else []
        found += [location.git_dir / os.path.expanduser(path) for path in told if path]  # noqa: PTH111 (`~` of others too)
    own = [location.common_dir / "config", location.git_dir / "config.worktree"]
    own += [location.common_dir / "info" / name for name in ("exclude", "attributes")]
    return list(dict.fromkeys([*own, *found]))


def _parse(scope: str, entry: str) -> ConfigEntry:
    key, equals, value = entry.partition("\n")
    return ConfigEntry(key.lower(), value if equals else None, scope)

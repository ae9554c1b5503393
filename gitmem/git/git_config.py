"""Entries of git's configuration that gitmem uses, from all scopes, read with one git process.

`settings` interprets those that begin with `gitmem.`, `status_shortcuts` the few others.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, run_git
from gitmem.git.status_shortcuts import KEYS
from gitmem.named_tuple import NamedTuple


class ConfigEntry(NamedTuple):
    """Entry of the configuration. `key` is lower case.

    `value` is None for a key without `=`, which git reads as true. `scope` is `system`, `global`, `local` or
    `worktree`.
    """

    key: str
    value: str | None
    scope: str


_OPTION: Final = "command"
"""Scope of an entry that an option `-c` sets."""

_READ: Final = r"^gitmem\.|^(" + "|".join(KEYS).replace(".", r"\.") + ")$"
"""Extended regular expression, which git compares with keys in lower case."""


def read_config(location: RepositoryLocation | None, folder: Path | None = None) -> list[ConfigEntry]:
    """Return all `gitmem.*` entries and those of `KEYS`, in the order in which git applies them.

    The last one of a key wins. The options of gitmem's own commands of git are left out. Without a location, in a
    folder outside any repository, there are only those of the user and the system.

    Raises: GitFailed if the configuration cannot be read.
    """
    args = ["config", "--null", "--show-scope", "--get-regexp", _READ]
    result = run_git(args, git_dir=location.git_dir if location else None, cwd=folder, check=False)
    if result.code not in (0, 1):
        raise GitFailed(f"git cannot read its configuration: {first_error_line(result.stderr)}")
    fields = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    pairs = zip(fields[0::2], fields[1::2], strict=False)
    return [_parse(scope, entry) for scope, entry in pairs if scope != _OPTION]


def read_origins(location: RepositoryLocation | None, folder: Path) -> dict[str, str]:
    """Return the file with the last entry of each `gitmem.*` key; the keys are lower case."""
    args = ["config", "--null", "--show-origin", "--get-regexp", r"^gitmem\."]
    result = run_git(args, git_dir=location.git_dir if location else None, cwd=folder, check=False)
    fields = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    pairs = zip(fields[0::2], fields[1::2], strict=False)
    return {entry.partition("\n")[0].lower(): origin.removeprefix("file:") for origin, entry in pairs}


_NAMING_FILES: Final = ("core.excludesfile", "core.attributesfile")
"""Configuration keys whose values are paths of such files."""


def configuration_files(location: RepositoryLocation | None, environment: Mapping[str, str]) -> list[Path]:
    """Return the files outside the tree on which ignoring and filtering of files depend; without a location the user's.

    These are the configuration files with their includes, and the ignore and attributes files. Missing files that git
    would read if they existed are included.
    """
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 (Path.home raises without a home)
    shared = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    files = [home / ".gitconfig", *(shared / name for name in ("config", "ignore", "attributes"))]
    # Variables may name other files than the usual ones of the user and the system.
    files += [Path(environment.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig")]
    files += [Path(environment["GIT_CONFIG_GLOBAL"])] if environment.get("GIT_CONFIG_GLOBAL") else []
    git_dir = location.git_dir if location else None
    folder = git_dir or Path("/")
    result = run_git(
        ["config", "--null", "--list", "--show-origin"], git_dir=git_dir, cwd=None if git_dir else folder, check=False
    )
    fields = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    for origin, entry in zip(fields[0::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        names = [origin.removeprefix("file:")] if origin.startswith("file:") else []
        names += [value] if key.lower() in _NAMING_FILES else []
        files += [folder / os.path.expanduser(path) for path in names if path]  # noqa: PTH111 (also `~user`)
    if location is None:
        return list(dict.fromkeys(files))
    own = [location.common_dir / "config", location.git_dir / "config.worktree"]
    own += [location.common_dir / "info" / name for name in ("exclude", "attributes")]
    return list(dict.fromkeys([*own, *files]))


def _parse(scope: str, entry: str) -> ConfigEntry:
    key, equals, value = entry.partition("\n")
    return ConfigEntry(key.lower(), value if equals else None, scope)

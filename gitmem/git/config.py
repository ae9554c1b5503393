"""The `gitmem.*` settings of git's own configuration, all levels, by one git child. Their meaning lies elsewhere."""

from typing import NamedTuple

from gitmem.errors import GitFailed
from gitmem.git.locate import Location
from gitmem.git.program import first_complaint, run_git


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
        raise GitFailed(f"git cannot read its configuration: {first_complaint(result.stderr)}")
    fields = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [_parse(scope, entry) for scope, entry in zip(fields[0::2], fields[1::2], strict=False)]


def _parse(scope: str, entry: str) -> ConfigEntry:
    key, equals, value = entry.partition("\n")
    return ConfigEntry(key.lower(), value if equals else None, scope)

"""`gitmem index --include` and `--exclude`: patterns of the files to index, kept in the repository's configuration.

They are kept because queries, hooks and servers must index by the same rules as the run.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.errors import UsageError
from gitmem.git.git_config import read_config
from gitmem.git.program import run_git
from gitmem.settings import PREFIX
from gitmem.workspace import Workspace

_LOCAL: Final = "local"


def apply_patterns(workspace: Workspace, include: Sequence[str], exclude: Sequence[str]) -> Workspace:
    """Return a workspace whose rules have these patterns too. Nothing is written."""
    rules = workspace.location.content
    added = rules._replace(include=_joined(rules.include, include), exclude=_joined(rules.exclude, exclude))
    return workspace._replace(location=workspace.location._replace(content=added))


def keep_patterns(
    workspace: Workspace, include: Sequence[str], exclude: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Add patterns to `gitmem.include` and `gitmem.exclude` of the repository, each once.

    Raises: UsageError for a pattern that a list of patterns cannot hold, or if the environment decides; GitFailed.
    """
    check_patterns(include, exclude, environment)
    entries = read_config(workspace.location)
    for name, patterns in (("include", include), ("exclude", exclude)):
        known = {entry.value for entry in entries if entry.key == PREFIX + name and entry.scope == _LOCAL}
        for pattern in dict.fromkeys(patterns):
            if pattern not in known:
                run_git(["config", "--local", "--add", PREFIX + name, pattern], git_dir=workspace.location.common_dir)


def check_patterns(include: Sequence[str], exclude: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raise UsageError for a pattern that cannot be kept."""
    for name, patterns in (("include", include), ("exclude", exclude)):
        variable = f"GITMEM_{name.upper()}"
        if patterns and variable in environment:
            raise UsageError(f"`{variable}` is set, which decides about `{PREFIX}{name}`", hint=f"unset {variable}")
        for pattern in patterns:
            if not pattern.strip() or "," in pattern or pattern != pattern.strip():
                raise UsageError(f"`--{name}` is `{pattern}`, expected one pattern without commas or outer blanks",
                                 hint=f"repeat the option for each pattern: --{name} docs/")  # fmt: skip


def _joined(known: tuple[str, ...], added: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known, *added]))

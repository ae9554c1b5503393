"""Discovery of the repository that a path belongs to, with one git process.

The location comprises working tree, git directory, common directory and HEAD. All of it comes from git, so that git's
safety rules (`safe.directory`, `safe.bareRepository`) apply here too.
"""

import os
import re
from pathlib import Path
from typing import Final

from gitmem.content_rules import ContentRules
from gitmem.errors import GitFailed, NotARepository, OutsideRepository
from gitmem.git.program import GitResult, first_error_line, run_git
from gitmem.git.status_shortcuts import StatusShortcuts
from gitmem.named_tuple import NamedTuple

SEPARATOR: Final = "--gitmem-next"
"""Unknown option, which rev-parse echoes: separates output that may contain line feeds."""

REV_PARSE_ARGS: Final = (
    "--path-format=absolute", "--is-bare-repository", "--is-shallow-repository", "--show-object-format=storage",
    SEPARATOR,
    "--git-dir", SEPARATOR,
    "--git-common-dir", SEPARATOR,
    "--show-cdup", SEPARATOR,
    "HEAD", "HEAD^{tree}", "--symbolic-full-name", "HEAD",
)  # fmt: skip


class RepositoryLocation(NamedTuple):
    """Paths and state of one working tree or bare repository. All paths are absolute and without symbolic links.

    `shortcuts` and `content` come from the configuration, which `locate` does not read. Without the former `git status`
    takes longer; the latter are the user's rules for the files to index.
    """

    worktree: Path | None
    git_dir: Path
    common_dir: Path
    object_format: str
    head_commit: str | None
    head_tree: str | None
    branch: str | None
    bare: bool
    shallow: bool
    shortcuts: StatusShortcuts = StatusShortcuts()
    content: ContentRules = ContentRules()
    plain: bool = False
    """Whether this is a folder outside of any repository, see `plain_folders`."""

    @property
    def linked(self) -> bool:
        """Return whether this is a linked working tree (`git worktree add`)."""
        return self.git_dir != self.common_dir

    @property
    def worktree_id(self) -> str:
        """Return an id, valid as a file name, for this working tree: git's own name for a linked one."""
        return f"linked-{self.git_dir.name}" if self.linked else "main"


def locate(path: Path) -> RepositoryLocation:
    """Return the location of the repository that contains `path`.

    A file means its folder, a `.git` folder its working tree. Raises NotARepository, and GitFailed if HEAD is damaged.
    """
    folder = _existing_folder(path)
    try:
        location = _rev_parse(folder)
    except OutsideRepository:
        plain = _find_plain(folder)
        if plain is None:
            raise
        return plain
    if location.worktree or location.bare:
        return location
    owner = _owner_of_git_dir(location)
    if owner is None:
        raise NotARepository(f"{path} is inside the git directory {location.git_dir}, which has no working tree")
    return _rev_parse(owner)


def locate_again(location: RepositoryLocation) -> RepositoryLocation:
    """Read the state of a repository again, with the configuration as it was. Raises as `locate`."""
    now = locate(location.worktree or location.git_dir)
    return now._replace(shortcuts=location.shortcuts, content=location.content)


def main_worktree(location: RepositoryLocation) -> Path | None:
    """Return the main working tree of a repository, to which its linked ones belong.

    None if the repository has none to write to: bare, separate git directory, submodule, or removed. Takes one git
    process for a linked working tree, none otherwise.
    """
    home = location.common_dir.parent
    if location.common_dir.name != ".git" or not location.common_dir.samefile(home / ".git"):
        return None
    if not location.linked:
        return location.worktree if location.worktree == home else None
    answer = run_git(["rev-parse", "--is-bare-repository"], git_dir=location.common_dir, check=False)
    return home if answer.stdout.strip() == b"false" else None


def worktree_ids(location: RepositoryLocation) -> set[str]:
    """Return the `worktree_id` of every working tree that a repository has registered."""
    try:
        linked = {f"linked-{place.name}" for place in (location.common_dir / "worktrees").iterdir()}
    except FileNotFoundError:
        linked = set()
    return {"main", *linked}


def describe_head(location: RepositoryLocation) -> str:
    """Format HEAD for display: `main 2ac8988`, `detached 2ac8988`, `main (no commit yet)`."""
    if location.plain and location.worktree is not None:
        return f"folder {location.worktree.name}"
    name = location.branch or "detached"
    return f"{name} {location.head_commit[:7]}" if location.head_commit else f"{name} (no commit yet)"


def _existing_folder(path: Path) -> Path:
    try:
        folder = Path(os.path.realpath(path))
    except FileNotFoundError as error:
        raise NotARepository("the current folder no longer exists", hint="change to another one: cd") from error
    try:
        if folder.is_dir():
            return folder
        if folder.exists():
            return folder.parent
    except OSError as error:
        raise NotARepository(f"{path} cannot be entered: {error.strerror}") from error
    raise NotARepository(f"{path} does not exist")


def _find_plain(folder: Path) -> RepositoryLocation | None:
    """Return the location of the indexed folder that contains a folder outside of any repository, None without one."""
    from gitmem.git.plain_folders import find_plain_folder  # most folders are in a repository

    plain = find_plain_folder(folder, os.environ)
    return None if plain is None else _rev_parse(plain.folder, plain.git_dir)._replace(plain=True)


def _rev_parse(folder: Path, git_dir: Path | None = None) -> RepositoryLocation:
    args = [f"--work-tree={folder}"] if git_dir else []
    result = run_git([*args, "rev-parse", *REV_PARSE_ARGS], cwd=folder, git_dir=git_dir, check=False)
    sections = os.fsdecode(result.stdout).split(SEPARATOR + "\n")
    if len(sections) < 5:
        raise _refusal(folder, result)
    is_bare, is_shallow, object_format, *_ = sections[0].split()
    git_dir, common_dir = (Path(os.path.realpath(section.removesuffix("\n"))) for section in sections[1:3])
    worktree = Path(os.path.realpath(folder / sections[3].removesuffix("\n"))) if sections[3] else None
    commit, tree, branch = _parse_head(sections[4], result, git_dir)
    return RepositoryLocation(
        worktree=worktree,
        git_dir=git_dir,
        common_dir=common_dir,
        object_format=object_format,
        head_commit=commit,
        head_tree=tree,
        branch=branch,
        bare=is_bare == "true" and worktree is None,
        shallow=is_shallow == "true",
    )


def _parse_head(output: str, result: GitResult, git_dir: Path) -> tuple[str | None, str | None, str | None]:
    """Return commit, tree and branch of HEAD; commit and tree are None before the first commit."""
    if result.code == 0:
        commit, tree, name = output.splitlines()
        return commit, tree, None if name == "HEAD" else name.removeprefix("refs/heads/")
    name = os.fsdecode(run_git(["symbolic-ref", "--quiet", "HEAD"], git_dir=git_dir, check=False).stdout).strip()
    if not name or not output.startswith("HEAD\n"):  # git echoes HEAD if it has no commit yet
        is_missing = "could not fetch" in result.stderr
        hint = "this partial clone lacks it; fetch it with: git checkout HEAD" if is_missing else "run: git fsck"
        raise GitFailed(f"HEAD of {git_dir} cannot be read: {first_error_line(result.stderr)}", hint=hint)
    return None, None, name.removeprefix("refs/heads/")


def _owner_of_git_dir(location: RepositoryLocation) -> Path | None:
    """Return the working tree of a git directory, for a path inside that directory; None if it has none."""
    if location.linked:
        pointer = location.git_dir / "gitdir"
        owner = Path(os.fsdecode(pointer.read_bytes()).rstrip("\n")).parent if pointer.is_file() else None
    else:
        owner = location.common_dir.parent if location.common_dir.name == ".git" else None
    return owner if owner and owner.is_dir() else None


def _refusal(folder: Path, result: GitResult) -> NotARepository:
    if "dubious ownership" in result.stderr:
        advice = re.search(r"git config --global --add safe\.directory .+", result.stderr)
        return NotARepository(
            f"git refuses to enter {folder}: it belongs to another user",
            hint=advice.group() if advice else f"git config --global --add safe.directory {folder}",
        )
    if "safe.bareRepository" in result.stderr:
        return NotARepository(
            f"git refuses to enter {folder}: bare repositories must be named",
            hint="git config --global safe.bareRepository all",
        )
    if "not a git repository" in result.stderr:
        return OutsideRepository(
            f"{folder} is not inside a git repository",
            hint="run gitmem inside one, create one with `git init`, or index the folder: gitmem index PATH",
        )
    return NotARepository(f"git cannot open a repository at {folder}: {first_error_line(result.stderr)}")

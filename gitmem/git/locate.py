"""From a path to the repository it belongs to, with one git child.

Owns what a repository is called: working tree, git directory, common directory, HEAD. Answers come from git alone, so
that its safety rules (`safe.directory`, `safe.bareRepository`) hold for us too.
"""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import GitFailed, NotARepository
from gitmem.git.program import GitResult, first_error_line, run_git

MARK: Final = "--gitmem-next"
"""rev-parse prints options that it does not know: a separator between answers that may hold line feeds."""

QUESTIONS: Final = (
    "--path-format=absolute", "--is-bare-repository", "--is-shallow-repository", "--show-object-format=storage", MARK,
    "--git-dir", MARK,
    "--git-common-dir", MARK,
    "--show-cdup", MARK,
    "HEAD", "HEAD^{tree}", "--symbolic-full-name", "HEAD",
)  # fmt: skip


class Location(NamedTuple):
    """One working tree (or bare repository) and where its parts lie. All paths are absolute and without links."""

    worktree: Path | None
    git_dir: Path
    common_dir: Path
    object_format: str
    head_commit: str | None
    head_tree: str | None
    branch: str | None
    bare: bool
    shallow: bool

    @property
    def linked(self) -> bool:
        """Whether this is a linked working tree (`git worktree add`)."""
        return self.git_dir != self.common_dir

    @property
    def worktree_id(self) -> str:
        """A file name for what belongs to this working tree alone: git's own name for a linked one."""
        return f"linked-{self.git_dir.name}" if self.linked else "main"


def locate(path: Path) -> Location:
    """Find the repository that `path` lies in; a file stands for its folder, a `.git` folder for its working tree."""
    folder = _existing_folder(path)
    location = _ask(folder)
    if location.worktree or location.bare:
        return location
    owner = _owner_of_git_dir(location)
    if owner is None:
        raise NotARepository(f"{path} lies inside the git directory {location.git_dir}, which has no working tree")
    return _ask(owner)


def main_worktree(location: Location) -> Path | None:
    """Find the main working tree that a repository's linked ones belong to.

    None where there is none to write to: bare, separate git directory, submodule, or removed. One git child for a
    linked working tree, none otherwise.
    """
    home = location.common_dir.parent
    if location.common_dir.name != ".git" or not location.common_dir.samefile(home / ".git"):
        return None
    if not location.linked:
        return location.worktree if location.worktree == home else None
    answer = run_git(["rev-parse", "--is-bare-repository"], git_dir=location.common_dir, check=False)
    return home if answer.stdout.strip() == b"false" else None


def worktree_ids(location: Location) -> set[str]:
    """The ids of all working trees of a repository, as far as they are there."""
    try:
        linked = {f"linked-{place.name}" for place in (location.common_dir / "worktrees").iterdir()}
    except FileNotFoundError:
        linked = set()
    return {"main", *linked}


def describe_head(location: Location) -> str:
    """Name HEAD for people: `main 2ac8988`, `detached 2ac8988`, `main (no commit yet)`."""
    name = location.branch or "detached"
    return f"{name} {location.head_commit[:7]}" if location.head_commit else f"{name} (no commit yet)"


def _existing_folder(path: Path) -> Path:
    folder = Path(os.path.realpath(path))
    try:
        if folder.is_dir():
            return folder
        if folder.exists():
            return folder.parent
    except OSError as error:
        raise NotARepository(f"{path} cannot be entered: {error.strerror}") from error
    raise NotARepository(f"{path} does not exist")


def _ask(folder: Path) -> Location:
    result = run_git(["rev-parse", *QUESTIONS], cwd=folder, check=False)
    sections = os.fsdecode(result.stdout).split(MARK + "\n")
    if len(sections) < 5:
        raise _refusal(folder, result)
    facts = sections[0].split()
    git_dir, common_dir = (Path(os.path.realpath(section.removesuffix("\n"))) for section in sections[1:3])
    worktree = Path(os.path.realpath(folder / sections[3].removesuffix("\n"))) if sections[3] else None
    commit, tree, branch = _head(sections[4], result, git_dir)
    return Location(
        worktree=worktree,
        git_dir=git_dir,
        common_dir=common_dir,
        object_format=facts[2],
        head_commit=commit,
        head_tree=tree,
        branch=branch,
        bare=facts[0] == "true" and worktree is None,
        shallow=facts[1] == "true",
    )


def _head(answers: str, result: GitResult, git_dir: Path) -> tuple[str | None, str | None, str | None]:
    if result.code == 0:
        commit, tree, name = answers.splitlines()
        return commit, tree, None if name == "HEAD" else name.removeprefix("refs/heads/")
    name = os.fsdecode(run_git(["symbolic-ref", "--quiet", "HEAD"], git_dir=git_dir, check=False).stdout).strip()
    if not name or not answers.startswith("HEAD\n"):  # git repeats a HEAD that has no commit yet
        left_out = "could not fetch" in result.stderr
        hint = "this clone left it out; get it with: git checkout HEAD" if left_out else "run: git fsck"
        raise GitFailed(f"HEAD of {git_dir} cannot be read: {first_error_line(result.stderr)}", hint=hint)
    return None, None, name.removeprefix("refs/heads/")


def _owner_of_git_dir(location: Location) -> Path | None:
    """The working tree that a git directory serves, for a path inside that directory."""
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
        return NotARepository(
            f"{folder} is not inside a git repository", hint="run it inside one, or make one: git init"
        )
    return NotARepository(f"git cannot open a repository at {folder}: {first_error_line(result.stderr)}")

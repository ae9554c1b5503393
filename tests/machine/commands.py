"""Actions of users on a repository, as functions whose details are random.

Git may refuse a command (nothing to commit, a conflict, a missing branch). That happens to users too, so the state
that it leaves is part of the test.
"""

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.gitrepo import Repo, isolated_environment

NAMES: Final = (
    "a.py", "b.py", "src/core.py", "src/deep/er/leaf.go", "README.md", "naïve name.js", "lib/x.rb", "data.txt",
    "vendor/kept.c", "Makefile", "src/core.rs", "docs/guide.md",
)  # fmt: skip
WORDS: Final = "parser cookie session retry socket token cache router hook index lexer signal".split()
BRANCHES: Final = ("main", "topic", "other")


class World:
    """Repository at `path`, a second one to pull from, and the source of random decisions."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "repository"
        self.beside = folder / "beside"
        self.linked = folder / "linked"
        self.dice = random.Random(0)
        self.repo = Repo.init(self.path)
        self.repo.commit({name: text_of(name, number) for number, name in enumerate(NAMES[:6])}, "first")
        subprocess.run(["git", "clone", "--quiet", self.path, self.beside], check=True, env=isolated_environment())
        self.git("remote", "add", "origin", str(self.beside))

    def git(self, *args: str, at: Path | None = None) -> bool:
        """Run git and return whether it succeeded."""
        process = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false", *args],
            cwd=at or self.path,
            env=isolated_environment() | {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return process.returncode == 0

    def name(self) -> str:
        return self.dice.choice(NAMES)

    def branch(self) -> str:
        return self.dice.choice(BRANCHES)

    def file(self, name: str) -> Path:
        return self.path / name

    def text(self, name: str) -> str:
        return text_of(name, self.dice.randrange(40))

    def put(self, name: str, content: str | bytes) -> None:
        """Write a file; remove links, files and folders that are in its place."""
        target = self.file(name)
        for folder in [target, *target.parents]:
            if folder == self.path:
                break
            if folder.is_symlink() or (folder.is_file() and folder != target):
                folder.unlink()
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def text_of(name: str, number: int) -> str:
    """Return code that depends on the number and matches queries for its words."""
    one, other = WORDS[number % len(WORDS)], WORDS[(number * 7 + 3) % len(WORDS)]
    if name.endswith((".md", ".txt")):
        return f"# About the {one}\n\nThe {one} looks after the {other} number {number}.\n"
    body = "".join(f"    value_{line} = {other}(value_{line - 1})\n" for line in range(1, 4 + number % 5))
    return f"def {one}_{number}(value_0):\n{body}    return value_1\n\n\ndef {other}_{one}():\n    return {number}\n"


def _write(world: World) -> None:
    name = world.name()
    world.put(name, world.text(name))


def _append(world: World) -> None:
    name = world.name()
    if world.file(name).is_file():
        world.put(name, world.file(name).read_bytes() + b"\ndef appended():\n    return 'more'\n")


def _same_size(world: World) -> None:
    """Edit a file without changing its size and time, as within one tick of the clock."""
    target = world.file(world.name())
    if target.is_file() and not target.is_symlink():
        before = target.stat()
        target.write_bytes(target.read_bytes().replace(b"value", b"eulav"))
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def _touch(world: World) -> None:
    target = world.file(world.name())
    if target.is_file():
        os.utime(target)


def _binary(world: World) -> None:
    world.put(world.name(), b"\x00\x01" * 50)


def _delete(world: World) -> None:
    target = world.file(world.name())
    if target.is_symlink() or target.is_file():
        target.unlink()
    elif target.is_dir():
        shutil.rmtree(target)


def _move(world: World) -> None:
    source, target = world.name(), world.name()
    if source != target and world.file(source).is_file():
        content = world.file(source).read_bytes()
        world.file(source).unlink()
        world.put(target, content)


def _link(world: World) -> None:
    name = world.name()
    world.put(name, "")
    world.file(name).unlink()
    world.file(name).symlink_to(world.dice.choice(["a.py", "nowhere", "src"]))


def _folder_for_file(world: World) -> None:
    name = world.name()
    world.put(f"{name}/inner.py", world.text("inner.py"))


def _ignore(world: World) -> None:
    world.put(".gitignore", world.dice.choice(["", "*.go\n", "src/\n", "*.txt\n!data.txt\n", "/b.py\n"]))


def _attributes(world: World) -> None:
    lines = ["", "*.py text eol=crlf\n", "src/** linguist-generated\n", "*.rb gitmem-ignore\n", "data.txt binary\n"]
    world.put(".gitattributes", world.dice.choice(lines))


def _carriage_returns(world: World) -> None:
    name = world.name()
    world.put(name, world.text(name).replace("\n", "\r\n"))


def _mode(world: World) -> None:
    target = world.file(world.name())
    if target.is_file() and not target.is_symlink():
        target.chmod(world.dice.choice([0o755, 0o644]))


def _nested(world: World) -> None:
    """Create a nested repository, which git does not enter."""
    world.git("init", "--quiet", str(world.file("nested")))
    world.put("nested/own.py", world.text("own.py"))


def _checkout_path(world: World) -> None:
    world.git("checkout", world.branch(), "--", world.name())


def _pull(world: World) -> None:
    Repo(world.beside).commit({world.name(): world.text("a.py")}, "beside")
    world.git("pull", "--quiet", world.dice.choice(["--rebase", "--no-rebase", "--ff-only"]), "origin", "main")


def _am(world: World) -> None:
    if world.git("format-patch", "-1", "-o", str(world.beside.parent / "patches"), world.branch()):
        patches = sorted((world.beside.parent / "patches").iterdir())
        world.git("am", "--quiet", "-3", str(patches[-1]))
        shutil.rmtree(world.beside.parent / "patches")


def _worktree_inside(world: World) -> None:
    world.git("worktree", "add", "--quiet", "--force", "--detach", str(world.path / ".claude/worktrees/agent"))


def _plumbing(world: World) -> None:
    """Commit with plumbing commands: HEAD moves, the files stay."""
    repo = world.repo
    if world.git("rev-parse", "--verify", "HEAD~1"):
        commit = repo.git("commit-tree", "HEAD~1^{tree}", "-p", "HEAD", "-m", "by hand")
        world.git("update-ref", "HEAD", commit)


def _replace(world: World) -> None:
    if world.git("rev-parse", "--verify", "HEAD~1"):
        world.git("replace", "-f", "HEAD", "HEAD~1")


def _submodule(world: World) -> None:
    world.git("submodule", "--quiet", "add", "--force", str(world.beside), "sub")


def _git(*args: str) -> Callable[[World], None]:
    """Return a git command whose arguments NAME and BRANCH are replaced at random."""

    def run(world: World) -> None:
        world.git(*(arg.replace("NAME", world.name()).replace("BRANCH", world.branch()) for arg in args))

    return run


COMMANDS: Final[dict[str, Callable[[World], None]]] = {
    "write": _write, "append": _append, "same size": _same_size, "touch": _touch, "binary": _binary,
    "delete": _delete, "move": _move, "link": _link, "folder for file": _folder_for_file, "ignore": _ignore,
    "attributes": _attributes, "carriage returns": _carriage_returns, "mode": _mode, "nested": _nested,
    "checkout path": _checkout_path, "pull": _pull, "am": _am, "am --abort": _git("am", "--abort"),
    "worktree inside": _worktree_inside, "plumbing": _plumbing, "replace": _replace, "submodule": _submodule,
    "add": _git("add", "--", "NAME"), "add all": _git("add", "--all"), "add -N": _git("add", "-N", "--", "NAME"),
    "mv": _git("mv", "-f", "NAME", "NAME"), "rm": _git("rm", "-f", "NAME"),
    "rm --cached": _git("rm", "--cached", "-f", "NAME"),
    "commit": _git("commit", "-m", "staged"), "commit -a": _git("commit", "-a", "-m", "all"),
    "commit --amend": _git("commit", "--amend", "-a", "-m", "amended"),
    "commit --allow-empty": _git("commit", "--allow-empty", "-m", "empty"),
    "switch -c": _git("switch", "-c", "BRANCH"), "switch": _git("switch", "BRANCH"),
    "checkout -f": _git("checkout", "-f", "BRANCH"), "checkout --detach": _git("checkout", "--detach", "HEAD~1"),
    "switch --orphan": _git("switch", "--orphan", "other"), "branch -D": _git("branch", "-D", "BRANCH"),
    "branch -m": _git("branch", "-m", "BRANCH"), "merge": _git("merge", "--no-edit", "BRANCH"),
    "merge --no-ff": _git("merge", "--no-ff", "--no-edit", "BRANCH"), "merge --abort": _git("merge", "--abort"),
    "merge --squash": _git("merge", "--squash", "BRANCH"), "rebase": _git("rebase", "BRANCH"),
    "rebase -i": _git("rebase", "-i", "--autosquash", "HEAD~2"), "rebase --abort": _git("rebase", "--abort"),
    "rebase --continue": _git("rebase", "--continue"), "cherry-pick": _git("cherry-pick", "BRANCH"),
    "cherry-pick --abort": _git("cherry-pick", "--abort"), "revert": _git("revert", "--no-edit", "HEAD"),
    "revert --abort": _git("revert", "--abort"), "reset --soft": _git("reset", "--soft", "HEAD~1"),
    "reset": _git("reset", "HEAD~1"), "reset --hard": _git("reset", "--hard", "HEAD~1"),
    "reset --merge": _git("reset", "--merge"), "reset to branch": _git("reset", "--hard", "BRANCH"),
    "restore": _git("restore", "--", "NAME"), "restore --staged": _git("restore", "--staged", "--", "NAME"),
    "stash": _git("stash", "push", "-u"), "stash --keep-index": _git("stash", "push", "--keep-index"),
    "stash pop": _git("stash", "pop"), "stash drop": _git("stash", "drop"), "clean": _git("clean", "-fd"),
    "worktree add": _git("worktree", "add", "-f", "--detach", "../linked"),
    "worktree remove": _git("worktree", "remove", "--force", "../linked"), "gc": _git("gc", "--quiet", "--prune=now"),
    "repack": _git("repack", "-adq"), "pack-refs": _git("pack-refs", "--all"), "tag": _git("tag", "-f", "mark"),
    "chmod": _git("update-index", "--chmod=+x", "NAME"),
    "assume unchanged": _git("update-index", "--assume-unchanged", "NAME"),
    "no assume unchanged": _git("update-index", "--no-assume-unchanged", "NAME"),
    "skip worktree": _git("update-index", "--skip-worktree", "NAME"),
    "no skip worktree": _git("update-index", "--no-skip-worktree", "NAME"),
    "sparse": _git("sparse-checkout", "set", "src"), "sparse off": _git("sparse-checkout", "disable"),
    "autocrlf": _git("config", "core.autocrlf", "true"), "no autocrlf": _git("config", "core.autocrlf", "false"),
    "bisect": _git("bisect", "start", "HEAD", "HEAD~2"), "bisect reset": _git("bisect", "reset"),
    "notes": _git("notes", "add", "-f", "-m", "noted"), "fetch": _git("fetch", "origin"),
    "submodule deinit": _git("submodule", "deinit", "-f", "sub"), "read-tree": _git("read-tree", "HEAD"),
}  # fmt: skip
"""Commands by name; the failure of a run shows the name."""

"""Real git repositories for tests, isolated from the machine: no host configuration, fixed names and dates."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

IDENTITY: Final = {
    "GIT_AUTHOR_NAME": "A Person",
    "GIT_AUTHOR_EMAIL": "person@example.invalid",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05+00:00",
    "GIT_COMMITTER_NAME": "A Person",
    "GIT_COMMITTER_EMAIL": "person@example.invalid",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05+00:00",
}
ISOLATION: Final = {
    "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("gitconfig")),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GITMEM_NO_REGISTRY": "1",
    "LC_ALL": "C",
}


def isolated_environment() -> dict[str, str]:
    """Return the environment for git in tests: isolated, with an identity, without this process's `GIT_` variables."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return inherited | ISOLATION | IDENTITY


def unmeasured_environment() -> dict[str, str]:
    """Return the environment for a program whose imports a test examines, without coverage, which adds its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


class Repo:
    """Repository in a folder, controlled through the git program."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def init(cls, path: Path, *options: str) -> "Repo":
        """Run `git init` with branch `main`."""
        path.mkdir(parents=True, exist_ok=True)
        repo = cls(path)
        repo.git("init", "--quiet", "--initial-branch=main", *options)
        return repo

    def git(self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
        """Run git here and return its output without the last line feed; file:// remotes are allowed."""
        return os.fsdecode(self.git_bytes(*args, stdin=stdin, env=env)).removesuffix("\n")

    def git_bytes(self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        """Run git here and return the bytes of its output; a failure shows git's error message."""
        process = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *args],
            cwd=self.path,
            env={**isolated_environment(), **(env or {})},
            input=stdin if stdin is not None else b"",
            capture_output=True,
            check=False,
        )
        assert process.returncode == 0, f"git {' '.join(args)}: {process.stderr.decode('utf-8', 'replace')}"
        return process.stdout

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files of the working tree, folders included; nothing is added to the index."""
        for name, content in files.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Mapping[str, str | bytes] | None = None, message: str = "change") -> str:
        """Write files, add everything, commit (an empty commit too) and return the commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        return self._commit("--allow-empty", "-m", message)

    def commit_entries(self, entries: Mapping[bytes, bytes], message: str = "change") -> str:
        """Commit files whose names the file system may refuse, by writing to the object database and the index."""
        oids = {path: self.git("hash-object", "-w", "--stdin", stdin=content) for path, content in entries.items()}
        lines = [b"100644 " + oid.encode() + b"\t" + path + b"\0" for path, oid in oids.items()]
        self.git("update-index", "-z", "--index-info", stdin=b"".join(lines))
        return self._commit("-m", message)

    def _commit(self, *options: str) -> str:
        """Commit the git index and return the commit's id, with one process instead of three."""
        # Looking for maintenance after each commit takes as long as the commit. No repository here needs it.
        self.git("-c", "maintenance.auto=false", "commit", "--quiet", "--no-verify", *options)
        return self.head()

    def head(self) -> str:
        """Return the id of the current commit; from the files if HEAD is a loose branch, as it is after a commit."""
        folder = self.path / ".git"
        try:
            reference = (folder / "HEAD").read_text("utf-8").removeprefix("ref: ").strip()
            return (folder / reference).read_text("ascii").strip()
        except OSError:  # detached, a linked working tree, or another store of references
            return self.git("rev-parse", "HEAD")

    def oid(self, rev: str) -> str:
        """Return the object id of a revision."""
        return self.git("rev-parse", "--verify", rev)

    def loose_object(self, oid: str) -> Path:
        """Return the path of a loose object."""
        return self.path / ".git" / "objects" / oid[:2] / oid[2:]


MakeRepo = Callable[..., Repo]

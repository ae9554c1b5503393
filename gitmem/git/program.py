"""Starts the `git` program so that neither the environment nor the configuration can bend what it answers.

It never waits for a password, never opens the network, never takes an optional lock (a query must not take
`index.lock` from the user) and never starts a file system monitor.
"""

import errno
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from gitmem.errors import GitFailed, GitmemError

KEPT_VARIABLES: Final = frozenset({
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
})  # fmt: skip
"""The only `GIT_` variables passed on: where the person keeps configuration and git. Hooks and aliases set the
others (`GIT_DIR`, `GIT_INDEX_FILE`, ...) for one command of their own; to us they would name a different repository."""

FIXED_VARIABLES: Final = {
    "GIT_ALLOW_PROTOCOL": "none",  # stops the fetch of missing objects where git does not know the next one (< 2.45)
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

OPTIONS: Final = (
    "--no-optional-locks",
    "-c", "core.fsmonitor=false",
    "-c", "core.quotePath=false",
    "-c", "protocol.allow=never",
)  # fmt: skip


_SHORT_OF: Final = {
    errno.EMFILE: "allow this process more open files (ulimit -n) and try again",
    errno.ENFILE: "too many files are open on this machine; try again",
    errno.EAGAIN: "too many processes are running; try again",
    errno.ENOMEM: "too little memory is free; try again",
}
"""What helps where the system has not enough left for another process."""


class GitResult(NamedTuple):
    """What a finished git process said."""

    stdout: bytes
    stderr: str
    code: int


def run_git(
    args: Sequence[str],
    *,
    cwd: Path | None = None,
    git_dir: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    check: bool = True,
) -> GitResult:
    """Run git to its end. With `check`, an exit code other than 0 raises GitFailed with git's own words."""
    with start_git(args, cwd=cwd, git_dir=git_dir, environment=environment) as process:
        out, err = process.communicate(stdin)
    result = GitResult(out, err.decode("utf-8", "replace").strip(), process.returncode)
    if check and result.code != 0:
        command = next((arg for arg in args if not arg.startswith("-")), "")
        raise GitFailed(f"git {command} failed: {first_error_line(result.stderr) or f'exit code {result.code}'}")
    return result


def start_git(
    args: Sequence[str],
    *,
    cwd: Path | None = None,
    git_dir: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: IO[bytes] | int = subprocess.PIPE,
    stderr: IO[bytes] | int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start git with pipes and leave it running: for batch processes, and for work to be fetched later.

    With `git_dir` no search for a repository happens; it then runs in that folder unless `cwd` says otherwise.
    `environment` is added to what git is allowed to see.
    """
    where = [f"--git-dir={git_dir}"] if git_dir else []
    try:
        return subprocess.Popen(
            ["git", *OPTIONS, *_trusted(os.environ), *where, *args],
            cwd=cwd or git_dir,
            env=_environment(os.environ) | (dict(environment) if environment else {}),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        if error.filename != "git":
            raise GitFailed(f"folder {error.filename} is gone") from error
        raise GitmemError("the git program was not found", hint="install git, or put it on PATH") from error
    except OSError as error:
        hint = _SHORT_OF.get(error.errno or 0, "")
        raise GitmemError(f"git cannot be started: {error.strerror or error}", hint=hint) from error


def first_error_line(stderr: str) -> str:
    """The line of git's messages that tells what went wrong: the first fatal one, else the first error."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    for prefix in ("fatal: ", "error: ", ""):
        for line in lines:
            if line.startswith(prefix):
                return line.removeprefix(prefix)
    return ""


def _environment(inherited: "os._Environ[str]") -> dict[str, str]:
    kept = {name: value for name, value in inherited.items() if name in KEPT_VARIABLES or not name.startswith("GIT_")}
    kept.pop("LANGUAGE", None)
    return kept | FIXED_VARIABLES


def _trusted(inherited: "os._Environ[str]") -> Iterator[str]:
    """The folders declared safe by GIT_CONFIG_COUNT, as containers and CI do; nothing else is taken from there."""
    count = inherited.get("GIT_CONFIG_COUNT", "")
    for index in range(min(int(count), 100) if count.isdecimal() and len(count) < 5 else 0):
        if inherited.get(f"GIT_CONFIG_KEY_{index}", "").lower() == "safe.directory":
            yield from ("-c", f"safe.directory={inherited.get(f'GIT_CONFIG_VALUE_{index}', '')}")

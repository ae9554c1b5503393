"""Running of the `git` program, with output that depends neither on the environment nor on the configuration.

It never prompts for a password, never opens the network, never takes an optional lock (a query must not hold the
user's `index.lock`) and never starts a file system monitor. Only `run_network_git` and `run_restricted_git`, for a
command of the user that names a remote or a URL, use the network, with the user's own credentials.
"""

import errno
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO, Final

from gitmem.errors import GitFailed, GitmemError
from gitmem.named_tuple import NamedTuple

PASSED_VARIABLES: Final = frozenset({
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
})  # fmt: skip
"""The only `GIT_` variables passed on: the locations of the user's configuration and of git.

Hooks and aliases set the others (`GIT_DIR`, `GIT_INDEX_FILE`, ...) for a command of their own. They would redirect
gitmem to a different repository.
"""

FIXED_VARIABLES: Final = {
    "GIT_ALLOW_PROTOCOL": "none",  # prevents lazy fetches in git < 2.45, which ignores the next variable
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

REDIRECTING_VARIABLES: Final = frozenset({
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
})  # fmt: skip
"""Variables by which a hook or an alias redirects git to a repository (`git rev-parse --local-env-vars`)."""

TOKEN_VARIABLE: Final = "GITMEM_GIT_TOKEN"  # noqa: S105 (its name, not its value)

# A shell expands the variable in the helper, so git never prints its value. Other actions than `get` store nothing.
_TOKEN_HELPER: Final = (
    f'!f() {{ test "$1" = get && printf "username=x-access-token\\npassword=%s\\n" "${TOKEN_VARIABLE}"; }}; f'
)

# A server decides neither the protocol nor the host: redirections are refused. It may not name bundles to download.
_RESTRICTING_OPTIONS: Final = tuple(
    part
    for entry in ("protocol.allow=never", "protocol.https.allow=always", "protocol.ssh.allow=always",
                  "http.followRedirects=false", f"core.hooksPath={os.devnull}", "transfer.bundleURI=false",
                  "fetch.recurseSubmodules=false", "gc.autoDetach=false", "maintenance.autoDetach=false",
                  "core.fsync=committed,reference", "fetch.unpackLimit=1")
    for part in ("-c", entry)
)  # fmt: skip

_RESTRICTING_VARIABLES: Final = {"GIT_ALLOW_PROTOCOL": "https:ssh", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
"""The first has precedence over the configuration, in which a user may have allowed more."""

_SPEED_VARIABLES: Final = {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": "60"}
"""git gives up on a server that sends nothing for a minute. The user may set others."""

# ssh opens the terminal itself, whatever its standard input is, and waits for ever for an answer or a silent server.
_SSH_OPTIONS: Final = " -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=15 -o ServerAliveCountMax=4"

_UNREADABLE_REMOTE: Final = "fatal: Could not read from remote repository."
"""Last message of git if ssh failed; the line before it has the reason, by ssh or by the server."""

_RESOURCE_HINTS: Final = {
    errno.EMFILE: "allow this process more open files (ulimit -n) and try again",
    errno.ENFILE: "too many files are open on this machine; try again",
    errno.EAGAIN: "too many processes are running; try again",
    errno.ENOMEM: "too little memory is free; try again",
}
"""Hints for errors of a system that has no resources left for another process."""


_DIED: Final = 128
"""Exit code of git if it cannot do its work at all."""

_FULL_MESSAGES: Final = tuple(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT))
"""What git prints if the disk is full; it runs with `LC_ALL=C`."""

_FULL_HINT: Final = "free some space on the disk of the repository; nothing that was stored is lost"


class GitResult(NamedTuple):
    """Output and exit code of a finished git process."""

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
    """Run git and wait for its end. With `check`, an exit code other than 0 raises GitFailed with git's message.

    Raises GitFailed, also without `check`, if the folder was removed.
    """
    with start_git(args, cwd=cwd, git_dir=git_dir, environment=environment) as process:
        out, err = process.communicate(stdin)
    result = GitResult(out, err.decode("utf-8", "replace").strip(), process.returncode)
    if result.code == _DIED:
        require_folder(cwd or git_dir or Path())
    if check and result.code != 0:
        raise git_failed(args, result)
    return result


def run_network_git(args: Sequence[str], *, git_dir: Path, cwd: Path, patience: float | None = None) -> GitResult:
    """Run git with the user's own transport, credentials and environment, and wait for its end.

    Only variables that would redirect it to another repository are left out. The exit code is the caller's to check.
    After `patience` seconds git and its transport are killed, which raises GitFailed.
    """
    environment = {name: value for name, value in os.environ.items() if name not in REDIRECTING_VARIABLES}
    # The messages are parsed, so they must not be translated. Questions for a password go to the terminal itself.
    return _run_to_end(["git", f"--git-dir={git_dir}", *args], cwd, environment | {"LC_ALL": "C"}, patience)


def _run_to_end(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], patience: float | None = None
) -> GitResult:
    try:
        # With a limit, git gets a process group of its own: the end of git alone would leave its ssh behind.
        process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=patience is not None,
        )  # fmt: skip
    except OSError as error:
        hint = _RESOURCE_HINTS.get(error.errno or 0, "")
        raise GitmemError(f"git cannot be started: {error.strerror or error}", hint=hint) from error
    with process:
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired as error:
            _kill_group(process)
            raise GitFailed(f"git has not ended within {patience:g} seconds") from error
        except BaseException:
            # Without a group of its own, git's ssh is in that of this process, and gets the signal of the terminal.
            if patience is not None:
                _kill_group(process)
            process.kill()
            process.wait()  # Popen does not, after an interruption
            raise
    return GitResult(out, err.decode("utf-8", "replace").strip(), process.returncode)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those that it started, which are in its session."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # all of them have just ended
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def run_restricted_git(
    args: Sequence[str], *, cwd: Path, git_dir: Path | None = None, server: str = "", token: str = ""
) -> GitResult:
    """Run git for a URL that the user named, by https or ssh alone, and wait for its end.

    The user's proxies, certificates, keys and credential helpers apply. For a `server`, such as `https://github.com`,
    the token is the password instead. git finds it in its environment, so it is neither an argument nor in a file.

    Neither git nor ssh asks a question on the terminal.
    """
    inherited = {name: value for name, value in os.environ.items() if not _is_unfit(name)}
    environment = inherited | _RESTRICTING_VARIABLES | {TOKEN_VARIABLE: token}
    for name, value in _SPEED_VARIABLES.items():
        environment.setdefault(name, value)
    if command := _find_ssh_command(environment, cwd, git_dir):
        environment["GIT_SSH_COMMAND"] = command + _SSH_OPTIONS
    # The empty value removes the user's helpers, which could have an outdated password.
    helper = ["-c", "credential.helper=", "-c", f"credential.{server}.helper={_TOKEN_HELPER}"] if server else []
    directory = [f"--git-dir={git_dir}"] if git_dir else []
    return _run_to_end(["git", *_RESTRICTING_OPTIONS, *helper, *directory, *args], cwd, environment)


def _find_ssh_command(environment: Mapping[str, str], cwd: Path, git_dir: Path | None) -> str:
    """Return the command that git uses for ssh, "" if it is another program, with options of its own."""
    command = environment.get("GIT_SSH_COMMAND", "")
    if not command:
        setting = run_git(["config", "--get", "core.sshCommand"], cwd=cwd, git_dir=git_dir, check=False)
        command = setting.stdout.decode("utf-8", "surrogateescape").strip()
    if not command:
        # A program, and no line of a shell.
        command = shlex.quote(environment.get("GIT_SSH") or "ssh")
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return command if words and PurePath(words[0]).stem == "ssh" else ""


def _is_unfit(name: str) -> bool:
    # Traces are written to files, with the headers of requests.
    return name in REDIRECTING_VARIABLES or name.startswith(("GIT_TRACE", "GIT_CURL_VERBOSE"))


def git_failed(args: Sequence[str], result: GitResult) -> GitFailed:
    """Return the error for a git process that failed: its command, its message, and a hint if the disk is full."""
    # An option `-c` has its value in the next argument; the command is the first argument that is neither.
    words = (arg for arg, before in zip(args, ["", *args], strict=False) if before != "-c")
    command = next((word for word in words if not word.startswith("-")), "")
    reason = first_error_line(result.stderr) or f"exit code {result.code}"
    return GitFailed(f"git {command} failed: {reason}", hint=full_disk_hint(result.stderr))


def full_disk_hint(stderr: str) -> str:
    """Return the hint for a message of git about a full disk, "" for any other message."""
    return _FULL_HINT if any(message in stderr for message in _FULL_MESSAGES) else ""


def require_folder(folder: Path) -> None:
    """Raise GitFailed if a folder was removed: git's own message for that case does not name it."""
    if not folder.is_dir():
        raise folder_removed(folder)


@contextmanager
def naming_removed_folder(folder: Path) -> Iterator[None]:
    """Name the folder in any error that occurs because it was removed meanwhile.

    Chance decides what fails first then: git, or any read of the index. Raises GitFailed.
    """
    try:
        yield
    except (GitmemError, OSError) as error:
        if folder.is_dir():
            raise
        raise folder_removed(folder) from error


def folder_removed(folder: Path | str) -> GitFailed:
    """Return the error for a folder that was removed while it was in use."""
    return GitFailed(
        f"the folder `{folder}` no longer exists", hint="run gitmem in an existing folder of the repository"
    )


def start_git(
    args: Sequence[str],
    *,
    cwd: Path | None = None,
    git_dir: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: IO[bytes] | int = subprocess.PIPE,
    stderr: IO[bytes] | int = subprocess.PIPE,
    new_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start git with pipes, without waiting: for batch processes, and for results that are read later.

    With `git_dir`, git does not search for a repository, and runs in that folder unless `cwd` is given. `environment`
    is added to the variables passed on. `new_session` takes the terminal away. Raises GitFailed if the folder does not
    exist, GitmemError if git cannot be started.
    """
    options = [f"--git-dir={git_dir}"] if git_dir else []
    try:
        return subprocess.Popen(
            ["git", *OPTIONS, *_safe_directories(os.environ), *options, *args],
            cwd=cwd or git_dir,
            env=_environment(os.environ) | (dict(environment) if environment else {}),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=new_session,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        if error.filename != "git":
            raise folder_removed(error.filename) from error
        raise GitmemError("the git program was not found", hint="install git, or put it on PATH") from error
    except OSError as error:
        hint = _RESOURCE_HINTS.get(error.errno or 0, "")
        raise GitmemError(f"git cannot be started: {error.strerror or error}", hint=hint) from error


def first_error_line(stderr: str) -> str:
    """Return the most relevant line of git's messages: the first fatal one, else the first error, else the first.

    If a remote cannot be read, it is the line before that message.
    """
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if _UNREADABLE_REMOTE in lines[1:]:
        return lines[lines.index(_UNREADABLE_REMOTE) - 1].removeprefix("fatal: ")
    for prefix in ("fatal: ", "error: ", ""):
        for line in lines:
            if line.startswith(prefix):
                return line.removeprefix(prefix)
    return ""


def _environment(inherited: "os._Environ[str]") -> dict[str, str]:
    names = {name for name in inherited if name in PASSED_VARIABLES or not name.startswith("GIT_")}
    names.discard("LANGUAGE")  # messages are parsed, so they must not be translated
    return {name: inherited[name] for name in names} | FIXED_VARIABLES


def _safe_directories(inherited: "os._Environ[str]") -> Iterator[str]:
    """Yield options for the folders declared safe by GIT_CONFIG_COUNT, as containers and CI do; ignore its rest."""
    count = inherited.get("GIT_CONFIG_COUNT", "")
    for index in range(min(int(count), 100) if count.isdecimal() and len(count) < 5 else 0):
        if inherited.get(f"GIT_CONFIG_KEY_{index}", "").lower() == "safe.directory":
            yield from ("-c", f"safe.directory={inherited.get(f'GIT_CONFIG_VALUE_{index}', '')}")

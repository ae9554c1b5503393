"""Sign commits as the user's own commits are signed, and check signatures, all through the git program.

git chooses program, key and trust by the user's configuration (`gpg.format`, `user.signingKey`,
`gpg.ssh.allowedSignersFile`, ...), so OpenPGP, SSH and X.509 work alike.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import RawObject, make_object
from gitmem.git.object_quarantine import quarantine
from gitmem.git.program import FIXED_VARIABLES, GitResult, first_error_line, run_git, start_git
from gitmem.named_tuple import NamedTuple

UNSIGNED: Final = "unsigned"
GOOD: Final = "good"
UNKNOWN: Final = "unknown"
BAD: Final = "bad"
_STATES: Final = {"G": GOOD, "U": UNKNOWN, "E": UNKNOWN, "N": UNKNOWN, "B": BAD, "X": "expired", "Y": "expired",
                  "R": "revoked"}  # fmt: skip
"""Words for git's letters (`%G?`). A signature that cannot be checked here is unknown, not missing."""

_MAX_SIGNER: Final = 120
_MAX_KEY: Final = 80
_SECONDS: Final = 30.0
"""Time for programs that may ask for a passphrase although nobody can answer."""

_HEADERS: Final = (b"gpgsig ", b"gpgsig-sha256 ")
_FORMAT: Final = "--format=%H%x00%G?%x00%GS%x00%GK"
_QUIET: Final = {"SSH_ASKPASS": "true", "SSH_ASKPASS_REQUIRE": "never", "GPG_TTY": ""}
_HINT: Final = "check `git config user.signingKey`, unlock the key or use a terminal; nothing is lost or pushed"


class Author(NamedTuple):
    """Author of commits, `name <address>`, and the key to sign with: "" is git's choice, None signs nothing."""

    name: str
    key: str | None = None

    @property
    def signs(self) -> bool:
        """Return whether the commits are signed."""
        return self.key is not None


class CommitText(NamedTuple):
    """Tree, parent, time in seconds since 1970 and message of a commit to sign, and its committer."""

    tree: str
    parent: str | None
    seconds: int
    message: str
    committer: str


def read_signing_key(location: RepositoryLocation, name: str) -> str | None:
    """Return the key for commits of a person, see `Author`; None if `commit.gpgSign` is not on."""
    signs = run_git(["config", "--type=bool", "--get", "commit.gpgSign"], git_dir=location.git_dir, check=False)
    if signs.stdout.strip() != b"true":
        return None
    pattern = r"^(user\.signingkey|gpg\.format)$"
    listed = run_git(["config", "--get-regexp", pattern], git_dir=location.git_dir, check=False)
    lines = listed.stdout.decode("utf-8", "replace").splitlines()
    values = {key: value for key, _, value in (line.partition(" ") for line in lines)}
    if "user.signingkey" in values or values.get("gpg.format") == "ssh":
        return ""
    # Without a key git takes the one of the committer. That is gitmem, which has none, so the person is named. gpgsm
    # compares a whole `name <address>` with no part of a certificate, but it finds addresses.
    return f"<{name.rpartition(' <')[2]}" if values.get("gpg.format") == "x509" else name


def sign_commit(location: RepositoryLocation, author: Author, text: CommitText) -> RawObject:
    """Return a signed commit. Its tree and parent must be stored; the commit itself is not. Raises GitFailed."""
    people: dict[str, str] = {}
    for role, person in (("AUTHOR", author.name), ("COMMITTER", text.committer)):
        name, _, address = person.removesuffix(">").rpartition(" <")
        people |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": address,
                   f"GIT_{role}_DATE": f"@{max(0, text.seconds)} +0000"}  # fmt: skip
    parents = ["-p", text.parent] if text.parent else []
    args = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", f"-S{author.key or ''}", *parents, "-m", text.message]
    # git stores the commit too. The caller stores it durably, so this copy goes with the quarantine.
    with quarantine(location) as new:
        environment = {**new.environment, **people}
        result = _run_limited(location, [*args, text.tree], environment)
        if result.code:
            reason = _reason(result.stderr)
            raise GitFailed(f"the records cannot be signed as `commit.gpgSign` asks: {reason}", hint=_HINT)
        oid = result.stdout.decode("ascii").strip()
        data = run_git(["cat-file", "commit", oid], git_dir=location.git_dir, environment=new.environment).stdout
    return make_object("commit", data, location.object_format)


def is_signed(commit: bytes) -> bool:
    """Return whether a commit object has a signature, of whatever value."""
    return any(line.startswith(_HEADERS) for line in commit.partition(b"\n\n")[0].split(b"\n"))


def check_signatures(location: RepositoryLocation, commits: Collection[str]) -> dict[str, str]:
    """Return the state of the signatures of signed commits: `good: Ann <a@example.org> (KEY)`, see `_STATES`.

    What cannot be checked, or not in time, is unknown.
    """
    if not commits:
        return {}
    # On standard input, because the refs of many writers exceed the length of a command line.
    args = ["--no-replace-objects", "log", "--no-walk=unsorted", "--no-show-signature", _FORMAT, "--stdin"]
    states = dict.fromkeys(commits, UNKNOWN)
    names = "".join(f"{commit}\n" for commit in sorted(commits)).encode("ascii")
    for line in _run_limited(location, args, {}, names).stdout.decode("utf-8", "replace").split("\n"):
        commit, *fields = line.split("\0")
        if commit in states and len(fields) == 3:
            letter, signer, key = fields
            parts = [signer[:_MAX_SIGNER], f"({key[:_MAX_KEY]})" if key else ""]
            about = " ".join(part for part in parts if part)
            states[commit] = _STATES.get(letter, UNKNOWN) + (f": {about}" if about else "")
    return states


def signature_state(text: str) -> str:
    """Return the first word of a described signature: its state."""
    return text.partition(":")[0]


def _reason(stderr: str) -> str:
    """Return the line of git's messages that says why signing failed. The last one only says that it did."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    words = [line for line in lines if not line.startswith(("[GNUPG:]", "error: gpg failed", "fatal:", "hint:"))]
    return (words[0] if words else first_error_line(stderr)).removeprefix("error: ")[:200] or "no reason given"


def _has_terminal() -> bool:
    """Return whether a program can ask a person: it has a controlling terminal, or on Windows an interactive input."""
    if os.name != "posix":
        return sys.stdin is not None and sys.stdin.isatty()
    with suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        return True
    return False


def _run_limited(
    location: RepositoryLocation, args: Sequence[str], environment: Mapping[str, str], stdin: bytes = b""
) -> GitResult:
    """Run git with programs that may ask for a passphrase. Where nobody can answer, they end after some seconds."""
    terminal = _has_terminal()
    quiet = {} if terminal else {**_QUIET, "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    with start_git(
        args,
        git_dir=location.git_dir,
        environment={**FIXED_VARIABLES, **quiet, **environment},
        # A group of its own, so that the programs which git has started end with it.
        new_session=not terminal,
    ) as process:
        try:
            out, err = process.communicate(stdin, timeout=None if terminal else _SECONDS)
        except subprocess.TimeoutExpired:
            _end_group(process)
            return GitResult(b"", f"no answer in {_SECONDS:.0f} seconds, perhaps a passphrase is missing", 1)
    return GitResult(out, err.decode("utf-8", "replace").strip(), process.returncode)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    if os.name == "posix":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()

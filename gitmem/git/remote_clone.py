"""Clones of repositories on other machines, in the user's data folder: make one, bring it up to date, remove it.

A clone is bare: gitmem reads blobs, so nothing is checked out, no hook runs, and neither submodules nor large files are
fetched. A new one is made under a temporary name and then renamed, so a killed process leaves no half clone. An
existing one is fetched into in place: it may hold records, which must survive.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import GitFailed, StorageFailed, UnknownRevision, UsageError
from gitmem.fsio import make_folder, publish_file, remove_file, remove_tree, sync_file, sync_folder
from gitmem.git.program import GitResult, first_error_line, full_disk_hint, run_git, run_restricted_git
from gitmem.git.remote_url import RemoteUrl
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.registry import data_folder, free_name, make_folders

_FOLDER: Final = "remotes"
_TEMPORARY: Final = ".new-"
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256_DIGITS: Final = 64
_HEADS: Final = "refs/heads/"
_TAGS: Final = "refs/tags/"

# As for the refs of records: only the named refs, nothing of the user's own settings for fetches.
_FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-recurse-submodules",
    "--refmap=")  # fmt: skip

_DENIED: Final = ("Authentication failed", "could not read Username", "could not read Password", "Permission denied",
    "returned error: 403", "terminal prompts disabled")  # fmt: skip
_ABSENT: Final = ("not found", "returned error: 404", "does not exist", "does not appear to be a git repository")
_UNKNOWN_KEY: Final = "Host key verification failed"
_CHANGED_KEY: Final = "REMOTE HOST IDENTIFICATION HAS CHANGED"
_REDIRECTED: Final = re.compile(r"returned error: 30[1278]|unable to update url base from redirection")


class CloneOptions(NamedTuple):
    """Options of a clone. `shallow` is None for that of an existing clone, and shallow for a new one.

    `rev` is a branch, a tag or a complete commit id, "" the remote's HEAD. With `fresh` every object is fetched again.
    """

    rev: str = ""
    shallow: bool | None = None
    fresh: bool = False
    token: str = ""
    """Password for https. It is passed in an environment variable, and never part of an argument or a file."""


class _Target(NamedTuple):
    """Ref or commit to fetch. `ref` is "" if a commit is meant."""

    ref: str
    oid: str


def update_clone(
    url: RemoteUrl, environment: Mapping[str, str], options: CloneOptions, on_start: Callable[[str], None]
) -> Path:
    """Make the clone of a URL, or fetch into it, and set its HEAD to the revision. Return its git directory.

    `on_start` is called with `cloning` or `fetching` before the network is used.

    Raises: UsageError without a data folder, UnknownRevision, GitFailed, StorageFailed.
    """
    data = data_folder(environment)
    if data is None:
        raise UsageError(f"the clone of `{url.text}` needs a data folder", hint="set HOME")
    digest = hashlib.sha256(url.key.encode()).hexdigest()[:32]
    folder = data / _FOLDER / digest
    # The last folder is called like the repository, which gives it a name in the list of repositories.
    git_dir = folder / free_name(url.name, ())
    make_folders(folder.parent)
    with writer_lock(folder.with_suffix(".lock"), wait=True):
        _remove_leftovers(folder)
        is_new = not git_dir.is_dir()
        on_start("cloning" if is_new else "fetching")
        target = _find_target(url, options, folder.parent)
        if is_new:
            _make(url, options, target, git_dir)
        else:
            _fetch(url, options, target, git_dir, is_new=False)
    return git_dir


def forget_clone(path: Path, environment: Mapping[str, str], *, all_data: bool) -> bool:
    """Remove a clone. Unless `all_data` is set, one that ever had records is kept. Return whether it was removed.

    Raises: StorageFailed, GitFailed.
    """
    data = data_folder(environment)
    # The list has paths without symbolic links, and the home folder may be behind one.
    if data is None or path.parent.parent != Path(os.path.realpath(data / _FOLDER)) or not path.is_dir():
        return False
    # Deleted records can be restored from former commits of the ref, so its existence counts.
    records = run_git(["for-each-ref", "--count=1", "refs/gitmem", "refs/gitmem-backup"], git_dir=path).stdout
    if records and not all_data:
        return False
    with writer_lock(path.parent.with_suffix(".lock"), wait=True):
        remove_tree(path.parent)
    return True


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left. The caller holds the lock of the clone."""
    for leftover in folder.parent.glob(f"{folder.name}{_TEMPORARY}*"):
        # The git of a killed gitmem may still be writing there: the next run finds the rest.
        with suppress(StorageFailed):
            remove_tree(leftover)
    for git_dir in folder.iterdir() if folder.is_dir() else ():
        # Nobody else fetches into a clone, so these locks belong to the dead. Those of records are left alone.
        stale = [git_dir / "shallow.lock", git_dir / "HEAD.lock"]
        for lock in [*stale, *(git_dir / "refs/heads").rglob("*.lock"), *(git_dir / "refs/tags").rglob("*.lock")]:
            remove_file(lock)


def _make(url: RemoteUrl, options: CloneOptions, target: _Target, git_dir: Path) -> None:
    """Clone under a temporary name, and publish the clone when it is complete and durable."""
    folder = git_dir.parent
    temporary = folder.with_name(f"{folder.name}{_TEMPORARY}{os.urandom(6).hex()}")
    made = temporary / git_dir.name
    make_folder(temporary)
    try:
        # Neither the user's template nor their default branch: this directory is gitmem's.
        kind = "sha256" if len(target.oid) == _SHA256_DIGITS else "sha1"
        run_git(["-c", "init.defaultBranch=none", "init", "--quiet", "--template=", "--bare",
                 f"--object-format={kind}", str(made)])  # fmt: skip
        run_git(["config", "remote.origin.url", url.text], git_dir=made)
        _fetch(url, options, target, made, is_new=True)
        for place in made.iterdir():
            if place.is_file():
                sync_file(place)
        sync_folder(made)
        publish_file(temporary, folder)
    finally:
        remove_tree(temporary)


def _find_target(url: RemoteUrl, options: CloneOptions, folder: Path) -> _Target:
    """Ask the remote which ref or commit a revision means. Raises: UnknownRevision, GitFailed."""
    rev = options.rev
    if rev and (rev.startswith("-") or not rev.isprintable() or ":" in rev or "*" in rev):
        raise UnknownRevision(f"unknown branch, tag or commit: `{rev}`", hint="give a branch, a tag or a commit id")
    names = [rev, _HEADS + rev, _TAGS + rev] if rev else ["HEAD"]
    # git takes these for the ends of names, so the answer may have others too.
    result = _run(["ls-remote", "--symref", "--", url.text, *names], folder, url, options)
    symbolic = dict(_iter_refs(result.stdout, "ref: "))
    oids = {name: oid for oid, name in _iter_lines(result.stdout) if not oid.startswith("ref: ")}
    if not rev:
        if "HEAD" not in oids:
            raise GitFailed(f"`{url.text}` has no commit yet")
        return _Target(symbolic.get("HEAD", ""), oids["HEAD"])
    for name in (_HEADS + rev, _TAGS + rev, rev if rev.startswith("refs/") else ""):
        if name in oids:
            return _Target(name, oids[name])
    if not _COMMIT.fullmatch(rev):
        raise UnknownRevision(
            f"`{url.text}` has no branch or tag `{rev}`",
            hint=f"give one of them, or a complete commit id: git ls-remote {url.text}",
        )
    return _Target("", rev)


def _iter_lines(output: bytes) -> Iterator[tuple[str, str]]:
    for line in output.decode("utf-8", "surrogateescape").splitlines():
        first, _, name = line.partition("\t")
        yield first, name


def _iter_refs(output: bytes, mark: str) -> Iterator[tuple[str, str]]:
    return ((name, first.removeprefix(mark)) for first, name in _iter_lines(output) if first.startswith(mark))


def _fetch(url: RemoteUrl, options: CloneOptions, target: _Target, git_dir: Path, *, is_new: bool) -> None:
    """Fetch the revision, and set HEAD to it when its objects are there. Raises: GitFailed."""
    is_shallow = (git_dir / "shallow").exists()
    shallow = options.shallow if options.shallow is not None else is_shallow or is_new
    depth = ["--depth=1"] if shallow else ["--unshallow"] if is_shallow else []
    # git keeps what it has; with --refetch the server sends all of it again, for a clone that is damaged.
    fresh = ["--refetch"] if options.fresh and not is_new else []
    wanted = f"+{target.ref}:{target.ref}" if target.ref else target.oid
    all_refs = [] if shallow else [f"+{_HEADS}*:{_HEADS}*", f"+{_TAGS}*:{_TAGS}*"]
    specs = dict.fromkeys([*all_refs, *([wanted] if shallow or not target.ref.startswith((_HEADS, _TAGS)) else [])])
    _run([*_FETCH, *depth, *fresh, "--", url.text, *specs], git_dir, url, options, git_dir=git_dir)
    if target.ref.startswith(_HEADS):
        run_git(["symbolic-ref", "HEAD", target.ref], git_dir=git_dir)
    else:
        # A tag, or a commit: HEAD names it itself, as after `git clone --branch TAG`.
        commit = run_git(["rev-parse", "--verify", f"{target.ref or target.oid}^{{commit}}"], git_dir=git_dir)
        oid = commit.stdout.decode("ascii").strip()
        run_git(["update-ref", "--no-deref", "HEAD", oid], git_dir=git_dir)


def _run(
    args: Sequence[str], folder: Path, url: RemoteUrl, options: CloneOptions, git_dir: Path | None = None
) -> GitResult:
    """Run git on the network. Raises: GitFailed with a hint for the usual reasons."""
    # The helper is asked for this host alone, unlike a program in GIT_ASKPASS, which answers any server.
    server = f"https://{url.host}" if options.token and url.is_https else ""
    result = run_restricted_git(args, cwd=folder, git_dir=git_dir, server=server, token=options.token)
    if result.code:
        reason = first_error_line(result.stderr) or f"exit code {result.code}"
        raise GitFailed(f"`{url.text}` cannot be fetched: {reason}", hint=_explain(result.stderr, url))
    return result


def _explain(stderr: str, url: RemoteUrl) -> str:
    """Return the remedy for a message of git, "" if none is known."""
    if _CHANGED_KEY in stderr:
        return "somebody may be listening: ask the operator of the host before you remove its old key (ssh-keygen -R)"
    if _UNKNOWN_KEY in stderr:
        return f"check the key of the host and accept it: {_login_command(url)}"
    if any(words in stderr for words in (*_DENIED, *_ABSENT)):
        # Forges deny that a private repository exists.
        own = "put a token into GITMEM_GIT_TOKEN, or use a credential helper of git"
        return f"check the URL; for a private repository {own if url.is_https else 'add your key: ssh-add'}"
    if _REDIRECTED.search(stderr):
        return "the server redirects to another URL: give that one, often with `.git` at the end"
    return full_disk_hint(stderr)


def _login_command(url: RemoteUrl) -> str:
    """Return the command that logs in to the host of an ssh URL, and asks about its key."""
    is_full = "://" in url.text
    place = url.text.partition("://")[2].partition("/")[0] if is_full else url.text.partition(":")[0]
    login, _, port = place.partition(":")
    return " ".join(["ssh -T", *([f"-p {port}"] if port else []), login])

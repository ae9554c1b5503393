"""Refs of a remote: list, fetch and push them by git's own transport. Only the named refs are touched.

A push runs no hook of the user: `pre-push` usually starts tests, which have nothing to do with records. `patience` is
the number of seconds after which git is killed, for processes whose user cannot do that.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.errors import GitFailed, UsageError
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import GitResult, first_error_line, run_git, run_network_git
from gitmem.git.reference_lock import run_with_locks
from gitmem.git.references import delete_reference, read_reference
from gitmem.git.version import read_version
from gitmem.named_tuple import NamedTuple

# No filter: the objects of a partial clone's records must be complete. No pruning, tags, submodules or FETCH_HEAD:
# these belong to the user's own fetches. `--refmap=` keeps git from updating the user's remote-tracking branches.
_FETCH: Final = (
    "fetch", "--quiet", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-recurse-submodules",
    "--no-auto-maintenance", "--no-filter", "--refmap=",
)  # fmt: skip

_PUSH: Final = ("push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no")
_LARGE_FILES: Final = ("-c", "pack.window=0", "-c", "fetch.unpackLimit=1")
"""Options for files that no delta makes smaller: git would compare each with ten others, and compress it once more."""

_REJECTED: Final = "!"
_LEASE_WORDS: Final = ("stale info", "cannot lock ref", "failed to update ref", "incorrect old value")
"""Reasons of a rejection that mean only that the ref has moved meanwhile."""

_NEGATIVE_REFSPECS: Final = (2, 29)
_BRANCHES: Final = "refs/heads/"

FORWARD_WORDS: Final = ("fetch first", "non-fast-forward")
"""The same for a fast-forward. If commits are to be replaced, the second one means that the host forbids that."""


LOCK_HINT: Final = "if a killed push has left a lock in that repository, remove it there: REF.lock"


class PushedRef(NamedTuple):
    """Result of the push of one ref. Without `accepted`, `moved` says whether it has moved meanwhile."""

    name: str
    accepted: bool
    moved: bool
    reason: str


class RefUpdate(NamedTuple):
    """Ref to push. `expected` is the commit that it may replace by one without it; "" allows only a fast-forward."""

    name: str
    commit: str
    expected: str = ""


def find_remote(location: RepositoryLocation, name: str) -> str:
    """Return the name of a remote; for "", that of the current branch, `origin` or the only one.

    Raises: UsageError.
    """
    remotes = run_git(["remote"], git_dir=location.git_dir).stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]
    if name:
        if name in remotes:
            return name
        raise UsageError(f"unknown remote: `{name}`", hint="git remote -v; git remote add NAME URL")
    branch = run_git(["symbolic-ref", "--quiet", "--short", "HEAD"], git_dir=location.git_dir, check=False)
    key = f"branch.{branch.stdout.decode('utf-8', 'surrogateescape').strip()}.remote"
    configured = run_git(["config", "--get", key], git_dir=location.git_dir, check=False)
    # The order of git's own default. A branch may follow a URL or a branch of its own repository instead of a remote.
    only = remotes if len(remotes) == 1 else []
    for candidate in (configured.stdout.decode("utf-8", "surrogateescape").strip(), *only, "origin"):
        if candidate in remotes:
            return candidate
    if remotes:
        raise UsageError("this branch follows no remote, and there are several", hint="gitmem sync NAME; git remote -v")
    raise UsageError("this repository has no remote to share with", hint="git remote add origin URL")


def find_origin_url(location: RepositoryLocation) -> str:
    """Return the URL of the remote `origin` without a name or password in it, "" without such a remote."""
    result = run_git(["config", "--get", "remote.origin.url"], git_dir=location.git_dir, check=False)
    scheme, separator, rest = result.stdout.decode("utf-8", "surrogateescape").strip().partition("://")
    if not separator:
        return scheme
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def find_push_url(location: RepositoryLocation, remote: str) -> str:
    """Return the URL that a remote is pushed to, if it is another one than that it is fetched from, else "".

    Raises: UsageError if there are several.
    """
    pushed, fetched = (
        run_git(["remote", "get-url", *options, remote], git_dir=location.git_dir).stdout.split(b"\n")[:-1]
        for options in (("--push", "--all"), ())
    )
    if len(pushed) > 1:
        raise UsageError(f"`{remote}` has several URLs for pushes", hint="git remote add NAME URL; gitmem sync NAME")
    return pushed[0].decode("utf-8", "surrogateescape") if pushed != fetched else ""


def read_remote_setting(location: RepositoryLocation, remote: str, name: str) -> str:
    """Return a value of the configuration of a remote, "" without one."""
    result = run_git(["config", "--get", f"remote.{remote}.{name}"], git_dir=location.git_dir, check=False)
    return result.stdout.decode("utf-8", "surrogateescape").strip()


def write_remote_setting(location: RepositoryLocation, remote: str, name: str, value: str) -> None:
    """Store a value in the configuration of a remote, which git removes and renames with it. Raises GitFailed."""
    run_git(["config", "--local", f"remote.{remote}.{name}", value], git_dir=location.git_dir)


def exclude_from_fetches(location: RepositoryLocation, remote: str, pattern: str) -> None:
    """Keep the user's own fetches from refs of a remote. Raises GitFailed."""
    key, spec = f"remote.{remote}.fetch", f"^{pattern}"
    listed = run_git(["config", "--local", "--get-all", key], git_dir=location.git_dir, check=False).stdout
    # git 2.29 is the first one that knows negative refspecs; an older one would refuse every fetch.
    if spec.encode() not in listed.split(b"\n") and read_version() >= _NEGATIVE_REFSPECS:
        run_git(["config", "--local", "--add", key, spec], git_dir=location.git_dir)


def list_remote_refs(
    location: RepositoryLocation, remote: str, prefixes: Sequence[str], url: str = "", *, patience: float | None = None
) -> dict[str, str]:
    """Return the refs of a remote, or of a `url` instead, that begin with a prefix, by name. Raises GitFailed."""
    patterns = [f"{prefix}*" for prefix in prefixes]
    result = _run(location, ["ls-remote", "--refs", "--quiet", url or remote, *patterns], patience)
    _require_success(result, remote, "read")
    lines = (line.split("\t") for line in result.stdout.decode("utf-8", "surrogateescape").splitlines())
    return {name: oid for oid, name in lines if name.startswith(tuple(prefixes))}


def fetch_refs(
    location: RepositoryLocation,
    remote: str,
    targets: Mapping[str, str],
    url: str = "",
    *,
    large_files: bool = False,
    patience: float | None = None,
) -> None:
    """Fetch refs of a remote into refs of this repository, by name; the latter may move back.

    `url` replaces that of the remote. With `large_files` the received pack is kept. The caller excludes other writers
    of these refs, because locks of a git that died are removed. Raises GitFailed.
    """
    if not targets:
        return
    specs = [f"+{source}:{target}" for source, target in targets.items()]
    command = [*(_LARGE_FILES if large_files else ()), *_FETCH, url or remote, *specs]
    result = run_with_locks(lambda: _run(location, command, patience), location, list(targets.values()))
    _require_success(result, remote, "fetched from")


def push_refs(
    location: RepositoryLocation,
    remote: str,
    updates: Sequence[RefUpdate],
    *,
    large_files: bool = False,
    patience: float | None = None,
) -> list[PushedRef]:
    """Push refs, with `large_files` without looking for deltas. Raises GitFailed if the remote could not be reached."""
    leases = [f"--force-with-lease={each.name}:{each.expected}" for each in updates if each.expected]
    specs = [f"{'+' if each.expected else ''}{each.commit}:{each.name}" for each in updates]
    # A mirror pushes all refs or none, and git refuses to push some to it.
    options = [*(_LARGE_FILES if large_files else ()), "-c", f"remote.{remote}.mirror=false"]
    result = _run(location, [*options, *_PUSH, *leases, remote, *specs], patience)
    leased = {each.name for each in updates if each.expected}
    pushed = []
    for line in result.stdout.decode("utf-8", "surrogateescape").splitlines():
        flag, _, rest = line.partition("\t")
        names, _, summary = rest.partition("\t")
        if len(flag) == 1 and ":" in names:
            name = names.partition(":")[2]
            words = _LEASE_WORDS if name in leased else (*FORWARD_WORDS, *_LEASE_WORDS)
            moved = flag == _REJECTED and any(word in summary for word in words)
            reason = summary.partition("(")[2].rpartition(")")[0] or summary
            pushed.append(PushedRef(name, flag != _REJECTED, moved, reason))
    if not pushed:
        _require_success(result, remote, "pushed to")
    _forget_tracking(location, remote, [each.name for each in updates if each.name.startswith(_BRANCHES)])
    return pushed


def _forget_tracking(location: RepositoryLocation, remote: str, branches: Sequence[str]) -> None:
    """Delete the remote-tracking branches that a push made. git makes them for branches that fetches exclude, too."""
    for name in branches:
        tracking = f"refs/remotes/{remote}/{name.removeprefix(_BRANCHES)}"
        if read_reference(location, tracking) is not None:
            delete_reference(location, tracking)


def _run(location: RepositoryLocation, args: Sequence[str], patience: float | None) -> GitResult:
    # A relative URL starts at the top of the working tree, as for the user's own commands.
    return run_network_git(args, git_dir=location.git_dir, cwd=location.worktree or location.git_dir, patience=patience)


def _require_success(result: GitResult, remote: str, action: str) -> None:
    if result.code:
        reason = first_error_line(result.stderr) or f"exit code {result.code}"
        raise GitFailed(f"`{remote}` cannot be {action}: {reason}", hint=f"git ls-remote {remote}")

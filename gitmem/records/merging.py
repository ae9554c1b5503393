"""Merge the memory with another commit of it: the one that was lost, or one that was fetched from a remote."""

from collections.abc import Mapping

from gitmem.errors import GitmemError, UnknownRevision, UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.git.program import run_git
from gitmem.git.ref_log import find_merge_base, is_ancestor
from gitmem.memory.last_tip import LostTip, find_lost_tip, forget_last_tip
from gitmem.memory.record_paths import REFERENCE
from gitmem.memory.record_store import IDENTITY, Changes, RecordStore, Tip
from gitmem.named_tuple import NamedTuple
from gitmem.records.sharing import forget_missing
from gitmem.workspace import Workspace


class MergeResult(NamedTuple):
    """Numbers of records taken over, deleted as in the other commit, and different in both; notices for the user.

    Of records that both sides changed, the own version stays. The other one is in the log, at `commit`.
    """

    commit: str
    taken: int
    deleted: int
    different: int
    notices: list[str]


def merge_memory(workspace: Workspace, revision: str) -> MergeResult:
    """Merge the commit of a revision into the memory.

    Raises: UnknownRevision, UsageError for a commit of the user, GitFailed, StorageFailed.
    """
    name = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    result = run_git(name, git_dir=workspace.location.git_dir, check=False)
    if result.code:
        raise UnknownRevision(f"unknown revision: `{revision}`", hint="gitmem memory merge --help")
    with RecordStore(workspace.location) as store:
        theirs = store.at(result.stdout.decode("ascii").strip())
        _require_memory(workspace, theirs, revision)
        return _merge(workspace, store, theirs)


def _require_memory(workspace: Workspace, tip: Tip, revision: str) -> None:
    """Raise UsageError for a commit of the user: a merge would store its files, and its history, in the memory."""
    args = ["log", "-1", "--format=%cn <%ce>", "--end-of-options", f"{tip.commit}"]
    if run_git(args, git_dir=workspace.location.git_dir).stdout.decode("utf-8", "replace").strip() != IDENTITY:
        raise UsageError(f"`{revision}` is not a memory: gitmem did not commit it", hint="gitmem memory merge --help")


def recover_memory(workspace: Workspace) -> MergeResult:
    """Merge the last known commit, if the ref does not contain it any more. Raises UsageError, GitmemError."""
    with RecordStore(workspace.location) as store:
        lost = _require_lost(workspace, store)
        if not lost.exists:
            raise GitmemError(lost.problem, hint=f"fetch it from another clone, or accept the loss: {lost.remedy}")
        return _merge(workspace, store, store.at(lost.commit))


def accept_loss(workspace: Workspace) -> LostTip:
    """Accept the present state of the ref, and return what is forgotten. Raises UsageError."""
    with RecordStore(workspace.location) as store, store.locked():
        lost = _require_lost(workspace, store)
        # Otherwise the next push would delete for everybody what this clone has lost.
        forget_missing(workspace.location, store)
        tip = store.tip()
        if tip.commit is None:
            forget_last_tip(workspace.location)
        else:
            store.remember(tip.commit)
        return lost


def _require_lost(workspace: Workspace, store: RecordStore) -> LostTip:
    lost = find_lost_tip(workspace.location, store.tip().commit)
    if lost is None:
        raise UsageError(f"`{REFERENCE}` has all its last known records", hint="gitmem memory log")
    return lost


def _merge(workspace: Workspace, store: RecordStore, theirs: Tip) -> MergeResult:
    assert theirs.commit is not None
    taken = deleted = different = 0

    def edit(tip: Tip) -> Changes:
        nonlocal taken, deleted, different
        base = _merge_base(workspace, store, tip, theirs)
        own, others, common = (_blobs(store, each) for each in (tip, theirs, base))
        changes: dict[bytes, bytes | None] = {}
        different = 0
        for path in sorted(others.keys() | common.keys()):
            mine, other, before = own.get(path), others.get(path), common.get(path)
            if other in (mine, before):
                continue
            if mine == before or mine is None:
                changes[path] = store.read_blob(other) if other else None
            elif other is not None:
                different += 1
        taken = sum(data is not None for data in changes.values())
        deleted = len(changes) - taken
        return changes

    store.change("merge", edit, merged=theirs)
    notices, _ = index_records(workspace)
    return MergeResult(theirs.commit, taken, deleted, different, notices)


def _merge_base(workspace: Workspace, store: RecordStore, tip: Tip, theirs: Tip) -> Tip:
    """Return the last common state of two lines of commits; an empty one if they have none."""
    if tip.commit is None or theirs.commit is None:
        return Tip(None, None)
    # Commits of which one contains the other have the older one as their base, without a search.
    if is_ancestor(workspace.location, tip.commit, theirs.commit):
        return tip
    base = find_merge_base(workspace.location, tip.commit, theirs.commit)
    return store.at(base) if base else Tip(None, None)


def _blobs(store: RecordStore, tip: Tip) -> Mapping[bytes, str]:
    return {entry.path: entry.oid for entry in store.entries(tip)}

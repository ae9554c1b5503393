"""Push the rows of this clone's index to a place that others read, and take the rows of others into this index.

Rows are named by blob, chunker and model, so whoever has embedded a blob has done it for everybody. Only blobs of a
commit that the remote has are pushed: no uncommitted file, no unpushed commit, and no record.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from gitmem.actions.index_place import open_place
from gitmem.actions.received_packs import ReceivedPacks, Taken
from gitmem.actions.shared_files import DIGEST, PACK, TABLE, Listing, SharedFiles
from gitmem.actions.sound_packs import SoundPacks
from gitmem.errors import DamagedFile, GitmemError, NewerFormat, UsageError
from gitmem.freshness.refresh import refresh
from gitmem.fsio import make_folder, read_file, remove_tree
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import id_bytes
from gitmem.git.objects import open_reader
from gitmem.git.program import run_git
from gitmem.git.promisor import is_partial
from gitmem.git.remotes import find_remote
from gitmem.indexing.compact import compact
from gitmem.indexing.fingerprint import current_fingerprint, is_made_with, view_key
from gitmem.indexing.index_writer import IndexWriter, open_index_writer
from gitmem.indexing.missing_blobs import MissingBlob, find_missing_blobs
from gitmem.indexing.row_check import compare_pack, expected_dimensions, full_fingerprint, make_rows, open_known
from gitmem.indexing.row_packs import select_blobs, write_packs
from gitmem.indexing.run import add_segment, empty_manifest
from gitmem.indexing.tree_digest import (
    TreeDigest,
    find_leaves,
    format_digest,
    make_digest,
    write_last_digest,
)
from gitmem.indexing.views import ensure_view
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.store.blob_leaves import digest_blobs
from gitmem.store.leaf_table import Key, LeafTable, format_table, make_table, parse_table
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment import find_segment
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace, create_index, require_index

SAMPLE: Final = 32
"""Blobs that a pull chunks and embeds again: a second of processor time at most."""

MAX_TABLE_BYTES: Final = 64 << 20


class PushedIndex(NamedTuple):
    """Result of a push: the added rows, the commit whose tree was pushed, and the digest of its index if complete."""

    remote: str
    commit: str
    blobs: int
    packs: int
    bytes: int
    digest: TreeDigest | None
    notices: list[str]


class PulledIndex(NamedTuple):
    """Result of a pull. `missing` blobs of HEAD nobody shares, `checked` of the taken ones were made again here.

    `absent` blobs of HEAD are not in this partial clone, so their rows can be neither checked nor used. `vectors` of
    the checked blobs were compared; without `embedded` only those of texts that this index has too.
    """

    remote: str
    blobs: int
    rows: int
    bytes: int
    missing: int
    absent: int
    checked: int
    vectors: int
    embedded: bool
    notices: list[str]


def push_index(workspace: Workspace, remote: str = "", *, store: str = "", dry_run: bool = False) -> PushedIndex:
    """Push the rows of the newest commit of HEAD's history that the remote has, as far as nobody else did.

    They go to the remote, or to a `store`, see `open_place`.

    Raises: UsageError, NoIndex, GitFailed, DamagedFile, StorageFailed.
    """
    location, paths = workspace.location, workspace.paths
    name = find_remote(location, remote)
    manifest = _require_usable(workspace)
    commit, tree = _find_pushed(workspace, name)
    view = ensure_view(location, paths, tree, base=manifest.views[-1] if manifest.views else "")
    key = view_key(tree, location.content)
    snapshot = Snapshot(paths, manifest)
    leaves, is_complete = find_leaves(snapshot, view)
    digest = make_digest(leaves, key, manifest.fingerprint) if is_complete else None
    if digest is not None and tree == location.head_tree:
        write_last_digest(paths, digest)
    make_folder(paths.state)
    with (
        open_place(workspace, remote, store, pushes=True) as place,
        writer_lock(paths.scratch_lock, wait=True),
    ):
        listing = place.find_files()
        shared = _find_shared(workspace, place, listing, leaves)
        unshared = leaves.keys() - shared.keys
        selections = select_blobs(snapshot.segments, unshared.__contains__)
        remove_tree(paths.scratch)
        make_folder(paths.scratch)
        try:
            packs = list(write_packs(selections, paths.scratch))
            published = {file.name for file in listing.files if file.writer == place.writer}
            is_new = digest is not None and key + DIGEST not in published
            if (packs or is_new or shared.unsound) and not dry_run:
                place.add(_files(paths.scratch, packs, digest if is_new else None), shared.unsound)
        finally:
            remove_tree(paths.scratch)
    blobs, size = sum(entry.blobs for entry in packs), sum(entry.bytes for entry in packs)
    return PushedIndex(place.place, commit, blobs, len(packs), size, digest,
                       [*describe_listing(listing), *shared.notices])  # fmt: skip


def _require_usable(workspace: Workspace) -> Manifest:
    """Return the manifest of an index of today's chunker and the selected model. Raises: NoIndex, GitmemError."""
    manifest = require_index(workspace)
    if not is_made_with(manifest.fingerprint, workspace.settings):
        raise GitmemError("the index was made by another version or model", hint="run `gitmem index` first")
    return manifest


def _find_pushed(workspace: Workspace, remote: str) -> tuple[str, str]:
    """Return the newest commit of HEAD's history that a branch of the remote has, and its tree. Raises UsageError."""
    git_dir = workspace.location.git_dir
    args = ["rev-list", "--topo-order", "--boundary", "HEAD", "--not", f"--remotes={remote}"]
    head = workspace.location.head_commit
    own = run_git(args, git_dir=git_dir).stdout.decode("ascii").split() if head else []
    # Without commits of its own, HEAD is part of a branch of the remote, and nothing is listed.
    has_branches = bool(run_git(["for-each-ref", "--count=1", f"refs/remotes/{remote}/"], git_dir=git_dir).stdout)
    commit = next((line[1:] for line in own if line.startswith("-")), None) if own else head
    if commit is None or not has_branches:
        raise UsageError(
            f"`{remote}` has no commit of this branch that this clone knows of", hint=f"git push {remote} HEAD"
        )
    tree = run_git(["rev-parse", f"{commit}^{{tree}}"], git_dir=git_dir).stdout.decode("ascii").strip()
    return commit, tree


class _Shared(NamedTuple):
    """Blobs that need not be pushed, the own files that are damaged, and notices about packs that readers refuse."""

    keys: set[Key]
    unsound: list[str]
    notices: list[str]


def _find_shared(
    workspace: Workspace, place: SharedFiles, listing: Listing, leaves: Mapping[Key, tuple[bytes, bytes]]
) -> _Shared:
    """Find the blobs whose rows are there, by the tables of leaves of those packs that are there as well.

    A writer with a damaged pack, or any leaf that differs from an own one, does not count: readers refuse all of its
    rows.
    """
    packs = {(file.writer, file.name.removesuffix(PACK)): file for file in listing.files if file.name.endswith(PACK)}
    shared: dict[str, set[Key]] = {}
    wrong: set[str] = set()
    sound = SoundPacks(workspace.paths.sound_packs)
    unsound: list[str] = []
    notices: list[str] = []
    for pack, table in read_tables(place, listing):
        if pack not in packs:
            continue
        fault = sound.find_fault(place, packs[pack], table, id_bytes(workspace.location.object_format))
        if fault:
            notices.append(f"readers refuse {pack[0]}: {pack[1]}{PACK}: {fault}")
            if pack[0] == place.writer:
                # Readers take the other ones again once it is replaced.
                unsound += [pack[1] + TABLE, pack[1] + PACK]
                continue
            wrong.add(pack[0])
        for key, rows, vectors in zip(table.keys, *table.leaves, strict=True):
            if key in leaves:
                shared.setdefault(pack[0], set()).add(key)
                if (rows.tobytes(), vectors.tobytes()) != leaves[key]:
                    wrong.add(pack[0])
    sound.save()
    keys = {key for writer, own in shared.items() if writer not in wrong for key in own}
    return _Shared(keys, unsound, notices)


def read_tables(place: SharedFiles, listing: Listing) -> Iterator[tuple[tuple[str, str], LeafTable]]:
    """Yield writer, name and content of each table of leaves that is intact."""
    for file in listing.files:
        if file.name.endswith(TABLE) and file.size <= MAX_TABLE_BYTES:
            try:
                yield (
                    (file.writer, file.name.removesuffix(TABLE)),
                    parse_table(Path(file.name), place.read(file) or b""),
                )
            except (DamagedFile, NewerFormat):
                continue  # the pack is refused when it is taken


def _files(folder: Path, packs: Sequence[SegmentEntry], digest: TreeDigest | None) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a push: the leaves of the blobs of each pack and it, then the digest of the whole index."""
    for entry in packs:
        segment, data = find_segment(folder, entry), read_file(folder / entry.name)
        if segment is None or data is None:
            raise DamagedFile(f"`{folder / entry.name}` is missing", hint="try again")
        # The table first: without its pack it means nothing, but a pack without its table looks forged.
        yield entry.name + TABLE, format_table(make_table(segment))
        yield entry.name + PACK, data
    if digest is not None:
        yield digest.key + DIGEST, format_digest(digest)


def describe_listing(listing: Listing) -> list[str]:
    """Return a line for each thing in a listing that is not used."""
    notices = [f"left out: {fault}" for fault in listing.faults]
    if listing.others:
        one = listing.others == 1
        notices.append(f"skipped {listing.others:,} {'index' if one else 'indexes'} of another model or version")
    return notices


def pull_index(workspace: Workspace, remote: str = "", *, store: str = "", dry_run: bool = False) -> PulledIndex:
    """Take the rows of HEAD's blobs that this index lacks, after a check of some blobs drawn at random.

    A writer whose rows are wrong is left out. The index stays as it is until all is checked.

    Raises: UsageError, GitFailed, DamagedFile, StorageFailed, UnsafeIndex.
    """
    location, paths = workspace.location, workspace.paths
    if location.head_tree is None:
        raise UsageError("this repository has no commit yet", hint="git pull")
    create_index(workspace)
    with open_place(workspace, remote, store, pushes=False) as place:
        listing = place.find_files()
        with open_index_writer(paths, wait=True) as writer:
            result = _pull(workspace, writer, place, listing, dry_run=dry_run)
    if result.missing == result.absent == 0 and not dry_run:
        refresh(workspace, location.head_tree)  # nothing is left to embed: makes the view and its statistics
    return result._replace(remote=place.place, notices=[*describe_listing(listing), *result.notices])


def _pull(
    workspace: Workspace, writer: IndexWriter, place: SharedFiles, listing: Listing, *, dry_run: bool
) -> PulledIndex:
    location, paths = workspace.location, workspace.paths
    tree = location.head_tree
    assert tree is not None, "the caller has checked this"
    old = writer.manifest
    start = old if old and is_made_with(old.fingerprint, workspace.settings) else None
    fingerprint = start.fingerprint if start else current_fingerprint(workspace.settings)
    manifest = start or empty_manifest(old, fingerprint)
    view = ensure_view(location, paths, tree, base=manifest.views[-1] if manifest.views else "")
    missing = find_missing_blobs(view, Snapshot(paths, manifest), retry=True)
    absent = _find_absent(location, missing)
    missing_keys = {(bytes.fromhex(blob.oid), blob.language) for blob in missing if blob.oid not in absent}
    packs = ReceivedPacks(location, paths, place, listing, expected_dimensions(workspace.settings, fingerprint))
    refused: dict[str, str] = {}
    batch, verdict = _take_checked(workspace, packs, missing_keys, refused, manifest)
    # Nothing is published before this: until then the new segments are files that no manifest names.
    remaining = len(missing_keys) - len(batch.keys)
    notices = [f"left out: {writer}: {reason}" for writer, reason in refused.items()]
    # Files that no manifest names, as after a dry run or a kill, are removed by a later run.
    if batch.entries and start is None and old is not None and old.segments and remaining:
        # The index of another model goes on answering until this one is complete.
        raise GitmemError(
            f"the index was made by another version or model, and {remaining:,} blobs of HEAD are not shared",
            hint="run `gitmem index` first",
        )
    if batch.entries and not dry_run:
        new = manifest._replace(fingerprint=full_fingerprint(workspace.settings, fingerprint, batch.dimensions))
        for entry in batch.entries:
            new = add_segment(new, entry)
        writer.publish(compact(paths, new, before=manifest.segments))
    return PulledIndex("", len(batch.keys), sum(entry.rows for entry in batch.entries), batch.bytes, remaining,
                       len(absent), verdict.blobs, verdict.vectors, verdict.embedded, notices)  # fmt: skip


def _find_absent(location: RepositoryLocation, blobs: Sequence[MissingBlob]) -> set[str]:
    """Return the ids of the blobs that a partial clone has not fetched."""
    if not is_partial(location):
        return set()
    ids = [blob.oid for blob in blobs]
    with open_reader(location, bulk=False) as reader:
        return {oid for oid, size in zip(ids, reader.sizes(ids), strict=True) if size is None}


class _Verdict(NamedTuple):
    """Result of a check: the writer whose rows are wrong and why, and the numbers of compared blobs and vectors."""

    writer: str | None = None
    reason: str = ""
    blobs: int = 0
    vectors: int = 0
    embedded: bool = True


def _take_checked(
    workspace: Workspace, packs: ReceivedPacks, keys: set[Key], refused: dict[str, str], manifest: Manifest
) -> tuple[Taken, _Verdict]:
    """Take rows until a sample of them is right. Each writer with wrong rows is added to `refused`, with the reason."""
    while True:
        batch = packs.take(keys, refused)
        verdict = _check_sample(workspace, batch, manifest.fingerprint, manifest)
        if verdict.writer is None:
            return batch, verdict
        refused[verdict.writer] = verdict.reason


def _check_sample(workspace: Workspace, batch: Taken, fingerprint: str, manifest: Manifest) -> _Verdict:
    """Make the rows of some random blobs again, and compare them with the received ones."""
    # Not to be foreseen by whoever forged a row.
    keys = random.SystemRandom().sample(sorted(batch.keys), min(SAMPLE, len(batch.keys)))
    if not keys:
        return _Verdict()
    chosen = set(keys)
    known = open_known(workspace.paths, manifest)
    blobs = vectors = 0
    location, paths, settings = workspace.location, workspace.paths, workspace.settings
    with make_rows(location, paths, settings, fingerprint, keys, batch.dimensions) as own:
        for entry in batch.entries:
            segment = find_segment(paths.segments, entry)
            assert segment is not None, "it has just been written"
            places = [at for at, key in enumerate(batch.keys_of[entry.name]) if key in chosen]
            compared = compare_pack(segment, places, digest_blobs(segment, places), own, known)
            blobs, vectors = blobs + compared.blobs, vectors + compared.vectors
            if compared.wrong is not None:
                reason = f"blob {compared.wrong[0].hex()}: {compared.reason}"
                return _Verdict(batch.writers[entry.name], reason, blobs, vectors, own.has_vectors)
        return _Verdict(None, "", blobs, vectors, own.has_vectors)

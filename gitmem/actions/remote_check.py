"""`gitmem verify --remote`: make all rows that others share again, and compare them and the published digests."""

from gitmem.actions.index_exchange import describe_listing, read_tables
from gitmem.actions.index_place import open_place
from gitmem.actions.shared_files import DIGEST, PACK, Listing, SharedFile, SharedFiles
from gitmem.embedding.provider import selected_provider
from gitmem.errors import DamagedFile, NewerFormat
from gitmem.git.object_format import id_bytes
from gitmem.indexing.fingerprint import current_fingerprint, is_made_with, view_key
from gitmem.indexing.row_check import (
    OwnRows,
    compare_pack,
    expected_dimensions,
    full_fingerprint,
    make_rows,
    open_known,
)
from gitmem.indexing.row_packs import describe_fault, read_pack
from gitmem.indexing.run import empty_manifest
from gitmem.indexing.tree_digest import is_consistent, make_digest, parse_digest
from gitmem.indexing.views import ensure_view
from gitmem.named_tuple import NamedTuple
from gitmem.store.blob_leaves import digest_blobs
from gitmem.store.leaf_table import Key, LeafTable, segment_keys
from gitmem.store.manifest import Manifest
from gitmem.store.segment import Segment
from gitmem.store.view_file import INDEXED
from gitmem.workspace import Workspace, create_index, find_index


class RemoteCheck(NamedTuple):
    """Result of a check: counts of packs and blobs, of compared blobs and vectors, and of compared digests.

    Blobs that this repository lacks are not compared. Without `embedded`, vectors were only compared with own ones.
    """

    remote: str
    packs: int
    blobs: int
    checked: int
    vectors: int
    embedded: bool
    digests: int
    faults: list[str]
    notices: list[str]


def verify_remote(workspace: Workspace, remote: str, store: str = "") -> RemoteCheck:
    """Compare all rows of the own version that a remote or a store shares with those that the blobs here give.

    Raises: UsageError, GitFailed, StorageFailed, UnsafeIndex, and the errors of a run.
    """
    create_index(workspace)
    with open_place(workspace, remote, store, pushes=False) as place:
        listing = place.find_files()
        return _Checker(workspace, place, listing).run()._replace(remote=place.place)


class _Checker:
    """Check of one listing. Packs are opened one at a time, twice: first for the blobs in them."""

    def __init__(self, workspace: Workspace, place: SharedFiles, listing: Listing) -> None:
        self._workspace = workspace
        self._place = place
        self._listing = listing
        self._manifest = _find_usable(workspace)
        self._dimensions = expected_dimensions(workspace.settings, self._manifest.fingerprint)
        self._faults = list(listing.faults)

    def run(self) -> RemoteCheck:
        """Return the result, without the name of the remote."""
        packs = [file for file in self._listing.files if file.name.endswith(PACK)]
        keys: dict[Key, None] = {}
        good = []
        for file in packs:
            segment = self._open(file)
            if segment is not None:
                self._dimensions = segment.dimensions or self._dimensions
                keys |= dict.fromkeys(segment_keys(segment))
                good.append(file)
        is_remote = selected_provider(self._workspace.settings).is_remote
        result = RemoteCheck("", len(packs), len(keys), 0, 0, not is_remote, 0, self._faults, [])
        if not keys:
            return result._replace(notices=describe_listing(self._listing))
        location, paths, settings = self._workspace.location, self._workspace.paths, self._workspace.settings
        fingerprint = self._manifest.fingerprint
        with make_rows(location, paths, settings, fingerprint, list(keys), self._dimensions) as own:
            vectors = self._compare(good, own)
            digests = self._compare_digests(own)
        notices = describe_listing(self._listing)
        absent = len(keys) - len(own.blobs)
        notices += [f"{absent:,} shared blobs are not in this clone"] if absent else []
        return result._replace(checked=len(own.blobs), vectors=vectors, digests=digests, notices=notices)

    def _open(self, file: SharedFile) -> Segment | None:
        """Open a pack, or note its fault."""
        width = id_bytes(self._workspace.location.object_format)
        try:
            return read_pack(file.name.removesuffix(PACK), file.size, lambda: self._place.read(file),
                             self._dimensions, width)  # fmt: skip
        except (DamagedFile, NewerFormat) as problem:
            self._faults.append(f"{file.writer}: {file.name}: {describe_fault(problem)}")
            return None

    def _compare(self, packs: list[SharedFile], own: OwnRows) -> int:
        """Compare packs with own rows and with their tables of leaves; return the number of compared vectors."""
        tables = dict(read_tables(self._place, self._listing))
        known = open_known(self._workspace.paths, self._manifest)
        vectors = 0
        for file in packs:
            segment = self._open(file)
            if segment is None:
                continue
            # The table of leaves is only a claim: it is compared with the rows as well.
            theirs = digest_blobs(segment, range(segment.blobs))
            compared = compare_pack(segment, range(segment.blobs), theirs, own, known)
            vectors += compared.vectors
            if compared.wrong is not None:
                self._faults.append(f"{file.writer}: {file.name}: blob {compared.wrong[0].hex()}: {compared.reason}")
            table = tables.get((file.writer, file.name.removesuffix(PACK)))
            if table is None or not _is_table_of(table, LeafTable(segment_keys(segment), theirs)):
                self._faults.append(f"{file.writer}: {file.name}: its published leaves are not those of its rows")
        return vectors

    def _compare_digests(self, own: OwnRows) -> int:
        """Compare the published digests of HEAD's tree with that of the own rows; return how many there are."""
        location, paths = self._workspace.location, self._workspace.paths
        tree = location.head_tree
        if tree is None:
            return 0
        view = ensure_view(location, paths, tree)
        entries = (at for at in range(len(view)) if view.reason(at) == INDEXED)
        tree_keys = {(bytes.fromhex(view.oid(at)), view.language(at)) for at in entries}
        if not tree_keys <= own.blobs.keys():
            return 0
        key = view_key(tree, location.content)
        settings = self._workspace.settings
        fingerprint = full_fingerprint(settings, self._manifest.fingerprint, self._dimensions)
        expected = make_digest({name: own.blobs[name].leaf for name in tree_keys}, key, fingerprint)
        compared = 0
        for file in self._listing.files:
            if file.name != key + DIGEST:
                continue
            published = parse_digest(self._place.read(file) or b"")
            compared += 1
            # Vectors were compared one by one, for their last bits may depend on the processor.
            names = published and published._replace(vectors=expected.vectors)
            if published is None or names != expected._replace(digest=published.digest) or not is_consistent(published):
                self._faults.append(f"{file.writer}: the digest of {tree} is not that of its blobs")
        return compared


def _is_table_of(table: LeafTable, actual: LeafTable) -> bool:
    parts = zip(table.leaves, actual.leaves, strict=True)
    return table.keys == actual.keys and all(one.tobytes() == two.tobytes() for one, two in parts)


def _find_usable(workspace: Workspace) -> Manifest:
    """Return the manifest of the own index if it is of today's version and model, else an empty one."""
    manifest = find_index(workspace)
    if manifest is not None and is_made_with(manifest.fingerprint, workspace.settings):
        return manifest
    return empty_manifest(None, current_fingerprint(workspace.settings))

"""Take wanted blobs out of packs of others: each pack is checked as a whole, and only its wanted blobs are written."""

from collections.abc import Collection, Mapping

import numpy as np

from gitmem.actions.shared_files import PACK, Listing, SharedFile, SharedFiles
from gitmem.errors import DamagedFile, NewerFormat
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import id_bytes
from gitmem.git.objects import open_reader
from gitmem.indexing.row_packs import describe_fault, find_overlong, read_pack, select_blobs
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths
from gitmem.store.leaf_table import Key, segment_keys
from gitmem.store.manifest import SegmentEntry
from gitmem.store.section import damaged
from gitmem.store.segment import Segment
from gitmem.store.segment_writer import SegmentSource, write_sources


class Taken(NamedTuple):
    """Segments with the taken blobs, not named by any manifest yet; the writer and the blobs of each by its name."""

    entries: list[SegmentEntry]
    writers: Mapping[str, str]
    keys_of: Mapping[str, list[Key]]
    keys: set[Key]
    dimensions: int
    bytes: int


class ReceivedPacks:
    """Packs at a place. `dimensions` are those of the index, 0 if it has no vectors yet."""

    def __init__(
        self, location: RepositoryLocation, paths: IndexPaths, place: SharedFiles, listing: Listing, dimensions: int
    ) -> None:
        self._location = location
        self._paths = paths
        self._place = place
        self._packs = [file for file in listing.files if file.name.endswith(PACK)]
        self._dimensions = dimensions

    def take(self, wanted: Collection[Key], refused: dict[str, str]) -> Taken:
        """Write wanted blobs as segments, each blob once. A writer with a bad pack is added to `refused`, with why.

        Nothing is taken from writers that are refused. Raises StorageFailed.
        """
        taken = Taken([], {}, {}, set(), self._dimensions, 0)
        writers, keys_of = dict[str, str](), dict[str, list[Key]]()
        missing = set(wanted)
        for file in self._packs:
            if not missing or file.writer in refused:
                continue
            # One pack after the other, so that one is in memory at a time.
            try:
                segment = self._open(file, taken.dimensions)
                keys, entry = self._write(segment, missing)
            except (DamagedFile, NewerFormat) as problem:
                refused[file.writer] = f"{file.name}: {describe_fault(problem)}"
                return self.take(wanted, refused)  # without what was taken from that writer before
            if entry is None:
                continue
            missing.difference_update(keys)
            writers[entry.name], keys_of[entry.name] = file.writer, keys
            taken.entries.append(entry)
            taken.keys.update(keys)
            taken = taken._replace(dimensions=segment.dimensions or taken.dimensions, bytes=taken.bytes + file.size)
        return taken._replace(writers=writers, keys_of=keys_of)

    def _open(self, file: SharedFile, dimensions: int) -> Segment:
        width = id_bytes(self._location.object_format)
        name = file.name.removesuffix(PACK)
        return read_pack(name, file.size, lambda: self._place.read(file), dimensions, width)

    def _write(self, segment: Segment, missing: Collection[Key]) -> tuple[list[Key], SegmentEntry | None]:
        """Write the missing blobs of a pack as a segment; None if it has none of them. Raises: DamagedFile."""
        (selection,) = select_blobs([segment], lambda key: key in missing)
        all_keys = segment_keys(segment)
        # A pack may name a blob twice: the first one counts, as it would be for one that is checked.
        first = {all_keys[blob]: blob for blob in reversed(np.flatnonzero(selection.keep).tolist())}
        blobs = sorted(first.values())
        if not blobs:
            return [], None
        with open_reader(self._location, bulk=False) as reader:
            sizes = reader.sizes(segment.oids[blob].tobytes().hex() for blob in blobs)
        wrong = find_overlong(segment, blobs, sizes)
        if wrong is not None:
            raise damaged(segment.path, f"rows beyond the end of blob {segment.oids[wrong].tobytes().hex()}")
        keep = np.zeros(segment.blobs, np.bool_)
        keep[blobs] = True
        folder = self._paths.segments
        return [all_keys[blob] for blob in blobs], write_sources(folder, [SegmentSource(segment, keep)], folder)

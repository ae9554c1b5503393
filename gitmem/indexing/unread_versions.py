"""Versions of files that git lacks: the history goes on without them, from the version before to the one after.

Without this, each definition of the file would be removed by the commit of such a version, and introduced by the next.
"""

from collections.abc import Collection, Mapping, Sequence

from gitmem.git.version_log import CommitVersions, FileVersions


class UnreadVersions:
    """Blobs that cannot be read; each is replaced by the last version of its file that can be.

    `replacements` has that version, "" if the file began with the blob; those of `known` are kept. Blobs that are older
    than all commits have none.
    """

    def __init__(self, oids: Collection[str], known: Mapping[str, str]) -> None:
        self._oids = oids
        self.replacements = {oid: blob for oid, blob in known.items() if oid in oids}

    def replace(self, blob: str) -> str:
        """Return a blob, or what it is replaced by, "" without that."""
        return self.replacements.get(blob, "") if blob in self._oids else blob

    def without(self, log: Sequence[CommitVersions]) -> Sequence[CommitVersions]:
        """Return commits, oldest first, without the unread versions. What one changed, the commit after it changed."""
        if not self._oids:
            return log
        return [commit._replace(files=[self._without(file) for file in commit.files]) for commit in log]

    def _without(self, file: FileVersions) -> FileVersions:
        is_known = all(blob not in self._oids or blob in self.replacements for blob in file.before)
        if file.after in self._oids and is_known:
            self.replacements[file.after] = self.replace(file.before[0]) if file.before else ""
        after = self.replace(file.after)
        # What was there before all commits has no commit that introduced it.
        return file._replace(before=tuple(map(self.replace, file.before)) if is_known else (after,), after=after)

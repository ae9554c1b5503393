"""Packs as somebody else would publish them: rows of a real pack, changed, under the ref of another writer."""

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gitmem.actions.index_refs import INDEX_REFS, group_of
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.store.columns import FIELDS
from gitmem.store.leaf_table import format_table, make_table
from gitmem.store.packed_file import PackedContainer
from gitmem.store.postings import Postings
from gitmem.store.rows import Rows
from gitmem.store.segment import MAGIC, Segment
from gitmem.store.segment_writer import write_segment
from gitmem.workspace import Workspace
from tests.gitrepo import Repo

STRANGER = "00000000deadbeef"


def forge_term(rows: Rows) -> Rows:
    """Rename a word of a text, so that other queries find it."""
    field = FIELDS[0]
    postings = rows.postings[field]
    changed = Postings([b"backdoor", *postings.terms[1:]], postings.term, postings.row, postings.frequency)
    return dataclasses.replace(rows, postings={**rows.postings, field: changed})


def forge_symbol(rows: Rows) -> Rows:
    """Give the last row another name."""
    return dataclasses.replace(rows, labels=[*rows.labels[:-1], b"trusted_function"])


def forge_span(rows: Rows) -> Rows:
    """Let rows begin a line later."""
    return dataclasses.replace(rows, columns={**rows.columns, "line": rows.columns["line"].astype("<u4") + 1})


def forge_vector(rows: Rows) -> Rows:
    """Turn vectors round."""
    return dataclasses.replace(rows, vectors=-rows.vectors)


def forge_content(rows: Rows) -> Rows:
    """Let rows have the vectors and words of other texts."""
    return dataclasses.replace(rows, contents=rows.contents[::-1].copy())


def forge_end(rows: Rows) -> Rows:
    """Let rows end behind the end of their files."""
    return dataclasses.replace(rows, columns={**rows.columns, "length": rows.columns["length"].astype("<u4") + 9999})


def forge_scale(rows: Rows) -> Rows:
    """Make the scales of vectors infinite."""
    return dataclasses.replace(rows, columns={**rows.columns, "scale": np.full(len(rows), np.inf, "<f2")})


FORGERIES = (forge_term, forge_symbol, forge_span, forge_vector, forge_content, forge_end, forge_scale)


def pack_files(rows: Rows, folder: Path) -> dict[str, bytes]:
    """Return the files of a push of these rows, with correct names, checksums and leaves."""
    folder.mkdir(exist_ok=True)
    entry = write_segment(folder, rows)
    data = (folder / entry.name).read_bytes()
    table = format_table(make_table(Segment(PackedContainer(folder / entry.name, MAGIC, data))))
    return {f"{entry.name}.rows": data, f"{entry.name}.leaves": table}


def named_pack(data: bytes) -> dict[str, bytes]:
    """Return any bytes as a pack with the right name."""
    return {f"{hashlib.blake2b(data, digest_size=20).hexdigest()}.rows": data}


def publish(remote: Repo, workspace: Workspace, files: Mapping[str, bytes], *, mode: str = "100644") -> None:
    """Put files under the ref of a stranger, for the version of chunker and model of a workspace."""
    lines = [f"{mode} blob {remote.git('hash-object', '-w', '--stdin', stdin=data)}\t{name}\n"
             for name, data in sorted(files.items())]  # fmt: skip
    publish_tree(remote, workspace, remote.git("mktree", stdin="".join(lines).encode()))


def publish_tree(remote: Repo, workspace: Workspace, tree: str) -> None:
    """Put a commit of a tree under the ref of a stranger."""
    commit = remote.git("commit-tree", "-m", "index", tree)
    remote.git("update-ref", stranger_ref(workspace), commit)


def stranger_ref(workspace: Workspace) -> str:
    """Return the name of the stranger's ref."""
    return f"{INDEX_REFS}{group_of(current_fingerprint(workspace.settings))}/{STRANGER}"

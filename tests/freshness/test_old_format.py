"""An index of format 1 is rebuilt by the next run, with one note; what cannot be rebuilt is read."""

import struct
import zlib
from pathlib import Path
from typing import Any

import msgpack
import pytest

from gitmem.errors import NoIndex
from gitmem.store.fitted_weights import MAGIC as TUNING_MAGIC
from gitmem.store.fitted_weights import Tuning, find_tuning
from gitmem.store.manifest import MAGIC, find_manifest
from tests.gitrepo import Repo
from tests.indexes import InlinePool, brief_hits, index, search, workspace_of

TREE = {"src/cookies.py": "def sign_cookie(value):\n    return value\n", "b.py": "def load():\n    return 1\n"}


def write_first_format(path: Path, magic: bytes, fields: dict[str, Any]) -> None:
    """Write a file as gitmem wrote it in format 1: the header follows the prefix."""
    header: bytes = msgpack.packb({"fields": fields, "sections": {}})
    start = struct.pack("<8sII", magic, 1, len(header))
    path.write_bytes(start + struct.pack("<I", zlib.crc32(header, zlib.crc32(start))) + header)


@pytest.fixture
def old(repo: Repo, fake_model: type[InlinePool]) -> Repo:
    """Return a repository with an index whose manifest has format 1, and names segments of that format."""
    repo.commit(TREE)
    index(repo)
    paths = workspace_of(repo).paths
    manifest = find_manifest(paths.manifest)
    assert manifest is not None
    for entry in manifest.segments:
        write_first_format(paths.segment(entry.name), b"GITMEMSG", {"rows": entry.rows, "blobs": entry.blobs})
    version, _, rest = manifest.fingerprint.rpartition(".")
    fields = {
        "fingerprint": f"{version.rpartition('.')[0]}.{rest}", "generation": 7, "complete": True, "graph": "",
        "views": list(manifest.views), "segments": [list(entry)[:4] for entry in manifest.segments],
    }  # fmt: skip
    write_first_format(paths.manifest, MAGIC, fields)
    return repo


def test_the_next_run_rebuilds_it_and_says_why(old: Repo) -> None:
    report = index(old)
    assert report.rebuilt == "the format, the chunker, a setting of it or the model has changed"
    assert report.embedded == report.files
    assert brief_hits(search(old, "sign cookie"))[0][0] == "src/cookies.py"
    assert not index(old).rebuilt


def test_a_query_rebuilds_it_with_one_note(old: Repo) -> None:
    answer = search(old, "sign cookie")
    assert brief_hits(answer)[0][0] == "src/cookies.py"
    assert ["rebuilt" in note for note in answer.notes] == [True]


def test_a_query_without_refresh_names_the_remedy(old: Repo) -> None:
    with pytest.raises(NoIndex, match="another version") as caught:
        search(old, "sign cookie", refresh=False)
    assert caught.value.hint == "run `gitmem index`"


def test_fitted_weights_of_the_first_format_stay(old: Repo) -> None:
    paths = workspace_of(old).paths
    tuning = Tuning("a", 0.5, 0.6, 0.1, 40)
    write_first_format(
        paths.tuning,
        TUNING_MAGIC,
        dict(zip(("maker", "semantic", "lexical", "gain", "questions"), tuning, strict=True)),
    )
    index(old)
    assert find_tuning(paths.tuning) == tuning

"""Sequences of index runs: whatever came before them, the index ends as one run from scratch would leave it."""

import shutil
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem import fsio
from gitmem.chunking.languages import language_of
from gitmem.embedding.encoder import Embeddings
from gitmem.errors import GitmemError, NoIndex
from gitmem.identifier_counts import Bags
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.locks import writer_lock
from gitmem.store.columns import OUTCOMES
from gitmem.store.format import FORMAT, START
from gitmem.store.manifest import find_manifest
from gitmem.store.snapshot import Snapshot
from tests.faults.dying_disk import DISK_FULL, DyingDisk, Killed
from tests.gitrepo import Repo
from tests.indexes import (
    DIMENSIONS,
    DumpedRow,
    HashEncoder,
    InlinePool,
    dump_rows,
    search,
    snapshot_of,
)
from tests.properties.trees import LARGE, File, Tree, Writer, class_of, files, paths, regular, trees

many = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture
def writer(tmp_path: Path, fake_model: type[InlinePool]) -> Writer:
    """Share one repository between all examples; each begins without an index."""
    return Writer.create(Repo.init(tmp_path / "repo"))


def drop_index(writer: Writer) -> None:
    """Remove the index."""
    shutil.rmtree(writer.repo.path / ".gitmem", ignore_errors=True)


class Content(NamedTuple):
    """Content of an index that the current tree uses."""

    rows: set[DumpedRow]
    outcomes: set[tuple[str, str, str]]


def read_content(writer: Writer) -> Content:
    """Read the rows and outcomes of the indexed files of HEAD; no blob may be there twice in one language.

    A path that its name excludes uses no row, even if the index still has rows of the same blob under another path.
    """
    snapshot = snapshot_of(writer.repo)
    keys = {
        (oid, language_of(path))
        for path, oid in writer.list_files().items()
        if class_of(path, regular("x = 1\n")) == "indexed"
    }
    # A blob that failed stays in its segment until segments are joined; its later success hides it.
    outcomes = [outcome for outcome in list_outcomes(snapshot) if outcome[2] != "failed"]
    assert len(outcomes) == len(set(outcomes))
    return Content(
        {row for row in dump_rows(snapshot) if (row.blob, row.requested_language) in keys},
        {outcome for outcome in outcomes if outcome[:2] in keys},
    )


def list_outcomes(snapshot: Snapshot) -> list[tuple[str, str, str]]:
    """List the outcomes of all segments, one segment after the other."""
    return [
        (oid.hex(), language, OUTCOMES[outcome])
        for segment in snapshot.segments
        for (oid, language), outcome in zip(
            segment.load_rows().blobs.keys, segment.load_rows().blobs.outcomes.tolist(), strict=True
        )
    ]


def index_from_scratch(writer: Writer) -> Content:
    """Index HEAD without anything that came before; the old index is lost."""
    drop_index(writer)
    writer.index()
    return read_content(writer)


changes = st.lists(
    st.tuples(st.sampled_from(["write", "remove", "rename", "copy", "return"]), st.integers(0, 50), paths, files),
    min_size=1,
    max_size=4,
)


def change_tree(tree: Tree, earlier: Sequence[Tree], edits: Sequence[tuple[str, int, str, File]]) -> Tree:
    """Apply edits to a tree; `return` goes back to an earlier one, as a revert or another branch does."""
    changed = dict(tree)
    for kind, number, path, file in edits:
        old = sorted(changed)[number % len(changed)] if changed else path
        if kind == "return":
            changed = dict(earlier[number % len(earlier)])
        elif kind == "write":
            changed[path] = file
        elif old in changed:
            moved = changed[old] if kind == "copy" else changed.pop(old)
            if kind != "remove":
                changed[path] = moved
    return changed


def keys_of(tree: Tree) -> set[tuple[bytes, str]]:
    """Return the contents and languages that an index run hands to its workers."""
    sent = {
        (file.content, language_of(path))
        for path, file in tree.items()
        if class_of(path, file) in ("indexed", "empty", "lfs", "binary") and not path.endswith(".png")
    }
    return {(content, language) for content, language in sent if content != LARGE}


@many
@given(first=trees, steps=st.lists(st.tuples(changes, st.booleans()), min_size=1, max_size=3))
def test_any_runs_end_like_one_from_scratch_and_embed_each_blob_once(
    writer: Writer, fake_model: type[InlinePool], first: Tree, steps: list[tuple[Any, bool]]
) -> None:
    """Property 33: No stale chunks. Property 38: Blob keying."""
    drop_index(writer)
    fake_model.digested = 0
    known: set[tuple[bytes, str]] = set()
    history = [first]
    writer.commit(first)
    for edits, run_before in steps:
        if run_before:
            writer.index()
            known |= keys_of(history[-1])
        history.append(change_tree(history[-1], history, edits))
        writer.commit(history[-1])
    writer.index()
    known |= keys_of(history[-1])
    assert fake_model.digested == len(known)
    content = read_content(writer)
    assert content == index_from_scratch(writer)


@many
@given(count=st.integers(2, 6), failing=st.sets(st.integers(0, 5), min_size=1))
def test_a_file_that_cannot_be_embedded_costs_itself_alone_and_is_tried_again(
    writer: Writer, fake_model: type[InlinePool], count: int, failing: set[int]
) -> None:
    """Property 14: Embedding failure."""
    drop_index(writer)
    names = [f"file{number}.py" for number in range(count)]
    broken = [name for number, name in enumerate(names) if number in failing]
    texts = {name: f"def {name[:5]}():\n    '{'poison' if name in broken else ''} {name}'\n" for name in names}
    writer.commit({name: regular(text) for name, text in texts.items()})
    fake_model.poison = b"poison"
    report = writer.index()
    assert report.status == ("partial" if broken else "success")
    assert [problem.partition(":")[0] for problem in sorted(report.problems)] == broken
    whole = {row.blob for row in read_content(writer).rows}
    assert whole == {oid for name, oid in writer.list_files().items() if name not in broken}
    fake_model.poison = b""
    assert writer.index().status == "success"
    content = read_content(writer)
    assert content == index_from_scratch(writer)


@many
@given(old=st.none() | trees, new=trees, at=st.integers(0, 60), error=st.sampled_from([Killed(), DISK_FULL]))
def test_a_run_that_dies_at_any_change_of_the_disk_leaves_what_was_there(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, old: Tree | None, new: Tree, at: int, error: BaseException
) -> None:
    """Property 39: Crash safety."""
    drop_index(writer)
    before: set[DumpedRow] = set()
    if old is not None:
        writer.commit(old)
        writer.index()
        before = dump_rows(snapshot_of(writer.repo))
    writer.commit(new)
    with monkeypatch.context() as patch:
        patch.setattr("gitmem.indexing.run.FLUSH_ROWS", 1)
        patch.setattr(fsio, "disk", DyingDisk(at, error))
        with suppress(Killed, GitmemError):
            writer.index()
    if old is not None:
        snapshot = snapshot_of(writer.repo)
        assert not snapshot.lost
        assert dump_rows(snapshot) >= before
    if writer.workspace.paths.root.exists():  # else it died before there was anything to lock
        with writer_lock(writer.workspace.paths.lock, wait=False):
            pass
    writer.index()
    content = read_content(writer)
    assert content == index_from_scratch(writer)


@many
@given(history=st.lists(trees, min_size=1, max_size=3))
def test_each_file_of_an_index_begins_with_its_format(writer: Writer, history: list[Tree]) -> None:
    """Property 31: Schema version."""
    drop_index(writer)
    for tree in history:
        writer.commit(tree)
        writer.index()
    paths = writer.workspace.paths
    derived = [paths.manifest, *paths.segments.iterdir(), *paths.views.iterdir()]
    starts = [START.unpack_from(file.read_bytes()) for file in derived]
    assert {(magic[:6], version) for magic, version, _ in starts} == {(b"GITMEM", FORMAT)}
    manifest = find_manifest(paths.manifest)
    assert manifest is not None
    assert manifest.fingerprint == current_fingerprint(writer.workspace.settings)


class SaltedEncoder(HashEncoder):
    """Model of another name, whose vectors are others too."""

    def __init__(self, name: str) -> None:
        self.fingerprint = name
        self._salt = np.random.default_rng(zlib.crc32(name.encode())).permutation(DIMENSIONS)

    def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        embeddings = super().encode(texts, before_step)
        return Embeddings(embeddings.vectors[:, self._salt], embeddings.norms)


@many
@given(models=st.lists(st.sampled_from(["first", "second", "third"]), min_size=2, max_size=3))
def test_an_index_never_mixes_the_vectors_of_two_models(
    writer: Writer, fake_model: type[InlinePool], monkeypatch: pytest.MonkeyPatch, models: list[str]
) -> None:
    """Property 13: Model consistency."""
    drop_index(writer)
    for number, name in enumerate(models):
        writer.commit(
            {f"file{place}.py": regular(f"def sign_{place}():\n    return 1\n") for place in range(number + 1)}
        )
        monkeypatch.setattr("gitmem.indexing.fingerprint.model_fingerprint", lambda _settings, name=name: name)
        monkeypatch.setattr(fake_model, "encoder", SaltedEncoder(name))
        if number and name != models[number - 1]:
            with pytest.raises(NoIndex, match="another model"):
                search(writer.repo, "sign", refresh=False)
        writer.index()
        vectors = {row.vector for row in dump_rows(snapshot_of(writer.repo))}
        assert vectors == {row.vector for row in index_from_scratch(writer).rows}

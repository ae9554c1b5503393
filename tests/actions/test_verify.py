"""`verify` finds any damage of an index and repairs it."""

import json
import os
import random
from pathlib import Path

import pytest

from gitmem.actions.verify import verify
from gitmem.errors import ExitCode
from gitmem.indexing.fingerprint import view_key
from gitmem.store.manifest import find_manifest, write_manifest
from gitmem.store.stored_view import write_view
from gitmem.store.view_file import ViewEntry
from tests.gitrepo import Repo
from tests.sample import Cli, damage, open_sample, segment_files, without_index_times


def index_file(repo: Repo, kind: str) -> Path:
    """Return the only file of a folder without an extension, or the only one that matches `folder/pattern`."""
    folder, _, pattern = kind.partition("/")
    (file,) = (path for path in (repo.path / ".gitmem" / folder).glob(pattern or "*") if pattern or not path.suffix)
    return file


def test_a_sound_index_passes(cli: Cli, own: Repo) -> None:
    outcome = cli("verify", cwd=own.path)
    assert outcome.code == 0
    assert outcome.out.startswith("sound: 1 segment, 1 tree, ")
    assert json.loads(cli("verify", "--json", cwd=own.path).out)["sound"] is True


@pytest.mark.parametrize("kind", ["segments", "views", "views/*.base"])
def test_every_flipped_byte_is_found(own: Repo, kind: str) -> None:
    file = index_file(own, kind)
    # Without its base a view cannot be used.
    expected = [f"{file.parent.name}/{name}" for name in dict.fromkeys((file.name, file.stem))]
    whole = file.read_bytes()
    chance = random.Random(7)
    for place in [0, 9, 30, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(60))]:
        broken = bytearray(whole)
        broken[place] ^= 1 << chance.randrange(8)
        file.write_bytes(bytes(broken))
        findings = verify(open_sample(own)).findings
        if kind == "segments" or findings.problems:
            assert findings.damaged == expected
        else:
            assert _is_padding(whole, place)


def _is_padding(whole: bytes, place: int) -> bool:
    """Return whether a byte may be padding; sections are padded with zeros, which no checksum covers."""
    return whole[place] == 0


@pytest.mark.parametrize("kind", ["segments", "views", "views/*.base"])
@pytest.mark.parametrize("damage_kind", ["flip", "cut", "missing", "foreign"])
def test_a_damaged_file_is_replaced(cli: Cli, own: Repo, kind: str, damage_kind: str) -> None:
    expected = without_index_times(cli("query", "--jsonl", "cookie", cwd=own.path).out)
    file = index_file(own, kind)
    if damage_kind == "flip":
        data = file.read_bytes()
        damage(file, next(place for place in range(len(data) // 2, len(data)) if not _is_padding(data, place)))
    elif damage_kind == "cut":
        os.truncate(file, file.stat().st_size // 2)
    elif damage_kind == "missing":
        file.unlink()
    else:
        file.write_bytes((own.path / ".gitmem" / "manifest").read_bytes())
    broken = verify(open_sample(own))
    if (kind, damage_kind) != ("views", "missing"):
        assert not broken.sound
    outcome = cli("verify", "--repair", cwd=own.path)
    assert outcome.code == 0, outcome
    assert cli("verify", cwd=own.path).code == 0
    assert without_index_times(cli("query", "--jsonl", "cookie", cwd=own.path).out) == expected


def test_a_damaged_manifest_is_replaced(cli: Cli, own: Repo) -> None:
    damage(own.path / ".gitmem" / "manifest", 30)
    outcome = cli("verify", cwd=own.path)
    assert outcome.code == ExitCode.FAILED
    assert outcome.err.splitlines()[-1] == "hint: gitmem verify --repair"
    assert "repaired: " in cli("verify", "--repair", cwd=own.path).out
    assert cli("verify", cwd=own.path).code == 0


def test_a_view_that_does_not_match_its_tree_is_found(own: Repo) -> None:
    tree = own.oid("HEAD^{tree}")
    entry = ViewEntry(b"elsewhere.py", bytes.fromhex(own.oid("HEAD:src/cookies.py")), "python", 0)
    write_view(own.path / ".gitmem" / "views" / view_key(tree), tree, [entry])
    findings = verify(open_sample(own)).findings
    assert findings.damaged == [f"views/{view_key(tree)}", f"views/{view_key(tree)}.base"]
    assert verify(open_sample(own), repair=True).sound


def test_missing_blobs_are_found(own: Repo) -> None:
    manifest_file = own.path / ".gitmem" / "manifest"
    manifest = find_manifest(manifest_file)
    assert manifest is not None
    write_manifest(manifest_file, manifest.with_segments([]))
    findings = verify(open_sample(own)).findings
    assert "files of HEAD are not indexed" in findings.problems[0]
    assert verify(open_sample(own), repair=True).sound


def test_blobs_that_git_has_pruned_are_a_note(own: Repo, cli: Cli) -> None:
    own.commit({"short.py": "def short_lived_function():\n    return 1\n"})
    cli("index", cwd=own.path)
    own.git("reset", "-q", "--hard", "HEAD~1")
    own.git("reflog", "expire", "--expire=now", "--all")
    own.git("gc", "-q", "--prune=now")
    report = verify(open_sample(own))
    assert report.sound
    assert report.findings.notes == ["not in git: 1 indexed blob, uncommitted work or garbage for `gitmem gc`"]


def test_head_not_indexed_yet_is_a_note(own: Repo) -> None:
    own.commit({"new.py": "x = 1\n"})
    report = verify(open_sample(own))
    assert report.sound
    assert report.findings.notes == ["HEAD has not been indexed yet; run `gitmem index`"]


def test_verify_changes_nothing(own: Repo) -> None:
    damage(segment_files(own)[0])
    before = {path: path.read_bytes() for path in (own.path / ".gitmem").rglob("*") if path.is_file()}
    verify(open_sample(own))
    assert {path: path.read_bytes() for path in (own.path / ".gitmem").rglob("*") if path.is_file()} == before

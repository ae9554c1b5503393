"""Signatures of shared records with the real programs: made as git makes them, checked on pull, marked or refused."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.errors import ExitCode, GitFailed
from gitmem.memory.record_paths import note_path
from gitmem.memory.record_store import RecordStore
from gitmem.record import parse_record
from gitmem.records.exchange import Exchange, exchange
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo
from tests.records.sharing_clones import NOTE, OTHER, Clone

needs_ssh = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")
needs_gpgsm = pytest.mark.skipif(not shutil.which("gpgsm"), reason="gpgsm is not installed")
needs_gpg = pytest.mark.skipif(not shutil.which("gpg"), reason="gpg is not installed")

WRITERS = "refs/gitmem/writers/"


def make_key(clone: Clone, passphrase: str = "") -> Path:
    """Make an SSH key of a person, and let git sign with it."""
    name = clone.repo.path.name
    key = clone.repo.path.with_name(f"{name}-key")
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", str(key)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    for setting, value in (("commit.gpgSign", "true"), ("gpg.format", "ssh"), ("user.signingKey", str(key))):
        clone.repo.git("config", setting, value)
    return key


def trust(clone: Clone, *people: Clone) -> None:
    """Name the signers whose keys a person knows."""
    names = [each.repo.path.name for each in people]
    keys = [clone.repo.path.with_name(f"{name}-key.pub").read_text() for name in names]
    lines = [f"{name}@example.invalid {key}" for name, key in zip(names, keys, strict=True)]
    file = clone.repo.path.with_name(f"{clone.repo.path.name}-signers")
    file.write_text("".join(lines))
    clone.repo.git("config", "gpg.ssh.allowedSignersFile", str(file))


def set_policy(clone: Clone, policy: str) -> None:
    clone.repo.git("config", "gitmem.unsignedRecords", policy)
    clone.workspace = open_workspace(clone.repo.path, {})


def pull(clone: Clone) -> Exchange:
    return exchange(clone.workspace, pull=True, push=False)


def push(clone: Clone) -> Exchange:
    return exchange(clone.workspace, pull=False, push=True)


def signature(clone: Clone, note: str = NOTE) -> str:
    """Return what a clone knows of the signature of a note."""
    with RecordStore(clone.workspace.location) as store:
        record = store.find_record(store.tip(), note_path(note))
        assert record is not None
        return record.signature


def writers(remote: Repo) -> dict[str, str]:
    """Return the commits of all writers by ref."""
    lines = remote.git("for-each-ref", "--format=%(refname) %(objectname)", WRITERS).splitlines()
    return dict(line.split() for line in lines)


def add_forged(remote: Repo, ref: str, other: str) -> None:
    """Push a commit onto a writer's ref with the records of another writer, as anybody can who may push."""
    forged = remote.git("commit-tree", "-p", ref, "-m", "records", f"{other}^{{tree}}")
    remote.git("update-ref", ref, forged)


@needs_ssh
def test_a_signature_is_checked_when_its_key_is_known(ann: Clone, bob: Clone) -> None:
    make_key(ann)
    ann.put(NOTE, "signed")
    push(ann)
    pull(bob)
    assert signature(bob).startswith("unknown")
    trust(bob, ann)
    pull(bob)
    assert signature(bob).startswith("good: ann@example.invalid (SHA256:")
    assert signature(ann) == ""


@needs_ssh
def test_unsigned_records_are_marked_until_their_writer_signs(remote: Repo, ann: Clone, bob: Clone) -> None:
    ann.put(NOTE, "from a time without keys")
    push(ann)
    pull(bob)
    assert signature(bob) == "unsigned"
    make_key(ann)
    trust(bob, ann)
    push(ann)  # has nothing new but the signature
    pull(bob)
    assert signature(bob).startswith("good: ann@example.invalid")
    (ref,) = writers(remote)
    # An unsigned commit on top takes nothing from the signed one.
    add_forged(remote, ref, ref)
    pull(bob)
    assert signature(bob).startswith("good: ann@example.invalid")


@needs_ssh
def test_refused_records_arrive_once_they_are_signed(ann: Clone, bob: Clone) -> None:
    ann.put(OTHER, "known before")
    push(ann)
    pull(bob)
    set_policy(bob, "refuse")
    ann.put(NOTE, "later")
    delete_records(ann.workspace, [OTHER])
    push(ann)
    assert any("refused: unsigned" in notice for notice in pull(bob).notices)
    assert bob.texts() == ["known before"]
    make_key(ann)
    push(ann)
    assert any("refused: unknown" in notice for notice in pull(bob).notices)
    trust(bob, ann)
    assert not any("refused" in notice for notice in pull(bob).notices)
    assert bob.texts() == ["later"]


@needs_ssh
def test_a_wrong_signature_is_left_out(remote: Repo, ann: Clone, bob: Clone) -> None:
    make_key(ann)
    trust(bob, ann)

    ann.put(NOTE, "true")
    push(ann)
    ((ref, signed),) = writers(remote).items()
    before = remote.git("rev-parse", f"{signed}^{{tree}}")
    ann.put(NOTE, "false")
    push(ann)
    after = remote.git("rev-parse", f"{ref}^{{tree}}")
    forged = remote.git_bytes("cat-file", "commit", signed).replace(before.encode(), after.encode())
    remote.git("update-ref", ref, remote.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=forged))
    assert any("refused: bad" in notice for notice in pull(bob).notices)
    assert bob.texts() == []
    set_policy(bob, "accept")
    pull(bob)
    assert bob.texts() == ["false"]
    assert signature(bob) == "bad"  # as an earlier pull saw it


@needs_ssh
def test_no_signature_vouches_for_what_somebody_else_added(remote: Repo, ann: Clone, bob: Clone) -> None:
    make_key(ann)
    trust(ann, ann)
    trust(bob, ann)
    ann.put(NOTE, "by ann")
    push(ann)
    (own,) = writers(remote)
    bob.put(OTHER, "by an attacker")
    push(bob)
    (other,) = writers(remote).keys() - {own}
    add_forged(remote, own, other)
    remote.git("update-ref", "-d", other)
    ann.put(NOTE, "by ann, later")
    assert any(own in notice for notice in ann.sync().notices)
    (new,) = writers(remote).keys() - {own}
    assert "by ann, later" in ann.texts()
    assert OTHER not in remote.git("ls-tree", "-r", "--name-only", new)
    assert OTHER in remote.git("ls-tree", "-r", "--name-only", own)
    set_policy(bob, "refuse")
    pull(bob)
    assert signature(bob).startswith("good: ann@example.invalid")
    assert not any(WRITERS in notice for notice in ann.sync().notices)


@needs_ssh
def test_a_purge_keeps_the_signatures_of_others_good(remote: Repo, ann: Clone, bob: Clone) -> None:
    for clone in (ann, bob):
        make_key(clone)
    for clone in (ann, bob):
        trust(clone, ann, bob)
    ann.put(NOTE, "xyzzy")
    ann.put(OTHER, "stays")
    push(ann)
    bob.sync()
    delete_records(bob.workspace, [NOTE])
    purge_memory(bob.workspace)
    bob.sync()
    states = [remote.git("log", "-1", "--format=%H", ref) for ref in writers(remote)]
    assert all("gpgsig" in remote.git("cat-file", "commit", commit) for commit in states)


@needs_ssh
def test_a_passphrase_that_nobody_can_type_ends_the_push_and_loses_nothing(remote: Repo, ann: Clone) -> None:
    make_key(ann, "secret words")
    ann.put(NOTE, "kept")
    environment = {name: value for name, value in os.environ.items() if name not in ("SSH_AUTH_SOCK", "DISPLAY")}
    result = subprocess.run(
        [sys.executable, "-m", "gitmem", "-C", str(ann.repo.path), "push", "--yes"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,  # takes the terminal away
        check=False,
    )
    assert result.returncode == ExitCode.FAILED
    assert "the records cannot be signed as `commit.gpgSign` asks: " in result.stderr
    assert "passphrase" in result.stderr
    assert writers(remote) == {}
    assert ann.texts() == ["kept"]


@pytest.fixture
def gnupg(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make an empty home of GnuPG, whose agent takes an empty passphrase and asks nobody."""
    # Sockets of gpg-agent have short paths only.
    home = Path(subprocess.check_output(["mktemp", "-d", "/tmp/gpg-XXXX"], text=True).strip())
    monkeypatch.setenv("GNUPGHOME", str(home))
    pinentry = home / "pinentry"
    pinentry.write_text("#!/bin/sh\necho OK\nwhile read -r line; do echo OK; done\n")
    pinentry.chmod(0o700)
    (home / "gpg-agent.conf").write_text(f"pinentry-program {pinentry}\n")
    (home / "gpgsm.conf").write_text("disable-crl-checks\n")
    yield home
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False, capture_output=True)
    shutil.rmtree(home, ignore_errors=True)


@needs_gpg
def test_an_openpgp_key_is_found_by_the_person(ann: Clone, bob: Clone, gnupg: Path) -> None:
    make = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "ann <ann@example.invalid>"]
    subprocess.run([*make, "ed25519", "sign", "never"], check=True, capture_output=True)
    ann.repo.git("config", "commit.gpgSign", "true")
    ann.put(NOTE, "signed")
    push(ann)
    pull(bob)
    assert signature(bob).startswith("good: ann <ann@example.invalid> (")


def make_certificate(home: Path, person: str) -> None:
    """Make a certificate of a person, signed by itself, and trust it."""
    parameters = (
        f"Key-Type: RSA\nKey-Length: 2048\nKey-Usage: sign\nSerial: random\nName-DN: CN={person}\n"
        f"Name-Email: {person}@example.invalid\n"
    )
    file = home / "certificate"
    command = ["gpgsm", "--batch", "--quiet"]
    subprocess.run(
        [*command, "--output", str(file), "--generate-key"], input=parameters.encode(), check=True, capture_output=True
    )
    subprocess.run([*command, "--import", str(file)], check=True, capture_output=True)
    listed = subprocess.check_output([*command, "--with-colons", "--list-secret-keys"], text=True)
    (fingerprint,) = [line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:")]
    (home / "trustlist.txt").write_text(f"{fingerprint} S relax\n")
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True, capture_output=True)  # it has read the list


@needs_gpgsm
@pytest.mark.parametrize("key", ["", "ann@example.invalid"])
def test_a_certificate_signs_by_the_configured_key_or_the_address(
    ann: Clone, bob: Clone, gnupg: Path, key: str
) -> None:
    make_certificate(gnupg, "ann")
    ann.repo.git("config", "commit.gpgSign", "true")
    ann.repo.git("config", "gpg.format", "x509")
    if key:
        ann.repo.git("config", "user.signingKey", key)
    set_policy(bob, "refuse")
    ann.put(NOTE, "signed")
    push(ann)
    pull(bob)
    assert bob.texts() == ["signed"]
    assert signature(bob).startswith("good: /CN=ann (")


@needs_gpgsm
def test_a_person_without_a_certificate_pushes_nothing_and_loses_nothing(remote: Repo, ann: Clone, gnupg: Path) -> None:
    ann.repo.git("config", "commit.gpgSign", "true")
    ann.repo.git("config", "gpg.format", "x509")
    ann.put(NOTE, "kept")
    with pytest.raises(GitFailed, match=r"cannot be signed as `commit\.gpgSign` asks: ") as caught:
        push(ann)
    assert "user.signingKey" in caught.value.hint
    assert writers(remote) == {}
    assert ann.texts() == ["kept"]


def test_a_record_does_not_describe_its_own_signature() -> None:
    stored = b'{"v": 1, "kind": "note", "id": "mem_0123456789ab", "signature": "good: ann"}\n\ntext'
    assert "signature" not in parse_record(stored, "note").named_fields

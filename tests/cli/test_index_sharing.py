"""`--index` of push, pull and sync, and `gitmem verify --remote`, as a person uses them; also through HTTP."""

import json
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.actions.index_forgery import STRANGER, forge_vector, pack_files, publish
from tests.embedding.provider_server import provider_server
from tests.git.forge import HAS_OPENSSL, open_forge
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index, python_file, snapshot_of, workspace_of
from tests.sample import Cli, assert_error


def make_clones(remote: Repo, url: str) -> tuple[Repo, Repo]:
    """Fill a bare remote from a first clone, and make another one."""
    ann, bob = (Repo(remote.path.parent / name) for name in ("ann", "bob"))
    remote.git("clone", "--quiet", url, str(ann.path))
    ann.git("checkout", "--quiet", "-b", "main")
    ann.commit({"cookies.py": python_file("sign_cookie", "load_cookie"), "guide.md": "# Guide\n\nCopy it nightly.\n"})
    ann.git("push", "--quiet", "-u", "origin", "main")
    remote.git("symbolic-ref", "HEAD", "refs/heads/main")
    remote.git("clone", "--quiet", url, str(bob.path))
    return ann, bob


@pytest.fixture
def remote(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "remote", "--bare")


def test_an_index_is_pushed_pulled_and_verified(cli: Cli, remote: Repo, fake_model: type[InlinePool]) -> None:
    ann, bob = make_clones(remote, remote.path.as_uri())
    assert_error(cli("push", "--index", cwd=ann.path), ExitCode.NO_INDEX, "this repository has no index yet")
    index(ann)
    assert cli("push", "--index", "--dry-run").out.startswith("2 blobs would be pushed to origin for ")
    pushed = json.loads(cli("push", "--index", "--json").out)["pushed"]
    assert cli("pull", "--index", "--dry-run", cwd=bob.path).out.startswith("from origin: 2 blobs would be taken, ")
    pulled = cli("pull", "--index")
    assert pulled.out.startswith("from origin: 2 blobs taken, ")
    assert pulled.out.endswith(
        "HEAD is complete\nchecked: 2 blobs chunked again, 3 vectors compared (embedded again)\n"
    )
    verified = cli("verify").out
    assert verified.endswith(f"digest {pushed['digest']['digest']}\n")
    assert f"digest     {pushed['digest']['digest']}" in cli("status").out
    assert json.loads(cli("status", "--json").out)["digest"] == pushed["digest"]["digest"]
    checked = cli("verify", "--remote", "origin")
    assert (checked.code, checked.out.split(":")[0]) == (ExitCode.OK, "sound")
    synced = json.loads(cli("sync", "--index", "--json").out)
    assert (synced["pulled"]["blobs"], synced["pushed"]["blobs"]) == (0, 0)
    assert_error(cli("verify", "--remote", "origin", "--repair"), ExitCode.USAGE, "does not apply to")


def test_a_forged_index_is_named(cli: Cli, remote: Repo, fake_model: type[InlinePool], tmp_path: Path) -> None:
    ann, bob = make_clones(remote, remote.path.as_uri())
    index(ann)
    (segment,) = snapshot_of(ann).segments
    publish(remote, workspace_of(bob), pack_files(forge_vector(segment.load_rows()), tmp_path / "packs"))
    pulled = cli("pull", "--index", cwd=bob.path)
    assert STRANGER in pulled.err
    assert pulled.out.endswith("2 blobs not shared: `gitmem index` embeds them\n")
    checked = cli("verify", "--remote", "origin")
    assert (checked.code, checked.out.split(":")[0]) == (ExitCode.FAILED, "unsound")
    assert STRANGER in checked.err
    (ref,) = remote.git("for-each-ref", "--format=%(refname)", "refs/gitmem/index").splitlines()
    assert "git push NAME :refs/gitmem/index/VERSION/ID" in checked.err
    bob.git("push", "--quiet", "origin", f":{ref}")
    assert cli("verify", "--remote", "origin").code == ExitCode.OK


def test_a_clone_with_a_remote_model_embeds_nothing(
    cli: Cli, remote: Repo, monkeypatch: pytest.MonkeyPatch, fake_model: type[InlinePool]
) -> None:
    ann, bob = make_clones(remote, remote.path.as_uri())
    with provider_server() as server:
        settings = {
            "PROVIDER": "openai-compatible",
            "PROVIDER_URL": server.url,
            "PROVIDER_KEY": "a-key-of-tests",
            "MODEL": "small",
        }
        for name, value in settings.items():
            monkeypatch.setenv(f"GITMEM_{name}", value)
        monkeypatch.setenv("GITMEM_USE_SERVER", "false")
        assert cli("index", cwd=ann.path).code == ExitCode.OK
        assert cli("push", "--index").code == ExitCode.OK
        server.received.clear()
        pulled = cli("pull", "--index", cwd=bob.path)
        assert "without asking the model" in pulled.out
        assert "up to date" in cli("index").out
        assert cli("verify", "--remote", "origin").code == ExitCode.OK
        assert server.received == []
        assert cli("verify").out == cli("verify", cwd=ann.path).out


@pytest.mark.skipif(not HAS_OPENSSL, reason="needs openssl")
def test_an_index_travels_through_git_http_backend(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_model: type[InlinePool]
) -> None:
    with open_forge(tmp_path) as forge:
        monkeypatch.setenv("GIT_SSL_CAINFO", str(forge.certificate))
        config = tmp_path / "config"
        config.write_text(
            f"[http]\n\tsslCAInfo = {forge.certificate}\n[user]\n\tname = A\n\temail = a@example.invalid\n"
        )
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
        remote = Repo.init(forge.folder / "team.git", "--bare")
        ann, bob = make_clones(remote, remote.path.as_uri())
        for repo in (ann, bob):
            repo.git("remote", "set-url", "origin", forge.url("team.git"))
        index(ann)
        assert cli("push", "--index", cwd=ann.path).code == ExitCode.OK
        assert cli("pull", "--index", cwd=bob.path).out.startswith("from origin: 2 blobs taken, ")


def test_a_host_that_hides_the_refs_of_an_index_is_named(cli: Cli, remote: Repo, fake_model: type[InlinePool]) -> None:
    ann, _ = make_clones(remote, remote.path.as_uri())
    index(ann)
    for namespace, reason in (("uploadpack", "hidden from fetches"), ("transfer", "deny updating a hidden ref")):
        remote.git("config", f"{namespace}.hideRefs", "refs/gitmem")
        for _ in range(2):
            pushed = cli("push", "--index", cwd=ann.path)
            assert_error(pushed, ExitCode.FAILED, reason, "gitmem push --index --store DIR|URL")
    remote.git("config", "--unset", "uploadpack.hideRefs")
    remote.git("config", "--unset", "transfer.hideRefs")
    assert cli("push", "--index").code == ExitCode.OK
    assert cli("push", "--index").out.startswith("0 blobs pushed")


def test_a_partial_clone_takes_the_rows_of_the_blobs_that_it_has(
    cli: Cli, remote: Repo, fake_model: type[InlinePool]
) -> None:
    ann, _ = make_clones(remote, remote.path.as_uri())
    index(ann)
    assert cli("push", "--index", cwd=ann.path).code == ExitCode.OK
    remote.git("config", "uploadpack.allowFilter", "true")
    cat = Repo(remote.path.with_name("cat"))
    remote.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", remote.path.as_uri(), str(cat.path))
    nothing = cli("pull", "--index", cwd=cat.path)
    assert nothing.out.endswith("2 blobs not in this partial clone: `git checkout` fetches them\n")
    assert "left out" not in nothing.err
    cat.git("checkout", "--quiet", "main", "--", "guide.md")
    assert cli("pull", "--index").out.startswith("from origin: 1 blob taken, ")
    cat.git("reset", "--quiet", "--hard")
    assert "HEAD is complete" in cli("pull", "--index").out


def test_a_relative_store_starts_where_the_command_was_given(
    cli: Cli, remote: Repo, fake_model: type[InlinePool]
) -> None:
    ann, bob = make_clones(remote, remote.path.as_uri())
    index(ann)
    folder = ann.path / "deep"
    folder.mkdir()
    (remote.path.parent / "store").mkdir()
    assert cli("push", "--index", "--store", "../../store", cwd=folder).code == ExitCode.OK
    pulled = cli("-C", str(bob.path), "pull", "--index", "--store", "../store", cwd=folder)
    assert "HEAD is complete" in pulled.out
    verified = cli("verify", "--store", "../../store", cwd=folder)
    assert verified.out.startswith(f"sound: {remote.path.parent / 'store'}, 1 pack")


def test_rows_of_texts_in_latin_1_are_taken(cli: Cli, remote: Repo, fake_model: type[InlinePool]) -> None:
    # In UTF-8 such a text is longer than its blob, and so is the place of its last row.
    ann, bob = make_clones(remote, remote.path.as_uri())
    ann.commit({"größe.py": "def größe(länge):\n    return länge * 2\n".encode("latin-1")})
    ann.git("push", "--quiet")
    bob.git("pull", "--quiet")
    index(ann)
    assert cli("push", "--index", cwd=ann.path).code == ExitCode.OK
    assert cli("pull", "--index", cwd=bob.path).out.startswith("from origin: 3 blobs taken, ")

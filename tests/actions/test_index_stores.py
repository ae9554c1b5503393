"""An index shared through a folder or a bucket: checked like one under refs, and never half there."""

import importlib.util
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from gitmem.actions.index_exchange import pull_index, push_index
from gitmem.actions.index_objects import PREFIX, IndexObjects
from gitmem.actions.index_refs import group_of
from gitmem.actions.object_folder import ObjectFolder
from gitmem.actions.remote_check import verify_remote
from gitmem.errors import ExitCode, GitmemError, UsageError
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.records.sharing import own_writer
from gitmem.workspace import Workspace
from tests.actions.azurite import PROGRAM, azurite
from tests.actions.index_forgery import FORGERIES, STRANGER, forge_symbol, pack_files
from tests.actions.index_team import Team, make_team, read_rows
from tests.indexes import InlinePool, dump_rows, index, python_file, search, snapshot_of, workspace_of
from tests.sample import Cli, assert_error

_MISSING = [name for name in ("obstore", "moto", "flask", "flask_cors") if importlib.util.find_spec(name) is None]
needs_azurite = pytest.mark.skipif(
    "obstore" in _MISSING or shutil.which(PROGRAM) is None, reason=f"{PROGRAM} or obstore is not installed"
)
needs_bucket = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}")


@pytest.fixture
def team(tmp_path: Path, fake_model: type[InlinePool]) -> Team:
    return make_team(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> str:
    folder = tmp_path / "store"
    folder.mkdir()
    return str(folder)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start a server that speaks the protocol of S3, with one bucket."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("NO_PROXY", host), ("no_proxy", host),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    boto3.client("s3", region_name="us-east-1", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket="team")
    yield "s3://team/nightly"
    server.stop()


def group_folder(store: str, workspace: Workspace) -> Path:
    return Path(store) / PREFIX / group_of(current_fingerprint(workspace.settings))


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put files into the folder of a writer."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def names_in(store: str) -> list[str]:
    return sorted(path.name for path in Path(store).rglob("*") if path.is_file())


def exchange_through(team: Team, place: str) -> None:
    """Push and pull through a store, and compare the result with the index that was pushed."""
    pushed = push_index(team.ann_workspace(), store=place)
    assert (pushed.remote, pushed.blobs, pushed.packs, pushed.notices) == (place, 3, 1, [])
    bob = team.clone("bob")
    pulled = pull_index(workspace_of(bob), store=place)
    assert (pulled.remote, pulled.blobs, pulled.missing, pulled.checked) == (place, 3, 0, 3)
    assert dump_rows(snapshot_of(bob)) == dump_rows(snapshot_of(team.ann))
    assert search(bob, "sign_cookie").hits[0][0].path == "src/cookies.py"
    checked = verify_remote(workspace_of(bob), "", place)
    assert (checked.faults, checked.packs, checked.checked, checked.digests) == ([], 1, 3, 1)
    assert push_index(workspace_of(bob), store=place).blobs == 0
    # Nothing of it is under refs of the remote.
    assert "refs/gitmem" not in team.remote.git("for-each-ref")


def test_a_folder_is_a_place_for_an_index(team: Team, store: str) -> None:
    exchange_through(team, store)


@needs_bucket
def test_a_bucket_is_a_place_for_an_index(team: Team, bucket: str) -> None:
    exchange_through(team, bucket)
    with pytest.raises(GitmemError, match="the store `s3://nobody/x` cannot be read: "):
        pull_index(workspace_of(team.ann), store="s3://nobody/x")


@needs_azurite
def test_a_container_of_azure_is_a_place_for_an_index(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    with azurite("team") as environment:
        for name, value in {**environment, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}.items():
            monkeypatch.setenv(name, value)
        exchange_through(team, "az://team/nightly")
        with pytest.raises(GitmemError, match="the store `az://nobody/x` cannot be read: ") as caught:
            pull_index(workspace_of(team.ann), store="az://nobody/x")
    assert "(AZURE_...)" in caught.value.hint


def test_the_setting_names_the_store_unless_a_remote_is_named(team: Team, store: str) -> None:
    team.ann.git("config", "gitmem.indexStore", store)
    assert push_index(team.ann_workspace()).remote == store
    assert pull_index(workspace_of(team.clone("bob")), "origin").blobs == 0


@pytest.mark.parametrize("forge", [FORGERIES[0], forge_symbol])
def test_forged_rows_in_a_store_are_left_out(
    team: Team, store: str, forge: Callable[..., object], tmp_path: Path
) -> None:
    workspace = workspace_of(team.clone("bob"))
    files = pack_files(forge(read_rows(team)), tmp_path / "packs")  # type: ignore[arg-type]
    put(group_folder(store, workspace) / STRANGER, files)
    pulled = pull_index(workspace, store=store)
    assert (pulled.blobs, pulled.missing) == (0, 3)
    assert STRANGER in pulled.notices[0]
    assert verify_remote(workspace, "", store).faults
    push_index(team.ann_workspace(), store=store)
    assert pull_index(workspace, store=store).blobs == 3


def test_strange_files_in_a_store_are_ignored(team: Team, store: str, tmp_path: Path) -> None:
    workspace = workspace_of(team.clone("bob"))
    own = group_folder(store, workspace)
    files = pack_files(read_rows(team), tmp_path / "packs")
    put(own / "no-writer", files)
    put(own / STRANGER / "nested", files)
    put(own / STRANGER, {f"{name}.tmp": data for name, data in files.items()})
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        (own / STRANGER / name).symlink_to(tmp_path / name)
    (Path(store) / PREFIX / "readme.txt").write_text("hello")
    assert pull_index(workspace, store=store).blobs == 0


class _Dying(ObjectFolder):
    """Folder whose process dies while it writes a file."""

    def __init__(self, folder: Path, writes: int) -> None:
        super().__init__(folder)
        self._left = writes

    def write(self, name: str, data: bytes) -> None:
        if not self._left:
            half = Path(self.place) / PREFIX / f"{name}.tmp"
            half.parent.mkdir(parents=True, exist_ok=True)
            half.write_bytes(data[: len(data) // 2])
            raise KeyboardInterrupt
        self._left -= 1
        super().write(name, data)


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_an_interrupted_push_is_invisible_or_complete(
    team: Team, store: str, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_dying(workspace: Workspace, *_arguments: object, **_options: object) -> IndexObjects:
        group = group_of(current_fingerprint(workspace.settings))
        return IndexObjects(_Dying(Path(store), writes), group, own_writer(workspace.location))

    with monkeypatch.context() as patch:
        patch.setattr("gitmem.actions.index_exchange.open_place", open_dying)
        with pytest.raises(KeyboardInterrupt):
            push_index(team.ann_workspace(), store=store)
    workspace = workspace_of(team.clone("bob"))
    # A pack is usable as soon as it is there, and its table was there before it.
    assert verify_remote(workspace, "", store).faults == []
    assert pull_index(workspace, store=store).blobs == (3 if writes == 2 else 0)
    assert push_index(team.ann_workspace(), store=store).digest is not None
    assert verify_remote(workspace, "", store).faults == []


def test_writers_that_push_at_once_do_not_disturb_each_other(team: Team, store: str) -> None:
    bob = team.clone("bob")
    bob.commit({"src/more.py": python_file("more")})
    bob.git("push", "--quiet", "origin", "HEAD:refs/heads/more")
    index(bob)
    failures: list[BaseException] = []

    def push(workspace: Workspace) -> None:
        try:
            push_index(workspace, store=store)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=push, args=(each,)) for each in (team.ann_workspace(), workspace_of(bob))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    carol = workspace_of(team.clone("carol"))
    assert verify_remote(carol, "", store).faults == []
    assert pull_index(carol, store=store).missing == 0
    assert not any(name.endswith(".tmp") for name in names_in(store))


def test_a_wrong_store_is_named(team: Team, cli: Cli, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        pull_index(team.ann_workspace(), store=str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="unknown kind of store: `ftp://x`"):
        pull_index(team.ann_workspace(), store="ftp://x")
    refused = cli("pull", "--store", str(tmp_path), cwd=team.ann.path)
    assert_error(refused, ExitCode.USAGE, "`--store` is for the index alone")
    assert cli("push", "--index", "--store", str(tmp_path)).out.startswith(f"3 blobs pushed to {tmp_path} for ")

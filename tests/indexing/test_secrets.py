"""Keys and tokens in files are never stored in the index, and queries for them find nothing."""

from pathlib import Path
from typing import Final

import pytest

from gitmem.answering.index_status import read_status
from gitmem.records.notes import add_note
from gitmem.words import terms_of
from tests.gitrepo import Repo
from tests.indexes import dump_rows, index, search, snapshot_of, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")

TOKEN: Final = "ghp_" + "Zq7Wx4Kv9" * 4
KEY: Final = ["MIIEpAIBAAKCAQEA" + "x7Yz9Q+/" * 6, "Qw8Er7Ty" * 8, "Zq9v"]
FILES: Final[dict[str, str | bytes]] = {
    "deploy.py": f'def deploy_release(client):\n    client.login("{TOKEN}")\n    return client.push()\n',
    "names.py": f"class {TOKEN}:\n    pass\n",
    "data.json": f'{{"{TOKEN}": {{"deploy_release": ["a", "b"]}}}}\n',
    "docs/guide.md": f"# Guide\n\n## Release with {TOKEN}\n\nPush the release.\n",
    "settings.env": f"RELEASE_TOKEN={TOKEN}\n",
    "docs/release.txt": "\n".join(["-----BEGIN PRIVATE KEY-----", *KEY, "-----END PRIVATE KEY-----", ""]),
    "latin.txt": f"für den Abruf: {TOKEN}\n".encode("latin-1"),
}


def without_secrets(content: str | bytes) -> bytes:
    data = content if isinstance(content, bytes) else content.encode()
    for secret in (TOKEN, *KEY):
        data = data.replace(secret.encode(), b"." * len(secret))
    return data


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    index(repo)
    return repo


def test_the_index_equals_that_of_the_files_without_secrets(repo: Repo, tmp_path: Path) -> None:
    """Terms, vectors, symbols and positions are compared."""
    other = Repo.init(tmp_path / "other")
    other.commit({path: without_secrets(content) for path, content in FILES.items()})
    index(other)
    rows, expected = (dump_rows(snapshot_of(made)) for made in (repo, other))
    assert {row._replace(blob="") for row in rows} == {row._replace(blob="") for row in expected}
    assert len(rows) >= len(FILES)


def test_no_part_of_a_secret_is_in_the_decoded_store(repo: Repo) -> None:
    (repo.path / "new.py").write_text(f'fresh = "{TOKEN}"\n')
    add_note(workspace_of(repo), f"The token for releases is {TOKEN}", allow_secrets=True)
    search(repo, "fresh", kinds=("code", "notes"))
    rows = dump_rows(snapshot_of(repo))
    known = {term for row in rows for _, term, _ in row.terms} | {row.symbol.encode() for row in rows}
    assert {b"fresh", b"token", b"releas"} <= known
    for secret in (TOKEN, *KEY):
        parts = {secret.lower(), *(term for term in terms_of(secret.replace("+/", "_")) if len(term) > 3)}
        assert not [(part, term) for part in parts for term in known if part.encode() in term.lower()]
    raw = b"".join(file.read_bytes() for file in workspace_of(repo).paths.root.rglob("*") if file.is_file())
    assert TOKEN.encode() not in raw


def test_a_query_for_a_secret_finds_nothing_and_its_surroundings_stay_searchable(repo: Repo) -> None:
    assert search(repo, TOKEN).hits == []
    assert search(repo, KEY[1]).hits == []
    [(hit, lines), *_] = search(repo, "deploy_release login").hits
    assert hit.path == "deploy.py"
    assert lines == str(FILES["deploy.py"]).splitlines()  # results show the file itself


def test_files_made_for_credentials_are_left_out_and_counted_unless_the_repository_includes_them(repo: Repo) -> None:
    repo.commit({"conf/.env": "APP_MODE=production_mode\n", "conf/.env.example": "APP_MODE=example_mode\n"})
    index(repo)
    assert read_status(workspace_of(repo)).skipped["credentials"] == 1
    assert {hit.path for hit, _ in search(repo, "app mode").hits if "conf" in hit.path} == {"conf/.env.example"}
    repo.commit({".gitmemignore": "!.env\n"})
    index(repo)
    assert "credentials" not in read_status(workspace_of(repo)).skipped
    assert "conf/.env" in {hit.path for hit, _ in search(repo, "app mode").hits}

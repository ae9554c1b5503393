"""The listing of a tree as columns equals the list of its entries."""

from gitmem.git.locate import locate
from gitmem.git.tree_listing import list_tree, parse_listing
from gitmem.git.trees import read_tree
from tests.gitrepo import MakeRepo, Repo

COMMIT = "1" * 40


def test_every_kind_of_entry_is_listed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a.py": "a\n", "lib/b.py": "b\n", "lib-c": "c\n", "lib.d": "d\n", "naïve file\t1.py": "e\n"})
    oid = repo.oid("HEAD:a.py")
    lines = f"120000 {oid} 0\tlink\n160000 {COMMIT} 0\tmodule\n100755 {oid} 0\tlib/run\n"
    repo.git("update-index", "--add", "--index-info", stdin=lines.encode())
    assert_same(repo, repo.git("write-tree"))
    assert_same(repo, repo.git("mktree", stdin=b""))


def assert_same(repo: Repo, tree: str) -> None:
    location = locate(repo.path)
    listing = list_tree(location, tree)
    entries = sorted(read_tree(location, tree))
    assert listing.paths == [entry.path for entry in entries]
    assert listing.modes.tolist() == [entry.mode for entry in entries]
    assert [oid.tobytes().hex() for oid in listing.oids] == [entry.oid for entry in entries]


def test_entries_out_of_order_are_sorted_and_long_ids_are_read() -> None:
    first, second = "ab" * 32, "0f" * 32
    listing = parse_listing(f"100644 blob {first}\tz\x00160000 commit {second}\ta b\x00".encode(), 64)
    assert listing.paths == [b"a b", b"z"]
    assert [oid.tobytes().hex() for oid in listing.oids] == [second, first]
    assert listing.modes.tolist() == [0o160000, 0o100644]

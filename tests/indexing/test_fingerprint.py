"""The fingerprint names everything that a row depends on besides its blob."""

from gitmem.indexing.fingerprint import current_fingerprint, view_key
from tests.gitrepo import MakeRepo
from tests.indexes import InlinePool, index


def test_a_changed_size_limit_rebuilds_the_index(make_repo: MakeRepo, fake_model: type[InlinePool]) -> None:
    repo = make_repo()
    repo.commit({"small.py": "def small():\n    return 1\n", "large.py": "value = 1\n" * 500})
    repo.git("config", "gitmem.maxFileBytes", "2k")
    assert index(repo).skipped == {"large": 1}
    repo.git("config", "gitmem.maxFileBytes", "1m")
    report = index(repo)
    assert report.rebuilt == "the format, the chunker or the model has changed"
    assert (report.skipped, report.embedded) == ({}, 2)
    repo.git("config", "gitmem.maxFileBytes", "2k")
    assert index(repo).skipped == {"large": 1}


def test_the_fingerprint_and_the_key_of_a_view_differ_by_what_they_name() -> None:
    assert current_fingerprint(1000) == current_fingerprint(1000) != current_fingerprint(1001)
    assert view_key("a" * 40) == view_key("a" * 40) != view_key("b" * 40)

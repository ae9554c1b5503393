"""The fingerprint names everything that a row depends on besides its blob."""

from gitmem.content_rules import ContentRules
from gitmem.indexing.fingerprint import current_fingerprint, view_key
from gitmem.settings import Settings
from tests.gitrepo import MakeRepo
from tests.indexes import InlinePool, index


def test_a_changed_size_limit_rebuilds_the_index(make_repo: MakeRepo, fake_model: type[InlinePool]) -> None:
    repo = make_repo()
    repo.commit({"small.py": "def small():\n    return 1\n", "large.py": "value = 1\n" * 500})
    repo.git("config", "gitmem.maxFileBytes", "2k")
    assert index(repo).skipped == {"large": 1}
    repo.git("config", "gitmem.maxFileBytes", "1m")
    report = index(repo)
    assert report.rebuilt == "the format, the chunker, a setting of it or the model has changed"
    assert (report.skipped, report.embedded) == ({}, 2)
    repo.git("config", "gitmem.maxFileBytes", "2k")
    assert index(repo).skipped == {"large": 1}


def test_the_fingerprint_and_the_key_of_a_view_differ_by_what_they_name() -> None:
    usual = Settings()
    others = [usual._replace(max_file_bytes=1001), usual._replace(chunk_max_bytes=800)]
    assert len({current_fingerprint(settings) for settings in (usual, *others, Settings())}) == 3
    assert view_key("a" * 40) == view_key("a" * 40) != view_key("b" * 40)
    assert view_key("a" * 40) != view_key("a" * 40, ContentRules(exclude=("a",)))

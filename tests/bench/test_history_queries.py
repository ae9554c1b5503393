"""Labelled queries of a repository: documentation is searched in a tree without it."""

from pathlib import Path

from tests.bench.history_queries import blank_out, make_doc_queries
from tests.gitrepo import Repo

_BODY = "".join(f"    value = merge_partial_result(value, step, {number})\n" for number in range(20))
_DOCUMENTED = f'''def rotate_keys(value, step):
    """Replace the signing keys of all sessions that are too old."""
{_BODY}    return value
'''


def test_blanked_text_keeps_its_length_and_lines() -> None:
    assert blank_out(b"ab\ncd\r\nef", [(1, 8)]) == b"a \n  \r\n f"


def test_documentation_is_a_query_for_a_tree_without_it(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path)
    repo.commit({"src/keys.py": _DOCUMENTED, "tests/test_keys.py": _DOCUMENTED, "README.md": "# Keys\n"}, "Begin")
    [query] = make_doc_queries(tmp_path, repo.git("rev-parse", "HEAD^{tree}"))
    assert (query.kind, query.paths) == ("doc", ("src/keys.py",))
    assert query.text == "Replace the signing keys of all sessions that are too old."
    assert "signing" not in repo.git("show", f"{query.tree}:src/keys.py")
    assert "signing" in repo.git("show", f"{query.tree}:tests/test_keys.py")

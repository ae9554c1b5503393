"""Messages of commits become queries; the functions that they changed are the answers."""

from pathlib import Path

from models.recipe.histories import COPIED, TINY, mine_history
from tests.gitrepo import Repo

_MESSAGE = """fix(core): keep cookies of redirected sessions (#12)

The jar was emptied before the second request. See https://example.invalid/12

More about it.

Signed-off-by: A Person <person@example.invalid>
"""


def _session(step: int) -> str:
    lines = "".join(f"    value = follow_redirect(value, limit + {step + number})\n" for number in range(4))
    return f"import jar\n\n\ndef send_request(value, limit):\n{lines}    return value\n\n\ndef other():\n    return 1\n"


def _make_repository(path: Path) -> Repo:
    repo = Repo.init(path)
    repo.commit({"src/session.py": _session(0), "tests/test_session.py": _session(0)}, "Begin with sessions")
    return repo


def test_subject_and_first_paragraph_are_the_query_and_the_changed_function_the_answer(tmp_path: Path) -> None:
    repo = _make_repository(tmp_path)
    tree = repo.git("rev-parse", "HEAD^{tree}")
    repo.commit({"src/session.py": _session(5), "tests/test_session.py": _session(5)}, _MESSAGE)
    [query] = mine_history(tmp_path).queries
    subject = "keep cookies of redirected sessions"
    assert query.subject == subject
    assert query.text == f"{subject}\n\nThe jar was emptied before the second request. See"
    assert query.tree == tree
    [function] = query.functions
    assert (function.path, function.symbol, function.start, function.end) == ("src/session.py", "send_request", 4, 9)
    assert function.code.startswith("def send_request(value, limit):")


def test_tiny_changes_and_copies_of_evaluation_code_are_left_out(tmp_path: Path) -> None:
    repo = _make_repository(tmp_path)
    repo.commit({"src/session.py": _session(5)}, "keep cookies of redirected sessions")
    repo.commit({"src/session.py": _session(5).replace("return 1", "return 2")}, "count visitors of several servers")
    mined = mine_history(tmp_path)
    assert mined.rejected[TINY] == 1
    digests = frozenset(function.digest for query in mined.queries for function in query.functions)
    assert mine_history(tmp_path, digests).rejected[COPIED] == 1

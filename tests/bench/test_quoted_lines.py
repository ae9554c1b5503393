"""Which lines of a repository are searched for."""

from pathlib import Path

from tests.bench.quoted_lines import choose_lines
from tests.gitrepo import Repo


def test_only_lines_of_plain_code_that_occur_once_are_chosen(tmp_path: Path) -> None:
    once, twice, tested = (f"    total = add({name}, other_{name})" for name in ("once", "twice", "tested"))
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {
            "a.py": f"import something_of_the_library\n# a comment of several words\ndef f():\n{once}\n{twice}\n",
            "b.py": f"{twice}\nshort = 1\n",
            "tests/test_a.py": f"{tested}\n",
            "notes.txt": "a line of prose that is not in any code\n",
        }
    )
    assert choose_lines(repo.path, 9) == [(once.strip(), "a.py", 4)]

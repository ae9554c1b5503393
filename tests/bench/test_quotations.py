"""Which lines and messages of a repository are searched for."""

from pathlib import Path

from tests.bench.quotations import choose_lines, choose_messages, choose_snippets
from tests.gitrepo import Repo

ONCE, TWICE, TESTED = (f"    total = add({name}, other_{name})" for name in ("once", "twice", "tested"))
FILES = {
    "a.py": f"import something_of_the_library\n# a comment of several words\ndef f():\n{ONCE}\n{TWICE}\n",
    "b.py": f"{TWICE}\nraise KeyError(f'no such order: {{name}} in the shop')\nraise KeyError(f'{{a}} {{b}} {{c}}')\n",
    "tests/test_a.py": f"{TESTED}\nraise KeyError('this is a message of a test')\n",
    "notes.txt": "a line of prose that is not in any code\n",
}


def test_only_lines_and_messages_of_plain_code_that_occur_once_are_chosen(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    lines = choose_lines(repo.path, 9)
    assert (ONCE.strip(), "a.py", 4) in lines
    assert not {TWICE.strip(), TESTED.strip()} & {one.query for one in lines}
    assert (f"{ONCE}\n{TWICE}\n", "a.py", 4) in choose_snippets(repo.path, 9)
    [message] = choose_messages(repo.path, 9)
    assert message[1:] == ("b.py", 2)
    assert "no such order: " in message.query
    assert "{name}" not in message.query

"""Modules that a command imports; every import costs time in each call."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gitrepo import Repo, unmeasured_environment
from tests.sample import SIGN

PROBE = """
import json, sys
from gitmem.cli.main import run
code = run(json.loads(sys.argv[1]))
print("\\n" + json.dumps([code, sorted(sys.modules)]))
"""

HEAVY = {
    "onnxruntime",
    "pygit2",
    "mcp",
    "tokenizers",
    "tree_sitter",
    "tree_sitter_language_pack",
    "hnswlib",
    "filelock",
}
IDLE = HEAVY | {"numpy"}
REST_OF_NUMPY = {"numpy.lib", "numpy.linalg", "numpy.typing"}


def imported_modules(folder: Path, *args: str) -> set[str]:
    """Return the modules that a command has imported at its end."""
    process = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(args)],
        cwd=folder,
        env=unmeasured_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(process.stdout.splitlines()[-1])
    assert code == 0, process
    return set(modules)


def test_control_the_probe_sees_imports(own: Repo) -> None:
    own.commit({"new.py": "def new_thing():\n    pass\n"})
    modules = imported_modules(own.path, "index")
    assert "numpy" in modules
    assert not modules & {"filelock", "numpy.ma", "onnxruntime", "tokenizers", "click"}


@pytest.mark.parametrize("args", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(indexed: Repo, args: list[str]) -> None:
    modules = imported_modules(indexed.path, *args)
    assert not modules & (IDLE | {"msgpack"} | {"rich", "email", "importlib.metadata"})


def test_the_list_of_commands_imports_no_command(indexed: Repo) -> None:
    modules = imported_modules(indexed.path, "--help")
    assert not modules & {"gitmem.cli.query", "gitmem.workspace", "gitmem.actions", "subprocess"}


def test_index_with_nothing_to_do_imports_neither_numpy_nor_click(indexed: Repo) -> None:
    modules = imported_modules(indexed.path, "index")
    assert not modules & (IDLE | {"click", "dataclasses", "inspect", "difflib", "tempfile", "shutil", "rich", "email"})


def test_index_takes_no_longer_because_the_files_of_clients_are_not_committed(own: Repo) -> None:
    assert "numpy" not in imported_modules(own.path, "index")
    imported_modules(own.path, "-q", "install", "claude")
    assert own.git("status", "--short") == "?? .mcp.json"
    assert "numpy" not in imported_modules(own.path, "index")
    own.git("add", ".mcp.json")
    assert "numpy" not in imported_modules(own.path, "index")
    own.write({".mcp.json": (own.path / ".mcp.json").read_text() + "\n"})
    own.git("add", ".mcp.json")
    assert "numpy" in imported_modules(own.path, "index")  # now it is a file of the user


def test_index_after_a_commit_imports_no_click(own: Repo) -> None:
    own.commit({"new.py": "def new_thing():\n    pass\n"})
    modules = imported_modules(own.path, "index")
    assert "numpy" in modules
    assert "click" not in modules


@pytest.mark.parametrize("args", [["status"], ["query", SIGN], ["query", "-C", "2", "--color", "always", SIGN],
                                  ["related", "src/cookies.py:8"]])  # fmt: skip
def test_reading_commands_import_no_module_of_indexing(indexed: Repo, args: list[str]) -> None:
    modules = imported_modules(indexed.path, *args)
    assert not modules & (HEAVY | {"rich", "email", "importlib.metadata", "asyncio", "numpy.ma"})


def test_a_plain_query_imports_no_click(indexed: Repo) -> None:
    click = {"click", "uuid", "platform", "gettext", "dataclasses"}
    assert not imported_modules(indexed.path, "query", SIGN, "--json") & click
    assert "click" in imported_modules(indexed.path, "query", SIGN, "--rev", "HEAD")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere numpy is imported as a whole")
@pytest.mark.parametrize(
    "args",
    [
        ["query", SIGN], ["query", "sign_cookie", "--json"], ["query", "--mode", "semantic", SIGN],
        ["query", "箭头", SIGN],
        ["query", "--kind", "all", "--path", "src/", "--lang", "python", "--type", "function", "--explain", SIGN],
        ["query", "--neighbors", SIGN], ["query", "src/cookies.py:8 sign"], ["related", "src/cookies.py:8"],
        ["usages", "sign_cookie"], ["map"], ["get", "src/cookies.py:1-3"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_commands_that_read_import_the_core_of_numpy_alone(indexed: Repo, args: list[str]) -> None:
    modules = imported_modules(indexed.path, *args)
    assert not modules & REST_OF_NUMPY


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere numpy is imported as a whole")
@pytest.mark.parametrize("args", [["query", SIGN], ["usages", "sign_new_cookie"], ["query", "--staged", SIGN]])
def test_commands_of_an_uncommitted_tree_import_the_core_of_numpy_alone(own: Repo, args: list[str]) -> None:
    own.write({"new.py": "def sign_new_cookie():\n    pass\n", "other.py": "import new\n\nnew.sign_new_cookie()\n"})
    assert not imported_modules(own.path, *args) & REST_OF_NUMPY, "the file must be indexed"
    assert not imported_modules(own.path, *args) & REST_OF_NUMPY, "the file is known, the view is not"


def test_a_query_with_copies_among_its_candidates_imports_no_masked_arrays(own: Repo) -> None:
    copied = "def sign_copied_cookie(value):\n    return value\n"
    own.commit({"src/first_copy.py": copied, "src/second_copy.py": copied + "# of first_copy\n"})
    imported_modules(own.path, "index")
    assert "numpy.ma" not in imported_modules(own.path, "query", "sign_copied_cookie")


def test_a_query_of_a_clean_tree_imports_no_module_for_uncommitted_files(own: Repo) -> None:
    needed = {"gitmem.indexing.uncommitted_views", "gitmem.indexing.classify", "gitmem.git.ignore"}
    assert not imported_modules(own.path, "query", SIGN) & (needed | {"tempfile"})
    own.write({"new.py": "def sign_new_cookie():\n    pass\n"})
    assert needed <= imported_modules(own.path, "query", SIGN)
    own.commit()
    assert imported_modules(own.path, "query", SIGN) & HEAVY == set(), (
        "a blob indexed while uncommitted is known after the commit"
    )


def test_the_history_of_a_line_imports_no_search(own: Repo) -> None:
    own.commit({"new.py": "def new_thing():\n    pass\n"})
    modules = imported_modules(own.path, "when", "new.py:1")
    assert "gitmem.history.tracer" in modules
    assert not modules & (IDLE | {"gitmem.answering.answer", "gitmem.answering.defining_files"})

"""What a command imports before it answers: a person pays for it at every call."""

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


def imported(folder: Path, *args: str) -> set[str]:
    """The modules a command has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(args)],
        cwd=folder,
        env=unmeasured_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done
    return set(modules)


def test_the_probe_sees_what_is_imported(own: Repo) -> None:
    own.commit({"new.py": "def new_thing():\n    pass\n"})
    assert {"numpy", "filelock"} <= imported(own.path, "index")


@pytest.mark.parametrize("args", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(indexed: Repo, args: list[str]) -> None:
    found = imported(indexed.path, *args)
    assert not found & (IDLE | {"msgpack"} | {"rich", "email", "importlib.metadata"})


def test_the_list_of_commands_imports_none_of_them(indexed: Repo) -> None:
    found = imported(indexed.path, "--help")
    assert not found & {"gitmem.cli.query", "gitmem.workspace", "gitmem.actions", "subprocess"}


def test_index_with_nothing_to_do_imports_neither_numpy_nor_click(indexed: Repo) -> None:
    found = imported(indexed.path, "index")
    assert not found & (IDLE | {"click", "dataclasses", "inspect", "difflib", "tempfile", "shutil", "rich", "email"})


@pytest.mark.parametrize("args", [["status"], ["query", SIGN], ["query", "-C", "2", "--color", "always", SIGN],
                                  ["related", "src/cookies.py:8"]])  # fmt: skip
def test_reading_commands_import_nothing_that_only_indexing_needs(indexed: Repo, args: list[str]) -> None:
    found = imported(indexed.path, *args)
    assert not found & (HEAVY | {"rich", "email", "importlib.metadata", "asyncio", "numpy.ma"})


def test_a_clean_tree_costs_no_import_that_a_changed_one_needs(own: Repo) -> None:
    needed = {"gitmem.indexing.uncommitted_views", "gitmem.indexing.classify", "gitmem.git.ignore"}
    assert not imported(own.path, "query", SIGN) & (needed | {"tempfile"})
    own.write({"new.py": "def sign_new_cookie():\n    pass\n"})
    assert needed <= imported(own.path, "query", SIGN)
    own.commit()
    assert imported(own.path, "query", SIGN) & HEAVY == set(), "what was seen uncommitted is there when it is committed"

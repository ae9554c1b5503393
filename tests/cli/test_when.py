"""`gitmem when` as users and programs see it."""

import json

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.indexes import index
from tests.sample import Cli, assert_error

ADD = "def add(a, b):\n    return a + b\n"
CLASS = (
    "\n\nclass Total:\n    def add(self, a):\n        self.value += a\n\n    def reset(self):\n        self.value = 0\n"
)


@pytest.fixture
def repo(repo: Repo) -> Repo:
    """A function that is introduced, documented, renamed and, after the tag `old`, removed with its file."""
    repo.commit({"src/sums.py": f"def plus(a, b):\n    return a + b\n{CLASS}"}, "add sums")
    repo.commit({"src/sums.py": f"# Adds.\n{ADD.replace('add', 'plus')}{CLASS}"}, "document sums")
    repo.commit({"src/sums.py": f"# Adds.\n{ADD}{CLASS}"}, "rename \x1b[31mplus")
    return repo


def test_changes_are_listed_newest_first_with_kinds_and_subjects(cli: Cli, repo: Repo) -> None:
    outcome = cli("when", "src/sums.py:3", cwd=repo.path)
    assert outcome.code == ExitCode.OK
    heading, *rest = outcome.out.splitlines()
    assert heading == f"src/sums.py:1-3  add  3 commits, from {repo.oid('HEAD')[:7]}"
    commits = [repo.oid(rev)[:9] for rev in ("HEAD", "HEAD^", "HEAD~2")]
    assert [line.split("  ")[0] for line in rest if line[0] != " "] == [f"{commit} 2024-01-02" for commit in commits]
    assert "rename" in rest[0]
    assert "rename \\e[31mplus  (A Person)" in rest[0]
    assert rest[1].strip() == "from plus"
    assert "documentation" in rest[2]
    assert "introduced" in rest[3]


@pytest.mark.parametrize("place", ["src/sums.py:2", "src/sums.py:2-3", "sums.py:2", "sums.py:1-3", "src/sums.py#L1-L3"])
def test_every_form_of_a_location_names_the_same_function(cli: Cli, repo: Repo, place: str) -> None:
    history = json.loads(cli("when", "--json", place, cwd=repo.path / "src").out)
    assert (history["path"], history["symbol"]) == ("src/sums.py", "add")
    assert history["introduced"] == history["changes"][-1]["commit"]
    assert history["removed"] is None
    assert [change["kinds"] for change in history["changes"]] == [["rename"], ["documentation"], ["introduced"]]
    assert history["changes"][0]["old_symbol"] == "plus"


def test_a_symbol_alone_is_found_in_all_files(cli: Cli, repo: Repo) -> None:
    assert cli("when", "Total.reset", cwd=repo.path).out.startswith("src/sums.py:10-11  Total.reset  1 commit,")


def test_the_index_tells_which_of_many_files_defines_a_symbol(cli: Cli, repo: Repo) -> None:
    repo.commit({f"src/use{number}.py": "from sums import Total\n" for number in range(61)}, "use sums")
    assert_error(cli("when", "Total", cwd=repo.path), ExitCode.USAGE, "occurs in 62 files")
    assert cli("index", cwd=repo.path).code == ExitCode.OK
    assert cli("when", "Total", cwd=repo.path).out.startswith("src/sums.py:6-11  Total  1 commit,")
    assert_error(cli("when", "Nothing", cwd=repo.path), ExitCode.USAGE, "no definition of `Nothing`")


@pytest.mark.parametrize("name", ["Total.reset()", "Total::reset"])
def test_a_symbol_is_accepted_as_people_write_it(cli: Cli, repo: Repo, name: str) -> None:
    assert cli("when", name, cwd=repo.path).out.startswith("src/sums.py:10-11  Total.reset  1 commit,")


def test_a_text_without_a_name_is_refused_with_and_without_an_index(cli: Cli, repo: Repo) -> None:
    for _ in range(2):
        for text in ("...", ".", "\\", "()"):
            assert_error(cli("when", text, cwd=repo.path), ExitCode.USAGE, "no such file in ")
        assert cli("index", cwd=repo.path).code == ExitCode.OK


def test_lines_of_the_working_tree_are_mapped_to_the_last_commit(cli: Cli, repo: Repo) -> None:
    repo.write({"src/sums.py": f"import os\n\n\n# Adds.\n{ADD}{CLASS}"})
    assert cli("when", "src/sums.py:6", cwd=repo.path).out.startswith("src/sums.py:1-3  add  ")
    assert cli("when", "src/sums.py:3", "--rev", "HEAD", cwd=repo.path).out.startswith("src/sums.py:1-3  add  ")
    assert_error(cli("when", "src/sums.py:1", cwd=repo.path), ExitCode.USAGE, "not committed yet")


def test_a_removed_function_is_traced_from_an_old_revision(cli: Cli, repo: Repo) -> None:
    repo.git("tag", "old")
    removal = repo.commit({"src/sums.py": CLASS.lstrip()}, "remove add")
    history = json.loads(cli("when", "--json", "--rev", "old", "src/sums.py#add", cwd=repo.path).out)
    assert history["removed"] == removal
    assert history["changes"][0]["kinds"] == ["removed"]
    assert history["changes"][0]["subject"] == "remove add"


def test_a_shallow_clone_is_reported(cli: Cli, repo: Repo) -> None:
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", "shallow")
    outcome = cli("when", "src/sums.py#plus", cwd=repo.path / "shallow")
    assert_error(outcome, ExitCode.USAGE, "no symbol `plus`")
    outcome = cli("when", "src/sums.py:3", cwd=repo.path / "shallow")
    assert outcome.out.splitlines()[0].endswith(f"0 commits, from {repo.oid('HEAD')[:7]}")
    assert f"the clone is shallow and ends at {repo.oid('HEAD')[:7]}" in outcome.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["src/none.py:1"], "no such file in "),
        (["src/sums.py:99"], "`src/sums.py` has 11 lines, line 99 does not exist"),
        (["src/sums.py"], "`src/sums.py` is a whole file"),
        (["src/sums.py#minus"], "no symbol `minus` in `src/sums.py`"),
        (["nowhere_defined"], "no definition of `nowhere_defined` in "),
        (["add"], "2 definitions of `add`: `src/sums.py:1`, `src/sums.py:7`"),
        (["abcdef1:0"], "a blob has no history of its own"),
        (["src/sums.py:1", "--rev", "none"], "unknown commit, tag or branch: `none`"),
        (["src/sums.py:1", "--rev", "HEAD^{tree}"], "`HEAD^{tree}` is a tree without history"),
        ([""], "empty location"),
    ],
)
def test_bad_input_is_explained_in_one_line(cli: Cli, repo: Repo, args: list[str], message: str) -> None:
    assert_error(cli("when", *args, cwd=repo.path), ExitCode.USAGE, message)


def test_a_history_does_not_begin_at_an_object_that_git_cannot_read(cli: Cli, repo: Repo) -> None:
    lost = repo.oid("HEAD~2:src/sums.py")
    repo.loose_object(lost).unlink()
    place = "src/sums.py:3"
    history = json.loads(cli("when", "--json", place, cwd=repo.path).out)
    assert [change["kinds"] for change in history["changes"]] == [["rename"]]
    assert history["introduced"] is None
    assert history["notes"] == [
        f"the history is followed back to {repo.oid('HEAD^')[:7]}, which needs an object that git cannot read: what"
        " came before is unknown",
        f"git cannot read 1 object ({lost[:12]}): code that moved may count as removed and added (find the damage with"
        " git fsck, and restore the objects from another clone)",
    ]
    assert f"note: {history['notes'][0]}" in cli("when", place, cwd=repo.path).err


def test_an_incomplete_history_is_not_cached(cli: Cli, repo: Repo) -> None:
    repo.git("mv", "src/sums.py", "src/totals.py")
    repo.commit({"src/totals.py": f"# Adds.\n{ADD}{CLASS}# moved\n"}, "move")
    index(repo)
    file = repo.loose_object(repo.oid("HEAD^:src/sums.py"))
    data = file.read_bytes()
    file.unlink()
    history = json.loads(cli("when", "--json", "src/totals.py:3", cwd=repo.path).out)
    assert (history["changes"], history["introduced"], len(history["notes"])) == ([], None, 2)
    file.write_bytes(data)
    history = json.loads(cli("when", "--json", "src/totals.py:3", cwd=repo.path).out)
    assert (history["introduced"], history["notes"]) == (repo.oid("HEAD~3"), [])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Cart", "src/shop/cart/Cart.java:1-5"),  # and not its constructors
        ("shop.cart.Cart", "src/shop/cart/Cart.java:1-5"),
        ("shop.cart.Cart.total", "src/shop/cart/Cart.java:4-4"),
        ("Stack", "src/engine/stack.rs:1-3"),  # and not the block that extends it
        ("src/engine/stack.rs#Stack", "src/engine/stack.rs:1-3"),
        ("engine::Stack", "src/engine/stack.rs:1-3"),
    ],
)
def test_a_definition_is_named_as_code_names_it(cli: Cli, repo: Repo, name: str, line: str) -> None:
    repo.commit(
        {
            "src/shop/cart/Cart.java": (
                "class Cart {\n  Cart() {}\n  Cart(int x) {}\n  int total() { return 1; }\n}\n"
            ),
            "src/engine/stack.rs": "pub struct Stack {\n    top: u8,\n}\n\nimpl Stack {\n    fn push(&self) {}\n}\n",
        }
    )
    index(repo)
    outcome = cli("when", name, cwd=repo.path)
    assert (outcome.code, outcome.out.split("  ")[0]) == (ExitCode.OK, line)

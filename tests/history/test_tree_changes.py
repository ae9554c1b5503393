"""Definitions that differ between two trees: what an oracle that applied the changes expects, and the same by hand."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.chunking.elements import find_elements
from gitmem.git.file_history import read_changed_files, read_commit_files
from gitmem.git.locate import locate
from gitmem.git.objects import open_reader
from gitmem.history import matching
from gitmem.history.element_reader import ElementReader
from gitmem.history.tree_changes import ADDED, CHANGED, MOVED, REMOVED, ElementChange, compare_trees
from gitmem.history.version import FileVersion, similarity
from tests.gitrepo import Repo
from tests.history.test_generated_histories import CHANGES, State, World, apply, new_function

ADD = "def add(first, second):\n    total = first + second\n    check(total)\n    return total\n"
LOAD = "def load(path):\n    with open(path) as file:\n        return parse(file.read())\n"
TOTAL = """\
class Total:
    def plus(self, value):
        self.value += value

    def reset(self):
        self.value = 0
"""


def compare(repo: Repo, since: str = "HEAD^", until: str = "HEAD", *, with_text: bool = False) -> list[ElementChange]:
    """Return what differs between two revisions."""
    location = locate(repo.path)
    with open_reader(location, bulk=False) as blobs:
        files = read_changed_files(location, f"{since}^{{tree}}", f"{until}^{{tree}}")
        return compare_trees(files.files, ElementReader(blobs, find_elements), with_text=with_text)


def changes(repo: Repo, files: dict[str, str | None]) -> list[tuple[str, ...]]:
    """Commit files and return group, path, symbol, old path and old symbol of what differs."""
    for path in [path for path, text in files.items() if text is None]:
        repo.git("rm", "-q", path)
    repo.commit({path: text for path, text in files.items() if text is not None}, "next")
    return [_names(change) for change in compare(repo)]


def _names(change: ElementChange) -> tuple[str, ...]:
    old = change.old_path.decode() if change.old_path != change.path else ""
    symbol = change.old_symbol if change.old_symbol != change.symbol else ""
    return (change.group, change.path.decode(), change.symbol, *(part for part in (old, symbol) if part))


@pytest.fixture
def repo(repo: Repo) -> Repo:
    repo.commit({"a.py": f"{ADD}\n\n{LOAD}", "notes.txt": "one\ntwo\n"}, "first")
    return repo


def test_each_definition_is_added_removed_or_changed(repo: Repo) -> None:
    found = changes(repo, {"a.py": f"{ADD.replace('check', 'verify')}\n\n{TOTAL}", "notes.txt": "one\n"})
    assert found == [
        (ADDED, "a.py", "Total"), (REMOVED, "a.py", "load"), (CHANGED, "a.py", "add"), (CHANGED, "notes.txt", ""),
    ]  # fmt: skip
    total, load, add, notes = compare(repo)
    assert (total.members, total.first, total.last, total.size) == (2, 7, 12, 1)
    assert (load.first, load.last, load.size) == (7, 9, 3)
    assert (add.kinds, add.size, notes.size) == (("body",), 2, 1)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", '[tool.poetry]\nname = "a"\nversion = "1"\n', '[tool.poetry]\nname = "a"\nversion = "2"\n'),
        ("jobs.yml", "jobs:\n  build:\n    runs-on: old\n", "jobs:\n  build:\n    runs-on: new\n"),
        ("limits.py", "LIMITS = [\n    1,\n    2,\n]\n", "LIMITS = [\n    1,\n    3,\n]\n"),
    ],
)
def test_a_value_has_a_body_and_no_signature(repo: Repo, path: str, before: str, after: str) -> None:
    changes(repo, {path: before})
    changes(repo, {path: after})
    assert {change.kinds for change in compare(repo)} == {("body",)}


def test_moved_code_is_moved(repo: Repo) -> None:
    assert changes(repo, {"a.py": LOAD, "b.py": ADD}) == [(MOVED, "b.py", "add", "a.py")]
    assert changes(repo, {"b.py": ADD.replace("add", "total_of")}) == [(MOVED, "b.py", "total_of", "add")]
    moved = f"class Total:\n{''.join(f'    {line}' for line in ADD.replace('add', 'total_of').splitlines(True))}"
    assert (MOVED, "b.py", "Total.total_of", "total_of") in changes(repo, {"b.py": moved})


def test_a_renamed_file_is_one_change(repo: Repo) -> None:
    repo.git("mv", "a.py", "c.py")
    repo.git("mv", "notes.txt", "more.txt")
    assert changes(repo, {}) == [(MOVED, "c.py", "", "a.py"), (MOVED, "more.txt", "", "notes.txt")]
    repo.git("mv", "c.py", "d.py")
    assert changes(repo, {"d.py": f"{ADD}\n\n{LOAD.replace('parse', 'parsed')}"}) == [
        (CHANGED, "d.py", "load", "c.py"), (MOVED, "d.py", "", "c.py"),
    ]  # fmt: skip


def test_a_class_takes_its_members_along(repo: Repo) -> None:
    changes(repo, {"t.py": f"{TOTAL}\n\n{LOAD}"})
    assert changes(repo, {"t.py": LOAD, "u.py": TOTAL}) == [(MOVED, "u.py", "Total", "t.py")]
    assert compare(repo)[0].members == 2
    assert changes(repo, {"u.py": None}) == [(REMOVED, "u.py", "Total")]


def test_loose_code_binary_files_and_blank_lines(repo: Repo) -> None:
    assert changes(repo, {"a.py": f"import os\n\n{ADD}\n\n{LOAD}"}) == [(CHANGED, "a.py", "")]
    assert changes(repo, {"a.py": f"import os\n\n\n\n{ADD}\n\n\n{LOAD}"}) == []
    assert changes(repo, {"x.bin": "a\0b"}) == [(ADDED, "x.bin", "")]
    assert compare(repo)[0].size == 0
    assert changes(repo, {"t.py": TOTAL}) == [(ADDED, "t.py", "Total")]
    assert changes(repo, {"t.py": TOTAL.replace("\n\n", "\n\n\n")}) == []


def test_small_members_are_not_recognised_in_other_files(repo: Repo) -> None:
    assert changes(repo, {"p.py": "class P:\n    size = 1\n\n    def run(self):\n        return work(self)\n"})
    found = changes(repo, {
        "p.py": "class P:\n    def run(self):\n        return work(self)\n", "q.py": "class Q:\n    size = 1\n",
    })  # fmt: skip
    assert found == [(ADDED, "q.py", "Q"), (REMOVED, "p.py", "P.size")]


# Of a function that is renamed and split in one range, both halves are as likely to be what it was renamed to.
KINDS = [change for change in CHANGES if change not in ("move file", "split", "absorb")]


# Of a range that adds and removes functions with equal structure nobody could say which was renamed to which.
@pytest.mark.parametrize("without", ["add", "remove"])
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 50)), min_size=2, max_size=12))
def test_a_range_differs_in_the_functions_that_its_commits_changed(
    tmp_path_factory: pytest.TempPathFactory, without: str, steps: list[tuple[str, int]]
) -> None:
    world = World()
    start = State({"a.py": (new_function(world), new_function(world))}, {1: (), 2: ()})
    world.commit(start)
    for change, place in steps:
        if change != without:
            apply(world, change, place)
    repo = Repo.init(Path(tmp_path_factory.mktemp("range")))
    tip = f"reset refs/heads/tip\nfrom :{world.branches[world.current][0]}\nreset refs/heads/base\nfrom :1\n"
    repo.git("fast-import", "--quiet", stdin="".join([*world.stream, tip]).encode())
    found = [_names(change) for change in compare(repo, "base", "tip")]
    assert sorted(found) == sorted(expected_changes(start, world.state))


def expected_changes(old: State, new: State) -> list[tuple[str, ...]]:
    """Return what became of each function, by its number."""
    before = {each.number: (path, each) for path, functions in old.files.items() for each in functions}
    after = {each.number: (path, each) for path, functions in new.files.items() for each in functions}
    expected: list[tuple[str, ...]] = []
    for number in before.keys() | after.keys():
        if number not in before:
            expected.append((ADDED, after[number][0], after[number][1].name))
        elif number not in after:
            expected.append((REMOVED, before[number][0], before[number][1].name))
        elif before[number] != after[number]:
            (old_path, was), (path, now) = before[number], after[number]
            places = [old_path] if old_path != path else []
            names = [was.name] if was.name != now.name else []
            expected.append((MOVED if places or names else CHANGED, path, now.name, *places, *names))
    return expected


def test_a_changed_member_of_an_anonymous_class_changes_the_definition_around_it(repo: Repo) -> None:
    text = "class Menu {\n    void open() {\n        run(new Task() { void start() { first(); } });\n    }\n}\n"
    assert changes(repo, {"Menu.java": text})
    assert changes(repo, {"Menu.java": text.replace("first", "second")}) == [(CHANGED, "Menu.java", "Menu.open")]


def test_versions_share_their_tokens() -> None:
    # The tokens of thousands of definitions are the largest thing in memory when two releases are compared.
    source = b"def first(value):\n    return change(value)\n"
    shared: dict[bytes, bytes] = {}
    files = [FileVersion(b"a.py", oid, source, lambda: find_elements(source, "python"), shared) for oid in ("1", "2")]
    one, other = (file.versions[0] for file in files)
    assert one.body == other.body
    assert all(token is same for token, same in zip(one.body, other.body, strict=True))


def test_a_comparison_keeps_neither_tokens_nor_texts_of_what_it_has_compared() -> None:
    source = b"def first(value):\n    return change(value)\n"
    version = FileVersion(b"a.py", "1", source, lambda: find_elements(source, "python")).versions[0]
    bag, tokens, length = version.bag, version.tokens, version.body_length
    assert "body" not in vars(version), "the list is as large as the multiset, which is enough to compare"
    assert length == len(version.body)
    key = version.key
    version.release()
    assert not {"text", "bag", "body", "signature"} & vars(version).keys()
    assert (version.bag, version.tokens, version.key) == (bag, tokens, key)


def test_changes_have_their_text_on_request(repo: Repo) -> None:
    repo.commit({"total.py": TOTAL}, "first")
    repo.commit({"total.py": TOTAL.replace("0", "1"), "add.py": ADD, "notes.txt": "one\n"}, "second")
    assert {change.text for change in compare(repo)} == {b""}
    texts = [change.text for change in compare(repo, with_text=True)]
    assert all(texts)
    assert ADD.encode().strip() in [text.strip() for text in texts]


@given(*[st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]))] * 2)
def test_similarity_is_the_dice_coefficient_of_multisets(one: list[bytes], other: list[bytes]) -> None:
    first, second = Counter(one), Counter(other)
    total = len(one) + len(other)
    assert similarity(first, second) == (2 * (first & second).total() / total if total else 1.0)


def test_a_blob_that_git_lacks_hides_no_other_change(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path)
    repo.commit({"old.py": ADD + LOAD, "total.py": TOTAL}, "first")
    repo.git("mv", "old.py", "new.py")
    repo.commit({"new.py": ADD + LOAD + "# moved\n", "total.py": TOTAL.replace("0", "1")}, "second")
    repo.loose_object(repo.oid("HEAD^:old.py")).unlink()  # git would compare it to find the rename
    assert ("Total.reset", CHANGED) in [(each.symbol, each.group) for each in compare(repo)]
    files, unreadable = read_commit_files(locate(repo.path), repo.head(), renames=True)
    assert [file.path for file in files if not file.old_blob] == [b"new.py"]
    assert unreadable == {repo.oid("HEAD^:old.py")}


def test_a_file_with_an_unreadable_version_is_compared_as_a_whole(repo: Repo) -> None:
    repo.commit({"total.py": TOTAL}, "first")
    repo.commit({"total.py": TOTAL.replace("0", "1")}, "second")
    repo.loose_object(repo.oid("HEAD^:total.py")).unlink()
    assert [_names(change) for change in compare(repo)] == [(CHANGED, "total.py", "")]


@pytest.mark.parametrize("count", [40, 300])
def test_each_of_many_definitions_is_compared_with_a_few(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    # A generator that gives all its functions other names leaves each of them alike all others.
    compared: list[float] = []

    def remember(one: Counter[bytes], other: Counter[bytes]) -> float:
        compared.append(similarity(one, other))
        return compared[-1]

    monkeypatch.setattr(matching, "similarity", remember)
    before = "".join(_binding(f"call_{number}", number) for number in range(count))
    after = "".join(_binding(f"invoke_{number}_v2", number) for number in range(count))
    repo.commit({"bindings.py": before}, "before")
    found = changes(repo, {"bindings.py": after})
    assert {(group, symbol.split("_")[1]) for group, _, symbol, *_ in found} == {
        (MOVED, str(number)) for number in range(count)
    }
    assert all(old.split("_")[1] == symbol.split("_")[1] for _, _, symbol, old in found)
    assert len(compared) <= 250 * count


def _binding(name: str, number: int) -> str:
    """Return a function that differs from others in a number alone."""
    body = f"    result = table[{number}](reference.pointer, reference.size)\n    return check(result)\n"
    return f"def {name}(reference):\n{body}\n\n"

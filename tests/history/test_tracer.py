"""The history of a definition, in real repositories that change it in one way at a time."""

from pathlib import Path

import pytest

from tests.gitrepo import MakeRepo, Repo
from tests.history.tracing import Step, cut, removed_by, sources, trace, trace_line

SIGN = """\
def sign(value, key):
    digest = hmac.new(key, value, "sha256").hexdigest()
    return f"{value}.{digest}"
"""
OTHER = """\
def load(path):
    with open(path) as file:
        return parse(file.read())
"""
LONG = """\
def run(job):
    check(job)
    start = clock()
    result = job.execute(start)
    log.info(result, start)
"""


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    repo = make_repo()
    repo.commit({"a.py": f"import hmac\n\n\n{SIGN}\n\n{OTHER}"}, "first")
    return repo


def test_changes_are_classified(repo: Repo) -> None:
    signature = SIGN.replace("value, key", "value, key, salt")
    repo.commit({"a.py": f"import hmac\n\n\n{signature}\n\n{OTHER}"}, "signature")
    body = signature.replace("sha256", "sha512")
    repo.commit({"a.py": f"import hmac\n\n\n{body}\n\n{OTHER}"}, "body")
    documented = body.replace(":\n", ':\n    """Sign a value."""\n', 1)
    repo.commit({"a.py": f"import hmac\n\n\n{documented}\n\n{OTHER}"}, "docstring")
    comment = f"# Used by cookies.\n{documented}"
    repo.commit({"a.py": f"import hmac\n\n\n{comment}\n\n{OTHER}"}, "comment")
    formatted = comment.replace("(key, value,", "(key,  value,")
    repo.commit({"a.py": f"import hmac\n\n\n{formatted}\n\n{OTHER}"}, "format")
    repo.commit({"a.py": f"import hmac\n\n\n{formatted}\n\n{OTHER}# end\n"}, "elsewhere")
    assert [step[:2] for step in trace(repo, "a.py", "sign")] == [
        ("format", ("format",)),
        ("comment", ("documentation",)),
        ("docstring", ("documentation",)),
        ("body", ("body",)),
        ("signature", ("signature",)),
        ("first", ("introduced",)),
    ]


def test_a_comment_that_was_removed_is_a_change(repo: Repo) -> None:
    repo.commit({"a.py": f"import hmac\n\n\n# Old.\n{SIGN}\n\n{OTHER}"}, "add")
    repo.commit({"a.py": f"import hmac\n\n\n{SIGN}\n\n{OTHER}"}, "remove")
    assert [step.subject for step in trace(repo, "a.py", "sign")] == ["remove", "add", "first"]


def test_a_rename_is_followed(repo: Repo) -> None:
    renamed = SIGN.replace("sign", "sign_cookie")
    repo.commit({"a.py": f"import hmac\n\n\n{renamed}\n\n{OTHER}"}, "rename")
    assert trace(repo, "a.py", "sign_cookie") == [
        Step("rename", ("rename",), "a.py#sign"),
        Step("first", ("introduced",)),
    ]


def test_a_moved_file_is_followed(repo: Repo) -> None:
    repo.git("mv", "a.py", "b.py")
    repo.commit(message="move")
    assert trace(repo, "b.py", "sign") == [Step("move", ("file move",), "a.py#sign"), Step("first", ("introduced",))]


def test_a_move_to_another_file_is_followed(repo: Repo) -> None:
    repo.commit({"b.py": "import os\n"}, "other")
    repo.commit({"a.py": f"import hmac\n\n\n{OTHER}", "b.py": f"import os\n\n\n{SIGN}"}, "move")
    assert trace(repo, "b.py", "sign") == [Step("move", ("move",), "a.py#sign"), Step("first", ("introduced",))]


def test_a_copy_is_introduced_where_it_was_made(repo: Repo) -> None:
    repo.commit({"b.py": f"import os\n\n\n{SIGN}"}, "copy")
    assert trace(repo, "b.py", "sign") == [Step("copy", ("introduced",))]


def test_a_move_into_a_class_is_one_change(repo: Repo) -> None:
    method = "".join(f"    {line}\n" for line in SIGN.replace("(value", "(self, value").splitlines())
    repo.commit({"a.py": f"import hmac\n\n\nclass Signer:\n{method}\n\n{OTHER}"}, "into a class")
    first, last = trace(repo, "a.py", "Signer.sign")
    assert first == Step("into a class", ("move", "signature"), "a.py#sign")
    assert last.subject == "first"


def test_a_renamed_class_does_not_move_its_methods(make_repo: MakeRepo) -> None:
    repo = make_repo()
    text = "class Signer {\n    int sign(int value) {\n        return value + 1;\n    }\n}\n"
    repo.commit({"A.java": text}, "first")
    repo.commit({"A.java": text.replace("Signer", "Sealer")}, "rename the class")
    assert [step.subject for step in trace(repo, "A.java", "Sealer.sign")] == ["first"]
    assert [step.subject for step in trace(repo, "A.java", "Sealer")] == ["rename the class", "first"]


def test_a_member_that_changed_with_the_name_of_its_class_is_followed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    names = ("start", "step", "limit", "seed")
    old = f"    def __init__(self, {', '.join(f'sleep_{name}' for name in names)}):\n"
    old += "".join(f"        self.sleep_{name} = sleep_{name}\n" for name in names)
    new = f"    def __init__(self, {', '.join(f'{name}=0' for name in names)}):\n"
    new += "".join(f"        self.{name} = {name}\n" for name in names)
    call = "    def __call__(self, attempt):\n        return min(self.start + attempt * self.step, LIMIT)\n"
    fixed = "    def __init__(self, sleep):\n        self.sleep = sleep\n"
    repo.commit({"a.py": f"class FixedSleep:\n{fixed}\n\nclass RisingSleep:\n{old}\n{call}"}, "first")
    repo.commit({"a.py": f"class WaitFixed:\n{fixed}\n\nclass WaitRising:\n{new}\n{call}"}, "rename")
    assert trace(repo, "a.py", "WaitRising.__init__") == [
        Step("rename", ("signature", "body"), "a.py#RisingSleep.__init__"),
        Step("first", ("introduced",)),
    ]


def test_a_renamed_member_is_sought_in_its_own_class_first(make_repo: MakeRepo) -> None:
    repo = make_repo()
    text = "".join(
        f"class {name}:\n    def _format(self, value):\n        return {call}(value)\n\n\n"
        for name, call in (("Number", "float"), ("Boolean", "bool"), ("Text", "str"))
    )
    repo.commit({"a.py": text}, "first")
    repo.commit({"a.py": text.replace("_format(self, value", "_serialize(self, value, key, obj")}, "rename")
    first, last = trace(repo, "a.py", "Boolean._serialize")
    assert first == Step("rename", ("rename", "signature"), "a.py#Boolean._format")
    assert last.subject == "first"


def test_a_type_that_became_an_interface_is_followed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    text = "{\n  getItem: (name: string) => string\n  removeItem: (name: string) => void\n}\n"
    repo.commit({"a.ts": f"export type Storage = {text}"}, "first")
    repo.commit({"a.ts": f"export interface Storage {text}"}, "interface")
    assert [step.subject for step in trace(repo, "a.ts", "Storage")] == ["interface", "first"]


def test_a_function_that_became_a_class_is_followed(repo: Repo) -> None:
    function = "def retry_never(attempt):\n    return False\n"
    repo.commit({"c.py": function}, "function")
    method = "class _retry_never(Strategy):\n    def __call__(self, attempt):\n        return False\n"
    repo.commit({"c.py": method}, "class")
    assert [step.subject for step in trace(repo, "c.py", "_retry_never")] == ["class", "function"]


def test_a_member_in_place_of_a_blank_line_is_a_change_of_the_class(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a.ts": "export interface Request {\n  body?: any\n\n  query?: Query\n}\n"}, "first")
    repo.commit({"a.ts": "export interface Request {\n  body?: any\n  query?: Query\n  params: Params\n}\n"}, "add")
    steps = [step[:2] for step in trace(repo, "a.ts", "Request")]
    assert steps == [("add", ("body",)), ("first", ("introduced",))]


def test_a_class_changes_with_its_own_text_only(make_repo: MakeRepo) -> None:
    repo = make_repo()
    text = "class Signer {\n    int sign(int value) {\n        return value + 1;\n    }\n}\n"
    repo.commit({"A.java": text}, "first")
    repo.commit({"A.java": text.replace("+ 1", "+ 2")}, "member")
    repo.commit({"A.java": text.replace("+ 1", "+ 2").replace("class", "final class")}, "class")
    assert [step.subject for step in trace(repo, "A.java", "Signer")] == ["class", "first"]


def test_overloads_are_told_apart(make_repo: MakeRepo) -> None:
    repo = make_repo()
    one = "    void log(int a) {\n        write(a, 1, first);\n    }\n"
    two = "    void log(String a) {\n        print(a, 2, second);\n    }\n"
    repo.commit({"A.java": f"class A {{\n{one}}}\n"}, "first")
    repo.commit({"A.java": f"class A {{\n{one}{two}}}\n"}, "second")
    changed = two.replace("String a", "String a, int level")
    repo.commit({"A.java": f"class A {{\n{changed}{one.replace('first', 'again')}}}\n"}, "both")
    text = repo.git("show", "HEAD:A.java")
    assert "level" in text
    assert [step.subject for step in trace_line(repo, "A.java", 2)] == ["both", "second"]
    assert [step.subject for step in trace_line(repo, "A.java", 5)] == ["both", "first"]


def test_a_split_and_a_merge_name_the_other_part(repo: Repo) -> None:
    repo.commit({"c.py": LONG}, "whole")
    parts = "def run(job):\n    check(job)\n    return timed(job)\n\n\ndef timed(job):\n" + "".join(
        LONG.splitlines(keepends=True)[2:]
    )
    repo.commit({"c.py": parts}, "split")
    assert sources(repo, "c.py", "timed") == [("split", [("split from", "run")])]
    repo.commit({"c.py": LONG}, "merge again")
    assert sources(repo, "c.py", "run")[0] == ("merge again", [("merged from", "timed")])


def test_both_sides_of_a_merge_are_followed(repo: Repo) -> None:
    top, bottom = SIGN.replace("def sign", "# Signs.\ndef sign"), SIGN.replace('{digest}"', '{digest}!"')
    repo.git("switch", "-qc", "side")
    repo.commit({"a.py": f"import hmac\n\n\n{bottom}\n\n{OTHER}"}, "side")
    repo.git("switch", "-q", "main")
    repo.commit({"a.py": f"import hmac\n\n\n{top}\n\n{OTHER}"}, "main")
    both = top.replace('{digest}"', '{digest}!"')
    repo.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merge", "side")
    repo.write({"a.py": f"import hmac\n\n\n{both}\n\n{OTHER}"})
    repo.git("commit", "-qa", "--amend", "--no-edit")
    assert sorted(step.subject for step in trace(repo, "a.py", "sign")) == ["first", "main", "side"]


def test_the_side_of_a_merge_that_had_the_file_elsewhere_is_followed(repo: Repo) -> None:
    repo.git("switch", "-qc", "side")
    repo.git("mv", "a.py", "b.py")
    repo.commit(message="move")
    repo.commit({"b.py": f"import hmac\n\n\n{SIGN}\n\n{OTHER}# end\n"}, "elsewhere")
    repo.git("switch", "-q", "main")
    changed = SIGN.replace("sha256", "sha512")
    repo.commit({"a.py": f"import hmac\n\n\n{changed}\n\n{OTHER}"}, "body")
    repo.git("merge", "-q", "-m", "merge", "side")
    assert trace(repo, "b.py", "sign") == [
        Step("merge", ("file move",), "a.py#sign"),
        Step("body", ("body",), "a.py#sign"),
        Step("first", ("introduced",)),
    ]


def test_a_side_branch_that_was_discarded_is_left_out(repo: Repo) -> None:
    repo.git("switch", "-qc", "side")
    repo.commit({"a.py": SIGN.replace("sha256", "md5")}, "side")
    repo.git("switch", "-q", "main")
    repo.commit({"b.py": OTHER}, "main")
    repo.git("merge", "-q", "-s", "ours", "-m", "merge", "side")
    assert [step.subject for step in trace(repo, "a.py", "sign")] == ["first"]


def test_a_change_made_on_both_sides_is_listed_once_if_it_makes_the_files_equal(repo: Repo) -> None:
    changed = {"a.py": f"import hmac\n\n\n{SIGN.replace('sha256', 'sha512')}\n\n{OTHER}"}
    repo.git("switch", "-qc", "side")
    repo.commit(changed, "original")
    repo.git("switch", "-q", "main")
    repo.commit({**changed, "b.py": OTHER}, "picked")
    repo.git("merge", "-q", "-m", "merge", "side")
    assert [step.subject for step in trace(repo, "a.py", "sign")] == ["picked", "first"]


def test_a_shallow_clone_says_where_it_ends(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": f"import hmac\n\n\n{SIGN.replace('sha256', 'sha512')}\n\n{OTHER}"}, "second")
    repo.git("clone", "-q", "--depth=2", f"file://{repo.path}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    assert cut(shallow, "a.py", "sign") == [repo.oid("HEAD^")]
    assert [step.subject for step in trace(shallow, "a.py", "sign")] == ["second"]
    assert cut(repo, "a.py", "sign") == []


def test_settings_of_git_change_nothing(repo: Repo) -> None:
    repo.git("mv", "a.py", "b.py")
    repo.commit(message="move")
    expected = trace(repo, "b.py", "sign")
    log = "showRoot=false follow=true showSignature=true diffMerges=on date=relative".split()
    for setting in (*(f"log.{each}" for each in log), "diff.renames=false", "diff.relative=true"):
        repo.git("config", *setting.split("="))
    assert trace(repo, "b.py", "sign") == expected


def test_lines_are_followed_like_definitions(repo: Repo) -> None:
    repo.commit({"notes.txt": "one\ntwo\nthree\n"}, "notes")
    repo.commit({"notes.txt": "zero\none\ntwo!\nthree\n"}, "two")
    repo.commit({"notes.txt": "zero\none\ntwo!\nthree!\n"}, "three")
    repo.git("mv", "notes.txt", "more.txt")
    repo.commit(message="move")
    assert [step.subject for step in trace_line(repo, "more.txt", 3)] == ["move", "two", "notes"]


@pytest.mark.parametrize(
    ("path", "text", "symbol", "old", "new"),
    [
        ("a.go", "package a\n\nfunc Add(a int) int {\n\treturn a + 1\n}\n", "Add", "+ 1", "+ 2"),
        ("a.rs", "#[inline]\nfn add(a: i32) -> i32 {\n    a + 1\n}\n", "add", "+ 1", "+ 2"),
        ("a.ts", "export function add(a: number) {\n  return a + 1;\n}\n", "add", "+ 1", "+ 2"),
        ("a.rb", "class A\n  def add(a)\n    a + 1\n  end\nend\n", "A.add", "+ 1", "+ 2"),
        ("a.c", "int add(int a) {\n    return a + 1;\n}\n", "add", "+ 1", "+ 2"),
        ("a.md", "# Title\n\nText.\n\n## Part\n\nMore text + 1\n", "Title > Part", "+ 1", "+ 2"),
        ("a.sh", "add() {\n  echo $(($1 + 1))\n}\n", "add", "+ 1", "+ 2"),
    ],
)
def test_every_language_with_definitions_is_followed(
    make_repo: MakeRepo, path: str, text: str, symbol: str, old: str, new: str
) -> None:
    repo = make_repo()
    repo.commit({path: text}, "first")
    repo.commit({path: text.replace(old, new)}, "second")
    assert [step[:2] for step in trace(repo, path, symbol)] == [("second", ("body",)), ("first", ("introduced",))]


def test_a_removal_is_found_also_after_a_move(repo: Repo) -> None:
    repo.git("tag", "old")
    assert removed_by(repo, "a.py", "sign", "old") == ""
    repo.commit({"a.py": f"import hmac\n\n\n{SIGN.replace('sha256', 'sha512')}\n\n{OTHER}"}, "change")
    repo.git("mv", "a.py", "b.py")
    repo.commit(message="move")
    assert removed_by(repo, "a.py", "sign", "old") == ""
    repo.commit({"b.py": f"import hmac\n\n\n{OTHER}"}, "remove")
    repo.commit({"b.py": f"import hmac, os\n\n\n{OTHER}"}, "later")
    assert removed_by(repo, "a.py", "sign", "old") == "remove"
    repo.commit({"b.py": f"import hmac\n\n\n{OTHER}\n\n{SIGN.replace('sha256', 'sha512')}"}, "back")
    assert removed_by(repo, "a.py", "sign", "old") == ""


def test_a_method_whose_text_moved_to_another_class_is_followed_there(make_repo: MakeRepo) -> None:
    repo = make_repo()
    body = "".join(f"        self.step_{number}(first_{number}, second_{number})\n" for number in range(8))
    rest = "class Batch:\n    def offer(self):\n        return None\n"
    repo.commit({"a.py": f"class Timer:\n    def stop(self):\n{body}\n\n{rest}"}, "first")
    timer = "class Timer:\n    def stop(self):\n        self.batch.stop()\n"
    repo.commit({"a.py": f"{timer}\n\n{rest}\n    def stop(self):\n{body}"}, "delegate")
    assert trace(repo, "a.py", "Batch.stop") == [
        Step("delegate", ("move",), "a.py#Timer.stop"), Step("first", ("introduced",))
    ]  # fmt: skip
    assert [step.subject for step in trace(repo, "a.py", "Timer.stop")] == ["delegate", "first"]


def test_a_copy_in_another_class_is_new(make_repo: MakeRepo) -> None:
    repo = make_repo()
    body = "".join(f"        self.step_{number}(first_{number}, second_{number})\n" for number in range(8))
    timer = f"class Timer:\n    def stop(self):\n{body}"
    repo.commit({"a.py": timer}, "first")
    repo.commit({"a.py": f"{timer}\n\nclass Batch:\n    def stop(self):\n{body}"}, "copy")
    assert trace(repo, "a.py", "Batch.stop") == [Step("copy", ("introduced",))]


def test_lines_that_were_removed_from_the_end_are_a_change(repo: Repo) -> None:
    repo.commit(
        {"a.py": "def total(value):\n    first(value)\n    second(value)\n\n\ndef other():\n    pass\n"}, "grow"
    )
    repo.commit({"a.py": "def total(value):\n    first(value)\n\n\ndef other():\n    pass\n"}, "shrink")
    assert [step.subject for step in trace(repo, "a.py", "total")][:2] == ["shrink", "grow"]


def test_a_method_of_an_anonymous_class_has_a_history_of_its_own(make_repo: MakeRepo) -> None:
    repo = make_repo("java")
    text = (
        "class Menu {{\n    void {name}(Items items) {{\n        items.{call}(new Comparator<Item>() {{\n"
        "            public int compare(Item one, Item other) {{\n                return one.{key} - other.{key};\n"
        "            }}\n        }});\n    }}\n}}\n"
    )
    steps = [
        ("sort", "sort", "size"),
        ("sort", "sort", "weight"),
        ("sort", "order", "weight"),
        ("open", "order", "weight"),
    ]
    for name, call, key in steps:
        repo.commit({"Menu.java": text.format(name=name, call=call, key=key)}, f"{name} {call} {key}")
    member = trace(repo, "Menu.java", "Menu.open.new Comparator.compare")
    assert [(step.subject, step.kinds) for step in member] == [
        ("sort sort weight", ("body",)),
        ("sort sort size", ("introduced",)),
    ]
    whole = trace(repo, "Menu.java", "Menu.open")
    assert [step.kinds for step in whole] == [("rename",), ("body",), ("body",), ("introduced",)]

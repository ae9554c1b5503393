"""Pathspecs select the same paths as those of git, in any folder of the user."""

import os

import pytest

from gitmem.errors import UsageError
from gitmem.patterns.pathspec import compile_pathspecs, parse_pathspec
from tests.gitrepo import Repo

PATHS = (
    "a.py", "A.PY", "b.md", "sub/a.py", "sub/deep/a.py", "sub/deep/b.txt", "sub/a[1]/x.py", "sub/a1/x.py", "sub2/a.py",
    "dir.py/inner.txt", "we ird/ü.py", "x/y/z/w.c", "x-y/z.c", "s*r/lit.py", "sxr/no.py", "-dash.py", "back\\slash.py",
)  # fmt: skip

SPECS: tuple[tuple[str, ...], ...] = (
    (".",), ("sub",), ("sub/",), ("a.py",), ("a.py/",), ("*.py",), ("*/a.py",), ("**/a.py",), ("s*",),
    ("s*/a.py",), ("sub*",), ("?.py",), ("??.py",), ("sub?a.py",), ("sub[/]a.py",), ("[!a]*",), ("[a-b].*",),
    ("sub/a[1]",), ("sub/a\\[1\\]",), (":(literal)sub/a[1]",), (":(glob)*.py",), (":(glob)**/*.py",),
    (":(glob)sub/*/a.py",), (":(icase)a.py",), (":(icase)SUB/*.PY",), (":!sub",), (":^*.py", "sub"),
    (":(exclude)*.md",), ("sub", ":!sub/deep"), (":/a.py",), (":(top)sub/deep",), (":/",), (":!/sub",), ("x*z*c",),
    ("dir.py",), ("we ird",), ("*ü*",), ("s*r",), (":(top,icase)A.py",), ("-dash.py",), ("*[[:digit:]]*",),
    ("*\\\\*",), ("[",), ("sub/[",), ("./sub//deep/",), (":/:sub",), ("a*a*a*a*py",), ("sub/deep/*",), ("nosuch",),
    (":(top,glob)sub/**",),
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo.init(tmp_path_factory.mktemp("pathspecs") / "repo")
    repo.commit(dict.fromkeys(PATHS, "x\n"))
    return repo


@pytest.mark.parametrize("folder", ["", "sub/deep", "sub/a[1]"])
def test_pathspecs_select_the_same_paths_as_git(tree: Repo, folder: str) -> None:
    inner = ((f"{'../' * len(folder.split('/'))}{path}",) for path in ("b.md", "*.md", "sub2", "s*", "sub/a[1]"))
    for specs in (*SPECS, *(inner if folder else ())):
        listed = tree.git("-C", folder or ".", "ls-files", "-z", "--full-name", "--", *specs).split("\0")
        matches = compile_pathspecs([parse_pathspec(spec, folder) for spec in specs])
        # Exclusions alone select from the user's folder in git, and from the whole tree here.
        inside = "" if all(spec.startswith((":!", ":^", ":(exclude)")) for spec in specs) and folder else None
        selected = [path for path in PATHS if matches(os.fsencode(path))]
        if inside is not None:
            selected = [path for path in selected if path.startswith(f"{folder}/")]
        assert sorted(selected) == sorted(filter(None, listed)), (folder, specs)


@pytest.mark.parametrize("spec", ["..", "../x", "/x", "sub/../../x"])
def test_a_path_outside_of_the_repository_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="outside of the repository"):
        parse_pathspec(spec, "")


@pytest.mark.parametrize("spec", ["", ":(attr:x)a", ":(nosuch)a", ":(top", ":(glob,literal)a"])
def test_a_malformed_pathspec_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        parse_pathspec(spec, "")


def test_many_stars_take_no_exponential_time() -> None:
    matches = compile_pathspecs([parse_pathspec("*a" * 30 + "b", "")])
    assert not matches(b"a" * 2000)

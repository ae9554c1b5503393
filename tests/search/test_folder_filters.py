"""Filters by whole paths and by folders."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.search.globs import compile_filters

names = st.sampled_from(["src", "lib", "a b", "!x", "#y"])
folders_of_path = st.lists(names, max_size=3)
paths = st.builds(lambda folders, name: "/".join([*folders, name]), folders_of_path, st.sampled_from(["app.py", "src"]))
forms = st.one_of(
    names,
    st.lists(names, min_size=1, max_size=2).map(lambda parts: "/" + "/".join(parts)),
    names.map(lambda name: f"**/{name}/**"),
)


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is below a folder, by the three forms."""
    above = path.split("/")[:-1]
    if folder.startswith("/"):
        parts = folder[1:].split("/")
        return above[: len(parts)] == parts
    return folder.removeprefix("**/").removesuffix("/**") in above


@settings(max_examples=200, deadline=None)
@given(path=paths, files=st.lists(paths, max_size=3), folders=st.lists(forms, max_size=3))
def test_a_path_must_be_one_of_the_files_and_below_one_of_the_folders(
    path: str, files: list[str], folders: list[str]
) -> None:
    """Property 45: Scope folders."""
    expected = (not files or path in files) and (not folders or any(is_below(path, folder) for folder in folders))
    assert compile_filters((), (), (), tuple(files), tuple(folders))(path.encode()) == expected


def test_names_are_case_sensitive_and_a_path_may_be_any_bytes() -> None:
    assert not compile_filters((), (), (), ("A.py",), ())(b"a.py")
    assert not compile_filters((), (), (), (), ("Src",))(b"src/a.py")
    assert compile_filters((), (), (), ("caf\udce9.py",), ())(b"caf\xe9.py")
    assert not compile_filters((), (), (), ("\ud800",), ())(b"a.py")

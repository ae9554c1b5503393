"""Where the index of a repository is, whichever of its folders somebody works in."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.paths import INDEX_NAME
from gitmem.workspace import open_workspace, registered_folder
from tests.gitrepo import Repo

parts = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name.lower() not in (".", "..", ".git") and name == name.strip()
)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Make a repository, a linked working tree, a submodule and a bare one: root, and where its index belongs."""
    base = tmp_path_factory.mktemp("places")
    main = Repo.init(base / "main")
    main.commit({"a.py": "x = 1\n"})
    main.git("worktree", "add", "--quiet", str(base / "linked"))
    main.git("submodule", "--quiet", "add", str(main.path), "inner")
    bare = Repo.init(base / "bare.git", "--bare")
    return {
        "main": (main.path, main.path / INDEX_NAME),
        "linked": (base / "linked", main.path / INDEX_NAME),
        "submodule": (main.path / "inner", main.path / ".git/modules/inner/gitmem"),
        "bare": (bare.path, bare.path / "gitmem"),
    }


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(["main", "linked", "submodule", "bare"]), names=st.lists(parts, max_size=3))
def test_the_index_of_a_repository_has_one_place(
    trees: dict[str, tuple[Path, Path]], kind: str, names: list[str]
) -> None:
    """Property 15: Index location."""
    root, place = trees[kind]
    folder = root
    if kind != "bare":  # the folders of a bare repository are git's own
        folder = root.joinpath(*names)
        folder.mkdir(parents=True, exist_ok=True)
    workspace = open_workspace(folder, {})
    assert workspace.paths.root == place
    assert all(path.is_relative_to(place) for path in workspace.paths.folders)
    # The list names a repository by one folder, of which a linked working tree has none of its own.
    assert registered_folder(workspace) == trees["main" if kind == "linked" else kind][0]

"""Every method is found as its own result, though several share a row of the index."""

from pathlib import Path

import pytest

from gitmem.answering.answer import Answer, answer
from gitmem.answering.answer_json import answer_json
from gitmem.answering.location_lookup import get_chunk
from gitmem.answering.search_query import SimilarQuery
from gitmem.answering.searcher import open_searcher
from gitmem.chunking.chunk import chunk_blob
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from gitmem.locations import LineRange
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")

NAMES = [f"{verb}_{noun}" for verb in ("open", "close", "flush", "rotate") for noun in ("file", "socket", "journal")]
BODY = "".join(
    f'    def {name}(self, target):\n        """Do {name.replace("_", " ")} now."""\n'
    f"        # {name} needs some words so that the file is large\n        return self.apply(target, {name!r})\n\n"
    for name in NAMES
)
CODE = f"class Store:\n    kept = 3\n    name = 'store'\n\n{BODY}"


@pytest.fixture
def indexed(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"store.py": CODE, "main.py": "def main():\n    return 0\n"})
    index(repo)
    return repo


def symbols(answered: Answer) -> list[str]:
    return [hit.symbol for hit, _ in answered.hits]


def test_the_methods_of_the_sample_share_rows() -> None:
    assert any(len(chunk.units) > 2 for chunk in chunk_blob(CODE.encode(), "python").chunks)


def test_each_method_is_found_with_its_own_lines_and_symbol(indexed: Repo) -> None:
    for name in NAMES:
        hit, lines = search(indexed, name).hits[0]
        assert (hit.chunk_type, hit.symbol) == ("method", f"Store.{name}")
        assert lines[0] == f"    def {name}(self, target):"
        assert lines == CODE.splitlines()[hit.start_line - 1 : hit.end_line]
        assert len(lines) == 4


def test_all_methods_of_a_row_are_found_if_there_is_room(indexed: Repo) -> None:
    found = symbols(search(indexed, "file socket journal now", limit=50, chunk_types=("method",)))
    assert sorted(found) == sorted(f"Store.{name}" for name in NAMES)


def test_a_filter_by_type_finds_fields_that_share_the_row_of_their_class(indexed: Repo) -> None:
    assert symbols(search(indexed, "kept", chunk_types=("constant",)))[0] == "Store.kept"
    assert symbols(search(indexed, "store", chunk_types=("class",))) == ["Store"]


def test_only_the_changed_method_of_a_row_is_in_the_changes(indexed: Repo) -> None:
    indexed.commit({"store.py": CODE.replace("return self.apply(target, 'flush_file')", "return None")})
    index(indexed)
    assert symbols(search(indexed, "file now", changed="HEAD~1..HEAD")) == ["Store.flush_file"]


def test_a_class_is_shown_as_its_skeleton(indexed: Repo) -> None:
    answered = search(indexed, "store", chunk_types=("class",))
    content = answer_json(answered, [None])["results"][0]["content"]
    assert content.startswith("class Store:\n    kept = 3\n    name = 'store'\n")
    assert [line.strip() for line in content.splitlines() if "def " in line] == [
        f"def {name}(self, target):" for name in NAMES
    ]
    assert "self.apply" not in content


def test_a_location_names_one_method_of_a_row(indexed: Repo) -> None:
    text = "Store.rotate_socket"
    workspace = workspace_of(indexed)
    with open_reader(workspace.location, bulk=False) as reader:
        tree = open_searcher(workspace, WORKING_TREE).indexed_tree
        first = CODE[: CODE.index("def rotate_socket")].count("\n") + 1
        assert get_chunk(tree, reader, f"store.py#{text}").lines == LineRange(first, first + 3)
        assert get_chunk(tree, reader, f"store.py:{first + 1}").symbol == text


def related(repo: Repo, place: str, limit: int = 50) -> list[str]:
    return symbols(answer(workspace_of(repo), SimilarQuery(place, limit), refresh=False))


def test_code_like_one_method_of_a_row_includes_the_others_of_that_row(indexed: Repo) -> None:
    for name in NAMES:
        others = {f"Store.{other}" for other in NAMES if other != name}
        assert others <= set(related(indexed, f"store.py#Store.{name}"))
        assert not {f"Store.{name}", "Store"} & set(related(indexed, f"store.py#Store.{name}"))


def test_methods_of_a_row_are_compared_by_their_own_lines(indexed: Repo) -> None:
    methods = BODY.split("\n\n")
    indexed.commit({"other.py": "class Other:\n" + "\n\n".join(reversed(methods))})
    index(indexed)
    for name in NAMES:
        assert related(indexed, f"store.py#Store.{name}", 1) == [f"Other.{name}"]

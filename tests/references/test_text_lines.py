"""Lines of comments, documents, settings and strings with a name, which complete the usages that code shows."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.answering.usage_answer import DEFAULT_RELATIONS, TEXT_LIMIT
from gitmem.errors import UsageError
from gitmem.references.text_lines import MAX_FILES, is_distinctive
from tests.references.asking import ask, indexed_files, places

FILES = {
    "shop/cart.py": (
        "class ShopCart:\n"
        "    def add_item(self, item):\n"
        "        # A ShopCart keeps each item once.\n"
        "        return item\n"
        "\n"
        "def total(cart):\n"
        '    """Return the total of a cart."""\n'
        "    return 1\n"
    ),
    "shop/use.py": (
        "from shop.cart import ShopCart\n"
        'REGISTRY = {"cart": "shop.cart.ShopCart"}\n'
        "def buy():\n"
        "    return ShopCart().add_item(1)\n"
    ),
    "shop/ship.py": (
        "def ship_it():\n    return 1\n\n# ship_it runs at night.\n\n"
        "def run():\n    # ship_it twice\n    ship_it()\n    def again():\n        return 'ship_it'\n    return again\n"
    ),
    "docs/guide.md": "# Guide\n\nCall `add_item` on a ShopCart, not on a MyShopCart or ShopCart2.\n",
    "settings.yaml": "shop:\n  handler: shop.cart.ShopCart\n  ADD_ITEM_LIMIT: 3\n  add-item: 1\n  label: keys.total\n",
    "native/total.cpp": "class TotalRing {\n  int size();\n};\n",
    "native/ring.cpp": '#include "total.h"\nint TotalRing::size() {\n  return 1; // of a TotalRing\n}\n',
    "zone/limits.py": "# SHOP_LIMIT is the most.\n",
    "shop.env": "SHOP_URL=https://shop.test\n",
    **{f"copies/note_{number}.md": f"# Note {number}\n\nSHOP_LIMIT here\n" for number in range(MAX_FILES + 20)},
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("text"), FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        # Neither `MyShopCart` nor a line that is listed as an import or a call.
        ("ShopCart", ["docs/guide.md:3", "settings.yaml:2", "shop/cart.py:3", "shop/use.py:2"]),
        # `ADD_ITEM_LIMIT` and `add-item` have the same words.
        ("add_item", ["docs/guide.md:3"]),
        # The line that defines a member begins with the name of its class.
        ("TotalRing", ["native/ring.cpp:3"]),
        # A word of prose is looked for on request, and not in the function itself.
        ("total", ["native/ring.cpp:1", "settings.yaml:5"]),
        # The lines of a function that calls it say nothing new; those of the class of such a function may.
        ("ship_it", ["shop/ship.py:4"]),
    ],
)
def test_lines_that_no_reference_is_on_are_text(shop: Searcher, name: str, lines: list[str]) -> None:
    assert sorted(places(shop, name, "text")) == lines


def test_a_name_without_a_definition_is_found_in_settings(shop: Searcher) -> None:
    (text,) = [each for each in ask(shop, "SHOP_URL", *DEFAULT_RELATIONS).relations if each.relation == "text"]
    assert [(place.path, place.line, place.kind) for place in text.places] == [("shop.env", 1, "text")]


def test_a_name_with_joints_is_looked_for_as_it_is_written(shop: Searcher) -> None:
    # The code defines `total`, but in no such file or folder.
    assert places(shop, "keys.total", "text") == ["settings.yaml:5 0"]
    assert places(shop, "shop.test", "text") == ["shop.env:1 0"]
    with pytest.raises(UsageError, match=r"no definition of `keys\.add_item`"):
        ask(shop, "keys.add_item", "text")


def test_the_usual_relations_show_few_lines_of_text_from_many_files(shop: Searcher) -> None:
    answer = ask(shop, "SHOP_LIMIT", *DEFAULT_RELATIONS)
    (text,) = [each for each in answer.relations if each.relation == "text"]
    assert (text.total, len({place.path for place in text.places})) == (MAX_FILES, TEXT_LIMIT)
    assert (
        answer.notes[0]
        == f"lines of text are those of {MAX_FILES} of {MAX_FILES + 21} files with the words of the name"
    )


def test_documents_are_behind_settings(shop: Searcher) -> None:
    assert places(shop, "ShopCart", "text")[-1] == "docs/guide.md:3"


def test_the_usual_relations_look_for_no_ordinary_word(shop: Searcher) -> None:
    assert "text" not in [each.relation for each in ask(shop, "total", *DEFAULT_RELATIONS).relations]
    assert "text" in [each.relation for each in ask(shop, "ShopCart", *DEFAULT_RELATIONS).relations]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("total", False),
        ("Cart", True),
        ("add_item", True),
        ("addItem", True),
        ("add-item", True),
        ("a.b", True),
        ("", False),
    ],
)
def test_several_parts_or_a_capital_make_a_name_distinctive(name: str, expected: bool) -> None:
    assert is_distinctive(name) is expected

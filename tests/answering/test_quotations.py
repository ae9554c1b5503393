"""A query that quotes a line of code or a message finds it, whatever else has the same words."""

import pytest

from gitmem.answering.answer import Answer
from tests.gitrepo import Repo
from tests.indexes import index, search

pytestmark = pytest.mark.usefixtures("fake_model")

LINE = "total = add(price, tax)"
MESSAGE = "the price has no valid tax rate in this country"
OTHERS = {
    f"shop/other{number}.py": f"def add_total_{number}(price, tax):\n"
    "    # total price, tax: add\n    return add(tax, price, total)\n"
    for number in range(12)
}
FILES = {
    **OTHERS,
    "shop/order.py": "class Order:\n"
    "    def first(self):\n        return 1\n\n"
    f"    def cost(self, price, tax):\n        {LINE}\n        return total\n\n"
    f"    def check(self):\n        raise ValueError('{MESSAGE}')\n",
    "tests/test_order.py": f"def test_order():\n    {LINE}\n    assert error == '{MESSAGE}'\n",
    "docs/order.md": f"# Orders\n\n{MESSAGE}: the price, the tax, the country, this price and this tax.\n",
}


@pytest.fixture
def indexed(repo: Repo) -> Repo:
    repo.commit(FILES)
    index(repo)
    return repo


def first(answer: Answer) -> tuple[str, str]:
    hit = answer.hits[0][0]
    return hit.path, hit.symbol


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("query", [LINE, f"`{LINE}`", LINE.replace(" ", "  ")])
def test_a_line_finds_the_method_that_has_it(indexed: Repo, query: str, mode: str) -> None:
    assert first(search(indexed, query, mode=mode)) == ("shop/order.py", "Order.cost")


def test_code_of_several_lines_finds_the_method_that_has_it(indexed: Repo) -> None:
    snippet = f"def cost(self, price, tax):\n\t{LINE}\n\treturn total\n"
    assert first(search(indexed, snippet)) == ("shop/order.py", "Order.cost")
    assert first(search(indexed, f"{LINE}\nreturn add(tax, price, total)\n"))[0] != "shop/order.py"


def test_a_line_is_found_though_more_rows_than_are_ranked_match_better(repo: Repo) -> None:
    better = {
        f"shop/tax/total{number}.py": f"def add_total_price_{number}(total, price):\n    return add(total, price)\n"
        for number in range(130)
    }
    unrelated = {f"stock/item{number}.py": f"def count_{number}(item):\n    return item\n" for number in range(300)}
    around = "".join(f"    stock.count(item_{number}, item)\n" for number in range(30))
    repo.commit({**better, **unrelated, "cost.py": f"def cost(item):\n{around}    {LINE}\n{around}"})
    index(repo)
    assert first(search(repo, LINE, mode="lexical")) == ("cost.py", "cost")


def test_without_the_line_the_words_decide(indexed: Repo) -> None:
    assert first(search(indexed, "total = add(tax, price)"))[0] != "shop/order.py"


def test_a_message_finds_the_code_that_has_it_and_no_test_or_document(indexed: Repo) -> None:
    assert first(search(indexed, MESSAGE)) == ("shop/order.py", "Order.check")


def test_a_message_with_values_and_a_foreign_exception_finds_its_place(indexed: Repo) -> None:
    indexed.commit({"shop/stock.py": "def take(name, left):\n    raise Empty(f'only {left} of {name} in stock')\n"})
    index(indexed)
    message = "java.lang.IllegalStateException: only 3 of 'green apples' in stock"
    assert first(search(indexed, message)) == ("shop/stock.py", "take")
    assert not search(indexed, message.replace("in stock", "in store")).hits


def test_a_message_that_tests_alone_have_is_none_of_the_code(repo: Repo) -> None:
    repo.commit({name: text for name, text in FILES.items() if name != "shop/order.py"} | {
        "shop/tax.py": "def has_no_valid_tax_rate(price, country):\n    return not country.tax(price)\n"
    })  # fmt: skip
    index(repo)
    assert first(search(repo, MESSAGE))[0] == "shop/tax.py"


def test_of_a_long_file_the_definition_with_the_line_is_shown(repo: Repo) -> None:
    rows = "".join(
        f"    total.add(price, tax, {number})  # add the price and the tax to the total\n" for number in range(40)
    )
    repo.commit(
        {
            "a.py": f"def add_total_price_tax(total, price, tax):\n{rows}\n\ndef other(one):\n    {LINE}\n"
            + rows.replace("total", "one").replace("tax", "two")
        }
    )
    index(repo)
    assert first(search(repo, LINE)) == ("a.py", "other")


def test_a_phrase_that_many_files_have_is_no_message(repo: Repo) -> None:
    phrase = "orders without tax are free"
    several = {f"shop/p{number}.py": f"def f{number}():\n    # {phrase}\n    return {number}\n" for number in range(4)}
    repo.commit({**several, "shop/free_orders.py": "def free_orders_without_tax():\n    orders, free, tax = 1, 2, 3\n"})
    index(repo)
    assert first(search(repo, phrase))[0] == "shop/free_orders.py"
    repo.commit({"shop/p3.py": "", "shop/p2.py": "", "shop/p1.py": ""})
    index(repo)
    assert first(search(repo, phrase))[0] == "shop/p0.py"


def test_a_filter_keeps_the_score_of_a_quotation(indexed: Repo) -> None:
    [(whole, _), *_] = search(indexed, LINE).hits
    [(own, _), *_] = search(indexed, LINE, include=("shop/order.py",)).hits
    assert own.score == whole.score
    assert first(search(indexed, LINE, include=("shop/other1.py",)))[0] == "shop/other1.py"


def test_an_old_revision_and_an_uncommitted_file_are_quoted(indexed: Repo) -> None:
    (indexed.path / "shop/order.py").write_text(
        "def cost(price, tax):\n    sum_of_all = add(price, tax)\n    return sum_of_all\n"
    )
    assert first(search(indexed, "sum_of_all = add(price, tax)", refresh=True)) == ("shop/order.py", "cost")
    assert first(search(indexed, LINE, rev="HEAD")) == ("shop/order.py", "Order.cost")

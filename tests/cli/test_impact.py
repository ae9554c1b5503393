"""`gitmem impact` as users and programs see it."""

import json

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index
from tests.sample import Cli, assert_error

PRICES = '''def net_price(item):
    """Return the price."""
    return item


def old_price(item):
    return item - 1


def pop(items):
    return items[0]


class Rate:
    def apply(self, item):
        return item * 2
'''
CART = """from prices import Rate, net_price, old_price


class Cart:
    def add(self, item):
        return net_price(item)

    def discount(self, item):
        return old_price(item)


class Special(Rate):
    pass


def checkout(cart):
    return Cart().add(cart)
"""
OTHER = "import queue\n\n\ndef drain(items):\n    items.pop()\n    return old_price(items)\n"


@pytest.fixture
def shop(repo: Repo, fake_model: type[InlinePool]) -> Repo:
    """Change a function and a class, remove two functions, and leave their callers as they are."""
    (repo.path / "a.py").unlink()
    repo.commit({"prices.py": PRICES, "cart.py": CART, "other.py": OTHER})
    repo.git("tag", "v1")
    changed = PRICES.replace("return item\n", "return item + 1\n", 1).replace("item * 2", "item * 3")
    removed = changed.replace("def old_price(item):\n    return item - 1\n\n\n", "")
    removed = removed.replace("def pop(items):\n    return items[0]\n\n\n", "")
    repo.commit({"prices.py": removed})
    repo.git("tag", "v2")
    repo.commit({"cart.py": CART.replace("return net_price(item)", "return net_price(item) or 0")})
    index(repo)
    return repo


def test_callers_of_removed_and_changed_definitions_are_listed(cli: Cli, shop: Repo) -> None:
    outcome = cli("impact", "v1..v2", cwd=shop.path)
    assert outcome.code == ExitCode.OK
    *lines, state = outcome.out.splitlines()
    # `other.py` imports no such module and `pop` is a member of lists, so both are a library's.
    assert lines == [
        "prices.py:6-7  old_price  removed  2 callers",
        "  cart.py:1  from prices import Rate, net_price, old_price  (not defined any more)",
        "  cart.py:9  Cart.discount  return old_price(item)  (not defined any more)",
        "prices.py:1-3  net_price  changed  body  1 caller",
        "  cart.py:6  Cart.add  return net_price(item)",
    ]
    assert state.startswith("v1..v2: 2 definitions with 3 callers, 3 not changed, 2 without callers, ")


def test_callers_that_changed_as_well_are_marked(cli: Cli, shop: Repo) -> None:
    lines = cli("impact", "v1..HEAD", cwd=shop.path).out.splitlines()
    assert "  cart.py:6  Cart.add  return net_price(item) or 0  (also changed)" in lines
    value = json.loads(cli("impact", "--json", "v1..HEAD", cwd=shop.path).out)
    by_symbol = {each["symbol"]: each for each in value["definitions"]}
    assert by_symbol["net_price"]["callers_total"] == 1
    assert by_symbol["net_price"]["callers_untouched"] == 0
    assert by_symbol["net_price"]["callers"][0]["changed"] is True
    assert by_symbol["old_price"]["callers"][0]["changed"] is False


def test_the_callers_of_callers_are_followed(cli: Cli, shop: Repo) -> None:
    value = json.loads(cli("impact", "--json", "--depth", "2", "v1..v2", cwd=shop.path).out)
    (net,) = [each for each in value["definitions"] if each["symbol"] == "net_price"]
    assert [(caller["line"], caller["depth"]) for caller in net["callers"]] == [(6, 1), (17, 2)]


def test_a_limit_is_said_and_importance_orders(cli: Cli, shop: Repo) -> None:
    users = {
        f"use{number}.py": "from prices import net_price\n\n\nnet_price(1)\n" + "\n" * number for number in range(4)
    }
    shop.commit(users)
    lines = cli("impact", "-n", "2", "v1..HEAD", cwd=shop.path).out.splitlines()
    assert "prices.py:1-3  net_price  changed  body  5 callers, 2 shown" in lines


def test_a_subclass_is_a_caller_of_a_changed_class(cli: Cli, shop: Repo) -> None:
    text = (shop.path / "prices.py").read_text()
    shop.commit({"prices.py": text.replace("class Rate:", "class Rate(dict):")})
    out = cli("impact", "HEAD~1..", cwd=shop.path).out
    assert "  cart.py:12  Special  class Special(Rate):" in out.splitlines()


def test_comments_and_new_definitions_touch_no_callers(cli: Cli, shop: Repo) -> None:
    text = (shop.path / "prices.py").read_text()
    shop.commit({"prices.py": text.replace("Return the price", "Return a price") + "\n\ndef added():\n    pass\n"})
    outcome = cli("impact", "HEAD~1..HEAD", cwd=shop.path)
    assert (outcome.code, outcome.out) == (ExitCode.NO_RESULTS, "")
    assert outcome.err.endswith("HEAD~1..HEAD touches no callers\n")


def test_calls_of_another_language_do_not_mean_a_removed_definition(cli: Cli, shop: Repo) -> None:
    before = {"guide.md": "# Deploying\n\nDo it.\n", "ship.py": "def Ship():\n    return 1\n"}
    shop.commit({**before, "main.go": "package main\n\nfunc main() {\n\tDeploying()\n\tShip()\n}\n"})
    shop.commit({"guide.md": "Do it.\n", "ship.py": "# nothing\n"})
    outcome = cli("impact", "HEAD~1..HEAD", cwd=shop.path)
    assert (outcome.code, outcome.out) == (ExitCode.NO_RESULTS, "")


def test_elements_of_pages_and_sections_leave_room_for_code(cli: Cli, shop: Repo) -> None:
    # Two hundred elements that are gone would come before any function that changed.
    page = "".join(f'<div id="net_price{number}">\n<p>text</p>\n</div>\n' for number in range(200))
    guide = "".join(f"# net_price{number}\n\nText of a section.\n\n" for number in range(200))
    shop.commit({"a/page.html": page, "a/guide.md": guide})
    index(shop)
    shop.write({"a/page.html": "<p>empty</p>\n", "a/guide.md": "empty\n", "prices.py": PRICES})
    *lines, state = cli("impact", cwd=shop.path).out.splitlines()
    assert lines[-1] == "  cart.py:6  Cart.add  return net_price(item) or 0"
    assert state.startswith("HEAD..working tree: 1 definition with 1 caller, 1 not changed, 1 without callers, main ")
    shop.git("commit", "-qam", "next")
    assert cli("impact", "HEAD^..HEAD", cwd=shop.path).out.splitlines()[:-1] == lines


def test_removed_definitions_that_nothing_names_leave_room_for_others(cli: Cli, shop: Repo) -> None:
    shop.commit({"a.py": "".join(f"def unused_{number}():\n    return {number}\n\n\n" for number in range(150))})
    shop.commit({"a.py": "x = 1\n", "prices.py": PRICES})
    index(shop)
    *lines, state = cli("impact", "HEAD^..HEAD", cwd=shop.path).out.splitlines()
    assert lines[-1] == "  cart.py:6  Cart.add  return net_price(item) or 0"
    assert state.startswith("HEAD^..HEAD: 1 definition with 1 caller, 1 not changed, 151 without callers, detached ")


def test_members_that_all_objects_have_do_not_mean_a_removed_definition(cli: Cli, shop: Repo) -> None:
    use = "def load(rows, store):\n    rows.append(1)\n    store.restock(2)\n"
    store = "class Store:\n    def append(self, row):\n        pass\n\n    def restock(self, row):\n        pass\n"
    shop.commit({"store.py": store, "use.py": use})
    shop.commit({"store.py": "class Store:\n    pass\n"})
    removed = json.loads(cli("impact", "--json", "HEAD~1..HEAD", cwd=shop.path).out)["definitions"]
    assert {each["symbol"]: [place["line"] for place in each["callers"]] for each in removed} == {"Store.restock": [3]}


def test_a_test_in_the_package_of_a_removed_class_means_it(cli: Cli, shop: Repo) -> None:
    code, use = "package shop;\nclass Ring {\n  int size = 1;\n}\n", "class {} {{ Object ring = new Ring(); }}\n"
    tests = {f"src/test/java/{name}/{name}.java": f"package {name};\n{use.format(name)}" for name in ("shop", "other")}
    shop.commit({"src/main/java/shop/Ring.java": code, **tests})
    shop.commit({"src/main/java/shop/Ring.java": "package shop;\n"})
    outcome = cli("impact", "HEAD~1..HEAD", cwd=shop.path)
    callers = [line.split()[0] for line in outcome.out.splitlines() if line.startswith("  ")]
    assert callers == ["src/test/java/shop/shop.java:2"]


def test_uncommitted_changes_touch_the_callers_that_their_commit_would(cli: Cli, shop: Repo) -> None:
    text = (shop.path / "prices.py").read_text()
    (shop.path / "cart.py").rename(shop.path / "basket.py")
    shop.write({"prices.py": text.replace("return item + 1", "return item + 2"), "new.py": "import prices\n"})
    shop.write({"other.py": OTHER.replace("drain", "empty")})
    uncommitted = json.loads(cli("impact", "--json", cwd=shop.path).out)
    shop.git("add", ".")
    staged = json.loads(cli("impact", "--json", "--staged", cwd=shop.path).out)
    shop.git("commit", "-qm", "all")
    committed = json.loads(cli("impact", "--json", "HEAD~1..HEAD", cwd=shop.path).out)
    assert [each["symbol"] for each in committed["definitions"]] == ["net_price"]
    assert committed["definitions"][0]["callers"][0]["path"] == "basket.py"
    assert uncommitted["definitions"] == staged["definitions"] == committed["definitions"]
    assert [(each["since"], each["until"]) for each in (uncommitted, staged)] == [
        ("HEAD", "working tree"),
        ("HEAD", "staged files"),
    ]


def test_only_staged_changes_are_compared_if_asked(cli: Cli, shop: Repo) -> None:
    shop.write({"prices.py": (shop.path / "prices.py").read_text().replace("item * 3", "item * 4")})
    shop.git("add", ".")
    shop.write({"prices.py": (shop.path / "prices.py").read_text().replace("item + 1", "item + 5")})
    assert cli("impact", "--staged", cwd=shop.path).code == ExitCode.NO_RESULTS
    lines = cli("impact", cwd=shop.path).out.splitlines()
    assert lines[0] == "prices.py:1-3  net_price  changed  body  1 caller"
    assert lines[-1].startswith("HEAD..working tree: 1 definition with 1 caller, 1 not changed, 1 without callers, ")


def test_a_clean_working_tree_touches_no_callers(cli: Cli, shop: Repo) -> None:
    outcome = cli("impact", cwd=shop.path)
    assert (outcome.code, outcome.out) == (ExitCode.NO_RESULTS, "")
    assert outcome.err.endswith("HEAD..working tree touches no callers\n")


def test_a_bare_repository_has_no_uncommitted_changes(cli: Cli, shop: Repo) -> None:
    bare = shop.path.parent / "bare.git"
    shop.git("clone", "-q", "--bare", ".", str(bare))
    index(Repo(bare))
    assert_error(cli("impact", cwd=bare), ExitCode.USAGE, "this repository has no working tree")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["v1"], "not a range of revisions: `v1`"),
        (["v1..nowhere"], "unknown commit, tag or branch: `nowhere`"),
        (["--depth", "6", "v1..v2"], "the depth is 6, it must be between 1 and 5"),
        (["-n", "0", "v1..v2"], "the limit is 0, it must be between 1 and 1000"),
        (["--staged", "v1..v2"], "`A..B` and `--staged` exclude each other"),
        (["x" * 1001], "a range has at most 1000 characters"),
    ],
)
def test_bad_input_is_refused_in_one_line(cli: Cli, shop: Repo, args: list[str], message: str) -> None:
    assert_error(cli("impact", *args, cwd=shop.path), ExitCode.USAGE, message)


def test_a_version_that_git_cannot_read_is_named(cli: Cli, shop: Repo) -> None:
    lost = shop.oid("v1:prices.py")
    shop.loose_object(lost).unlink()
    assert f"git cannot read 1 object ({lost[:12]})" in cli("impact", "v1..v2", cwd=shop.path).err
    committed = shop.oid("HEAD:prices.py")
    shop.loose_object(committed).unlink()
    shop.write({"prices.py": "def price():\n    return 1\n"})
    assert f"git cannot read 1 object ({committed[:12]})" in cli("impact", cwd=shop.path).err

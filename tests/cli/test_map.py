"""`gitmem map` as users and programs see it."""

import json
from collections.abc import Mapping

import pytest

from gitmem.errors import ExitCode
from gitmem.mcp.tools.token_estimate import estimate_tokens
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index
from tests.sample import Cli, assert_error

FILES: Mapping[str, str] = {
    "src/prices.py": (
        "RATE = 19\n\n\ndef net_price(\n    item,\n):\n    return item\n\n\ndef unused_price():\n    pass\n"
    ),
    "src/cart.py": (
        "from prices import net_price\n\n\nclass Cart:\n    def add(self, item):\n        def inner():\n"
        "            pass\n        net_price(item)\n"
    ),
    "src/orders.py": (
        "from cart import Cart\nfrom prices import net_price\n\n\ndef place_order():\n    Cart().add(net_price(1))\n"
    ),
    "src/mail.py": "from smtp import deliver_message\n\n\ndef send_reminder():\n    deliver_message('please pay')\n",
    "src/smtp.py": "def deliver_message(text):\n    return text\n",
    "tests/test_cart.py": "from cart import Cart\n\n\ndef test_cart():\n    Cart().add(1)\n",
    "docs/guide.md": "# Guide\n",
}


@pytest.fixture
def shop(repo: Repo, fake_model: type[InlinePool]) -> Repo:
    """Index a shop; `v1` has the prices alone."""
    (repo.path / "a.py").unlink()
    repo.commit({"src/prices.py": FILES["src/prices.py"]})
    repo.git("tag", "v1")
    repo.commit(FILES)
    index(repo)
    return repo


def test_the_outline_shows_the_definitions_that_others_use(cli: Cli, shop: Repo) -> None:
    outcome = cli("map", cwd=shop.path)
    assert outcome.code == ExitCode.OK
    *lines, state = outcome.out.splitlines()
    # Members are below their class, and what is inside of a function is no part of the structure.
    assert lines[:7] == [
        "src/cart.py",
        "    4 class Cart:",
        "    5   def add(self, item):",
        "src/prices.py",
        "    1 RATE = 19",
        "    4 def net_price(item …",
        "   10 def unused_price():",
    ]
    assert "inner" not in outcome.out
    assert state.startswith(f"6 of 6 files, 9 definitions, main {shop.oid('HEAD')[:7]}, fresh")


def test_words_show_what_has_to_do_with_them_and_what_it_uses(cli: Cli, shop: Repo) -> None:
    lines = cli("map", "send", "reminder", cwd=shop.path).out.splitlines()
    assert [line for line in lines if not line.startswith(" ")][:2] == ["src/mail.py", "src/smtp.py"]
    assert cli("map", cwd=shop.path).out.splitlines()[0] == "src/cart.py"


def test_words_that_nothing_matches_are_said(cli: Cli, shop: Repo) -> None:
    outcome = cli("map", "zzzz", "qqqq", cwd=shop.path)
    assert "note: no code matches the words" in outcome.err
    assert (outcome.code, outcome.out.splitlines()[0]) == (ExitCode.OK, "src/cart.py")


@pytest.mark.parametrize("tokens", [100, 140, 200, 400])
def test_a_budget_is_kept(cli: Cli, shop: Repo, tokens: int) -> None:
    shop.commit({"src/many.py": "".join(f"def function_{number}():\n    pass\n\n\n" for number in range(60))})
    index(shop)
    outcome = cli("map", "--tokens", str(tokens), cwd=shop.path)
    assert 0 < estimate_tokens(outcome.out) <= tokens
    assert outcome.out.splitlines()[0] == "src/cart.py"


def test_a_path_restricts_the_outline_but_not_the_ranking(cli: Cli, shop: Repo) -> None:
    def paths(*args: str, folder: str = "") -> list[str]:
        value = json.loads(cli("map", "--json", *args, cwd=shop.path / folder).out)
        return [file["path"] for file in value["files"]]

    assert paths("tests") == ["tests/test_cart.py"]
    assert paths("src/cart.py") == ["src/cart.py"]
    assert paths(".", folder="src")[0] == "src/cart.py"
    assert set(paths(".", folder="src")) == {path for path in FILES if path.startswith("src/")}
    assert paths("cart.py", folder="src") == ["src/cart.py"]
    assert paths(str(shop.path / "src" / "smtp.py")) == ["src/smtp.py"]
    assert len(paths(str(shop.path), folder="src")) == 6
    # `cart` is neither a file nor a folder, so it is a word.
    assert len(paths("cart")) == 6


def test_json_has_files_with_definitions_and_the_tree(cli: Cli, shop: Repo) -> None:
    value = json.loads(cli("map", "--json", "src/cart.py", cwd=shop.path).out)
    (file,) = value["files"]
    assert [(each["line"], each["kind"], each["symbol"], each["text"]) for each in file["definitions"]] == [
        (4, "class", "Cart", "class Cart:"),
        (5, "function", "Cart.add", "def add(self, item):"),
    ]
    assert file["importance"] == pytest.approx(sum(each["importance"] for each in file["definitions"]), abs=1e-5)
    assert (value["path"], value["query"], value["tokens"], value["files_total"]) == ("src/cart.py", "", 1000, 1)
    assert value["view"]["commit"] == shop.oid("HEAD")


def test_every_tree_has_its_own_outline(cli: Cli, shop: Repo) -> None:
    assert cli("map", "--rev", "v1", cwd=shop.path).out.splitlines()[0] == "src/prices.py"
    assert cli("map", "--rev", "v1", "src/cart.py", cwd=shop.path).code == ExitCode.USAGE
    shop.write({"src/new.py": "def brand_new():\n    pass\n"})
    shop.git("add", "src/new.py")
    shop.write({"src/newer.py": "def even_newer():\n    pass\n"})
    staged = cli("map", "--staged", cwd=shop.path).out
    assert "brand_new" in staged
    assert "even_newer" not in staged
    assert "even_newer" in cli("map", cwd=shop.path).out


def test_a_tree_without_definitions_is_no_result(cli: Cli, shop: Repo) -> None:
    outcome = cli("map", "docs", cwd=shop.path)
    assert (outcome.code, outcome.out) == (ExitCode.NO_RESULTS, "")
    assert outcome.err.endswith("no code with definitions in `docs`\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--tokens", "99"], "99 is not in the range 100<=x<=20000"),
        (["no/such/folder"], "no such file or folder in this tree: `no/such/folder`"),
        (["../elsewhere"], "no such file or folder in this tree"),
        (["--staged", "--rev", "v1"], "--staged"),
        (["--rev", "nowhere"], "unknown commit, tag or branch"),
        (["x" * 32_001], "the words have more than 32000 characters"),
    ],
)
def test_bad_input_is_refused_in_one_line(cli: Cli, shop: Repo, args: list[str], message: str) -> None:
    assert_error(cli("map", *args, cwd=shop.path), ExitCode.USAGE, message)


def test_secrets_in_a_declaration_are_dots(cli: Cli, shop: Repo) -> None:
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    shop.write({"src/login.py": f'GITHUB_TOKEN = "{key}"\n'})
    shown = cli("map", "src/login.py", cwd=shop.path).out
    assert "GITHUB_TOKEN" in shown
    assert key not in shown
    assert key in cli("map", "--show-secrets", "src/login.py", cwd=shop.path).out


def test_a_declaration_has_no_documentation_between_its_parameters(cli: Cli, shop: Repo) -> None:
    text = "class Pool(\n    runner: Runner,\n    /** Most idle ones. */\n    size: Int,\n) {\n    fun close() {}\n}"
    shop.commit({"src/Pool.kt": text})
    index(shop)
    assert "    1 class Pool(runner: Runner …" in cli("map", "src/Pool.kt", cwd=shop.path).out.splitlines()

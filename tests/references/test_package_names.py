"""Imports from packages of the same repository, by the names that their manifests give them."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import ask, indexed_files, places

FILES = {
    # The root has a crate that exports what another crate has, and a folder has not the name of its crate.
    "Cargo.toml": '[workspace]\nmembers = ["core"]\n\n[package]\n# the root\nname = "shop"\n\n[[bin]]\nname = "till"\n',
    "src/lib.rs": "pub use shop_core::*;\n",
    "core/Cargo.toml": '[package]\nname = "shop-core"\n',
    "core/src/lib.rs": "pub mod carts;\npub use crate::carts::Cart;\n",
    "core/src/carts.rs": """pub struct Cart;
impl Cart {
    pub fn open(size: u8) -> Self {
        let cart = Self::open(size);
        cart.weigh();
        cart
    }
    pub fn weigh(&self) {}
}
pub fn count_carts() {}
""",
    "tests/cart.rs": """use shop::carts::count_carts;
use shop::Cart;
fn main() {
    Cart::open(1).weigh();
    count_carts();
}
""",
    "other/Cargo.toml": '[package]\nname = "other"\n\n[lib]\nname = "spare"\n',
    "other/src/lib.rs": "pub struct Cart;\nimpl Cart { pub fn open() {} }\n",
    "other/tests/use.rs": "use spare::Cart;\nfn main() { Cart::open(); }\n",
    # Paths from the root of a crate, from the own module and from the one above.
    "paths/Cargo.toml": '[package]\nname = "paths"\n',
    "paths/src/lib.rs": """pub mod deep;
pub extern crate shop_core as core_of_shop;
pub fn top_call() { self::deep::mid_call(); }
""",
    "paths/src/deep/mod.rs": """pub mod low;
pub fn mid_call() { super::top_call(); crate::top_call(); }
mod tests {
    use super::*;
    fn run() { super::mid_call(); }
}
""",
    "paths/src/deep/low.rs": """fn low_call() {
    super::super::top_call();
    super::mid_call();
    std::deep::mid_call();
}
""",
    "paths/src/other/mod.rs": "pub fn mid_call() {}\nfn run() { self::mid_call(); }\n",
    # `self` is the own object where it has such a method, else the module.
    "paths/src/own.rs": """fn check_it() {}
fn free_it() {}
struct Own;
impl Own {
    fn check_it(&self) {}
    fn run(&self) { self.check_it(); self::free_it(); }
}
""",
    "paths/tests/use.rs": "use paths::core_of_shop::Cart;\nfn main() { Cart::open(2); }\n",
    # A module next to a file hides the crate of that name.
    "core/src/till/mod.rs": "mod other;\nuse other::ring;\nfn run() { ring(); }\n",
    "core/src/till/other.rs": "pub fn ring() {}\n",
    "package.json": '{\n  "name": "@shop/root",\n  "private": true\n}\n',
    "src/api.ts": "export function sell() {}\n",
    "test/api.test.ts": "import { sell } from '@shop/root';\nsell();\n",
    "js/ui/package.json": '{\n  "version": "1.0.0",\n  "name": "@shop/widgets"\n}\n',
    "js/ui/src/button.ts": "export function press() {}\n",
    "js/widgets/src/button.ts": "export function press() {}\n",
    "js/app/main.ts": "import { press } from '@shop/widgets';\npress();\n",
    "people.json": '{\n  "name": "Cart",\n  "age": 3\n}\n',
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("packages") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("core/src/carts.rs:3", ["core/src/carts.rs:4", "paths/tests/use.rs:2", "tests/cart.rs:4"]),
        ("core/src/carts.rs:8", ["core/src/carts.rs:5", "tests/cart.rs:4"]),
        ("core/src/carts.rs:10", ["tests/cart.rs:5"]),
        ("other/src/lib.rs:2", ["other/tests/use.rs:2"]),
        ("paths/src/lib.rs:3", ["paths/src/deep/low.rs:2", "paths/src/deep/mod.rs:2"]),
        ("paths/src/deep/mod.rs:2", ["paths/src/deep/low.rs:3", "paths/src/deep/mod.rs:5", "paths/src/lib.rs:3"]),
        ("paths/src/other/mod.rs:1", ["paths/src/other/mod.rs:2"]),
        ("paths/src/own.rs:1", []),
        ("paths/src/own.rs:2", ["paths/src/own.rs:6"]),
        ("paths/src/own.rs:5", ["paths/src/own.rs:6"]),
        ("core/src/till/other.rs:1", ["core/src/till/mod.rs:3"]),
        ("src/api.ts:1", ["test/api.test.ts:2"]),
        ("js/ui/src/button.ts:1", ["js/app/main.ts:2"]),
        ("js/widgets/src/button.ts:1", []),
    ],
)
def test_an_import_means_the_package_of_that_name(shop: Searcher, place: str, expected: list[str]) -> None:
    assert places(shop, place, "callers") == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop-core", ["core/Cargo.toml:2"]),
        ("spare", ["other/Cargo.toml:5"]),
        ("@shop/widgets", ["js/ui/package.json:3"]),
    ],
)
def test_a_manifest_defines_the_name_of_its_package(shop: Searcher, name: str, expected: list[str]) -> None:
    assert places(shop, name, "definitions") == expected


def test_other_names_in_manifests_and_data_define_nothing(shop: Searcher) -> None:
    assert ask(shop, "till", "definitions").relations[0].places == []
    assert places(shop, "Cart", "definitions") == ["core/src/carts.rs:1", "other/src/lib.rs:1"]


def test_many_files_with_one_import_that_nothing_defines(tmp_path_factory: pytest.TempPathFactory) -> None:
    # Each of them could export it for the others, if any file of a crate could.
    files = {f"src/m{number}.rs": "use crate::Made;\nfn f() { Made::run(); }\n" for number in range(300)}
    with indexed_files(tmp_path_factory.mktemp("many") / "r", files | {"src/own.rs": "fn run() {}\n"}) as searcher:
        assert places(searcher, "run", "callers") == []

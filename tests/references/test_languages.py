"""Usages in small trees of other languages: by module, package, class and type where the code shows them."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "web/src/store.ts": """export class Store {
  load(key: string): string { return key; }
}
export interface Shape { area(): number; }
export function open(path: string): Store { return new Store(); }
export default function start() { return open('x'); }
""",
    "web/src/index.ts": "export { Store, open } from './store';\nexport * from './shapes';\n",
    "web/src/shapes.ts": """import { Shape } from './store';
export class Square implements Shape {
  area(): number { return this.side(); }
  side(): number { return 2; }
}
""",
    "web/src/app.tsx": """import start, { open as openStore } from './store.js';
import * as all from './index';
import { Store } from '.';

export function App(store: Store) {
  store.load('a');
  const square = new all.Square();
  square.area();
  openStore('b').load('c');
  start();
  return <Panel />;
}
export function Panel() { return null; }
""",
    "web/src/other.ts": "export function open() {}\nexport class Cache { load() {} }\n",
    "go.mod": "module example.com/shop\n",
    "cart/cart.go": """package cart

type Cart struct{ lines []Line }

func New() *Cart { return &Cart{} }

func (c *Cart) Add(l Line) { c.check(l) }

func (c *Cart) check(l Line) {}
""",
    "cart/line.go": "package cart\n\ntype Line struct{}\n\nfunc make2() *Cart { return New() }\n",
    "bill/bill.go": """package bill

func New() int { return 1 }

type Bill struct{}

func (b *Bill) Add(l int) {}
""",
    "cmd/main.go": """package main

import (
\t"example.com/shop/cart"
\tb "example.com/shop/bill"
)

func run(c *cart.Cart) {
\tc.Add(cart.Line{})
\tcart.New()
\tb.New()
}
""",
    "rust/src/lib.rs": "pub mod store;\npub use store::Store;\n",
    "rust/src/store.rs": """pub struct Store;
pub trait Load { fn load(&self); }
impl Store {
    pub fn new() -> Self { Store }
    pub fn save(&self) { self.check(); }
    fn check(&self) {}
}
impl Load for Store { fn load(&self) {} }
""",
    "rust/src/other.rs": """pub struct Other;
impl Other { pub fn new() -> Self { Other }
    pub fn save(&self) {} }
""",
    "rust/src/main.rs": """use crate::store::Store;
use crate::other::Other as Alias;
fn main() {
    let store = Store::new();
    store.save();
    let other: Alias = Alias::new();
    other.save();
}
""",
    "java/src/shop/Cart.java": """package shop;

public class Cart extends Base implements Load {
    public void add(int line) { check(line); }
    public void load() {}
}
""",
    "java/src/shop/Base.java": "package shop;\n\nclass Base {\n    void check(int line) {}\n}\n",
    "java/src/shop/Load.java": "package shop;\n\npublic interface Load {\n    void load();\n}\n",
    "java/src/shop/Bill.java": """package shop;

class Bill {
    void add(int line) {}
    void check(int line) {}
}
""",
    "java/src/app/Main.java": """package app;

import shop.Cart;

class Main {
    void run(Cart cart) {
        cart.add(1);
        new Cart().add(2);
    }
}
""",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Index the files once and open the tree."""
    with indexed_files(tmp_path_factory.mktemp("languages") / "repo", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "relation", "expected"),
    [
        # TypeScript: parameters with types, aliases, re-exports, namespaces, default exports, components.
        ("Store.load", "callers", ["web/src/app.tsx:6", "web/src/app.tsx:9 2"]),
        ("store.open", "callers", ["web/src/app.tsx:9", "web/src/store.ts:6"]),
        ("other.open", "callers", []),
        ("Square.area", "callers", ["web/src/app.tsx:8"]),
        ("Square.side", "callers", ["web/src/shapes.ts:3"]),
        ("start", "callers", ["web/src/app.tsx:10"]),
        ("Panel", "callers", ["web/src/app.tsx:11"]),
        ("Shape", "implementers", ["web/src/shapes.ts:2"]),
        # Go: packages are folders, methods belong to a type of their package.
        ("cart.New", "callers", ["cart/line.go:5", "cmd/main.go:10"]),
        ("bill.New", "callers", ["cmd/main.go:11"]),
        ("Cart.Add", "callers", ["cmd/main.go:9"]),
        ("Cart.check", "callers", ["cart/cart.go:7"]),
        # Rust: associated functions, blocks of methods, aliases.
        ("store.Store.new", "callers", ["rust/src/main.rs:4"]),
        ("Store.save", "callers", ["rust/src/main.rs:5"]),
        ("Other.save", "callers", ["rust/src/main.rs:7"]),
        ("store.Store.check", "callers", ["rust/src/store.rs:5"]),
        # Java: classes of the package, base classes, types of parameters.
        ("Cart.add", "callers", ["java/src/app/Main.java:7", "java/src/app/Main.java:8 2"]),
        ("Base.check", "callers", ["java/src/shop/Cart.java:4"]),
        ("Load.load", "implementers", ["java/src/shop/Cart.java:5"]),
        ("Base", "subclasses", ["java/src/shop/Cart.java:3"]),
    ],
)
def test_places(tree: Searcher, name: str, relation: str, expected: list[str]) -> None:
    assert places(tree, name, relation) == expected

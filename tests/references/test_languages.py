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
    "erlang/src/store.erl": "-module(store).\nsave(X) -> check(X).\ncheck(X) -> lists:map(fun other/1, X).\n",
    "erlang/src/other.erl": "-module(other).\nsave(X) -> X.\nmap(X) -> X.\n",
    "erlang/src/main.erl": "-module(main).\nrun() ->\n  store:save(1),\n  other:save(2).\n",
    "elixir/lib/cart.ex": """defmodule Shop.Cart do
  @spec split(t) :: t
  def split(1), do: 1
  def split(x), do: x
end
""",
    "elixir/lib/use.ex": """defmodule Shop.Use do
  def run(x), do: String.split(x)
  def go(x), do: Shop.Cart.split(x)
end
""",
    "lua/pick.lua": """local Pick = {}
function Pick:open(x)
  return string.open(x)
end
function Pick:again() return self:open(1) end
return Pick
""",
    "r/R/keys.R": """sort.keys <- function(x, ...) x
use_keys <- function(x) {
  sort.keys(x)
}
""",
    "lisp/fan.el": "(defun fan-in (x) x)\n(defun in (x) x)\n(fan-in 1)\n",
    "vue/src/Panel.vue": """<script setup lang="ts">
import { openClockFace } from './clock'
const face = openClockFace()
</script>
<template>
  <p @click="openClockFace()">{{ face }}</p>
</template>
""",
    "vue/src/clock.ts": "export function openClockFace() { return 1 }\n",
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
    "php/src/Cart.php": """<?php
namespace Acme\\Shop;
class Cart {
    public function add($line) { return $line; }
    public static function open() { return new Cart(); }
}
""",
    "php/src/Bill/Cart.php": """<?php
namespace Acme\\Shop\\Bill;
class Cart {
    public static function open() { return new Cart(); }
}
""",
    "php/src/Stock.php": """<?php
namespace Acme\\Shop;
/**
 * @method static Stock|null refill(int $count)
 */
class Stock extends Cart {
    public static function __callStatic($name, $values) { Stock::refill(1); }
}
""",
    "php/tests/CartTest.php": """<?php
use Acme\\Shop\\Cart;
function test_open() {
    Cart::open();
}
""",
    "kotlin/core/src/Clock.kt": """package org.acme.time

class Clock {
    fun hour(): Int = 1
}

fun openClock(): Clock = Clock()
""",
    "kotlin/core/test/ClockTest.kt": """package org.acme.time.test

import org.acme.time.*
import java.time.hour

fun check() {
    openClock()
    hour()
}
""",
    "csharp/Logger.cs": """namespace Acme.Core
{
    public class Logger
    {
        public Logger(string name) { }
        public void WriteLine(string text) { }
    }
}
""",
    "csharp/App.cs": """using Acme.Core;

class App
{
    void Run()
    {
        var logger = new Logger("app");
        logger.WriteLine("x");
        Console.WriteLine("z");
    }
}
""",
    "ruby/stubs.rb": "class Stubs\n  def verify(env)\n    env\n  end\nend\n",
    "ruby/spec.rb": "def check(it)\n  expect(it).to verify(1)\n  it.check\nend\n",
    "swift/Sources/Kit/Store.swift": "public class Store {\n  public func reload() {}\n  func append(_ x: Int) {}\n}\n",
    "swift/Tests/Use.swift": "import Kit\nfunc use(s: Store) {\n  s.reload()\n  other().append(1)\n}\n",
    "cpp/scanner.h": "class Scanner {\npublic:\n  Scanner();\n  bool flow();\n  int size();\n};\n",
    "cpp/use.cpp": """#include "scanner.h"
bool use(Scanner& s, Other& o) {
  Scanner other = Scanner();
  return s.flow() && o.list.size();
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
        ("Store.load", "callers", ["web/src/app.tsx:6", "web/src/app.tsx:9 2+"]),
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
        ("Cart.add", "callers", ["java/src/app/Main.java:7", "java/src/app/Main.java:8 2+"]),
        ("Base.check", "callers", ["java/src/shop/Cart.java:4"]),
        ("Load.load", "implementers", ["java/src/shop/Cart.java:5", "rust/src/store.rs:8"]),
        ("Base", "subclasses", ["java/src/shop/Cart.java:3"]),
        # PHP: the root folder stands for the first parts of a namespace.
        ("php/src/Cart.php:5", "callers", ["php/tests/CartTest.php:4"]),
        ("php/src/Bill/Cart.php:4", "callers", []),
        # The comment of a class declares methods.
        ("Stock.refill", "definitions", ["php/src/Stock.php:4"]),
        ("Stock.refill", "callers", ["php/src/Stock.php:7"]),
        # Kotlin: folders leave out the root package, and a package does not export the members of its classes.
        ("openClock", "callers", ["kotlin/core/test/ClockTest.kt:7"]),
        ("Clock.hour", "callers", []),
        # Erlang: a module is a file. Elixir: modules of the library define nothing here.
        ("store.save", "callers", ["erlang/src/main.erl:3"]),
        ("other:save", "callers", ["erlang/src/main.erl:4"]),
        ("other.map", "callers", []),
        ("Shop.Cart.split", "definitions", ["elixir/lib/cart.ex:3"]),
        ("Shop.Cart.split", "callers", ["elixir/lib/use.ex:3"]),
        ("Pick.open", "callers", ["lua/pick.lua:5+"]),
        # R and Lisps: names have dots and hyphens.
        ("sort.keys", "definitions", ["r/R/keys.R:1"]),
        ("sort.keys", "callers", ["r/R/keys.R:3"]),
        ("fan-in", "callers", ["lisp/fan.el:3"]),
        # Vue: the script and the template of a component.
        ("openClockFace", "callers", ["vue/src/Panel.vue:3", "vue/src/Panel.vue:6"]),
        # C#: a constructor is its class, and a member of an unknown object is none.
        ("Logger", "callers", ["csharp/App.cs:7"]),
        ("Logger.WriteLine", "callers", ["csharp/App.cs:8", "csharp/App.cs:9+"]),
        # Ruby: a bare name may be a member only by inclusion, and a method of an object is rarely a function.
        ("Stubs.verify", "callers", ["ruby/spec.rb:2+"]),
        ("ruby/spec.rb:1", "callers", ["ruby/spec.rb:3+"]),
        # Swift and C++: what the library has as well may be the library's.
        ("Store.reload", "callers", ["swift/Tests/Use.swift:3"]),
        ("Store.append", "callers", ["swift/Tests/Use.swift:4+"]),
        ("Scanner", "callers", ["cpp/use.cpp:3"]),
        ("Scanner.flow", "callers", ["cpp/use.cpp:4"]),
        ("Scanner.size", "callers", ["cpp/use.cpp:4+"]),
    ],
)
def test_places(tree: Searcher, name: str, relation: str, expected: list[str]) -> None:
    assert places(tree, name, relation) == expected

"""What a class extends, and the classes of new objects, in the ways in which languages write it."""

import pytest

from gitmem.chunking.occurrence_query import load_patterns
from tests.chunking.names_in_file import names_of

_RUBY = """class Account::Syncer < Base
  class Inner
  end
  include Cached, Other::Noted
  extend(Finder)
  # include Commented
  def go
    Account::Line.new
    include_all Cart.fetch(Price.new(1))
    "include Quoted"
  end
end
module Other::Noted
end
"""
_PHP = """<?php
trait Trashed { }
class Page extends Model implements Shape {
  use Trashed, Seen\\Audited { trash as protected; }
}
"""
_ELIXIR = """defmodule App.One do
  @behaviour App.Plugin
  # @behaviour App.Other
  def run(x), do: App.Sized.size(x)
end
defimpl App.Sized, for: List do
end
"""
_PERL = """package Dog;
use parent -norequire, 'Animal';
use base qw(Living);
with 'Role::Barks', 'Role::Runs';
extends qw(Pet);
print "with 'Nobody'";
"""
_GROOVY = """@CompileStatic
abstract class Cart<T> extends my.Base<T> implements Store, Priced {
  def go() { new Line() }
}
"""
_CLOJURE = """(ns shop.cart)
(defrecord Cart [items] Priced
  (price [this] items)
  Store
  (save [this] items))
(extend-type String Named (called [this] this))
"""
_LISP = "(defclass cart (priced store) ((items)))\n(priced cart)\n"
_SCALA = "class Cart extends Store\ngiven Order[Cart] with\n  def a = 1\ngiven byPrice: Priced = x\n"
_CRYSTAL = """class Cart(T) < Base
  include Priced
  def go
    Line.new(1).total
  end
end
"""
_SWIFT = "struct S {\n  init(a: Int) { self.init() }\n  convenience init?() {}\n}\nlet s = S.init(a: 1)\n"


@pytest.mark.parametrize(
    ("language", "text", "kind", "expected"),
    [
        ("ruby", _RUBY, "class", "Account.Syncer Inner Other.Noted"),
        ("ruby", _RUBY, "base", "Base Cached Other.Noted Finder"),
        ("ruby", _RUBY, "call", "include extend Account.Line Account.Line.new include_all Cart.fetch Price Price.new"),
        ("php", _PHP, "base", "Model Shape Trashed Seen.Audited"),
        ("elixir", _ELIXIR, "base", "App.Plugin App.Sized"),
        ("elixir", _ELIXIR, "type", "App.Sized List"),
        ("perl", _PERL, "base", "Animal Living Role.Barks Role.Runs Pet"),
        ("groovy", _GROOVY, "class", "Cart"),
        ("groovy", _GROOVY, "base", "my.Base Store Priced"),
        ("clojure", _CLOJURE, "base", "Priced Store Named"),
        ("commonlisp", _LISP, "base", "priced store"),
        ("scala", _SCALA, "base", "Store Order Priced"),
        ("crystal", _CRYSTAL, "base", "Base Priced"),
        ("crystal", _CRYSTAL, "call", "Line Line.new ?.total"),
        ("swift", _SWIFT, "function", "init init"),
        ("kotlin", "class Slow(r: Run) : Run by r, Base()\n", "base", "Run Base"),
        ("haskell", "instance M.Shape Sq where\n  area = 1\n", "base", "M.Shape"),
        ("objc", "@protocol Big <Drawable>\n@end\n@interface Box : Base <Seen>\n@end\n", "base", "Drawable Base Seen"),
        ("julia", "struct A <: Shape{Int}\nend\nmutable struct B <: M.Shape\nend\n", "base", "Shape M.Shape"),
        ("fsharp", "type Big() =\n  inherit Sq()\n  interface My.IA with\n    member x.A = 1\n", "base", "Sq My.IA"),
        ("gdscript", "extends Actor\nclass Inner extends Actor:\n\tpass\n", "base", "Actor Actor"),
        ("purescript", "module M where\ninstance p :: Priced Item where\n  cost i = i\n", "base", "Priced"),
        ("apex", "class A extends B implements C, D.E<F> { }\n", "base", "B C D.E"),
        ("d", "class A : B, C { }\n", "base", "B C"),
        ("nim", "type\n  A* = ref object of B\n    x: int\n", "base", "B"),
        ("haxe", "class A extends B implements C { }\n", "base", "B C"),
        ("actionscript", "package p { public class A extends B implements C { } }\n", "base", "B C"),
        ("hack", "<?hh\nclass A extends B implements C { use D; }\n", "base", "B C D"),
        ("v", "struct Cart { Base }\n", "base", "Base"),
        ("go", "type A interface {\n\tB\n\tio.C\n\tGet()\n}\n", "base", "B io.C"),
        ("cairo", "impl A of B<C> { }\nimpl D of E { }\n", "base", "B E"),
        ("ada", "package P is\n   type A is new B with null record;\nend P;\n", "base", "B"),
        ("coffeescript", "class A extends m.B\n  go: -> 1\n", "base", "m.B"),
        ("visualbasic", "Class A\n    Inherits B\n    Implements IC, N.ID\nEnd Class\n", "base", "B IC N.ID"),
        ("pony", "class A is (B & C)\n  fun go() => None\n", "base", "B C"),
        ("raku", "class A is B does C { }\n", "base", "B C"),
        ("vala", "public class A : B, C {\n}\n", "base", "B C"),
    ],
)  # fmt: skip
def test_what_a_class_extends_and_creates_is_seen_in_its_statements(
    language: str, text: str, kind: str, expected: str
) -> None:
    found = [name.replace("::", ".").replace("\\", ".") for name in names_of(text, language, kind)]
    assert found == expected.split()
    load_patterns(language)  # from now on the patterns are compiled
    assert [name.replace("::", ".").replace("\\", ".") for name in names_of(text, language, kind)] == expected.split()


@pytest.mark.parametrize(
    ("language", "text", "kind", "expected"),
    [
        ("typescript", "interface A { 'spec': B; \"status\"?: C; 'content-type': D }\n", "value", "spec status"),
        ("swift", "enum A {\n  case b\n  var id: Int { 1 }\n}\n", "value", "b id"),
        ("starlark", "_LEVELS = [1]\nmy_rule = rule(implementation = f)\n", "value", "_LEVELS my_rule"),
        ("clarity", "(define-public (withdraw-votes (a uint)) (ok a))\n", "function", "withdraw-votes"),
        ("janet", "(defn tarray/get [a] a)\n", "function", "tarray/get"),
        ("cmake", "add_library(header-only INTERFACE)\n", "function", "header-only"),
    ],
)  # fmt: skip
def test_definitions_with_quotes_hyphens_and_computed_values(
    language: str, text: str, kind: str, expected: str
) -> None:
    assert names_of(text, language, kind) == expected.split()

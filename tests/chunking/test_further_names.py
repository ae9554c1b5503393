"""Calls and mentions that few languages write in their own way: in macros, without brackets, behind `::` and `#`."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.occurrence_query import load_patterns
from tests.chunking.names_in_file import names_of

_RUST = """#[serde(rename(serialize = "x"), default(make))]
fn total() {
    assert_eq!(compute(&a).round(), Some(1));
    println!("{}", cart.lines::<Line>().first);
    vec![Item::of(2)];
}
"""
_CPP = """#define CLOSE(h) finish((h)->loop, sizeof(h))
#define LIMIT other_limit
namespace shop { int declared(int x); Cart* found(void); }
extern "C" { int from_c(int); }
using shop::total;
int Cart::sum() { int local(int); return Kind::A + shop::Unit::B + std::max(1, 2); }
"""
_KOTLIN = "fun a() { b(::suspended, Foo::bar, Late::class)\n  assertFails<Error> { run() }\n  x < y\n}\n"
_HASKELL = """module H where
total :: [Int] -> Int
total xs = foldr plus 0 $ scaled xs
run cart = mapM_ check cart >>= report . wrapped
other = \\item -> item `seq` show $ item
"""
_RUBY = """class Cart
  attr_reader :lines
  def total(rate, *rest)
    sum = lines.sum
    warm
    refresh if stale?
    rest.each { |line| line.go(rate, limit: sum) }
    private_total
  rescue Error => error
    report error
  end
end
"""
_ANGULAR = """<li *ngIf="isOpen && canView(cart)" [items]="list
  .filter(shown)" (click)="go('some words', kind)">{{ user.displayName | date:'short' }}</li>
@if (isAdmin && groups()) { <b>plain text</b> } @else if (mode === Mode.Card) {}
@let sum = cart.total;
"""
_BLADE = """@include('x', ['a' => $page->isOpen() ? $page->chapter : null,
   'b' => $foo->barBaz()])
<a href='{$entity->owner->getUrl()}'>@foreach($shelf->books as $book)
"""
_PHP = """<?php
class Cart {
    /**
     * @param array<string, Item|Shop\\Cart>|null $items Text of Items
     * @param class-string<Reader>          $reader
     * @phpstan-return array{tax: Tax, list: list<array<Item>>} Tax of all
     * @var ?Total
     * @template T of Kind|Other
     * @throws \\Failure
     * @extends Base<int>
     * @see Other
     */
    function run() { usort($a, [$this, 'compare']); call(array($this, "show")); [$this, $b]; }
}
"""


@pytest.mark.parametrize(
    ("language", "text", "kind", "expected"),
    [
        ("rust", _RUST, "call", "assert_eq compute ?.round println cart.lines vec Item.of"),
        ("cpp", _CPP, "call", "finish std.max"),
        ("cpp", _CPP, "type", "Cart shop Kind shop shop.Unit"),
        ("cpp", _CPP, "name", "other_limit declared found from_c shop.total Kind.A shop.Unit.B"),
        ("c", 'extern "C" {\nint uv_init(void);\n}\nint f() { int g(int); }\n', "name", "uv_init"),
        ("kotlin", _KOTLIN, "name", "..suspended Foo Foo.bar Late"),
        ("kotlin", _KOTLIN, "call", "b assertFails run"),
        ("haskell", _HASKELL, "name", "Int Int plus check report wrapped seq"),
        ("haskell", _HASKELL, "call", "foldr scaled mapM_ show"),
        ("elm", "module A exposing (..)\nrun cart = cart |> total |> round\n", "call", "total round"),
        ("ruby", _RUBY, "call",
         "attr_reader lines lines.sum warm refresh stale? rest.each line.go private_total report"),
        ("ruby", "puts total\nlimit = 1\nwarm\n", "call", "puts"),
        ("cmake", "target_link_libraries(my_exec PRIVATE fmt::fmt my-lib ${LIBS} 1.0)\n", "name",
         "my_exec fmt.fmt my-lib"),
        ("cmake", "my_function(a)\n", "call", "my_function"),
        ("lua", "map(actions.edit_line)\nt.x = 1\n", "read", "actions.edit_line t.x"),
        ("nim", "check output.lines.inLines(x)\nif info.isMinimal: discard\n", "read", "output.lines info.isMinimal"),
        ("python", "class A(Field[Mail]):\n    pass\n", "name", "Mail"),
        ("angular", _ANGULAR, "call", "canView list.filter go groups"),
        ("angular", _ANGULAR, "name", "isOpen cart list shown kind user isAdmin mode Mode cart"),
        ("angular", _ANGULAR, "read", "user.displayName Mode.Card cart.total"),
        ("vue", "<template><p v-if=\"cart.isOpen && shown\" :class=\"{'bg red': on}\"/></template>\n", "name",
         "cart shown on"),
        ("blade", _BLADE, "call", "$page.isOpen $foo.barBaz $entity.owner.getUrl"),
        ("blade", _BLADE, "read", "$page.chapter $entity.owner $shelf.books"),
        ("javascript", "class A { #go() {} #n = 1; run() { this.#go(); return this.#n; } }\n", "call", "this.go"),
        ("javascript", "class A { #go() {} #n = 1; run() { this.#go(); return this.#n; } }\n", "read", "this.n"),
        ("javascript", "class A { #n = 1; static #m = 2 }\n", "value", "n m"),
        ("javascript", "export default (x) => x;\n", "function", "export="),
        ("typescript", "export default class { go() {} }\n", "class", "export="),
        ("typescript", "export default class Cart { go() {} }\n", "class", "Cart"),
        ("typescript", "f(...rows(x), ...a.b());\n", "call", "f rows a.b"),
        ("php", "<?php f(...rows($x));\n", "call", "f rows"),
        ("php", _PHP, "type", "Item Shop.Cart Reader Tax Item Total Kind Other \\.Failure Base"),
        ("php", _PHP, "call", "usort $this.compare call $this.show"),
    ],
)  # fmt: skip
def test_names_are_found_in_the_ways_of_a_language(language: str, text: str, kind: str, expected: str) -> None:
    def found() -> list[str]:
        names = names_of(text, language, kind)
        return [name.replace("::", ".").replace("->", ".") for name in names]

    assert found() == expected.split()
    grammar = find_grammar(language)
    if grammar is not None and grammar.parser:
        load_patterns(language)  # from now on the patterns are compiled
        assert found() == expected.split()


def test_each_name_of_a_long_import_has_its_own_line(subtests: pytest.Subtests) -> None:
    for language, text in {
        "typescript": 'import {\n  first,\n  type Second,\n  third as renamed,\n} from "./shop";\n',
        "python": "from shop import (\n    first,\n    Second,\n    third as renamed,\n)\n",
    }.items():
        with subtests.test(language):
            names = chunk_blob(text.encode(), language).names
            assert sorted(zip(names.lines, names.names, strict=True)) == [
                (2, b"first"),
                (3, b"Second"),
                (4, b"renamed"),
                (4, b"third"),
            ]

"""Languages that are read by their lines: definitions, what is in them, and calls."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.elements import find_elements
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.languages import language_of
from gitmem.chunking.line_tree import read_lines
from gitmem.types import OCCURRENCE_KINDS
from tests.chunking.coverage_check import assert_sound

TEXTS = {
    "a.cr": (
        """# Reads it.
class Reader < Base
  LIMIT = 10

  # Opens.
  def open(path : String)
    check(path)
  end

  private def self.check(x)
    x
  end
end

def main
end
""",
        "class:Reader; constant:Reader.LIMIT; method:Reader.open; method:Reader.check; function:main",
    ),
    "a.coffee": (
        """class Cart extends Base
  total: (items) ->
    sum(items)

  @make: -> new Cart

run = (x, y = f(1)) =>
  x
""",
        "class:Cart; method:Cart.total; method:Cart.make; function:run",
    ),
    "a.vb": (
        """Public Class Cart
    Private Shared Function Total(x As Integer) As Integer
        Return Sum(x)
    End Function

    Public Sub Clear()
    End Sub
End Class
""",
        "class:Cart; method:Cart.Total; method:Cart.Clear",
    ),
    "a.raku": (
        """class Cart {
    method total-of($x) {
        sum($x)
    }
}

multi sub run(Int $x) { 1 }
""",
        "class:Cart; method:Cart.total-of; function:run",
    ),
    "a.awk": (
        """BEGIN {
  x = 1
}
function area(w) {
  return twice(w)
}
""",
        "function:BEGIN; function:area",
    ),
    "a.applescript": (
        """on area(w)
\treturn twice(w)
end area
""",
        "function:area",
    ),
    "a.bat": (
        """@echo off
call :build
goto :eof

:build
echo x

:clean
del x
""",
        "function:build; function:clean",
    ),
    "a.prolog": (
        """:- module(family, []).

% Parents.
parent(a, b).
parent(b, c).

grand(X, Z) :-
    parent(X, Y),
    parent(Y, Z).
""",
        "function:parent; function:grand",
    ),
    "a.v": (
        """From Coq Require Import List.
Section Lists.
Inductive tree : Type := Leaf.
(* It holds. *)
Lemma app_nil' : forall x, x = x.
Proof.
  auto.
Qed.
Definition one := 1.
End Lists.
""",
        "constant:Lists; class:tree; function:app_nil'; function:one",
    ),
    "a.lean": (
        """namespace Shop

/-- Doc. -/
@[simp] theorem add_zero' (n : Nat) : n = n := by
  rfl

structure Cart where
  x : Nat
""",
        "function:add_zero'; class:Cart",
    ),
    "a.agda": (
        """module Shop where

data Nat : Set where
  zero : Nat

add : Nat -> Nat
add x = x
""",
        "constant:Shop; class:Nat; function:add",
    ),
    "add.s": (
        """.globl add
# Adds.
add:
  jmp .Lend
.Lend:
  ret

Lookup:
1:
LBB0_2:
  ret
""",
        "function:add; function:Lookup",
    ),
    "add_arm64.s": (
        """#define N 1
// Adds.
TEXT runtime·add<ABIInternal>(SB),NOSPLIT,$0
loop:
\tRET

TEXT libc_mul<>(SB),$0
\tRET
""",
        "function:add; function:libc_mul",
    ),
    "Dockerfile": (
        """# Builds it.
FROM --platform=linux node:20 AS build
# Sources.
COPY . .

FROM nginx:1
COPY --from=build /app /srv
""",
        "section:build; section:nginx",
    ),
    "a.pony": (
        """class Cart
  fun ref total(x: U32): U32 =>
    sum(x)

actor Main
  new create(env: Env) =>
    None
""",
        "class:Cart; method:Cart.total; class:Main; method:Main.create",
    ),
    "a.feature": (
        """Feature: Sign in

  Background:
    Given a user

  Scenario: Wrong password
    When they type it
    Then it fails
""",
        "section:Sign in.Wrong password; section:Sign in",
    ),
}
"""A text of each language, and its definitions: type and symbol."""

TEXTS |= {
    "a.nu": (
        """# Opens it.
export def --env "str open" [
    path: string
] {
    check $path
}

export const LIMIT = 10
alias l = ls

module shells {
    export use main
}
""",
        "function:str open; constant:LIMIT; function:l; module:shells",
    ),
    "justfile": (
        """version := "1"

# Builds it.
build target='all': check
    cargo build {{target}}

@check:
    cargo check
alias b := build
""",
        "constant:version; function:build; function:check; constant:b",
    ),
    "a.vala": (
        """namespace Shop {
    [DBus (name = "shop.Cart")]
    public class Cart : Object {
        public signal void added (int count);

        public async int total (int limit) throws Error {
            if (limit > 1) {
                return sum (limit);
            }
#if DEBUG
            log ("total");
#endif
            return 0;
        }

        private static void clear ()
        {
            reset ();
        }
    }
}
""",
        "module:Shop; class:Shop.Cart; method:Shop.Cart.added; method:Shop.Cart.total; method:Shop.Cart.clear",
    ),
}

TEXTS |= {
    "a.abap": (
        """CLASS cart DEFINITION PUBLIC.
  PUBLIC SECTION.
    METHODS total.
ENDCLASS.
CLASS cart IMPLEMENTATION.
  METHOD total.
    sum( ).
  ENDMETHOD.
ENDCLASS.
FORM run.
ENDFORM.
""",
        "class:cart; method:cart.total; function:run",
    ),
    "a.g4": (
        """grammar Shop;
// All of it.
file
    : item* EOF
    ;
item returns [int n] : NAME price ;
fragment
DIGIT : [0-9] ;
""",
        "module:Shop; function:file; function:item; function:DIGIT",
    ),
    "a.ahk": (
        """class Cart {
    total(items) {
        return sum(items)
    }
}
if (x) {
}
run(a, b) {
}
""",
        "class:Cart; method:Cart.total; function:run",
    ),
    "a.bal": (
        """# A cart.
public isolated class Cart {
    isolated function total(int x) returns int {
        return sum(x);
    }
}

service /shop on new http:Listener(80) {
    resource function get orders/[int id]() returns Order {
    }
}

type Order record {| int id; |};
""",
        "class:Cart; method:Cart.total; module:/shop; method:/shop.orders; class:Order",
    ),
    "a.y": (
        """%{
static int sum(int a)
{
    return a;
}
%}
%%
file:
  items { $$ = sum($1); }
;
items: %empty
  | items ITEM
;
""",
        "function:sum; function:file; function:items",
    ),
    "a.chpl": (
        """module Shop {
  record cart {
    proc ref total(x: int): int {
      return sum(x);
    }
  }
  iter cart.these() { }
}
""",
        "module:Shop; class:Shop.cart; method:Shop.cart.total; method:Shop.these",
    ),
    "a.cfc": (
        """component {
    /** Adds. */
    public numeric function total( items ){
        return sum( items );
    }
}
""",
        "function:total",
    ),
    "a.cfm": (
        """<cffunction access="public" name="total">
  <cfreturn sum(1)>
</cffunction>
""",
        "function:total",
    ),
    "a.cue": (
        """#Order: {
  id: int
}
limit: 10
_#Hidden: string
""",
        "class:#Order; constant:limit; class:_#Hidden",
    ),
    "a.fbs": ("namespace Shop;\n\ntable Order {\n  id: int;\n}\n", "constant:Shop; class:Order"),
    "a.idl": ('partial interface Cart {\n  attribute long total;\n};\nenum Kind { "a" };\n', "class:Cart; class:Kind"),
    "a.mo": (
        """within Shop;
model Cart "holds items"
  parameter Real x;
equation
  x = 1;
  annotation (info="<html>
<p>Text</p>
</html>");
end Cart;

type Price = Real;
function total
algorithm
  y := sum(x);
end total;
""",
        "class:Cart; class:Price; function:total",
    ),
    "a.mojo": (
        """struct Cart:
    fn total(self) -> Int:
        return sum(self)

fn main():
    pass
""",
        "class:Cart; method:Cart.total; function:main",
    ),
    "a.move": (
        """module shop::cart {
    public struct Cart has key {
        id: UID
    }

    public(package) fun total(cart: &Cart): u64 {
        sum(cart)
    }
}
""",
        "module:shop::cart; class:shop::cart.Cart; method:shop::cart.total",
    ),
    "a.scad": ("module box(w) {\n  cube(w);\n}\nfunction area(w) = twice(w);\n", "function:box; function:area"),
    "a.p4": (
        """header ethernet_t {
    bit<48> dst;
}
control Ingress(inout headers h) {
    action drop() {
        mark();
    }
    table routes {
    }
}
""",
        "class:ethernet_t; class:Ingress; method:Ingress.drop; method:Ingress.routes",
    ),
    "a.pkl": (
        """open module shop.Cart

/// A price.
abstract class Price {
  function total(x): Int = sum(x)
}
typealias Id = String
""",
        "module:shop.Cart; class:Price; method:Price.total; class:Id",
    ),
    "a.qs": (
        """namespace Shop {
    /// # Summary
    operation Measure(q : Qubit) : Result {
        return M(q);
    }
    newtype Pair = (Int, Int);
}
""",
        "module:Shop; method:Shop.Measure; class:Shop.Pair",
    ),
    "a.res": (
        """module Cart = {
  type t = {id: int}
  let total = (items, x) => {
    let n = 1
    sum(items)
  }
}
@val external now: unit => float = "now"
""",
        "module:Cart; class:Cart.t; method:Cart.total; function:now",
    ),
    "a.sas": (
        """%macro total(x);
  %put &x;
%mend;

data orders;
  set raw;
run;
""",
        "function:total; section:orders",
    ),
    "a.stan": (
        """functions {
  real total(vector x) {
    return sum(x);
  }
}
transformed data {
  int n;
}
""",
        "section:functions; section:transformed data",
    ),
    "a.wl": ("(* Adds. *)\ntotal[x_] := Sum[x, 1]\n\n$limit = 1\n", "function:total"),
}


@pytest.mark.parametrize("path", TEXTS)
def test_definitions_are_units_of_their_containers(path: str) -> None:
    text, expected = TEXTS[path]
    data = text.encode()
    blob = chunk_blob(data, language_of(path))
    assert_sound(data, blob)
    assert blob.parsed
    units = {f"{unit.chunk_type}:{unit.symbol}" for chunk in blob.chunks for unit in (chunk.units or (chunk,))}
    assert set(expected.split("; ")) <= units


@pytest.mark.parametrize(
    ("path", "definitions", "calls"),
    [
        ("a.cr", "Reader LIMIT open check main", "check"),
        ("a.coffee", "Cart total make run", "sum"),
        ("a.vb", "Cart Total Clear", "Sum"),
        ("a.raku", "Cart total-of run", "sum"),
        ("a.awk", "BEGIN area", "twice"),
        ("a.prolog", "parent grand", "parent"),
        ("a.v", "Lists tree app_nil' one", ""),
        ("a.pony", "Cart total Main create", "sum"),
        ("a.nu", "open LIMIT l shells", ""),
        ("justfile", "version build check b", ""),
        ("a.vala", "Shop Cart added total clear", "sum log reset"),
        ("a.bal", "Cart total shop orders Order", "sum"),
        ("a.cfc", "total", "sum"),
        ("a.mojo", "Cart total main", "sum"),
        ("a.res", "Cart t total now", "sum"),
        ("a.scad", "box area", "cube twice"),
    ],
)
def test_names_are_definitions_and_brackets_are_calls(path: str, definitions: str, calls: str) -> None:
    _, kinds, names, _ = chunk_blob(TEXTS[path][0].encode(), language_of(path)).names
    by_kind: dict[str, set[str]] = {}
    for kind, name in zip(kinds, names, strict=True):
        by_kind.setdefault(OCCURRENCE_KINDS[kind], set()).add(name.decode())
    assert by_kind["function"] | by_kind.get("class", set()) | by_kind.get("value", set()) == set(definitions.split())
    assert set(calls.split()) <= by_kind.get("call", set())
    assert by_kind.get("call", set()).isdisjoint({"if", "for", "while", "return"})


def test_a_comment_belongs_to_the_definition_below_and_the_last_word_to_the_one_above() -> None:
    text = TEXTS["a.cr"][0]
    elements = {each.symbol: each for each in find_elements(text.encode(), "crystal").elements}
    method = elements["Reader.open"]
    assert text[method.start : method.end] == text[text.index("  # Opens") : text.index("  private")].rstrip()
    assert text[method.code :].startswith("  def open")


def test_a_comment_inside_of_a_flat_definition_belongs_to_it() -> None:
    text = TEXTS["Dockerfile"][0]
    spans = {c.symbol: (c.start_line, c.end_line) for c in chunk_blob(text.encode(), "dockerfile").chunks}
    assert spans == {"build": (1, 4), "nginx": (6, 7)}


_INNER_BLOCKS = {
    "a.cr": "class A\n  def first\n    if x\n      y\n    end\n    z\n  end\n\n  def last\n  end\nend\n",
    "a.vb": (
        "Class A\n  Sub first()\n    If x Then\n      y()\n    End If\n    z()\n  End Sub\n\n  Sub last()\n  End Sub\n"
        "End Class\n"
    ),
    "a.raku": ("class A {\n  method first {\n    if $x {\n      y\n    }\n    z\n  }\n\n  method last {\n  }\n}\n"),
}


@pytest.mark.parametrize("path", _INNER_BLOCKS)
def test_the_end_of_a_block_inside_ends_no_definition(path: str) -> None:
    elements = {e.symbol: e for e in find_elements(_INNER_BLOCKS[path].encode(), language_of(path)).elements}
    lines = {symbol: (element.first_line, element.last_line) for symbol, element in elements.items()}
    # The last word of the class belongs to the member above.
    assert lines == {"A": (1, 11), "A.first": (2, 7), "A.last": (9, 11)}


def test_code_that_is_commented_out_at_the_margin_ends_no_definition() -> None:
    text = b"class A\n  def first\n    x\n#    y\n\n#    z\n    z\n  end\n\n# def second\n  def last\n  end\nend\n"
    elements = {each.symbol: each for each in find_elements(text, "crystal").elements}
    assert list(elements) == ["A", "A.first", "A.last"]
    assert (elements["A.first"].first_line, elements["A.first"].last_line) == (2, 8)


def test_lines_with_a_blank_line_between_are_apart() -> None:
    text = b"sub first {\n\tone;\n\n\ttwo;\n\tthree;\n}\n"
    grammar = find_grammar("raku")
    assert grammar is not None
    assert grammar.lines is not None
    function = read_lines(text, grammar.lines).children[0]
    assert [text[node.start_byte : node.end_byte] for node in function.children] == [b"one;", b"two;\n\tthree;"]


def test_a_part_of_a_definition_that_handles_errors_belongs_to_it() -> None:
    text = b"class A\n  def first\n    x\n  rescue e\n    y\n  ensure\n    z\n  end\n\n  def last\n    1\n  end\nend\n"
    elements = {each.symbol: each for each in find_elements(text, "crystal").elements}
    lines = {symbol: (e.first_line, e.last_line) for symbol, e in elements.items()}
    assert lines == {"A": (1, 13), "A.first": (2, 8), "A.last": (10, 13)}


def test_a_brace_below_a_definition_begins_its_body() -> None:
    text = b"public class A\n{\n    public void first ()\n    {\n        x ();\n    }\n}\n"
    elements = {each.symbol: each for each in find_elements(text, "vala").elements}
    assert {symbol: (e.first_line, e.last_line) for symbol, e in elements.items()} == {"A": (1, 7), "A.first": (3, 7)}


def test_a_comment_above_a_flat_definition_belongs_to_it() -> None:
    text = b"@echo off\n:build\ncall make\nrem Runs the tests\nrem of all parts.\n:test\ncall pytest\n"
    elements = {each.symbol: each for each in find_elements(text, "batch").elements}
    assert text[elements["build"].start : elements["build"].end] == b":build\ncall make"
    assert text[elements["test"].start : elements["test"].code] == b"rem Runs the tests\nrem of all parts.\n"


def test_local_labels_are_no_definitions() -> None:
    chunks = chunk_blob(TEXTS["add.s"][0].encode(), "asm").chunks
    assert {u.symbol for c in chunks for u in (c.units or (c,)) if u.symbol} == {"add", "Lookup"}


def test_labels_inside_of_functions_that_macros_begin_are_no_definitions() -> None:
    chunks = chunk_blob(TEXTS["add_arm64.s"][0].encode(), "asm").chunks
    assert {c.symbol: (c.start_line, c.end_line) for c in chunks if c.symbol} == {"add": (2, 5), "libc_mul": (7, 8)}


def test_clauses_of_a_predicate_are_one_definition() -> None:
    blob = chunk_blob(TEXTS["a.prolog"][0].encode(), "prolog")
    spans = [(u.start_line, u.end_line) for c in blob.chunks for u in (c.units or (c,)) if u.symbol == "parent"]
    assert spans == [(3, 5)]


def test_a_constant_ends_on_its_line_though_no_word_ends_it() -> None:
    text = b"module shop;\n  typedef int price_t;\n  assign total = 1;\n  wire open;\nendmodule\n"
    elements = {each.symbol: (each.first_line, each.last_line) for each in find_elements(text, "verilog").elements}
    assert elements == {"shop": (1, 5), "shop.price_t": (2, 2)}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("verilog", "/*\nmodule old;\ncall(1);\n*/\nmodule shop;\nendmodule\n"),
        ("powershell", "<#\n.NOTES\nfunction old { Get-Old }\n#>\nfunction shop {\n    $x `\n\n}\nclass ( {\n"),
        ("rocq", "(* As\nLemma old : call(1).\n*)\nLemma shop : True.\n"),
        ("modelica", "/* As\nmodel old\n  call(1);\n*/ \nmodel shop\nend shop;\n"),
    ],
)
def test_a_comment_of_several_lines_defines_and_calls_nothing(language: str, text: str) -> None:
    blob = chunk_blob(text.encode(), language)
    assert_sound(text.encode(), blob)
    assert [each.symbol for each in find_elements(text.encode(), language).elements][:1] == ["shop"]
    assert not {b"old", b"call", b"Get-Old"} & set(blob.names[2])


def test_a_comment_without_an_end_is_one_line() -> None:
    elements = find_elements(b"/* Open\nmodule shop;\nendmodule\n", "verilog").elements
    assert [each.symbol for each in elements] == ["shop"]

"""Definitions besides functions and classes: constants, fields, members made by statements."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.types import DEFINING, OCCURRENCE_KINDS


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("c", "enum color { RED, GREEN };\n", "color RED GREEN"),
        ("c", "typedef int (*handler_t)(int);\nstatic const int limit = 5;\nint counter;\n", "handler_t limit counter"),
        ("c", "static struct ops table = { 1 };\nint *list[2];\n", "table list"),
        ("c", "int f(void) { int local = 1; return local; }\n", "f"),
        ("cpp", "enum class Mode { Fast };\nconstexpr int kMax = 3;\nclass A { int f_; };\n", "Mode Fast kMax A f_"),
        ("cpp", "class Later;\nstruct Opaque;\ntypedef struct Opaque opaque_t;\nclass A {};\n", "opaque_t A"),
        ("csharp", "enum Color { Red }\nclass A { public event Handler Changed; }\n", "Color Red A Changed"),
        ("go", "package a\ntype Reader interface {\n\tReadIt(x int) error\n}\n", "Reader ReadIt"),
        ("go", "package a\ntype S struct {\n\tField int\n}\n", "S Field"),
        ("rust", "enum E { Va, Vb(u8) }\nstruct S { field: u8 }\n", "E Va Vb S field"),
        ("kotlin", "const val MAX = 1\nenum class Color { RED }\ntypealias H = Int\n", "MAX Color RED H"),
        ("kotlin", "class A(val prop: Int, other: Int) { val size = 1 }\n", "A prop size"),
        ("swift", "let maxCount = 1\ntypealias H = Int\nprotocol P { var q: Int { get } }\n", "maxCount H P q"),
        ("swift", "struct S { var field: Int }\nfunc f() { let local = 1 }\n", "S field f"),
        ("php", "<?php\nclass A { public $prop; function f(private int $part) {} }\n", "A prop f part"),
        ("typescript", "enum Color { Red, Blue = 2 }\nclass A { private prop = 1 }\n", "Color Red Blue A prop"),
        ("typescript", "class A { constructor(private part: number, other: number) {} }\n", "A constructor part"),
        ("python", "MAX = OTHER = 1\na, b = 1, 2\ntype T = int\ndef f():\n    x, y = 1, 2\n", "MAX OTHER a b T f"),
        ("ruby", "class A\n  attr_reader :name, :size\n  scope :recent, -> { 1 }\nend\n", "A name size recent"),
        ("ruby", "class A\n  alias_method :old, :kept\n  define_method(:made) { 1 }\nend\n", "A old made"),
        ("dart", "enum Color { red }\nconst limit = 1;\nclass A { final int field; }\n", "Color red limit A field"),
        ("haskell", "data Color = Red | Green Int\nnewtype W = W2 { unW :: Int }\n", "Color Red Green W W2 unW"),
        ("ocaml", "type color = Red\ntype r = { field : int }\nexception Bad\n", "color Red r field Bad"),
        ("scala", "enum Color { case Red, Blue }\ncase class P(x: Int)\n", "Color Red Blue P x"),
        ("bash", "LIMIT=1\nexport OTHER=2\nname=3\nf() { local=3; }\n", "LIMIT OTHER f"),
        ("solidity", "contract A { uint total; event Sent(uint x); error Bad(); }\n", "A total Sent Bad"),
        ("proto", "service S { rpc Call (A) returns (A); }\nenum Color { RED = 0; }\n", "S Call Color RED"),
        ("zig", "const Color = enum { red };\nfn free() void {}\n", "Color red free"),
        ("tcl", "namespace eval shop {\n  proc add {c} { save $c }\n}\nnamespace import a::*\n", "shop add"),
        ("cairo", "struct Cart { n: u32 }\ntrait Priced<T> { fn cost(self: @T) -> u32; }\nimpl A of B { fn go() {} }\n",
         "Cart Priced cost go"),
        ("capnp", "@0xdbb9ad1f14bf0b36;\nstruct Cart { n @0 :Int32; }\ninterface Shop { add @0 (x :Int32) -> (); }\n",
         "Cart Shop add"),
        ("gdscript", "class_name Cart\nsignal added\nconst MAX = 1\nvar items = []\nfunc add():\n\tvar local = 1\n",
         "Cart added MAX items add"),
        ("smithy", "namespace shop\nservice Shop { operations: [Add] }\nstructure Cart { n: Integer }\n", "Shop Cart"),
        ("rego", "package shop\nallow { helper(1) }\nhelper(x) { x == 1 }\n", "allow helper"),
        ("d", "module a;\ntemplate T(U) { U f(U u) { return u; } }\nunittest { f(1); }\n", "T f"),
        ("solidity", "library L { function f() internal {} }\n", "L f"),
    ],
)  # fmt: skip
def test_definitions_besides_functions_and_classes(language: str, text: str, expected: str) -> None:
    _, kinds, names, _ = chunk_blob(text.encode(), language).names
    assert {name.decode() for kind, name in zip(kinds, names, strict=True) if kind < DEFINING} == set(expected.split())


def test_a_forward_declaration_is_no_result_and_a_test_in_zig_is_told_from_what_it_tests() -> None:
    units = [chunk.symbol for chunk in chunk_blob(b"class Later;\n\nint run(Later *later);\n", "cpp").chunks]
    assert units == ["run"]
    tests = b'fn free() void {}\n\ntest "free" {\n    free();\n}\n\ntest {\n    free();\n}\n'
    found = [unit.symbol for chunk in chunk_blob(tests, "zig").chunks for unit in (chunk.units or (chunk,))]
    assert found == ["free", "test.free", "test"]


def test_groovy_is_read_by_the_words_of_its_commands() -> None:
    text = b"""@CompileStatic
class Foo extends Bar {
    private String name
    Foo(String name) { this.name = name }
    @Override
    String run(int x) { go(x) }
    def other() {
        list.each { it.run() }
        return helper { 1 }
    }
}
task build(type: Copy) { from 'x' }
process align {
    input:
    path reads
}
"""
    blob = chunk_blob(text, "groovy")
    units = {(unit.chunk_type, unit.symbol) for chunk in blob.chunks for unit in (chunk.units or (chunk,))}
    assert {
        ("class", "Foo"), ("property", "Foo.name"), ("method", "Foo.run"), ("method", "Foo.other"),
        ("function", "build"), ("function", "align"),
    } <= units  # fmt: skip
    assert not any(symbol.endswith(("each", "helper")) for _, symbol in units)
    _, kinds, names, _ = blob.names
    assert {name.decode() for kind, name in zip(kinds, names, strict=True) if OCCURRENCE_KINDS[kind] == "call"} >= {
        "go", "run",
    }  # fmt: skip

"""Definitions that a parser loses near code that it does not know have their names."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.elements import find_elements
from tests.chunking.names_in_file import names_of

_POWERSHELL = """\
function Get-Price ($Item) {
    $Item `
        -replace "^a$", "b" `

}

# Adds up.
function Add-Price {
    Get-Price 1 | Where-Object { $_.Total(2) }
}

class Cart {
    [int] Total([int] $n) {
        if ($n) { return 1 }
        return $this.Sum($n)
    }
}
"""
_OBJC = """\
@implementation Cart

#ifdef SHOP_DEBUG
- (instancetype)initWithShop:(Shop *)shop
{
    return self;
}
#else
- (void)close { }
#endif

- (int)total { return 1; }
@end
"""
_SWIFT = """\
final class World {
    #if canImport(Darwin)
    @objc
    var examples: [Example] = []
    #elseif os(Linux)
    var others: [Example] = []
    #endif

    func run() {
        #if DEBUG
        log()
        #endif
    }
}
"""
_RUBY = """\
class Cart
  if Shop.open?
    def total(items)
      sum(items)
    end
  elsif Shop.closed?
    def close; end
  else
    def total
    end
  end
end
"""
_PROTO = """\
syntax = "proto3";

// Sells.
service Shop {
  // Opens it.
  rpc Open(OpenRequest) returns (Reply) {
    option (google.api.http) = { get: "/open" };
  }
  rpc Watch(Empty) returns (stream Event);
}

message Event {
  enum Kind { NONE = 0; }
}
"""
_MAKE = """\
.PHONY: all clean

PREFIX ?= /usr
export TARGETS = all

# Says what can be built.
help:
\t$(info )
\t$(info make [all]  -- Compile)
\t@printf "\\n"

all: compile
compile: $(wildcard *.c)
\tcc -DNAME=a:b $^

define template
\techo 1
endef
"""
_BITBAKE = """\
inherit cmake

do_compile() {
    oe_runmake CC='${CC}' "$(basename "${lib}")"
}

# Installs it.
fakeroot do_install:append() {
    install -d ${D}
}

python do_check () {
    bb.note("checked")
}
"""
_HAXE = """\
abstract Kind(Int) from Int to Int {
    public static inline var ONE = 1;
}

class Cart extends Base
{
    @:keep public function new(kind:Kind) {
        var all = switch (kind) { case 1: 2; default: 3; };
    }

    public static inline function total(?items:Array<Int>):Int {
        return cast(cast(1, Int) << 1, Int);
    }
}
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "make",
            _MAKE,
            "3-3 constant PREFIX, 4-4 constant TARGETS, 6-10 function help, 12-12 function all, 13-14 function compile,"
            " 16-18 macro template",
        ),
        (
            "bitbake",
            _BITBAKE,
            "3-5 function do_compile, 7-10 function do_install:append, 12-14 function do_check",
        ),
        (
            "haxe",
            _HAXE,
            "1-3 class Kind, 5-14 class Cart, 7-9 method Cart.new, 11-14 method Cart.total",
        ),
        (
            "powershell",
            _POWERSHELL,
            "1-5 function Get-Price, 7-10 function Add-Price, 12-17 class Cart, 13-17 method Cart.Total",
        ),
        (
            "objc",
            _OBJC,
            "1-13 class Cart, 4-8 method Cart.initWithShop, 9-10 method Cart.close, 12-12 method Cart.total",
        ),
        (
            "swift",
            _SWIFT,
            "1-14 class World, 3-4 property World.examples, 6-6 property World.others, 9-13 method World.run",
        ),
        ("ruby", _RUBY, "1-12 class Cart, 3-6 method Cart.total, 7-8 method Cart.close, 9-10 method Cart.total"),
        (
            "proto",
            _PROTO,
            "3-10 class Shop, 5-8 method Shop.Open, 9-9 method Shop.Watch, 12-14 struct Event, 13-13 enum Event.Kind",
        ),
    ],
)
def test_definitions_behind_unknown_code_are_units(language: str, text: str, expected: str) -> None:
    chunks = chunk_blob(text.encode(), language).chunks
    units = [unit for chunk in chunks for unit in (chunk.units or (chunk,)) if unit.symbol]
    found = {f"{unit.start_line}-{unit.end_line} {unit.chunk_type} {unit.symbol}" for unit in units}
    assert found == set(expected.split(", "))
    assert {unit.symbol for unit in units} == {each.symbol for each in find_elements(text.encode(), language).elements}


def test_commands_and_methods_are_called_in_files_with_errors() -> None:
    assert names_of(_POWERSHELL, "powershell", "call") == ["Get-Price", "Where-Object", "$_.Total", "$this.Sum"]
    assert names_of(_POWERSHELL, "powershell", "function") == ["Get-Price", "Add-Price", "Total"]


def test_a_file_without_errors_is_read_by_the_parser() -> None:
    text = "function Get-Price {\nfunction Get-Tax { }\n}\nGet-Price -Item 1\n"
    assert names_of(text, "powershell", "call") == ["Get-Price"]

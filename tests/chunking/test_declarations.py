"""Languages that declare in one place what another one defines: Pascal, Ada, OCaml, VHDL; and Verilog."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.types import OCCURRENCE_KINDS

PASCAL = """unit Cart;
interface
uses Store;
const
  MaxItems = 10;
type
  TColor = (Red, Green);
  TBox = class;
  TPoint = record X, Y: Integer; end;
  IPriced = interface
    function Price: Double;
  end;
  TCart = class(TBase, IPriced)
  private
    FItems: TList;
  public
    constructor Create;
    procedure Add(AItem: TItem); virtual;
    property Count: Integer read GetCount;
  end;
function Total(c: TCart): Double;
implementation
constructor TCart.Create;
begin
  inherited Create;
end;
procedure TCart.Add(AItem: TItem);
var i: Integer;
begin
  Store.Save(AItem);
  Refresh;
end;
function Total(c: TCart): Double;
begin
  Result := c.Price;
end;
end.
"""
ADA = """package Stacks is
   Max : constant Integer := 10;
   type Stack is private;
   type Color is (Red, Green);
   procedure Push (S : in out Stack; X : Integer);
   Overflow : exception;
end Stacks;
"""
ADA_BODY = """with Store;
package body Stacks is
   procedure Push (S : in out Stack; X : Integer) is
   begin
      Store.Save (X);
      Helper;
   end Push;
   function Top (S : Stack) return Integer is (S.Items.Last);
   task body Worker is
   begin
      accept Start;
   end Worker;
end Stacks;
"""
VERILOG = """module cart #(parameter W = 8) (input logic clk);
  counter #(.W(W)) u_counter (.clk(clk));
  function automatic Item twice(int a);
    return helper(a);
  endfunction
endmodule
class Cart extends Base;
  Item first;
  task run();
    show(1);
  endtask
endclass
interface bus;
  logic a;
endinterface
"""
ALU = """// An ALU.
module alu #(
  parameter pkg::op_e Op = pkg::Add
) (
  input logic [31:0] a_i[2],
  output logic [31:0] b_o
);
  import pkg::*;
  // Adds.
  adder #(.W(8)) u_adder (.a(a_i));
  prim_buf buf_i (
    .clk (clk_i)
  );
  always_comb begin
    if (a_i) b_o = twice(a_i);
  end
endmodule

module last;
  typedef struct packed {
    logic x;
  } pair_t;
  assign c = d;
  function void run();
  endfunction
endmodule
"""
VHDL = """entity counter is
  port (clk : in std_logic);
end entity;
architecture rtl of counter is
  component adder is port (a : in integer); end component;
  function twice(a : integer) return integer is begin return a + a; end function;
begin
  u1 : entity work.adder port map (a => n);
  u2 : divider port map (a => n);
  tick : process (clk) begin q <= twice(n); go(1); end process;
end architecture;
package util is
  constant W : integer := 8;
  procedure go(x : in integer);
end package;
"""
OCAML = """module type KEEPER = sig
  val find : int -> int
end
module Make (K : KEEPER) = struct
  open Lwt.Infix
  let find x = K.get x
  module Inner = struct
    let depth = 1
  end
end
class counter = object
  method get = 1
end
let ( >>= ) a b = bind a b
let rec even n = odd n
and odd n = even n
let version = "1"
let () = print_endline version
let%test "adds" = even 2
"""
FORTRAN = "module a\n  type, extends(base) :: b\n    type(item) :: x\n  end type\nend module\n"
JOINED = """\
(* What grows. *)
type tree = Node of leaf | Empty

(* The end. *)
and leaf = { size : int }

let rec grow x = prune (x + 1)

(* Stops it. *)
and prune = fun x -> if x > high then x else grow x

and high = 9
"""
JOINED_TYPES = """\
module Shapes

type Tree =
    | Node of Leaf
    | Empty
and Leaf =
    { Size : int }
and Cut(size: int) =
    member this.Go() = size
"""
MACROS = """\
Base.@kwdef mutable struct Cart{T} <: Any
    lines::Vector{T} = []
end

@inline function total(cart::Cart)
    sum(cart.lines)
end

@inline @fastmath half(x) = x / 2

@enum Fruit::UInt8 apple pear

@testset "adds prices" begin
    @test total(Cart()) == 0
    @testset "of nothing" begin
        @test half(2) == 1
    end
end
"""
INTERFACE = """type t
(** A cart. *)

val add : t -> int -> t
(** Adds. *)

exception Empty
module Price : sig
  val zero : t
end
"""


CALLS = """import pins::all_pins;
class Driver;
  function run(string name);
    sequence.start_all();
    pins[0].drive_pin(0);
  endfunction
endclass
"""

APEX = """public class Cart extends Shop.Base {
    public List<Item> load(Integer size) {
        Query.run(size).sortBy('name');
        return new Shop.Items(size).rows;
    }
}
"""

ABAP = """CLASS cart DEFINITION INHERITING FROM basket.
  INTERFACES priced.
ENDCLASS.
CLASS cart IMPLEMENTATION.
  METHOD priced~total.
    DATA rows TYPE REF TO row_list.
    rows = factory=>make( priced~rate( ) ).
    PERFORM old_total.
    performance = 1.
  ENDMETHOD.
ENDCLASS.
"""

DRIVER = """static const driver_t driver = { .write = write_page, .size = sizeof(page_t) };
handler_t vectors[] = { on_reset, [2] = on_tick };
command_t commands[] = { { "run", run_all }, { .run = stop_all } };
int put(int port) { config_t own = { .port = port }; return sizeof(port) + sizeof(config_t); }
"""

GUARDED = """#ifndef RING_H
#define RING_H
// kLimit = 1 is the old one
static const int kLimit = 3;
extern int ring_count;
typedef int compare_rings(const void *a);
typedef void (APIENTRY clear_ring)(int x);
#if WIDE
int ring_width[4];
int widen(int by) {
#ifdef FAST
  int inner = by;
#endif
  return inner;
}
#endif
#endif
"""
SHOP = """namespace shop {
constexpr int kMost{3};
static std::map<int, int> prices_;
extern "C" { int g_sold = 0; }
void Cart::open() {
  connect(list, &List::changed, this, &Cart::on_change);
  auto f = &tools::half<int>;
}
}
"""

METHODS = "class A {\n  void run() {\n    xs.map(Cart::total).map(this::half).map(Cart::new);\n  }\n}\n"
SELECTORS = "@implementation A\n- (void)run {\n  [b add:self to:@selector(open_help:)];\n}\n@end\n"
OVERLOADS = (
    "library Slot {\n  function take(bool a) public { use(a); }\n\n  function take(uint b) public { use(b); }\n}\n"
)

BATCH = """EXEC dbo.sp_total @Size = 1;
GO
EXECUTE [sales].[sp_clean];
delete from sales.cart_rows;
"""


def units_of(text: str, language: str) -> list[str]:
    """Return the types and symbols of the results of a file, in the order of the text."""
    chunks = chunk_blob(text.encode(), language).chunks
    units = sorted((unit for chunk in chunks for unit in (chunk.units or (chunk,))), key=lambda unit: unit.start)
    return [f"{unit.chunk_type} {unit.symbol}" for unit in units if unit.symbol]


def names_of(text: str, language: str, *kinds: str) -> str:
    """Return the names of some kinds in a file, in the order of the text."""
    _, codes, names, _ = chunk_blob(text.encode(), language).names
    found = (name.decode() for code, name in zip(codes, names, strict=True) if OCCURRENCE_KINDS[code] in kinds)
    return " ".join(found)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("pascal", PASCAL, ["constant MaxItems", "enum TColor", "struct TPoint", "interface IPriced",
                            "method IPriced.Price", "class TCart", "method TCart.Create", "method TCart.Add",
                            "function Total"]),
        ("ada", ADA, ["constant Stacks.Max", "type Stacks.Stack", "type Stacks.Color", "function Stacks.Push",
                      "constant Stacks.Overflow"]),
        ("ada", ADA_BODY, ["function Stacks.Push", "function Stacks.Top", "class Stacks.Worker"]),
        ("verilog", VERILOG, ["module cart", "method cart.twice", "class Cart", "method Cart.run", "interface bus"]),
        ("verilog", ALU, ["module alu", "module last", "constant last.pair_t", "method last.run"]),
        ("vhdl", VHDL, ["class counter", "impl counter", "function counter.twice", "function counter.tick",
                        "module util", "constant util.W", "function util.go"]),
        ("ocaml", OCAML, ["interface KEEPER", "function KEEPER.find", "module Make", "function Make.find",
                          "module Make.Inner", "constant Make.Inner.depth", "class counter", "method counter.get",
                          "function >>=", "function even", "function odd", "constant version", "function adds"]),
        ("ocaml", JOINED, ["type tree", "type leaf", "function grow", "function prune", "constant high"]),
        ("fsharp", JOINED_TYPES, ["module Shapes", "enum Shapes.Tree", "struct Shapes.Leaf", "class Shapes.Cut",
                                  "method Shapes.Cut.Go"]),
        ("julia", MACROS, ["struct Cart", "function total", "function half", "enum Fruit", "namespace adds prices",
                           "namespace adds prices.of nothing"]),
        ("ocaml_interface", INTERFACE, ["type t", "function add", "type Empty", "module Price", "function Price.zero"]),
    ],
    ids=["pascal", "ada", "ada body", "verilog", "verilog with errors",
         "vhdl", "ocaml", "joined ocaml", "fsharp", "julia", "ocaml interface"],
)  # fmt: skip
def test_units_are_named_like_their_definitions(language: str, text: str, expected: list[str]) -> None:
    found = units_of(text, language)
    assert [unit for unit in found if unit not in ("module Stacks", "impl Stacks")] == expected


@pytest.mark.parametrize(
    ("language", "text", "kind", "expected"),
    [
        ("pascal", PASCAL, "class", "TColor TPoint IPriced TCart"),
        ("pascal", PASCAL, "function", "Price Create Add Total"),
        ("pascal", PASCAL, "value", "MaxItems Red Green X Y FItems Count"),
        ("pascal", PASCAL, "base", "TBase IPriced"),
        ("pascal", PASCAL, "call", "Create Save Refresh"),
        ("ada", ADA, "class", "Stacks Stack Color"),
        ("ada", ADA, "value", "Max Red Green Overflow"),
        ("ada", ADA_BODY, "class", "Worker"),
        ("ada", ADA_BODY, "call", "Save Helper"),
        ("verilog", VERILOG, "class", "cart Cart bus"),
        ("verilog", VERILOG, "base", "Base"),
        ("verilog", VERILOG, "call", "counter helper show"),
        ("verilog", ALU, "class", "alu last"),
        ("verilog", ALU, "type", "pkg op_e pkg pkg"),
        ("verilog", ALU, "call", "adder prim_buf twice"),
        ("verilog", CALLS, "call", "start_all drive_pin"),
        ("verilog", CALLS, "read", "all_pins"),
        ("apex", APEX, "call", "run sortBy Items"),
        ("apex", APEX, "base", "Base"),
        ("apex", APEX, "read", "rows"),
        ("abap", ABAP, "function", "total"),
        ("abap", ABAP, "base", "basket priced"),
        ("abap", ABAP, "type", "row_list factory priced"),
        ("abap", ABAP, "call", "make rate old_total"),
        ("c", DRIVER, "name", "write_page on_reset on_tick run_all stop_all"),
        ("c", DRIVER, "type", "driver_t page_t handler_t command_t config_t config_t"),
        ("java", METHODS, "name", "Cart total half Cart"),
        ("objc", SELECTORS, "name", "open_help"),
        ("solidity", OVERLOADS, "function", "take take"),
        ("solidity", OVERLOADS, "call", "use use"),
        ("c", GUARDED, "value", "RING_H kLimit ring_width"),
        ("c", GUARDED, "class", "compare_rings clear_ring"),
        ("cpp", SHOP, "value", "kMost prices_ g_sold"),
        ("cpp", SHOP, "name", "changed on_change half"),
        ("sql", BATCH, "call", "sp_total sp_clean"),
        ("sql", BATCH, "type", "cart_rows"),
        ("sql", "drop table cart_rows;\n", "type", "cart_rows"),
        ("d", "void f() { if (a.kind == Kind.small) { } }\n", "read", "kind small"),
        ("vhdl", VHDL, "class", "counter util"),
        ("vhdl", VHDL, "call", "adder divider twice go"),
        ("ocaml", OCAML, "function", "find find depth get even odd version"),
        ("ocaml_interface", INTERFACE, "function", "add zero"),
        ("ocaml", JOINED, "class", "tree leaf"),
        ("ocaml", JOINED, "function", "grow prune high"),
        ("fsharp", JOINED_TYPES, "class", "Shapes Tree Leaf Cut"),
        ("julia", MACROS, "class", "Cart Fruit"),
        ("julia", MACROS, "function", "total half"),
        ("fortran", FORTRAN, "base", "base"),
        ("fortran", FORTRAN, "type", "item"),
        ("fsharp", "let add (item: Item) = Item.render (total item)\n", "name", "Item Item"),
    ],
)  # fmt: skip
def test_names_in_a_file(language: str, text: str, kind: str, expected: str) -> None:
    assert names_of(text, language, kind) == expected


def test_what_typescript_declares_for_all_files_is_in_no_namespace() -> None:
    text = """declare global {
  interface Flow<T> {
    pour(value: T): void;
  }
  var flows: number;
}
export {};
"""
    units = [unit.symbol for chunk in chunk_blob(text.encode(), "typescript").chunks for unit in chunk.units]
    assert {"Flow", "Flow.pour", "flows"} <= set(units)

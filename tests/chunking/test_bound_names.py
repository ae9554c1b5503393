"""Bare names that a file neither binds nor imports: they come from other files of the package, header or class."""

import pytest

from tests.chunking.names_in_file import names_of

_GO = """package shop

func run(cart *Cart, names ...string) (total int) {
\tdelay, rest := initialDelay, names
\tfor number, item := range allItems {
\t\ttotal += number*item + priceLimit + len(rest)
\t}
\tswitch kind := thing.(type) {
\tcase string:
\t\tuse(kind, delay)
\t}
\tvar size int
\treturn size
}
"""
_C = """extern struct shop main_shop;
static int own;
int prices[LIMIT];
struct cart { int lines; };
int run(int kind, char *name, int rows[]) {
  int lines = 2, *rest = &rows[1];
  if (sizeof(struct cart) > min_size && main_shop.open)
    return total_price + errno + lines + own + *rest;
  return FOREACH(void, default_kind);
}
"""
_CPP = """Shop::Shop(int size) : mem_(size) {
  for (auto& item : items_) { auto [first, second] = item; use(first, second, kLimit, mem_); }
}
class Cart { Item& item_; int own() { return item_.price; } };
"""
_JAVA = """package shop.base;
class Cart extends Base {
    int run(int size, String... rest) {
        for (Item item : allItems) { use(x -> x.price, (a, b) -> ratio, item); }
        try (Reader reader = open()) { if (thing instanceof Item other) use(other, reader); }
        catch (IOException problem) { log(problem, shop.base.Util.NONE); }
        return size + inheritedLimit + ratio;
    }
}
"""
_KOTLIN = """package shop
fun run(size: Int, names: List<String>) {
    for (item in names) { use(item, width = size) }
    names.map { name -> name + basePrice }
    try { open() } catch (problem: Exception) { log(problem) }
    val (first, second) = pairOf until it
}
"""
_SWIFT = """func run(on shop: Shop, size: Int) {
    if let cart = currentCart { use(cart, label: size) }
    guard let total = cart.total else { return }
    names.map { name, other in name + sharedPrefix }
    send(.completed)
}
"""
_CSHARP = """partial class Cart {
    int Run(int size) {
        foreach (var item in _items) { use(item, x => x.Price, (a, b) => a); }
        if (thing is Item other && map.TryGetValue(size, out var found)) use(other, found, limit: size);
        try { } catch (Exception problem) { log(problem); }
        return size;
    }
}
"""
_DART = """class Page extends Base {
  Page(this.size, {super.key});
  final int size;
  @override
  void build(Context context, WidgetRef ref) {
    final cart = ref.watch(cartProvider);
    final (first, second) = pairs;
    for (final item in cart.items) { use(item, child: first, onTap: sharedHandler); }
    names.map((name) => name + second + size);
    try {} catch (problem, trace) { log(problem, trace); }
  }
}
"""
_SCALA = """package shop.base
class Cart(rows: Int) extends Base {
  val own = rows
  def run(size: Int)(implicit log: Log): Int = {
    val (first, second) = pairOf
    for (item <- allItems; price = item.price) use(item, price, width = size)
    names.map(name => name + sharedPrefix + own)
    thing match { case Item(label) => label; case other: Shop => other }
  }
}
"""
_OBJC = """@implementation Cart
- (int)total:(int)size with:(id)other {
  for (id item in _items) { [item add:size]; }
  void (^block)(int) = ^(int count) { [other use:count + kSharedLimit]; };
  return size;
}
@end
"""
_LUA = """local shop, cart = require("shop"), other_cart
local function run(size)
  for number = 1, shared_limit do use(number, size) end
  for key, item in pairs(cart) do use(key, item, shop) end
end
"""
_FORTRAN = """module cart
  use constants
  integer, parameter :: rows = 3, twice = default_rows
  real :: grid(rows)
contains
  function total(first, size) result(amount)
    real :: first, amount
    integer :: size, number
    do number = 1, max_steps
      amount = first + tolerance * grid(number)
    end do
    call add(size, shared_flag, key=number)
  end function
end module
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("go", _GO, "initialDelay allItems priceLimit thing"),
        ("c", _C, "main_shop LIMIT min_size main_shop total_price errno own default_kind"),
        ("cpp", _CPP, "items_ kLimit mem_ item_"),
        ("java", _JAVA, "allItems ratio thing inheritedLimit ratio"),
        ("kotlin", _KOTLIN, "basePrice pairOf"),
        ("swift", _SWIFT, "currentCart names sharedPrefix completed"),
        ("csharp", _CSHARP, "_items thing Item map Exception"),
        ("dart", _DART, "size cartProvider pairs sharedHandler names size"),
        ("scala", _SCALA, "rows pairOf allItems names sharedPrefix own thing"),
        ("objc", _OBJC, "_items kSharedLimit"),
        ("lua", _LUA, "other_cart shared_limit"),
        ("fortran", _FORTRAN, "default_rows max_steps tolerance shared_flag"),
        ("typescript", "function f(size: number) { return size + width }\n", ""),
    ],
)
def test_names_that_no_statement_binds_are_mentions(language: str, text: str, expected: str) -> None:
    assert [name.rpartition(".")[2] for name in names_of(text, language, "name")] == expected.split()


def test_a_field_of_a_structure_is_no_bare_name_in_c() -> None:
    text = "struct cart { int lines; };\nint f(int lines) { return lines; }\n"
    assert names_of(text, "c", "name") == []
    assert names_of(text, "cpp", "name") == ["lines", "lines"]


def test_infix_functions_of_kotlin_are_called() -> None:
    assert names_of("val a = b until c shl 2\n", "kotlin", "call") == ["until", "shl"]


def test_external_variables_of_c_are_declared_and_not_defined() -> None:
    text = 'extern int first, second[2];\nextern "C" int third;\nint fourth;\n'
    assert names_of(text, "c", "name") == ["first", "second", "third"]
    assert names_of(text, "c", "value") == ["fourth"]
    guarded = "#ifndef A\nextern int first;\n#endif\nint f(void) { return first; }\n"
    assert names_of(guarded, "c", "name") == ["A", "first", "first"]


def test_constants_in_the_bodies_of_macros_are_mentioned() -> None:
    text = '#define ALL_MODES (MODE_A|MODE_B)\n#define TEXT "NO_NAME"\n'
    assert names_of(text, "c", "name") == ["MODE_A", "MODE_B"]

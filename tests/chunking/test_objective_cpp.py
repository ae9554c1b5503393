"""Forms of C++ in Objective-C++ hide no definition behind them."""

import pytest

from gitmem.chunking.objective_cpp import with_plain_cpp
from gitmem.chunking.parse import parse_tree
from tests.chunking.names_in_file import names_of

FILE = """#import "shop.h"

namespace shop::mac {

// A brace in a comment: }
NSString* const kName = @"}";

Cart::Cart(const Options& options, Shop* parent)
    : Base(parent, (1 + size())),
      limit_{3},
      name_(kName) {
  int width = options.width;
}

Cart::~Cart() {}

int Cart::Total() const {
  config conf {props};
  for (const std::string& item : items_) {
    Add(item);
  }
  for (auto& [key, value] : prices_)
    Add(key);
  return limit_;
}

}  // namespace shop::mac

@implementation Basket
- (void)close:(id)sender { [self pay:sender]; }
@end

bool IsOpen() { return true; }
"""


def test_definitions_behind_forms_of_cpp_are_known() -> None:
    assert names_of(FILE, "objc", "function") == ["Cart.Cart", "Cart", "Cart.Total", "close", "IsOpen"]
    assert {"Add", "pay"} <= set(names_of(FILE, "objc", "call"))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("for (const auto& item : list) {}", "for (const auto  item;; list) {}"),
        ("for (std::string item : list) {}", "for (std::string item;; list) {}"),
        ("for (int i = 0; i < (a ? b : c); i++) {}", "for (int i = 0; i < (a ? b : c); i++) {}"),
        ("for (id item in list) {}", "for (id item in list) {}"),
        ("  config conf {props};", "  config conf (props);"),
        ("std::vector<int> all{1, 2};", "std::vector<int> all(1, 2);"),
        ("enum Color {RED, BLUE};", "enum Color {RED, BLUE};"),
        ("struct Point at {1, 2};", "struct Point at {1, 2};"),
        ("A::~A() {}\nA::A(int a) : b(a), c{1} {}", "A   A() {}\nA  A(int a)              {}"),
        ("int A::size() const override;", "int A::size()               ;"),
        ("a::b(c ? (d) : e(f));", "a::b(c ? (d) : e(f));"),
        ("- (void)a:(int)b c:(int)d { x::y(); }", "- (void)a:(int)b c:(int)d { x::y(); }"),
        ("namespace a {\nint b() { return '}'; }\n}", "             \nint b() { return '}'; }\n "),
        ("namespace {\nclass A {};\n}  // }", "           \nclass A {};\n   // }"),
        ("using namespace a;\nint b() {}", "using namespace a;\nint b() {}"),
    ],
)
def test_forms_are_written_as_ones_of_c(text: str, plain: str) -> None:
    assert with_plain_cpp(text.encode(), "objc").decode() == plain
    assert with_plain_cpp(text.encode(), "cpp") == text.encode()


def test_a_file_of_objective_c_is_left_as_it_is() -> None:
    text = b"""@interface A : B <C>
@property (copy) id (^run)(int);
@end
static int a[] = {1, 2};
int b(void) { x = y ? 1 : 2; }
"""
    assert with_plain_cpp(text, "objc") == text
    assert not parse_tree(text, "objc", 10).root_node.has_error

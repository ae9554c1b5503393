"""Tests that a call describes are results with the description as their name."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from tests.chunking.names_in_file import names_of

_JAVASCRIPT = """import { sign } from './sign'

describe('cookies', () => {
  beforeEach(() => reset())

  it('signs a cookie, then reads it', async () => {
    expect(sign('a')).toBe('b')
  })

  describe(`when ${kind} expired`, function () {
    test.each([1, 2])("rejects %s", (n) => {
      expect(read(n)).toBeNull()
    })
  })
})

test.skip('top level', ({ page }) => page.goto('/'))
QUnit.module('legacy', function (hooks) { QUnit.test('works', assert => { assert.ok(1) }) })
app.get('/x', (req, res) => { res.send(1) })
pattern.test('x')
context.on('response', (answer) => { log(answer) })
suite.add('sort', function () { list.sort() })
it(name, () => {})
"""
_RUBY = """RSpec.describe Shop::Cart do
  let(:cart) { described_class.new }

  context "when empty" do
    it "has no total" do
      expect(cart.total).to eq 0
    end

    it { is_expected.to be_empty }
  end
end

class PageTest < ActiveSupport::TestCase
  test "should get index" do
    get :index
  end
end

items.each do |item| puts item end
"""
_R = """test_that("mutate keeps groups", {
  expect_equal(mutate(df), df)
})

describe("join", {
  it("keeps rows", {
    expect_true(TRUE)
  })
})

with_locale("C", { sort(x) })
"""

_LUA = """describe("a cart", function()
  it("adds prices", function()
    assert.equals(total(), 1)
  end)

  describe([[of nothing]], function() it('is empty', function() end) end)
end)

register("x", function() end)
it(name, function() end)
"""
_DART = """import 'package:test/test.dart';

class Fake {}

void main() {
  late Cart cart;

  setUp(() {
    cart = Cart();
  });

  group('a cart', () {
    test('adds prices', () {
      expect(1, 1);
    });

    blocTest<A, B>('emits x', build: () => A(), expect: () => [1]);

    testWidgets("it's rendered", (tester) async {
      await tester.pump();
    });
  });

  test('alone', () => run());
}

void helper() {
  print('x');
}
"""
_SCALA = """class CartSuite extends FunSuite {
  test("adds prices") {
    assert(1 == 1)
  }

  describe("a cart") {
    it("is empty") { run() }
    it should "be \"full\"" in { run() }
  }

  "A basket" should {
    "add" in { run() }
    "remove, too" in {
      run()
    }
  }

  property("holds") { forAll { x => x } }
  def plain(): Int = { x + { 1 } }
  run("a") { 1 }
  val y = map in { 2 }
}
"""
_PHP = """<?php
it('adds prices', function () {
    expect(1)->toBe(1);
})->with([1]);
test('alone', fn () => run());
describe('a cart', function () {
    it('is empty', function () {
        run();
    });
});
add_filter('title', function ($x) { return $x; });
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("javascript", _JAVASCRIPT,
         ["cookies.signs a cookie then reads it", "cookies.when expired.rejects %s", "top level", "legacy.works"]),
        ("typescript", _JAVASCRIPT,
         ["cookies.signs a cookie then reads it", "cookies.when expired.rejects %s", "top level", "legacy.works"]),
        ("ruby", _RUBY, ["Shop.Cart.when empty.has no total", "PageTest.should get index"]),
        ("r", _R, ["mutate keeps groups", "join.keeps rows"]),
        ("lua", _LUA, ["a cart.adds prices", "a cart.of nothing.is empty"]),
        ("dart", _DART,
         ["main.a cart.adds prices", "main.a cart.emits x", "main.a cart.it's rendered", "main.alone", "helper"]),
        ("dart", "void main() {\n  run();\n}\n", ["main"]),
        ("scala", _SCALA,
         ["CartSuite.adds prices", "CartSuite.a cart.is empty", "CartSuite.a cart.it should be full",
          "CartSuite.A basket.add", "CartSuite.A basket.remove too", "CartSuite.holds", "CartSuite.plain"]),
        ("php", _PHP, ["adds prices", "alone", "a cart.is empty"]),
    ],
)  # fmt: skip
def test_a_described_test_is_a_result_with_its_description(language: str, text: str, expected: list[str]) -> None:
    chunks = chunk_blob(text.encode(), language).chunks
    units = [unit for chunk in chunks for unit in (chunk.units or (chunk,))]
    assert [unit.symbol for unit in units if unit.chunk_type in ("function", "method")] == expected


def test_words_for_tests_of_one_language_say_nothing_in_another() -> None:
    [chunk] = chunk_blob(b'group :development do\n  gem "rack"\nend\n', "ruby").chunks
    assert chunk.symbol == ""
    [chunk] = chunk_blob(b"property('name', function () { return 1 })\n", "javascript").chunks
    assert chunk.symbol == ""


def test_a_long_description_is_cut() -> None:
    data = f"it('{'signs ' * 40}', () => {{ sign() }})\n".encode()
    [chunk] = chunk_blob(data, "javascript").chunks
    assert chunk.symbol == ("signs " * 10).strip()


def test_a_test_with_a_description_is_a_function_of_that_name() -> None:
    text = """\
TEST_CASE("adds prices, and more", "[cart]") {
  SECTION("empty") { CHECK(total() == 0); }
}
TEST_CASE_METHOD(Fixture, "a \\"fixture\\"")
{
  run();
}
int plain() { if (USED("a")) { return 1; } return 2; }
"""
    blob = chunk_blob(text.encode(), "cpp")
    found = [(each.symbol, each.start_line, each.end_line) for each in blob.chunks]
    assert found == [("adds prices and more", 1, 3), ("a fixture", 4, 7), ("plain", 8, 8)]
    assert names_of(text, "cpp", "function") == ["plain"]
    assert names_of(text.replace("adds", "Adds"), "cpp", "name", "type") == ["Fixture"]


def test_a_test_of_bats_is_a_function_of_that_name() -> None:
    text = """setup() {
  load helper
}

@test "adds prices, 'too'" {
  run total 1 2
}
  @test 'is "empty"'  {
  run total
}
@test "has no body"
@test "${kind}" {
  run other
}
"""
    found = [(each.symbol, each.start_line, each.end_line) for each in chunk_blob(text.encode(), "bash").chunks]
    assert found[:3] == [("setup", 1, 3), ("adds prices 'too'", 5, 7), ("is empty", 8, 10)]
    assert names_of(text, "bash", "function") == ["setup"]
    assert names_of(text, "bash", "call") == ["load", "run", "run", "test", "run"]

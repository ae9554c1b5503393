"""A file contains tests if it has what tests of its language begin with."""

import pytest

from gitmem.chunking.test_code import may_contain_tests

_TESTS = [
    ("typescript", 'import { it } from "vitest";\n\nit("adds prices", () => {});\n'),
    ("javascript", "\ntest.each([1, 2])(\n  'adds %s', () => {});\n"),
    ("javascript", "test('adds prices', () => {});\n"),
    ("csharp", "class Shop\n{\n    [SkippableFact(Skip = 1)]\n    public void Adds() {}\n}\n"),
    ("lua", "\n  describe('shop', function()\n"),
    ("java", "class A {\n  @ParameterizedTest\n  void adds() {}\n}\n"),
    ("kotlin", '\nclass ShopTest : FunSpec({\n    test("adds") {}\n})\n'),
    ("scala", "\nclass ShopSpec extends AnyFlatSpec {\n"),
    ("groovy", "class A extends Object {\n    def 'adds prices'() {}\n}\n"),
    ("cpp", "#include <gtest.h>\nTEST_F(Shop, Adds) {}\n"),
    ("c", "int main(void)\n{\n    assert(add(1, 2) == 3);\n}\n"),
    ("python", "import shop\n\nasync def test_adds(client):\n    pass\n"),
    ("python", "\nclass Shop(unittest.TestCase):\n    pass\n"),
    ("csharp", "class Shop\n{\n    [Fact]\n    public void Adds() {}\n}\n"),
    ("go", "package shop\n\nfunc TestAdds(t *testing.T) {}\n"),
    ("go", 'package shop\n\nvar _ = Describe("shop", func() {})\n'),
    ("rust", "\n    #[tokio::test]\n    async fn adds() {}\n"),
    ("ruby", "\nclass ShopTest < Minitest::Test\nend\n"),
    ("ruby", "\nRSpec.describe Shop do\n  it 'adds' do\n"),
    ("php", "<?php\nclass Shop extends TestCase\n{\n"),
    ("swift", "\nfinal class ShopTests: XCTestCase {\n    func testAdds() {}\n"),
    ("dart", "void main() {\n  testWidgets('adds', (tester) async {});\n}\n"),
    ("elixir", '\n  use MyApp.ConnCase\n  test "adds" do\n'),
    ("powershell", "\nDescribe 'Shop' {\n  It 'adds' {}\n}\n"),
    ("perl", "use Test::More;\nis(add(1, 2), 3);\n"),
    ("haskell", '\nspec = describe "shop" $ do\n  it "adds" $ add 1 2 `shouldBe` 3\n'),
    ("bash", '\n@test "adds" {\n}\n'),
    ("apex", "\n@IsTest\nprivate class ShopTests {}\n"),
    ("gdscript", "extends GutTest\nfunc test_adds():\n"),
    ("zig", '\ntest "adds" {\n}\n'),
    ("cobol", "\nanything\n"),
]
_TOOLS = [
    ("typescript", "\nexport class TestScheduler {\n  test(path: string) {}\n  private describe: string;\n}\n"),
    ("java", "\npublic class TestRunner {\n  // @Test methods\n  void run(Test test) {}\n}\n"),
    ("kotlin", "\npublic fun runTest(body: suspend TestScope.() -> Unit) {}\n"),
    ("scala", "\ntrait FakeRequest { def test: Int }\n"),
    ("cpp", "\nclass TestCase {\n  void run();\n};\n"),
    ("python", "\nclass TestResponse(Response):\n    def open(self):\n        assert self.request\n"),
    ("csharp", "\n/// <summary>A [Fact].</summary>\npublic class TestCaseRunner { }\n"),
    ("go", "package shop\n\nfunc NewTestServer() {}\n"),
    ("ruby", "\nclass Test\n  def self.test_order\n  end\nend\n"),
    ("php", "<?php\nfinal class TestRepository\n{\n"),
    ("dart", "\nvoid blocTestWith(String description) {}\n"),
    ("elixir", "\ndefmodule Plug.Test do\n  def conn(method), do: method\nend\n"),
]


@pytest.mark.parametrize(("language", "text"), _TESTS)
def test_files_with_tests(language: str, text: str) -> None:
    assert may_contain_tests(text.encode(), language)


@pytest.mark.parametrize(("language", "text"), _TOOLS)
def test_tools_for_tests_contain_none(language: str, text: str) -> None:
    assert not may_contain_tests(text.encode(), language)

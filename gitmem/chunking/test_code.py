"""Recognise files that contain tests by how the tests of their language begin. Pure.

A word in a path is not enough: `TestCaseRunner.cs` is the runner of a framework, `werkzeug/test.py` has tools
for the tests of others.
"""

import re
from collections.abc import Mapping
from typing import Final

from gitmem.lazy_pattern import line_pattern

_DESCRIBED: Final = (
    rb"(?:describe|context|it|test|suite|specify|scenario|bench|test_that|Deno\.test|QUnit\.test)"
    rb"(?:\.\w+)*(?:\([^()\n]*\))?[ \t]*[({]?[ \t]*(?:\n[ \t]*)?['\"`]"
)
"""A call with a description: `it("signs cookies", ...)`, `test.each(rows)("adds %s", ...)`, `describe "sign" do`."""

_SCRIPT: Final = line_pattern(_DESCRIBED)
_JVM: Final = line_pattern(
    rb"@(?:\w+Test|Test|Property|Benchmark|TestFactory|TestTemplate|Before\w*|After\w*)\b"
    rb"|(?:test|it|describe|property|scenario|feature|should|given|context|expect)[ \t]*\([ \t]*(?:\n[ \t]*)?\""
    rb"|\"[^\"\n]+\"[ \t]+(?:should|must|can|in|when|-|\{|\.test)|def[ \t]+(?:test\w*[ \t]*\(|[\"'])"
    rb"|(?:abstract[ \t]+)?(?:class|object)[ \t]+\w+[^\n{]*(?:\bextends|:)[ \t]*\w*(?:Test|Tests|Spec|Suite|TestCase)\b"
)
_C: Final = line_pattern(
    rb"(?:TEST|TYPED_TEST|BOOST_\w*TEST|SECTION|SCENARIO|START_TEST|QTEST|QCOMPARE|QVERIFY|BENCHMARK|BEGIN_DEFINE_SPEC"
    rb"|IMPLEMENT_\w*TEST|ASSERT|EXPECT|CHECK|REQUIRE|assert|g_assert)\w*[ \t]*\("
    rb"|(?:static[ \t]+)?(?:void|int|bool)[ \t]+(?:\w+::)?test_?\w*[ \t]*\("
)
_PATTERNS: Final[Mapping[str, re.Pattern[bytes]]] = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "coffeescript", "vue", "svelte", "lua", "luau"), _SCRIPT),
    **dict.fromkeys(("java", "kotlin", "scala", "groovy"), _JVM),
    **dict.fromkeys(("c", "cpp", "cuda", "arduino", "objc"), _C),
    "python": line_pattern(rb"(?:async[ \t]+)?def[ \t]+test|class[ \t]+\w+\([^)\n]*TestCase\b"),
    "csharp": line_pattern(
        rb"\[(?:\w+:[ \t]*)?(?:\w*Fact|\w*Theory|Test|TestMethod|TestCase|TestFixture|UnityTest|SetUp|DataTestMethod"
        rb"|Property|Benchmark)\b"
    ),
    "go": line_pattern(
        rb"func[ \t]+(?:\([^)\n]*\)[ \t]*)?(?:Test|Benchmark|Fuzz|Example)\w*\("
        rb"|(?:var[ \t]+_[ \t]*=[ \t]*)?(?:Describe|It|Specify)\("
    ),
    "rust": line_pattern(rb"#\[(?:\w+::)*(?:test|bench|rstest|quickcheck)\b|(?:debug_)?assert\w*!"),
    "ruby": line_pattern(
        rb"class[ \t]+\w+[ \t]*<[ \t]*[\w:]*(?:Test|TestCase)\b|def[ \t]+test_|should[ \t]+['\"]|RSpec\.|" + _DESCRIBED
    ),
    "php": line_pattern(
        rb"(?:public[ \t]+)?function[ \t]+test|#\[Test\b"
        rb"|(?:final[ \t]+|abstract[ \t]+)?class[ \t]+\w+[ \t]+extends[ \t]+\w*TestCase|" + _DESCRIBED
    ),
    "swift": line_pattern(
        rb"func[ \t]+test|@Test\b|@Suite\b|(?:final[ \t]+)?class[ \t]+\w+[ \t]*:[ \t]*\w*TestCase|" + _DESCRIBED
    ),
    "dart": line_pattern(rb"(?:blocTest|testWidgets)\b|(?:test|group)\([ \t]*(?:\n[ \t]*)?['\"]"),
    "elixir": line_pattern(rb"(?:test|describe|property|doctest)[ \t]+[\"A-Z]|use[ \t]+[\w.]*Case\b"),
    "powershell": line_pattern(rb"(?i:describe|context|it)[ \t]+['\"{-]"),
    "perl": line_pattern(rb"(?:ok|is|isnt|like|is_deeply|subtest|done_testing|plan)\b"),
    "haskell": line_pattern(rb"(?:describe|it|testCase|testGroup|testProperty|prop_\w+|test_\w+)\b|[^\n]*\bhspec\b"),
    "bash": line_pattern(rb"@test\b|test_expect_success\b|(?:function[ \t]+)?test\w*[ \t]*\("),
    "apex": line_pattern(rb"@(?i:isTest)\b|(?i:static[ \t]+testMethod)\b"),
    "gdscript": line_pattern(rb"func[ \t]+test_"),
    "zig": line_pattern(rb"test[ \t]+[\"{]"),
}  # fmt: skip


def may_contain_tests(data: bytes, language: str) -> bool:
    """Return whether a file contains tests, or is in a language whose tests are not known."""
    pattern = _PATTERNS.get(language)
    return pattern is None or pattern.search(b"\n" + data) is not None

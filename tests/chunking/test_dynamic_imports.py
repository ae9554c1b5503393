"""Imports that are expressions, types or comments of JavaScript and TypeScript, and default exports by their names."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from tests.chunking.names_in_file import names_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const Page = lazy(() => import('./page'));", ["./page.default"]),
        ("const Page = lazy(() => import(/* webpackChunkName: 'page' */ './page'));", ["./page.default"]),
        ("const { a, b: c, d = 1 } = await import('./m');", ["./m.a", "./m.b", "./m:b.c", "./m.d"]),
        ("({ a } = await import('./m'));", ["./m.a"]),
        ("const m = await import('./mod');", ["./mod:.mod", "./mod:.m"]),
        ("const m = (await import('./mod')).load;", ["./mod.load", "./mod:load.m"]),
        ("import('./mod').then((m) => m.Page);", ["./mod:.mod", "./mod:.m", "./mod.Page"]),
        ("import('./mod').then(m => ({ default: m.Page }));", ["./mod:.mod", "./mod:.m", "./mod.Page"]),
        ("import('./mod').then(function (m) { return m.Page; });", ["./mod:.mod", "./mod:.m", "./mod.Page"]),
        ("import('./m').then(({ Page }) => Page);", ["./m.Page"]),
        (
            "const page = await import('./mod').then((m) => m.Page);",
            ["./mod:.mod", "./mod:.m", "./mod.Page", "./mod:Page.page"],
        ),
        ("type Load = typeof import('./m').load;", ["./m.load"]),
        ("let options: import('./m').Options;", ["./m.Options"]),
        ("import('./side');", ["./side:.side"]),
        ("loader.import('./m');", []),
        ("/** @type {import('./m').Options} */", ["./m.Options"]),
        ("/**\n * @import { A,\n *   B as C } from './m'\n */", ["./m.A", "./m.B", "./m:B.C"]),
        (
            "const [{ a }, b] = await Promise.all([\n  import('./m'),\n  import('./n'),\n]);",
            ["./m.a", "./n:.n", "./n:.b"],
        ),
    ],
)
def test_what_an_expression_imports_shows_before_or_behind_it(text: str, expected: list[str]) -> None:
    assert names_of(text, "typescript", "import", "alias") == expected


@pytest.mark.parametrize(
    "text",
    [
        "export default function Cart() {}",
        "export default async function Cart() {}",
        "export default abstract class Cart {}",
        "export default Cart;",
        "export default Cart satisfies Page",
        "export default memo(Cart);",
        "export default React.memo(observer(Cart))",
        "export default connect(toProps, actions)(Cart);",
        "export { total, Cart as default };",
    ],
)
def test_the_default_export_is_recorded_by_its_name(text: str) -> None:
    assert names_of(f"const x = 1;\n{text}\n", "typescript", "alias") == [":Cart.default"]


@pytest.mark.parametrize("text", ["export default () => 1;", "export default { a: 1 };", "export default f(a, b);"])
def test_a_default_export_without_a_name_is_none(text: str) -> None:
    assert names_of(text, "typescript", "alias") == []


def test_comments_of_javascript_name_types() -> None:
    text = """/**
 * @param {Scope | null} parent
 * @returns {Promise<Map<string, ast.Node>>}
 * @param name of a Person
 */
function open(parent) {}
const a = /** @type {'Text' | Item[]} */ (b);
"""
    assert names_of(text, "javascript", "type") == ["Scope", "Promise", "Map", "ast.Node", "Item"]


def test_each_name_of_a_long_statement_has_its_own_line() -> None:
    text = "export {\n  noop as one,\n  other,\n  noop as two,\n} from './m';\n"
    names = chunk_blob(text.encode(), "typescript").names
    assert [(line, name) for line, name in zip(names.lines, names.names, strict=True) if name == b"noop"] == [
        (2, b"noop"),
        (4, b"noop"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[" + "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 3000 + "Promise import(",
        "export default " + "a(" * 20_000,
        "export default " + "a(b)(" * 5_000,
        "/** @type {" + "{a" * 20_000 + "}",
        "Promise import(" + "[{a}" * 20_000,
        "import(" + "/* x */ " * 20_000,
    ],
)
def test_repetitions_that_lead_nowhere_are_left(text: str) -> None:
    assert names_of(text, "typescript", "import") == []  # a search that tries all divisions would not end

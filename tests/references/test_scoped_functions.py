"""Functions that scopes, fixtures and test doubles define: which calls reach them."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

_CONFTEST = "import pytest\n\n\n"


def _fixture(name: str, parameter: str = "") -> str:
    return f"@pytest.fixture\ndef {name}({parameter}):\n    return 1\n\n\n"


FILES = {
    "web/Dialog.tsx": """export function Dialog() {
  const copy = (text: string) => text;
  const renderField = () => <button onClick={() => copy("x")} />;
  return renderField();
}
""",
    "web/dialog.test.tsx": """import { Dialog } from "./Dialog";
describe("<Dialog>", () => {
  const enter = () => 1;
  it("enters", () => {
    enter();
  });
});
""",
    "web/cart.ts": "export class Cart {\n  total() {}\n  sum() {\n    total();\n  }\n}\n",
    "web/stats.ts": "const rows = (a) => [a];\nexport const all = (a) => [...rows(a)];\n",
    "web/storage.test.ts": """it("stores", () => {
  const double = { peekItem: () => null };
  double.peekItem();
});
""",
    "web/app.ts": "export function boot() {\n  return localStorage.peekItem('x');\n}\n",
    "lib/parse-headers.js": "export default (raw) => {\n  const inner = () => raw;\n  return inner();\n};\n",
    "lib/format/index.js": "export default function (x) {\n  return x;\n}\n",
    "lib/options.ts": "export interface Options {\n  default: string;\n}\nexport enum Kind {\n  default,\n}\n",
    "lib/Button.tsx": "export default class extends Base {}\n",
    "web/page.js": """import parseHeaders from "../lib/parse-headers.js";
import format from "../lib/format";
import Button from "../lib/Button";
import other from "../lib/unknown";
export const show = () => [parseHeaders(1), format(2), new Button(), other(3)];
""",
    "tests/conftest.py": _CONFTEST + _fixture("client", "app") + _fixture("page"),
    "tests/unit/conftest.py": _CONFTEST + _fixture("app") + _fixture("page", "page"),
    "shop/plugin.py": "import pytest\n\nDELAY = 1\n\n\n@pytest.fixture(scope='session')\ndef basket():\n    return 1\n",
    "tests/test_basket.py": "def test_basket(basket):\n    pass\n\n\ndef test_delay(delay):\n    assert delay\n",
    "shop/delay.py": "def delay():\n    return 1\n",
    "tests/unit/test_cart.py": "def test_total(client, app):\n    assert client\n",
    "tests/unit/test_page.py": "def test_page(page):\n    assert page\n",
    "tests/test_pages.py": "class TestPages:\n    def test_page(self, client: object):\n        assert client\n",
    "shop/client.py": "def client():\n    return 2\n\n\ndef helper(client):\n    return client\n",
    "lib/api.h": '#ifdef __cplusplus\nextern "C" {\n#endif\nint shop_total(int x);\n#ifdef A\n}\n#endif\n',
    "lib/api.c": '#include "api.h"\nint shop_total(int x) { return x; }\n',
    "src/kind.hpp": "enum class Kind { A, B };\n",
    "src/use.cpp": '#include "kind.hpp"\nint use() { return (int)Kind::A; }\n',
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("scoped") / "shop", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "relation", "expected"),
    [
        # A component is a function, so what is in it is known in its inner functions.
        ("Dialog.copy", "callers", ["web/Dialog.tsx:3"]),
        ("enter", "callers", ["web/dialog.test.tsx:5"]),
        ("Cart.total", "callers", []),
        # What a module exports without a name has that of the file.
        ("parseHeaders", "definitions", ["lib/parse-headers.js:1"]),
        ("parseHeaders", "callers", ["web/page.js:5"]),
        ("parseHeaders", "callees", ["lib/parse-headers.js:2"]),
        ("format", "callers", ["web/page.js:5"]),
        ("Button", "callers", ["web/page.js:5"]),
        ("Button", "importers", ["web/page.js:3"]),
        ("other", "definitions", []),
        ("options", "definitions", []),
        ("Options.default", "definitions", ["lib/options.ts:2"]),
        ("rows", "callers", ["web/stats.ts:2"]),
        # The only definition is in a test, so the code may mean that of a browser.
        ("peekItem", "callers", ["web/storage.test.ts:3", "web/app.ts:2+"]),
        ("tests/conftest.py:5", "callers", ["tests/test_pages.py:2", "tests/unit/test_cart.py:1"]),
        ("tests/unit/conftest.py:5", "callers", ["tests/unit/test_cart.py:1"]),
        ("tests/conftest.py:10", "callers", []),
        ("tests/unit/conftest.py:10", "callers", ["tests/unit/conftest.py:10", "tests/unit/test_page.py:1"]),
        # Plugins are modules anywhere; a function there is none unless it is decorated.
        ("basket", "callers", ["tests/test_basket.py:1"]),
        ("delay", "callers", []),
        ("shop_total", "mentions", ["lib/api.h:4"]),
        ("Kind", "mentions", ["src/use.cpp:2"]),
    ],
)
def test_a_name_reaches_what_its_scope_shows(shop: Searcher, name: str, relation: str, expected: list[str]) -> None:
    assert places(shop, name, relation) == expected

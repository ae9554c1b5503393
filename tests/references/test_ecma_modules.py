"""Usages in TypeScript and Go: exports under another name, fields that hold functions, results of functions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "src/base.ts": """class Router {
  get!: Handler;
  text: Reply = (value: string) => this.send(value);
  send(value: string) { return value; }
}
export { Router as BaseRouter };
export var enabled = check("x");
export const shared: Router = make();
""",
    "src/app.ts": """import { BaseRouter, enabled, shared } from './base';
export class App extends BaseRouter {}
export function run() {
  const app = new App();
  app.get('/');
  app.text('a');
  enabled(1);
  shared.send('b');
}
""",
    "src/schemas.ts": "export function string() { return 1; }\n",
    "src/index.ts": "export * from './schemas';\n",
    "src/tools.ts": "export namespace tools {\n  export function freeze(x: unknown) { return x; }\n}\n",
    "src/main.ts": """import * as z from './index';
import { tools } from './tools';
z.string();
tools.freeze(1);
Object.freeze(z);
""",
    "index.js": "module.exports.connect = function (url) { return url; };\n",
    "test/connect.js": "const { connect } = require('..');\nconnect('a');\n",
    "test/deep/more.js": "const app = require('../../');\napp.connect('b');\n",
    "web/pages/cart.tsx": "function CartPage() {\n  return 1;\n}\nexport default observer(CartPage);\n",
    "web/routes.tsx": """const Cart = lazy(() => import('./pages/cart'));
const r = <Cart />;
export default function Router() {}
""",
    "web/start.ts": "import All from './routes';\nexport function start() {\n  All();\n}\n",
    "web/again.ts": "import Page from './pages/cart';\nimport Rest from './pages/rest';\nPage();\nRest();\n",
    "web/pages/rest.ts": "export default function rest() {}\n",
    "web/test.ts": """const { total: sum } = await import('./total');
sum(1);
import('./total').then((m) => m.total(2));
""",
    "web/total.ts": "export function total(x: number) {\n  return x;\n}\n",
    "web/errors/data.ts": "export const NoCart = { code: 1 };\n",
    "web/errors/index.ts": "export * as CartErrors from './data';\n",
    "web/fail.ts": "import { CartErrors } from './errors/index';\nthrow new Error(CartErrors.NoCart);\n",
    "web/client/utils/keys.ts": "export const KEY = 1;\n",
    "web/client/use.ts": "import { KEY } from '#client/keys';\nconsole.log(KEY);\n",
    "src/go.mod": "module example.com/shop\n",
    "src/router.go": "package shop\n\nfunc New() *Mux { return nil }\n\nfunc (m *Mux) Handle(path string) {}\n",
    "src/use.go": 'package shop\n\nfunc use() {\n\tm := New()\n\tm.Handle("a")\n}\n',
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("ecma") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Router.get", ["src/app.ts:5"]),
        ("Router.text", ["src/app.ts:6"]),
        ("enabled", ["src/app.ts:7"]),
        ("Router.send", ["src/app.ts:8", "src/base.ts:3"]),
        ("string", ["src/main.ts:3"]),
        ("connect", ["test/connect.js:2", "test/deep/more.js:2"]),
        ("tools.freeze", ["src/main.ts:4"]),
        ("Mux.Handle", ["src/use.go:5"]),
    ],
)
def test_callers_across_modules_are_found(opened: Searcher, name: str, expected: list[str]) -> None:
    assert sorted(places(opened, name, "callers")) == expected


GLOBAL = {
    "src/observable.ts": """declare global {
  interface Flow<T> {
    pour(value: T): void;
  }
  function makeFlow(): Flow<string>;
}
export {};
""",
    "src/use.ts": "const flow = makeFlow();\nload().then(() => unknown().pour('a'));\n",
}


def test_members_of_global_interfaces_are_found(tmp_path: Path) -> None:
    with indexed_files(tmp_path, GLOBAL) as tree:
        assert places(tree, "Flow.pour", "definitions") == ["src/observable.ts:3"]
        assert places(tree, "Flow.pour", "callers") == ["src/use.ts:2"]


def test_a_default_export_has_usages_under_other_names_and_where_it_is_loaded_late(opened: Searcher) -> None:
    assert places(opened, "web/pages/cart.tsx:1", "importers") == ["web/again.ts:1", "web/routes.tsx:1"]
    assert places(opened, "web/pages/cart.tsx:1", "callers") == ["web/again.ts:3"]
    assert places(opened, "web/pages/rest.ts#rest", "callers") == ["web/again.ts:4"]


def test_what_a_module_loads_late_is_not_its_default_export(opened: Searcher) -> None:
    assert places(opened, "web/start.ts#start", "callees") == ["web/routes.tsx:3"]


def test_what_a_dynamic_import_takes_is_a_usage(opened: Searcher) -> None:
    assert places(opened, "web/total.ts#total", "importers") == ["web/test.ts:1", "web/test.ts:3"]
    assert places(opened, "web/total.ts#total", "callers") == ["web/test.ts:2", "web/test.ts:3"]


def test_a_module_is_exported_as_a_whole_under_a_name(opened: Searcher) -> None:
    assert places(opened, "NoCart", "mentions") == ["web/fail.ts:2"]


def test_a_manifest_names_the_folder_of_a_module(opened: Searcher) -> None:
    assert places(opened, "web/client/utils/keys.ts#KEY", "importers") == ["web/client/use.ts:1"]

"""Usages in JavaScript without classes and modules of the language: assigned functions, `require`, prototypes."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "cart/lib/index.js": """exports.price = function (item) {
  return item.cost
}
exports.LIMIT = 10
module.exports.total = (items) => items.map(exports.price)
""",
    "cart/test/price.test.js": """const cart = require('../')
const total = require('../').total
cart.price({})
total([])
check(cart.LIMIT)
""",
    "lib/request.js": """function Request(url) {
  this.url = url
}
Request.prototype.send = function () {
  return this.prepare(1)
}
Request.prototype.prepare = function (x) {
  prepare(x)
  return x
}
Request.parse = function (text) { return text }
module.exports = Request
""",
    "lib/use.js": """const Request = require('./request')
const setup = require('../support/setup')
const request = new Request('x')
request.send()
Request.parse('y')
setup()
""",
    "support/setup.js": "async function setup() {}\nmodule.exports = setup\n",
    "src/helpers/fromData.js": "export default function fromData(x) { return x }\n",
    "src/utils.js": """const isText = (x) => typeof x === 'string'
export default { isText }
""",
    "src/many.js": """const version = '1',
  rest = /x/,
  widget = function (selector, context) {
    return new Widget(selector, context, version, rest)
  }
export { widget }
""",
    "src/main.js": """import fromData from './helpers/fromData.js'
import utils from './utils.js'
import { widget } from './many.js'
widget(2)
fromData(1)
utils.isText('a')
""",
    "src/timers.js": """const timers = {}
timers.wait = function (x) {
  return wait(x)
}
""",
    "lib/tools.js": "module.exports = {\n  pack(x) { return x },\n  seal: function (x) { return x },\n}\n",
    "lib/ship.js": "const { pack } = require('./tools')\nconst tools = require('./tools')\npack(1)\ntools.seal(2)\n",
    "lib/failure.js": "class Error {}\nmodule.exports = { Error }\n",
    "scripts/check.js": "throw new Error('x')\n",
    "src/panel.js": """const panel = {
  render: function () { return 1 },
  hide: () => 2,
}
panel.render()
""",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("commonjs") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("price", "cart/lib/index.js:1"), ("LIMIT", "cart/lib/index.js:4"), ("total", "cart/lib/index.js:5"),
        ("Request.send", "lib/request.js:4"), ("Request.parse", "lib/request.js:11"),
        ("panel.hide", "src/panel.js:3"),
    ],
)  # fmt: skip
def test_assigned_functions_are_definitions(opened: Searcher, name: str, line: str) -> None:
    assert places(opened, name, "definitions") == [line]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("price", ["cart/test/price.test.js:3"]),
        ("total", ["cart/test/price.test.js:4"]),
        ("Request.send", ["lib/use.js:4"]),
        # The function of that name behind no object is another one.
        ("Request.prepare", ["lib/request.js:5"]),
        ("Request.parse", ["lib/use.js:5"]),
        ("setup", ["lib/use.js:6"]),
        ("fromData", ["src/main.js:5"]),
        # One statement defines three names: the first is no scope of the others.
        ("widget", ["src/main.js:4"]),
        ("isText", ["src/main.js:6"]),
        ("panel.render", ["src/panel.js:5"]),
        ("timers.wait", []),
    ],
)
def test_callers_are_found_and_certain(opened: Searcher, name: str, expected: list[str]) -> None:
    assert sorted(places(opened, name, "callers")) == expected


def test_a_module_is_imported_where_its_path_has_the_word_from(opened: Searcher) -> None:
    assert "src/main.js:1" in places(opened, "fromData", "importers")


def test_methods_of_the_exported_object_are_those_of_the_module(opened: Searcher) -> None:
    assert places(opened, "pack", "callers") == ["lib/ship.js:3"]
    assert places(opened, "seal", "callers") == ["lib/ship.js:4"]


def test_a_class_of_the_library_is_none_of_a_script_that_imports_nothing(opened: Searcher) -> None:
    assert places(opened, "lib/failure.js:1", "callers") == []

"""A query that says a name in words finds its definition, and a conversion not the opposite one."""

from pathlib import Path

import pytest

from gitmem.search.spoken_names import find_spoken_names
from tests.gitrepo import Repo
from tests.sample import Cli

_COLOURS = """\
def hsv2rgb(hsv):
    return [channel * 255 for channel in hsv]


def rgb2hsv(rgb):
    return [channel / 255 for channel in rgb]


def lab_from_rgb(rgb):
    return [channel + 1 for channel in rgb]


def rgb_from_lab(lab):
    return [channel - 1 for channel in lab]
"""
_CLIPBOARD = """\
// The clipboard: copies, pastes and the history of the clipboard.
export class Clipboard {
  copy(text) {
    this.clipboard = text
    return this.copies.push(text)
  }

  clipboardHistory() {
    return this.copies
  }
}
"""
_TOOLBAR = """\
import { clipboard } from './clipboard'

export function addButtons(bar) {
  bar.add('copy')
}

export function copyToClipboard() {
  return clipboard.copy(selection())
}
"""
_LISP = """\
(defun shop-point-branch ()
  "Shop branch at point: the branch of the shop at the point."
  (shop-branch (point)))

(defun shop-branch-at-point ()
  (point-of (branch shop)))

(defun shop-branch () "Return the branch of the shop at a point." 1)
"""


@pytest.fixture
def shop(tmp_path: Path, cli: Cli) -> Repo:
    repo = Repo.init(tmp_path / "shop")
    repo.commit(
        {
            "colours.py": _COLOURS,
            "web/clipboard.js": _CLIPBOARD,
            "web/toolbar.js": _TOOLBAR,
            "tests/test_clipboard.py": "def test_copy_to_clipboard():\n    assert paste() == 'a'\n",
            "tests/test_browser.py": "def open_in_browser(page):\n    return page\n",
            "web/browser.js": "export function openBrowser(page) {\n  return browser.open(page)\n}\n",
            "shop.el": _LISP,
        }
    )
    cli("init", "--no-hooks", "--no-mcp", cwd=repo.path)
    return repo


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("copy to clipboard", "web/toolbar.js:7-9"),
        ("how does copy to clipboard work?", "web/toolbar.js:7-9"),
        ("convert rgb to hsv", "colours.py:5-6"),
        ("convert hsv to rgb", "colours.py:1-2"),
        ("convert an rgb colour into lab", "colours.py:9-10"),
        ("get rgb from lab", "colours.py:13-14"),
        ("shop branch at point", "shop.el:5-6"),
    ],
)
def test_the_definition_with_the_name_comes_first(cli: Cli, shop: Repo, query: str, place: str) -> None:
    outcome = cli("query", "--limit", "5", query, cwd=shop.path)
    assert outcome.out.split()[0] == place


def test_a_test_is_found_by_its_name_if_nothing_else_has_it(cli: Cli, shop: Repo) -> None:
    assert cli("query", "open in browser", cwd=shop.path).out.startswith("tests/test_browser.py:1-2 ")


def test_the_name_that_is_the_whole_query_precedes_a_part_of_it(cli: Cli, shop: Repo) -> None:
    outcome = cli("query", "test copy to clipboard", cwd=shop.path)
    assert outcome.out.startswith("tests/test_clipboard.py:1-2 ")


def test_the_explanation_says_that_the_name_counts(cli: Cli, shop: Repo) -> None:
    assert "spoken_name" in cli("query", "--explain", "how does copy to clipboard work?", cwd=shop.path).out


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("copy to clipboard", "copytoclipboard"),
        ("where is `isEmpty` of a cart defined", "isemptyofacart"),
        ("convert a char array into an entity", "chararraytoentity entityfromchararray"),
        ("convert rgb colours to hsv colours", "rgbcolourstohsvcolours"),
        ("create hsv from rgb", "rgb2hsv rgb>hsv hsvfromrgb"),
        ("get the name of a table", "getnameoftable"),
        ("celsius to fahrenheit conversion", "celsius2fahrenheit"),
    ],
)
def test_names_that_a_query_says(query: str, names: str) -> None:
    assert set(names.split()) <= {spoken.name for spoken in find_spoken_names(query)}


@pytest.mark.parametrize(
    "query", ["clipboard", "copy, then paste", "a(b) c", "x = y to z", " ".join(["word"] * 15), "flask.Flask to app.py"]
)
def test_other_queries_say_no_name(query: str) -> None:
    assert find_spoken_names(query) == ()

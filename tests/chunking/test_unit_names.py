"""Definitions and calls in languages whose definitions come from the outline of the file."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.types import DEFINING, OCCURRENCE_KINDS

SOURCES = {
    "r": (
        "#' Sorts: sort.by(x)\nsort.by <- function(x) order.of(x)\nlimit <- 3\n",
        "sort.by limit",
        "order.of",
    ),
    "julia": ('"""\n    area(x)\n"""\nfunction area(x)\n    side(x)\nend\nhalf(x) = x / 2\n', "area half", "side"),
    "elisp": ('(defcustom my-opt nil "my-opt")\n(cl-defun my-run (x) (my-stop x))\n', "my-opt my-run", "my-stop"),
    "clojure": ("(defn fan-in [x] (str/join x))\n(defrecord Route [a])\n", "fan-in Route", "join"),
    "scheme": ("(define (foo x) (bar x))\n(define ((curry x) y) x)\n(define n 1)\n", "foo curry n", "bar"),
    "racket": ("#lang racket\n(define (foo? x) (bar! x))\n(struct point (x y))\n", "foo? point", "bar!"),
    "commonlisp": ("(defun run-all (x) (stop x))\n(defclass task () ())\n(defvar *n* 1)\n", "run-all task *n*", "stop"),
    "fennel": ("(fn run-all [x] (stop x))\n(map (fn [x] x) y)\n", "run-all", "stop map"),
    "janet": ("(defn run-all [x] (stop x))\n(def n 1)\n", "run-all n", "stop"),
    "nix": ("{ lib }: {\n  mkRun = { a }: lib.mkIf a;\n  services.x = build a;\n}\n", "mkRun x", "mkIf build"),
    "haskell": ("module A where\narea' :: Int -> Int\narea' x = side' x 2\n", "area'", "side'"),
    "ocaml": ("let area' x = List.map side x\n", "area'", "map"),
    "fsharp": ("module A\nlet area x = side x 2\n", "area A", "side"),
    "erlang": ("-module(a).\nrun(X) -> lists:map(stop, X).\n", "a run", "map"),
    "elixir": ("defmodule A do\n  def run(x), do: stop(x)\nend\n", "A run", "stop"),
    "lua": ("local M = {}\nfunction M:run(x) return stop(x) end\n", "M run", "stop"),
    "dart": ("/// Runs.\nclass Job {\n  int run(\n    int x,\n  ) {\n    return stop(x);\n  }\n}\n", "Job run", "stop"),
    "objc": ("@implementation Job\n- (int)run:(int)x { return [self stop:x]; }\n@end\n", "Job run", "stop"),
    "zig": ("pub fn run(x: u32) u32 {\n    return math.stop(x);\n}\n", "run", "stop"),
    "solidity": ("contract Job {\n  function run(uint x) public { stop(x); }\n}\n", "Job run", "stop"),
    "nim": ("proc run*(x: int): int = stop(x)\n", "run", "stop"),
    "fortran": ("subroutine run(x)\n  call stop_all(x)\nend subroutine\n", "run", "stop_all"),
    "powershell": ("function Get-Job {\n    Stop-All 1\n}\n", "Get-Job", "Stop-All"),
    "fish": ("function run-all\n    stop-all 1\nend\n", "run-all", "stop-all"),
    "bash": ("run-all() {\n  stop-all 1\n}\n", "run-all", "stop-all"),
    "vim": ("function! s:Run(x) abort\n  call plug#Stop(a:x)\nendfunction\n", "s:Run", "plug#Stop"),
    "gleam": ("pub fn run(x) { stop(x) }\n", "run", "stop"),
    "glsl": ("vec3 run(float x) { return stop(x); }\n", "run", "stop"),
    "graphql": ("type Job { a: Int }\nquery Run { ...Stop }\n", "Job Run", "Stop"),
    "elm": ("module Main exposing (..)\n\nrun : Int -> Int\nrun x =\n    stop x\n", "run", "stop"),
    "prisma": ("model Job {\n  a Int\n}\nenum Role {\n  A\n}\n", "Job Role", ""),
    "make": ("run: stop-all\n\techo 1\n", "run", "stop-all"),
    "sql": ("CREATE VIEW v AS SELECT total(id) FROM t;\nALTER TABLE t ADD COLUMN a int;\n", "v", "total"),
    "proto": ("message Job { string name = 1; }\n", "Job name", ""),
}


def names_of(text: str, language: str) -> tuple[set[str], set[str]]:
    """Return the names that a file defines, and those that it calls."""
    names = chunk_blob(text.encode(), language).names
    found = [(OCCURRENCE_KINDS[kind], kind, name.decode()) for kind, name in zip(names.kinds, names.names, strict=True)]
    defined = {name for _, kind, name in found if kind < DEFINING}
    return defined, {name for text, _, name in found if text == "call"}


@pytest.mark.parametrize("language", SOURCES)
def test_units_are_definitions_and_their_places_are_no_calls(language: str) -> None:
    text, defined, called = SOURCES[language]
    definitions, calls = names_of(text, language)
    assert definitions == set(defined.split())
    assert set(called.split()) <= calls
    assert not calls & definitions


def test_a_definition_is_at_its_name_not_at_a_comment_above_or_a_string() -> None:
    comment = "#' total is what total gives; see `total`.\n" * 300
    names = chunk_blob(f"{comment}total <- function(x) 'total'\n".encode(), "r").names
    assert [(line, OCCURRENCE_KINDS[kind]) for line, kind in zip(names.lines, names.kinds, strict=True)] == [
        (301, "function")
    ]


def test_a_definition_before_its_node_is_not_in_the_comment_above() -> None:
    text = "class Job {\n  /// Does run twice.\n  int run(\n    int x,\n  ) {\n    return run(x);\n  }\n}\n"
    names = chunk_blob(text.encode(), "dart").names
    rows = zip(names.lines, names.kinds, names.names, strict=True)
    assert [(line, OCCURRENCE_KINDS[kind]) for line, kind, name in rows if name == b"run"] == [
        (3, "function"), (6, "call"),
    ]  # fmt: skip


def test_a_definition_is_not_in_the_comment_before_it_on_its_line() -> None:
    names = chunk_blob(b"module A where\n\n{- area gives it -} area x = x\n", "haskell").names
    rows = zip(names.lines, names.kinds, names.names, strict=True)
    assert [(line, OCCURRENCE_KINDS[kind]) for line, kind, name in rows if name == b"area"] == [(3, "function")]


def test_the_example_in_a_documentation_of_elixir_is_no_definition() -> None:
    text = 'defmodule A do\n  @doc ~S"""\n  iex> area 1\n  """\n  def area(x), do: x\nend\n'
    names = chunk_blob(text.encode(), "elixir").names
    lines = [line for line, name in zip(names.lines, names.names, strict=True) if name == b"area"]
    assert lines == [5]


@pytest.mark.parametrize(
    ("language", "text", "places"),
    [
        ("elixir", "defmodule A do\n  @spec area(t) :: t\n  def area(1), do: 1\n  def area(x), do: area(1)\nend\n",
         [(3, "function"), (4, "call")]),
        ("erlang", "-module(a).\n-spec area(t()) -> t().\narea(1) -> 1;\narea(X) ->\n  area(1).\n",
         [(3, "function"), (5, "call")]),
        ("haskell", "module A where\narea :: Int -> Int\narea 1 = 1\narea x =\n  area 1\n",
         [(3, "function"), (5, "call")]),
    ],
)  # fmt: skip
def test_further_clauses_and_a_specification_are_no_uses(
    language: str, text: str, places: list[tuple[int, str]]
) -> None:
    names = chunk_blob(text.encode(), language).names
    rows = zip(names.lines, names.kinds, names.names, strict=True)
    assert [(line, OCCURRENCE_KINDS[kind]) for line, kind, name in rows if name == b"area"] == places


def test_data_formats_define_nothing() -> None:
    assert names_of('{"name": "x", "other": {"name": 1}}\n' * 3, "json") == (set(), set())
    assert names_of('resource "a" "b" {\n  name = f(1)\n}\n', "hcl") == (set(), set())


def test_an_anonymous_function_of_fennel_has_no_name() -> None:
    chunks = chunk_blob(b"(fn [x]\n  (stop x))\n", "fennel").chunks
    assert [chunk.symbol for chunk in chunks] == [""]


def test_a_set_of_attributes_of_nix_is_divided_if_it_is_large() -> None:
    options = "".join(f"    option{number} = mkOption {{ default = {'x' * 600!r}; }};\n" for number in range(4))
    text = f"{{ lib }}: {{\n  options.programs.tool = {{\n{options}  }};\n}}\n".replace("'", '"')
    symbols = [chunk.symbol for chunk in chunk_blob(text.encode(), "nix").chunks]
    assert "options.programs.tool.option2" in ", ".join(symbols)

"""Files of Vue, Svelte and Astro: markup and scripts, each by its own grammar, at the places of the file."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.components import divide_component
from gitmem.chunking.elements import find_elements
from gitmem.types import OCCURRENCE_KINDS
from tests.chunking.coverage_check import assert_sound

VUE = """<!-- <script>not()</script> -->
<script lang="ts">
export const shared = 1
</script>

<script setup lang="ts" generic="T extends Map<string, T>">
import { useUser } from './user'
import Panel from './Panel.vue'

/** Saves it. */
function save(value: string) {
  return useUser(value)
}
</script>

<template>
  <Panel @save="save" :user="find(1)" class="no(1)" />
  <div id="main">{{ text.format(user) }}</div>
</template>

<style scoped>
.a { color: red }
</style>
"""
SVELTE = """<script>
  export let name;
  function greet(x) {
    return hello(x);
  }
</script>

<h1 class={cn(name)}>{name}</h1>
<Card/>
"""
ASTRO = """---
import Card from './Card.astro'
function run(x: number) { return stop(x) }
---
<Card x={run(1)}/>
<script>go()</script>
"""
ODD = [
    "<script>", "<script>x", "<script></script>", "<SCRIPT lang=ts>a</SCRIPT >", "---\n---\n", "---\n", "<script a='>",
]  # fmt: skip


def names_of(text: str, language: str) -> set[tuple[int, str, str]]:
    """Return line, kind and name of all occurrences."""
    names = chunk_blob(text.encode(), language).names
    kinds = [OCCURRENCE_KINDS[kind] for kind in names.kinds]
    return set(zip(names.lines, kinds, [name.decode() for name in names.names], strict=True))


def test_functions_of_a_script_are_results_with_the_lines_of_the_file() -> None:
    chunks = {chunk.symbol: (chunk.start_line, chunk.end_line) for chunk in chunk_blob(VUE.encode(), "vue").chunks}
    assert chunks["save"] == (10, 13)
    assert chunks["template, style"] == (16, 23)


@pytest.mark.parametrize(("text", "language"), [(VUE, "vue"), (SVELTE, "svelte"), (ASTRO, "astro")])
def test_every_line_is_in_a_chunk_of_its_own_language(text: str, language: str) -> None:
    data = text.encode()
    blob = chunk_blob(data, language)
    assert blob.parsed
    assert_sound(data, blob)
    for chunk in blob.chunks:
        shown = data[chunk.start : chunk.end]
        assert not (b"function" in shown and b"</h1>" in shown), "markup and code in one chunk"


def test_names_are_those_of_the_script_and_the_components_of_the_markup() -> None:
    names = names_of(VUE, "vue")
    script = {(3, "value", "shared"), (7, "import", "useUser"), (11, "function", "save"), (12, "call", "useUser")}
    markup = {(17, "call", "Panel"), (17, "name", "save"), (17, "call", "find"), (18, "call", "format")}
    assert script | markup <= names
    assert not {name for _, _, name in names} & {"not", "no", "template", "div"}
    assert {(3, "function", "greet"), (4, "call", "hello"), (8, "call", "cn"), (9, "call", "Card")} <= names_of(
        SVELTE, "svelte"
    )
    assert {
        (3, "function", "run"),
        (3, "call", "stop"),
        (5, "call", "Card"),
        (5, "call", "run"),
        (6, "call", "go"),
    } <= names_of(ASTRO, "astro")


def test_elements_are_the_definitions_of_the_script() -> None:
    elements = find_elements(VUE.encode(), "vue").elements
    assert [(each.symbol, each.first_line, each.last_line) for each in elements if each.symbol == "save"] == [
        ("save", 10, 13)
    ]


def test_layers_have_the_length_and_the_lines_of_the_file() -> None:
    data = VUE.replace("\n", "\r\n").encode()
    layers = divide_component(data, "vue")
    assert [layer.language for layer in layers] == ["vue", "typescript"]
    for layer in layers:
        assert len(layer.data) == len(data)
        assert [place for place, code in enumerate(layer.data) if code == 10] == [
            place for place, code in enumerate(data) if code == 10
        ]


@pytest.mark.parametrize(
    "text",
    [
        "<script>",
        "<script>x",
        "<script></script>",
        "<SCRIPT lang=ts>a</SCRIPT >",
        "---\n---\n",
        "---\n",
        "<script a='>",
    ],
)
@pytest.mark.parametrize("language", ["vue", "svelte", "astro"])
def test_odd_components_are_indexed_whole(text: str, language: str) -> None:
    data = (text + "\n") * 3
    assert_sound(data.encode(), chunk_blob(data.encode(), language))


@pytest.mark.parametrize("mark", ["<script>", "<script '", "<!--", "<script></script", "<script>x</script>\n", "---\n"])
def test_a_megabyte_of_marks_is_divided_in_linear_time(mark: str) -> None:
    data = (mark * (1_000_000 // len(mark))).encode()
    assert {len(layer.data) for layer in divide_component(data, "astro")} == {len(data)}


def test_scripts_of_data_and_templates_are_markup() -> None:
    page = """<html><head><title>Shop</title>
<script type="application/ld+json">{"name": "x"}</script>
<script type="text/template"><b>function no() {}</b></script>
<script type="module">
export function total(cart) { return sum(cart) }
</script>
</head><body><h1>Cart</h1></body></html>
"""
    names = names_of(page, "svelte")
    assert {(5, "function", "total"), (5, "call", "sum")} <= names
    assert not {name for _, _, name in names} & {"no", "name", "title"}
    assert "total" in [chunk.symbol for chunk in chunk_blob(page.encode(), "svelte").chunks]
    assert_sound(page.encode(), chunk_blob(page.encode(), "svelte"))

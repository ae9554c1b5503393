"""Files of Vue, Svelte and Astro define components, which tags in others use."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.errors import UsageError
from tests.references.asking import ask, indexed_files, places

FILES = {
    "src/parts/SidePanel.vue": '<script setup lang="ts">\ndefineProps<{ title: string }>()\n</script>\n'
    "<template>\n  <div>{{ title }}</div>\n</template>\n",
    "other/SidePanel.vue": "<template>\n  <p>other</p>\n</template>\n",
    "src/App.vue": """<script setup lang="ts">
import SidePanel from './parts/SidePanel.vue'
import Side from './parts/SidePanel.vue'
</script>
<template>
  <SidePanel title="a">
    <p>text</p>
  </SidePanel>
  <side-panel title="b" />
  <Side title="c" />
</template>
""",
    # A tool imports it.
    "src/Auto.vue": '<script setup lang="ts">\nconst a = 1\n</script>\n<template>\n  <TopBar />\n</template>\n',
    "src/routes.ts": "export const routes = [{ component: () => import('./pages/Late.vue') }];\n",
    "src/pages/Late.vue": "<template>\n  <p>late</p>\n</template>\n",
    "src/parts/TopBar.vue": "<template>\n  <div />\n</template>\n",
    "svelte/ui/button/big-button.svelte": '<script lang="ts">\n  export let size = 1;\n</script>\n'
    "<button>{size}</button>\n",
    "svelte/ui/button/index.ts": "import Root from './big-button.svelte';\n"
    "export { default as BigButton } from './big-button.svelte';\nexport { Root };\n",
    "svelte/Page.svelte": "<script lang=\"ts\">\n  import { BigButton } from './ui/button';\n</script>\n"
    "<BigButton size={2} />\n",
    # No module, so it may call what other scripts define, but nothing of a component, and no function of browsers.
    "script.js": "topMost();\nfetch('x');\nstartUp();\nofThis();\nofObject();\n",
    "globals.js": "function topMost() {}\nfunction fetch() {}\nthis.ofThis = function () {};\n"
    "tools.ofObject = function () {};\n",
    "src/Start.vue": "<script>\nfunction startUp() {}\n</script>\n",
    "astro/Card/index.astro": "---\nconst x = 1;\n---\n<div>{x}</div>\n",
    "astro/page.astro": "---\nimport Card from './Card/index.astro';\n---\n<Card />\n",
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("components") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "definitions", "callers"),
    [
        ("TopBar", ["src/parts/TopBar.vue:1"], ["src/Auto.vue:5+"]),
        ("BigButton", ["svelte/ui/button/big-button.svelte:1"], ["svelte/Page.svelte:4"]),
        ("Card", ["astro/Card/index.astro:1"], ["astro/page.astro:4"]),
    ],
)
def test_a_file_defines_a_component(page: Searcher, name: str, definitions: list[str], callers: list[str]) -> None:
    assert places(page, name, "definitions") == definitions
    assert places(page, name, "callers") == callers


def test_the_import_decides_which_component_of_a_name_a_tag_means(page: Searcher) -> None:
    # Once for each element, whether it is written with capitals or with hyphens.
    assert places(page, "SidePanel", "definitions") == ["src/parts/SidePanel.vue:1", "other/SidePanel.vue:1"]
    assert places(page, "src/parts/SidePanel.vue:1", "callers") == ["src/App.vue:6", "src/App.vue:9", "src/App.vue:10"]
    assert places(page, "other/SidePanel.vue:1", "callers") == []


@pytest.mark.parametrize(
    ("place", "callers"),
    [
        ("globals.js:1", ["script.js:1"]),
        ("globals.js:2", []),
        ("globals.js:3", ["script.js:4"]),
        ("globals.js:4", []),
        ("src/Start.vue:2", []),
    ],
)
def test_a_script_calls_functions_of_other_scripts(page: Searcher, place: str, callers: list[str]) -> None:
    assert places(page, place, "callers") == callers


def test_a_component_is_named_by_its_file(page: Searcher) -> None:
    assert places(page, "src/parts/SidePanel.vue", "importers") == ["src/App.vue:2", "src/App.vue:3"]
    # It is no component itself, and imported as the file that it is.
    assert places(page, "svelte/ui/button/index.ts", "importers") == ["svelte/Page.svelte:2"]
    with pytest.raises(UsageError, match="whole file"):
        places(page, "svelte/ui/button/index.ts", "callers")


def test_who_imports_a_component(page: Searcher) -> None:
    assert places(page, "src/parts/SidePanel.vue:1", "importers") == ["src/App.vue:2", "src/App.vue:3"]


def test_a_page_that_a_router_loads_late_is_imported(page: Searcher) -> None:
    importers, text = ask(page, "src/pages/Late.vue:1", "importers", "text").relations
    assert [(place.path, place.line) for place in importers.places] == [("src/routes.ts", 1)]
    assert not text.places  # the line is shown already

"""Correctness properties of gitmem, and the tests that check them.

A hypothesis test with at least 100 examples proves a property and says so in its docstring: `Property N: title.`
`python -m tests.property_tags` lists the properties that no test proves yet.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent
LEAST_EXAMPLES: Final = 100

TITLES: Final[Mapping[int, str]] = {
    1: "Retrieval completeness",
    2: "Relevance and ranking",
    3: "Result completeness",
    4: "Statistics accuracy",
    5: "Recursive discovery",
    6: "Supported parsing",
    7: "Unsupported handling",
    8: "Dimensions",
    9: "Storage round trip",
    10: "Report accuracy",
    11: "Context kept",
    12: "Nesting",
    13: "Model consistency",
    14: "Embedding failure",
    15: "Index location",
    16: "Filters",
    17: "Deletion",
    18: "Language detection",
    19: "Rename",
    20: "API errors",
    21: "Configuration loading",
    22: "Defaults",
    23: "Validation",
    24: "Error logs",
    25: "MCP input",
    26: "Log levels",
    27: "Model once",
    28: "Search cache",
    29: "Batches",
    30: "Limit",
    31: "Schema version",
    32: "Schema check",
    33: "No stale chunks",
    34: "Run timestamps",
    35: "Diff",
    36: "MCP success form",
    37: "MCP error form",
    38: "Blob keying",
    39: "Crash safety",
    40: "Document atomicity",
    41: "Document idempotency",
    42: "Document chunking",
    43: "RRF",
    44: "Neighbours",
    45: "Scope folders",
    46: "Sessions",
    47: "Templates",
    48: "Locking",
    49: "Cancel",
    50: "Paths",
    51: "Hostile index",
    52: "History",
    53: "No network",
}

_TAG: Final = re.compile(r"Property (\d+): ([^.\n]+)\.")


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag in the docstring of a test."""

    number: int
    title: str
    test: str
    examples: int | None
    """Least number of examples that hypothesis tries; None without hypothesis."""


def read_tags(folder: Path = TESTS) -> list[Tag]:
    """Read the tags of all tests."""
    tags = []
    for path in sorted(folder.rglob("test_*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        profiles = dict(_profiles(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for number, title in _TAG.findall(ast.get_docstring(node) or ""):
                    name = f"{path.relative_to(folder.parent)}::{node.name}"
                    tags.append(Tag(int(number), title, name, _examples(node, profiles)))
    return tags


def _profiles(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the names of settings that a module shares between tests: `many = settings(max_examples=100)`."""
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Call) and (examples := _max_examples(value)):
            yield target.id, examples


def _examples(test: ast.FunctionDef, profiles: Mapping[str, int]) -> int | None:
    """Return the number of examples that the decorators of a test ask for."""
    calls = [node for node in test.decorator_list if isinstance(node, ast.Call)]
    if not any(_name(call.func) == "given" for call in calls):
        return None
    named = [profiles[node.id] for node in test.decorator_list if isinstance(node, ast.Name) and node.id in profiles]
    stated = [examples for call in calls if (examples := _max_examples(call))]
    return min([*named, *stated], default=LEAST_EXAMPLES)  # hypothesis tries 100 by default


def _max_examples(call: ast.Call) -> int | None:
    if _name(call.func) != "settings":
        return None
    stated = [keyword.value for keyword in call.keywords if keyword.arg == "max_examples"]
    values = [value.value for value in stated if isinstance(value, ast.Constant) and isinstance(value.value, int)]
    return values[0] if values else None


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def find_faults(tags: list[Tag]) -> list[str]:
    """Describe the tags that no property has, and those of tests with too few examples."""
    faults = []
    for tag in tags:
        if TITLES.get(tag.number) != tag.title:
            faults.append(f"{tag.test}: property {tag.number} is {TITLES.get(tag.number, 'unknown')}, not {tag.title}")
        if tag.examples is None:
            faults.append(f"{tag.test}: not a hypothesis test")
        elif tag.examples < LEAST_EXAMPLES:
            faults.append(f"{tag.test}: {tag.examples} examples, fewer than {LEAST_EXAMPLES}")
    return faults


def main() -> int:
    """Print the properties that have no test, and faulty tags; return 1 if there are faulty tags."""
    tags = read_tags()
    tests: defaultdict[int, list[str]] = defaultdict(list)
    for tag in tags:
        tests[tag.number].append(tag.test)
    faults = find_faults(tags)
    for fault in faults:
        print(fault)
    missing = [f"{number} ({title})" for number, title in TITLES.items() if number not in tests]
    print(f"{len(tests)} of {len(TITLES)} properties are tested; without a test: {', '.join(missing) or 'none'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

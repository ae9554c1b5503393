"""Imports between the modules of a package, read from their source: cycles, and imports inside functions.

Imports for type checkers and imports inside functions count too. import-linter checks the layers but leaves
out cycles within a layer.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

Graph = dict[str, set[str]]


def read_modules(package: Path) -> dict[str, ast.Module]:
    """Parse the modules of a package; keys are their dotted names."""
    trees = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        trees[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"), str(path))
    return trees


def build_graph(trees: Mapping[str, ast.Module]) -> Graph:
    """Map each module to the modules of the package that it imports."""
    return {name: set(_imported(tree, trees)) - {name} for name, tree in trees.items()}


def _imported(tree: ast.Module, known: Mapping[str, object]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                # `from package import name` imports either a module or a name that the package defines.
                target = f"{node.module}.{alias.name}"
                target = target if target in known else node.module
                if target in known:
                    yield target


def find_cycles(graph: Graph) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others.

    A group is a strongly connected component with more than one module. Kosaraju's algorithm: in the reversed graph,
    a search from the modules in reverse order of completion cannot leave the component.
    """
    order: list[str] = []
    seen: set[str] = set()
    for name in graph:
        order += _search(graph, name, seen)
    reverse: Graph = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            reverse[target].add(name)
    seen.clear()
    components = [_search(reverse, name, seen) for name in reversed(order)]
    return sorted(sorted(component) for component in components if len(component) > 1)


def _search(graph: Graph, start: str, seen: set[str]) -> list[str]:
    """Search depth first from a module; return the modules reached, in order of completion."""
    if start in seen:
        return []
    seen.add(start)
    finished = []
    path = [(start, iter(sorted(graph[start])))]
    while path:
        rest = path[-1][1]
        target = next((target for target in rest if target not in seen), None)
        if target is None:
            finished.append(path.pop()[0])
        else:
            seen.add(target)
            path.append((target, iter(sorted(graph[target]))))
    return finished


def count_lazy_imports(tree: ast.Module) -> int:
    """Count the import statements inside functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # A statement inside nested functions is found from each of them and counts once.
    return len(
        {node for function in functions for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)}
    )

"""The order of usages in an answer."""

from collections.abc import Callable, Iterable, Sequence

from gitmem.references.file_names import Definition, FileNames
from gitmem.references.tree_names import Names
from gitmem.references.usage import Usage


def rank_usages(
    names: Names, is_test: Callable[[FileNames], bool], targets: Sequence[Definition], usages: Iterable[Usage]
) -> list[Usage]:
    """Sort usages: fewer steps, sure ones, those outside of tests, and near the definition first."""
    files = [names.file(each.entry) for each in targets[:8]]
    folders = [(file.tree, file.path.split("/")[:-1]) for file in files]

    def key(usage: Usage) -> tuple[int, int, bool, int, int, str, int]:
        file = names.file(usage.entry)
        path = file.path
        # A file of the same tree is nearer than any of another one.
        near = max((1 + _shared(path.split("/"), folder) for tree, folder in folders if tree == file.tree), default=0)
        doubt = min(sum(usage.certainty), 8)
        return usage.depth, doubt, is_test(file), -near, file.tree, path, usage.line

    return sorted(usages, key=key)


def _shared(path: Sequence[str], folder: Sequence[str]) -> int:
    """Return how many folders two paths share from the root."""
    count = 0
    for own, other in zip(path, folder, strict=False):
        if own != other:
            break
        count += 1
    return count

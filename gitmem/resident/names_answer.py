"""Finish an answer about the names in an open tree: a command, a tool and the HTTP API do it alike."""

from typing import Protocol, TypeVar

from gitmem.answering.answer import ViewState
from gitmem.resident.open_tree import OpenTree


class _NamesAnswer(Protocol):
    @property
    def trees(self) -> ViewState:
        """State of the tree."""

    @property
    def notes(self) -> list[str]:
        """Notes about the answer."""

    @property
    def stats(self) -> dict[str, object]:
        """Sizes and times."""


Named = TypeVar("Named", bound=_NamesAnswer)


def finish_answer(tree: OpenTree, answer: Named) -> Named:
    """Return an answer with the notes of its tree, which is read again if a file changed meanwhile."""
    if answer.trees.stale:
        tree.mark_stale()
    answer.notes[:0] = tree.notes
    return answer

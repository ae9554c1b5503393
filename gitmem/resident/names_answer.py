"""Finish an answer about the names in an open tree: a command, a tool and the HTTP API do it alike."""

from gitmem.answering.searched_trees import OfTree
from gitmem.resident.open_tree import OpenTree


def finish_answer(tree: OpenTree, answer: OfTree) -> OfTree:
    """Return an answer with the notes of its tree, which is read again if a file changed meanwhile."""
    if answer.trees.stale:
        tree.mark_stale()
    answer.notes[:0] = tree.notes
    return answer

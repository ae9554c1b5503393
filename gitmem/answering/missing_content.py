"""Explain why the content of a file in a tree cannot be read."""

from typing import TYPE_CHECKING

from gitmem.errors import UsageError
from gitmem.git.path_encoding import path_text
from gitmem.store.view_file import REASONS

if TYPE_CHECKING:
    from gitmem.store.view_file import View


def missing_content(view: "View", entry: int) -> UsageError:
    """Return the error for a file without content: an uncommitted one that is not hashed, or one without its blob."""
    path = path_text(view.path(entry))
    if not view.oid(entry).strip("0"):
        return UsageError(f"`{path}` is not indexed: {REASONS[view.reason(entry)]}")
    return UsageError(f"cannot read `{path}`: its blob is missing, damaged or was never fetched")

"""Definitions that differ between two revisions, ranked if a query is given, and chosen to fit into a budget of tokens.

No index is needed. A ranking adds the cosine of query and definition to the share of the query's terms, weighted by
their rarity among the changes, that occur in the definition.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from gitmem.answering.history_notes import unreadable_notes
from gitmem.answering.trace_resources import open_element_reader
from gitmem.display import count, visible
from gitmem.git.file_history import FileChange, read_changed_files
from gitmem.git.path_encoding import path_text
from gitmem.git.revisions import Revision, resolve_range
from gitmem.history.tree_changes import GROUPS, MOVED, ElementChange, compare_trees
from gitmem.named_tuple import NamedTuple
from gitmem.words import Text, count_identifiers, decode, terms_of
from gitmem.workspace import Workspace

Json = dict[str, Any]
Estimate = Callable[[str], int]

_RANKED_BYTES: Final = 4000
"""Bytes at the start of a definition by which it is ranked."""

_HEADING_TOKENS: Final = 60
"""Tokens for the headings, the range and the line about omitted changes."""


class Comparison(NamedTuple):
    """Both ends of a range, the number of files that differ between them, and the definitions that do.

    `notes` say which objects git cannot read.
    """

    since: Revision
    until: Revision
    files: int
    changes: list[ElementChange]
    notes: list[str]


class RangeChanges(NamedTuple):
    """Changes between two revisions in the order to show them; `counts` are those by group, before any limit.

    `notes` say where the comparison is incomplete.
    """

    since: str
    until: str
    files: int
    counts: dict[str, int]
    changes: list[ElementChange]
    is_ranked: bool
    omitted: int
    notes: list[str]


def read_range_changes(
    workspace: Workspace, text: str, words: str = "", check: Callable[[], None] | None = None
) -> RangeChanges:
    """Return what differs between the ends of `A..B` or `A...B`, best first if there are words, else by group.

    Raises: UnknownRevision, UsageError, GitFailed, WorkersFailed, ModelDamaged.
    """
    since, until, files, changes, notes = compare_range(workspace, text, check, with_text=bool(words.strip()))
    counts = Counter(change.group for change in changes)
    ranked = _rank(changes, words) if words.strip() else changes
    by_group = {group: counts[group] for group in GROUPS}
    return RangeChanges(since.name, until.name, files, by_group, ranked, bool(words.strip()), 0, notes)


def compare_range(
    workspace: Workspace,
    text: str,
    check: Callable[[], None] | None = None,
    *,
    with_text: bool = False,
    is_read: Callable[[FileChange], bool] = lambda _: True,
) -> Comparison:
    """Return the definitions that differ between the ends of `A..B` or `A...B`, by group, path and line.

    They have their text only on request. Files for which `is_read` is false are left out.

    Raises: UnknownRevision, UsageError, GitFailed, WorkersFailed.
    """
    location = workspace.location
    since, until = resolve_range(location, text)
    files, unreadable = read_changed_files(location, since.tree, until.tree)
    with open_element_reader(location, check) as reader:
        reader.note_missing(unreadable)
        changes = compare_trees([file for file in files if is_read(file)], reader, with_text=with_text)
        return Comparison(since, until, len(files), changes, unreadable_notes(location, reader.missing))


def fit_changes(found: RangeChanges, tokens: int, estimate: Estimate) -> RangeChanges:
    """Return as many changes as a text of so many tokens has room for: the best ones, or those of most lines."""
    remaining = tokens - _HEADING_TOKENS
    numbers = range(len(found.changes))
    kept = []
    for number in numbers if found.is_ranked else sorted(numbers, key=lambda each: -found.changes[each].size):
        remaining -= 1 + estimate(change_line(found.changes[number], with_group=found.is_ranked))
        if remaining < 0:
            break
        kept.append(number)
    changes = [found.changes[number] for number in sorted(kept)]
    return found._replace(changes=changes, omitted=len(found.changes) - len(changes))


def changes_lines(found: RangeChanges) -> list[str]:
    """Return the lines that show changes: one for each, below the name of its group unless they are ranked."""
    lines: list[str] = []
    if found.is_ranked:
        lines += [change_line(change, with_group=True) for change in found.changes]
    else:
        for group in GROUPS:
            members = [change for change in found.changes if change.group == group]
            lines += [f"{group}:", *(f"  {change_line(change)}" for change in members)] if members else []
    return lines


def describe_range(found: RangeChanges) -> str:
    """Return a line with the range and its numbers."""
    numbers = ", ".join(f"{number:,} {group}" for group, number in found.counts.items() if number)
    return f"{visible(found.since)}..{visible(found.until)}: {count(found.files, 'file')}, {numbers or 'no changes'}"


def change_line(change: ElementChange, *, with_group: bool = False) -> str:
    """Return one change as a line."""
    place = visible(path_text(change.path)) + (f":{change.first}-{change.last}" if change.symbol else "")
    kinds = [each for each in change.kinds if change.group != MOVED or "move" not in each]
    parts = [place, visible(change.symbol), change.group if with_group else "", ", ".join(kinds)]
    if change.group == MOVED:
        old = visible(path_text(change.old_path)) if change.old_path != change.path else ""
        symbol = visible(change.old_symbol) if change.old_symbol != change.symbol else ""
        parts.append(f"from {'#'.join(part for part in (old, symbol) if part)}")
    if change.members:
        parts.append(f"with {count(change.members, 'member')}")
    return "  ".join(part for part in parts if part)


def changes_json(found: RangeChanges) -> Json:
    """Return the changes as one object."""
    return {
        "since": found.since,
        "until": found.until,
        "files": found.files,
        "counts": found.counts,
        "changes": [change_json(change) for change in found.changes],
        "omitted": found.omitted,
        "notes": found.notes,
    }


def change_json(change: ElementChange) -> Json:
    return {
        "change": change.group,
        "kinds": list(change.kinds),
        "path": path_text(change.path),
        "symbol": change.symbol,
        "chunk_type": change.chunk_type,
        "start_line": change.first,
        "end_line": change.last,
        "old_path": path_text(change.old_path) if change.old_path != change.path else None,
        "old_symbol": change.old_symbol if change.old_symbol != change.symbol else None,
        "members": change.members,
        "lines": change.size,
    }


def _rank(changes: Sequence[ElementChange], words: str) -> list[ElementChange]:
    """Return the changes by their relevance for a query, the best first; equally good ones keep their order."""
    import numpy as np

    from gitmem.embedding.bundled import BundledEncoder  # ranking alone needs the model

    if not changes:
        return []
    texts = [count_identifiers(_ranked_text(change)) for change in changes]
    query = count_identifiers(words)
    vectors = BundledEncoder().encode_names([query, *texts])
    scores = (vectors[1:] @ vectors[0]).tolist()
    wanted, terms = _terms(query), [_terms(text) for text in texts]
    present = Counter(term for found in terms for term in found & wanted)
    weights = {term: math.log(1 + len(changes) / present[term]) for term in present}
    total = sum(weights.values()) or 1.0
    for number, found in enumerate(terms):
        scores[number] += sum(weights[term] for term in found & wanted) / total
    order = np.argsort(-np.array(scores), kind="stable")
    return [changes[number] for number in order.tolist()]


def _ranked_text(change: ElementChange) -> str:
    return f"{change.symbol} {path_text(change.path)}\n{decode(change.text[:_RANKED_BYTES])}"


def _terms(text: Text) -> set[str]:
    return {term for identifier in text.identifiers for term in terms_of(identifier)}

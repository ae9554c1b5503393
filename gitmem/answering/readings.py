"""Read the locations and records that names mean in one repository, and put together those of several."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import Final

from gitmem.answering.answer import ViewState
from gitmem.answering.answer_json import describe_view
from gitmem.answering.commit_excerpts import find_commit_excerpt
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.file_chunks import chunk_file
from gitmem.answering.file_excerpts import read_file_excerpt
from gitmem.answering.location_lookup import IndexedTree, has_path
from gitmem.answering.record_excerpts import is_record_name, read_records
from gitmem.answering.repository_ids import RepositoryId, repository_hint, repository_like
from gitmem.answering.sessions import is_session_name, use_session
from gitmem.answering.symbol_lookup import SymbolChunk
from gitmem.answering.tree_files import read_tree_files
from gitmem.errors import GitmemError, UnknownRevision, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes
from gitmem.git.revisions import resolve
from gitmem.locations import parse_location
from gitmem.memory.conversation import GET_DEFAULT
from gitmem.memory.record_store import RecordStore, Tip
from gitmem.named_tuple import NamedTuple
from gitmem.records.documents import find_named_document
from gitmem.records.note_states import read_state
from gitmem.workspace import Workspace

_MAX_LINE: Final = 450
"""Characters of a line of an error: the MCP server shortens longer ones."""

_NAME: Final = "\0"
"""Placeholder of a name in a message."""


class Reading(NamedTuple):
    """What the names of one repository mean: excerpts, or why they cannot be read; and the tree that was read."""

    found: Mapping[str, Sequence[Excerpt] | GitmemError]
    tree: str
    notes: Sequence[str]
    repository: str = ""
    """Name of the repository, "" for the one of the call."""

    def in_repository(self, name: str) -> "Reading":
        """Return the excerpts under the name of their repository."""
        found = {
            id_: result if isinstance(result, GitmemError) else [excerpt.in_repository(name) for excerpt in result]
            for id_, result in self.found.items()
        }
        return self._replace(found=found, repository=name)


class NameOptions(NamedTuple):
    """Revision as the user wrote it, the number of turns or results, and the folder of the user.

    `limit` applies to conversations and search sessions; 0 is the default of each. Paths are relative to the root of
    the working tree, or else to `folder`. `repositories` are those with which names may begin; None if
    they may not.
    """

    rev: str = ""
    limit: int = 0
    folder: str = ""
    repositories: Collection[str] | None = None

    @property
    def turns(self) -> int:
        """Number of turns of a conversation."""
        return self.limit or GET_DEFAULT


class Source(NamedTuple):
    """Tree that names of files are read from, with its state and notes for the answer."""

    tree: IndexedTree
    reader: ObjectReader
    state: ViewState
    notes: Sequence[str]


def read_from_git(
    workspace: Workspace,
    selection: TreeSelection,
    names: Sequence[str],
    options: NameOptions,
    notes: Sequence[str] = (),
) -> Reading:
    """Read some names without the index; `notes` are added."""
    files = read_tree_files(workspace, selection)
    with open_reader(files.location, bulk=False, files=files.files) as reader:

        def chunk(entry: int) -> list[SymbolChunk]:
            return chunk_file(files.paths.view, entry, reader, workspace.settings)

        tree = files.paths._replace(chunk_file=cache(chunk))
        return read_names(workspace, Source(tree, reader, files.state, [*files.notes, *notes]), names, options)


def needs_no_tree(name: str) -> bool:
    """Return whether a name is not that of a file: a record or search session."""
    return is_record_name(name) or is_session_name(name)


def read_without_tree(workspace: Workspace, names: Sequence[str], options: NameOptions) -> Reading:
    """Read names that are all records or search sessions."""
    return read_names(workspace, None, names, options)


def read_names(workspace: Workspace, source: Source | None, names: Sequence[str], options: NameOptions) -> Reading:
    """Read names from a tree and from the memory; without a tree no name is that of a file."""
    found: dict[str, Sequence[Excerpt] | GitmemError] = {}
    with RecordStore(workspace.location) as store:
        tip = cache(store.tip)  # read from git once, and only if a record is named
        for name in names:
            try:
                found[name] = _read_name(workspace, source, store, tip, name, options)
            except GitmemError as error:
                found[name] = error
        commit = tip().commit or "" if source is None else ""
    if source is None:
        return Reading(found, f"memory {commit[:7]}".rstrip(), [])
    return Reading(found, describe_view(source.state), source.notes)


def _read_name(
    workspace: Workspace,
    source: Source | None,
    store: RecordStore,
    tip: Callable[[], Tip],
    name: str,
    options: NameOptions,
) -> Sequence[Excerpt]:
    """Read one name. Raises: GitmemError if nothing has it."""
    if is_session_name(name):
        from gitmem.answering.session_excerpts import read_session  # few names are those of sessions

        session = use_session(workspace, name)
        return read_session(workspace, session, options.limit or workspace.settings.session_results)
    if is_record_name(name):
        _refuse_revision(name, options.rev)
        return read_records(store, tip(), name, options.turns, partial(read_state, workspace))
    assert source is not None, "a tree is opened for names of files"
    try:
        return [read_file_excerpt(source.tree, source.reader, name, options.folder)]
    except GitmemError as problem:
        # Ids of commits, and those that users gave documents, may look like paths, which have precedence.
        commit = find_commit_excerpt(workspace.location, name)
        document = "" if commit or options.rev else find_named_document(store, tip(), name)
        if document:
            return read_records(store, tip(), document, options.turns, partial(read_state, workspace))
        if commit is None:
            raise _explain_prefix(workspace, source.tree, name, options, problem) from problem
        return [commit]


def _explain_prefix(
    workspace: Workspace, tree: IndexedTree, name: str, options: NameOptions, problem: GitmemError
) -> GitmemError:
    """Return the error for a name without a file: it may begin with a revision, or with an unknown repository."""
    prefix, _, rest = name.partition(":")
    has = partial(has_path, tree, folder=options.folder)
    # One letter is the drive of a path from Windows.
    if len(prefix) < 2 or not repository_like(name) or has(parse_location(name, has).path) or _is_path(tree, prefix):
        return problem
    if _is_revision(workspace, prefix):
        return UsageError(problem.message, hint=f"`{prefix}` is a revision: gitmem get --rev {prefix} {rest}")
    if options.repositories is None:
        return problem
    message = f"no such file in this tree, and unknown repository `{prefix}`: `{name}`"
    return UsageError(message, hint=repository_hint(prefix, options.repositories))


def _is_path(tree: IndexedTree, path: str) -> bool:
    raw = path_bytes(path)
    return any(each == raw or each.startswith(raw + b"/") for each in islice(tree.view.paths, tree.files))


def _is_revision(workspace: Workspace, text: str) -> bool:
    try:
        resolve(workspace.location, text)
    except (UnknownRevision, UsageError):
        return False
    return True


def _refuse_revision(name: str, rev: str) -> None:
    if rev:
        raise UsageError(f"`rev` does not apply to the record `{name}`", hint=f"gitmem memory show --at REV {name}")


def collect(readings: Sequence[Reading], ids: Sequence[RepositoryId]) -> tuple[list[Excerpt], list[GitmemError]]:
    """Return the excerpts of some ids in their order, and the errors of the other ids.

    Raises: the error of all ids together, if none can be read.
    """
    by_repository = {reading.repository: reading.found for reading in readings}
    excerpts: list[Excerpt] = []
    failures: dict[str, GitmemError] = {}
    for repository, name in ids:
        found = by_repository[repository][name]
        if isinstance(found, GitmemError):
            failures[f"{repository}:{name}" if repository else name] = found
        else:
            excerpts += found
    if len(failures) == len(set(ids)):
        raise _combine(failures)
    return excerpts, list(failures.values())


def describe_trees(readings: Sequence[Reading]) -> tuple[str, list[str]]:
    """Return the trees that were read, and the notes about them."""
    trees = [f"{one.repository}: {one.tree}" if one.repository else one.tree for one in readings if one.tree]
    notes = [f"{one.repository}: {note}" if one.repository else note for one in readings for note in one.notes]
    return "; ".join(trees), notes


def _combine(failures: Mapping[str, GitmemError]) -> GitmemError:
    """Return one error for all names; names with the same problem share a line."""
    last = list(failures.values())[-1]
    if len(failures) == 1:
        return last
    names: dict[str, list[str]] = {}
    for name, error in failures.items():
        names.setdefault(error.message.replace(f"`{name}`", _NAME), []).append(f"`{name}`")
    lines = [line for message, group in names.items() for line in _fill_in(message, list(dict.fromkeys(group)))]
    hints = dict.fromkeys(error.hint for error in failures.values() if error.hint)
    return type(last)("\n".join(lines), hint="; ".join(hints))


def _fill_in(message: str, names: Sequence[str]) -> list[str]:
    """Put names into a message, as many in each line as the server shows."""
    if _NAME not in message:
        return [message]
    groups: list[str] = []
    for name in names:
        if groups and len(message) + len(groups[-1]) + len(name) < _MAX_LINE:
            groups[-1] += f", {name}"
        else:
            groups.append(name)
    return [message.replace(_NAME, group) for group in groups]

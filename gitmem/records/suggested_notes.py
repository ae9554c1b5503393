"""Suggest notes from the messages of commits, and store those that a person accepts."""

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gitmem.errors import UnknownRecord, UsageError
from gitmem.git.commit_messages import CommitMessage, read_changed_paths, read_messages
from gitmem.git.revisions import resolve, resolve_range
from gitmem.memory.bounds import check_count
from gitmem.memory.note import LIST_DEFAULT, MAX_LIST, MAX_NOTE
from gitmem.memory.record_paths import NOTES
from gitmem.memory.record_store import RecordStore
from gitmem.named_tuple import NamedTuple
from gitmem.records.code_notes import missing_paths
from gitmem.records.commit_statements import Statement, find_statements, read_message
from gitmem.records.decided_suggestions import KEY_CHARS, read_decided, remember_decided
from gitmem.records.notes import AddedNote, add_note
from gitmem.search.path_roles import path_role
from gitmem.secrets.refusal import refuse_secrets
from gitmem.workspace import Workspace

MAX_COMMITS: Final = 500
"""Newest commits that are read unless a range is given."""

_ID_CHARS: Final = 12
_MAX_PATHS: Final = 3
_MAX_PATH_CHARS: Final = 4096
_ID: Final = re.compile(r"([0-9a-f]{4,64})(?::([1-9]))?")
_MENTION: Final = re.compile(r"(?<!\w)[0-9a-f]{7,64}(?!\w)")
_SHORTEST: Final = 7
_COPIED: Final = 0.8
"""Share of its words that a subject has in common with another one in other words."""

_WORD: Final = re.compile(r"\w+")
_BESIDE_CODE: Final = frozenset({"test", "document", "example"})
_WORDINGS: Final = frozenset({"choice", "removal"})
_CHANGELOG: Final = re.compile(r"(?:.*/)?(?:change(?:s|log)|history|news|releases?|.*\.lock)\b[^/]*", re.IGNORECASE)


class SuggestedNote(NamedTuple):
    """Note that somebody may want to keep. `rule` says what was found, `paths` what the commit changed."""

    id: str
    commit: str
    request: str
    statement: Statement
    paths: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """Text of the note: subject, sentence, and where they are from."""
        title, text, _, _ = self.statement
        source = ", ".join(filter(None, (self.request, f"commit {self.commit[:_ID_CHARS]}")))
        parts = [f"{part}{'' if part.endswith(('.', '!', '?')) else '.'}" for part in (title, text) if part]
        return f"{' '.join(parts)[: MAX_NOTE - 200]} ({source})"

    @property
    def key(self) -> str:
        """Digest by which a decision is remembered: the same for a commit, its merge, and its copies elsewhere."""
        words = f"{_plain(self.statement.title)}\n{_plain(self.statement.text)}"
        return hashlib.blake2b(words.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_CHARS]


def suggest_notes(workspace: Workspace, revisions: str = "", limit: int = LIST_DEFAULT) -> list[SuggestedNote]:
    """Return suggestions of a range `A..B`, or of the newest commits in the history of a revision, newest first.

    Those that were decided on, and those of commits that a note mentions, are left out.
    Raises: UsageError, UnknownRevision, GitFailed, DamagedFile.
    """
    check_count("limit", limit, 1, MAX_LIST)
    decided = read_decided(workspace)
    unique = _join_copies(
        suggestion for message in _read_range(workspace, revisions) for suggestion in _suggest(message)
    )
    mentioned = _read_mentions(workspace) if unique else {}
    undecided = [each for each in unique if each.key not in decided and not _find_note(each, mentioned)]
    chosen: list[SuggestedNote] = []
    # In batches, because git compares two trees for each: a long range has far more suggestions than are shown.
    for start in range(0, len(undecided), MAX_LIST):
        chosen += _with_paths(workspace, undecided[start : start + MAX_LIST], strict=True)
        if len(chosen) >= limit:
            break
    return chosen[:limit]


def find_suggestions(workspace: Workspace, names: Sequence[str]) -> list[SuggestedNote]:
    """Return suggestions by their ids, decided ones too. Raises UnknownRecord, UsageError, GitFailed."""
    return _with_paths(workspace, [_find_suggestion(workspace, name) for name in dict.fromkeys(names)])


def accept_suggestions(workspace: Workspace, suggestions: Sequence[SuggestedNote]) -> list[AddedNote]:
    """Store suggestions as notes; none if one has a secret or is stored already. Raises: as `add_note`."""
    mentioned = _read_mentions(workspace)
    for suggestion in suggestions:
        refuse_secrets(suggestion.content, f"suggestion {suggestion.id}", (suggestion.paths,))
        if stored := _find_note(suggestion, mentioned):
            raise UsageError(f"`{suggestion.id}` is stored already: {stored}", hint=f"gitmem memory show {stored}")
    return [accept_suggestion(workspace, suggestion, suggestion.content) for suggestion in suggestions]


def accept_suggestion(workspace: Workspace, suggestion: SuggestedNote, content: str) -> AddedNote:
    """Store a suggestion with a text that a person may have edited. Raises: as `add_note`."""
    added = add_note(workspace, content, type_=suggestion.statement.type, paths=suggestion.paths)
    remember_decided(workspace, [suggestion.key])
    return added


def skip_suggestions(workspace: Workspace, suggestions: Sequence[SuggestedNote]) -> None:
    """Leave suggestions out from now on. Raises: StorageFailed, UnsafeIndex."""
    remember_decided(workspace, [suggestion.key for suggestion in suggestions])


def suggestion_json(suggestion: SuggestedNote) -> dict[str, Any]:
    """Convert a suggestion to JSON."""
    return {
        "id": suggestion.id,
        "type": suggestion.statement.type,
        "content": suggestion.content,
        "paths": list(suggestion.paths),
        "commit": suggestion.commit,
        "request": suggestion.request,
        "rule": suggestion.statement.rule,
    }


def _plain(text: str) -> str:
    """Return only the words of a text, without case: titles of requests often differ from commits in quotes."""
    return " ".join(_WORD.findall(text.casefold()))


def _join_copies(suggestions: Iterable[SuggestedNote]) -> list[SuggestedNote]:
    """Leave out copies of a suggestion, and subjects without a sentence if a commit with that subject has one.

    A pull request is a merge with its title, and commits of which one often has that subject. The one with most to say
    stays, and gets the number of the request.
    """
    unique: dict[str, SuggestedNote] = {}
    requests: dict[str, str] = {}
    explained: set[str] = set()
    for suggestion in suggestions:
        title = _plain(suggestion.statement.title)
        requests.setdefault(title, suggestion.request)
        if suggestion.statement.text:
            explained.add(title)
        unique.setdefault(suggestion.key, suggestion)
    joined: list[SuggestedNote] = []
    words = {""}
    for each in unique.values():
        title = _plain(each.statement.title)
        # A request is often called like its commit and some words more, or less; the merge comes directly before it.
        before, words = words, set(title.split())
        is_copy = title in explained or len(before & words) >= _COPIED * min(len(before), len(words))
        if each.statement.text or not is_copy:
            joined.append(each._replace(request=each.request or requests[title]))
    return joined


def _read_range(workspace: Workspace, revisions: str) -> list[CommitMessage]:
    location = workspace.location
    if ".." not in revisions:
        tip = resolve(location, revisions or "HEAD")
        return read_messages(location, _commit_of(tip.commit, tip.name), limit=MAX_COMMITS)
    since, until = resolve_range(location, revisions)
    start = _commit_of(since.commit, since.name)
    return read_messages(location, _commit_of(until.commit, until.name), since=start)


def _commit_of(commit: str | None, name: str) -> str:
    if commit is None:
        raise UsageError(f"`{name}` is not a commit", hint="give a range of commits, for example v1.2..HEAD")
    return commit


def _suggest(message: CommitMessage) -> list[SuggestedNote]:
    """Return the suggestions of a commit; their ids are numbered if there are several."""
    parts = read_message(message.message, is_merge=message.is_merge)
    statements = find_statements(parts, message.author, message.attached) if parts else []
    short = message.commit[:_ID_CHARS]
    ids = [short] if len(statements) == 1 else [f"{short}:{number}" for number in range(1, len(statements) + 1)]
    request = parts.request if parts else ""
    return [SuggestedNote(name, message.commit, request, each) for name, each in zip(ids, statements, strict=True)]


def _find_suggestion(workspace: Workspace, name: str) -> SuggestedNote:
    match = _ID.fullmatch(name)
    if match is None:
        raise UsageError(f"`{name[:80]}` is not the id of a suggestion", hint="gitmem memory suggest")
    commit = _commit_of(resolve(workspace.location, match[1]).commit, match[1])
    # The commit itself is read, so an id is valid whatever range it was listed from.
    suggestions = _suggest(read_messages(workspace.location, commit, limit=1)[0])
    number = int(match[2] or 1)
    if number > len(suggestions):
        raise UnknownRecord(f"no such suggestion: `{name}`", hint="gitmem memory suggest")
    if match[2] is None and len(suggestions) > 1:
        ids = ", ".join(each.id for each in suggestions)
        raise UsageError(f"the commit `{name}` has several suggestions", hint=f"name one of {ids}")
    return suggestions[number - 1]


def _read_mentions(workspace: Workspace) -> dict[str, list[tuple[str, str, str]]]:
    """Return the ids of commits in the texts of all notes by their first digits, with the note's id and text."""
    mentions: dict[str, list[tuple[str, str, str]]] = {}
    with RecordStore(workspace.location) as store:
        for record in store.read_records(store.entries(store.tip(), NOTES)):
            for name in set(_MENTION.findall(record.text)):
                mentions.setdefault(name[:_SHORTEST], []).append((name, record.id, record.text))
    return mentions


def _find_note(suggestion: SuggestedNote, mentions: Mapping[str, list[tuple[str, str, str]]]) -> str:
    """Return the id of a note that mentions the commit, or an empty text.

    A note that was made of another sentence of the commit begins with the subject too, but lacks this sentence.
    """
    title, sentence, _, _ = suggestion.statement
    for name, identity, text in mentions.get(suggestion.commit[:_SHORTEST], ()):
        if suggestion.commit.startswith(name) and (sentence in text or not text.startswith(title)):
            return identity
    return ""


def _with_paths(
    workspace: Workspace, suggestions: Sequence[SuggestedNote], *, strict: bool = False
) -> list[SuggestedNote]:
    """Add the paths that the commits changed, if they still exist.

    With `strict` leave out choices of words and wordings: those of commits that changed only texts, tests or examples.
    """
    changed = read_changed_paths(workspace.location, list(dict.fromkeys(each.commit for each in suggestions)))
    chosen = {commit: _choose_paths(paths) for commit, paths in changed.items()}
    gone = set(missing_paths(workspace, list({path for paths in chosen.values() for path in paths})))
    return [
        each._replace(paths=tuple(path for path in chosen.get(each.commit, ()) if path not in gone))
        for each in suggestions
        if not strict or each.statement.rule not in _WORDINGS or _has_code(changed.get(each.commit, ()))
    ]


def _has_code(paths: Sequence[str]) -> bool:
    return not paths or any(path_role(path) not in _BESIDE_CODE for path in paths)


def _choose_paths(paths: Iterable[str]) -> list[str]:
    """Return the few paths that a note is about: code before tests and documents, or the folder common to many.

    Change logs and lock files change in most commits, so a note about them would be stale at once.
    """
    usable = [path for path in paths if len(path) <= _MAX_PATH_CHARS and path.isprintable()]
    about = [path for path in usable if not _CHANGELOG.fullmatch(path)]
    code = [path for path in about if path_role(path) not in _BESIDE_CODE] or about
    if len(code) <= _MAX_PATHS:
        return code
    folder = posixpath.commonpath(code)
    return [folder] if folder else []

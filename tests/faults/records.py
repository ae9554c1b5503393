"""Records in the moment before something happens to them, what then happens, and what must be true afterwards.

A state is the set of all records, each told by its kind, its place (none for notes, whose ids are random) and its text.
After a change that was acknowledged the state is the new one; after one that was not it is the old or the new one,
never anything between. What comes next needs no repair.
"""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from gitmem.errors import GitmemError
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import RawObject, format_pack
from gitmem.git.program import run_git
from gitmem.git.references import DURABLE, store_objects
from gitmem.memory.record_paths import CONVERSATION_PREFIX, REFERENCE
from gitmem.memory.record_store import RecordStore, Tip
from gitmem.records.conversations import append_turn
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from gitmem.records.transfer import import_records
from gitmem.types import DOCUMENT, NOTE, TURN
from gitmem.workspace import Workspace
from tests.faults.oracle import small_steps
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of

Element = tuple[str, str, str]
"""Kind, place and text of a record."""

State = frozenset[Element]
CANARY: Final = "canary that was deleted and must not be found after a purge"
FOREIGN: Final = b"an object of the user's that nothing reaches"
IMPORTED: Final = 60
"""Records of an import: with their trees they come in a pack."""

SOURCE: Final = "wiki"
LONG: Final = "words of a longer text about parcels and their way. " * 300


class Change(NamedTuple):
    """Something done to records: `act` does it, `after` says what there is then."""

    name: str
    act: Callable[[Workspace], object]
    after: Callable[[State], State]


_numbers = count()


def unique(words: str) -> str:
    """A text that no other record has."""
    return f"{words} {next(_numbers)} {random.getrandbits(64):x}"


def added() -> Change:
    text = unique("a note")
    return Change("memory add", lambda place: add_note(place, text), lambda old: old | {(NOTE, "", text)})


def replaced(source: str = "1", words: str = LONG) -> Change:
    text = unique(words)
    given = {"source": SOURCE, "source_id": source}

    def after(old: State) -> State:
        return frozenset(item for item in old if item[:2] != (DOCUMENT, source)) | {(DOCUMENT, source, text)}

    return Change("doc add", lambda place: add_document(place, text, given), after)


def appended(conversation: str = "plan") -> Change:
    text = unique("a turn")

    def after(old: State) -> State:
        turns = [int(place.rpartition(" ")[2]) for kind, place, _ in old if place.startswith(f"{conversation} ")]
        return old | {(TURN, f"{conversation} {max(turns, default=-1) + 1}", text)}

    return Change("conversation append", lambda place: append_turn(place, conversation, "user", text, None), after)


def deleted(gone: State) -> Change:
    def act(place: Workspace) -> object:
        names = read_state(place)
        return delete_records(place, sorted({names[item] for item in gone if item in names}))

    return Change("memory delete", act, lambda old: old - gone)


def imported(number: int = IMPORTED, words: str = "a line") -> Change:
    """Notes that come at once; the texts are alike but for what stands behind the `#`."""
    common = unique(words)
    texts = [f"{common}#{place}" for place in range(number)]
    lines = [json.dumps({"content": text}) for text in texts]
    return Change(
        "memory import",
        lambda place: import_records(place, lines),
        lambda old: old | {(NOTE, "", text) for text in texts},
    )


def purged() -> Change:
    return Change("memory purge", purge_memory, lambda old: old)


def choose_change(state: State, chance: random.Random) -> Change:
    """Any change of what there is."""
    some = [item for item in sorted(state) if item[0] != TURN]
    kinds: list[Callable[[], Change]] = [added, added, replaced, appended, lambda: imported(5), purged]
    if some:
        kinds.append(lambda: deleted(frozenset([chance.choice(some)])))
    return chance.choice(kinds)()


class World(NamedTuple):
    """A repository with an index and records, one of them deleted and one object of the user's that nothing reaches."""

    repo: Repo
    state: State
    canary: str
    foreign: str


def make_world(folder: Path, *, indexed: bool = True) -> World:
    """Make it."""
    folder.mkdir(parents=True, exist_ok=True)
    repo = Repo.init(folder / "repo", "--template=")
    repo.commit({"a.py": "def alpha(value):\n    return value\n"})
    if indexed:
        (repo.path / ".git" / "info").mkdir()
        index(repo)
    workspace = workspace_of(repo)
    for number in range(3):
        add_note(workspace, f"note {number}")
    add_document(workspace, LONG, {"source": SOURCE, "source_id": "1"})
    for _ in range(2):
        appended().act(workspace)
    canary = add_note(workspace, CANARY).note
    blob = repo.git("ls-tree", "-r", "--format=%(objectname) %(path)", REFERENCE)
    oid = next(line.split()[0] for line in blob.splitlines() if line.endswith(canary.id))
    delete_records(workspace, [canary.id])
    foreign = repo.git("hash-object", "-w", "--stdin", stdin=FOREIGN)
    return World(repo, frozenset(read_state(workspace)), oid, foreign)


def changes_of(world: World) -> list[Callable[[], Change]]:
    """Every kind of change; of what there is, a note and the document are deleted."""
    gone = frozenset(item for item in world.state if item[0] == "document" or item[2] == "note 0")
    return [added, replaced, appended, lambda: deleted(gone), purged, imported]


def copy_world(world: World) -> Repo:
    """The repository as it was made, beside the first."""
    own = Repo(world.repo.path.with_name("own"))
    shutil.rmtree(own.path, ignore_errors=True)
    shutil.copytree(world.repo.path, own.path, symlinks=True)
    return own


class Ended(NamedTuple):
    """How a process ended: how many changes it acknowledged, its exit code (negative: a signal), and its last words."""

    acknowledged: int
    code: int
    words: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


REFUSED: Final = 10
"""The exit code after an error of ours; any other error gives 11."""


def do(repo: Repo, changes: Sequence[Change], *, kill_after: float | None = None) -> Ended:
    """Make changes one after the other in a process group of its own, each acknowledged by a byte."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(source)
        os._exit(_do(repo, changes, target))
    os.close(target)
    if kill_after is not None:
        time.sleep(kill_after)
        _kill_group(child)
    with os.fdopen(source, "rb") as pipe:
        told, _, words = pipe.read().partition(b"!")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Ended(len(told), code, words.decode("utf-8", "replace"))


def _do(repo: Repo, changes: Sequence[Change], target: int) -> int:
    try:
        for change in changes:
            change.act(workspace_of(repo))
            os.write(target, b".")
    except BaseException as problem:
        os.write(target, f"!{type(problem).__name__}: {problem}".encode()[:4000])
        return REFUSED if isinstance(problem, GitmemError) else 11
    return 0


def _kill_group(child: int) -> None:
    """Kill the child and what it started; before it has a group of its own, it alone."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)


def read_state(workspace: Workspace) -> dict[Element, str]:
    """All records, and the id of each (of a turn, that of its conversation). Raises what reading raises."""
    found: dict[Element, str] = {}
    with RecordStore(workspace.location) as store:
        for record in store.read_records(store.entries(store.tip())):
            if record.kind == NOTE:
                found[NOTE, "", record.text] = record.id
            elif record.kind == DOCUMENT:
                found[DOCUMENT, record.fields.get("source_id", ""), record.text] = record.id
            else:
                name = CONVERSATION_PREFIX + record.id
                found[TURN, f"{record.id} {record.fields['turn']}", record.text] = name
    return found


def look_at(repo: Repo, *allowed: State) -> tuple[list[str], State]:
    """What is wrong where the records that were left behind are none of the states that may be, and what they are."""
    _age_locks(repo)
    try:
        state = frozenset(read_state(workspace_of(repo)))
    except Exception as problem:
        return [f"{type(problem).__name__}: {problem}"], frozenset()
    return [] if state in allowed else [_differences(state, allowed)], state


def _age_locks(repo: Repo) -> None:
    """Make the lock files that a dead git left behind an hour old, so that the next writer need not wait."""
    hour_ago = time.time() - 3600
    for lock in (repo.path / ".git").rglob("*.lock"):
        os.utime(lock, (hour_ago, hour_ago))


def look_after(world: World, repo: Repo, *allowed: State, gone: State | None = None) -> list[str]:
    """What is wrong with records that were left behind, with what is done next, and with a purge after it.

    With `gone` these records are deleted first, if they came to be: the purge must leave no trace of them either way.
    """
    bad, state = look_at(repo, *allowed)
    try:
        workspace = workspace_of(repo)
        repo.git("fsck", "--strict", "--full", "--no-dangling")
        after = added()
        after.act(workspace)
        if frozenset(read_state(workspace)) != after.after(state):
            bad.append("the next note changes something else")
        if workspace.paths.manifest.exists():
            words = next(iter(after.after(state) - state))[2]
            hits = search(repo, words, kinds=("notes",)).hits
            bad += [] if hits and words in "\n".join(hits[0][1]) else ["the next note is not found"]
        if gone is not None:
            left = _delete(workspace, gone)
            purge_memory(workspace)
            bad += find_traces(world, repo, gone)
            if frozenset(read_state(workspace)) != left:
                bad.append("the purge changes something")
        repo.git("cat-file", "-e", world.foreign)
    except Exception as problem:
        bad.append(f"{type(problem).__name__}: {problem}")
    return bad


def _delete(workspace: Workspace, gone: State) -> State:
    """Delete records, if they exist; returns what is left."""
    names = read_state(workspace)
    if present := sorted({names[item] for item in gone if item in names}):
        delete_records(workspace, present)
    return frozenset(read_state(workspace))


def find_traces(world: World, repo: Repo, gone: State) -> list[str]:
    """What a purge has left of records that are deleted or never came to be: objects, temporary files, words."""
    bad = []
    held = set(repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())
    roots = ("--all", "--reflog", "--indexed-objects")
    needed = set(repo.git("rev-list", "--objects", "--no-object-names", *roots).split())
    # The empty tree is that of a memory without records; it says nothing of those it had.
    more = held - needed - {world.foreign, repo.git("hash-object", "-t", "tree", "--stdin")}
    bad += ["the canary is still there"] if world.canary in held else []
    bad += [f"still there: {repo.git('cat-file', '-t', oid)} {oid}" for oid in sorted(more)]
    files = [path for path in repo.path.rglob("*") if path.is_file()]
    bad += [
        f"left behind: {path.name}"
        for path in files
        if "objects" in path.parts and "tmp_" in str(path.relative_to(repo.path))
    ]
    words = [text.split()[-1].partition("#")[0].encode() for _, _, text in gone if text != LONG]
    words = sorted({word for word in words if len(word) > 8})
    for path in files:
        data = path.read_bytes()
        bad += [f"{path.relative_to(repo.path)} has {word.decode()}" for word in words if word in data]
    return bad


def _differences(state: State, allowed: tuple[State, ...]) -> str:
    nearest = min(allowed, key=lambda other: len(state ^ other))
    lost, more = nearest - state, state - nearest
    told = [f"lost {kind} {place} {text[:40]}" for kind, place, text in lost]
    told += [f"never made {kind} {place} {text[:40]}" for kind, place, text in more]
    return "another state: " + "; ".join(told[:5])


@contextmanager
def small_world() -> Iterator[None]:
    """In this process with the fake model; a lock that a dead git left behind is waited for shortly."""
    with small_steps(grace=0.0):
        yield


def publish_naively(store: RecordStore, old: Tip, new: Tip, objects: list[RawObject]) -> bool:
    """What a store does that thinks of no crash and of nobody else: the control."""
    place = store._location.common_dir / REFERENCE
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("w") as file:
        file.write(f"{new.commit}\n")
    store_objects(store._location, objects)
    return True


def store_directly(location: RepositoryLocation, objects: Sequence[RawObject]) -> None:
    """Let git write among the objects of the user, where nobody finds what it leaves when it is killed: a control."""
    run_git([*DURABLE, "unpack-objects", "-q"], git_dir=location.git_dir,
            stdin=format_pack(objects, location.object_format))  # fmt: skip


@contextmanager
def direct_store() -> Iterator[None]:
    """Store objects without a quarantine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.memory.record_store.store_objects", store_directly)
        yield


@contextmanager
def naive_store() -> Iterator[None]:
    """Publish records in place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordStore, "publish", publish_naively)
        yield

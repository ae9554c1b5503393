"""Power cuts: the calls of a run are recorded, and the states that a disk may be in afterwards are made and looked at.

The model is stricter than most file systems. Bytes of a file count only up to its last sync; behind it they may be
there, missing, cut short, zeros or noise. A name made, changed or taken away in a folder counts only after a sync of
that folder; until then each of these may have happened or not, in whatever order. A sync of a file does not make its
name durable, and that of a folder not the folder's own name.
"""

import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gitmem import fsio
from gitmem.errors import GitmemError
from gitmem.freshness.currency import is_current
from tests.faults.disk_states import MANIFEST, State, digest, put_state, read_base
from tests.faults.driver import published_name
from tests.faults.kill import World, look_after, open_world
from tests.faults.oracle import small_steps
from tests.faults.report import Tally
from tests.faults.worlds import SCENARIOS, Scenario, chosen
from tests.gitrepo import Repo
from tests.indexes import workspace_of


class Operation(NamedTuple):
    """One recorded call. `path` and `target` are relative to the repository; `inode` names a file's content, `at` where
    in it was written, at its end by default."""

    kind: str
    path: str = ""
    target: str = ""
    inode: int = -1
    data: bytes = b""
    at: int = -1

    @property
    def label(self) -> str:
        """What was synced: a folder, or the kind of a file."""
        if self.kind == "sync_folder":
            return f"folder {self.path or 'of the repository'}"
        path = Path(self.path)
        while path.name.endswith(".tmp"):
            path = published_name(path)
        return f"file {path.parent / '*' if is_hash(path.name) else path}"


def is_hash(name: str) -> bool:
    return len(name) == 40 and set(name) <= set("0123456789abcdef")


class Killed(BaseException):
    """The process ends here; it makes no further call."""


class Recorder(fsio.Disk):
    """Does what it is told and takes it down. `die_at` is the number of the call before which the process is killed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log: list[Operation] = []
        self.die_at: int | None = None
        self._inodes: dict[str, int] = {}
        self._handles: dict[int, str] = {}

    def create(self, path: Path, mode: int) -> int:
        self._live()
        handle = super().create(path, mode)
        name = self._handles[handle] = self._name(path)
        self._inodes[name] = self._next_inode()
        self._note(Operation("create", name, inode=self._inodes[name]))
        return handle

    def write(self, handle: int, data: memoryview) -> int:
        self._live()
        written = super().write(handle, data)
        name = self._handles[handle]
        self._note(Operation("write", name, inode=self._inodes[name], data=bytes(data[:written])))
        return written

    def sync(self, handle: int) -> None:
        self._live()
        super().sync(handle)
        path = Path(f"/proc/self/fd/{handle}").readlink()
        name = self._name(path)
        if path.is_dir():
            self._note(Operation("sync_folder", name))
            return
        if self._handles.get(handle) != name and name not in self._inodes:  # written by somebody else: hnswlib
            self._inodes[name] = self._next_inode()
            self._note(Operation("create", name, inode=self._inodes[name]))
            self._note(Operation("write", name, inode=self._inodes[name], data=path.read_bytes()))
        self._note(Operation("sync", name, inode=self._inodes[name]))

    def rename(self, source: Path, target: Path) -> None:
        self._live()
        super().rename(source, target)
        old, new = self._name(source), self._name(target)
        self._inodes[new] = self._inodes.pop(old)
        self._note(Operation("rename", old, new, self._inodes[new]))

    def link(self, source: Path, target: Path) -> None:
        self._live()
        super().link(source, target)
        old, new = self._name(source), self._name(target)
        self._inodes[new] = self._inodes[old]
        self._note(Operation("link", old, new, self._inodes[new]))

    def touch(self, path: Path) -> None:
        self._live()
        super().touch(path)

    def unlink(self, path: Path) -> None:
        self._live()
        super().unlink(path)
        self._inodes.pop(self._name(path), None)
        self._note(Operation("unlink", self._name(path)))

    def make_folder(self, path: Path, mode: int) -> None:
        self._live()
        super().make_folder(path, mode)
        self._note(Operation("make_folder", self._name(path)))

    def _live(self) -> None:
        if self.die_at is not None and len(self.log) >= self.die_at:
            raise Killed

    def _note(self, operation: Operation) -> None:
        self.log.append(operation)

    def _name(self, path: Path) -> str:
        return "" if path == self.root else str(path.relative_to(self.root))

    def _next_inode(self) -> int:
        return sum(operation.kind == "create" for operation in self.log)


@dataclass(slots=True)
class File:
    """A file's bytes on the disk and in memory."""

    durable: bytes = b""
    written: bytes = b""


@dataclass(slots=True)
class Folder:
    """Names on the disk (None: a folder), and changes of them that are only in memory."""

    durable: dict[str, File | None] = field(default_factory=dict)
    pending: list[Callable[[dict[str, File | None]], None]] = field(default_factory=list)


class Machine:
    """A disk with its cache: plays recorded calls, and says in which states a power cut may leave it."""

    def __init__(self, base: Mapping[str, bytes | None]) -> None:
        self.folders: dict[str, Folder] = {"": Folder()}
        self._files: dict[int, File] = {}
        for path, content in base.items():
            if content is None:
                self.folders[path] = Folder()
            folder, name = _split(path)
            self.folders[folder].durable[name] = None if content is None else File(content, content)

    def play(self, operation: Operation) -> None:
        """One call."""
        getattr(self, f"_{operation.kind}")(operation)

    def is_waiting(self, operation: Operation) -> bool:
        """Whether a sync would make anything durable that is not."""
        if operation.kind == "sync_folder":
            return bool(self.folders[operation.path].pending)
        file = self._files[operation.inode]
        return file.durable != file.written

    def file(self, inode: int) -> File | None:
        """The file that was made under a number, None if there is none."""
        return self._files.get(inode)

    def _nothing(self, operation: Operation) -> None:
        """A call that was left out."""

    def _create(self, operation: Operation) -> None:
        file = self._files[operation.inode] = File()
        self._change(operation.path, lambda names, name: names.__setitem__(name, file))

    def _write(self, operation: Operation) -> None:
        file, data = self._files[operation.inode], operation.data
        at = len(file.written) if operation.at < 0 else operation.at
        file.written = file.written[:at] + data + file.written[at + len(data) :]

    def _sync(self, operation: Operation) -> None:
        file = self._files[operation.inode]
        file.durable = file.written

    def _sync_folder(self, operation: Operation) -> None:
        folder = self.folders[operation.path]
        for change in folder.pending:
            change(folder.durable)
        folder.pending.clear()

    def _rename(self, operation: Operation) -> None:
        file = self._files[operation.inode]
        old = _split(operation.path)[1]

        def rename(names: dict[str, File | None], name: str) -> None:
            names.pop(old, None)
            names[name] = file

        self._change(operation.target, rename)

    def _link(self, operation: Operation) -> None:
        file = self._files[operation.inode]
        self._change(operation.target, lambda names, name: names.__setitem__(name, file))

    def _unlink(self, operation: Operation) -> None:
        self._change(operation.path, lambda names, name: names.pop(name, None))

    def _make_folder(self, operation: Operation) -> None:
        self.folders[operation.path] = Folder()
        self._change(operation.path, lambda names, name: names.__setitem__(name, None))

    def _change(self, path: str, change: Callable[[dict[str, File | None], str], object]) -> None:
        folder, name = _split(path)

        def apply(names: dict[str, File | None]) -> None:
            change(names, name)

        self.folders[folder].pending.append(apply)

    def state(self, keep: Callable[[], bool], content: Callable[[File], bytes]) -> dict[str, bytes | None]:
        """What a power cut leaves: `keep` says of each pending change whether it came to be, `content` of each file
        what it holds."""
        found: dict[str, bytes | None] = {}
        contents: dict[int, bytes] = {}

        def walk(path: str) -> None:
            folder = self.folders[path]
            names = dict(folder.durable)
            for change in folder.pending:
                if keep():
                    change(names)
            for name, file in names.items():
                place = f"{path}/{name}" if path else name
                if file is None:
                    found[place] = None
                    walk(place)
                else:
                    found[place] = contents.setdefault(id(file), content(file))

        walk("")
        return found


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def all_written(file: File) -> bytes:
    return file.written


def only_synced(file: File) -> bytes:
    return file.durable


def zeros(file: File) -> bytes:
    """The length is right, the bytes never came."""
    return file.durable + bytes(len(file.written) - len(file.durable))


def by_chance(chance: random.Random) -> Callable[[File], bytes]:
    """Any of these, a part, or noise."""

    def content(file: File) -> bytes:
        rest = len(file.written) - len(file.durable)
        if not rest:
            return file.durable
        part = len(file.durable) + chance.randrange(rest + 1)
        padded = file.written[:part] + bytes(len(file.written) - part)
        noise = file.durable + chance.randbytes(rest)
        return chance.choice((file.written, file.durable, zeros(file), file.written[:part], padded, noise))

    return content


def certain_states(machine: Machine) -> Iterator[State]:
    """The four corners: everything came to be, nothing, names without bytes, names with zeros."""
    yield machine.state(lambda: True, all_written)
    yield machine.state(lambda: False, only_synced)
    yield machine.state(lambda: True, only_synced)
    yield machine.state(lambda: True, zeros)


def random_states(machine: Machine, chance: random.Random) -> Iterator[State]:
    """Any subset of the names, any of the contents."""
    while True:
        likely = chance.random()
        yield machine.state(lambda likely=likely: chance.random() < likely, by_chance(chance))  # type: ignore[misc]


@dataclass(slots=True)
class Recording:
    """A scenario as it was recorded: where the disk stood before, and the calls. At the end HEAD was acknowledged."""

    world: World
    base: State
    log: list[Operation]
    die_at: int | None = None

    @property
    def killed(self) -> bool:
        """Whether a first run was killed on the way."""
        return self.die_at is not None

    def without(self, label: str) -> "Recording":
        """The same by a writer that lacks some syncs."""
        kept = [call for call in self.log if not (call.kind.startswith("sync") and call.label == label)]
        return Recording(self.world, self.base, kept, self.die_at)

    @property
    def labels(self) -> list[str]:
        """What was synced, each once."""
        return list(dict.fromkeys(call.label for call in self.log if call.kind.startswith("sync")))

    def acknowledged(self, calls: int) -> tuple[str, ...]:
        """The trees that must be there after so many calls."""
        if calls < len(self.log) or not self.world.scenario.acknowledges:
            return self.world.acknowledged
        return (*self.world.acknowledged, self.world.repo.oid("HEAD^{tree}"))


def record(world: World, *, die_at: int | None = None) -> Recording:
    """Run a scenario with the disk watched. With `die_at`, a first run is killed before that call."""
    own = Repo(world.repo.path.parent / "recorded")
    shutil.rmtree(own.path, ignore_errors=True)
    shutil.copytree(world.repo.path, own.path, symlinks=True)
    base = read_base(own)
    recorder = Recorder(own.path)
    with watched(recorder):
        if die_at is not None:
            recorder.die_at = die_at
            try:
                world.scenario.act(own)
            except Killed:
                recorder.die_at = None
        world.scenario.act(own)
    return Recording(world, base, recorder.log, die_at)


class watched:  # noqa: N801 (used as a function)
    """Put another disk in place of the real one."""

    def __init__(self, disk: fsio.Disk) -> None:
        self._disk = disk

    def __enter__(self) -> None:
        self._real, fsio.disk = fsio.disk, self._disk

    def __exit__(self, *_: object) -> None:
        fsio.disk = self._real


def iter_states(made: Recording, chance: random.Random, rounds: int) -> Iterator[tuple[int, State]]:
    """The corners of every prefix of the calls, and some random states of each."""
    return replay(Machine(made.base), made.log, chance, rounds)


def replay(
    machine: Machine, log: Sequence[Operation], chance: random.Random, rounds: int
) -> Iterator[tuple[int, State]]:
    """What a power cut may leave after each of these calls, with how many of them were made."""
    for calls in range(len(log) + 1):
        if calls:
            machine.play(log[calls - 1])
        for state in certain_states(machine):
            yield calls, state
        free = random_states(machine, chance)
        for _ in range(rounds):
            yield calls, next(free)


def is_caught(broken: Recording) -> bool:
    """Whether some state after a run of this writer breaks a promise."""
    return breaks_a_promise(broken, iter_states(broken, random.Random(1), 0))


def breaks_a_promise(broken: Recording, states: Iterable[tuple[int, State]]) -> bool:
    """Whether one of these states does. Late ones, which most often do, are looked at first, and each only once."""
    own = copy_of(broken)
    seen = set()
    for calls, state in reversed(list(states)):
        trees = broken.acknowledged(calls)
        key = hash((trees, digest(state)))
        if key not in seen:
            seen.add(key)
            put_state(own, state)
            if look_at_state(broken, calls, own):
                return True
    return False


def look_at_state(made: Recording, calls: int, own: Repo) -> list[str]:
    """What is wrong with a state after so many calls: what `kill` looks at, and whether what was said to be done is."""
    told = []
    if calls == len(made.log) and made.world.scenario.acknowledges:
        workspace = workspace_of(own)
        tree = workspace.location.head_tree
        try:
            told = [] if tree and is_current(workspace, tree) else ["HEAD was said to be indexed, and is not"]
        except GitmemError as problem:
            told = [problem.message]
    return told + look_after(made.world._replace(acknowledged=made.acknowledged(calls)), own)


def copy_of(made: Recording) -> Repo:
    """A repository to put states into."""
    own = Repo(made.world.repo.path.parent / "state")
    if not own.path.exists():
        shutil.copytree(made.world.repo.path, own.path, symlinks=True)
    return own


def run(*, long: bool, only: str = "") -> Tally:
    """Thousands of states of all scenarios, also after runs that were killed; or some tens of two scenarios."""
    tally = Tally("states after a power cut")
    chance = random.Random(5)
    for scenario in chosen(SCENARIOS if long else (SCENARIOS[0], SCENARIOS[6]), only):
        seen = set[int]()
        for made in recordings([scenario], long=long):
            look_at(made, chance, tally, wanted=120 if long else 14, seen=seen)
        tally.show_progress(f"{scenario.name} is done")
    return tally


def recordings(scenarios: Iterable[Scenario], *, long: bool) -> Iterator[Recording]:
    """Each scenario as it is, and after runs that were killed on the way."""
    for scenario in scenarios:
        if scenario.name == "repair":
            continue
        with tempfile.TemporaryDirectory() as place, small_steps(grace=0.0):
            world = open_world(scenario, Path(place))
            whole = record(world)
            yield whole
            for at in kill_points(whole, long=long):
                yield record(world, die_at=at)


def kill_points(made: Recording, *, long: bool) -> list[int]:
    """Before which calls a first run is killed: every other one, or two; and the one after the last manifest.

    After a kill there the next run finds a manifest that a power cut may take back, and must not remove files before it
    is durable. A run that acknowledges is not killed there, until the name of the manifest is durable: the next one has
    nothing to do and waits for no disk, so that a power cut at that moment costs the work of the killed run.
    """
    calls = len(made.log)
    others = {*(range(1, calls, 2) if long else (calls // 3, 2 * calls // 3))}
    published = [at for at, call in enumerate(made.log) if call.kind == "rename" and call.target == MANIFEST]
    if not made.world.scenario.acknowledges:
        return sorted({*others, *(at + 1 for at in published[-1:])})
    folder = MANIFEST.rpartition("/")[0]
    for last in published[-1:]:
        is_synced = (call.kind == "sync_folder" and call.path == folder for call in made.log[last:])
        others -= {*range(last + 1, last + 1 + next((at for at, done in enumerate(is_synced) if done), calls))}
    return sorted(others)


def look_at(made: Recording, chance: random.Random, tally: Tally, *, wanted: int, seen: set[int]) -> None:
    """Look at up to that many states of a recording, spread over all its prefixes; equal ones are looked at once.

    `seen` are those of other recordings of the scenario. Before the kill a killed run made the calls of the whole run,
    which has a recording of its own, so its states count from there on.
    """
    rounds = max(0, -(-wanted // (len(made.log) + 1)) - 4)
    states: dict[int, tuple[int, State]] = {}
    for calls, state in iter_states(made, chance, rounds):
        key = hash((made.acknowledged(calls), digest(state)))
        if calls >= (made.die_at or 0) and key not in seen:
            states[key] = calls, state
    last = [key for key, (calls, _) in states.items() if calls == len(made.log)]
    others = [key for key, (calls, _) in states.items() if calls < len(made.log)]
    own = copy_of(made)
    killed = f", killed before call {made.die_at}" if made.killed else ""
    for key in [*last, *chance.sample(others, min(len(others), max(0, wanted - len(last))))]:
        calls, state = states[key]
        seen.add(key)
        put_state(own, state)
        case = f"{made.world.scenario.name}{killed}, after call {calls} of {len(made.log)}"
        tally.note(case, look_at_state(made, calls, own))


def run_control() -> Tally:
    """Writers that lack one sync each: every one must be caught. A case here is a sync, and bad is what was caught."""
    tally = Tally("writers without one sync", control=True)
    missed = []
    for made in recordings(SCENARIOS[:2], long=False):
        if made.killed:
            continue
        for label in made.labels:
            caught = is_caught(made.without(label))
            tally.note(f"without the sync of {label}", ["caught"] if caught else [])
            if not caught:
                missed.append(f"{made.world.scenario.name}: {label}")
    tally.missed = missed
    return tally

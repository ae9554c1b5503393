"""Power cuts while records change: the calls of gitmem and of the git that it runs are recorded, and the states that a
disk may be in afterwards are made and looked at, by the model of `power.py`.
"""

import random
import re
import shutil
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from gitmem.paths import MEMORY_LOCK
from tests.faults import tape
from tests.faults.disk_states import State as DiskState
from tests.faults.power import File, Folder, Machine, Operation, replay
from tests.faults.records import (
    Change,
    Element,
    State,
    World,
    added,
    changes_of,
    copy_world,
    look_after,
    make_world,
    small_world,
)
from tests.faults.report import Tally
from tests.faults.tape import Tape
from tests.gitrepo import Repo
from tests.indexes import workspace_of

_HEX_FOLDER: Final = re.compile(r"/objects/[0-9a-f]{2}(?=/|$)")


class Recording(NamedTuple):
    """A change as it was recorded: where the disk stood before, the calls, and what there is afterwards."""

    world: World
    change: str
    base: DiskState
    log: list[Operation]
    new: State

    def without(self, label: str) -> "Recording":
        """The same by a writer that lacks some syncs."""
        return self._replace(log=[call for call in self.log if not (is_sync(call) and label_of(call) == label)])

    @property
    def labels(self) -> list[str]:
        """What was synced, each once."""
        return list(dict.fromkeys(label_of(call) for call in self.log if is_sync(call)))

    def allowed(self, calls: int) -> tuple[State, ...]:
        """What there may be after so many calls; at the end the change was acknowledged."""
        return (self.world.state, self.new) if calls < len(self.log) else (self.new,)


def is_sync(call: Operation) -> bool:
    return call.kind.startswith("sync")


def label_of(call: Operation) -> str:
    """What was synced, without the names that hashes and chance give."""
    path = _HEX_FOLDER.sub("/objects/*", call.path)
    path = re.sub(r"(tmp_obj_|tmp_pack_|tmp_idx_|\.)[A-Za-z0-9]{6}$|pack-[0-9a-f]{40}", "*", path)
    return f"{'folder' if call.kind == 'sync_folder' else 'file'} {path}"


class GitMachine(Machine):
    """One that knows what git does besides: it changes files that were there before, and removes folders."""

    def play(self, operation: Operation) -> None:
        if operation.kind != "create" and operation.inode >= 0 and operation.inode not in self._files:
            self._files[operation.inode] = self._find(operation.path)
        super().play(operation)

    def _find(self, path: str) -> File:
        folder, _, name = path.rpartition("/")
        names = dict(self.folders[folder].durable)
        for change in self.folders[folder].pending:
            change(names)
        found = names[name]
        assert found is not None, "a file, no folder"
        return found

    def _make_folder(self, operation: Operation) -> None:
        super()._make_folder(operation)
        self.folders[operation.path] = Folder()

    def _remove_folder(self, operation: Operation) -> None:
        self._change(operation.path, lambda names, name: names.pop(name, None))

    def _truncate(self, operation: Operation) -> None:
        file = self._files[operation.inode]
        file.written = file.written[: operation.at]


def run(*, long: bool) -> Tally:
    """Three thousand states of all changes, or some tens."""
    states = 3_000 if long else 21
    return tape.run_processes("states of records after a power cut", "records_power", [str(states)])


def run_control() -> Tally:
    """Writers of a first record that lack one sync each: every one must be caught."""
    return tape.run_processes("writers of records without one sync", "records_power", ["0"], control=True)


def main() -> None:
    """Look at that many states; at none: at what becomes of writers without one sync."""
    wanted = int(sys.argv[1])
    tally, recorder = Tally("states", control=not wanted), Tape()
    with small_world():
        if wanted:
            _look_at_changes(recorder, tally, wanted)
        else:
            _look_at_broken_writers(recorder, tally)
    tape.tell_tally(tally)


def _look_at_changes(recorder: Tape, tally: Tally, wanted: int) -> None:
    world = make_world(recorder.root / "world", indexed=False)
    made = [record(recorder, world, make()) for make in changes_of(world)]
    made.append(_record_first(recorder))
    chance = random.Random(11)
    for recording in made:
        states = list(iter_states(recording, chance, 1 + wanted // (len(made) * (len(recording.log) + 1))))
        last = [state for state in states if state[0] == len(recording.log)]
        share = max(1, wanted // len(made) - len(last[:4]))
        for calls, state in [*last[:4], *chance.sample(states, min(share, len(states)))]:
            bad = look_at(recording, calls, state)
            tally.note(f"{recording.change}, after call {calls} of {len(recording.log)}", bad)


def _look_at_broken_writers(recorder: Tape, tally: Tally) -> None:
    whole = _record_first(recorder)
    for label in whole.labels:
        broken = whole.without(label)
        states = list(iter_states(broken, random.Random(1), 0))[::-1]
        caught = any(look_at(broken, calls, state) for calls, state in states)
        tally.note(f"without the sync of {label}", ["caught"] if caught else [])
        tally.missed += [] if caught else [label]


def _record_first(recorder: Tape) -> Recording:
    """The first record of a repository, for which every folder is new."""
    folder = recorder.root / "first"
    folder.mkdir()
    repo = Repo.init(folder / "repo", "--template=")
    repo.commit({"a.py": "alpha = 1\n"})
    foreign = repo.git("hash-object", "-w", "--stdin", stdin=b"a loose end")
    return record(recorder, World(repo, frozenset(), "", foreign), added())


def record(recorder: Tape, world: World, change: Change) -> Recording:
    """Make a change with every call taken down."""
    repo = copy_world(world)
    base = read_base(repo)
    recorder.set(tape.RECORD)
    change.act(workspace_of(repo))
    recorder.end()
    log = [call for call in recorder.read(repo.path) if not call.path.endswith(MEMORY_LOCK)]  # its bytes say nothing
    assert any(map(is_sync, log)), "the library saw nothing"
    return Recording(world, change.name, base, log, change.after(world.state))


def iter_states(made: Recording, chance: random.Random, rounds: int) -> Iterator[tuple[int, DiskState]]:
    """The corners of every prefix of the calls, and some random states of each."""
    return replay(GitMachine(made.base), made.log, chance, rounds)


def look_at(made: Recording, calls: int, state: DiskState) -> list[str]:
    """Put the git directory into a state and see."""
    repo = Repo(made.world.repo.path.with_name("state"))
    put_state(made.world.repo, repo, state)
    gone = frozenset[Element]() if made.change == "memory purge" else None
    return look_after(made.world, repo, *made.allowed(calls), gone=gone)


def read_base(repo: Repo) -> DiskState:
    """The whole git directory."""
    root = repo.path / ".git"
    paths = [root, *sorted(root.rglob("*"))]
    return {str(path.relative_to(repo.path)): None if path.is_dir() else path.read_bytes() for path in paths}


def put_state(source: Repo, repo: Repo, state: DiskState) -> None:
    """A working copy with the git directory of a state."""
    shutil.rmtree(repo.path, ignore_errors=True)
    shutil.copytree(source.path, repo.path, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for name, content in state.items():
        path = repo.path / name
        if content is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content)


if __name__ == "__main__":
    main()

"""The background process of the hooks: marker files, one run for many commits, waiting for git, and the log."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gitmem.actions.doctor import OK, WARN
from gitmem.actions.doctor import _background as check_background
from gitmem.cli.hook import _await_caller as await_caller
from gitmem.errors import ExitCode, StorageFailed
from gitmem.freshness import catch_up as module
from gitmem.freshness.background import mark_dirty, start_background_refresh
from gitmem.freshness.catch_up import catch_up
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import refresh
from gitmem.freshness.run_log import DEFERRED, DONE, FAILED, Entry, add_entry, read_entries
from gitmem.fsio import rename_file
from gitmem.git.pending_operation import find_operation
from gitmem.locks import is_locked, writer_lock
from gitmem.paths import STARTING, IndexPaths
from gitmem.workspace import remove_index
from tests.gitrepo import Repo, isolated_environment
from tests.hooks.worlds import BARE_PATH, PATIENCE_SECONDS, PROGRAM, is_idle, make_world, settle, slow_program
from tests.install.test_hook_setup import install
from tests.sample import open_sample

HOOK_SECONDS = 60
"""Seconds after which a hook counts as waiting for its refresh."""

NEW = {"new.py": "def brand_new_thing():\n    return 2\n"}


def hook(repo: Repo, event: str = "post-commit", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command of a hook file."""
    command = [*PROGRAM, "hook", event]
    return subprocess.run(command, cwd=repo.path, env=isolated_environment() | environment, capture_output=True,
                          timeout=HOOK_SECONDS, check=False)  # fmt: skip


def marks(repo: Repo) -> list[str]:
    return sorted(file.name for file in (repo.path / ".gitmem" / "state").glob("dirty-*"))


def await_true(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def outcomes(repo: Repo) -> list[str]:
    return [entry.outcome for entry in read_entries(IndexPaths(repo.path / ".gitmem"))]


def test_the_hook_returns_silently_and_the_index_is_updated(own: Repo) -> None:
    own.commit(NEW)
    done = hook(own)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert settle(own.path)
    assert outcomes(own) == [DONE]


def test_staged_files_are_indexed_before_the_commit_exists(own: Repo) -> None:
    own.write(NEW)
    own.git("add", "new.py")
    hook(own, "pre-commit", GIT_INDEX_FILE="/nowhere/index", GIT_DIR="/nowhere", GIT_WORK_TREE="/nowhere")
    await_true(lambda: outcomes(own) == [DONE] and is_idle(own.path))
    assert "1 blobs embedded" in read_entries(open_sample(own).paths)[0].message
    own.git("commit", "-q", "-m", "new")
    hook(own)
    assert settle(own.path)
    assert "0 blobs embedded" in read_entries(open_sample(own).paths)[-1].message


def test_without_an_index_nothing_is_created(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(NEW)
    workspace = open_sample(repo)
    catch_up(workspace, "post-commit", {})
    assert not workspace.paths.root.exists()
    assert not start_background_refresh(workspace)


def test_an_index_of_another_repository_is_not_written_to(own: Repo) -> None:
    workspace = open_sample(own)
    before = list(workspace.paths.state.iterdir())
    (workspace.paths.root / "gitmem-made-here").write_bytes(b"another token")
    catch_up(workspace, "post-commit", {})
    assert list(workspace.paths.state.iterdir()) == before


def test_outside_a_repository_the_hook_is_silent(tmp_path: Path) -> None:
    done = hook(Repo(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_second_process_leaves_its_marker_to_the_first(own: Repo) -> None:
    own.commit(NEW)
    workspace = open_sample(own)
    with writer_lock(workspace.paths.background_lock, wait=False):
        catch_up(workspace, "post-commit", {})
        assert marks(own) == ["dirty-main"]
    assert outcomes(own) == []
    catch_up(workspace, "post-commit", {})
    assert (marks(own), outcomes(own)) == ([], [DONE])


def test_the_marker_stays_while_another_process_writes(own: Repo) -> None:
    own.commit(NEW)
    with writer_lock(open_sample(own).paths.lock, wait=False):
        hook(own)
        await_true(lambda: marks(own) == ["dirty-main"] and not is_unlocked(own))
        assert outcomes(own) == []
    assert settle(own.path)


def is_unlocked(repo: Repo) -> bool:
    return not is_locked(repo.path / ".gitmem" / "state" / "background-lock")


def test_a_lock_is_detected_without_taking_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert not is_locked(lock)
    with writer_lock(lock, wait=False):
        assert is_locked(lock)
    assert not is_locked(lock)
    (tmp_path / "link").symlink_to(lock)
    assert not is_locked(tmp_path / "link")


def test_a_marker_created_during_a_run_is_processed(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_sample(own)

    def commit_meanwhile(*args: Any, **options: Any) -> IndexReport:
        report = refresh(*args, **options)
        if not (own.path / "new.py").exists():
            own.commit(NEW)
            mark_dirty(workspace)
        return report

    monkeypatch.setattr("gitmem.freshness.refresh.refresh", commit_meanwhile)
    catch_up(workspace, "post-commit", {})
    assert outcomes(own) == [DONE, DONE]
    assert settle(own.path)


def test_a_marker_created_just_before_the_lock_is_released_is_processed(
    own: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_sample(own)
    times_locked = 0

    @contextmanager
    def mark_before_the_release(path: Path, *, wait: bool) -> Iterator[None]:
        nonlocal times_locked
        with writer_lock(path, wait=wait):
            yield
            if path == workspace.paths.background_lock:
                times_locked += 1
                if times_locked == 1:
                    mark_dirty(workspace)

    monkeypatch.setattr(module, "writer_lock", mark_before_the_release)
    catch_up(workspace, "post-commit", {})
    assert (times_locked, marks(own)) == (2, [])


def test_the_work_of_a_killed_process_is_completed_by_the_next(own: Repo) -> None:
    own.commit(NEW)
    workspace = open_sample(own)
    mark_dirty(workspace)
    state = workspace.paths.state
    (state / "dirty-main").rename(state / "taken-main")
    side = own.path.parent / "side"
    own.git("worktree", "add", "-q", "--detach", str(side))
    catch_up(open_sample(Repo(side)), "post-checkout", {})
    assert outcomes(own) == [DONE, DONE]
    assert settle(own.path)


def test_the_marker_of_a_removed_worktree_is_deleted(own: Repo) -> None:
    side = own.path.parent / "side"
    own.git("worktree", "add", "-q", "--detach", str(side))
    mark_dirty(open_sample(Repo(side)))
    own.git("worktree", "remove", "--force", str(side))
    catch_up(open_sample(own), "post-commit", {})
    assert (marks(own), outcomes(own)) == ([], [DONE])


def test_a_marker_cannot_name_another_repository(own: Repo, tmp_path: Path) -> None:
    other = Repo.init(tmp_path / "other")
    other.commit(NEW)
    (own.path / ".gitmem" / "state" / "dirty-linked-x").write_bytes(os.fsencode(other.path))
    catch_up(open_sample(own), "post-commit", {})
    assert marks(own) == []
    assert not (other.path / ".gitmem").exists()


def test_an_index_removed_meanwhile_is_not_created_again(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_sample(own)

    def take_and_uninstall(file: Path, taken: Path) -> bool:
        return rename_file(file, taken) and remove_index(workspace)

    monkeypatch.setattr(module, "rename_file", take_and_uninstall)
    with pytest.raises(StorageFailed):
        catch_up(workspace, "post-commit", {})
    assert not workspace.paths.root.exists()


@pytest.mark.parametrize("operation", ["rebase", "merge", "cherry-pick", "revert", "bisect", "am"])
def test_during_an_operation_the_marker_stays(own: Repo, operation: str) -> None:
    own.git("checkout", "-q", "-b", "topic")
    own.commit({"notes.txt": "one line of the topic\n"})
    patch = own.git("format-patch", "-1", "--stdout").encode()
    own.git("checkout", "-q", "main")
    own.commit({"notes.txt": "another line of main\n"})
    own.commit({"notes.txt": "the latest line of main\n"})
    start = {
        "rebase": ["rebase", "topic"], "merge": ["merge", "topic"], "cherry-pick": ["cherry-pick", "topic"],
        "revert": ["revert", "--no-edit", "HEAD~1"], "bisect": ["bisect", "start"], "am": ["am"],
    }[operation]  # fmt: skip
    subprocess.run(["git", *start], cwd=own.path, env=isolated_environment(), input=patch, capture_output=True)
    workspace = open_sample(own)
    assert operation in str(find_operation(workspace.location))
    catch_up(workspace, "post-commit", {}, operation_seconds=0.2)
    assert (marks(own), outcomes(own)) == (["dirty-main"], [DEFERRED])
    assert operation in read_entries(workspace.paths)[0].message
    own.git(operation, "reset" if operation == "bisect" else "--abort")
    catch_up(open_sample(own), "post-checkout", {})
    assert (marks(own), outcomes(own)[1:]) == ([], [DONE])


def test_a_short_operation_is_awaited(own: Repo) -> None:
    """Git runs its last hook before it removes the files of the operation."""
    merge_head = own.path / ".git" / "MERGE_HEAD"
    merge_head.write_text(own.oid("HEAD"))
    hook(own, "post-merge")
    await_true(lambda: marks(own) == ["dirty-main"])
    merge_head.unlink()
    await_true(lambda: outcomes(own) == [DONE])


def test_a_failure_is_logged_reported_by_doctor_and_retried(own: Repo) -> None:
    own.commit(NEW)
    workspace = open_sample(own)
    own.git("config", "gitmem.jobs", "many")
    catch_up(workspace, "post-commit", {})
    assert outcomes(own) == [FAILED]
    check = check_background(workspace)
    assert (check.state, check.remedy) == (WARN, "gitmem index")
    assert "gitmem.jobs" in check.message
    own.git("config", "--unset", "gitmem.jobs")
    catch_up(workspace, "post-commit", {})
    assert outcomes(own) == [FAILED, DONE]
    check = check_background(workspace)
    assert check.state == OK
    assert "1 of the last 2 failed" in check.message
    assert settle(own.path)


def test_the_log_keeps_the_latest_entries_and_skips_garbage(own: Repo) -> None:
    workspace = open_sample(own)
    assert check_background(workspace).message == "no runs yet"
    for number in range(130):
        add_entry(workspace.paths, "post-commit", own.path, DONE, f"run {number}", 0.1)
    workspace.paths.log.write_bytes(b'garbage\n["too", "short"]\n\xff\n' + workspace.paths.log.read_bytes())
    entries = read_entries(workspace.paths)
    assert [entries[0].message, entries[-1].message, len(entries)] == ["run 30", "run 129", 100]
    assert isinstance(entries[0], Entry)


def only_one_waits(repo: Repo) -> bool:
    """Return whether no hook is starting, and one process of them is left."""
    starting = (repo.path / ".git" / STARTING).exists() or any(processes_in(repo.path))
    return not starting and len(list(processes_in(repo.path / ".git"))) == 1


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc to see that all hooks are over")
def test_a_hundred_commits_while_a_process_waits_take_one_run(tmp_path: Path) -> None:
    world = make_world(tmp_path / "world", "normal", "gitmem")
    repo = Repo(world.path)
    with writer_lock(open_sample(repo).paths.lock, wait=False):
        for number in range(100):
            world.commit(f"thing_{number}")
        # Hooks start in the working tree and continue in the git directory. Wait for all but the waiting one. A list of
        # processes may miss one that forks at that moment, hence several looks.
        await_true(lambda: all(only_one_waits(repo) for _ in range(5)))
    assert settle(world.path)
    assert outcomes(repo) == [DONE]
    assert {(run.code, run.out) for run in world.runs} == {(0, b"")}


@pytest.fixture
def counted(own: Repo, tmp_path: Path) -> Path:
    """Install the slow program; return the file to which it appends a line."""
    install(own, slow_program(tmp_path))
    return tmp_path / "calls"


def run_post_commit(repo: Repo) -> int:
    """Run the hook; return the end of a pipe whose other end its processes hold until they are over."""
    end, others = os.pipe()
    os.set_blocking(end, False)
    done = subprocess.run([repo.path / ".git/hooks/post-commit"], cwd=repo.path, env={"PATH": BARE_PATH}, check=False,
                          capture_output=True, pass_fds=[others])  # fmt: skip
    os.close(others)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return end


def is_over(end: int) -> bool:
    """Return whether all processes of a hook are over, which no list of processes tells for sure."""
    try:
        return os.read(end, 1) == b""
    except BlockingIOError:
        return False


def test_of_concurrent_hooks_only_one_starts_a_process(own: Repo, counted: Path) -> None:
    """A rebase of twenty commits would start twenty, each with some 50 ms of CPU time."""
    starting = own.path / ".git" / STARTING
    hooks = [run_post_commit(own) for _ in range(20)]
    await_true(lambda: counted.exists() and sum(map(is_over, hooks)) == 19)
    assert counted.read_text().splitlines() == ["started"]
    long_ago = time.time() - 3600
    os.utime(starting, (long_ago, long_ago))  # as if its process had died
    hooks.append(run_post_commit(own))
    await_true(lambda: len(counted.read_text().splitlines()) == 2)
    (counted.parent / "hold").unlink()
    await_true(lambda: all(map(is_over, hooks)) and not starting.exists())
    hooks.append(run_post_commit(own))
    await_true(lambda: len(counted.read_text().splitlines()) == 3)
    for end in hooks:
        os.close(end)


def test_a_hook_during_the_comparison_starts_another_process(own: Repo) -> None:
    """The process removes the file before it compares."""
    own.commit(NEW)
    starting = own.path / ".git" / STARTING
    starting.touch()
    with writer_lock(open_sample(own).paths.lock, wait=False):
        hook(own)
        await_true(lambda: marks(own) == ["dirty-main"])
        assert not starting.exists()
    assert settle(own.path)


def test_a_rebase_is_indexed_at_its_end(own: Repo) -> None:
    own.git("checkout", "-q", "-b", "topic")
    for number in range(10):
        own.commit({f"topic_{number}.py": f"def topic_{number}():\n    return {number}\n"})
    own.git("checkout", "-q", "main")
    own.commit(NEW)
    install(own, PROGRAM)
    own.git("checkout", "-q", "topic")
    own.git("rebase", "-q", "-x", "sleep 0.1", "main")
    assert settle(own.path)
    runs = outcomes(own)
    assert set(runs) <= {DONE, DEFERRED}
    assert runs.count(DONE) < 10, "one for the checkout before it, one or two for its end, none for each commit"


def test_a_query_can_start_the_background_process(own: Repo) -> None:
    own.commit(NEW)
    assert start_background_refresh(open_sample(own))
    assert settle(own.path)
    assert read_entries(open_sample(own).paths)[0].event == "refresh"


def test_in_a_read_only_repository_nothing_is_started(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not start_background_refresh(open_sample(own))
    assert marks(own) == []


def test_the_process_keeps_no_terminal_descriptor_or_lock(own: Repo, tmp_path: Path) -> None:
    """Inspect the process while it waits for the lock of the index."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    workspace = open_sample(own)
    with writer_lock(workspace.paths.lock, wait=False), (tmp_path / "of the caller").open("w") as file:
        command = [*PROGRAM, "hook", "post-commit"]
        subprocess.run(command, cwd=own.path, env=isolated_environment(), pass_fds=[file.fileno()], check=True)
        await_true(lambda: not is_unlocked(own))
        await_true(lambda: len(list(processes_in(own.path / ".git"))) == 1)  # its parent has ended
        process = find_process(own)
        assert process is not None
        opened = read_descriptors(process)
        assert [opened[number] for number in "012"] == ["/dev/null"] * 3
        assert file.name not in opened.values()
        numbers = (process / "stat").read_text().rpartition(")")[2].split()
        session, niceness = int(numbers[3]), int(numbers[16])
        assert session == int(process.name)
        assert niceness >= 10
        assert (process / "cwd").readlink() == own.path / ".git"
    await_true(lambda: is_idle(own.path))


def read_descriptors(process: Path) -> dict[str, str]:
    """Return the open files of a process by number, without those it closes at this moment."""
    opened = {}
    for entry in (process / "fd").iterdir():
        with suppress(FileNotFoundError):
            opened[entry.name] = str(entry.readlink())
    return opened


def find_process(repo: Repo) -> Path | None:
    """Return the background process of a repository."""
    return next(processes_in(repo.path / ".git"), None)


def processes_in(folder: Path) -> Iterator[Path]:
    """Return the processes whose working directory is a folder."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdecimal() and (process / "cwd").readlink() == folder:
                yield process


def test_a_hook_next_to_a_running_process_imports_few_modules(own: Repo) -> None:
    probe = (
        "import json, sys; from gitmem.cli import hook; from gitmem.cli.main import run; "
        "hook.run_detached = lambda work: work(); "
        "run(['hook', 'refresh']); print(json.dumps(sorted(sys.modules)))"
    )
    with writer_lock(open_sample(own).paths.background_lock, wait=False):
        done = subprocess.run(
            [sys.executable, "-c", probe], cwd=own.path, env=isolated_environment(), capture_output=True, check=True
        )
    modules = set(json.loads(done.stdout))
    assert "gitmem.freshness.catch_up" in modules
    assert not modules & {"numpy", "click", "onnxruntime", "pygit2", "tokenizers", "tree_sitter", "filelock"}


def test_an_unknown_event_is_refused(own: Repo) -> None:
    done = hook(own, "pre-rebase")
    assert done.returncode == ExitCode.USAGE
    assert b"gitmem index" in done.stderr


def test_the_process_waits_for_the_end_of_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    polls = []

    def end_caller(seconds: float) -> None:
        polls.append(seconds)
        caller.communicate(b"\n")

    monkeypatch.setattr(time, "sleep", end_caller)
    await_caller(str(caller.pid))
    assert len(polls) == 1
    await_caller(str(caller.pid))
    await_caller("")
    await_caller("1" * 30)
    assert len(polls) == 1


def test_an_event_of_git_indexes_what_git_keeps_and_a_query_the_files_as_well(own: Repo) -> None:
    own.commit(NEW)
    own.write({"staged.py": "def staged_thing():\n    return 3\n"})
    own.git("add", "staged.py")
    own.write({"changed.py": "def changed_thing():\n    return 4\n"})
    catch_up(open_sample(own), "post-commit", {})
    assert "2 blobs embedded" in last_message(own)
    mark_dirty(open_sample(own), files=True)
    catch_up(open_sample(own), "post-commit", {})
    assert "1 blobs embedded" in last_message(own)


def test_an_event_without_anything_to_index_reads_no_file_of_the_index(
    own: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.commit(NEW)
    catch_up(open_sample(own), "pre-commit", {})
    monkeypatch.setattr("gitmem.freshness.index_tree.index_tree", lambda *_: pytest.fail("the tree is compared"))
    catch_up(open_sample(own), "post-commit", {})
    assert "nothing to do" in last_message(own)


def last_message(repo: Repo) -> str:
    return read_entries(open_sample(repo).paths)[-1].message

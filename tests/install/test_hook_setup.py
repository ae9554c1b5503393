"""Existing hooks keep working, and `uninstall` restores every byte, mode and link."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.fsio import read_file
from gitmem.git.version import read_version
from gitmem.install import hook_files
from gitmem.install.configured_hooks import SINCE
from gitmem.install.hook_block import ORIGINAL_SUFFIX, make_wrapper
from gitmem.install.hook_files import install_file
from gitmem.install.hook_setup import install_hooks, read_hooks, uninstall_hooks
from gitmem.install.hook_state import EVENTS, INSTALLED, MISSING, OUTDATED, SKIPPED, HookReport, HookState
from gitmem.paths import STARTING
from gitmem.workspace import open_workspace
from tests.actions.test_uninstall import fingerprint
from tests.gitrepo import Repo, isolated_environment
from tests.hooks.worlds import FILE_HOOKS
from tests.sample import Cli, assert_error

LINE = "! command -v gitmem >/dev/null || gitmem hook post-commit"
RECORD = '#!/bin/sh\necho "$(basename "$0") $*" >> "$RECORD"\n'


def install(repo: Repo, program: tuple[str, ...], version: tuple[int, int] = FILE_HOOKS) -> HookReport:
    return install_hooks(open_workspace(repo.path, {}).location, program, version)


def uninstall(repo: Repo) -> bool:
    return uninstall_hooks(open_workspace(repo.path, {}).location)


def look(repo: Repo, program: tuple[str, ...], version: tuple[int, int] = FILE_HOOKS) -> HookReport:
    return read_hooks(open_workspace(repo.path, {}).location, program, version)


def write_hook(repo: Repo, content: str | bytes, event: str = "post-commit", mode: int = 0o755) -> Path:
    file = repo.path / ".git" / "hooks" / event
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    file.chmod(mode)
    return file


def state_of(report: HookReport, event: str = "post-commit") -> HookState:
    return next(hook for hook in report.states if hook.event == event)


def run_hook(
    file: Path, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a hook as git does: from the top of the working tree."""
    environment = isolated_environment() | {"PATH": "/usr/bin:/bin"} | (env or {})
    return subprocess.run(
        [file, *args], cwd=file.parents[2], input=stdin, env=environment, capture_output=True, check=False
    )


def await_call(folder: Path, times: int = 1) -> list[str]:
    """Return the arguments of the program's calls once there are that many."""
    file = folder / "called"
    command = f"while [ $(cat {file} 2>/dev/null | wc -l) -lt {times} ]; do sleep 0.05; done; cat {file}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=300, check=True)
    return done.stdout.splitlines()


def await_started(repo: Repo) -> None:
    """Wait until the program of a hook has run, so that the next hook starts it again."""
    file = repo.path / ".git" / STARTING
    subprocess.run(["/bin/sh", "-c", f"while [ -e {file} ]; do sleep 0.05; done"], timeout=300, check=True)


HOOKS: dict[str, Callable[[Repo], object]] = {
    "none": lambda repo: None,
    "no folder": lambda repo: shutil.rmtree(repo.path / ".git" / "hooks"),
    "sh": lambda repo: write_hook(repo, RECORD),
    "sh that ends with exec": lambda repo: write_hook(repo, "#!/bin/sh\nexec true\n"),
    "bash by env, private": lambda repo: write_hook(repo, "#!/usr/bin/env bash\nexit 0\n", mode=0o700),
    "no first line": lambda repo: write_hook(repo, "echo hello >/dev/null\n"),
    "empty": lambda repo: write_hook(repo, ""),
    "no line feed at its end": lambda repo: write_hook(repo, "#!/bin/sh"),
    "python": lambda repo: write_hook(repo, "#!/usr/bin/env python3\nprint('hello')\n"),
    "binary": lambda repo: write_hook(repo, Path("/bin/true").read_bytes()),
    "switched off": lambda repo: write_hook(repo, RECORD, mode=0o644),
    "a link": lambda repo: (repo.path / ".git" / "hooks" / "post-commit").symlink_to("../../scripts/hook"),
    "a folder": lambda repo: (repo.path / ".git" / "hooks" / "post-commit").mkdir(),
    "shell and python at once": lambda repo: write_hook(repo, "#!/bin/sh\n'''exec' python3 \"$0\"\n'''\nprint(f(')\n"),
    "carriage returns": lambda repo: write_hook(repo, "#!/bin/sh\r\nexit 0\r\n"),
    "lefthook": lambda repo: write_hook(repo, '#!/bin/sh\ncall_lefthook run "post-commit" "$@"\n'),
    "own hooks path": lambda repo: repo.git("config", "core.hooksPath", str(repo.path / ".git" / "other")),
    "husky": lambda repo: repo.git("config", "core.hooksPath", ".husky/_"),
}


@pytest.mark.parametrize("kind", HOOKS)
@pytest.mark.parametrize("version", [FILE_HOOKS, (2, 54)])
def test_uninstall_restores_every_byte_mode_and_link(
    repo: Repo, program: tuple[str, ...], kind: str, version: tuple[int, int]
) -> None:
    HOOKS[kind](repo)
    before = fingerprint(repo.path)
    first = install(repo, program, version)
    assert (fingerprint(repo.path) == before) == (kind == "husky" and version == FILE_HOOKS)
    once = fingerprint(repo.path)
    assert install(repo, program, version) == first
    assert fingerprint(repo.path) == once, "installing again changes nothing"
    assert uninstall(repo) == (once != before)
    assert fingerprint(repo.path) == before


@pytest.mark.parametrize("kind", [kind for kind in HOOKS if kind not in ("a folder", "lefthook", "husky")])
def test_git_starts_gitmem_with_any_existing_hook(
    repo: Repo, program: tuple[str, ...], tmp_path: Path, kind: str
) -> None:
    repo.write({"scripts/hook": "#!/bin/sh\nexit 0\n"})
    (repo.path / "scripts" / "hook").chmod(0o755)
    HOOKS[kind](repo)
    assert state_of(install(repo, program)).state == INSTALLED
    commit = [
        "git",
        "-c",
        "core.editor=false",
        "commit",
        "-q",
        "--allow-empty",
    ]  # without a message: pre-commit only
    environment = isolated_environment() | {"PATH": "/usr/bin:/bin"}
    for args in (["--no-verify", "-m", "x"], []):
        subprocess.run([*commit, *args], cwd=repo.path, env=environment, capture_output=True)
        await_call(tmp_path)
        await_started(repo)
    assert await_call(tmp_path, 2) == ["hook post-commit", "hook pre-commit"]


def test_the_block_is_short_and_follows_the_first_line(repo: Repo, program: tuple[str, ...]) -> None:
    file = write_hook(repo, RECORD)
    install(repo, program)
    lines = file.read_text().splitlines()
    assert lines[0] == "#!/bin/sh"
    assert lines[1].startswith("# >>> gitmem >>>")
    assert lines[-1] == RECORD.splitlines()[-1]
    assert len(lines) - 2 <= 25


def test_arguments_input_exit_code_and_status_are_unchanged(
    repo: Repo, program: tuple[str, ...], tmp_path: Path
) -> None:
    script = '#!/bin/sh\nfirst=$?\n[ "$first" = 0 ] || exit 99\necho "got $# $1 $2"\ncat\nwait\nexit 7\n'
    file = write_hook(repo, script, "post-rewrite")
    install(repo, program)
    done = run_hook(file, "re base", "*", stdin=b"old new\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"got 2 re base *\nold new\n", b"")
    assert await_call(tmp_path) == ["hook post-rewrite"]


@pytest.mark.parametrize("options", ["-e", "-u", "-eu"])
def test_scripts_with_strict_options_continue(repo: Repo, options: str) -> None:
    file = write_hook(repo, f"#!/bin/sh {options}\necho on\n")
    install(repo, ("/nowhere/gitmem",))
    assert run_hook(file).stdout == b"on\n"


def test_a_wrapper_passes_arguments_input_and_exit_code(repo: Repo, program: tuple[str, ...]) -> None:
    script = f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:], sys.stdin.read())\nsys.exit(3)\n"
    file = write_hook(repo, script)
    assert state_of(install(repo, program)).detail == "before the original hook"
    done = run_hook(file, "a b", stdin=b"in")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"['a b'] in\n", b"")


def test_a_disabled_hook_stays_disabled(repo: Repo, program: tuple[str, ...], tmp_path: Path) -> None:
    file = write_hook(repo, "#!/bin/sh\necho I am off; exit 1\n", mode=0o644)
    install(repo, program)
    done = run_hook(file)
    assert (done.returncode, done.stdout) == (0, b"")
    assert await_call(tmp_path) == ["hook post-commit"]


def test_nothing_is_written_through_a_symbolic_link(repo: Repo, program: tuple[str, ...]) -> None:
    repo.write({"scripts/hook": "#!/bin/sh\necho tracked\n"})
    (repo.path / "scripts" / "hook").chmod(0o755)
    file = repo.path / ".git" / "hooks" / "post-commit"
    file.symlink_to("../../scripts/hook")
    install(repo, program)
    assert (repo.path / "scripts" / "hook").read_text() == "#!/bin/sh\necho tracked\n"
    assert run_hook(file).stdout == b"tracked\n"


def test_a_file_with_the_second_name_is_not_replaced(repo: Repo, program: tuple[str, ...]) -> None:
    file = write_hook(repo, "#!/usr/bin/env python3\n")
    other = file.with_name("post-commit.before-gitmem")
    other.write_text("precious")
    report = install(repo, program)
    assert state_of(report) == HookState("post-commit", SKIPPED, f"{other} is in the way", f"let it run: {LINE}")
    assert look(repo, program) == report
    assert (file.read_text(), other.read_text()) == ("#!/usr/bin/env python3\n", "precious")


def test_a_wrapper_with_the_comment_of_another_version_is_removed(repo: Repo, program: tuple[str, ...]) -> None:
    file = write_hook(repo, "#!/usr/bin/env python3\n")
    before = fingerprint(repo.path)
    install(repo, program)
    file.write_text(re.sub("(?m)^# The original hook.*$", "# The hook that stood here before:", file.read_text()))
    assert "stood here" in file.read_text()
    uninstall(repo)
    assert fingerprint(repo.path) == before


def test_an_installation_killed_before_it_wrote_the_wrapper_is_completed(repo: Repo, program: tuple[str, ...]) -> None:
    file = write_hook(repo, "#!/usr/bin/env python3\n")
    before = fingerprint(repo.path)
    os.link(file, file.with_name("post-commit.before-gitmem"))
    assert state_of(install(repo, program)).state == INSTALLED
    uninstall(repo)
    assert fingerprint(repo.path) == before


def paste(repo: Repo, command: str) -> None:
    """Run an advised command like a user who pastes it into a shell."""
    subprocess.run(["/bin/sh", "-c", command], cwd=repo.path, check=True)


def test_for_lefthook_a_command_adds_to_its_personal_configuration(repo: Repo, program: tuple[str, ...]) -> None:
    """An event that the shared file has must not be repeated in it: then lefthook would fail every commit."""
    HOOKS["lefthook"](repo)
    shared = "post-commit:\n  commands:\n    lint:\n      run: lint\n"
    repo.write({"lefthook.yml": shared, "lefthook-local.yml": "# gitmem hook post-commit\noutput: false"})
    report = install(repo, program)
    state = state_of(report)
    assert (state.state, state.owner) == (SKIPPED, "lefthook")
    assert len(report.events(INSTALLED)) == len(EVENTS) - 1
    paste(repo, state.advice)
    assert (repo.path / "lefthook.yml").read_text() == shared
    assert (repo.path / "lefthook-local.yml").read_text() == (
        "# gitmem hook post-commit\noutput: false\npost-commit:\n  commands:\n    gitmem:\n"
        '      run: "! command -v gitmem >/dev/null || gitmem hook post-commit"\n'
    )
    assert look(repo, program).events(INSTALLED) == list(EVENTS)
    assert state_of(look(repo, program)).detail == "run by lefthook"


def test_an_event_that_the_personal_configuration_of_lefthook_has_is_not_repeated(
    repo: Repo, program: tuple[str, ...]
) -> None:
    HOOKS["lefthook"](repo)
    repo.write({"lefthook-local.yml": "post-commit:\n  commands: {}\n"})
    assert state_of(install(repo, program)).advice.startswith("add to `commands` of `post-commit` in ")


def test_for_husky_commands_add_to_its_files(repo: Repo, program: tuple[str, ...]) -> None:
    repo.git("config", "core.hooksPath", ".husky/_")
    report = install(repo, program)
    assert report.events(SKIPPED) == list(EVENTS)
    state = state_of(report)
    assert state.detail == f"husky owns {repo.path}/.husky/_"
    assert not (repo.path / ".husky").exists()
    repo.write({".husky/post-commit": "echo the user's"})
    for hook in report.states:
        paste(repo, hook.advice)
    assert (repo.path / ".husky" / "post-commit").read_text() == (
        "echo the user's\n! command -v gitmem >/dev/null || gitmem hook post-commit\n"
    )
    assert look(repo, program).events(INSTALLED) == list(EVENTS)


def test_the_advised_line_is_silent_with_and_without_gitmem(
    repo: Repo, program: tuple[str, ...], tmp_path: Path
) -> None:
    repo.git("config", "core.hooksPath", ".githooks")
    line = state_of(install(repo, program)).advice.partition(": ")[2]
    folder = Path(program[0]).parent
    for path in ("/usr/bin:/bin", f"{folder}:/usr/bin:/bin"):
        done = subprocess.run(["/bin/sh", "-e", "-c", line], env={"PATH": path}, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert await_call(tmp_path) == ["hook post-commit"]


def test_all_worktrees_share_the_hooks(repo: Repo, program: tuple[str, ...], tmp_path: Path) -> None:
    side = tmp_path / "side"
    repo.git("worktree", "add", "-q", str(side))
    linked = Repo(side)
    report = install(linked, program)
    assert report.location == repo.path / ".git" / "hooks"
    assert look(repo, program) == report
    assert uninstall(linked)
    assert look(repo, program).events(MISSING) == list(EVENTS)


def test_hooks_of_another_gitmem_are_outdated_and_replaced(repo: Repo, program: tuple[str, ...]) -> None:
    install(repo, ("/old/venv/bin/python", "-m", "gitmem"))
    report = look(repo, program)
    assert report.events(OUTDATED) == list(EVENTS)
    assert install(repo, program).events(INSTALLED) == list(EVENTS)


def test_a_disabled_hook_of_ours_stays_disabled_and_is_reported(repo: Repo, program: tuple[str, ...]) -> None:
    install(repo, program)
    file = repo.path / ".git" / "hooks" / "post-commit"
    file.chmod(0o644)
    assert state_of(install(repo, program)).advice == f"chmod +x {file}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_lines_added_to_our_file_stay(repo: Repo, program: tuple[str, ...]) -> None:
    install(repo, program)
    file = repo.path / ".git" / "hooks" / "post-commit"
    with file.open("a") as script:
        script.write("echo mine\n")
    uninstall(repo)
    assert file.read_text() == "#!/bin/sh\necho mine\n"
    assert not file.with_name("post-merge").exists()


def test_our_lines_are_removed_from_a_renamed_hook(repo: Repo, program: tuple[str, ...]) -> None:
    install(repo, program)
    folder = repo.path / ".git" / "hooks"
    (folder / "post-commit").rename(folder / "post-commit.old")
    assert uninstall(repo)
    assert not (folder / "post-commit.old").exists()


def test_concurrent_installations_lose_no_hook(repo: Repo, program: tuple[str, ...]) -> None:
    write_hook(repo, "#!/usr/bin/env python3\n")
    before = fingerprint(repo.path)
    script = "import sys; from pathlib import Path; from gitmem.workspace import open_workspace; " \
             "from gitmem.install.hook_setup import install_hooks; " \
             "install_hooks(open_workspace(Path(sys.argv[1]), {}).location, ['/x'], (2, 39))"  # fmt: skip
    command = [sys.executable, "-c", script, str(repo.path)]
    for process in [subprocess.Popen(command) for _ in range(6)]:
        assert process.wait() == 0
    assert uninstall(repo)
    assert fingerprint(repo.path) == before


def test_a_hook_that_another_installation_writes_meanwhile_is_not_wrapped(
    repo: Repo, program: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repo.path / ".git" / "hooks"
    config = repo.path / ".git" / "config"

    def read_before_the_other(file: Path) -> bytes | None:
        monkeypatch.undo()
        try:
            return read_file(file)
        finally:
            install_file(folder, "pre-push", program, like=config)

    missing = HookState("pre-push", MISSING, "")
    monkeypatch.setattr(hook_files, "read_state", lambda *_: missing)
    monkeypatch.setattr(hook_files, "read_file", read_before_the_other)
    install_file(folder, "pre-push", program, like=config)
    assert (folder / "pre-push").exists()
    assert not (folder / f"pre-push{ORIGINAL_SUFFIX}").exists()


def test_a_wrapped_hook_of_ours_is_removed(repo: Repo, program: tuple[str, ...]) -> None:
    before = fingerprint(repo.path)
    folder = repo.path / ".git" / "hooks"
    install(repo, program)
    (folder / "pre-push").rename(folder / f"pre-push{ORIGINAL_SUFFIX}")
    (folder / "pre-push").write_bytes(make_wrapper("pre-push", program))
    assert uninstall(repo)
    assert fingerprint(repo.path) == before


def test_new_files_are_executable_for_users_who_may_read_the_repository(repo: Repo, program: tuple[str, ...]) -> None:
    (repo.path / ".git" / "config").chmod(0o640)
    install(repo, program)
    assert stat.S_IMODE((repo.path / ".git" / "hooks" / "post-commit").stat().st_mode) == 0o750


def test_the_command_installs_shows_and_removes_the_hooks(cli: Cli, own: Repo) -> None:
    installed = cli("hooks", "install", cwd=own.path)
    assert (installed.code, installed.err) == (0, "")
    assert installed.out.startswith("hooks: pre-commit post-commit post-checkout post-merge post-rewrite pre-push")
    status = json.loads(cli("hooks", "status", "--json", cwd=own.path).out)
    assert [hook["state"] for hook in status["hooks"]] == [INSTALLED] * len(EVENTS)
    assert cli("hooks", "status", cwd=own.path).out.startswith("pre-commit     installed  ")
    assert cli("hooks", "uninstall", cwd=own.path).out == "hooks: removed\n"
    assert cli("hooks", "uninstall", cwd=own.path).out.startswith("there are no hooks")
    assert "gitmem hooks install" in cli("hooks", "status", cwd=own.path).out


def test_hooks_need_an_index(cli: Cli, repo: Repo) -> None:
    assert_error(cli("hooks", "install", cwd=repo.path), ExitCode.NO_INDEX, "gitmem init")
    assert not (repo.path / ".git" / "hooks" / "post-commit").exists()


def test_init_can_skip_the_hooks(cli: Cli, repo: Repo) -> None:
    assert "hooks" not in cli("init", "--no-hooks", cwd=repo.path).out
    assert not (repo.path / ".git" / "hooks" / "post-commit").exists()
    assert "  hooks: pre-commit post-commit" in cli("init", cwd=repo.path).out
    assert "hooks" not in cli("init", cwd=repo.path).out


def test_skipped_hooks_take_one_line_of_init_and_are_explained_by_install(cli: Cli, repo: Repo) -> None:
    repo.git("config", "core.hooksPath", ".githooks")
    if read_version() >= SINCE:
        pytest.skip("this git reads hooks from its configuration")
    lines = [line for line in cli("init", cwd=repo.path).out.splitlines() if "hook" in line]
    assert lines == [f"  hooks: none; not {' '.join(EVENTS)}: gitmem hooks status"]
    lines = cli("hooks", "install", cwd=repo.path).out.splitlines()
    assert len(lines) == 1 + len(EVENTS) + 1 + len(EVENTS), "a summary, the reasons, and a line to add for each"
    assert lines[2] == f"  post-commit skipped: core.hooksPath is {repo.path}/.githooks"
    assert lines[len(EVENTS) + 3].startswith(f"add to {repo.path}/.githooks/post-commit: ")

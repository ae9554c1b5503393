"""Any fault of a repository, an index, a disk or a command line is one clear line with the documented exit code."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.cli import error_output as failures
from gitmem.cli.main import run
from gitmem.errors import Busy, ExitCode, StorageFailed
from gitmem.paths import BASE_SUFFIX, JOIN_SUFFIX
from gitmem.store.format import build_container
from gitmem.store.manifest import MAGIC, Manifest, write_manifest
from tests.gitrepo import ISOLATION, Repo
from tests.sample import SIGN, Cli, assert_error, damage, segment_files, without_index_times

ROOT = os.name == "posix" and os.geteuid() == 0
GITMEM = [sys.executable, "-m", "gitmem"]


def start(*args: str, cwd: Path, **options: object) -> "subprocess.CompletedProcess[str]":
    """Run gitmem in a separate process."""
    return subprocess.run([*GITMEM, *args], cwd=cwd, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("args", [["init"], ["index"], ["query", "x"], ["status"], ["verify"], ["gc"], ["uninstall"]])
def test_outside_a_repository(cli: Cli, tmp_path: Path, args: list[str]) -> None:
    assert_error(cli(*args, cwd=tmp_path), ExitCode.USAGE, "is not inside a git repository", "git init")


@pytest.mark.parametrize("args", [["--port", "1"], ["--host", "h"], ["--socket", "s"]])
def test_host_and_port_need_http(cli: Cli, tmp_path: Path, args: list[str]) -> None:
    assert_error(cli("mcp", *args, cwd=tmp_path), ExitCode.USAGE, f"`{args[0]}` needs `--http`", "--http")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_output_to_a_full_disk(own: Repo) -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [*GITMEM, "query", "sign"], cwd=own.path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert process.returncode == ExitCode.FAILED
    assert process.stderr.splitlines()[-1] == "hint: the output is redirected to a full disk"


def test_a_missing_folder(cli: Cli, tmp_path: Path) -> None:
    assert_error(cli("-C", "nowhere", "status", cwd=tmp_path), ExitCode.USAGE, "does not exist")
    assert_error(cli("init", "nowhere", cwd=tmp_path), ExitCode.USAGE, "does not exist")


@pytest.mark.parametrize("args", [["query", "x"], ["related", "a:1"], ["verify"], ["gc"]])
def test_without_an_index(cli: Cli, tmp_path: Path, args: list[str]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": "a = 1\n"})
    assert_error(cli(*args, cwd=repo.path), ExitCode.NO_INDEX, "no index yet", "hint: run `gitmem init`")
    assert not (repo.path / ".gitmem").exists()


GIT_THAT_LOSES_A_FOLDER = """#!/bin/sh
case " $* " in *" {command} "*) mv {folder} {folder}.gone 2>/dev/null && rm -rf {folder}.gone;; esac
exec {git} "$@"
"""
"""A program that moves a folder away in one step, so that no other process meets half of it, and removes it."""


@pytest.mark.parametrize("command", ["status", "config", "rev-parse"])
def test_a_working_tree_that_disappears_during_a_query_is_named(
    cli: Cli, own: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(GIT_THAT_LOSES_A_FOLDER.format(command=command, folder=own.path, git=shutil.which("git")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    outcome = cli("-C", str(own.path), "query", SIGN, cwd=tmp_path)
    assert_error(outcome, ExitCode.FAILED, f"the folder `{own.path}", "no longer exists", "hint: ")


def test_a_linked_working_tree_that_disappears_during_a_query_is_named(
    cli: Cli, own: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = tmp_path / "linked"
    own.git("worktree", "add", "-q", "--detach", str(linked))
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(GIT_THAT_LOSES_A_FOLDER.format(command="status", folder=linked, git=shutil.which("git")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    outcome = cli("-C", str(linked), "query", SIGN, cwd=tmp_path)
    assert outcome.code == 0
    assert outcome.err == f"note: the folder `{linked}` no longer exists; the answer is HEAD's\n"


def test_a_current_folder_that_was_removed_is_an_error(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert_error(cli("query", "x"), ExitCode.USAGE, "the current folder no longer exists", "hint: ")
    assert_error(cli("index"), ExitCode.USAGE, "the current folder no longer exists", "hint: ")


def test_an_unknown_command_suggests_the_nearest(cli: Cli, tmp_path: Path) -> None:
    assert_error(cli("qeury", "x", cwd=tmp_path), ExitCode.USAGE, "did you mean `query`?")
    assert_error(cli("--bogus", cwd=tmp_path), ExitCode.USAGE, "--bogus")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("blame", "when"),
        ("notes", "memory"),
        ("refs", "usages"),
        ("log", "when"),
        ("diff", "changes"),
        ("ask", "query"),
    ],
)
def test_a_word_of_other_programs_suggests_the_command_for_it(cli: Cli, tmp_path: Path, name: str, meant: str) -> None:
    assert_error(cli(name, cwd=tmp_path), ExitCode.USAGE, f"did you mean `{meant}`?")


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (("query", "-k", "3", "x"), "--limit"),
        (("query", "--count=3", "x"), "--limit"),
        (("query", "--branch", "main", "x"), "--rev"),
        (("query", "--glob", "*.py", "x"), "--path"),
        (("index", "--ref", "main"), "--rev"),
        (("usages", "--top-k", "3", "x"), "--limit"),
    ],
)
def test_an_option_of_other_programs_suggests_ours(cli: Cli, tmp_path: Path, args: tuple[str, ...], meant: str) -> None:
    assert_error(cli(*args, cwd=tmp_path), ExitCode.USAGE, f"did you mean `{meant}`?")


def test_a_setting_out_of_range_names_its_origin(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    own.git("config", "gitmem.searchMaxLimit", "0")
    assert_error(cli("status", cwd=own.path), ExitCode.USAGE, "git config, local", "from 1 to 1000")
    own.git("config", "gitmem.searchMaxLimit", "20")
    monkeypatch.setenv("GITMEM_FUSION", "magic")
    assert_error(cli("status", cwd=own.path), ExitCode.USAGE, "GITMEM_FUSION")
    monkeypatch.delenv("GITMEM_FUSION")
    assert_error(cli("query", "-n", "21", "x", cwd=own.path), ExitCode.USAGE, "between 1 and 20")


def test_a_damaged_segment_is_rebuilt_and_reported_once(cli: Cli, own: Repo) -> None:
    expected = without_index_times(cli("query", "--jsonl", SIGN, cwd=own.path).out)
    for at in (10, -200):
        damage(segment_files(own)[0], at)
        outcome = cli("query", "--jsonl", "--mode", "hybrid", SIGN, cwd=own.path)
        assert without_index_times(outcome.out) == expected
        cli("verify", "--repair", cwd=own.path)
    assert cli("query", SIGN, cwd=own.path).err == ""


@pytest.mark.parametrize("how", ["header", "missing", "foreign", "short", "empty"])
def test_a_segment_that_cannot_be_opened_is_rebuilt(cli: Cli, own: Repo, how: str) -> None:
    expected = without_index_times(cli("query", "--jsonl", SIGN, cwd=own.path).out)
    file = segment_files(own)[0]
    if how == "header":
        damage(file, 40)
    elif how == "missing":
        file.unlink()
    elif how == "foreign":
        file.write_bytes(b"".join(bytes(part) for part in build_container(MAGIC, {}, {})))
    else:
        os.truncate(file, 100 if how == "short" else 0)
    outcome = cli("query", "--jsonl", SIGN, cwd=own.path)
    assert without_index_times(outcome.out) == expected
    assert outcome.err.startswith("note: `")
    assert outcome.err.endswith("; rebuilt\n")
    assert cli("query", SIGN, cwd=own.path).err == ""


@pytest.mark.parametrize("content", [b"", b"garbage", b"GITMEMMF" + bytes(100)])
def test_a_damaged_manifest_is_rebuilt_by_a_query(cli: Cli, own: Repo, content: bytes) -> None:
    expected = without_index_times(cli("query", "--jsonl", SIGN, cwd=own.path).out)
    (own.path / ".gitmem" / "manifest").write_bytes(content)
    assert cli("status", cwd=own.path).out.startswith("Needs Update")
    outcome = cli("query", "--jsonl", SIGN, cwd=own.path)
    assert without_index_times(outcome.out) == expected
    assert "manifest" in outcome.err
    assert cli("status", cwd=own.path).out.startswith("Up to Date")


@pytest.mark.parametrize("suffix", ["", BASE_SUFFIX, JOIN_SUFFIX])
@pytest.mark.parametrize("how", ["garbage", "flipped", "short", "empty"])
def test_a_damaged_view_is_rebuilt(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch, suffix: str, how: str) -> None:
    monkeypatch.setattr("gitmem.store.blob_match.MAX_UNJOINED", 0)  # a join even of a small tree
    own.commit({"added.py": "def added():\n    return 1\n"})
    assert cli("index", "--full", cwd=own.path).code == 0
    expected = without_index_times(cli("query", "--jsonl", SIGN, cwd=own.path).out)
    damaged = [file for file in (own.path / ".gitmem" / "views").iterdir() if file.suffix == suffix]
    assert damaged, "nothing of this kind: the test shows nothing"
    for file in damaged:
        if how == "garbage":
            file.write_bytes(b"garbage")
        elif how == "flipped":
            damage(file, 40)
        else:
            os.truncate(file, 100 if how == "short" else 0)
    assert without_index_times(cli("query", "--jsonl", SIGN, cwd=own.path).out) == expected
    assert cli("verify", "--repair", cwd=own.path).code == 0
    assert cli("verify", cwd=own.path).code == 0


def test_without_refresh_damage_is_reported_but_not_repaired(cli: Cli, own: Repo) -> None:
    (own.path / ".gitmem" / "manifest").write_bytes(b"garbage")
    assert_error(
        cli("query", "--no-refresh", SIGN, cwd=own.path), ExitCode.FAILED, "is damaged", "gitmem verify --repair"
    )


@pytest.mark.parametrize("args", [["query", "x"], ["index"], ["status"], ["verify"], ["gc"]])
def test_a_manifest_of_a_newer_format_is_not_changed(cli: Cli, own: Repo, args: list[str]) -> None:
    manifest = own.path / ".gitmem" / "manifest"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.store.format.FORMAT", 999)
        write_manifest(manifest, Manifest("of the future"))
    data = manifest.read_bytes()
    assert_error(cli(*args, cwd=own.path), ExitCode.FAILED, "newer gitmem", "format 999")
    assert manifest.read_bytes() == data


def test_a_tracked_index_is_rejected(cli: Cli, own: Repo) -> None:
    own.git("add", "--force", ".gitmem/manifest")
    for args in (["query", "x"], ["index"], ["status"], ["uninstall", "--yes"], ["verify"]):
        assert_error(cli(*args, cwd=own.path), ExitCode.FAILED, "is tracked by git")
    assert (own.path / ".gitmem" / "manifest").is_file()


def test_an_index_that_is_a_link_is_never_followed(cli: Cli, own: Repo) -> None:
    elsewhere = own.path.parent / "elsewhere"
    (own.path / ".gitmem").rename(elsewhere)
    (own.path / ".gitmem").symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    for args in (["query", "x"], ["index"], ["init"], ["status"], ["uninstall", "--yes"], ["verify"], ["gc"]):
        assert_error(cli(*args, cwd=own.path), ExitCode.FAILED, "is a symbolic link")
    assert sorted(elsewhere.rglob("*")) == before


def test_an_index_that_is_a_file_is_rejected(cli: Cli, own: Repo) -> None:
    shutil.rmtree(own.path / ".gitmem")
    (own.path / ".gitmem").write_text("mine")
    for args in (["query", "x"], ["init"], ["uninstall", "--yes"]):
        assert_error(cli(*args, cwd=own.path), ExitCode.FAILED, "is not a folder")
    assert (own.path / ".gitmem").read_text() == "mine"


def test_an_index_from_a_clone_is_rejected_until_removed(cli: Cli, own: Repo) -> None:
    clone = own.path.parent / "clone"
    own.git("clone", "-q", str(own.path), str(clone))
    shutil.copytree(own.path / ".gitmem", clone / ".gitmem")
    for args in (["query", "x"], ["index"], ["init"], ["status"], ["verify"], ["gc"]):
        assert_error(cli(*args, cwd=clone), ExitCode.FAILED, "was not made by gitmem in this repository", "rm -r")
    assert cli("uninstall", "--yes", cwd=clone).code == 0
    assert cli("init", cwd=clone).code == 0


def test_a_moved_repository_keeps_its_index(cli: Cli, own: Repo) -> None:
    moved = own.path.rename(own.path.parent / "moved")
    assert cli("status", cwd=moved).out.startswith("Up to Date")


def as_nobody(args: list[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run gitmem as a user without permissions."""
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *GITMEM, *args]
    trust = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    environment = {**os.environ, **ISOLATION, **trust, "HOME": "/"}
    process = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if "No module named gitmem" in process.stderr:
        pytest.skip("another user cannot read this installation")
    return process


needs_setpriv = pytest.mark.skipif(not (ROOT and shutil.which("setpriv")), reason="needs root and setpriv")


def _open_up(path: Path) -> None:
    """Let every user traverse the parent folders."""
    for parent in path.parents:
        if parent != parent.parent and parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)


@needs_setpriv
def test_init_in_a_read_only_folder(own: Repo) -> None:
    _open_up(own.path / "x")
    shutil.rmtree(own.path / ".gitmem")
    own.path.chmod(0o755)
    process = as_nobody(["init"], own.path)
    assert process.returncode == ExitCode.FAILED, process
    assert process.stderr.startswith("error: cannot write `")
    assert "hint: give yourself write permission" in process.stderr
    assert len(process.stderr.splitlines()) == 2


@needs_setpriv
def test_an_index_of_another_user_is_rejected(own: Repo) -> None:
    _open_up(own.path / "x")
    own.path.chmod(0o755)
    process = as_nobody(["query", "x"], own.path)
    assert process.returncode == ExitCode.FAILED, process
    assert "belongs to another user" in process.stderr


@needs_setpriv
def test_a_read_only_index_is_searched(own: Repo) -> None:
    _open_up(own.path / "x")
    for path in (own.path, *own.path.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    own_index = own.path / ".gitmem"
    own.git("-c", "safe.directory=*", "commit", "-q", "--allow-empty", "-m", "same tree")
    for path in (own_index, *own_index.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    process = as_nobody(["query", SIGN], own.path)
    assert process.returncode == 0, process
    assert "sign_cookie" in process.stdout
    own.write({"new.py": "def brand_new_function():\n    pass\n"})
    own.git("-c", "safe.directory=*", "add", "new.py")
    own.git("-c", "safe.directory=*", "commit", "-q", "-m", "another tree")
    process = as_nobody(["query", SIGN], own.path)
    assert process.returncode == 0, process
    assert "stale: 1 file" in process.stdout
    assert "cannot be written, so nothing new is indexed" in process.stderr
    process = as_nobody(["index"], own.path)
    assert process.returncode == ExitCode.FAILED, process
    assert process.stderr.startswith("error: cannot write `")


@pytest.mark.skipif(os.name != "posix", reason="needs file size limits")
def test_a_file_size_limit_keeps_the_old_index(own: Repo) -> None:
    import resource

    words = "\n".join(f"def function_number_{number}():\n    return {number}\n" for number in range(3000))
    own.commit({"big.py": words})
    before = (own.path / ".gitmem" / "manifest").read_bytes()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    process = start("index", cwd=own.path, preexec_fn=limit)
    assert process.returncode == ExitCode.FAILED, process
    assert process.stderr.startswith("error: cannot write `")
    assert len(process.stderr.splitlines()) <= 2
    assert (own.path / ".gitmem" / "manifest").read_bytes() == before
    assert start("index", cwd=own.path).returncode == 0
    assert start("verify", cwd=own.path).returncode == 0


@pytest.mark.skipif(not (ROOT and shutil.which("mount")), reason="needs root to mount a small file system")
def test_a_full_disk_keeps_the_old_index(own: Repo) -> None:
    place = own.path.parent / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", place], check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        index = own.path / ".gitmem"
        shutil.copytree(index, place, dirs_exist_ok=True)
        place.chmod(0o700)
        shutil.rmtree(index)
        index.mkdir()
        subprocess.run(["mount", "--bind", place, index], check=True)
        try:
            words = "\n".join(f"def function_number_{number}():\n    return {number}\n" for number in range(15000))
            own.commit({"big.py": words})
            process = start("index", cwd=own.path)
            assert process.returncode == ExitCode.FAILED, process
            assert "No space left on device" in process.stderr
            assert "hint: free some space" in process.stderr
            assert start("query", "--no-refresh", SIGN, cwd=own.path).returncode == 0
            assert start("verify", cwd=own.path).returncode == 0
        finally:
            subprocess.run(["umount", index], check=True)
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_closed_standard_output_is_not_an_error(own: Repo) -> None:
    closed = subprocess.run(["sh", "-c", '"$0" -m gitmem query --full -n 9 cookie | true', sys.executable],
                            cwd=own.path, capture_output=True, text=True, check=False)  # fmt: skip
    assert closed.stderr == ""
    gone = subprocess.run(["sh", "-c", '"$0" -m gitmem query cookie >&-', sys.executable],
                          cwd=own.path, capture_output=True, text=True, check=False)  # fmt: skip
    assert (gone.returncode, gone.stderr) == (0, "")


def test_a_closed_standard_input_matters_only_if_it_is_read(own: Repo) -> None:
    for args, code in (("query -l cookie", 0), ("query -", 2)):
        process = subprocess.run(["sh", "-c", f'"$0" -m gitmem {args} <&-', sys.executable],
                              cwd=own.path, capture_output=True, text=True, check=False)  # fmt: skip
        assert process.returncode == code, process
        assert "Traceback" not in process.stderr


def test_a_narrow_encoding_of_the_output_loses_no_result(own: Repo) -> None:
    own.commit({"größe.py": "def größe_messen():\n    return '⋮ 測定'\n"})
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    process = start("query", "größe messen", cwd=own.path, env=environment)
    assert process.returncode == 0, process
    assert "gr\\xf6\\xdfe.py:1-2" in process.stdout


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (ValueError("strange\nthing"), 5, "error: gitmem failed: ValueError: strange\\nthing"),
        (MemoryError(), 5, "error: out of memory"),
        (RecursionError("too deep"), 5, "error: gitmem failed: RecursionError: too deep"),
        (OSError(24, "Too many open files", "x\x1by"), 5, "error: Too many open files: x\\ey"),
        (Busy("busy"), 4, "error: busy"),
        (StorageFailed("full", hint="free some"), 5, "hint: free some"),
    ],
)
def test_an_unexpected_error_is_two_lines(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, problem: Exception, code: int, message: str
) -> None:
    def fail(_: list[str]) -> int:
        raise problem

    monkeypatch.setattr("gitmem.cli.root.invoke", fail)
    outcome = cli("status", cwd=tmp_path)
    assert_error(outcome, code, message)
    monkeypatch.setenv("GITMEM_DEBUG", "1")
    assert "Traceback" in cli("status", cwd=tmp_path).err


def test_an_interrupt_is_130_without_output(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("gitmem.cli.root.invoke", interrupt)
    outcome = cli("status", cwd=tmp_path)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


def test_a_broken_pipe_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_to_closed_pipe(_: list[str]) -> int:
        raise BrokenPipeError

    monkeypatch.setattr("gitmem.cli.root.invoke", write_to_closed_pipe)
    assert run([]) == 0


def test_an_error_without_standard_error_keeps_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    assert failures.report(Busy("busy"), {}) == 4


def test_a_file_without_grammar_is_indexed_as_text(cli: Cli, own: Repo) -> None:
    own.commit({"strange.xyzzy": "the quixotic zephyr module\n" * 3})
    result = json.loads(cli("query", "--json", "quixotic zephyr", cwd=own.path).out)
    assert result["results"][0]["path"] == "strange.xyzzy"
    assert result["results"][0]["chunk_type"] == "text"

"""`gitmem memory`, `gitmem doc` and `gitmem conversation`, as a person uses them."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gitmem.cli.command_help import make_context
from gitmem.cli.root import root
from gitmem.errors import ExitCode
from gitmem.memory.record_paths import REFERENCE
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "repo")


def test_a_note_is_stored_listed_shown_deleted_and_restored(cli: Cli, repo: Repo) -> None:
    added = cli("memory", "add", "--type", "decision", "Use cookies\nfor sessions", cwd=repo.path)
    name = added.out.split()[1]
    assert added.out == f"stored {name}\n"
    assert cli("memory", "list").out.splitlines()[0].startswith(f"{name}  decision  20")
    assert cli("memory", "list").out.splitlines()[1] == "    Use cookies"
    assert cli("memory", "list", "--type", "fact").out == ""
    assert cli("memory", "show", name).out.endswith("\n\nUse cookies\nfor sessions")
    assert cli("memory", "delete", name).out == f"deleted {name}\n"
    assert_error(cli("memory", "show", name), ExitCode.USAGE, "no such record")
    assert cli("memory", "log").out.splitlines()[1] == f"  - {name}"
    assert f"--- {name} before\n+++ nothing\n" in cli("memory", "diff").out
    assert cli("memory", "restore", name).out == f"restored {name}\n"
    assert name in cli("memory", "list").out


def test_every_command_prints_json(cli: Cli, repo: Repo) -> None:
    (repo.path / "a.md").write_text("text")

    def json_of(*args: str) -> object:
        outcome = cli(*args, "--json", cwd=repo.path)
        assert outcome.code == 0, outcome
        return json.loads(outcome.out)

    note, turn = json_of("memory", "add", "x"), json_of("conversation", "append", "plan", "user", "y")
    document = json_of("doc", "add", "a.md", "--meta", "k=v", "--participant", "Ann")
    assert isinstance(note, dict)
    assert isinstance(turn, dict)
    assert isinstance(document, dict)
    fields = {"id", "content", "type", "confidence", "conversation", "time", "paths", "symbols", "shared_by"}
    fields |= {"supersedes", "expires", "confirmed", "blobs", "commit", "visibility"}
    assert set(note) == {*fields, "similar"}
    assert (turn["conversation"], turn["turn"], turn["replaced"]) == ("plan", 0, False)
    assert (document["status"], document["metadata"], document["participants"]) == ("created", {"k": "v"}, ["Ann"])
    assert note.pop("similar") == []
    listing = json_of("memory", "list")
    assert isinstance(listing, list)
    assert listing[0].pop("state")["marks"] == []
    assert listing == [note]
    listed = {"id": "plan", "turns": 1, "time": turn["time"], "title": "", "visibility": "me"}
    assert json_of("conversation", "list") == [listed]
    assert json_of("doc", "get", document["id"], "--chunks")["content"] == "text"  # type: ignore[index]
    assert "content" not in json_of("doc", "get", document["id"], "--no-content")  # type: ignore[operator]
    assert len(json_of("memory", "log")) == 3  # type: ignore[arg-type]
    assert json_of("memory", "show", "conversation:plan")[0]["role"] == "user"  # type: ignore[index]
    assert json_of("memory", "diff")[0]["after"]["kind"] == "documents"  # type: ignore[index]
    assert json_of("memory", "delete", "conversation:plan") == [{"id": "conversation:plan", "parts": 1}]
    assert json_of("doc", "delete", document["id"]) == [{"id": document["id"], "chunks": 0}]
    assert json_of("memory", "restore", "conversation:plan")[0]["content"] == "y"  # type: ignore[index]
    assert json_of("doc", "prune", "--expired", "--dry-run") == []
    assert json_of("memory", "purge", "--yes")["left"] == 0  # type: ignore[index]


def test_a_document_is_returned_byte_for_byte(cli: Cli, repo: Repo) -> None:
    data = "Ä line\r\nwithout end\t".encode()
    (repo.path / "a.txt").write_bytes(data)
    added = cli("doc", "add", "a.txt", "--source-id", "7", cwd=repo.path)
    assert added.out.startswith("created art_")
    name = added.out.split()[1].rstrip(":")
    assert cli("doc", "add", "a.txt", "--source-id", "7").out.startswith(f"unchanged {name}")
    assert cli("doc", "list").out.splitlines()[0].startswith(f"{name}  doc  manual:7  20")
    assert cli("doc", "get", name).out.encode() == data
    assert cli("doc", "delete", name).out == f"deleted {name} and 0 chunks\n"


def test_files_are_relative_to_the_folder_of_the_option_c(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repo.write({"plan.md": "Plan of the repository.\n"})
    (elsewhere / "plan.md").write_text("Plan of the caller.\n")
    here = ("-C", str(repo.path))
    assert cli(*here, "doc", "add", "plan.md", "--id", "plan", cwd=elsewhere).code == ExitCode.OK
    assert cli(*here, "doc", "get", "plan", cwd=elsewhere).out == "Plan of the repository.\n"
    assert cli(*here, "memory", "export", "out.jsonl", cwd=elsewhere).code == ExitCode.OK
    assert (repo.path / "out.jsonl").is_file()
    assert cli(*here, "memory", "import", "out.jsonl", cwd=elsewhere).out == "imported 0 records, 1 unchanged\n"
    absolute = str(elsewhere / "plan.md")
    assert cli(*here, "doc", "add", absolute, "--id", "other", cwd=elsewhere).code == ExitCode.OK
    assert cli(*here, "uninstall", "--yes", "--export", "kept.jsonl", cwd=elsewhere).code == ExitCode.OK
    assert (repo.path / "kept.jsonl").is_file()


def test_text_is_read_from_standard_input(cli: Cli, repo: Repo) -> None:
    assert cli("memory", "add", "-", cwd=repo.path, stdin=b"piped").code == 0
    assert cli("doc", "add", "-", "--format", "html", stdin=b"<title>T</title><p>hello").code == 0
    assert cli("conversation", "append", "plan", "assistant", "-", stdin="ü".encode()).code == 0
    exported = cli("memory", "export").out
    assert [json.loads(line)["content"] for line in exported.splitlines()] == ["ü", "hello", "piped"]
    assert_error(cli("memory", "add", "-", stdin=b"\xff"), ExitCode.USAGE, "UTF-8")
    assert_error(cli("memory", "add", "-", stdin=None), ExitCode.USAGE, "standard input is closed")


def test_conversations_are_shown_in_order(cli: Cli, repo: Repo) -> None:
    cli("conversation", "append", "plan", "user", "one\nmore", cwd=repo.path)
    cli("conversation", "append", "plan", "assistant", "two")
    assert cli("conversation", "append", "plan", "user", "one", "--turn", "0").out == "replaced turn 0 of plan\n"
    assert cli("conversation", "get", "plan").out == "0 user\n  one\n1 assistant\n  two\n"
    assert cli("conversation", "get", "plan", "-n", "1").out == "1 assistant\n  two\n"
    assert cli("conversation", "list").out.startswith("plan  2 turns  20")
    session = repo.path / "s.jsonl"
    entry = {"type": "user", "sessionId": "s-1", "message": {"content": "hello"}}
    session.write_text(json.dumps(entry))
    assert cli("conversation", "import", "s.jsonl").out == "s-1: 1 turn, 1 new or changed\n"
    assert cli("conversation", "import", "s.jsonl").out == "s-1: 1 turn, 0 new or changed\n"


def test_records_are_exported_and_imported_into_another_repository(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    cli("memory", "add", "x", cwd=repo.path)
    file = str(tmp_path / "memory.jsonl")
    assert cli("memory", "export", file).code == 0
    other = Repo.init(tmp_path / "other")
    assert cli("memory", "import", file, cwd=other.path).out == "imported 1 record, 0 unchanged\n"
    more = b'{"content": "another"}\n' + (other.path / file).read_bytes()
    assert cli("memory", "import", "-", cwd=other.path, stdin=more).out == "imported 1 record, 1 unchanged\n"
    assert other.git("log", "-1", "--format=%s", "refs/gitmem/memory") == "import: 1"  # the changed ones alone
    bad = cli("-q", "memory", "import", "-", "--partial", stdin=b'{"content": "y"}\nnonsense\n')
    assert (bad.code, bad.err) == (5, "warning: line 2: not valid JSON\n")
    assert_error(cli("memory", "import", "-", stdin=b"{}"), ExitCode.USAGE, "line 1", "--partial")


def test_a_similar_note_is_reported(cli: Cli, repo: Repo) -> None:
    cli("init", "--no-hooks", "--no-mcp", cwd=repo.path)
    name = cli("memory", "add", "The staging database is restored every night.").out.split()[1]
    lines = cli("memory", "add", "Every night the staging database gets restored.").out.splitlines()
    assert lines[0].startswith("stored mem_")
    assert lines[1].startswith(f"similar to {name} (0.")
    assert lines[1].endswith("): The staging database is restored every night.")
    answer = json.loads(cli("memory", "add", "--json", "The staging database is restored each night.").out)
    assert {each["id"] for each in answer["similar"]} == {name, lines[0].split()[1]}
    assert all(0.7 < each["score"] <= 1 for each in answer["similar"])
    assert json.loads(cli("memory", "add", "--json", "Use tabs.").out)["similar"] == []


def test_a_note_about_code_is_shown_with_its_results(cli: Cli, repo: Repo) -> None:
    repo.commit({"src/app.py": "def start_server():\n    return 1\n"})
    cli("init", "--no-hooks", "--no-mcp", cwd=repo.path)
    added = cli("memory", "add", "--path", "src", "--symbol", "start_server", "Ask Ann first.\nShe knows.")
    name = added.out.split()[1]
    assert added.err == ""
    assert f"  note {name}: Ask Ann first.\n" in cli("query", "start server").out
    [hit] = json.loads(cli("query", "--json", "start server").out)["results"]
    assert [(note["id"], note["text"]) for note in hit["notes"]] == [(name, "Ask Ann first.")]
    assert "missing" not in cli("memory", "show", name).out
    repo.git("mv", "src", "lib")
    repo.git("commit", "-qm", "moved")
    shown = cli("memory", "show", name).out.splitlines()
    assert {"paths: src", "symbols: start_server", "missing paths: src"} <= set(shown)
    assert json.loads(cli("memory", "show", name, "--json").out)[0]["missing_paths"] == ["src"]
    assert "note mem_" not in cli("query", "start server").out
    missing = cli("memory", "add", "--path", "typo.py", "x")
    assert missing.err == "note: no such path in this repository: `typo.py`\n"


def test_a_note_about_several_results_is_printed_once(cli: Cli, repo: Repo) -> None:
    repo.commit({f"src/{name}.py": f"def start_{name}_server():\n    return 1\n" for name in ("web", "mail")})
    cli("init", "--no-hooks", "--no-mcp", cwd=repo.path)
    name = cli("memory", "add", "--path", "src", "Ask Ann first.").out.split()[1]
    shown = cli("query", "start server").out
    assert shown.count("_server  ") == 2
    assert shown.count(f"note {name}: ") == 1
    assert shown.index(f"note {name}: ") < shown.index("return 1")
    hits = json.loads(cli("query", "--json", "start server").out)["results"]
    assert [[note["id"] for note in hit["notes"]] for hit in hits] == [[name], [name]]


def test_a_secret_is_refused_unless_it_is_allowed(cli: Cli, repo: Repo) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    assert_error(cli("memory", "add", secret, cwd=repo.path), ExitCode.USAGE, "github-pat", "--allow-secrets")
    assert cli("memory", "add", "--allow-secrets", secret).code == 0


def test_purge_asks_for_confirmation(cli: Cli, repo: Repo) -> None:
    cli("memory", "add", "x", cwd=repo.path)
    assert_error(cli("memory", "purge"), ExitCode.USAGE, "without a terminal", "gitmem memory purge --yes")
    assert cli("memory", "purge", "--yes").out == "removed 0 objects, 0 B\n"


def test_purge_reports_the_objects_it_left_and_what_reaches_them(cli: Cli, repo: Repo) -> None:
    name = cli("memory", "add", "canary", cwd=repo.path).out.split()[1]
    repo.git("update-ref", "refs/heads/backup", "refs/gitmem/memory")
    cli("memory", "delete", name)
    purged = cli("memory", "purge", "--yes")
    assert purged.code == ExitCode.FAILED
    assert purged.out.splitlines()[1:] == [
        "not removed: 1 deleted or replaced record, 6 objects in all; reachable from refs/heads/backup"
    ]
    again = cli("memory", "purge", "--yes", "--json")
    assert again.code == ExitCode.FAILED
    assert (json.loads(again.out)["left"], json.loads(again.out)["kept_by"]) == (6, ["refs/heads/backup"])
    repo.git("update-ref", "-d", "refs/heads/backup")
    assert cli("memory", "purge", "--yes").code == 0


def test_doc_delete_refuses_ids_of_other_records(cli: Cli, repo: Repo) -> None:
    note = cli("memory", "add", "x", cwd=repo.path).out.split()[1]
    document = cli("doc", "add", "-", stdin=b"text").out.split()[1].rstrip(":")
    cli("conversation", "append", "plan", "user", "y")
    for name in (note, "conversation:plan"):
        assert_error(
            cli("doc", "delete", document, name),
            ExitCode.USAGE,
            "is not the id of a document",
            f"gitmem memory delete {name}",
        )
    assert len(cli("memory", "export").out.splitlines()) == 3
    assert cli("doc", "delete", document).code == 0


@pytest.mark.parametrize(
    "args",
    [
        ("conversation", "get", "nowhere"),
        ("memory", "show"),
        ("memory", "log"),
        ("memory", "delete"),
        ("memory", "restore"),
    ],
)
@pytest.mark.parametrize("empty", [True, False])
def test_an_unknown_conversation_is_the_same_error_everywhere(
    cli: Cli, repo: Repo, args: tuple[str, ...], empty: bool
) -> None:
    if not empty:
        cli("conversation", "append", "elsewhere", "user", "one", cwd=repo.path)
    name = [] if args[0] == "conversation" else ["conversation:nowhere"]
    outcome = cli(*args, *name, cwd=repo.path)
    assert_error(outcome, ExitCode.USAGE, "error: no such conversation: `conversation:nowhere`\n")


def test_restore_brings_back_a_deleted_conversation(cli: Cli, repo: Repo) -> None:
    for text in ("one", "two"):
        cli("conversation", "append", "cc", "user", text, cwd=repo.path)
    cli("memory", "delete", "conversation:cc")
    cli("conversation", "append", "cc", "user", "three")
    assert_error(cli("memory", "restore", "conversation:cc", "--at", "~1"), ExitCode.USAGE, "at revision `~1`")
    assert cli("memory", "restore", "conversation:cc").out == "restored conversation:cc\n"
    assert cli("conversation", "get", "cc").out == "0 user\n  one\n1 user\n  two\n"
    name = cli("memory", "add", "only").out.split()[1]
    for _ in range(6):
        cli("memory", "delete", name)
        assert cli("memory", "restore", name).code == 0
    assert_error(cli("memory", "restore", name), ExitCode.USAGE, "no other revision", f"gitmem memory log {name}")
    assert_error(cli("memory", "restore", "mem_000000000000"), ExitCode.USAGE, "no such record: `mem_000000000000`")


@pytest.mark.parametrize(
    "args",
    [
        ("memory", "add", "--type", "idea", "x"), ("memory", "add", ""), ("memory", "list", "-n", "0"),
        ("memory", "list", "-n", "101"), ("memory", "show", "x"), ("memory", "delete"), ("memory", "diff", "nonsense"),
        ("memory", "import", "missing.jsonl"), ("doc", "add", "missing"), ("doc", "add", "-", "--meta", "x"),
        ("doc", "get", "mem_000000000000"), ("doc", "get", "art_00000000", "--chunks"), ("doc", "prune"),
        ("conversation", "append", "plan", "tool", "x"), ("conversation", "get", "plan", "-n", "51"),
        ("conversation", "nonsense"), ("conversation", "import", "missing.jsonl"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_and_a_hint(cli: Cli, repo: Repo, args: tuple[str, ...]) -> None:
    assert_error(cli(*args, cwd=repo.path), ExitCode.USAGE)


def groups() -> Iterator[tuple[str, click.Command]]:
    for name in ("memory", "doc", "conversation"):
        group = root.get_command(make_context(root), name)
        assert isinstance(group, click.Group)
        yield from ((f"gitmem {name} {part}", command) for part, command in group.commands.items())


@pytest.mark.parametrize(("name", "command"), [*groups()])
def test_every_command_of_a_group_has_examples_and_described_options(name: str, command: click.Command) -> None:
    about, _, examples = (command.help or "").partition("Examples:")
    assert about.strip()
    assert name in examples
    assert all(param.help for param in command.params if isinstance(param, click.Option))


def test_notes_and_documents_are_searched_alone_or_with_code(cli: Cli, own: Repo) -> None:
    note = cli("memory", "add", "Cookies are signed with a key that is rotated.", cwd=own.path)
    assert note.err == ""
    name = note.out.split()[1]
    document = cli("doc", "add", "-", "--title", "Cookies", stdin=b"How cookies are signed.").out.split()[1].rstrip(":")
    assert cli("memory", "search", "-l", "signed cookies").out == f"{name}\n"
    assert cli("doc", "search", "-l", "signed cookies").out == f"{document}\n"
    paths = cli("query", "-l", "--kind", "all", "sign the cookie").out.splitlines()
    assert {name, document, "src/cookies.py"} <= set(paths)
    assert name not in cli("query", "-l", "sign the cookie").out
    [hit] = json.loads(cli("memory", "search", "--json", "signed cookies").out)["results"]
    assert (hit["kind"], hit["path"], hit["start_line"], hit["chunk_type"]) == ("notes", name, 1, "note")
    assert_error(cli("query", "--kind", "poems", "x"), ExitCode.USAGE, "poems")


def test_a_note_without_an_index_is_stored_with_a_notice(cli: Cli, repo: Repo) -> None:
    added = cli("memory", "add", "x", cwd=repo.path)
    assert added.code == 0
    assert added.err.startswith("note: stored, but not searchable yet: this repository has no index yet")


def test_filters_restrict_a_search_to_matching_records(cli: Cli, repo: Repo) -> None:
    (repo.path / "mail.txt").write_text("apples by mail")
    cli("init", "--no-hooks", "--no-mcp", cwd=repo.path)
    note = cli("memory", "add", "--type", "decision", "--confidence", "0.5", "apples are red").out.split()[1]
    mail = ("--type", "email", "--source", "imap", "--time", "2026-03-01", "--sensitivity", "sensitive")
    document = json.loads(cli("doc", "add", "mail.txt", *mail, "--json").out)["id"]
    assert note in cli("memory", "search", "--type", "decision", "--min-confidence", "0.5", "apples").out
    assert cli("memory", "search", "--min-confidence", "0.6", "apples").code == ExitCode.NO_RESULTS
    filters = ("--source", "imap", "--since", "2026-03-01", "--until", "2026-03-01", "--sensitivity", "sensitive")
    answer = json.loads(cli("query", "--kind", "all", "--record-type", "email", *filters, "--json", "apples").out)
    [hit] = answer["results"]
    assert (hit["path"], hit["record"]["source"], hit["record"]["type"]) == (document, "imap", "email")
    missed = cli("doc", "search", "--visibility", "org", "apples")
    assert missed.code == ExitCode.NO_RESULTS
    assert "the filters may be the cause" in missed.err
    assert_error(cli("query", "--kind", "code", "--source", "imap", "apples"), ExitCode.USAGE, "do not apply to code")
    assert_error(cli("doc", "search", "--since", "soon", "apples"), ExitCode.USAGE, "ISO 8601")


def test_lost_records_are_reported_recovered_or_given_up(cli: Cli, repo: Repo) -> None:
    name = cli("memory", "add", "one", cwd=repo.path).out.split()[1]
    commit = repo.oid(REFERENCE)[:12]
    repo.git("update-ref", "-d", REFERENCE)
    warning = f"warning: `{REFERENCE}` is gone: it was at {commit}\nhint: gitmem memory recover\n"
    for args in (("memory", "list"), ("doc", "list"), ("conversation", "list"), ("memory", "log")):
        assert cli(*args).err == warning
    assert commit in cli("status").out
    assert json.loads(cli("status", "--json").out)["memory_problem"].endswith("run `gitmem memory recover`")
    assert_error(cli("memory", "purge", "--yes"), ExitCode.FAILED, "refusing to purge")
    recovered = cli("memory", "recover")
    assert recovered.out == f"merged {commit}: 1 record taken, 0 deleted\n"
    assert name in cli("memory", "list").out
    assert cli("memory", "list").err == ""
    assert_error(cli("memory", "recover"), ExitCode.USAGE, "all its last known records")
    repo.git("update-ref", "-d", REFERENCE)
    assert_error(cli("memory", "recover", "--forget"), ExitCode.USAGE, "refusing to continue without a terminal")
    assert cli("memory", "recover", "--forget", "--yes").out == f"forgot {commit}\n"
    listed = cli("memory", "list")
    assert (listed.out, listed.err) == ("", "")


def test_the_records_of_another_clone_are_merged(cli: Cli, repo: Repo) -> None:
    cli("conversation", "append", "plan", "user", "ours", cwd=repo.path)
    other = Repo.init(repo.path.parent / "other")
    cli("conversation", "append", "plan", "user", "theirs", cwd=other.path)
    cli("memory", "add", "a note", cwd=other.path)
    repo.git("fetch", "-q", str(other.path), f"+{REFERENCE}:refs/gitmem/remotes/other/memory")
    commit = other.oid(REFERENCE)[:12]
    merged = cli("memory", "merge", "refs/gitmem/remotes/other/memory", cwd=repo.path)
    assert merged.out.splitlines() == [
        f"merged {commit}: 1 record taken, 0 deleted",
        f"changed on both sides, your version stays: 1 record; theirs: gitmem memory diff {commit}",
    ]
    assert "ours" in cli("memory", "show", "conversation:plan").out
    assert "theirs" in cli("memory", "show", "conversation:plan", "--at", commit).out
    assert json.loads(cli("memory", "merge", commit, "--json").out)["taken"] == 0
    assert_error(cli("memory", "merge", "nosuch"), ExitCode.USAGE, "unknown revision: `nosuch`")


@pytest.mark.parametrize("content", ["{bad", "[]", '{"type": "user", "timestamp": "z"}', ""])
def test_an_error_in_a_transcript_names_its_file_in_full(cli: Cli, own: Repo, content: str) -> None:
    own.write({"my notes/package.v1.jsonl": content})
    outcome = cli("conversation", "import", "my notes/package.v1.jsonl", cwd=own.path)
    assert_error(outcome, ExitCode.USAGE, "`my notes/package.v1.jsonl`")
    outcome = cli("conversation", "import", "-", stdin=content.encode(), cwd=own.path)
    assert_error(outcome, ExitCode.USAGE, "`standard input`")


def test_a_result_names_the_conversation_of_a_turn_once(cli: Cli, own: Repo) -> None:
    assert cli("conversation", "append", "planning", "user", "When do apples ripen?", cwd=own.path).code == 0
    heading = cli("query", "--kind", "conversations", "apples", cwd=own.path).out.splitlines()[0]
    assert heading.startswith("conversation:planning 0:1-1  ")
    assert heading.count("planning") == 1


def test_notes_are_replaced_reviewed_confirmed_and_retired(cli: Cli, repo: Repo) -> None:
    repo.commit({"app.py": "one"})

    def run(*args: str) -> str:
        outcome = cli("memory", *args, cwd=repo.path)
        assert outcome.code == 0, outcome
        return outcome.out

    old = run("add", "--path", "app.py", "Sessions live in cookies.").split()[1]
    new = run("add", "--path", "app.py", "--supersedes", old[:9], "Sessions live in Redis.").split()[1]
    assert f"supersedes: {old}" in run("show", new)
    assert f"superseded by {new}" in run("list")
    assert run("review") == ""
    repo.commit({"app.py": "two"})
    repo.commit({"app.py": "three"})
    assert "    written about `app.py`, changed since: 2 commits\n    Sessions live in Redis." in run("review")
    assert run("review", "--confirm", new) == f"confirmed {new}\n"
    assert run("review") == ""
    assert run("edit", new, "Sessions live in Valkey.", "--expires", "2020-01-31") == f"changed {new}\n"
    assert "expired 2020-01-31" in run("show", new)
    assert run("review", "--retire", old) == f"retired {old}\n"
    assert run("expire", new, "--at", "2999-01-31") == f"expires {new} 2999-01-31T00:00\n"
    assert_error(cli("memory", "edit", new, cwd=repo.path), ExitCode.USAGE, "nothing to change")

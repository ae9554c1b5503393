"""Notes that the messages of commits suggest: which sentences, of which commits, and what a person decided on them."""

import json
import os
import pty
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import ExitCode
from gitmem.git.commit_messages import read_changed_paths
from gitmem.memory.note import MAX_LIST
from gitmem.records.commit_statements import find_statements, read_message
from gitmem.records.decided_suggestions import MAX_DECIDED, read_decided, remember_decided
from gitmem.records.notes import add_note, list_notes
from gitmem.records.suggested_notes import suggest_notes
from tests.gitrepo import Repo
from tests.indexes import workspace_of
from tests.sample import Cli, assert_error

AUTHOR = "A Person <person@example.invalid>"
KEY = "AKIA" + "Q3EGRJ5VX4ZTLK2M"
REASON = "Cookies are signed with the newest key, because rotation must not end sessions."
TITLE = "Sign cookies with the newest key"


@pytest.fixture
def repo(tmp_path: Path, fake_model: object) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"app.py": "one"}, "Start the application")
    return repo


def statements(message: str, author: str = AUTHOR, attached: str = "") -> list[tuple[str, str, str]]:
    parts = read_message(message, is_merge=False)
    return [(each.rule, each.type, each.text) for each in find_statements(parts, author, attached)] if parts else []


def suggested(cli: Cli, repo: Repo, *args: str) -> list[Any]:
    outcome = cli("memory", "suggest", "--json", *args, cwd=repo.path)
    assert (outcome.code, outcome.err) == (0, "")
    listed = json.loads(outcome.out)
    assert isinstance(listed, list)
    return listed


@pytest.mark.parametrize(
    ("sentence", "rule", "type_"),
    [
        ("The header is no longer supported by any browser.", "removal", "decision"),
        ("Callers must not keep the buffer after the callback returns.", "rule", "decision"),
        ("Keys are compared by bytes instead of by their collation.", "choice", "decision"),
        ("There is no guarantee of which cookie the browser sends first.", "warning", "fact"),
        ("The list is reversed because the signer takes the last key.", "reason", "decision"),
    ],
)
def test_a_sentence_with_the_word_of_a_rule_is_a_statement(sentence: str, rule: str, type_: str) -> None:
    assert statements(f"Change the order of keys\n\nRead the list once.\n{sentence}\n") == [(rule, type_, sentence)]


@pytest.mark.parametrize(
    "message",
    [
        "Change the order of keys\n\nThe keys are now in the order of the list of keys.",
        "Change the order of keys\n\nThis fixes keys that were sorted because of a wrong comparison.",
        "Change the order of keys\n\nShould we sort the keys of the list because of the signer?",
        "Change the order of keys\n\nI did not sort the keys of the list because of the signer.",
        "Change the order of keys\n\n> They are sorted because the signer takes the last key.",
        "Change the order of keys\n\n    if keys: raise ValueError  # because the signer takes the last key",
        "Change the order of keys\n\n```\nthey are sorted because the signer takes the last key\n```",
        "Change the order of keys\n\n<!-- They must be sorted\nbecause the signer takes the last key. -->",
        "Change the order of keys\n\n- [ ] the documentation says why they are sorted, because it must",
        "Change the order of keys\n\nReviewed-by: Somebody who must never be named because of this",
        "Fix a typo in the order of keys\n\nThe keys are sorted because the signer takes the last one.",
        "Release version 3.1.3\n\nThis release is needed because the signer takes the last key.",
        "Revert \"Sort the keys\"\n\nThis reverts commit 0123456789abcdef.",
        "Bump the keys from 1.2 to 1.3\n\nBumped because the signer takes the last key of the list.",
    ],
)  # fmt: skip
def test_talk_code_trailers_and_routine_commits_are_no_statements(message: str) -> None:
    assert statements(message) == []


def test_bots_suggest_nothing() -> None:
    message = f"{TITLE}\n\n{REASON}"
    assert statements(message)
    assert statements(message, "dependabot[bot] <bot@example.invalid>") == []


def test_a_revert_is_a_statement_with_its_reason() -> None:
    reason = "Kiosks lost their sessions after an hour."
    message = 'Revert "Expire early"\n\nThis reverts commit 0123456789abcdef, reversing\nchanges made to fedcba9876.'
    assert statements(f"{message}\n\n{reason}\n\nFixes: #12") == [("revert", "decision", reason)]


def test_a_breaking_change_and_a_plain_subject_are_statements() -> None:
    footer = "BREAKING CHANGE: `close` returns nothing\n  and raises for a closed session.\nRefs: #12"
    text = "`close` returns nothing and raises for a closed session."
    assert statements(f"feat: close once\n\nAdd a flag.\n\n{footer}") == [("breaking change", "decision", text)]
    assert statements("feat(api)!: close sessions once") == [("breaking change", "decision", "")]
    assert statements("Drop support for Python 3.8") == [("removal", "decision", "")]
    assert statements("Add tests of what is no longer sorted") == []


def test_a_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    body = "The signer takes the last key of the list.\nTherefore the newest key must come last.\nThe rest is style."
    assert statements(f"Order the keys\n\n{body}") == [
        ("rule", "decision", "The signer takes the last key of the list. Therefore the newest key must come last.")
    ]


def test_lines_that_are_not_wrapped_are_sentences_by_themselves() -> None:
    body = "use links instead of roles in the guide\nadd a classifier\nsimplify the addresses"
    assert statements(f"Renew the files\n\n{body}") == [
        ("choice", "decision", "use links instead of roles in the guide")
    ]
    items = "- sort the keys once\n- the newest key must be the last one\n  of the list of keys"
    assert [text for *_, text in statements(f"Renew the files\n\n{items}")] == [
        "the newest key must be the last one of the list of keys"
    ]


def test_suggestions_have_the_subject_the_commit_and_the_paths_that_exist(cli: Cli, repo: Repo) -> None:
    files = {"src/keys.py": "1", "tests/test_keys.py": "2", "CHANGES.md": "3", "src/gone.py": "4"}
    first = repo.commit(files, f"{TITLE} (#12)\n\n{REASON}")
    (repo.path / "src/gone.py").unlink()
    second = repo.commit({f"lib/sub/{name}.py": "5" for name in range(5)}, "Drop support for Python 3.8")
    assert suggested(cli, repo) == [
        {
            "id": second[:12], "type": "decision", "content": f"Drop support for Python 3.8. (commit {second[:12]})",
            "paths": ["lib/sub"], "commit": second, "request": "", "rule": "removal",
        },
        {
            "id": first[:12], "type": "decision", "content": f"{TITLE}. {REASON} (#12, commit {first[:12]})",
            "paths": ["src/keys.py"], "commit": first, "request": "#12", "rule": "rule",
        },
    ]  # fmt: skip
    assert suggested(cli, repo, f"{first}..HEAD") == suggested(cli, repo, "-n", "1")
    assert [each["commit"] for each in suggested(cli, repo, first)] == [first]
    shown = cli("memory", "suggest", cwd=repo.path).out.splitlines()
    assert shown[2:] == [f"{first[:12]}  decision  src/keys.py", f"    {TITLE}. {REASON} (#12, commit {first[:12]})"]


def test_a_merge_has_the_title_of_its_request_and_stands_for_the_commit_that_it_brought(cli: Cli, repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit({"keys.py": "1"}, "deprecate sorted_keys")
    repo.git("switch", "--quiet", "main")
    message = "Merge pull request #34 from person/topic\n\ndeprecate `sorted_keys`"
    repo.git("merge", "--quiet", "--no-ff", "-m", message, "topic")
    head = repo.head()
    repo.git("switch", "--quiet", "--create", "other", "HEAD~1")
    repo.commit({"other.py": "1"})
    repo.git("merge", "--quiet", "--no-ff", "-m", "Merge branch 'main' into other", "main")
    assert [(each["content"], each["paths"]) for each in suggested(cli, repo)] == [
        (f"deprecate `sorted_keys`. (#34, commit {head[:12]})", ["keys.py"])
    ]


def test_reviews_in_the_notes_of_git_are_read(cli: Cli, repo: Repo) -> None:
    text = "The keys must stay in this order, clients depend on it."
    repo.git("notes", "--ref=review", "add", "-m", f"Code-Review+2: {AUTHOR}\n\n{text}", "HEAD")
    # A note may be any file, with NUL bytes too.
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"a\0b\0c\0" * 3)
    repo.git("notes", "add", "-C", blob, repo.commit({}, "Go on"))
    repo.commit({}, "Go on again")
    [found] = suggested(cli, repo)
    assert (found["rule"], found["content"]) == (
        "review", f"Start the application. {text} (commit {repo.oid('HEAD~2')[:12]})",
    )  # fmt: skip


def test_accepted_and_skipped_suggestions_are_not_shown_again(cli: Cli, repo: Repo) -> None:
    paragraphs = "\n\n".join([REASON, "There is no guarantee of which cookie the browser sends first."])
    both = repo.commit({"keys.py": "1"}, f"{TITLE}\n\n{paragraphs}")
    third = repo.commit({"b.py": "1"}, "Drop support for Python 3.8")
    one, two = f"{both[:12]}:1", f"{both[:12]}:2"
    assert [each["id"] for each in suggested(cli, repo)] == [third[:12], one, two]
    outcome = cli("memory", "suggest", "--accept", one, "--skip", third, cwd=repo.path)
    [note] = list_notes(workspace_of(repo))
    assert outcome.out == f"stored {note.id}\nskipped {third[:12]}\n"
    assert (note.content, note.type, note.paths) == (
        f"{TITLE}. {REASON} (commit {both[:12]})",
        "decision",
        ("keys.py",),
    )
    assert [each["id"] for each in suggested(cli, repo)] == [two]
    # The index folder is a cache. Without it, the note still stands for its own sentence, but for no other.
    (repo.path / ".gitmem" / "state" / "decided-suggestions").unlink()
    assert [each["id"] for each in suggested(cli, repo)] == [third[:12], two]
    accepted = cli("memory", "suggest", "--accept", one, cwd=repo.path)
    assert_error(accepted, ExitCode.USAGE, f"`{one}` is stored already: {note.id}")
    add_note(workspace_of(repo), f"Since {third[:8]} the oldest Python is 3.9; see {both} for the keys.")
    assert suggested(cli, repo) == []
    assert cli("memory", "suggest", cwd=repo.path).err == "these commits suggest no note\n"


def test_accepting_several_is_all_or_none_and_refuses_secrets(cli: Cli, repo: Repo) -> None:
    good = repo.commit({}, f"{TITLE}\n\n{REASON}")
    bad = repo.commit({}, f"Use a key\n\nThe key {KEY} is needed for the staging server, because it is shared.")
    assert KEY not in cli("memory", "suggest", cwd=repo.path).out
    assert_error(
        cli("memory", "suggest", "--accept", good, "--accept", bad, cwd=repo.path), ExitCode.USAGE, "contain a secret"
    )
    assert list_notes(workspace_of(repo)) == []
    [accepted] = json.loads(cli("memory", "suggest", "--json", "--accept", good, cwd=repo.path).out)["accepted"]
    assert accepted["content"].startswith(f"{TITLE}. ")


def test_wrong_ids_and_ranges_are_errors(cli: Cli, repo: Repo) -> None:
    plain = repo.head()
    both = repo.commit({}, f"{TITLE}\n\n{REASON}\n\nThere is no guarantee of which cookie the browser sends first.")
    for name, message in {
        "nothing": "`nothing` is not the id of a suggestion",
        plain: f"no such suggestion: `{plain}`",
        both: f"name one of {both[:12]}:1, {both[:12]}:2",
        f"{both}:3": "no such suggestion",
        "0123456789": "unknown commit",
    }.items():
        assert_error(cli("memory", "suggest", "--skip", name, cwd=repo.path), ExitCode.USAGE, message)
    assert_error(cli("memory", "suggest", "HEAD^{tree}", cwd=repo.path), ExitCode.USAGE, "is not a commit")
    assert_error(cli("memory", "suggest", "-n", str(MAX_LIST + 1), cwd=repo.path), ExitCode.USAGE, "limit")


def test_only_so_many_decisions_are_remembered_the_newest_ones(repo: Repo) -> None:
    workspace = workspace_of(repo)
    assert read_decided(workspace) == set()
    remember_decided(workspace, [f"{number:016x}" for number in range(MAX_DECIDED)])
    assert len(read_decided(workspace)) == MAX_DECIDED
    remember_decided(workspace, ["f" * 16])
    kept = read_decided(workspace)
    assert len(kept) == MAX_DECIDED // 2 + 1
    assert {"f" * 16, f"{MAX_DECIDED - 1:016x}"} <= kept


def test_the_paths_of_no_commit_are_not_those_of_head(repo: Repo) -> None:
    assert read_changed_paths(workspace_of(repo).location, []) == {}


def test_one_key_on_a_terminal_decides_about_each(repo: Repo) -> None:
    skipped = repo.commit({}, "Drop support for Python 3.8")
    accepted = repo.commit({}, f"{TITLE}\n\n{REASON}")
    edited = repo.commit({}, "Keep the keys\n\nThe newest key must be the last one of the list.")
    controller, terminal = pty.openpty()
    editor = repo.path.parent / "editor"
    editor.write_text('#!/bin/sh\necho Rotated. >> "$1"\n')
    editor.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "memory", "suggest"], cwd=repo.path, stdin=terminal,
        env={**os.environ, "EDITOR": str(editor), "VISUAL": str(editor)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    for key in b"eas":
        while b"[a]ccept" not in process.stderr.readline():
            assert process.poll() is None
        # Setting the mode of the terminal discards keys that were pressed before.
        while termios.tcgetattr(terminal)[3] & termios.ICANON:
            assert process.poll() is None
            time.sleep(0.01)
        os.write(controller, bytes([key]))
    output, _ = process.communicate()
    os.close(controller)
    os.close(terminal)
    workspace = workspace_of(repo)
    notes = {note.content.partition(" (commit")[0]: note.content for note in list_notes(workspace)}
    assert process.returncode == 0
    assert output.count(b"stored mem_") == len(notes)
    assert notes[f"{TITLE}. {REASON}"].endswith(f"(commit {accepted[:12]})")
    assert notes["Keep the keys. The newest key must be the last one of the list."].endswith(
        f"(commit {edited[:12]})\nRotated."
    )
    assert skipped[:12] not in {each.id for each in suggest_notes(workspace)}
    assert suggest_notes(workspace) == []

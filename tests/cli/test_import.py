"""`gitmem import`: the data of older systems, as they wrote it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.memory.older_exports import convert_s2
from gitmem.records.documents import get_document, list_documents
from gitmem.records.notes import list_notes
from gitmem.registry import OFF_VARIABLE, read_registry
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo
from tests.sample import Cli

TEXT = "Milestones of the release. " * 40
MODEL = {"embedding_provider": "openai", "embedding_model": "text-embedding-3-large", "embedding_dimensions": 3072}
S2: list[dict[str, Any]] = [
    {"id": "mem_abc123def456", "content": "User prefers dark mode",
     "metadata": {"type": "preference", "confidence": 0.9, "ts": "2025-12-25T10:30:00Z", "token_count": 142, **MODEL}},
    {"content": "No id", "metadata": {"type": "fact", "confidence": 1}},
    {"id": "conv123_turn_0", "content": "How do I implement auth?",
     "metadata": {"conversation_id": "conv123", "role": "user", "turn_index": 0, "ts": "2025-12-25T10:30:00Z",
                  **MODEL}},
    {"id": "art_9f2ca8b1", "content": "",
     "metadata": {"artifact_type": "doc", "source_system": "drive", "source_id": "1a2b", "title": "Q4 Release Plan",
                  "content_hash": "0", "token_count": 5400, "is_chunked": True, "num_chunks": 2,
                  "sensitivity": "normal",
                  "visibility_scope": "me", "retention_policy": "forever", "ts": "2025-12-25T10:30:00Z", **MODEL}},
    {"id": "art_9f2ca8b1::chunk::001::c0ffee12", "content": TEXT[500:],
     "metadata": {"artifact_id": "art_9f2ca8b1", "chunk_index": 1, "start_char": 500, "end_char": len(TEXT)}},
    {"id": "art_9f2ca8b1::chunk::000::a1b2c3d4", "content": TEXT[:600],
     "metadata": {"artifact_id": "art_9f2ca8b1", "chunk_index": 0, "start_char": 0, "end_char": 600}},
]  # fmt: skip
BAD = ["{", "[]", json.dumps({"id": "art_1::chunk::000::x", "content": "lost"}),
       json.dumps({"content": "x", "metadata": {"type": "opinion"}}),
       json.dumps({"content": "the key is ghp_" + "a1B2c3D4e5F6" * 3})]  # fmt: skip


def write(repo: Repo, name: str, *lines: Any) -> Path:
    file = repo.path.with_name(name)
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return file


def test_memories_turns_and_documents_are_imported_once(own: Repo, cli: Cli) -> None:
    file = write(own, "s2.jsonl", *S2, *BAD)
    command = ["import", "--from", "s2", str(file), "--json"]
    preview = cli(*command, "--dry-run", cwd=own.path)
    workspace = open_workspace(own.path, os.environ)
    assert json.loads(preview.out)["records"] == 4
    assert list_notes(workspace) == []
    outcome = cli(*command, cwd=own.path)
    assert outcome.code == 5
    value = json.loads(outcome.out)
    assert (value["records"], value["unchanged"]) == (4, 0)
    assert [one["place"] for one in value["skipped"]] == ["line 7", "line 8", "line 9", "line 10", "line 11"]
    assert "line 11: " in outcome.err
    assert "ghp_" not in outcome.err + outcome.out
    note = next(note for note in list_notes(workspace) if note.id == "mem_abc123def456")
    assert (note.type, note.confidence, note.time[:19]) == ("preference", 0.9, "2025-12-25T10:30:00")
    (document,) = list_documents(workspace)
    assert (document.content, document.fields.title) == (TEXT, "Q4 Release Plan")
    assert "How do I implement auth?" in cli("conversation", "get", "conv123", cwd=own.path).out
    again = json.loads(cli(*command, cwd=own.path).out)
    assert (again["records"], again["unchanged"]) == (0, 4)


def test_documents_of_a_store_are_imported_but_not_chunks_of_files(own: Repo, cli: Cli) -> None:
    lines = [
        {"doc_id": "plan", "content": "The tracker is rewritten.", "metadata": {"file_path": "", "file_type": ".md"}},
        {"doc_id": "src/cookies.py:0", "content": "x", "metadata": {"file_path": "src/cookies.py"}},
        {"doc_id": "src/gone.py:0", "content": "gone", "metadata": {"file_path": "src/gone.py"}},
        {"doc_id": "../secret:0", "content": "outside", "metadata": {"file_path": "../secret"}},
        {"content": "no id"},
    ]
    file = write(own, "s4.jsonl", *lines)
    outcome = cli("import", "--from", "s4", str(file), "--json", cwd=own.path)
    value = json.loads(outcome.out)
    assert value["records"] == 3
    assert [one["place"] for one in value["skipped"]] == ["line 2", "line 5"]
    workspace = open_workspace(own.path, os.environ)
    assert get_document(workspace, "plan").content == "The tracker is rewritten."
    assert json.loads(cli("import", "--from", "s4", str(file), "--json", cwd=own.path).out)["records"] == 0


def test_settings_of_a_configuration_are_imported(own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    personal = own.path.with_name("personal")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(personal))
    config = {"search": {"defaultMaxResults": 30, "cacheTimeoutSeconds": 60}, "ingestion": {"maxFileSize": 2_000_000},
              "server": {"port": 8008}}  # fmt: skip
    file = write(own, "config.json", config)
    command = ["import", "--from", "s3", str(file)]
    assert "would import" in cli(*command, "--dry-run", cwd=own.path).out
    assert not personal.exists()
    outcome = cli(*command, cwd=own.path)
    assert outcome.code == 5
    assert "server.port: gitmem has no such setting" in outcome.err
    written = personal.read_text()
    assert written.split() == "[gitmem] searchDefaultLimit = 30 maxFileBytes = 2000000".split()
    assert "gitmem." not in cli(*command, cwd=own.path).out
    # Not written: the level would hold in the process of the tests.
    levels = write(own, "levels.json", {"logging": {"level": "warn"}})
    assert "gitmem.log=error" in cli("import", "--from", "s3", str(levels), "--dry-run", cwd=own.path).out
    write(own, "config.json", {"search": {"defaultMaxResults": 20}, "ingestion": {"maxFileSize": "huge"}})
    refused = cli(*command, cwd=own.path)
    assert "`gitmem.searchDefaultLimit` is set to `30` already" in refused.err
    assert personal.read_text() == written


ENV = """# S1
DATABASE_URL=postgresql://me:hunter2@localhost/rag
OPENAI_API_KEY=sk-secret
export RAG_MAX_RESULTS="20"   # the most
RAG_REMOVE_BLANK_LINES=false
RAG_INCLUDE_PATTERNS="**/*.md,**/*.txt"
RAG_CHUNK_SIZE='1000'
RAG_CHUNK_OVERLAP=
RAG_MIN_SIMILARITY=0.7
RAG_DEFAULT_TEMPLATE="paper
RAG_REPORT_OUTPUT_DIR=reports
RAG_MAX_QUOTE_LINES=none
EMBEDDING_MODEL=text-embedding-3-small
MY_PASSWORD=hunter3
"""


def test_variables_become_settings_and_keys_do_not(own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    personal = own.path.with_name("personal")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(personal))
    file = write(own, ".env", ENV)
    command = ["import", "--from", "s1", str(file), "--json"]
    personal.write_text("[gitmem]\n\treportFolder = mine\n")
    outcome = cli(*command, cwd=own.path)
    assert outcome.code == 5
    value = json.loads(outcome.out)
    assert value["settings"] == {
        "gitmem.searchDefaultLimit": "20", "gitmem.reportBlankLines": "keep", "gitmem.include": "**/*.md,**/*.txt",
        "gitmem.chunkMaxBytes": "1000",
    }  # fmt: skip
    assert {one["place"] for one in value["skipped"]} == {
        "DATABASE_URL", "OPENAI_API_KEY", "RAG_MIN_SIMILARITY", "line 10", "RAG_REPORT_OUTPUT_DIR",
        "RAG_MAX_QUOTE_LINES", "EMBEDDING_MODEL", "MY_PASSWORD",
    }  # fmt: skip
    assert "git config --global gitmem.openaiKey KEY" in outcome.err
    written = personal.read_text()
    assert "reportFolder = mine" in written
    assert not [text for text in ("hunter", "sk-secret") if text in outcome.out + outcome.err + written]
    assert json.loads(cli(*command, cwd=own.path).out)["settings"] == {}
    write(own, ".env", "RAG_DEBUG_LOG_ENABLED=true\nRAG_REMOVE_BLANK_LINES=perhaps\nLOG_LEVEL=verbose")
    levels = cli(*command, "--dry-run", cwd=own.path)
    assert json.loads(levels.out)["settings"] == {"gitmem.log": "debug"}
    assert "RAG_REMOVE_BLANK_LINES: gitmem has no such value" in levels.err


def test_clones_become_known_repositories(own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OFF_VARIABLE)
    store = {"version": "1.0", "repositories": {
        "my-api": {"name": "my-api", "url": "https://github.com/user/my-api.git", "localPath": "./own"},
        "gone": {"name": "gone", "url": "https://github.com/user/gone.git", "localPath": "./gone"},
    }}  # fmt: skip
    file = write(own, "repositories.json", store)
    outcome = cli("import", "--from", "s0", str(file), cwd=own.path)
    assert "1 repository: my-api" in outcome.out
    assert "gone: there is no clone at `./gone`; gitmem index https://github.com/user/gone.git" in outcome.err
    assert [one.name for one in read_registry(os.environ)] == ["my-api"]
    assert "repositor" not in cli("import", "--from", "s0", str(file), cwd=own.path).out
    assert cli("import", "--from", "s0", str(own.path / "notes.txt"), cwd=own.path).code == 2


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=st.lists(st.text(max_size=9) | st.sampled_from(BAD) | st.sampled_from(S2).map(json.dumps), max_size=8))
def test_each_line_of_an_export_is_converted_or_named(lines: list[str]) -> None:
    lines = [line.replace("\n", " ") for line in lines]
    converted = convert_s2(lines)
    numbers = [one.number for one in converted]
    assert numbers == sorted(set(numbers))
    others = set(range(1, len(lines) + 1)) - set(numbers)
    # Only blank lines, and chunks of documents in the same export, have no line of their own.
    assert all(not lines[number - 1].strip() or "::chunk::" in lines[number - 1] for number in others)
    assert all(bool(one.line) != bool(one.problem) for one in converted)

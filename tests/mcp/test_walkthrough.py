"""A walk through what users of an older memory server did with its twelve tools, over a process and the SDK's client.

What was called `memory_store`, `memory_search`, `memory_list`, `memory_delete`, `history_append`, `history_get`,
`artifact_ingest`, `artifact_search`, `artifact_get`, `artifact_delete`, `hybrid_search` and `embedding_health` there is
named in front of what does it here.
"""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.client.client import Client

from tests.gitrepo import Repo
from tests.mcp.clients import ask, refused, talk_to_process

MAIL = {
    "content": "Hello all,\n\nthe release of the parcel tracker moves to the second week of May.\n\nAnn\n",
    "type": "email", "source": "gmail", "source_id": "thread-1", "url": "https://example.com/1",
    "title": "Release date", "author": "Ann", "participants": ["Ann", "Bob"], "time": "2026-03-01T09:00:00Z",
    "sensitivity": "sensitive", "visibility": "team", "retention": "1y", "metadata": {"folder": "inbox"},
}  # fmt: skip
REPORT = "\n\n".join(
    f"## Part {part}\n\n" + " ".join(f"Sentence {number} of part {part} is about shipping." for number in range(40))
    for part in range(12)
)


def walk(repo: Repo, action: Callable[[Client], Awaitable[None]]) -> None:
    talk_to_process(repo.path, action, toolsets="search,memory,documents")


async def ask_json(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return dict(json.loads(await ask(client, tool, **arguments, format="json")))


def test_memories_are_stored_searched_listed_and_deleted(own: Repo) -> None:
    told: list[str] = []

    async def first(client: Client) -> None:
        # memory_store
        for content, kind, sure in (
            ("The user wants tabs, never spaces.", "preference", 0.9),
            ("Parcels are numbered by the warehouse, not by us.", "fact", 1.0),
            ("The tracker is rewritten in Go this summer.", "project", 0.7),
            ("Sessions live in signed cookies, since the database is too far away.", "decision", 0.95),
        ):
            text = await ask(client, "memory_store", content=content, type=kind, confidence=sure, conversation="conv-1")
            assert re.fullmatch(r"stored mem_[0-9a-f]{12}", text)
            told.append(text.split()[1])
        # memory_search
        made = await ask_json(client, "search", query="where are sessions kept", kind="notes", limit=5)
        assert made["results"][0]["path"] == told[3]
        assert made["results"][0]["record"]["type"] == "decision"
        sure_only = await ask_json(
            client, "search", query="tracker language", kind="notes", limit=20, filters={"min_confidence": 0.8}
        )
        assert told[2] not in [hit["path"] for hit in sure_only["results"]]
        # memory_list
        listed = await ask_json(client, "list", what="notes")
        assert [item["id"] for item in listed["items"]] == told[::-1]
        only = await ask_json(client, "list", what="notes", type="preference", limit=1)
        assert [(item["id"], item["confidence"]) for item in only["items"]] == [(told[0], 0.9)]

    async def second(client: Client) -> None:
        """Another server, later."""
        assert len((await ask_json(client, "list", what="notes"))["items"]) == 4
        # memory_delete
        assert await ask(client, "delete", ids=[told[1]]) == f"deleted {told[1]}"
        assert "no such record" in await refused(client, "delete", ids=[told[1]])
        made = await ask_json(client, "search", query="who numbers parcels", kind="notes")
        assert told[1] not in [hit["path"] for hit in made["results"]]
        assert len((await ask_json(client, "list", what="notes"))["items"]) == 3
        for content in ("", "x" * 10_001):
            assert "1 to 10000 characters" in await refused(client, "memory_store", content=content)

    walk(own, first)
    walk(own, second)


def test_a_conversation_is_appended_and_comes_back_in_order(own: Repo) -> None:
    said = [("user" if turn % 2 == 0 else "assistant", f"This is turn number {turn}.") for turn in range(20)]

    async def action(client: Client) -> None:
        # history_append, also out of order and twice
        for turn in [*range(10, 20), *range(10), 3]:
            role, content = said[turn]
            await ask(client, "conversation_append", conversation="conv/1", role=role, content=content, turn=turn)
        # history_get
        made = await ask_json(client, "get", ids="conversation:conv/1")
        assert [item["turn"] for item in made["items"]] == list(range(4, 20))
        assert [(item["role"], item["content"]) for item in made["items"]] == said[4:]
        few = await ask_json(client, "get", ids="conversation:conv/1", limit=2)
        assert [item["turn"] for item in few["items"]] == [18, 19]
        assert "1 to 50" in await refused(client, "get", ids="conversation:conv/1", limit=51)
        assert "no such conversation" in await refused(client, "get", ids="conversation:none")
        assert "conversation:conv/1 20 turns" in await ask(client, "list", what="conversations")
        found = await ask_json(client, "search", query="turn number 7", kind="conversations", limit=3)
        assert "conversation:conv/1 7" in [hit["path"] for hit in found["results"]]

    walk(own, action)


def test_artifacts_are_ingested_searched_read_and_deleted(own: Repo) -> None:
    async def action(client: Client) -> None:
        # artifact_ingest
        mail = await ask_json(client, "document_ingest", **MAIL)
        assert (mail["status"], mail["chunks"], mail["chunk_ids"]) == ("created", 0, [])
        assert re.fullmatch(r"art_[0-9a-f]{8}", mail["id"])
        report = await ask_json(client, "document_ingest", content=REPORT, title="Report", source_id="report")
        assert report["chunks"] == len(report["chunk_ids"]) > 2
        again = await ask_json(client, "document_ingest", **MAIL)
        assert (again["status"], again["id"]) == ("unchanged", mail["id"])
        # artifact_search
        asked = {"query": "when is the release", "kind": "documents", "mode": "semantic"}
        made = await ask_json(client, "search", **asked, filters={"type": "email", "sensitivity": "sensitive"})
        assert [hit["path"] for hit in made["results"]] == [mail["id"]]
        outside = {"since": "2026-03-02", "source": "gmail"}
        assert (await ask_json(client, "search", **asked, filters=outside))["results"] == []
        whole = await ask_json(
            client, "search", query="Sentence 20 of part 5", kind="documents", neighbors=True, detail="full", limit=1
        )
        assert whole["results"][0]["path"] == report["id"]
        assert whole["results"][0]["content"].count("[CHUNK BOUNDARY]") in (1, 2)
        # artifact_get
        got = (await ask_json(client, "get", ids=mail["id"]))["items"][0]
        assert got["content"] == MAIL["content"]
        assert (got["title"], got["author"], got["participants"]) == ("Release date", "Ann", ["Ann", "Bob"])
        assert (got["sensitivity"], got["visibility"], got["retention"]) == ("sensitive", "team", "1y")
        assert got["metadata"] == {"folder": "inbox"}
        pieces = (await ask_json(client, "get", ids=report["chunk_ids"][:2]))["items"]
        assert all(REPORT[piece["start"] : piece["end"]] == piece["content"] for piece in pieces)
        # artifact_ingest of changed content: one document, never both
        changed = await ask_json(client, "document_ingest", **{**MAIL, "content": "It moves to June instead.\n"})
        assert (changed["status"], changed["id"]) == ("updated", mail["id"])
        assert len((await ask_json(client, "list", what="documents"))["items"]) == 2
        assert "June" in await ask(client, "search", **asked)
        # artifact_delete
        told = await ask(client, "delete", ids=[mail["id"], report["id"]])
        assert told == f"deleted {mail['id']} and 0 chunks\ndeleted {report['id']} and {report['chunks']} chunks"
        assert (await ask_json(client, "search", **asked))["results"] == []
        assert "no such record" in await refused(client, "get", ids=mail["id"])

    walk(own, action)


def test_one_list_ranges_over_documents_and_memories(own: Repo) -> None:
    async def action(client: Client) -> None:
        await ask(client, "document_ingest", **MAIL)
        await ask(client, "memory_store", content="The release of the tracker waits for Bob's review.")
        # hybrid_search, without and with memories
        asked = {"query": "release of the tracker", "limit": 5, "detail": "locations"}
        assert "mem_" not in await ask(client, "search", **asked, kind="documents")
        both = await ask(client, "search", **asked, kind=["documents", "notes"])
        assert "mem_" in both
        assert "art_" in both
        # embedding_health
        state = await ask_json(client, "status")
        assert state["state"] == "Up to Date"

    walk(own, action)

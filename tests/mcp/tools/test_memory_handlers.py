"""The tools that keep, find, give back and delete records, asked by the SDK's own client within this process."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from gitmem.answering.record_excerpts import parse_record_name
from gitmem.mcp.tools.descriptions import DOCUMENT_INGEST, MEMORY_STORE
from gitmem.mcp.tools.token_estimate import MAX_TOKENS, estimate_tokens
from gitmem.memory.conversation import Turn
from gitmem.memory.document import DocumentFields
from gitmem.records.conversations import import_turns
from tests.gitrepo import Repo
from tests.mcp.clients import SERVER, RawClient, ask, refused, talk
from tests.sample import open_sample

ALL = "search,memory,documents"
ODD = "first\r\nsecond\u202e \x1b[2J</results>\n\n  é\ttab  \n\n"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
LONG = " ".join(f"filler{number % 50}" if number != 900 else "needle" for number in range(1800))


async def kept(client: Client, tool: str, /, **arguments: Any) -> str:
    """Keep something; returns its id."""
    text = await ask(client, tool, **arguments)
    assert "note: " not in text
    found = re.search(r"mem_[0-9a-f]{12}|art_[0-9a-f]{8,}", text)
    assert found is not None, text
    return found[0]


def test_a_note_is_found_as_soon_as_it_is_kept(own: Repo) -> None:
    async def action(client: Client) -> None:
        for told in ("Keys rotate weekly_by_cron.", "Staging sleeps over_the_weekend.", "Releases need two_reviewers."):
            name = await kept(client, "memory_store", content=told, type="decision", confidence=0.5)
            text = await ask(client, "search", query=told.split()[-1], kind="notes", limit=1)
            assert re.match(rf"<results>\n{name}:1-1 \(decision, confidence 0.5, \d{{4}}-\d\d-\d\d\)\n1 {told}", text)

    talk(own.path, action)


def test_a_document_is_deleted_by_the_id_that_its_source_has(own: Repo) -> None:
    async def action(client: Client) -> None:
        manual = await kept(client, "document_ingest", content="Keys rotate weekly.", source_id="keys-1")
        other = await kept(client, "document_ingest", content="Keys rotate daily.", source="wiki", source_id="keys-1")
        assert await ask(client, "delete", ids=["keys-1", "wiki:keys-1"]) == (
            f"deleted {manual} and 0 chunks\ndeleted {other} and 0 chunks"
        )
        unknown = await refused(client, "delete", ids=["keys-1"])
        assert "is not the id of a record\nhint: ids: mem_..., art_..., conversation:NAME, SOURCE:DOC" in unknown

    talk(own.path, action, ALL)


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("memory_store", {"content": " "}, "`content` must be a string of 1 to 10000 characters"),
        ("memory_store", {"content": "x" * 10_001}, "got a string of 10,001 characters"),
        ("memory_store", {"content": "x", "type": "idea"}, "one of `preference`, `fact`, `project`, `decision`"),
        ("memory_store", {"content": "x", "confidence": 1.5}, "`confidence` must be a number of 0 to 1, got 1.5"),
        ("memory_store", {"content": "x", "confidence": True}, "a number of 0 to 1, got True"),
        ("memory_store", {"content": f"it is {SECRET}"}, "\nhint: remove the secret"),
        (
            "conversation_append",
            {"conversation": "c", "role": "tool", "content": "x"},
            "`user`, `assistant`, `system`",
        ),
        ("conversation_append", {"conversation": "c", "role": "user"}, "missing argument `content`"),
        ("conversation_append", {"conversation": "c", "role": "user", "content": "x", "turn": -1}, "got -1"),
        (
            "conversation_append",
            {"conversation": "c", "role": "user", "content": "x", "turn": 1.5},
            "got 1.5",
        ),
        ("document_ingest", {"content": "x", "metadata": {"a": 1}}, "an object of 0 to 50 strings by name"),
        ("document_ingest", {"content": "x", "metadata": "a=b"}, "got 'a=b'"),
        ("document_ingest", {"content": "x", "time": "yesterday"}, "ISO 8601"),
        ("document_ingest", {"content": "x", "title": "t" * 501}, "got a string of 501 characters"),
        ("delete", {"ids": []}, "a list of 1 to 100 strings"),
        (
            "delete",
            {"ids": ["src/cookies.py"]},
            "is not the id of a record\nhint: ids: mem_..., art_..., conversation:NAME",
        ),
        ("delete", {"ids": ["mem_000000000000"]}, "no such record"),
        ("get", {"ids": ["mem_000000000000"]}, "no such record: `mem_000000000000`\nhint: search for it"),
        ("get", {"ids": ["conversation:nowhere"]}, "no such conversation"),
        ("search", {"query": "x", "filters": {"type": "thing"}}, "record type is `thing`"),
        ("search", {"query": "x", "filters": {"since": "soon"}}, "ISO 8601"),
        ("search", {"query": "x", "filters": {"colour": "red"}}, "unknown argument `colour`"),
        ("search", {"query": "x", "filters": {"min_confidence": "high"}}, "a number of 0 to 1"),
        ("search", {"query": "x", "kind": "code", "filters": {"type": "fact"}}, "record filters do not apply to code"),
        ("search", {"query": "x", "neighbors": "yes"}, "true or false"),
        ("list", {"what": "notes", "type": "email"}, "preference, fact"),
        ("list", {"what": "conversations", "type": "x"}, "conversations have no type"),
        ("list", {"what": "sessions", "type": "x"}, "sessions have no type"),
        ("list", {"what": "templates", "type": "x"}, "templates have no type"),
        ("list", {"what": "stale notes", "type": "x"}, "stale notes are listed whatever their type"),
    ],
)
def test_what_cannot_be_kept_or_found_is_told_so_that_it_can_be_mended(
    indexed: Repo, tool: str, arguments: dict[str, Any], told: str
) -> None:
    async def action(client: Client) -> None:
        before = indexed.git("for-each-ref", "refs/gitmem")
        text = await refused(client, tool, **arguments)
        assert told in text
        assert SECRET not in text
        assert indexed.git("for-each-ref", "refs/gitmem") == before

    talk(indexed.path, action, ALL)


def test_a_record_comes_back_byte_for_byte_with_what_is_known_of_it(own: Repo) -> None:
    async def action(client: Client) -> None:
        note = await kept(client, "memory_store", content=ODD, type="fact", conversation="plan")
        made = await kept(client, "document_ingest", content=ODD, title="T\n<b>", participants=["A", "B"])
        await ask(client, "conversation_append", conversation="plan", role="system", content=ODD)
        names = [note, made, "conversation:plan"]
        value = json.loads(await ask(client, "get", ids=names, format="json"))
        assert [item["content"] for item in value["items"]] == [ODD] * 3
        assert [item["kind"] for item in value["items"]] == ["notes", "documents", "conversations"]
        assert value["items"][0]["conversation"] == "plan"
        assert value["items"][1]["participants"] == ["A", "B"]
        assert (value["items"][2]["turn"], value["items"][2]["role"]) == (0, "system")
        text = await ask(client, "get", ids=names)
        lines = text.splitlines()
        assert (lines[0], lines[-3]) == ("<results-2>", "</results-2>")
        assert lines[-2].startswith("note: invisible characters, shown as escapes, in ")
        assert lines[-1] == f"[memory {own.oid('refs/gitmem/memory')[:7]}]"
        assert lines.count("2 second\\u202e \\e[2J</results>") == 3
        assert "title: T\\n<b>" in lines
        assert "conversation:plan 0:1-5" in lines

    talk(own.path, action, ALL)


def test_a_part_is_read_by_its_lines_or_its_chunk(own: Repo) -> None:
    async def action(client: Client) -> None:
        made = json.loads(await ask(client, "document_ingest", content=LONG, source_id="s", format="json"))
        name, ids = made["id"], made["chunk_ids"]
        assert made["chunks"] == len(ids) >= 3

        async def content(*names: str) -> list[Any]:
            value = json.loads(await ask(client, "get", ids=names, format="json"))
            return [(item["content"], item["start"], item["end"]) for item in value["items"]]

        pieces = await content(*ids)
        assert all(LONG[start:end] == text for text, start, end in pieces)
        assert pieces[0][1] == 0
        assert pieces[-1][2] == len(LONG)
        assert await content(f"{name}:1", f"{name}::chunk::001::{ids[1][-8:]}") == [pieces[1]] * 2
        assert "chunk 99" in await refused(client, "get", ids=f"{name}:99")
        note = await kept(client, "memory_store", content="one\ntwo\nthree\n")
        assert await content(f"{note}:2-3", f"{note}#L2", f"{note}:0") == [
            ("two\nthree\n", 4, 14), ("two\n", 4, 8), ("one\ntwo\nthree\n", 0, 14),
        ]  # fmt: skip
        assert "has 3 lines, line 4" in await refused(client, "get", ids=f"{note}:4-5")
        assert "2 two\n" in await ask(client, "get", ids=f"{note}:2-2")
        await ask(client, "document_ingest", content=LONG.replace("filler", "other"), source_id="s")
        assert "belongs to an earlier version of" in await refused(client, "get", ids=ids[0])

    talk(own.path, action, ALL)


@pytest.mark.parametrize("name", ["plan", "a 5", "a:1-2", "../x", "conversation:y", "z:0"])
def test_a_conversation_is_read_whatever_it_is_called(own: Repo, name: str) -> None:
    time = "2026-03-01T12:00:00+00:00"
    import_turns(open_sample(own), [Turn(name, number, "user", f"word{number}\nx", time) for number in range(18)])

    async def action(client: Client) -> None:
        for number in (18, 19):
            text = await ask(client, "conversation_append", conversation=name, role="user", content=f"word{number}\nx")
            assert text == f"stored turn {number} of conversation:{name}"
        whole = await ask(client, "get", ids=f"conversation:{name}")
        assert "word3\n" not in whole
        assert [f"word{number}\n" in whole for number in range(4, 20)] == [True] * 16
        last = await ask(client, "get", ids=f"conversation:{name}", limit=1)
        assert last.count(f"conversation:{name} 19:1-2\n") == 1
        assert "word18" not in last
        found = await ask(client, "search", query="word7", kind="conversations", limit=1, detail="locations")
        place = found.splitlines()[1].split(" (")[0]
        assert place.startswith(f"conversation:{name} 7:1-2")
        assert "1 word7\n2 x\n" in await ask(client, "get", ids=f"conversation:{name} 7:1-2")
        replaced = await ask(client, "conversation_append", conversation=name, role="user", content="anew", turn=7)
        assert replaced == f"replaced turn 7 of conversation:{name}"
        assert "1 anew\n" in await ask(client, "get", ids=f"conversation:{name} 7")

    talk(own.path, action)


def test_records_are_found_within_filters(own: Repo) -> None:
    async def action(client: Client) -> None:
        sure = await kept(client, "memory_store", content="the parcel is blue", type="fact", confidence=1)
        unsure = await kept(client, "memory_store", content="the parcel is red", type="decision", confidence=0.2)
        mail = await kept(
            client, "document_ingest", content="the parcel is late", type="email", time="2026-03-01",
            source="post", sensitivity="sensitive",
        )  # fmt: skip

        async def found(**filters: Any) -> set[str]:
            text = await ask(client, "search", query="parcel", kind="all", filters=filters, detail="locations")
            return {name for name in (sure, unsure, mail) if name in text}

        assert await found(type="decision") == {unsure}
        assert await found(type=["fact", "email"]) == {sure, mail}
        assert await found(min_confidence=0.5) == {sure}
        assert await found(source="post") == await found(sensitivity="sensitive") == {mail}
        assert await found(until="2026-03-01") == await found(since="2026-03-01", until="2026-03-02") == {mail}
        nothing = await ask(client, "search", query="parcel", kind="notes", filters={"since": "2999-01-01"})
        assert nothing.splitlines()[0] == "note: no results; the filters may be the cause"

    talk(own.path, action, ALL)


def test_chunks_beside_a_hit_are_shown_on_request(own: Repo) -> None:
    async def action(client: Client) -> None:
        await kept(client, "document_ingest", content=LONG.replace(" ", "\n"), title="Long")
        asked = {"query": "needle", "kind": "documents", "limit": 1}
        text = await ask(client, "search", **asked, neighbors=True)
        assert text.splitlines().count("[CHUNK BOUNDARY]") == 2
        assert re.search(r"^901 needle$", text, re.MULTILINE)
        assert "[CHUNK BOUNDARY]" not in await ask(client, "search", **asked, detail="full")

    talk(own.path, action, ALL)


def test_what_is_too_long_for_an_answer_is_left_out_and_told(own: Repo) -> None:
    async def action(client: Client) -> None:
        name = await kept(client, "document_ingest", content=LONG * 5)
        note = await kept(client, "memory_store", content="short")
        text = await ask(client, "get", ids=[name, note], format="json")
        value = json.loads(text)
        assert [item["content"] for item in value["items"]] == [None, "short"]
        assert f"{len(LONG) * 5:,} characters); read fewer lines" in value["notes"][0]
        assert estimate_tokens(text) < MAX_TOKENS
        for number in range(8):
            await ask(client, "memory_store", content=f"{number} " + "some words of a long note " * 300)
        pages = [await kept(client, "document_ingest", content=LONG.replace(" ", "\n") * 5, title="Long")]
        read = ""
        while pages:
            (item,) = json.loads(await ask(client, "get", ids=pages, format="json"))["items"]
            read += item["content"]
            pages = [item["next"]] if "next" in item else []
        assert read == LONG.replace(" ", "\n") * 5
        assert item["chunk_spans"][-1][1] == len(read)
        listed = json.loads(await ask(client, "list", what="notes", format="json"))
        assert 0 < listed["omitted"] == 9 - len(listed["items"])
        shown = await ask(client, "get", ids=name)
        assert "more characters)" in shown
        assert estimate_tokens(shown) < MAX_TOKENS

    talk(own.path, action, ALL)


def test_fields_that_are_not_given_stay_and_the_same_again_changes_nothing(own: Repo) -> None:
    async def action(client: Client) -> None:
        source = {"source": "mail", "source_id": "7"}
        first = await ask(client, "document_ingest", content="one", **source, title="T", metadata={"k": "v"})
        assert first.startswith("created art_")
        assert (await ask(client, "document_ingest", content="one", **source)).startswith("unchanged art_")
        made = json.loads(await ask(client, "document_ingest", content="two", **source, author="A", format="json"))
        assert (made["status"], made["title"], made["author"], made["metadata"]) == ("updated", "T", "A", {"k": "v"})

    talk(own.path, action, ALL)


def test_deleting_takes_all_or_none_and_the_next_search_knows(own: Repo) -> None:
    async def action(client: Client) -> None:
        note = await kept(client, "memory_store", content="gone_tomorrow is a note")
        document = await kept(client, "document_ingest", content="gone_tomorrow is a document")
        await ask(client, "conversation_append", conversation="c", role="user", content="gone_tomorrow is a turn")
        asked = {"query": "gone_tomorrow", "kind": ["documents", "notes", "conversations"]}
        assert "no such record" in await refused(client, "delete", ids=[note, "mem_000000000000"])
        assert (await ask(client, "search", **asked)).count("gone_tomorrow is") == 3
        told = await ask(client, "delete", ids=[note, document, "conversation:c"])
        assert told == f"deleted {note}\ndeleted {document} and 0 chunks\ndeleted conversation:c and 1 turn"
        assert (await ask(client, "search", **asked)).startswith("note: no results\n")

    talk(own.path, action, ALL)


def test_lists_are_newest_first_and_fenced(own: Repo) -> None:
    async def action(client: Client) -> None:
        assert (await ask(client, "list", what="notes")).startswith("note: no notes are stored")
        names = [await kept(client, "memory_store", content=f"\n</results> {kind}", type=kind) for kind in KINDS]
        document = await kept(client, "document_ingest", content="x", title="A title", type="email")
        await ask(client, "conversation_append", conversation="c", role="user", content="x")
        text = await ask(client, "list", what="notes")
        assert text.startswith("<results-2>\n")
        assert re.findall(r"mem_\w+", text) == names[::-1]
        assert "\n</results> decision\n" in text
        only = json.loads(await ask(client, "list", what="notes", type="fact", limit=1, format="json"))
        assert [item["id"] for item in only["items"]] == names[:1]
        assert f"{document} email manual " in await ask(client, "list", what="documents")
        assert "conversation:c 1 turn " in await ask(client, "list", what="conversations")

    talk(own.path, action, ALL)


KINDS = ("fact", "decision")


def test_files_and_records_are_read_in_one_call(own: Repo) -> None:
    async def action(client: Client) -> None:
        note = await kept(client, "memory_store", content="beside")
        text = await ask(client, "get", ids=[note, "src/cookies.py:1-1", "nowhere.py"])
        assert text.index("1 beside") < text.index("src/cookies.py:1-1")
        assert "note: no such file in this tree: `nowhere.py`" in text
        assert text.endswith(f"[main {own.oid('HEAD')[:7]}, fresh]")
        value = json.loads(await ask(client, "get", ids=["src/cookies.py:1-2", note], format="json"))
        assert [item["kind"] for item in value["items"]] == ["code", "notes"]
        assert value["items"][0]["content"] == '"""Sessions kept in signed cookies."""\n'
        assert "`rev` does not apply to the record" in await refused(client, "get", ids=note, rev="v1")

    talk(own.path, action)


def test_every_name_that_is_unknown_is_told(own: Repo) -> None:
    unknown = [f"mem_{number:012}" for number in range(49)]

    async def action(client: Client) -> None:
        note = await kept(client, "memory_store", content="beside")
        told = await refused(client, "get", ids=[unknown[0], "conversation:nowhere", unknown[1], "art_00000000"])
        records = f"`{unknown[0]}`, `{unknown[1]}`, `art_00000000`"
        assert f"no such record: {records}\nno such conversation: `conversation:nowhere`\nhint: " in told
        told = await refused(client, "get", ids=unknown)
        assert all(name in told for name in unknown)
        for some in (unknown[:2], unknown):
            text = await ask(client, "get", ids=[*some, note])
            assert all(f"no such record: `{name}`" in text for name in some)
            assert "1 beside" in text
            value = json.loads(await ask(client, "get", ids=[*some, note], format="json"))
            assert len(value["notes"]) == len(some)

    talk(own.path, action)


def test_without_an_index_a_note_is_kept_and_the_first_search_finds_it(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "new")
    repo.commit({"a.py": "def alpha():\n    pass\n"})

    async def action(client: Client) -> None:
        told = await ask(client, "memory_store", content="kept before there is an index")
        assert "note: stored, but not searchable yet" in told
        assert "kept before there is an index" in await ask(client, "get", ids=told.split()[1])
        assert "kept before" in await ask(client, "search", query="kept before the index", kind="notes")

    talk(repo.path, action)


def test_a_note_that_says_the_same_is_pointed_out_and_stands_beside_its_code(own: Repo) -> None:
    async def action(client: Client) -> None:
        first = await kept(client, "memory_store", content="The signing key of cookies is rotated every quarter.")
        assert "similar notes" not in await ask(client, "memory_store", content="Parcels are shipped on Mondays.")
        told = await ask(
            client, "memory_store", content="The signing key for cookies is rotated every quarter.</results>",
            paths="src/cookies.py", symbols=["make_signature"],
        )  # fmt: skip
        lines = told.splitlines()
        name = lines[0].split()[1]
        assert lines[1:] == [
            f"note: similar notes; if one is outdated, store this one again with `id` {name} and `supersedes`",
            "<results>",
            f"{first} The signing key of cookies is rotated every quarter.",
            "</results>",
        ]
        assert f"note {name}" in await ask(client, "search", query="HMAC of a value", limit=1)
        shown = await ask(client, "get", ids=name)
        assert "paths: src/cookies.py\nsymbols: make_signature\n" in shown

    talk(own.path, action)


def test_the_tools_name_what_never_belongs_in_a_note() -> None:
    for word in ("Worth storing", "Never", "secret", "obvious from the code", "later sessions"):
        assert word in MEMORY_STORE.description
    assert "secrets" in DOCUMENT_INGEST.description


def test_every_field_of_a_document_can_be_given() -> None:
    given = set(DOCUMENT_INGEST.schema["properties"])
    assert given == {*DocumentFields._fields, "content", "format"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mem_0123456789ab", ("mem_0123456789ab", None, 1, None)),
        ("mem_0123456789ab#L3-L4", ("mem_0123456789ab", None, 3, None)),
        ("art_01234567:12", ("art_01234567", None, 1, 12)),
        ("conversation:a b 5:2-3", ("conversation:a b", 5, 2, None)),
        ("conversation:a:7", ("conversation:a", None, 1, 7)),
    ],
)
def test_names_of_records_are_understood(name: str, told: tuple[Any, ...]) -> None:
    found = parse_record_name(name)
    assert (found.id, found.turn, found.first, found.chunk) == told


def test_a_message_may_be_as_long_as_what_is_kept(indexed: Repo) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": "memory_store", "arguments": {"content": "x" * (5 << 20)}}
    answers = {"memory": "a message has at most 1,348,576 bytes", "memory,documents": "5,242,880 characters"}
    for toolsets, told in answers.items():
        with RawClient(indexed.path, *SERVER, "--toolsets", toolsets) as client:
            client.greet()
            client.send({**call, "params": params})
            assert told in json.dumps(client.read())
            assert client.close() == 0


def test_lost_records_are_named_to_agents(own: Repo) -> None:
    async def action(client: Client) -> None:
        await kept(client, "memory_store", content="a note")
        own.git("update-ref", "-d", "refs/gitmem/memory")
        for text in (await ask(client, "list", what="notes"), await ask(client, "memory_store", content="another")):
            assert "`refs/gitmem/memory` is gone" in text or "was moved back" in text
            assert "ask the user to run `gitmem memory recover`" in text
        assert json.loads(await ask(client, "list", what="notes", format="json"))["items"]
        assert "gitmem memory recover" in await ask(client, "status")

    talk(own.path, action, ALL)


def test_a_note_is_rewritten_confirmed_and_replaced_by_its_id(own: Repo) -> None:
    async def action(client: Client) -> None:
        old = await kept(client, "memory_store", content="Parcels are shipped on Mondays.", paths="src/cookies.py")
        text = "Parcels are shipped on Fridays."
        new = (await ask(client, "memory_store", content=text)).split()[1]
        again = {"id": new, "content": text, "supersedes": old, "expires": "2999-01-01"}
        assert await ask(client, "memory_store", **again) == f"changed {new}"
        assert await ask(client, "memory_store", **again) == f"confirmed {new}"
        answer = await ask(client, "search", query="when are parcels shipped on Mondays", kind="notes", limit=2)
        assert answer.index(new) < answer.index(f"superseded by {new}")
        assert f"supersedes {old}" in answer
        assert f"superseded by {new}" in await ask(client, "list", what="notes")
        assert f"superseded by {new}" in await ask(client, "get", ids=old)
        fresh = await kept(client, "memory_store", content="Cookies are signed.", paths="src/cookies.py")
        own.write({"src/cookies.py": "changed"})
        stale = await ask(client, "list", what="stale notes")
        assert fresh in stale
        assert "written about `src/cookies.py`, changed since: not committed yet" in stale
        assert old not in stale

    talk(own.path, action, "memory,documents,search")


def test_sessions_templates_and_reports_are_described(own: Repo) -> None:
    async def action(client: Client) -> None:
        assert "no sessions are stored" in await ask(client, "list", what="sessions")
        await ask(client, "search", query="sign the cookie")
        (session,) = re.findall(r"search_[0-9a-f]{8}", await ask(client, "list", what="sessions"))
        listed = json.loads(await ask(client, "list", what="sessions", format="json"))
        assert [item["id"] for item in listed["items"]] == [session]
        templates = await ask(client, "list", what="templates")
        assert '"name": "paper"' in await ask(client, "get", ids=["template:paper"])
        assert "no such template: `none`" in await refused(client, "get", ids=["template:none"])
        assert {line.split()[0] for line in templates.splitlines() if line.startswith(("basic ", "paper "))}
        assert "query:" in templates
        given = {"query": "why", "overall_summary": "because", "sections": []}
        report = await ask(client, "report_create", variables=given, session_ids=[session])
        assert "/own/rag-reports/" in report.splitlines()[0]
        assert "because" in report

    talk(own.path, action, f"{ALL},reports")


def test_indexes_are_described_in_words(own: Repo) -> None:
    async def action(client: Client) -> None:
        own.commit({"src/new.py": "def brand_new():\n    return 1\n"})
        assert "1 blob to embed" in await ask(client, "index_update", dry_run=True)
        assert "1 blob embedded" in await ask(client, "index_update")
        assert "the index is up to date" in await ask(client, "index_update")

    talk(own.path, action, f"{ALL},admin")

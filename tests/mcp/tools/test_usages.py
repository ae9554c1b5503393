"""What the tool `usages` answers."""

import json

from mcp.client.client import Client

from tests.gitrepo import Repo
from tests.mcp.clients import ask, refused, talk


def test_usages_are_listed_by_relation_between_fences(indexed: Repo) -> None:
    async def action(client: Client) -> None:
        lines = (await ask(client, "usages", name="make_signature", relation="callers")).splitlines()
        assert lines[:2] == ["<results>", "callers: 2"]
        assert lines[2].startswith('src/cookies.py:9 CookieSession.sign_cookie: return value + "." + make_signature(')
        assert lines[2].endswith(" (means src/cookies.py:16)")
        assert lines[4] == "</results>"
        old = await ask(client, "usages", name="make_signature", rev="v1", limit=1)
        assert "old/session.py:9" in old
        value = json.loads(await ask(client, "usages", name="src/cookies.py:8", format="json", relation=["callees"]))
        assert value["symbols"] == ["CookieSession.sign_cookie"]
        assert [place["line"] for place in value["relations"]["callees"]["places"]] == [16]
        assert value["omitted"] == 0

    talk(indexed.path, action)


def test_bad_names_and_relations_are_refused(indexed: Repo) -> None:
    async def action(client: Client) -> None:
        assert "is a whole file" in await refused(client, "usages", name="src/cookies.py", relation=["callees"])
        assert "unknown relation `uses`" in await refused(client, "usages", name="x", relation="uses")
        assert "nothing in this tree has the name `nobody`" in await ask(client, "usages", name="nobody")

    talk(indexed.path, action)

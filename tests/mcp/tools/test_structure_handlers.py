"""What the tools of toolset `structure` answer."""

import json

import pytest
from mcp.client.client import Client

from tests.gitrepo import Repo
from tests.mcp.clients import ask, refused, talk

TOOLSETS = "search,structure"


@pytest.fixture
def shop(own: Repo) -> Repo:
    """Add a caller of the signature, and change the function in the next commit."""
    own.commit(
        {"src/login.py": "from cookies import make_signature\n\n\ndef log_in(user):\n    make_signature(user, '')\n"}
    )
    text = (own.path / "src/cookies.py").read_text()
    own.commit({"src/cookies.py": text.replace('"sha256"', '"sha512"')})
    return own


def test_map_outlines_the_tree_between_fences(shop: Repo) -> None:
    async def action(client: Client) -> None:
        first, *lines, fence, state = (await ask(client, "map", path="src")).splitlines()
        assert (first, fence) == ("<results>", "</results>")
        assert lines[0] == "src/cookies.py"
        assert "   16 def make_signature(value: str, secret: str) -> str:" in lines
        assert state.startswith("[4 of 4 files, ")
        personal = await ask(client, "map", query="route a path", tokens=150)
        assert personal.splitlines()[1] == "src/routing.ts"
        value = json.loads(await ask(client, "map", rev="v1", format="json"))
        assert [file["path"] for file in value["files"]] == ["old/session.py"]
        assert value["omitted"] == 0

    talk(shop.path, action, TOOLSETS)


def test_impact_lists_the_callers_of_changed_definitions(shop: Repo) -> None:
    async def action(client: Client) -> None:
        first, *lines, fence, state = (await ask(client, "impact", range="HEAD~1..HEAD")).splitlines()
        assert (first, fence) == ("<results>", "</results>")
        assert lines == [
            "src/cookies.py:16-18  make_signature  changed  body  2 callers",
            '  src/cookies.py:9 CookieSession.sign_cookie: return value + "." + make_signature(value, secret)',
            "  src/login.py:5 log_in: make_signature(user, '')",
        ]
        assert state.startswith("[HEAD~1..HEAD: 1 definition with 2 callers, 2 not changed, ")
        value = json.loads(await ask(client, "impact", range="HEAD~1..HEAD", limit=1, format="json"))
        assert [each["callers_total"] for each in value["definitions"]] == [2]
        assert (len(value["definitions"][0]["callers"]), value["omitted"]) == (1, 0)
        none = await ask(client, "impact", range="HEAD..HEAD")
        assert "note: HEAD..HEAD touches no callers" in none
        assert "note: HEAD..working tree touches no callers" in await ask(client, "impact")
        text = (shop.path / "src/cookies.py").read_text()
        shop.write({"src/cookies.py": text.replace('"sha512"', '"sha384"')})
        shop.git("add", ".")
        for arguments in ({}, {"staged": True}):
            assert "make_signature  changed  body  2 callers" in await ask(client, "impact", **arguments)

    talk(shop.path, action, TOOLSETS)


def test_bad_arguments_are_refused(indexed: Repo) -> None:
    async def action(client: Client) -> None:
        assert "no such file or folder in this tree: `nowhere`" in await refused(client, "map", path="nowhere")
        assert "`tokens` must be" in await refused(client, "map", tokens=50)
        assert "not a range of revisions" in await refused(client, "impact", range="HEAD")

    talk(indexed.path, action, TOOLSETS)


def test_neither_tool_is_on_by_default(indexed: Repo) -> None:
    async def action(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "usages" in names
        assert not {"map", "impact"} & names

    talk(indexed.path, action)

"""Tools over several repositories: search, usages, map, impact, get and list."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from gitmem.registry import OFF_VARIABLE, add_repository
from tests.gitrepo import MakeRepo, Repo
from tests.indexes import index, python_file
from tests.mcp.clients import ask, refused, talk
from tests.sample import Json

TOOLSETS = "search,repositories,structure"


async def ask_json(client: Client, tool: str, /, **arguments: Any) -> Json:
    """Return the answer of a tool in JSON."""
    value: Json = json.loads(await ask(client, tool, format="json", **arguments))
    return value


@pytest.fixture
def two(make_repo: MakeRepo, fake_model: object, monkeypatch: pytest.MonkeyPatch, home: Path) -> list[Repo]:
    """Make, register and index two repositories; a third one is missing."""
    monkeypatch.delenv(OFF_VARIABLE)
    repos = [make_repo("web"), make_repo("jobs")]
    for repo, name in zip(repos, ("sign_cookie", "run_job"), strict=True):
        repo.commit({"lib/code.py": python_file(name)})
        add_repository({"HOME": str(home)}, repo.path)
        index(repo)
    add_repository({"HOME": str(home)}, Path("/gone"))
    return repos


def test_search_merges_the_repositories_and_get_reads_what_it_prints(two: list[Repo]) -> None:
    async def action(client: Client) -> None:
        text = await ask(client, "search", query="run_job", repositories=["*"])
        assert "jobs:lib/code.py:1-3 run_job" in text
        assert "skipped gone: missing: its folder does not exist" in text
        assert "2 repositories, 1 skipped" in text
        full = await ask_json(client, "search", query="run_job", repositories=["jobs", "web"], detail="full")
        first = full["results"][0]
        assert first["repository"] == "jobs"
        assert first["file_uri"] == (two[1].path / "lib/code.py").as_uri()
        assert (first["chunk_index"], first["total_chunks"]) == (0, 1)
        assert first["file_size_bytes"] == len(python_file("run_job"))
        got = await ask_json(client, "get", ids=[first["id"], "lib/code.py", "repository:jobs", "repository:none"])
        assert [item["id"] for item in got["items"]] == ["jobs:lib/code.py:1-3", "lib/code.py:1-3", "repository:jobs"]
        assert got["items"][0]["content"] == first["content"]
        assert "sign_cookie" in got["items"][1]["content"]
        assert got["items"][2]["languages"]["python"]["files"] == 1
        assert "unknown repository `none`" in " ".join(got["notes"])
        assert "state" not in await ask(client, "get", ids="repository:jobs")
        assert (await ask(client, "get", ids="repository:jobs")).endswith("</results>"), "it has no tree to name"
        one = await ask_json(client, "search", query="run_job")
        assert one["stats"]["query_time_ms"] > 0

    talk(two[0].path, action, TOOLSETS)


def test_a_server_outside_a_repository_searches_the_registered_ones(two: list[Repo], tmp_path: Path) -> None:
    async def action(client: Client) -> None:
        found = await ask_json(client, "search", query="sign_cookie", repositories=["*"])
        assert found["results"][0]["repository"] == "web"
        assert [one["name"] for one in found["repositories_skipped"]] == ["gone"]

    talk(tmp_path, action, TOOLSETS)


def test_usages_maps_and_impacts_cover_repositories_that_import_each_other(two: list[Repo]) -> None:
    web, jobs = two
    jobs.commit({"runner/__init__.py": python_file("start")})
    web.commit({"lib/use.py": "from runner import start\n\nstart()\n"})
    for repo in two:
        index(repo)

    async def action(client: Client) -> None:
        text = await ask(client, "usages", name="start", relation="callers", repositories=["web", "jobs"])
        assert "web:lib/use.py:3: start()" in text
        assert "[2 repositories]" in text
        outlined = await ask(client, "map", repositories=["*"])
        assert outlined.splitlines()[1] == "jobs:runner/__init__.py"
        assert "skipped gone: missing" in outlined
        jobs.write({"runner/__init__.py": python_file("start").replace("return", "return not")})
        value = await ask_json(client, "impact", root=str(jobs.path), repositories=["web"])
        assert [caller["id"] for each in value["definitions"] for caller in each["callers"]] == ["web:lib/use.py:3"]
        assert "unknown repository" in await refused(client, "map", repositories=["jops"])
        for tool, arguments in (("map", {}), ("usages", {"name": "start"}), ("impact", {})):
            problem = await refused(client, tool, repositories=["org:web"], **arguments)
            assert "`org:web` is on the server of an organisation, which answers only searches and `get`" in problem

    talk(web.path, action, TOOLSETS)


def test_unknown_repositories_are_an_error_with_a_suggestion(two: list[Repo]) -> None:
    async def action(client: Client) -> None:
        assert "did you mean `jobs`?" in await refused(client, "search", query="x", repositories=["jops"])
        # A folder that the user has not shared cannot be named either.
        folder = str(two[0].path.parent)
        assert "unknown repository" in await refused(client, "search", query="x", repositories=[folder])
        assert "unknown repository `jops`: `jops:lib/code.py`" in await refused(client, "get", ids="jops:lib/code.py")

    talk(two[0].path, action, TOOLSETS)


def test_a_revision_that_no_repository_has_is_one_error(two: list[Repo]) -> None:
    async def action(client: Client) -> None:
        unknown = await refused(client, "search", query="x", repositories=["web", "jobs"], rev="nope")
        assert "unknown commit, tag or branch: `nope`" in unknown
        assert "none of these" not in unknown

    talk(two[0].path, action, TOOLSETS)


def test_a_list_of_the_highest_limit_names_the_command_for_the_rest(
    two: list[Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.mcp.tools.repository_handlers.LIST_MAX", 1)

    async def action(client: Client) -> None:
        text = await ask(client, "list", what="repositories", limit=1)
        assert "2 more; the user can list all of them: gitmem repos list" in text

    talk(two[0].path, action, TOOLSETS)


def test_list_has_a_row_for_each_repository_and_the_sums(two: list[Repo]) -> None:
    async def action(client: Client) -> None:
        value = await ask_json(client, "list", what="repositories")
        assert [(item["name"], item["state"]) for item in value["items"]] == [
            ("gone", "Missing"),
            ("jobs", "Up to Date"),
            ("web", "Up to Date"),
        ]
        assert value["totals"]["files"] == sum(item["files"] for item in value["items"]) == 2
        text = await ask(client, "list", what="repositories", limit=1)
        assert "Missing" in text
        assert "2 more; raise the limit" in text
        assert (await ask_json(client, "list", what="repositories", limit=1))["omitted"] == 2

    talk(two[0].path, action, TOOLSETS)

"""What the tools of toolset `history` answer."""

import json

import pytest
from mcp.client.client import Client

from gitmem.freshness.past_run import index_past
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of
from tests.mcp.clients import ask, refused, talk
from tests.past_histories import ENCODER, make_past

TOOLSETS = "search,history"


@pytest.fixture
def repo(repo: Repo) -> Repo:
    """A function that is introduced, changed twice and then renamed."""
    for number in range(3):
        body = "".join(f"    value += step_{line}(value)\n" for line in range(4 + number))
        repo.commit({"src/sums.py": f"def plus(value):\n{body}    return value\n"}, f"step {number}")
    repo.commit({"src/sums.py": f"def total(value):\n{body}    return value\n"}, "</results> rename \u202e")
    return repo


def test_when_lists_the_changes_of_a_function(repo: Repo) -> None:
    async def action(client: Client) -> None:
        first, *lines, fence, state = (await ask(client, "when", location="src/sums.py:2")).splitlines()
        commits = [repo.oid(rev)[:9] for rev in ("HEAD", "HEAD^", "HEAD~2", "HEAD~3")]
        assert lines == [
            "src/sums.py:1-8 total",
            f"{commits[0]} 2024-01-02 rename: </results> rename \\u202e (A Person)",
            "  from plus",
            f"{commits[1]} 2024-01-02 body: step 2 (A Person)",
            f"{commits[2]} 2024-01-02 body: step 1 (A Person)",
            f"{commits[3]} 2024-01-02 introduced: step 0 (A Person)",
        ]
        # A subject cannot end the fence.
        assert (first, fence) == ("<results-2>", "</results-2>")
        assert state == f"[4 commits, from HEAD {commits[0]}]"

    talk(repo.path, action, TOOLSETS)


def test_a_limit_keeps_the_introducing_commit(repo: Repo) -> None:
    async def action(client: Client) -> None:
        text = await ask(client, "when", location="total", limit=2)
        assert [line.split(": ")[0].split(" ", 2)[2] for line in text.splitlines() if "2024-01-02" in line] == [
            "rename",
            "introduced",
        ]
        assert "note: 2 changes before the last one not shown: ask with a higher limit" in text
        value = json.loads(await ask(client, "when", location="total", limit=2, format="json"))
        assert [change["kinds"] for change in value["changes"]] == [["rename"], ["introduced"]]
        assert (value["omitted"], value["introduced"]) == (2, repo.oid("HEAD~3"))

    talk(repo.path, action, TOOLSETS)


def test_an_older_revision_and_bad_locations(repo: Repo) -> None:
    async def action(client: Client) -> None:
        text = await ask(client, "when", location="src/sums.py#plus", rev="HEAD~2")
        assert text.splitlines()[-1] == f"[2 commits, from HEAD~2 {repo.oid('HEAD~2')[:9]}]"
        assert "no definition of `plus`" in await refused(client, "when", location="plus")
        assert "unknown commit, tag or branch" in await refused(client, "when", location="plus", rev="nowhere")

    talk(repo.path, action, TOOLSETS)


def test_changes_lists_what_differs_in_a_range(repo: Repo) -> None:
    repo.commit({"src/waits.py": "def wait(seconds):\n    sleep(seconds)\n"}, "add wait")

    async def action(client: Client) -> None:
        text = await ask(client, "changes", range="HEAD~3..HEAD")
        assert text.splitlines() == [
            "<results>",
            "added:",
            "  src/waits.py:1-2  wait",
            "moved:",
            "  src/sums.py:1-8  total  rename, body  from plus",
            "</results>",
            "[HEAD~3..HEAD: 2 files, 1 added, 1 moved]",
        ]
        ranked = await ask(client, "changes", range="HEAD~3..", query="sleep for some seconds")
        assert ranked.splitlines()[1] == "src/waits.py:1-2  wait  added"
        value = json.loads(await ask(client, "changes", range="HEAD~3..HEAD", format="json"))
        assert [change["change"] for change in value["changes"]] == ["added", "moved"]
        assert "not a range" in await refused(client, "changes", range="HEAD")

    talk(repo.path, action, TOOLSETS)


@pytest.mark.usefixtures("fake_model")
def test_search_history_finds_removed_code_with_its_commits(repo: Repo) -> None:
    past = make_past(repo)
    index(repo)
    index_past(workspace_of(repo))
    removal = past.commits["removal"]

    async def action(client: Client) -> None:
        text = await ask(client, "search_history", query="json encoder isoformat", removed=f"{removal}^..{removal}")
        assert "src/wire.py:1-5 JsonEncoder" in text
        assert f"  removed {removal[:9]} 2024-01-02 Leave the encoding to the framework (A Person)" in text
        assert f"commits up to {removal[:9]}]" in text
        value = json.loads(await ask(client, "search_history", query="json encoder isoformat", limit=1, format="json"))
        assert value["results"][0]["removed"]["commit"] == removal
        assert value["omitted"] == 0
        assert "nowhere" in await refused(client, "search_history", query="encoder", removed="nowhere")

    talk(repo.path, action, TOOLSETS)


@pytest.mark.usefixtures("fake_model")
def test_search_history_traces_introductions_on_request(repo: Repo) -> None:
    past = make_past(repo)
    again = repo.commit({"src/wire.py": ENCODER}, "Encode dates again")
    index(repo)
    index_past(workspace_of(repo))

    async def action(client: Client) -> None:
        # The index knows the first life of the definition, a trace the last one.
        for blame, commit in ((False, past.commits["encoder"]), (True, again)):
            arguments = {"query": "json encoder isoformat", "limit": 1, "format": "json", "blame": blame}
            value = json.loads(await ask(client, "search_history", **arguments))
            assert value["results"][0]["introduced"]["commit"] == commit

    talk(repo.path, action, TOOLSETS)


def test_bisect_hint_ranks_the_commits_of_a_range(repo: Repo) -> None:
    repo.commit({"src/waits.py": "def wait(seconds):\n    sleep(seconds)\n"}, "add wait")
    index(repo)

    async def action(client: Client) -> None:
        text = await ask(client, "bisect_hint", symptom="it sleeps for too many seconds", range="HEAD~3..HEAD", limit=1)
        fence, head, chunk, *_, state = text.splitlines()
        assert fence == "<results>"
        assert head.startswith(f"{repo.oid('HEAD')[:9]} 2024-01-02 ")
        assert head.endswith(": add wait (A Person)")
        assert chunk == "  src/waits.py#wait  introduced"
        assert state == "[HEAD~3..HEAD: 3 commits without merges]"
        value = json.loads(
            await ask(client, "bisect_hint", symptom="sleep", range="HEAD~3..HEAD", limit=2, format="json")
        )
        assert (len(value["suspects"]), value["omitted"]) == (2, 1)
        assert "not a range" in await refused(client, "bisect_hint", symptom="sleep", range="HEAD")

    talk(repo.path, action, TOOLSETS)


def test_changes_names_objects_that_git_cannot_read(repo: Repo) -> None:
    lost = repo.oid("HEAD^:src/sums.py")
    repo.loose_object(lost).unlink()

    async def action(client: Client) -> None:
        text = await ask(client, "changes", range="HEAD^..HEAD")
        assert "  src/sums.py  body" in text
        assert f"note: git cannot read 1 object ({lost[:12]}): " in text
        (note,) = json.loads(await ask(client, "changes", range="HEAD^..HEAD", format="json"))["notes"]
        assert "restore the objects from another clone" in note

    talk(repo.path, action, TOOLSETS)

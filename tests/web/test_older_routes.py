"""The routes of older systems, as their clients call them."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.locks import writer_lock
from gitmem.registry import add_repository, read_registry
from tests.gitrepo import Repo
from tests.web.served import BEARER, Served


def call(served: Served, method: str, path: str, status: int = 200, /, **body: Any) -> Any:
    """Return the JSON of a request, which must have this status."""
    answer = served.client.request(method, path, json=body or None, headers=BEARER)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_code_bases_are_listed_searched_and_described(reading: Served) -> None:
    (codebase,) = call(reading, "GET", "/api/knowledgebases")["codebases"]
    assert codebase.keys() == {"name", "path", "chunkCount", "fileCount", "lastIngestion", "languages"}
    assert (codebase["name"], codebase["fileCount"]) == ("sample", 5)
    answer = call(reading, "POST", "/api/search", query="handler of a request", language="typescript", maxResults=2)
    assert answer["totalResults"] == len(answer["results"]) > 0
    assert {one["filePath"] for one in answer["results"]} == {"src/routing.ts"}
    assert answer["results"][0].keys() == {
        "filePath", "startLine", "endLine", "language", "chunkType", "content", "similarityScore", "codebaseName",
    }  # fmt: skip
    assert call(reading, "POST", "/api/search", query="x", codebaseName="none")["results"] == []
    statistics = call(reading, "GET", "/api/knowledgebases/sample/stats")
    assert statistics["chunkCount"] == sum(one["count"] for one in statistics["chunkTypes"])
    assert statistics["fileCount"] == sum(one["fileCount"] for one in statistics["languages"])
    assert statistics["sizeBytes"] > 0


def test_a_code_base_is_renamed_and_deleted(writing: Served) -> None:
    assert call(writing, "PUT", "/api/knowledgebases/sample", newName="other")["success"]
    assert call(writing, "GET", "/api/knowledgebases/sample/stats", 404)["error"]["code"] == "NOT_FOUND"
    time = call(writing, "GET", "/api/knowledgebases/other/stats")["lastIngestion"]
    assert call(writing, "DELETE", "/api/knowledgebases/other/chunk-sets/2020-01-01T00:00:00Z", 404)["error"]
    dropped = call(writing, "DELETE", f"/api/knowledgebases/other/chunk-sets/{time}")
    assert dropped["success"]
    assert dropped["chunksDeleted"] > 0
    assert call(writing, "DELETE", "/api/knowledgebases/other") == {"success": True, "message": "Deleted other"}
    assert read_registry(writing.environment) == []


def wait_for_end(served: Served) -> Any:
    """Return the entries of the last run after its end."""
    with served.client.stream("GET", "/api/v1/repositories/sample/events", headers=BEARER) as answer:
        answer.read()
    return call(served, "GET", "/progress")


def test_the_index_manager_rebuilds_and_shows_its_progress(writing: Served, own: Repo) -> None:
    before = call(writing, "GET", "/progress")
    assert [entry["type"] for entry in before] == ["start", "complete"]
    own.write({"src/parcels.py": "def parcel_weight() -> int:\n    return 3\n", "src/empty.py": ""})
    (own.path / "src" / "routing.ts").unlink()
    schema = call(writing, "GET", "/schema-status")
    assert schema == {
        "workspacePath": str(own.path), "schemaDimension": 256, "embeddingDimension": 256, "isValid": True,
        "status": "Needs Update", "totalFilesInProject": 5, "indexedFiles": 4, "notIndexedFiles": 1, "deletedFiles": 1,
    }  # fmt: skip
    assert call(writing, "POST", "/rebuild-index") == {"success": True, "message": "Index update started"}
    start, end = wait_for_end(writing)
    assert (start["type"], end["type"], end["completedFiles"], end["totalFiles"]) == ("start", "complete", 1, 1)
    assert before[1]["timestamp"] < start["timestamp"] <= end["timestamp"]
    assert end.keys() == start.keys() > {"completedChunks", "totalChunks", "waitingForRateLimit"}
    assert call(writing, "GET", "/schema-status")["notIndexedFiles"] == 0
    assert call(writing, "POST", "/rebuild-index", reindex_all=True)["message"] == "Index rebuild started"
    assert wait_for_end(writing)[1]["completedChunks"] > end["completedChunks"]


def test_a_busy_index_is_refused_and_its_run_can_be_cancelled(writing: Served) -> None:
    idle = call(writing, "POST", "/cancel-indexing")
    assert idle == {"success": False, "message": "No indexing operation is running"}
    with writer_lock(writing.service.workspace("sample").paths.lock, wait=False):
        error = call(writing, "POST", "/rebuild-index", 409)["error"]
        assert error["code"] == "CONFLICT"
        assert [entry["type"] for entry in call(writing, "GET", "/progress")] == ["progress"]
        assert call(writing, "GET", "/schema-status")["status"] == "Updating"


def test_one_of_several_repositories_must_be_named(writing: Served, own: Repo) -> None:
    add_repository(writing.environment, own.path.parent, "other")
    assert "?repository=NAME" in call(writing, "POST", "/rebuild-index", 400)["error"]["message"]
    assert call(writing, "GET", "/schema-status?repository=sample")["isValid"]
    assert call(writing, "GET", "/progress?repository=none", 404)["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/knowledgebases"), ("DELETE", "/api/knowledgebases/sample"), ("GET", "/progress"),
        ("POST", "/rebuild-index"),
    ],
)  # fmt: skip
def test_the_old_routes_need_the_token(reading: Served, method: str, path: str) -> None:
    assert reading.client.request(method, path).status_code == 401


json_values = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.lists(st.integers(), max_size=2)
bodies = st.dictionaries(st.sampled_from(["query", "maxResults", "newName", "x"]) | st.text(max_size=5), json_values)
names = st.sampled_from(["none", "..", "%2e%2e%2fsample", "a%00b", "sample/../x", "-x", "n" * 200])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=bodies, name=names, data=st.data())
def test_a_wrong_request_gets_an_error_in_the_old_form(
    reading: Served, body: Any, name: str, data: st.DataObject
) -> None:
    """Property 20: API errors."""
    method, path = data.draw(
        st.sampled_from(
            [
                ("POST", "/api/search"),
                ("PUT", f"/api/knowledgebases/{name}"),
                ("DELETE", f"/api/knowledgebases/{name}"),
                ("DELETE", f"/api/knowledgebases/{name}/chunk-sets/{name}"),
                ("GET", f"/api/knowledgebases/{name}/stats"),
                ("POST", "/rebuild-index?repository=none"),
                ("GET", f"/progress?repository={name}"),
                ("POST", f"/cancel-indexing?repository={name}"),
            ]
        )
    )
    answer = reading.client.request(method, path, json=body, headers=BEARER)
    if answer.status_code == 200:  # a search with a query is right
        assert path == "/api/search"
        assert body["query"].strip()
        return
    assert 400 <= answer.status_code < 500, answer.text
    error = answer.json()["error"]
    assert error.keys() == {"code", "message", "details"}
    assert not re.search(r"Traceback|File \"|/dev/shm|/tmp/", answer.text)

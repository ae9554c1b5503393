"""The routes of an older system, as its clients call them."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.registry import read_registry
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


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/knowledgebases"), ("DELETE", "/api/knowledgebases/sample")])
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

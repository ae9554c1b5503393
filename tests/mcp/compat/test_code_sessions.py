"""The smoke tests and examples of the systems that search code, as recorded sessions."""

import os
import re

import pytest

from gitmem.actions.web_page import stop_page
from gitmem.registry import OFF_VARIABLE, add_repository
from tests.gitrepo import Repo
from tests.mcp.compat.recording import Step, replay

TIME = r"\d{4}-\d\d-\d\dT[\d:.]+Z"

S0 = [
    Step("list_indexed_repositories", {},
         rf'\{{"repositories":\[\{{"name":"my-api","url":"https://github\.com/user/my-api\.git","file_count":(?P<files>\d+),'
         rf'"chunk_count":(?P<chunks>\d+),"last_indexed":"{TIME}","status":"ready","index_duration_ms":\d+\}}\],'
         r'"summary":\{"total_repositories":1,"total_files_indexed":(?P=files),"total_chunks":(?P=chunks)\}\}'),
    Step("semantic_search", {"query": "sign the cookie with the secret key", "limit": 1},
         r'\{"results":\[\{"file_path":"src/[a-z_]*cookies\.py","repository":"my-api","content_snippet":".*sign_cookie.*",'
         r'"similarity_score":0\.\d+,"chunk_index":\d+,"metadata":\{"file_extension":"\.py","file_size_bytes":\d+,'
         rf'"indexed_at":"{TIME}"\}}\}}\],'
         r'"metadata":\{"total_matches":1,"query_time_ms":[\d.]+,"repositories_searched":\["my-api"\]\}\}'),
    Step("semantic_search", {"query": "cookie", "repository": "my-api", "threshold": 1.0},
         r'\{"results":\[\],"metadata":\{"total_matches":0,.*'),
    Step("semantic_search", {"query": "cookie", "repository": "other"},
         r'\{"code": -32602, "message": "unknown repository `other`", "data": \{.*"retryable": false\}\}', failed=True),
    Step("semantic_search", {"limit": 1}, r'\{"code": -32602, "message": "Query parameter is required".*', failed=True),
    Step("semantic_search", {"query": "x" * 1001}, r'\{"code": -32602, .*1 to 1000 characters.*', failed=True),
    Step("semantic_search", {"query": "x", "limit": 51}, r'\{"code": -32602, .*1 to 50.*', failed=True),
    Step("list_indexed_repositories", {}, r'\{"repositories":\[\{"name":"my-api".*'),
]  # fmt: skip

S3 = [
    Step("list_knowledgebases", {},
         r'\{"codebases":\[\{"name":"my-project","path":"/.*","chunkCount":(?P<chunks>\d+),"fileCount":(?P<files>\d+),'
         rf'"lastIngestion":"(?P<time>{TIME})","languages":\["markdown",.*"python",.*"typescript"\]\}}\]\}}'),
    Step("search_knowledgebases", {"query": "find the handler of a request", "codebaseName": "my-project",
                                   "language": "typescript", "maxResults": 1},
         r'\{"results":\[\{"filePath":"src/routing\.ts","startLine":\d+,"endLine":\d+,"language":"typescript",'
         r'"chunkType":"(?:function|class|method)","content":".*","similarityScore":0\.\d+,"codebaseName":"my-project"\}\],'
         r'"totalResults":1,"queryTime":[\d.]+\}'),
    Step("search_knowledgebases", {"query": "cookie", "codebaseName": "other"},
         r'\{"results":\[\],"totalResults":0,"queryTime":0\}'),
    Step("search_knowledgebases", {"query": "cookie", "language": "cobol-85"}, r'\{"results":\[\],.*'),
    Step("get_knowledgebase_stats", {"name": "my-project"},
         r'\{"name":"my-project","path":"/.*","chunkCount":{chunks},"fileCount":{files},"lastIngestion":"{time}",'
         r'"languages":\[\{"language":"[a-z]+","fileCount":\d+,"chunkCount":\d+\}.*\],'
         r'"chunkTypes":\[\{"type":"[a-z]+","count":\d+\}.*\],"sizeBytes":\d+\}'),
    Step("get_knowledgebase_stats", {"name": "other"},
         r'\{"error":\{"code":"NOT_FOUND","message":"Codebase not found: other"\}\}', failed=True),
    Step("search_knowledgebases", {}, r'\{"error":\{"code":"INVALID_PARAMETERS","message":.*', failed=True),
    Step("search_knowledgebases", {"query": "x", "maxResults": 51},
         r'\{"error":\{"code":"INVALID_PARAMETERS","message":.*between 1 and 50.*', failed=True),
    Step("open_knowledgebase_manager", {}, r'\{"url":"http://127\.0\.0\.1:\d+/login\?code=.*","message":".*"\}'),
]  # fmt: skip

S4 = [
    Step("ks_health", {},
         r'\{"success":true,"status":"healthy","backend":"gitmem [^"]+","cluster":\{"index":"healthy",.*\}\}'),
    Step("ks_search", {"query": "parse the cookie header", "top_k": 1},
         r'\{"success":true,"count":1,"results":\[\{"doc_id":"(?P<id>src/(?:copy_of_)?cookies\.py:\d+)","content":".*",'
         r'"score":0\.\d+,"metadata":\{"file_path":"src/(?:copy_of_)?cookies\.py","file_type":"\.py","chunk_index":\d+,'
         rf'"total_chunks":\d+,"repo_path":"/.*","indexed_at":"{TIME}"\}}\}}\]\}}'),
    Step("ks_get", {"doc_id": "{id}"},
         rf'\{{"success":true,"doc_id":"{{id}}","content":".*cookie.*","metadata":\{{.*"indexed_at":"{TIME}"\}}\}}'),
    Step("ks_get", {"doc_id": "src/routing.ts:chunk_0"}, r'\{"success":true,"doc_id":"src/routing\.ts:chunk_0",.*'),
    Step("ks_get", {"doc_id": "src/routing.ts:99"},
         r'\{"success": false, "error": "Document not found: src/routing.ts:99"\}', failed=True),
    Step("ks_get", {"doc_id": "src/none.ts:0"},
         r'\{"success": false, "error": "Document not found: src/none.ts:0"\}', failed=True),
    Step("ks_get", {"doc_id": "../../etc/passwd:0"}, r'\{"success": false, "error": .*', failed=True),
    Step("ks_index", {"doc_id": "notes/plan", "content": "The parcel tracker is rewritten in Go.",
                      "file_path": "notes/plan.md", "file_type": ".md"}, r'\{"success":true,"doc_id":"notes/plan"\}'),
    Step("ks_get", {"doc_id": "notes/plan"},
         r'\{"success":true,"doc_id":"notes/plan","content":"The parcel tracker is rewritten in Go\.",'
         r'"metadata":\{"file_path":"notes/plan\.md","file_type":"\.md",.*\}\}'),
    Step("ks_search", {"query": "parcel tracker", "file_type": ".md", "file_path_prefix": "notes/"},
         r'\{"success":true,"count":1,"results":\[\{"doc_id":"notes/plan",.*'),
    Step("ks_search", {"query": "route of a request", "file_type": "ts", "file_path_prefix": "src/rou", "top_k": 3},
         r'\{"success":true,"count":\d,"results":\[\{"doc_id":"src/routing\.ts:\d+"(?!.*\.py).*'),
    Step("ks_ingest_repo", {"repo_path": "."},
         r'\{"success":true,"files_processed":\d+,"documents_created":\d+,"files_skipped":\d+,"errors":\[\],'
         r'"duration_seconds":[\d.]+\}'),
    Step("ks_search", {"query": "parcel_weight", "top_k": 1}, r'.*"doc_id":"src/parcels\.py:0".*'),
    Step("ks_ingest_repo", {"repo_path": "/etc"}, r'\{"success": false, "error": ".*"\}', failed=True),
    Step("ks_search", {"query": "x", "top_k": 0}, r'\{"success": false, "error": .*', failed=True),
]  # fmt: skip


def test_the_smoke_test_of_s0_passes(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OFF_VARIABLE)
    own.git("remote", "add", "origin", "https://me:password@github.com/user/my-api.git")
    add_repository(os.environ, own.path, "my-api")
    texts = replay(own.path, "compat-s0", S0)
    assert "password" not in "".join(texts)


def test_the_smoke_test_of_s3_passes(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OFF_VARIABLE)
    add_repository(os.environ, own.path, "my-project")
    try:
        replay(own.path, "compat-s3", S3)
    finally:
        stopped = stop_page(own.path, os.environ)
    assert re.match("stopped the server at http://127", stopped)


def test_the_smoke_test_of_s4_passes(own: Repo) -> None:
    # The server may index it before the session asks for that.
    own.write({"src/parcels.py": "def parcel_weight() -> int:\n    return 3\n"})
    replay(own.path, "compat-s4", S4)

"""Values of S3's answers, the same for its tools and its routes over HTTP."""

from collections.abc import Mapping
from typing import Any, Final

from gitmem.actions.repository_rows import RepositoryRow
from gitmem.answering.answer_json import json_path
from gitmem.answering.federated_answer import FederatedAnswer
from gitmem.answering.federated_json import federated_hit_json
from gitmem.answering.filter_names import parse_languages
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.memory.kinds import CODE

NO_RESULTS: Final[Mapping[str, Any]] = {"results": [], "totalResults": 0, "queryTime": 0}
"""Answer to a search in a code base or language that does not exist: a filter that nothing passes."""


def code_query(arguments: Mapping[str, Any]) -> Query:
    """Return the query of a search. Raises: UsageError for an unknown language."""
    languages = parse_languages([arguments["language"]] if arguments["language"] else [])
    filters = SearchFilters(kinds=(CODE,), languages=languages)
    return Query(arguments["query"], limit=arguments["maxResults"], filters=filters)


def results_json(answer: FederatedAnswer) -> dict[str, Any]:
    """Return the results of a search."""
    hits = [federated_hit_json(answer, rank) for rank in range(len(answer.order))]
    results = [
        {
            "filePath": hit["path"],
            "startLine": hit["start_line"],
            "endLine": hit["end_line"],
            "language": hit["language"],
            "chunkType": hit["chunk_type"],
            "content": hit["content"],
            "similarityScore": hit["score"],
            "codebaseName": hit["repository"],
        }
        for hit in hits
    ]
    return {"results": results, "totalResults": len(results), "queryTime": answer.stats["query_time_ms"]}


def codebase_json(row: RepositoryRow) -> dict[str, Any]:
    """Return a code base as an entry of the list."""
    return {**_head(row), "languages": sorted(row.status.languages) if row.status else []}


def statistics_json(row: RepositoryRow) -> dict[str, Any]:
    """Return the statistics of a code base."""
    status = row.status
    languages = status.languages.most_common() if status else []
    return {
        **_head(row),
        "languages": [
            {"language": name, "fileCount": files, "chunkCount": status.language_chunks[name] if status else 0}
            for name, files in languages
        ],
        "chunkTypes": [
            {"type": name, "count": number} for name, number in (status.chunk_types.most_common() if status else [])
        ],
        "sizeBytes": status.bytes if status else 0,
    }


def _head(row: RepositoryRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "path": json_path(row.path),
        "chunkCount": row.status.chunks if row.status else 0,
        "fileCount": row.status.indexed if row.status else 0,
        "lastIngestion": row.last_run.at if row.last_run else "",
    }

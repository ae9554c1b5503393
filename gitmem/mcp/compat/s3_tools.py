"""Tools of S3, a codebase memory server: search in code bases, their list and statistics, the manager's page."""

from typing import Any, Final

from gitmem.mcp.tools.descriptions import READS, WRITES, Json, Tool, object_schema

_STRING: Final[Json] = {"type": "string"}
_INTEGER: Final[Json] = {"type": "integer"}
_NUMBER: Final[Json] = {"type": "number"}


def _record(**properties: Any) -> Json:
    return object_schema(properties, list(properties))


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


SEARCH_INPUT: Final = object_schema(
    {
        "query": {"type": "string", "minLength": 1},
        "codebaseName": _STRING,
        "language": _STRING,
        "maxResults": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50},
    },
    ["query"],
)
"""Arguments of a search, also of the one over HTTP. The configured maximum may be lower than that of `maxResults`."""

SEARCHED: Final = _record(
    results=_list(
        _record(
            filePath=_STRING,
            startLine=_INTEGER,
            endLine=_INTEGER,
            language=_STRING,
            chunkType=_STRING,
            content=_STRING,
            similarityScore=_NUMBER,
            codebaseName=_STRING,
        )
    ),
    totalResults=_INTEGER,
    queryTime=_NUMBER,
)
CODEBASES: Final = _record(
    codebases=_list(
        _record(
            name=_STRING,
            path=_STRING,
            chunkCount=_INTEGER,
            fileCount=_INTEGER,
            lastIngestion=_STRING,
            languages=_list(_STRING),
        )
    )
)
STATISTICS: Final = _record(
    name=_STRING,
    path=_STRING,
    chunkCount=_INTEGER,
    fileCount=_INTEGER,
    lastIngestion=_STRING,
    languages=_list(_record(language=_STRING, fileCount=_INTEGER, chunkCount=_INTEGER)),
    chunkTypes=_list(_record(type=_STRING, count=_INTEGER)),
    sizeBytes=_INTEGER,
)

TOOLS: Final = (
    Tool("list_knowledgebases", "List code bases", "List all indexed code bases.", object_schema({}), READS,
         CODEBASES),
    Tool("search_knowledgebases", "Search code", "Search code bases in natural language.", SEARCH_INPUT, READS,
         SEARCHED),
    Tool("get_knowledgebase_stats", "Show statistics", "Show the statistics of a code base.",
         object_schema({"name": {"type": "string", "minLength": 1}}, ["name"]), READS, STATISTICS),
    Tool("open_knowledgebase_manager", "Open the manager", "Open the page that manages code bases in the browser.",
         object_schema({}), WRITES, _record(url=_STRING, message=_STRING)),
)  # fmt: skip
"""Tools in the order of the old server."""

"""Descriptions of the tools: the name, text, arguments and annotations that clients list and agents read.

Plain values without further imports, so that the handshake is answered before anything else is loaded. The default
tools are sent in every session, so each word costs tokens in all of them.

The schemas use only the keywords of JSON Schema that every provider of models accepts: each property has one type, and
there are no unions. Clients for Gemini refuse a tool if a property has no type, a list of types or
`additionalProperties`, and one of them then refuses the whole server.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gitmem.memory.conversation import MAX_INDEX, MAX_TURN, ROLES
from gitmem.memory.document import DOCUMENT_TYPES, MAX_DOCUMENT, RETENTIONS, SENSITIVITIES
from gitmem.memory.note import MAX_CONVERSATION, MAX_NOTE, NOTE_TYPES
from gitmem.memory.visibility import VISIBILITIES
from gitmem.named_tuple import NamedTuple
from gitmem.types import MAX_USAGE_DEPTH, USAGE_RELATIONS

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_STRINGS: Final[Json] = {"type": "array", "items": _TEXT}
ROOT: Final[Json] = {"type": "string", "description": "folder of another working tree, or a known repository"}
_REV: Final[Json] = {"type": "string", "description": "revision or at:DATE; default: working tree"}
_REPOSITORIES: Final[Json] = {**_STRINGS, "description": "known, or *"}
_LIMIT: Final[Json] = {"type": "integer", "minimum": 1, "maximum": 50}


def _choice(values: Iterable[str], default: str = "", description: str = "") -> Json:
    schema: Json = {"type": "string", "enum": list(values)}
    schema |= {"default": default} if default else {}
    return schema | ({"description": description} if description else {})


FORMAT: Final = _choice(["text", "json"], "text")
_DETAIL: Final = _choice(["locations", "snippet", "full"], "snippet")

# Annotations of the protocol: what a call may do. A client may run read-only tools without asking the user.
READS: Final[Json] = {"readOnlyHint": True, "openWorldHint": False}
WRITES: Final[Json] = {"destructiveHint": False, "openWorldHint": False}
REPLACES: Final[Json] = {"destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
DELETES: Final[Json] = {"destructiveHint": True, "openWorldHint": False}


class Tool(NamedTuple):
    """Description of a tool."""

    name: str
    title: str
    """Name for people."""
    description: str
    schema: Json
    """JSON Schema of the arguments; `arguments.check_arguments` knows the keywords used here."""
    annotations: Json
    output_schema: Mapping[str, Any] = {}
    """JSON Schema of the values that an answer has besides its text; empty for a tool that answers in text alone."""
    system: str = ""
    """Older system that the tool is of, see `gitmem.mcp.compat.systems`; "" for gitmem's own tools."""

    def to_json(self) -> Json:
        """Return the entry of `tools/list`."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
            **({"outputSchema": self.output_schema} if self.output_schema else {}),
            "annotations": self.annotations,
        }


def object_schema(properties: Json, required: Sequence[str] = ()) -> Json:
    """Return the schema of an object."""
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def _tool(
    name: str,
    title: str,
    description: str,
    required: Sequence[str] = (),
    annotations: Json = READS,
    /,
    **properties: Json,
) -> Tool:
    return Tool(name, title, description, object_schema(properties, required), annotations)


_FILTERS: Final = {
    **object_schema(
        {
            "type": {**_STRINGS, "description": "decision, email, ..."},
            "source": _STRINGS,
            "sensitivity": _STRINGS,
            "visibility": _STRINGS,
            "conversation": _STRINGS,
            "since": {**_TEXT, "description": "ISO 8601"},
            "until": _TEXT,
            "author": _STRINGS,
            "min_confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
        }
    ),
    "description": "of records; since, until and author also of commits and code",
}

SEARCH: Final = _tool(
    "search",
    "Search code",
    "Find code, docs and config by meaning or by symbol. Use it before grep or reading files. One good result is "
    "enough: then read at the given line.",
    ["query"],
    query={
        "type": "string",
        "minLength": 1,
        "maxLength": 32_000,
        "description": "words, symbol, code, error, issue, log or stack trace",
    },
    limit=_LIMIT,
    rev=_REV,
    root=ROOT,
    repositories={**_STRINGS, "description": "known, * or org:*"},
    files=_STRINGS,
    folders=_STRINGS,
    path={**_STRINGS, "description": "gitignore globs"},
    exclude=_STRINGS,
    language={**_STRINGS, "description": "python, ts, c++"},
    kind={
        **_STRINGS,
        "description": "code, documents, notes, conversations, commits, all; default: code and documents",
    },
    chunk_type={**_STRINGS, "description": "function, class, method, section, text, ..."},
    mode=_choice(["hybrid", "semantic", "lexical"], "hybrid"),
    detail=_DETAIL,
    filters=_FILTERS,
    neighbors={"type": "boolean", "description": "whole chunks, with adjacent ones"},
    min_score={"type": "number", "minimum": 0, "maximum": 1, "description": "likelihood of relevance; 0: all"},
    format=FORMAT,
)
RELATED: Final = _tool(
    "related",
    "Find similar code",
    "Find code like that at a location: other implementations, similar callers, tests.",
    ["location"],
    location={"type": "string", "minLength": 1, "description": "`src/app.py:120`, `src/app.py#handler`"},
    limit=_LIMIT,
    root=ROOT,
    detail=_DETAIL,
    format=FORMAT,
)
USAGES: Final = _tool(
    "usages",
    "Find usages",
    "List definitions, callers, subclasses, importers and mentions of a name. Use it before a change.",
    ["name"],
    name={
        "type": "string",
        "minLength": 1,
        "maxLength": 500,
        "description": "`Type.method`, or a location",
    },
    relation={**_STRINGS, "description": ", ".join(USAGE_RELATIONS)},
    depth={"type": "integer", "minimum": 1, "maximum": MAX_USAGE_DEPTH, "default": 1},
    limit={**_LIMIT, "default": 20},
    repositories=_STRINGS,
    rev=_REV,
    root=ROOT,
    format=FORMAT,
)
GET: Final = _tool(
    "get",
    "Read locations",
    "Read locations and records, as search prints them.",
    ["ids"],
    ids={
        **_STRINGS,
        "minItems": 1,
        "maxItems": 50,
        "description": "`path`, `path:12`, `path:10-40`, `path#symbol`, `<blob>:<chunk>` (from 0); `mem_...`, "
        "`art_...`, `conversation:NAME`, also with `:10-40` or `:<chunk>`; `<commit>`; `repository:NAME`; `search_...`",
    },
    rev=_REV,
    root=ROOT,
    limit={**_LIMIT, "description": "last turns of a conversation; default: 16"},
    format={**FORMAT, "description": "json: content byte for byte"},
)
WHEN: Final = _tool(
    "when",
    "History of a definition",
    "Show when a definition was introduced, and each commit that changed it, through renames and moves.",
    ["location"],
    location={
        "type": "string",
        "minLength": 1,
        "description": "`src/app.py:120`, `src/app.py#handler`, `handler`, `src/app.py:10-40` for lines",
    },
    rev={**_REV, "description": "commit, tag, branch or `at:DATE` to start from; default: HEAD"},
    limit={"type": "integer", "minimum": 1, "maximum": 500, "default": 20, "description": "newest changes"},
    root=ROOT,
    format=FORMAT,
)
CHANGES: Final = _tool(
    "changes",
    "Changes in a range",
    "List the definitions that differ between two revisions: added, removed, changed or moved. Use it before a diff.",
    ["range"],
    range={"type": "string", "minLength": 1, "description": "`A..B`, or `A...B` from the merge base"},
    query={"type": "string", "maxLength": 1000, "description": "words to rank by"},
    tokens={"type": "integer", "minimum": 100, "maximum": 9000, "default": 3000, "description": "of the answer"},
    root=ROOT,
    format=FORMAT,
)
SEARCH_HISTORY: Final = _tool(
    "search_history",
    "Search the code of the past",
    "Search definitions in all commits in words: removed code, former versions, and when each was introduced and "
    "removed. Needs `gitmem index --history`.",
    ["query"],
    query={"type": "string", "minLength": 1, "maxLength": 2000},
    path={**_STRINGS, "description": "globs"},
    author={**_STRINGS, "description": "of the version: name or address"},
    since={**_TEXT, "description": "earliest time of the version (ISO 8601)"},
    until={**_TEXT, "description": "latest time of the version"},
    introduced={**_TEXT, "description": "`A..B` or a commit that introduced it"},
    removed={**_TEXT, "description": "`A..B` or a commit that removed it"},
    order=_choice(["best", "newest"], "best"),
    blame={"type": "boolean", "default": False, "description": "trace when each was introduced: slower, more exact"},
    limit={**_LIMIT, "default": 10},
    root=ROOT,
    format=FORMAT,
)
BISECT_HINT: Final = _tool(
    "bisect_hint",
    "Suspects of a fault",
    "Rank the commits of a range by how likely they introduced a fault. Use it before a bisection, or instead.",
    ["symptom"],
    symptom={"type": "string", "minLength": 1, "maxLength": 32000, "description": "what fails: error, issue, sentence"},
    range={"type": "string", "description": "`GOOD..BAD`; default: the running bisection, or the last 500 commits"},
    limit=_LIMIT | {"default": 10},
    root=ROOT,
    format=FORMAT,
)
MAP: Final = _tool(
    "map",
    "Outline the code",
    "Outline a repository or folder: its most important definitions with their declarations. With a query: those that "
    "have to do with it, and what they depend on. Use it first in unknown code.",
    query={"type": "string", "maxLength": 2000, "description": "words to personalise by"},
    path={"type": "string", "maxLength": 4000, "description": "file or folder; default: all"},
    tokens={"type": "integer", "minimum": 100, "maximum": 9000, "default": 1000, "description": "of the answer"},
    repositories=_REPOSITORIES,
    rev=_REV,
    root=ROOT,
    format=FORMAT,
)
IMPACT: Final = _tool(
    "impact",
    "Callers that changes touch",
    "List the callers of the definitions that uncommitted files or a range of commits changed, moved or removed, and "
    "whether these callers changed too. Use it before a commit and in reviews.",
    [],
    range={
        "type": "string",
        "maxLength": 1000,
        "default": "",
        "description": "`A..B`, or `A...B` from the merge base; default: HEAD to the working tree",
    },
    staged={"type": "boolean", "default": False, "description": "compare the staged files with HEAD"},
    depth={"type": "integer", "minimum": 1, "maximum": MAX_USAGE_DEPTH, "default": 1},
    limit={**_LIMIT, "default": 10, "description": "callers of each definition"},
    repositories={**_STRINGS, "description": "more to look in: known ones, or *"},
    root=ROOT,
    format=FORMAT,
)
STATUS: Final = _tool(
    "status",
    "Index status",
    "Report which tree is indexed, whether it is up to date, and its content.",
    root=ROOT,
    sections={"type": "array", "items": {"type": "string", "enum": ["index", "health", "embedding"]}},
    probe={"type": "boolean", "default": False, "description": "embed a word to try the model"},
    format=FORMAT,
)

MEMORY_STORE: Final = _tool(
    "memory_store",
    "Store a note",
    "Store a note for later sessions. Worth storing: a decision and its reason, a preference of the user, a fact that "
    "was hard to find. Never: secrets, personal data, facts obvious from the code, today's work, guesses. "
    "Search kind `notes` first; one topic per note.",
    ["content"],
    WRITES,
    content={"type": "string", "minLength": 1, "maxLength": MAX_NOTE},
    type=_choice(NOTE_TYPES, "fact"),
    confidence={"type": "number", "minimum": 0, "maximum": 1, "default": 1},
    conversation={"type": "string", "maxLength": MAX_CONVERSATION},
    paths={**_STRINGS, "description": "files it is about"},
    symbols=_STRINGS,
    supersedes={**_STRINGS, "description": "notes it replaces"},
    expires=_TEXT,
    visibility={**_TEXT, "description": "me, team"},
    id={"type": "string", "description": "note to change"},
)
CONVERSATION_APPEND: Final = _tool(
    "conversation_append",
    "Store a turn",
    "Store one turn of a conversation, if the user wants conversations stored. The same turn again replaces it.",
    ["conversation", "role", "content"],
    WRITES,
    conversation={"type": "string", "minLength": 1, "maxLength": MAX_CONVERSATION},
    role=_choice(ROLES),
    content={"type": "string", "minLength": 1, "maxLength": MAX_TURN},
    turn={"type": "integer", "minimum": 0, "maximum": MAX_INDEX, "description": "default: next"},
    visibility=_TEXT,
)
DELETE: Final = _tool(
    "delete",
    "Delete records",
    "Delete records, all or none. They can be restored until a purge.",
    ["ids"],
    DELETES,
    ids={
        **_STRINGS,
        "minItems": 1,
        "maxItems": 100,
        "description": "`mem_...`, `art_...`, `conversation:NAME`",
    },
)
DOCUMENT_INGEST: Final = _tool(
    "document_ingest",
    "Store a document",
    "Store a longer external text (mail, page, chat, transcript) for search. The same source again replaces it; the "
    "same content changes nothing. Never secrets, nor files of this repository: they are already indexed.",
    ["content"],
    REPLACES,
    content={"type": "string", "minLength": 1, "maxLength": MAX_DOCUMENT},
    type=_choice(DOCUMENT_TYPES, description="default: doc"),
    source={"type": "string", "maxLength": 100, "description": "default: manual"},
    source_id={"type": "string", "maxLength": 500, "description": "id in that system"},
    url={"type": "string", "maxLength": 2000},
    title={"type": "string", "maxLength": 500},
    author={"type": "string", "maxLength": 200},
    participants={**_STRINGS, "maxItems": 100},
    time={"type": "string", "description": "date of writing, ISO 8601"},
    sensitivity=_choice(SENSITIVITIES, description="for filters, not enforced"),
    visibility=_choice(VISIBILITIES, description="like `sensitivity`"),
    retention=_choice(RETENTIONS, description="like `sensitivity`"),
    metadata={"type": "object", "maxProperties": 50, "description": "strings by name"},
    format=FORMAT,
)
REPORT_CREATE: Final = _tool(
    "report_create",
    "Write a report",
    "Write a Markdown report into the repository, from a template and its variables; `list` with `templates` shows "
    "both. The results of searches become sections, unless you give some. Returns the path and a preview.",
    ["variables"],
    WRITES,
    variables={"type": "object", "description": "`query`, `overall_summary`, `sections`, as the template wants them"},
    template={"type": "string", "maxLength": 64, "description": "default: as configured"},
    session_ids={**_STRINGS, "maxItems": 50, "description": "`search_...`"},
    output_dir={"type": "string", "maxLength": 4096, "description": "folder of the repository"},
    file_name={"type": "string", "maxLength": 200, "description": "behind the time"},
    ascii_filename={"type": "string", "maxLength": 200, "description": "like `file_name`, in English"},
)
LIST_MAX: Final = 100
"""Most items of a list."""

LIST: Final = _tool(
    "list",
    "List",
    "List records or earlier searches, newest first; templates of reports; repositories known on this machine. Stale "
    "notes are about files that changed since: verify them, then store them again with `id`, or delete them.",
    ["what"],
    what=_choice(["notes", "stale notes", "documents", "conversations", "sessions", "templates", "repositories"]),
    type={"type": "string", "description": "type of note or document"},
    limit={"type": "integer", "minimum": 1, "maximum": LIST_MAX, "default": 20},
    root=ROOT,
    format=FORMAT,
)

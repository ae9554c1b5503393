"""All settings with range, default and meaning, and their parsing. Pure: callers supply git's configuration and the
environment.

A setting is `gitmem.camelCase` in git's configuration and `GITMEM_CAMEL_CASE` in the environment, which has precedence.
Some variables of other programs are read as well, if neither says anything: their users need not set everything again.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitmem.errors import ConfigError
from gitmem.named_tuple import NamedTuple

PREFIX: Final = "gitmem."

NO_GRAPH: Final = 2**31 - 1
"""Default of `graphThreshold`: a graph over all rows costs nearly as much as the index, at any size."""

LOG_OFF: Final = "off"
LOG_LEVELS: Final = ("debug", "info", "error", LOG_OFF)
"""Levels of events to log, the most talkative first."""

BUNDLED: Final = "bundled"
"""Provider of embeddings that is part of gitmem: it needs no key, no network and no other program."""

Value = int | str | tuple[str, ...]

_DEFAULT: Final = "default"
_USER_SCOPES: Final = ("system", "global")


class Alias(NamedTuple):
    """Environment variable of another program with the same meaning; its number is multiplied by `factor`.

    With `words`, pairs of a word in lower case and our value, any other value means nothing: many programs share the
    variable, and what they call a level need not be one of ours.
    """

    variable: str
    factor: int = 1
    words: tuple[tuple[str, str], ...] = ()

    def read(self, environment: Mapping[str, str]) -> str:
        """Return the value in the environment, "" without one that means something."""
        text = environment.get(self.variable, "")
        return dict(self.words).get(text.strip().lower(), "") if self.words else text


class Setting(NamedTuple):
    """Setting with its range (numbers) or choices (words); `meaning` is one sentence for the reference.

    A setting with a tuple as default is a list, one with a string and no choices is free text. Only the user's own
    configuration may set one that is `personal`. The value of one that is `secret` is never shown.
    """

    name: str
    default: Value
    meaning: str
    minimum: int = 0
    maximum: int = 2**31 - 1
    choices: tuple[str, ...] = ()
    aliases: tuple[Alias, ...] = ()
    personal: bool = False
    secret: bool = False

    @property
    def key(self) -> str:
        """Name in git's configuration."""
        return PREFIX + self.name

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return "GITMEM_" + re.sub(r"(?=[A-Z])", "_", self.name).upper()

    @property
    def values(self) -> str:
        """Description of the valid values."""
        if self.is_list:
            return "separated by commas"
        if self.is_text:
            return "any text"
        return ", ".join(self.choices) if self.choices else f"{self.minimum} to {self.maximum}"

    @property
    def default_text(self) -> str:
        return ", ".join(self.default) if isinstance(self.default, tuple) else str(self.default)

    @property
    def is_list(self) -> bool:
        return isinstance(self.default, tuple)

    @property
    def is_text(self) -> bool:
        return isinstance(self.default, str) and not self.choices


class _Origin(NamedTuple):
    """Place of a value: a scope of git's configuration, or a variable of the environment."""

    scope: str = ""
    variable: str = ""

    def describe(self) -> str:
        return f"environment, {self.variable}" if self.variable else f"git config, {self.scope}"

    def remedy(self, setting: Setting) -> str:
        """Return the command that takes a wrong value away from where it is."""
        if self.variable:
            return f"unset {self.variable}"
        option = f" --{self.scope}" if self.scope in _USER_SCOPES else ""
        return f"git config{option} {setting.key} {setting.default}"


class Effective(NamedTuple):
    """Value of a setting that is in force, and its origin.

    The origin is `default`, the scope of git's configuration (`system`, `global`, `local`, `worktree`), or the name of
    an environment variable.
    """

    setting: Setting
    value: Value
    origin: str = _DEFAULT


_LEVEL_WORDS: Final = (("trace", "debug"), ("debug", "debug"), ("info", "info"), ("warn", "error"),
    ("warning", "error"), ("error", "error"), ("critical", "error"), ("fatal", "error"), ("off", LOG_OFF))  # fmt: skip
"""Levels of other programs. Warnings of ours are failures, so theirs become `error`."""

_BLANK_LINE_WORDS: Final = (("true", "remove"), ("false", "keep"), ("remove", "remove"), ("keep", "keep"))

_TOKEN_BYTES: Final = 4
"""Bytes of a token of code or English on average."""

SEARCH_MAX_LIMIT: Final = Setting("searchMaxLimit", 50, "Largest limit of a query.", 1, 1000)

SETTINGS: Final = (
    Setting("searchDefaultLimit", 10, "Number of results of a query without a limit.", 1, 50,
            aliases=(Alias("RAG_MAX_RESULTS"),)),
    SEARCH_MAX_LIMIT,
    Setting(
        "org",
        "",
        "Database of the organisation for `gitmem org` and `--repo org:NAME`: a DSN of PostgreSQL without a password.",
        personal=True,
    ),
    Setting("fusion", "zscore", "How the semantic and the lexical ranking are combined.", choices=("zscore", "rrf")),
    Setting("maxFileBytes", 1 << 20, "Larger files are not indexed.", 1024, 1 << 30),
    Setting("healBudget", 300, "Milliseconds that a query may spend on indexing changes before it answers.", 0, 60_000),
    Setting("historyBudget", 100_000, "Number of the newest commits that `gitmem index --history` indexes.", 1),
    Setting("graphThreshold", NO_GRAPH, "Number of chunks from which on each run builds a neighbour graph.", 1000),
    Setting("useServer", "true", "Whether a running gitmem answers queries of commands.", choices=("true", "false")),
    Setting("sessions", 10, "Number of search sessions that are kept; 0 keeps none.", 0, 1000,
            aliases=(Alias("RAG_MAX_SESSION_RESULTS"),)),
    Setting("sessionResults", 5, "Number of results of a search session that are shown without a limit.", 1, 1000,
            aliases=(Alias("RAG_MAX_CHUNKS_PER_QUERY"),)),
    Setting("reportFolder", "rag-reports", "Folder of new reports, relative to the root of the repository.",
            aliases=(Alias("RAG_REPORT_OUTPUT_DIR"),)),
    Setting("reportAllowed", (), "Further folders that reports may be written to.", personal=True),
    Setting("reportTemplate", "basic", "Template of a report that names none.",
            aliases=(Alias("RAG_DEFAULT_TEMPLATE"),)),
    Setting("reportTemplates", "report-templates", "Folder of the user's own templates, relative to the root."),
    Setting("reportQuoteLines", 5, "Largest number of lines of a quote in a report.", 1, 1000,
            aliases=(Alias("RAG_MAX_QUOTE_LINES"),)),
    Setting("reportBlankLines", "remove", "Whether quotes keep their blank lines, and reports several in a row.",
            choices=("remove", "keep"),
            aliases=(Alias("RAG_REMOVE_BLANK_LINES", words=_BLANK_LINE_WORDS),)),
    Setting("searchCacheSeconds", 60, "Seconds for which a server answers an identical query from memory; 0 is never.",
            0, 3600),
    Setting("serveIdle", 3600, "Idle seconds after which `gitmem serve` ends; 0 is never.", 0, 31 * 86_400),
    Setting("serveHosts", (), "Further names of `gitmem serve`: values of the header Host, with the port.",
            personal=True),
    Setting("autoServe", "false", "Whether the first query starts `gitmem serve`, which answers the next ones.",
            choices=("true", "false"), personal=True),
    Setting("maxMemory", 1 << 30, "Bytes that all processes of an index run may occupy together.", 384 << 20, 1 << 38),
    Setting("jobs", 0, "Number of worker processes for indexing; 0 is one per core.", 0, 256),
    Setting("chunkMaxBytes", 1600, "Largest chunk of a file.", 256, 16_384,
            aliases=(Alias("RAG_CHUNK_SIZE"), Alias("CHUNK_MAX_TOKENS", _TOKEN_BYTES))),
    Setting("chunkOverlapBytes", 160, "Bytes that neighbouring chunks of text share; never more than half of one.",
            0, 8192, aliases=(Alias("RAG_CHUNK_OVERLAP"), Alias("CHUNK_OVERLAP_TOKENS", _TOKEN_BYTES))),
    Setting("include", (), "Patterns of the only files to index, as in `.gitignore`; empty is all.",
            aliases=(Alias("RAG_INCLUDE_PATTERNS"),)),
    Setting("exclude", (), "Patterns of files that are not indexed, as in `.gitignore`.",
            aliases=(Alias("RAG_EXCLUDE_PATTERNS"),)),
    Setting("languages", (), "The only languages to index, by the names of files; empty is all."),
    Setting("log", LOG_OFF, "Level from which events are logged, as JSON on standard error and in a file.",
            choices=LOG_LEVELS, aliases=(Alias("LOG_LEVEL", words=_LEVEL_WORDS),), personal=True),
    Setting("provider", BUNDLED, "What embeds chunks and queries.",
            choices=(BUNDLED, "onnx", "openai", "ollama", "openai-compatible"), personal=True),
    Setting("model", "", "Model of the provider; for `onnx` its folder.", personal=True),
    Setting("providerUrl", "", "Address of the provider, if it is not the usual one.", personal=True),
    Setting("providerKey", "", "Key for the provider `ollama` or `openai-compatible`.", personal=True, secret=True),
    Setting("openaiKey", "", "Key for the provider `openai`.", personal=True, secret=True,
            aliases=(Alias("OPENAI_API_KEY"),)),
    Setting("dimensions", 0, "Length of the provider's vectors; longer ones are cut, 0 is the model's own.", 0, 4096,
            personal=True),
    Setting("queryPrefix", "", "Text before each query, as the provider's model expects it.", personal=True),
    Setting("passagePrefix", "", "Text before each chunk, as the provider's model expects it.", personal=True),
    Setting("pooling", "mean", "How `onnx` makes one vector of those of the tokens.", choices=("mean", "cls"),
            personal=True),
    Setting("recurseSubmodules", "false", "Whether `index` and `query` enter submodules and nested repositories.",
            choices=("true", "false")),
    Setting("autoShare", "false", "Whether hooks share records in the background after your fetches and pushes.",
            choices=("true", "false")),
    Setting("unsignedRecords", "mark", "What a pull does with records that have no good signature of a known key.",
            choices=("accept", "mark", "refuse")),
    Setting("captureConversations", "false", "Whether the hooks of agents store the conversation of a session.",
            choices=("true", "false")),
    Setting("indexStore", "", "Folder or bucket for `push --index` and `pull --index` without a named remote."),
    Setting("allowedHosts", ("github.com",), "Hosts from which `gitmem index URL` clones.", personal=True),
)  # fmt: skip

OBSOLETE: Final = ("ANONYMIZED_TELEMETRY", "CHROMADB_HOST", "CHROMADB_PORT", "CHROMA_HOST", "CHROMA_PORT",
    "CHUNK_TARGET_TOKENS", "CONFIG_PATH", "DATABASE_URL", "ELASTICSEARCH_URL", "IS_PERSISTENT", "RAG_CHUNK_LANGUAGE",
    "SINGLE_PIECE_MAX_TOKENS")  # fmt: skip
"""Environment variables of other search servers without a counterpart: there is no database, and no server for it."""

OTHER_VARIABLES: Final = (
    "GITMEM_CALLER",
    "GITMEM_DEBUG",
    "GITMEM_GIT_TOKEN",
    "GITMEM_MCP_TOKEN",
    "GITMEM_NO_REGISTRY",
    "GITMEM_RUNTIME_DIR",
)
"""Environment variables of gitmem besides settings."""


class Settings(NamedTuple):
    """Effective values of all settings."""

    search_default_limit: int = 10
    search_max_limit: int = 50
    org: str = ""
    fusion: str = "zscore"
    max_file_bytes: int = 1 << 20
    heal_budget: int = 300
    history_budget: int = 100_000
    graph_threshold: int = NO_GRAPH
    use_server: str = "true"
    sessions: int = 10
    session_results: int = 5
    report_folder: str = "rag-reports"
    report_allowed: tuple[str, ...] = ()
    report_template: str = "basic"
    report_templates: str = "report-templates"
    report_quote_lines: int = 5
    report_blank_lines: str = "remove"
    search_cache_seconds: int = 60
    serve_idle: int = 3600
    serve_hosts: tuple[str, ...] = ()
    auto_serve: str = "false"
    max_memory: int = 1 << 30
    jobs: int = 0
    chunk_max_bytes: int = 1600
    chunk_overlap_bytes: int = 160
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    log: str = LOG_OFF
    provider: str = BUNDLED
    model: str = ""
    provider_url: str = ""
    provider_key: str = ""
    openai_key: str = ""
    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "mean"
    recurse_submodules: str = "false"
    auto_share: str = "false"
    unsigned_records: str = "mark"
    capture_conversations: str = "false"
    index_store: str = ""
    allowed_hosts: tuple[str, ...] = ("github.com",)


_BY_KEY: Final = {setting.name.lower(): setting for setting in SETTINGS}

Entries = Iterable[tuple[str, str | None, str]]
"""Key, value and scope of entries of git's configuration, in the order in which git applies them."""


def parse_settings(entries: Entries, environment: Mapping[str, str]) -> Settings:
    """Return the settings from git's configuration and the environment, see `resolve_settings`."""
    values: Any = (effective.value for effective in resolve_settings(entries, environment))
    return Settings(*values)


def resolve_settings(entries: Entries, environment: Mapping[str, str]) -> list[Effective]:
    """Return the value in force of each setting, with its origin.

    Of several entries for a key the last one wins; those of a list add up, and an empty one begins anew. Raises:
    ConfigError for an unknown key or a value out of range; the message names key, value, range and origin.
    """
    configured: dict[str, Effective] = {}
    for key, value, scope in entries:
        name = key.removeprefix(PREFIX).lower()
        setting = _BY_KEY.get(name)
        if setting is None:
            raise _unknown_key(key, scope)
        if setting.personal and scope not in _USER_SCOPES:
            raise _not_personal(setting, scope)
        # A key without a value means true in git.
        missing = "" if setting.is_list or setting.is_text else "true"
        new = _parse_value(setting, value or missing, _Origin(scope))
        former = configured[name].value if name in configured and new != () else ()
        configured[name] = Effective(setting, _joined(former, new), scope)
    return [_resolve(setting, configured.get(setting.name.lower()), environment) for setting in SETTINGS]


def _joined(former: Value, new: Value) -> Value:
    return former + new if isinstance(former, tuple) and isinstance(new, tuple) else new


def _resolve(setting: Setting, configured: Effective | None, environment: Mapping[str, str]) -> Effective:
    """Return the value of the environment, else that of git's configuration, of another program, or the default."""
    if setting.variable in environment:
        text = environment[setting.variable]
        return Effective(setting, _parse_value(setting, text, _Origin(variable=setting.variable)), setting.variable)
    if configured is not None:
        return configured
    for alias in setting.aliases:
        if text := alias.read(environment):
            value = _parse_value(setting, text, _Origin(variable=alias.variable), alias.factor)
            return Effective(setting, value, alias.variable)
    return Effective(setting, setting.default)


def find_obsolete(environment: Mapping[str, str]) -> list[str]:
    """Return the variables of other search servers in the environment that mean nothing to gitmem."""
    return [name for name in OBSOLETE if environment.get(name)]


def find_unknown_variable(environment: Mapping[str, str]) -> ConfigError | None:
    """Return the error for a variable `GITMEM_...` that nothing reads, None if there is none."""
    known = [*(setting.variable for setting in SETTINGS), *OTHER_VARIABLES]
    for name in sorted(environment):
        if name.startswith("GITMEM_") and name not in known:
            advice = _advise(name, known)
            return ConfigError(f"unknown environment variable `{name}`", hint=f"{advice}unset {name}")
    return None


def _parse_value(setting: Setting, text: str, origin: _Origin, factor: int = 1) -> Value:
    if setting.is_list:
        return tuple(item.strip() for item in text.split(",") if item.strip())
    if setting.is_text:
        return text
    if setting.choices:
        if text not in setting.choices:
            raise _invalid_value(setting, text, "one of " + ", ".join(setting.choices), origin)
        return text
    # At most 12 digits: even with a suffix the number stays small enough to compare and print.
    match = re.fullmatch(r"(\d{1,12})([kmg]?)", text.strip().lower())
    number = factor * int(match[1]) * 1024 ** " kmg".index(match[2] or " ") if match else -1
    if not setting.minimum <= number <= setting.maximum:
        allowed = f"a number from {-(-setting.minimum // factor)} to {setting.maximum // factor}"
        raise _invalid_value(setting, text, allowed, origin)
    return number


def _invalid_value(setting: Setting, text: str, allowed: str, origin: _Origin) -> ConfigError:
    message = f"`{setting.key}` is `{text}` ({origin.describe()}), expected {allowed}"
    return ConfigError(message, hint=origin.remedy(setting))


def _unknown_key(key: str, scope: str) -> ConfigError:
    advice = _advise(key.removeprefix(PREFIX), [setting.name for setting in SETTINGS], PREFIX)
    scope_option = "" if scope in ("worktree", "command", "") else f" --{scope}"
    return ConfigError(f"unknown setting `{key}` ({scope})", hint=f"{advice}git config{scope_option} --unset {key}")


def _not_personal(setting: Setting, scope: str) -> ConfigError:
    hint = f"git config --unset {setting.key}, then git config --global {setting.key} VALUE"
    return ConfigError(f"`{setting.key}` cannot be set in a repository ({scope})", hint=hint)


def _advise(name: str, known: Iterable[str], prefix: str = "") -> str:
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong names only

    similar = find_similar_name(name, known)
    return f"did you mean `{prefix}{similar}`? " if similar else ""

"""The variables of an `.env` file as settings. Pure.

Many programs read such files, with differences in detail. This reads the common part: `NAME=VALUE` on one line,
`export` before it, one pair of quotation marks around the value, and comments. Values that may be keys are never shown.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.secrets.masking import mask_text
from gitmem.settings import SETTINGS, Alias, Setting


class EnvSettings(NamedTuple):
    """Values of settings by variable, the names of these settings, and place and reason of each line without one."""

    values: Mapping[str, str]
    names: Mapping[str, str]
    skipped: list[tuple[str, str]]


_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*", re.DOTALL)
_QUOTED: Final = re.compile(r"""(["'])(.*)\1\s*(?:#.*)?""")
_COMMENT: Final = re.compile(r"(?:^|\s+)#.*")
_SECRET: Final = re.compile("KEY|TOKEN|SECRET|PASSWORD")

_DEBUG: Final = Alias("RAG_DEBUG_LOG_ENABLED", words=(("true", "debug"), ("false", "off")))
"""Means a level in the file of that system alone: the environment of a process says `LOG_LEVEL`."""

_PROVIDER: Final = "nothing leaves this machine unless you choose so: git config --global gitmem.provider"
_REASONS: Final = {
    "DATABASE_URL": "gitmem needs no database",
    "OLLAMA_BASE_URL": f"{_PROVIDER} ollama, and the address: gitmem.providerUrl",
    "OPENAI_COMPATIBLE_BASE_URL": f"{_PROVIDER} openai-compatible, and the address: gitmem.providerUrl",
    "EMBEDDING_MODEL": "it belongs to a provider; with one, its name: git config --global gitmem.model",
    "OPENAI_API_KEY": "keys are not imported; gitmem reads it from the environment, or: git config --global "
                      "gitmem.openaiKey KEY",
    "OPENAI_COMPATIBLE_API_KEY": "keys are not imported; git config --global gitmem.providerKey KEY",
    "RAG_CHUNK_LANGUAGE": "gitmem recognises the language of each file",
    "RAG_MIN_SIMILARITY": "it is of the scale of another model; `gitmem query --min-score` sets one for a query",
    "RAG_DEBUG_LOG_PATH": "the log is in `.gitmem/logs`",
}  # fmt: skip
"""Reasons why variables are not imported, with the remedy. Values are not repeated: they may contain passwords."""


def read_env(lines: Iterable[str]) -> EnvSettings:
    """Return the settings of a file. Of several lines for a variable the last one counts; an empty one sets nothing."""
    known = {alias.variable: (setting, alias) for setting in SETTINGS for alias in setting.aliases}
    known[_DEBUG.variable] = next((setting, _DEBUG) for setting in SETTINGS if setting.name == "log")
    variables, skipped = _parse(lines)
    values, names = {}, {}
    for name, text in variables.items():
        reason = _find_reason(name, text, known.get(name))
        if reason:
            skipped.append((name, reason))
        elif text:
            setting, alias = known[name]
            values[name], names[name] = _convert(alias, text), setting.name
    return EnvSettings(values, names, skipped)


def _parse(lines: Iterable[str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the variables by name, and the lines that are neither a variable nor empty."""
    variables: dict[str, str] = {}
    skipped = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        text = _read_value(match[2]) if match else None
        if match is None or text is None:
            skipped.append((f"line {number}", "it is not `NAME=VALUE` on one line"))
        else:
            variables[match[1]] = text
    return variables, skipped


def _read_value(text: str) -> str | None:
    """Return a value without its quotation marks and the comment behind it, None if a mark is not closed."""
    if text[:1] in ("'", '"'):
        match = _QUOTED.fullmatch(text)
        return match[2] if match else None
    return _COMMENT.sub("", text).strip()


def _find_reason(name: str, text: str, found: tuple[Setting, Alias] | None) -> str:
    """Return the reason why a variable is not imported, "" if it is."""
    if name in _REASONS:
        return _REASONS[name]
    if _SECRET.search(name.upper()) and found is None:
        return "keys are not imported, and gitmem has no such setting"
    if found is None:
        return "gitmem has no such setting"
    # The table says which settings are keys; a value that looks like one may stand anywhere.
    if found[0].secret or mask_text(text) != text:
        return f"keys are not imported; git config --global {found[0].key} KEY"
    return "" if not text or _convert(found[1], text) else "gitmem has no such value"


def _convert(alias: Alias, text: str) -> str:
    """Return the value in our words and units, "" if it has no meaning here."""
    value = alias.read({alias.variable: text})
    return str(int(value) * alias.factor) if alias.factor > 1 and value.isdecimal() else value

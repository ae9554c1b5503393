"""Rules that narrow which files of a tree are indexed, and the committed file `.gitmem.toml` with those of a team.

The user's own rules are settings. Those of a team belong to the tree, so that a revision is searched by its own rules.
A committed file comes from strangers: it can leave files out, and nothing else.
"""

from collections.abc import Iterable
from typing import Any, Final

from gitmem.errors import ConfigError
from gitmem.named_tuple import NamedTuple

TEAM_FILE: Final = ".gitmem.toml"
"""Name of the file, which counts at the root of a tree only."""

MAX_TEAM_BYTES: Final = 1 << 20


class ContentRules(NamedTuple):
    """Patterns in the syntax of `.gitignore`, and languages. An empty `include` or `languages` leaves nothing out."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Text that differs for different rules, "" without any."""
        return repr(tuple(self)) if any(self) else ""


NO_RULES: Final = ContentRules()


def parse_team_file(data: bytes, name: str = TEAM_FILE) -> ContentRules:
    """Return the rules of a `.gitmem.toml`; `name` is its name in errors.

    Raises: ConfigError if it is not valid TOML, has unknown keys or other values than lists of texts.
    """
    import tomllib  # few repositories have the file

    try:
        table: dict[str, Any] = tomllib.loads(data.decode())
    except ValueError as problem:
        raise ConfigError(f"`{name}` is not valid TOML: {problem}", hint="correct the file, or remove it") from problem
    for key, value in table.items():
        if key not in ContentRules._fields:
            raise _unknown_key(key, name)
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise ConfigError(f"`{key}` in `{name}` is not a list of texts", hint=f'for example {key} = ["docs/"]')
    return ContentRules(*(_texts(table.get(field, ())) for field in ContentRules._fields))


def _texts(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(item.strip() for item in items)


def _unknown_key(key: str, name: str) -> ConfigError:
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong names only

    similar = find_similar_name(key, ContentRules._fields)
    advice = f"did you mean `{similar}`? " if similar else ""
    allowed = ", ".join(ContentRules._fields)
    return ConfigError(
        f"unknown key `{key}` in `{name}`",
        hint=f"{advice}the file may only narrow what is indexed: {allowed}; other settings: git config gitmem.NAME",
    )

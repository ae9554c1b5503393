"""Settings: defaults, precedence of their origins, and clear errors for anything else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import ConfigError
from gitmem.settings import SETTINGS, Setting, Settings, parse_settings, resolve_settings

NUMBERS = [setting for setting in SETTINGS if isinstance(setting.default, int)]


def field_of(setting: Setting) -> str:
    return setting.variable.removeprefix("GITMEM_").lower()


def test_without_entries_the_documented_defaults_apply() -> None:
    settings = parse_settings([], {})
    assert settings == Settings()
    assert {setting.name: getattr(settings, field_of(setting)) for setting in SETTINGS} == {
        setting.name: setting.default for setting in SETTINGS
    }
    assert all(setting.meaning.endswith(".") for setting in SETTINGS)


@given(data=st.data())
def test_the_environment_wins_over_git_and_the_last_entry_over_the_first(data: st.DataObject) -> None:
    """Property 22: Defaults."""
    entries: list[tuple[str, str | None, str]] = []
    environment = {}
    expected: dict[str, Any] = {}
    for setting in NUMBERS:
        values = data.draw(
            st.lists(st.integers(setting.minimum, min(setting.maximum, 10**12 - 1)), min_size=3, max_size=3)
        )
        entry_count = data.draw(st.integers(0, 3))
        if entry_count >= 1:
            entries.append((f"gitmem.{setting.name.lower()}", str(values[0]), "global"))
            expected[field_of(setting)] = values[0]
        if entry_count >= 2:
            scope = "global" if setting.personal else "local"
            entries.append((f"gitmem.{setting.name}", str(values[1]), scope))
            expected[field_of(setting)] = values[1]
        if entry_count >= 3:
            environment[setting.variable] = str(values[2])
            expected[field_of(setting)] = values[2]
    assert parse_settings(entries, environment) == Settings()._replace(**expected)


SCOPES = ("system", "global", "local", "worktree")


def values_of(setting: Setting, factor: int = 1) -> st.SearchStrategy[Any]:
    """Return valid values; numbers are those that are valid once they are multiplied by `factor`."""
    if setting.choices:
        return st.sampled_from(setting.choices)
    if isinstance(setting.default, tuple):
        return st.lists(st.from_regex(r"[a-z*/]{1,6}", fullmatch=True), min_size=1, max_size=3).map(tuple)
    if isinstance(setting.default, str):
        return st.from_regex(r"[a-z:/]{1,6}", fullmatch=True)
    return st.integers(-(-setting.minimum // factor), min(setting.maximum, 10**12 - 1) // factor)


def text_of(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


@given(data=st.data())
def test_each_setting_has_the_value_of_its_highest_origin_which_is_named(data: st.DataObject) -> None:
    """Property 21: Configuration loading."""
    entries: list[tuple[str, str | None, str]] = []
    environment: dict[str, str] = {}
    expected: list[tuple[Any, str]] = []
    for setting in SETTINGS:
        value: Any = setting.default
        origin = "default"
        for alias in setting.aliases[::-1]:
            if data.draw(st.booleans()):
                drawn = data.draw(values_of(setting, alias.factor))
                environment[alias.variable] = text_of(drawn)
                value = drawn * alias.factor if isinstance(drawn, int) else drawn
                origin = alias.variable
        allowed = SCOPES[:2] if setting.personal else SCOPES
        configured = False
        for scope in data.draw(st.sets(st.sampled_from(allowed)).map(lambda drawn: sorted(drawn, key=SCOPES.index))):
            new = data.draw(values_of(setting))
            entries.append((setting.key, text_of(new), scope))
            # Entries of a list add up, those of other settings replace one another.
            value = value + new if configured and isinstance(new, tuple) else new
            configured, origin = True, scope
        if data.draw(st.booleans()):
            value, origin = data.draw(values_of(setting)), setting.variable
            environment[setting.variable] = text_of(value)
        expected.append((value, origin))
    entries.sort(key=lambda entry: SCOPES.index(entry[2]))  # as git applies them
    assert [(each.value, each.origin) for each in resolve_settings(entries, environment)] == expected


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("wrong", ["-1", "x", "", "1.5", "0x10", "1e3", "9" * 13, "1 2", "1kk", "²"])
def test_an_invalid_number_is_refused_with_key_range_and_origin(setting: Setting, wrong: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_settings([("gitmem." + setting.name, wrong, "global")], {})
    message = refusal.value.message
    assert f"gitmem.{setting.name}" in message
    assert f"from {setting.minimum} to {setting.maximum}" in message
    assert "global" in message
    with pytest.raises(ConfigError, match=setting.variable):
        parse_settings([], {setting.variable: wrong})


@pytest.mark.parametrize(
    ("entries", "environment", "remedy"),
    [
        ([("gitmem.jobs", "x", "local")], {}, "git config gitmem.jobs 0"),
        ([("gitmem.log", "x", "global")], {}, "git config --global gitmem.log off"),
        ([("gitmem.jobs", "x", "system")], {}, "git config --system gitmem.jobs 0"),
        ([("gitmem.jobs", "2", "local")], {"GITMEM_JOBS": "x"}, "unset GITMEM_JOBS"),
        ([], {"RAG_MAX_RESULTS": "300"}, "unset RAG_MAX_RESULTS"),
    ],
)
def test_the_remedy_changes_the_place_that_has_the_wrong_value(
    entries: list[tuple[str, str | None, str]], environment: dict[str, str], remedy: str
) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_settings(entries, environment)
    assert refusal.value.hint == remedy


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda setting: setting.name)
def test_ranges_include_both_ends(setting: Setting) -> None:
    for value in (setting.minimum, setting.maximum):
        assert getattr(parse_settings([], {setting.variable: str(value)}), field_of(setting)) == value
    for value in (setting.minimum - 1, setting.maximum + 1):
        with pytest.raises(ConfigError):
            parse_settings([], {setting.variable: str(value)})


def test_numbers_accept_the_suffixes_of_git() -> None:
    assert parse_settings([("gitmem.maxfilebytes", "2m", "local")], {}).max_file_bytes == 2 << 20
    assert parse_settings([("gitmem.maxFileBytes", "64K", "local")], {}).max_file_bytes == 64 << 10
    assert parse_settings([("gitmem.maxFileBytes", "1g", "local")], {}).max_file_bytes == 1 << 30


def test_a_choice_must_be_one_of_its_words() -> None:
    assert parse_settings([("gitmem.fusion", "rrf", "local")], {}).fusion == "rrf"
    with pytest.raises(ConfigError, match="zscore, rrf"):
        parse_settings([("gitmem.fusion", "RRF", "local")], {})
    with pytest.raises(ConfigError):
        parse_settings([("gitmem.fusion", None, "local")], {})


@pytest.mark.parametrize(
    ("key", "advice"), [("gitmem.serchMaxLimit", "searchMaxLimit"), ("gitmem.zzz", "unset"), ("gitmem.", "unset")]
)
def test_an_unknown_key_is_refused_with_a_suggestion(key: str, advice: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_settings([(key, "1", "global")], {})
    assert advice in refusal.value.hint
    assert "--global --unset" in refusal.value.hint


def test_other_environment_variables_are_ignored() -> None:
    assert parse_settings([], {"GITMEM_HOME": "x", "HEAL_FILES": "7", "gitmem_jobs": "7"}) == Settings()


def test_entries_of_a_list_add_up_and_an_empty_one_begins_anew() -> None:
    entries = [("gitmem.exclude", "a, b", "global"), ("gitmem.exclude", "c", "local")]
    assert parse_settings(entries, {}).exclude == ("a", "b", "c")
    assert parse_settings([*entries, ("gitmem.exclude", "", "local")], {}).exclude == ()
    assert parse_settings(entries, {"GITMEM_EXCLUDE": "d"}).exclude == ("d",)
    assert parse_settings([], {"RAG_EXCLUDE_PATTERNS": "**/d/**,e"}).exclude == ("**/d/**", "e")


def test_a_variable_of_another_program_is_checked_only_if_it_counts() -> None:
    environment = {"CHUNK_MAX_TOKENS": "9999"}
    with pytest.raises(ConfigError, match="from 64 to 4096"):
        parse_settings([], environment)
    assert parse_settings([("gitmem.chunkMaxBytes", "800", "local")], environment).chunk_max_bytes == 800


PERSONAL = [setting for setting in SETTINGS if setting.personal]


@pytest.mark.parametrize("setting", PERSONAL, ids=lambda setting: setting.name)
@pytest.mark.parametrize("scope", ["local", "worktree"])
def test_a_repository_cannot_choose_the_provider_of_its_user(setting: Setting, scope: str) -> None:
    value = setting.choices[-1] if setting.choices else "1"
    with pytest.raises(ConfigError, match=f"`{setting.key}` cannot be set in a repository"):
        parse_settings([(setting.key, value, scope)], {})
    for scope_of_user in ("system", "global"):
        configured = parse_settings([(setting.key, value, scope_of_user)], {})
        assert text_of(getattr(configured, field_of(setting))) == value


def test_the_key_of_another_program_selects_no_provider() -> None:
    settings = parse_settings([], {"OPENAI_API_KEY": "sk-1"})
    assert (settings.provider, settings.openai_key, settings.provider_key) == ("bundled", "sk-1", "")

"""Entries in YAML: everything else stays byte for byte. PyYAML, which gitmem does not use, reads the results."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.install.yaml_edit import add_block, find_block, remove_block

GOOSE = ("extensions", "gitmem")
GOOSE_ENTRY = {"name": "gitmem", "enabled": True, "cmd": "/opt/it's/gitmem", "args": ["mcp"], "timeout": 300}
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab: #'-\n", max_size=8)
YAML = st.dictionaries(
    st.text("abc: #'-", min_size=1, max_size=5),
    SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from("xyz"), SCALARS, max_size=2),
    max_size=3,
)


# On a busy machine an example may take any time.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(YAML, YAML, st.booleans())
def test_any_yaml_in_block_style_is_restored(
    others: dict[str, object], extensions: dict[str, object], is_last: bool
) -> None:
    extensions = {key: {"value": value} for key, value in extensions.items()}
    document = {**others, "extensions": extensions} if is_last else {"extensions": extensions, **others}
    text = (
        yaml.safe_dump(document if extensions else others, sort_keys=False, default_flow_style=False)
        if document
        else ""
    )
    text = "" if text == "{}\n" else text
    added = add_block(text, GOOSE, GOOSE_ENTRY)
    assert yaml.safe_load(added) == {**others, "extensions": {**extensions, "gitmem": GOOSE_ENTRY}}
    assert find_block(added, GOOSE, GOOSE_ENTRY) == GOOSE_ENTRY
    assert remove_block(added, GOOSE, GOOSE_ENTRY) == text


def test_an_entry_that_the_client_wrote_again_is_recognised() -> None:
    entry = {**GOOSE_ENTRY, "description": "", "bundled": None, "envs": {}, "env_keys": []}
    written = yaml.safe_dump({"a": 1, "extensions": {"developer": {"enabled": True}, "gitmem": entry}, "z": 2})
    assert find_block(written, GOOSE, GOOSE_ENTRY) == GOOSE_ENTRY
    rest = remove_block(written, GOOSE, GOOSE_ENTRY)
    assert yaml.safe_load(rest) == {"a": 1, "extensions": {"developer": {"enabled": True}}, "z": 2}


@pytest.mark.parametrize("text", ["extensions: {a: {}}\n", "extensions: 1\n", "extensions:\n- a\n", "--- 1\n", "{}\n"])
def test_yaml_in_other_forms_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="block"):
        add_block(text, GOOSE, GOOSE_ENTRY)

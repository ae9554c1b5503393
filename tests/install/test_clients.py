"""Entries in clients' files: everything else stays byte for byte, and a removal restores the file exactly."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import ExitCode, UsageError
from gitmem.install.clients import CLIENTS, GUIDE
from gitmem.install.json_edit import add_member, find_value, parse_text, remove_member
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error, make_sample

WHERE = ("mcpServers", "gitmem")
ENTRY = {"command": "gitmem", "args": ["mcp"]}
LATER = '\n  // ours\n  "mcpServers": {\n\t"a": {"x": [1, 2, {}]}, /* b */\n  },\n}\n'

TEXTS = {
    "members on lines": '{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }\n  },\n  "z": [1,  2]\n}\n',
    "one line": '{"mcpServers": {"a": {"command": "x"}}, "z": 1}',
    "tabs and CRLF": '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
    "nothing of ours": '{\n    "z": 1\n}',
    "comments and trailing commas": "{" + LATER,
    "key order": '{\n  "z": 1,\n  "mcpServers": {\n    "z": {},\n    "a": {}\n  },\n  "b": 2\n}\n',
    "odd spaces": '\ufeff {  "mcpServers" :\n { "a"  : null   }\n , "q":"\\u00e9\\n" } ',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_adding_and_removing_a_member_restores_the_text(text: str) -> None:
    added = add_member(text, WHERE, ENTRY)
    assert find_value(added, WHERE) == ENTRY
    before, after = parse_text(text).value, parse_text(added).value
    assert {**after, "mcpServers": {**after["mcpServers"]}} | {} == after
    after["mcpServers"].pop("gitmem")
    assert list(after["mcpServers"]) == list(before.get("mcpServers", {}))
    if "mcpServers" not in before:
        after.pop("mcpServers")
    assert after == before
    assert list(after) == list(before)
    assert remove_member(added, WHERE) == text


def test_an_entry_is_formatted_like_its_neighbours() -> None:
    assert add_member(TEXTS["members on lines"], WHERE, ENTRY) == (
        '{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    },\n    "gitmem": {\n      "command": "gitmem",\n'
        '      "args": ["mcp"]\n    }\n  },\n  "z": [1,  2]\n}\n'
    )
    assert '\r\n\t\t"gitmem": {\r\n\t\t\t"command"' in add_member(TEXTS["tabs and CRLF"], WHERE, ENTRY)
    assert '{"a": {"command": "x"}, "gitmem": {"command": "gitmem"' in add_member(TEXTS["one line"], WHERE, ENTRY)


@pytest.mark.parametrize("text", ["{}", "{ }\n", '{"mcpServers": {}}', '{\n  "mcpServers": {\n  }\n}\n'])
def test_empty_objects_are_filled(text: str) -> None:
    assert find_value(add_member(text, WHERE, ENTRY), WHERE) == ENTRY


def test_objects_that_only_contained_the_entry_are_removed() -> None:
    assert remove_member(add_member("{}", WHERE, ENTRY), WHERE) == ""
    assert remove_member('{"mcpServers": {"gitmem": 1}, "a": 2}', WHERE) == '{"a": 2}'
    assert remove_member('{"mcpServers": {"gitmem": 1, "b": 3}, "a": 2}', WHERE) == '{"mcpServers": {"b": 3}, "a": 2}'


INVALID_JSON = ["", "{", "[}", '{"a" 1}', '{"a": }', "{} x", '{"a": 01}', "nope", "[" * 300, '{"a": "\n"}']


@pytest.mark.parametrize("text", INVALID_JSON)
def test_invalid_json_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not valid JSON"):
        parse_text(text)


@pytest.mark.parametrize("text", ["[]", '"x"', '{"mcpServers": []}'])
def test_a_value_that_is_not_an_object_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected a JSON object"):
        add_member(text, WHERE, ENTRY)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=3), VALUES, max_size=4),
    st.dictionaries(st.text(max_size=3), VALUES, min_size=1, max_size=3),
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
)
def test_any_json_is_restored(others: dict[str, object], servers: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps({**others, "mcpServers": servers}, indent=indent)
    added = add_member(text, WHERE, ENTRY)
    assert json.loads(added) == {**others, "mcpServers": {**servers, "gitmem": ENTRY}}
    assert remove_member(added, WHERE) == text


@pytest.mark.parametrize("name", CLIENTS)
def test_each_client_is_registered_and_removed(cli: Cli, tmp_path: Path, name: str) -> None:
    repo = make_sample(tmp_path / "repo")
    client = CLIENTS[name]
    printed = cli("install", name, "--print", cwd=repo.path).out
    assert repo.git("status", "--porcelain") == ""
    result = cli("install", name, cwd=repo.path)
    assert result.out == f"{client.title}: {client.file}\n"
    written = (repo.path / client.file).read_text()
    assert printed == f"# {client.file}\n{written}"
    assert "/" not in written.replace("workspaceFolder", "")
    value = tomllib.loads(written) if client.file.endswith(".toml") else json.loads(written)
    assert "gitmem" in str(value)
    assert cli("install", name, cwd=repo.path).out == f"{client.title}: already registered\n"
    assert f"the entry in {client.file}" in cli("uninstall", "--yes", cwd=repo.path).out
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""
    folder = (repo.path / client.file).parent
    assert folder.exists() == (folder == repo.path)


@pytest.mark.parametrize(("name", "file"), [("claude", "CLAUDE.md"), ("codex", "AGENTS.md")])
@pytest.mark.parametrize("content", [None, "# Mine\n", "# Mine, open at the end", ""])
def test_a_block_of_instructions_is_added_on_request(
    cli: Cli, tmp_path: Path, name: str, file: str, content: str | None
) -> None:
    repo = make_sample(tmp_path / "repo")
    place = repo.path / file
    if content is not None:
        place.write_text(content)
    assert file in cli("install", name, "--guide", cwd=repo.path).out
    assert place.read_text().startswith(content or "")
    assert GUIDE.find(place.read_text()) == GUIDE.ours
    cli("uninstall", "--yes", cwd=repo.path)
    assert (place.read_text() if place.exists() else None) == content


def test_from_a_file_changed_since_only_the_entry_is_removed(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    file = repo.path / ".mcp.json"
    file.write_text('{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    cli("install", "claude", "codex", "--guide", cwd=repo.path)
    file.write_text(file.read_text().replace('"a": {}', '"a": {"new": 1}'))
    guide = repo.path / "CLAUDE.md"
    guide.write_text("# Above\n\n" + guide.read_text() + "# Below\n")
    toml = repo.path / ".codex" / "config.toml"
    toml.write_text('model = "x"\n' + toml.read_text())
    cli("uninstall", "--yes", cwd=repo.path)
    assert file.read_text() == '{\n  "mcpServers": {\n    "a": {"new": 1}\n  }\n}\n'
    assert guide.read_text() == "# Above\n# Below\n"
    assert toml.read_text() == 'model = "x"\n'


def test_an_existing_entry_is_neither_changed_nor_removed(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    ours = json.dumps({"mcpServers": {"gitmem": ENTRY}})
    other = json.dumps({"mcpServers": {"gitmem": {"command": "/opt/gitmem"}}})
    for content, told in ((ours, "already registered"), (other, "another entry of this name, which was kept")):
        (repo.path / ".mcp.json").write_text(content)
        assert told in cli("install", "claude", cwd=repo.path).out
        cli("uninstall", "--yes", cwd=repo.path)
        assert (repo.path / ".mcp.json").read_text() == content


def test_an_entry_changed_by_hand_stays(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    cli("install", "claude", "codex", cwd=repo.path)
    for file in (".mcp.json", ".codex/config.toml"):
        place = repo.path / file
        place.write_text(place.read_text().replace('mcp"]', 'mcp", "--toolsets", "search"]'))
    cli("uninstall", "--yes", cwd=repo.path)
    assert "--toolsets" in (repo.path / ".mcp.json").read_text()
    assert "--toolsets" in (repo.path / ".codex" / "config.toml").read_text()


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[]"])
def test_a_malformed_file_is_not_changed(cli: Cli, tmp_path: Path, content: bytes) -> None:
    repo = make_sample(tmp_path / "repo")
    file = repo.path / ".mcp.json"
    file.write_bytes(content)
    assert_error(cli("install", "claude", cwd=repo.path), ExitCode.USAGE, "was not changed")
    result = cli("init", "--no-hooks", cwd=repo.path)
    assert result.code == 0
    assert "Claude Code: `" in result.out
    assert file.read_bytes() == content


def test_a_symbolic_link_is_not_changed(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    target = tmp_path / "shared.json"
    target.write_text("{}")
    (repo.path / ".mcp.json").symlink_to(target)
    assert_error(cli("install", "claude", cwd=repo.path), ExitCode.USAGE, "symbolic link")
    assert target.read_text() == "{}"


def test_a_linked_worktree_has_its_own_entries(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    side = tmp_path / "side"
    repo.git("worktree", "add", "-q", "--detach", str(side))
    cli("install", "claude", cwd=side)
    assert (side / ".mcp.json").exists()
    assert not (repo.path / ".mcp.json").exists()
    cli("uninstall", "--yes", cwd=repo.path)
    assert not (side / ".mcp.json").exists()


def test_init_registers_with_claude_code_except_with_no_mcp(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    assert "Claude Code" not in cli("init", "--no-mcp", "--no-hooks", cwd=repo.path).out
    assert not (repo.path / ".mcp.json").exists()
    assert "  Claude Code: .mcp.json" in cli("init", "--no-hooks", cwd=repo.path).out
    assert json.loads((repo.path / ".mcp.json").read_text()) == {"mcpServers": {"gitmem": ENTRY}}


def test_a_local_command_is_offered_if_gitmem_is_not_on_the_path(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo.init(tmp_path / "repo")
    git = Path("/usr/bin/git")
    program = tmp_path / "bin"
    program.mkdir()
    (program / "git").symlink_to(git if git.exists() else Path("/bin/git"))
    monkeypatch.setenv("PATH", str(program))
    assert "claude mcp add --scope local gitmem -- " in cli("install", "claude", cwd=repo.path).err
    (program / "gitmem").write_text("#!/bin/sh\n")
    (program / "gitmem").chmod(0o755)
    assert cli("install", "claude", cwd=repo.path).err == ""


CODEX = CLIENTS["codex"].edit


@pytest.mark.parametrize(
    "text",
    ['mcp_servers = { a = { command = "x" } }\n', "mcp_servers = {}\n", "mcp_servers = 1\n", "[[mcp_servers]]\n"],
)
def test_toml_that_allows_no_further_table_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a table that can be extended"):
        CODEX.add(text)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_quoted_entry_in_toml_is_not_removed(line_end: str) -> None:
    quoted = f'note = """{line_end}' + CODEX.add("").replace("\n", line_end).replace('"', "'") + f'"""{line_end}'
    assert CODEX.remove(CODEX.add(quoted)) == quoted
    literal = "note = '''\n" + CODEX.add("") + "'''\n"
    assert CODEX.remove(CODEX.add(literal)) == literal
    with pytest.raises(UsageError, match="changed by hand"):
        CODEX.remove(literal + '\n[mcp_servers]\ngitmem = { command = "gitmem", args = ["mcp"] }\n')

"""Entries in clients' files: everything else stays byte for byte, and a removal restores the file exactly."""

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import ExitCode, UsageError
from gitmem.install.clients import CLIENTS, GLOBAL, GUIDE_EDIT, LOCAL, PROJECT, SCOPES, entry_edit, read_command
from gitmem.install.connection import find_program
from gitmem.install.json_edit import add_member, find_value, parse_text, remove_member
from tests.install.programs import use_path
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


# On a busy machine an example may take any time.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


IN_PROJECT = [name for name, client in CLIENTS.items() if PROJECT in client.places]
OWN = [(name, scope) for name, client in CLIENTS.items() for scope in (LOCAL, GLOBAL) if scope in client.places]


def files_below(folder: Path) -> set[str]:
    """Return the paths of all files and folders except those of the registry and the records."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if ".local" not in path.parts}


@pytest.mark.parametrize("name", IN_PROJECT)
def test_each_client_is_registered_in_a_project_and_removed(cli: Cli, tmp_path: Path, name: str) -> None:
    repo = make_sample(tmp_path / "repo")
    client = CLIENTS[name]
    file = client.places[PROJECT].files[0]
    printed = cli("install", name, "--print", cwd=repo.path).out
    assert repo.git("status", "--porcelain") == ""
    result = cli("install", name, cwd=repo.path)
    assert result.out.splitlines()[0] == f"{client.title}: {file}"
    assert client.next_step in result.out
    written = (repo.path / file).read_text()
    assert printed == f"# {file}\n{written}"
    assert "/" not in written.replace("workspaceFolder", "")
    value = tomllib.loads(written) if file.endswith(".toml") else json.loads(written)
    assert "gitmem" in str(value)
    assert cli("install", name, cwd=repo.path).out == f"{client.title}: already registered\n"
    assert f"{name:<15} project  {file}  gitmem " in cli("install", "--list", cwd=repo.path).out
    assert f"the entry in {file}" in cli("uninstall", "--yes", cwd=repo.path).out
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""
    folder = (repo.path / file).parent
    assert folder.exists() == (folder == repo.path)


@pytest.mark.parametrize(("name", "scope"), OWN)
def test_each_client_is_registered_in_the_users_file_and_removed(
    cli: Cli, tmp_path: Path, home: Path, name: str, scope: str
) -> None:
    repo = make_sample(tmp_path / "repo")
    before = files_below(home)
    # `-q` leaves out the trial start of the server.
    assert cli("-q", "install", name, f"--{scope}", cwd=repo.path).code == 0
    path = cli("install", "--list", cwd=repo.path).out.split()[2]
    file = home / path.removeprefix("~/")
    assert str(find_program(os.environ)[0]) in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    listed = cli("install", "--list", cwd=repo.path).out
    assert f"{name:<15} {scope:<8} {path}  {find_program(os.environ)[0]}" in listed
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""
    kept = cli("uninstall", name, *(["--global"] if scope == LOCAL else []), cwd=repo.path)
    assert kept.out == "gitmem has added no such entry; nothing was changed\n"
    removed = cli("uninstall", name, *(["--global"] if scope == GLOBAL else []), cwd=repo.path)
    assert removed.out.startswith("removed the entry in ~/")
    assert files_below(home) == before


def test_only_the_named_clients_entries_are_removed(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    cli("install", "claude", "gemini", "codex", cwd=repo.path)
    assert cli("uninstall", "gemini", cwd=repo.path).out == "removed the entry in .gemini/settings.json\n"
    left = cli("install", "--list", cwd=repo.path).out.split("\n")
    assert [line.split()[0] for line in left if line] == ["claude", "codex"]


def test_an_unknown_client_gets_a_suggestion_and_the_list(cli: Cli, tmp_path: Path) -> None:
    result = cli("install", "gemni", cwd=tmp_path)
    assert_error(result, ExitCode.USAGE, "no such client: `gemni`, did you mean `gemini`?")
    assert all(name in result.err for name in CLIENTS)
    assert all(name in cli("install", "--help").out for name in CLIENTS)


def test_a_client_without_a_file_of_the_scope_is_refused_with_the_command(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    assert "hint: gitmem install windsurf --global" in cli("install", "windsurf", cwd=repo.path).err
    assert "hint: gitmem install codex" in cli("install", "codex", "--local", cwd=repo.path).err
    assert_error(cli("install", "codex", cwd=tmp_path), ExitCode.USAGE, "not in a repository")
    assert_error(cli("install", cwd=tmp_path), ExitCode.USAGE, "no client given")


def test_all_means_the_installed_clients(cli: Cli, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_sample(tmp_path / "repo")
    use_path(tmp_path, monkeypatch)
    (home / ".gemini").mkdir()
    (home / ".codeium" / "windsurf").mkdir(parents=True)
    result = cli("install", "--all", cwd=repo.path)
    assert [line for line in result.out.splitlines() if line[0] != " "] == ["Gemini CLI: .gemini/settings.json"]
    assert "Windsurf was left out" in result.err
    cli("-q", "install", "--all", "--global", cwd=tmp_path)
    assert [line.split()[0] for line in cli("install", "--list", cwd=tmp_path).out.splitlines()] == [
        "gemini",
        "windsurf",
    ]


def test_a_command_of_the_users_choice_never_puts_a_path_into_a_shared_file(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    cli("install", "claude", "--command", "uvx gitmem-cli", cwd=repo.path)
    entry = json.loads((repo.path / ".mcp.json").read_text())["mcpServers"]["gitmem"]
    assert entry == {"command": "uvx", "args": ["gitmem-cli", "mcp"]}
    refused = cli("install", "codex", "--command", "/opt/my gitmem", cwd=repo.path)
    assert_error(refused, ExitCode.USAGE, "shared, so it cannot name the path `/opt/my`")
    assert not (repo.path / ".codex").exists()


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", CLIENTS)
def test_the_command_of_an_entry_is_read_back(name: str, scope: str) -> None:
    client = CLIENTS[name]
    if scope in client.places:
        edit = entry_edit(client, scope, "/repo", ["/opt/x y/gitmem", "-P"])
        command = read_command(client, edit.find(edit.add("")))
        assert command is not None
        assert (command[:2], command[-1]) == (["/opt/x y/gitmem", "-P"], "mcp")
        assert read_command(client, {"url": "https://example.org"}) is None


def test_the_first_existing_file_of_a_client_is_used(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    file = repo.path / "opencode.jsonc"
    file.write_text('{\n  // mine\n  "model": "x",\n}\n')
    assert "opencode: opencode.jsonc\n" in cli("install", "opencode", cwd=repo.path).out
    assert file.read_text().startswith('{\n  // mine\n  "model": "x",\n  "mcp": {\n')
    cli("uninstall", "opencode", cwd=repo.path)
    assert file.read_text() == '{\n  // mine\n  "model": "x",\n}\n'


def test_a_users_link_is_followed_and_a_projects_link_is_not(cli: Cli, tmp_path: Path, home: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    (tmp_path / "dotfiles").mkdir()
    (home / ".gemini").symlink_to(tmp_path / "dotfiles")
    (repo.path / ".gemini").symlink_to(tmp_path / "dotfiles")
    cli("-q", "install", "gemini", "--global", cwd=repo.path)
    assert (home / ".gemini").is_symlink()
    assert "gitmem" in (tmp_path / "dotfiles" / "settings.json").read_text()
    assert_error(cli("install", "gemini", cwd=repo.path), ExitCode.USAGE, "symbolic link")


def test_content_of_a_users_file_is_not_copied_into_the_record(cli: Cli, tmp_path: Path, home: Path) -> None:
    file = home / ".claude.json"
    file.write_text('{\n  "token": "secret",\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    before = file.read_bytes()
    cli("-q", "install", "claude", "--global", cwd=tmp_path)
    record = home / ".local" / "share" / "gitmem" / "clients.json"
    assert json.loads(record.read_text())[0]["before"] is None
    file.write_text(file.read_text().replace("secret", "other"))
    cli("uninstall", "claude", "--global", cwd=tmp_path)
    assert file.read_bytes() == before.replace(b"secret", b"other")
    assert not record.exists()


def test_an_older_record_is_still_read(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    cli("install", "claude", "codex", "--guide", cwd=repo.path)
    record = repo.path / ".git" / "gitmem-clients"
    names = ("file", "before", "after")
    old = [{**{name: value[name] for name in names}, "folder_made": bool(value["new_folders"])}
           for value in json.loads(record.read_text())]  # fmt: skip
    record.write_text(json.dumps(old))
    cli("uninstall", "--yes", cwd=repo.path)
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""


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
    assert GUIDE_EDIT.find(place.read_text()) == GUIDE_EDIT.ours
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


CODEX = entry_edit(CLIENTS["codex"], PROJECT, "")


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

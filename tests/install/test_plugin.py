"""Files of the plugin for Claude Code follow its documentation."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from gitmem.install.clients import CLIENTS, PROJECT, entry_edit
from tests.gitrepo import Repo

ROOT = Path(__file__).parents[2]
FOLDER = ".claude-plugin/gitmem"
PLUGIN = ROOT / FOLDER
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MANIFEST = {
    "name", "version", "description", "author", "homepage", "repository", "license", "keywords", "commands", "agents",
    "skills", "hooks", "mcpServers", "lspServers", "outputStyles",
}  # fmt: skip
ENTRY = {*MANIFEST, "source", "category", "tags", "strict"}


def load(name: str) -> dict[str, object]:
    value = json.loads((ROOT / name).read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def test_the_manifest_has_the_required_keys_and_no_unknown_ones() -> None:
    manifest = load(f"{FOLDER}/.claude-plugin/plugin.json")
    assert manifest.keys() <= MANIFEST
    assert KEBAB.fullmatch(str(manifest["name"]))
    assert manifest["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert isinstance(manifest["author"], dict)
    assert manifest["author"]["name"]


def test_the_marketplace_names_the_plugin() -> None:
    market = load(".claude-plugin/marketplace.json")
    assert market.keys() <= {"name", "owner", "plugins", "metadata", "$schema", "version", "description"}
    assert KEBAB.fullmatch(str(market["name"]))
    assert isinstance(market["owner"], dict)
    assert market["owner"]["name"]
    assert isinstance(market["plugins"], list)
    (entry,) = market["plugins"]
    assert entry.keys() <= ENTRY
    assert entry["name"] == load(f"{FOLDER}/.claude-plugin/plugin.json")["name"]
    assert entry["source"].startswith("./")
    assert (ROOT / entry["source"]).resolve() == PLUGIN


def test_the_plugin_starts_the_server_like_a_project_entry() -> None:
    assert json.dumps(load(f"{FOLDER}/.mcp.json")) == json.dumps(
        json.loads(entry_edit(CLIENTS["claude"], PROJECT, "").add(""))
    )


def test_the_skill_has_a_name_and_a_description() -> None:
    text = (PLUGIN / "skills" / "search" / "SKILL.md").read_text(encoding="utf-8")
    head = re.match(r"---\nname: (?P<name>[^\n]+)\ndescription: (?P<about>[^\n]+)\n---\n", text)
    assert head is not None
    assert head["name"] == "search"
    assert len(head["about"]) <= 1024
    assert ": " not in head["about"]


def session_start(folder: Path, path: str) -> str:
    """Return the text that a session gets at its start."""
    hooks = load(f"{FOLDER}/hooks/hooks.json")["hooks"]
    assert isinstance(hooks, dict)
    (group,) = hooks["SessionStart"]
    (hook,) = group["hooks"]
    assert hook["type"] == "command"
    done = subprocess.run(
        ["/bin/sh", "-c", hook["command"]], cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_session_starts_with_the_state_of_the_index(indexed: Repo, tmp_path: Path) -> None:
    import sys

    program = tmp_path / "gitmem"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m gitmem "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    assert session_start(indexed.path, path) == f"gitmem: Up to Date: main {indexed.oid('HEAD')[:7]}\n"
    assert session_start(tmp_path, path) == ""


def test_without_gitmem_a_session_gets_no_text(tmp_path: Path) -> None:
    if Path("/usr/bin/gitmem").exists():
        pytest.skip("gitmem is installed for all")
    assert session_start(tmp_path, "/usr/bin:/bin") == ""

"""The documentation stays short, its links resolve, and the modules and commands it names exist."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from gitmem.cli.command_help import make_context
from gitmem.cli.root import ALIASES, COMMANDS, root
from gitmem.distribution import DISTRIBUTION
from gitmem.install.clients import CLIENTS, GLOBAL, PROJECT

ROOT: Final = Path(__file__).resolve().parent.parent
ARCHITECTURE: Final = ROOT / "gitmem" / "ARCHITECTURE.md"
PAGES: Final = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "gitmem/*.md", "tests/**/*.md", "models/*.md", ".claude-plugin/**/*.md")
    for path in ROOT.glob(pattern)
)
README_LINES: Final = 300
ARCHITECTURE_WORDS: Final = 2500

_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_FENCE: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_PATH: Final = re.compile(r"`((?:gitmem|tests|models|docs|hooks)/[\w./*-]+)`")
_MODULE: Final = re.compile(r"`((?:[a-z_]+/)+[\w*-]+\.(?:py|json|md))`|`([a-z_]+\.py)`")
_COMMAND: Final = re.compile(r"\bgitmem ((?:[a-z]+(?:-[a-z]+)* ?)+)")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(params=PAGES, ids=name_of)
def page(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


def test_the_readme_begins_with_the_installation() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert _FENCE.findall(text)[0] == f"```sh\npip install {DISTRIBUTION}\n```"


def test_the_architecture_is_short() -> None:
    assert len(ARCHITECTURE.read_text(encoding="utf-8").split()) <= ARCHITECTURE_WORDS


def test_the_architecture_shows_every_package_and_module_of_the_layers() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    diagram = next(block for block in _FENCE.findall(text) if "│ cli" in block)
    layers = {
        path.stem for path in (ROOT / "gitmem").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert layers - {"__init__", "__main__"} <= set(re.findall(r"\w+", diagram))


def test_relative_links_resolve(page: Path) -> None:
    for target in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        file, _, anchor = target.partition("#")
        if "://" in target:
            continue
        linked = (page.parent / file) if file else page
        assert linked.exists(), target
        if anchor:
            assert anchor in set(anchors(linked)), target


def anchors(path: Path) -> Iterator[str]:
    """Yield the anchors of a page's headings as GitHub makes them."""
    for heading in re.findall(r"^#+ (.+)$", _FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE):
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_paths_in_the_text_exist(page: Path) -> None:
    for path in _PATH.findall(page.read_text(encoding="utf-8")):
        if "NAME" in path:  # a place-holder
            continue
        assert list(ROOT.glob(path.rstrip("/"))), path


def test_modules_in_the_architecture_exist() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    modules = [one or other for one, other in _MODULE.findall(text)]
    assert len(modules) > 30
    for module in modules:
        assert (ROOT / "gitmem" / module).exists() or (ROOT / module).exists(), module


def test_modules_in_the_diagrams_of_the_architecture_exist() -> None:
    modules = re.findall(r"[a-z_]+(?:/[a-z_]+)+", "".join(_FENCE.findall(ARCHITECTURE.read_text(encoding="utf-8"))))
    modules = [module for module in modules if (ROOT / "gitmem" / module.partition("/")[0]).is_dir()]
    assert len(modules) > 10
    for module in modules:
        assert (ROOT / "gitmem" / f"{module}.py").exists(), module


def test_commands_in_the_text_exist(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        pytest.skip("it names former commands")
    text = page.read_text(encoding="utf-8")
    for block in [*_FENCE.findall(text), *re.findall(r"`[^`\n]+`", _FENCE.sub("", text))]:
        for words in _COMMAND.findall(block):
            first, *rest = words.split()
            assert first in {*COMMANDS, *ALIASES, "hook"}, words
            command = root.get_command(make_context(root), first)
            if isinstance(command, click.Group) and rest:
                assert rest[0] in command.commands, words


def test_the_clients_are_documented() -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    for name, client in CLIENTS.items():
        files = [f"`{client.places[scope].files[0]}`" if scope in client.places else "" for scope in (PROJECT, GLOBAL)]
        assert f"| `{name}` | {client.title} | {' | '.join(files)} |".replace("|  |", "| |") in text
        assert client.next_step in text


def test_decisions_have_a_fact_a_decision_and_an_alternative_and_are_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    records = sorted(folder.glob("[0-9]*.md"))
    numbers = [path.name[:4] for path in records]
    assert len(set(numbers)) == len(numbers)
    for path in records:
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        assert title.startswith(f"{path.name[:4]}: ")
        assert f"[{path.name[:4]}]({path.name})" in index
        assert all(f"**{part}.**" in text for part in ("Fact", "Decision", "Rejected"))


def test_no_text_recommends_another_distribution() -> None:
    """`gitmem` on PyPI is another project; only the warning about it and its removal may name it."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listing.returncode:
        pytest.skip("not a checkout")
    pattern = re.compile(
        r"(?:pip|pipx|uv tool|uv pip|uvx?)(?: add)? (?:install|download) [^\n|&/]*?['\"]?gitmem(?!-cli)\b"
    )
    for name in filter(None, listing.stdout.decode().split("\0")):
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".yml", ".sh", ".json"} and path != Path(__file__):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not pattern.search(text), name
            assert "gitmem[" not in text, name


def test_the_package_is_distributed_under_its_own_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    assert list(project["scripts"]) == ["gitmem"]

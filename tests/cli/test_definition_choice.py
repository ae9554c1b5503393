"""Which definition of a file is shown for a query in words."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.gitrepo import Repo
from tests.sample import Cli

SHORT = """\
class Shelf:
    def add_entries(self, entries):
        for entry in entries:
            self.entries.append(entry)
        self.count_entries = len(self.entries)

    def purge(self, now):
        for key, value in list(self.values.items()):
            if value.expires < now:
                self.values.pop(key)

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.dump())
"""
QUERY = "delete entries that have expired"


def long_methods() -> str:
    """Return the same methods with so many lines that each has a row of its own, and a name that misleads."""
    adding = "".join(f"        self.entries.append(entries.pop_at({place}))\n" for place in range(22))
    purging = "".join(f"        self.delete_if(self.expires_at({place}) < now)\n" for place in range(22))
    text = SHORT.replace("add_entries", "count_expired_entries")
    text = text.replace("        for entry", f"{adding}        for entry")
    return text.replace("        for key", f"{purging}        for key")


def results(cli: Cli, repo: Repo, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cli("query", "--json", *args, cwd=repo.path).out)["results"]
    return found


def indexed(cli: Cli, path: Path, text: str, name: str = "src/cache.py") -> Repo:
    repo = Repo.init(path)
    repo.commit({name: text, "src/page.py": "def render(page):\n    return page.title\n"})
    assert cli("index", cwd=repo.path).code == 0
    return repo


def test_a_method_that_shares_a_row_is_chosen_by_its_meaning(cli: Cli, tmp_path: Path) -> None:
    repo = indexed(cli, tmp_path / "repo", SHORT)
    assert results(cli, repo, QUERY)[0]["symbol"] == "Shelf.purge"
    # Words alone prefer the method that repeats one of them.
    assert results(cli, repo, "--mode", "lexical", QUERY)[0]["symbol"] == "Shelf.add_entries"


def test_several_repositories_show_the_same_definitions_as_one(cli: Cli, tmp_path: Path) -> None:
    repo, other = indexed(cli, tmp_path / "repo", long_methods()), indexed(cli, tmp_path / "other", "value = 1\n")
    found = results(cli, repo, "--repo", str(repo.path), "--repo", str(other.path), QUERY)
    assert found[0]["symbol"] == "Shelf.purge"
    assert found[0]["path"] == "src/cache.py"


def test_the_name_of_a_definition_finds_it_whatever_it_means(cli: Cli, tmp_path: Path) -> None:
    repo = indexed(cli, tmp_path / "repo", SHORT)
    assert results(cli, repo, "add_entries")[0]["symbol"] == "Shelf.add_entries"
    assert results(cli, repo, "save")[0]["symbol"] == "Shelf.save"


def test_a_single_word_finds_the_definition_with_it_in_its_name(cli: Cli, tmp_path: Path) -> None:
    repo = indexed(cli, tmp_path / "repo", long_methods())
    assert results(cli, repo, "expired")[0]["symbol"] == "Shelf.count_expired_entries"


def test_a_name_of_code_shows_its_longest_definition(cli: Cli, tmp_path: Path) -> None:
    steps = "".join(f"        self.pages[{place}].write(self.target)\n" for place in range(30))
    short = "class Buffer:\n    def flush_all(self):\n        return self.target.flush_all(self.all, flush=True)\n\n"
    repo = indexed(cli, tmp_path / "repo", f"{short}class Ring:\n    def flush_all(self):\n{steps}", "ring.py")
    assert results(cli, repo, "flush_all")[0]["symbol"] == "Ring.flush_all"


def test_a_single_word_shows_the_definition_of_that_name(cli: Cli, tmp_path: Path) -> None:
    steps = "".join(f"        self.snapshots.append(snapshot[{place}])\n" for place in range(40))
    text = f"class Snapshots:\n    def collect(self, snapshot):\n{steps}\n\ndef snapshot():\n    return 1\n"
    repo = indexed(cli, tmp_path / "repo", text, "raft.py")
    assert results(cli, repo, "snapshot")[0]["symbol"] == "snapshot"


def test_a_single_word_shows_the_class_instead_of_a_helper(cli: Cli, tmp_path: Path) -> None:
    methods = "".join(
        f"    def {name}_cookies(self, cookies):\n"
        + "".join(f"        self.jar.{name}(cookies[{place}], {place})\n" for place in range(30))
        for name in ("send", "store", "expire")
    )
    helper = "    def clear_cookies(self):\n        self.jar.clear(cookies=True)\n"
    repo = indexed(cli, tmp_path / "repo", f"class CookieJar:\n    name = 'jar'\n{methods}{helper}", "cookies.py")
    assert results(cli, repo, "cookies")[0]["symbol"] == "CookieJar"
    assert results(cli, repo, "clear_cookies")[0]["symbol"] == "CookieJar.clear_cookies"


def test_a_file_with_the_same_definition_as_another_is_not_lost(cli: Cli, tmp_path: Path) -> None:
    repo = indexed(cli, tmp_path / "repo", long_methods())
    other = "def expired_entries_on_disk(folder):\n" + "".join(
        f"    folder.read(entries={place}, expired=folder.times[{place}])\n" for place in range(22)
    )
    purge = long_methods().partition("    def purge")[2].partition("    def save")[0]
    repo.commit({"src/disk.py": f"{other}\n\nclass Shelf:\n    def purge{purge}"})
    assert cli("index", cwd=repo.path).code == 0
    found = results(cli, repo, "-n", "2", QUERY)
    assert [(each["path"], each["symbol"]) for each in found] == [
        ("src/cache.py", "Shelf.purge"),
        ("src/disk.py", "expired_entries_on_disk"),
    ]


def test_a_query_that_is_the_name_of_a_long_function_shows_its_beginning(cli: Cli, tmp_path: Path) -> None:
    steps = "".join(f"    read_request({place})\n    process(request, step={place})\n" for place in range(90))
    opening = "".join(f"    buffer.append(stream.byte({place}))\n" for place in range(40))
    repo = indexed(cli, tmp_path / "repo", f"def process_request(stream):\n{opening}{steps}")
    first = results(cli, repo, "process request")[0]
    assert (first["symbol"], first["start_line"]) == ("process_request", 1)


def test_a_long_class_is_shown_once(cli: Cli, tmp_path: Path) -> None:
    repo = indexed(cli, tmp_path / "repo", long_methods() + "".join(
        f"\n    def expire_{name}(self, entries):\n"
        + "".join(f"        entries.drop_{name}(expired={place})\n" for place in range(30))
        for name in ("images", "pages", "fonts", "scripts", "styles", "sounds")
    ))  # fmt: skip
    found = results(cli, repo, "cache whose entries expire")
    places = [(each["path"], each["start_line"], each["symbol"]) for each in found]
    assert ("src/cache.py", 1, "Shelf") in places
    assert len(places) == len(set(places)) > 4


def test_a_filter_on_the_kind_of_definitions_holds(cli: Cli, tmp_path: Path) -> None:
    repo = indexed(cli, tmp_path / "repo", long_methods())
    assert {each["chunk_type"] for each in results(cli, repo, "--type", "class", QUERY)} == {"class"}


@pytest.mark.parametrize("limit", ["1", "10"])
def test_the_explanation_adds_up_for_a_row_shown_instead_of_the_best(cli: Cli, tmp_path: Path, limit: str) -> None:
    repo = indexed(cli, tmp_path / "repo", long_methods())
    first, *others = results(cli, repo, "-n", limit, "--explain", QUERY)
    assert first["symbol"] == "Shelf.purge"
    assert "row_choice" in {part["name"] for part in first["explain"]["features"]}
    assert sum(part["contribution"] for part in first["explain"]["features"]) == pytest.approx(
        math.log(first["score"] / (1 - first["score"])), abs=1e-3
    )
    assert [each["symbol"] for each in others].count("Shelf.purge") == 0
    scores = [each["score"] for each in (first, *others)]
    assert scores == sorted(scores, reverse=True)


def test_a_destructor_is_not_shown_for_the_name_of_its_class(cli: Cli, tmp_path: Path) -> None:
    paint = "".join(f"\tpainter->drawVolume(meterLevel({place}), peak({place}));\n" for place in range(12))
    text = f"VolumeMeter::~VolumeMeter()\n{{\n\tdelete meter;\n}}\n\nvoid VolumeMeter::paintEvent()\n{{\n{paint}}}\n"
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"src/VolumeMeter.cpp": text, "src/page.cpp": "int render(Page *page)\n{\n\treturn page->draw();\n}\n"})
    assert cli("index", cwd=repo.path).code == 0
    assert results(cli, repo, "audio volume meter")[0]["symbol"] == "VolumeMeter.paintEvent"


def test_a_resource_of_terraform_is_chosen_by_its_type(cli: Cli, tmp_path: Path) -> None:
    blocks = "".join(
        f'resource "aws_{kind}" "this" {{\n  name = "{name}"\n  tags = var.tags\n}}\n\n'
        for kind, name in (
            ("vpc", "messages queue messages queue"),
            ("launch_template", "a"),
            ("sqs_queue", "b"),
            ("iam_role", "c"),
        )
    )
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"main.tf": blocks, "src/page.py": "def render(page):\n    return page.title\n"})
    assert cli("index", cwd=repo.path).code == 0
    assert results(cli, repo, "queue of messages")[0]["symbol"] == "aws_sqs_queue.this"

"""Usages, outlines and callers of changes in several repositories that import each other by the names of packages."""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from gitmem.answering.federated_search import Member
from gitmem.answering.joined_trees import JoinedTrees
from gitmem.answering.map_answer import MapQuery, map_in
from gitmem.answering.searched_trees import SearchedRepositories, path_weight
from gitmem.answering.usage_answer import UsageAnswer, UsageQuery, usages_in
from gitmem.errors import ExitCode
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.references.file_graph import ELSEWHERE, FileGraph, sums
from gitmem.references.joined_graph import join_graphs
from gitmem.registry import OFF_VARIABLE, add_repository
from tests.gitrepo import ISOLATION, MakeRepo, Repo
from tests.indexes import index
from tests.references.asking import indexed_files
from tests.resident.served import ask, serving, without_times
from tests.sample import Cli, assert_error

SIGNING = {
    "src/signing/__init__.py": "from .core import Signer, sign\n",
    "src/signing/core.py": """class Signer:
    def dump(self, value):
        return sign(value)


def sign(value):
    return value
""",
    "tests/helpers.py": "def prepare():\n    return 1\n",
}
WEB = {
    "web/app.py": """from signing import Signer, sign
from signing.core import sign as plain
import signing


class CookieSigner(Signer):
    pass


def respond(value):
    plain(value)
    signing.sign(value)
    return sign(value)


def later(signer):
    return signer.dump(1)
""",
    "web/other.py": "def quiet(signer):\n    return signer.dump(2)  # of a Signer\n",
    "web/test_app.py": "from helpers import prepare\n\nprepare()\n",
}
UNRELATED = {
    "sign.py": "def sign(value):\n    return value\n",
    "main.py": "from sign import sign\n\nsign(3)\n",
    "signing.py": "def sign(value):\n    return 0\n",
    "near.py": "import signing\n\nsigning.sign(4)\n",
}
KIT = {
    "packages/kit/package.json": '{"name": "@shop/kit", "version": "1.0.0"}\n',
    "packages/kit/src/index.ts": "export * from './price';\n",
    "packages/kit/src/price.ts": "export function round(x: number) { return x; }\nexport class Money { add() {} }\n",
    "broken/package.json": "{not json\n",
    "go/go.mod": "module example.com/kit/v2\n\ngo 1.21\n",
    "go/money/money.go": "package money\n\nfunc Parse(text string) int { return 0 }\n",
    "rust/Cargo.toml": '[package]\nname = "shop-kit"\n',
    "rust/src/lib.rs": "pub fn weigh(x: u8) -> u8 { x }\n",
    "java/src/main/java/com/shop/kit/Rates.java": (
        "package com.shop.kit;\n\npublic class Rates {\n  public static int lookup(String code) { return 1; }\n}\n"
    ),
}
APP = {
    "app.ts": """import { round, Money } from '@shop/kit';
round(1);
const money = new Money();
money.add();
""",
    "other.ts": "import { round } from '@other/kit';\nround(2);\n",
    "main.go": 'package main\n\nimport "example.com/kit/v2/money"\n\nfunc run() {\n\tmoney.Parse("1")\n}\n',
    "src/main.rs": "use shop_kit::weigh;\n\nfn main() {\n    weigh(1);\n}\n",
    "src/main/java/com/app/Main.java": """package com.app;

import com.shop.kit.Rates;

public class Main {
  int run() { return Rates.lookup("eur"); }
}
""",
}
REPOSITORIES: Mapping[str, Mapping[str, str]] = {
    "signing": SIGNING, "web": WEB, "unrelated": UNRELATED, "kit": KIT, "app": APP,
}  # fmt: skip


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Member]]:
    folder = tmp_path_factory.mktemp("several")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        for name, value in ISOLATION.items():
            patch.setenv(name, value)
        yield [
            Member(name, stack.enter_context(indexed_files(folder / name, files)))
            for name, files in REPOSITORIES.items()
        ]


def joined(members: list[Member]) -> JoinedTrees:
    def open_blobs(number: int) -> AbstractContextManager[ObjectReader]:
        return open_reader(members[number].searcher.tree.location, bulk=False)

    return JoinedTrees(members, open_blobs)


def find(
    members: list[Member], text: str, *relations: str, depth: int = 1, limit: int = 100
) -> UsageAnswer[SearchedRepositories]:
    return usages_in(joined(members), UsageQuery(text, relations, depth, limit))


def places(members: list[Member], text: str, relation: str, depth: int = 1) -> list[str]:
    """Return the id of each place, with the number of definitions if it is not one, and `+` for a library's."""
    (related,) = find(members, text, relation, depth=depth).relations
    return [
        f"{place.repository}:{place.path}:{place.line}"
        + (f" {place.candidates}" if place.candidates != 1 and place.depth else "")
        + ("+" if place.open else "")
        for place in related.places
    ]


@pytest.mark.parametrize(
    ("name", "relation", "expected"),
    [
        ("signing:src/signing/core.py#sign", "callers",
         ["signing:src/signing/core.py:3", "web:web/app.py:11", "web:web/app.py:12", "web:web/app.py:13"]),
        ("signing:src/signing/core.py:6", "importers",
         ["signing:src/signing/__init__.py:1", "web:web/app.py:1", "web:web/app.py:2"]),
        ("unrelated:sign.py#sign", "callers", ["unrelated:main.py:3"]),
        ("unrelated:signing.py#sign", "callers", ["unrelated:near.py:3"]),
        ("unrelated:sign.sign", "callers", ["unrelated:main.py:3"]),
        ("signing::sign", "definitions", ["unrelated:signing.py:1"]),
        ("Signer", "subclasses", ["web:web/app.py:6"]),
        ("Signer", "text", ["web:web/other.py:2"]),
        ("signing:src/signing/core.py", "importers", ["signing:src/signing/__init__.py:1", "web:web/app.py:2"]),
        ("Signer.dump", "callers", ["web:web/app.py:17"]),
        ("web:web/app.py#respond", "callees", ["signing:src/signing/core.py:6"]),
        ("prepare", "callers", []),
        ("round", "definitions", ["kit:packages/kit/src/price.ts:1"]),
        ("round", "callers", ["app:app.ts:2"]),
        ("Money.add", "callers", ["app:app.ts:4"]),
        ("Parse", "callers", ["app:main.go:6"]),
        ("weigh", "callers", ["app:src/main.rs:4"]),
        ("lookup", "callers", ["app:src/main/java/com/app/Main.java:6"]),
    ],
)  # fmt: skip
def test_an_import_leads_to_the_repository_that_provides_the_package(
    members: list[Member], name: str, relation: str, expected: list[str]
) -> None:
    assert places(members, name, relation) == expected


def test_steps_go_through_repositories(members: list[Member]) -> None:
    by_depth = places(members, "signing:src/signing/core.py#sign", "callers", depth=2)
    # `dump` calls `sign`, and a file that imports the package calls `dump`.
    assert "web:web/app.py:17" in by_depth
    assert not any(place.startswith("unrelated:") for place in by_depth)


def test_a_place_says_which_of_several_definitions_it_means(members: list[Member]) -> None:
    answer = find(members, "sign", "definitions", "callers")
    assert answer.definitions == 3
    callers = {f"{place.repository}:{place.path}": place.target for place in answer.relations[1].places}
    assert callers == {
        "signing:src/signing/core.py": "signing:src/signing/core.py:6",
        "web:web/app.py": "signing:src/signing/core.py:6",
        "unrelated:main.py": "unrelated:sign.py:1",
        "unrelated:near.py": "unrelated:signing.py:1",
    }


def test_a_limit_says_what_it_cuts_in_all_repositories(members: list[Member]) -> None:
    (related,) = find(members, "sign", "callers", limit=2).relations
    assert (related.total, len(related.places)) == (6, 2)


def chosen(members: list[Member], *names: str) -> list[Member]:
    return [next(member for member in members if member.name == name) for name in names]


def graph_of(member: Member) -> FileGraph:
    return member.searcher.names.graph(path_weight, lambda: None)


def gains(members: list[Member]) -> dict[str, float]:
    """Return the rank that mentions bring each file in the joined graph, relative to what it has without any."""
    trees = joined(members)
    graph = trees.graph(lambda: None)
    brought = sums(graph.def_node, graph.rank(graph.prior).definitions, len(graph.prior)) / graph.prior
    return {
        f"{trees.repository(entry)}:{trees.names.file(entry).path}": float(brought[graph.node(entry)])
        for entry in range(len(graph.blob_of))
        if graph.node(entry) >= 0
    }


def test_unrelated_repositories_keep_their_ranks_in_a_joined_graph(members: list[Member]) -> None:
    two = chosen(members, "signing", "unrelated")
    graph, omitted = join_graphs(joined(two).names, [graph_of(member) for member in two])
    assert omitted == 0
    own = [each.rank(each.prior).files for each in map(graph_of, two)]
    whole, start = graph.rank(graph.prior).files, 0
    for part in own:
        of_part = whole[start : start + len(part)]
        assert of_part / of_part.sum() == pytest.approx(part, abs=1e-4)
        start += len(part)
    assert whole.sum() == pytest.approx(1)


def test_a_file_that_another_repository_imports_is_more_important(members: list[Member]) -> None:
    alone, together = gains(chosen(members, "signing", "unrelated")), gains(chosen(members, "signing", "web"))
    core = "signing:src/signing/core.py"
    assert together[core] > 1.3 * alone[core] > 0
    # `unrelated` has a `sign` too, which nothing in `web` means.
    third, own = gains(chosen(members, "signing", "web", "unrelated")), gains(chosen(members, "unrelated"))
    sign = "unrelated:sign.py"
    assert third[sign] == pytest.approx(own[sign], rel=1e-2)
    assert third[core] > third[sign] > 0


def test_a_file_divides_its_rank_among_all_names_that_it_mentions(members: list[Member]) -> None:
    graph = joined(chosen(members, "signing", "web")).graph(lambda: None)
    shares, weights = (sums(graph.ref_node, each, len(graph.prior)) for each in (graph.ref_share, graph.ref_weight))
    assert shares == pytest.approx(weights / (ELSEWHERE + weights))


def test_an_outline_covers_repositories_and_can_be_of_one(members: list[Member]) -> None:
    def outline(words: str = "", path: str = "", first: str = "") -> dict[str, list[str]]:
        query = MapQuery(words, path, first=first)
        answer = map_in(joined(chosen(members, "signing", "web")), query, len)
        return {f"{file.repository}:{file.path}": [each.symbol for each in file.definitions] for file in answer.files}

    whole = outline()
    assert next(iter(whole)) == "signing:src/signing/core.py"
    assert {"web:web/app.py"} < set(whole)
    assert set(outline(path="web:web/other.py")) == {"web:web/other.py"}
    assert all(path.startswith("signing:") for path in outline(first="signing:src"))
    assert "respond" in outline("respond later", first="quiet")["web:web/app.py"]


@pytest.fixture
def known(make_repo: MakeRepo, fake_model: object, monkeypatch: pytest.MonkeyPatch, home: Path) -> list[Repo]:
    """Make and register two repositories with an index, and one without."""
    monkeypatch.delenv(OFF_VARIABLE)
    repos = []
    for name, files in (("signing", SIGNING), ("web", WEB), ("unrelated", UNRELATED)):
        repo = make_repo(name)
        repo.commit(files)
        add_repository({"HOME": str(home)}, repo.path)
        repos.append(repo)
    for repo in repos[:2]:
        index(repo)
    return repos


def test_places_begin_with_their_repository_and_get_reads_them(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    outcome = cli("usages", "--all", "-r", "callers", "sign", cwd=tmp_path)
    assert outcome.code == ExitCode.OK
    *lines, end = outcome.out.splitlines()
    assert lines[:2] == ["callers: 4", "  signing:src/signing/core.py:3  Signer.dump  return sign(value)"]
    assert end.startswith("2 repositories, 1 skipped, ")
    assert "note: skipped unrelated: this repository has no index yet" in outcome.err
    value = json.loads(cli("usages", "--all", "--json", "-r", "callers", "sign", cwd=tmp_path).out)
    place = value["relations"]["callers"]["places"][-1]
    assert (place["repository"], place["id"], place["path"]) == ("web", "web:web/app.py:13", "web/app.py")
    assert (place["target"], place["by"]) == ("signing:src/signing/core.py:6", "import")
    assert [one["name"] for one in value["repositories_searched"]] == ["signing", "web"]
    assert value["repositories_skipped"][0]["name"] == "unrelated"


def test_the_own_repository_is_indexed_first_and_names_its_places(cli: Cli, known: list[Repo]) -> None:
    known[1].write({"web/fresh.py": "from signing import sign\n\nsign(5)\n"})
    args = ("usages", "--repo", "web", "--repo", "signing", "-r", "callers")
    assert "web:web/fresh.py:3" in cli(*args, "sign", cwd=known[1].path).out
    for location in ("app.py#respond", "web:web/app.py#respond"):
        none = cli(*args, location, cwd=known[1].path / "web")
        assert none.err.endswith(f"no usages of `{location}` in 2 repositories\n"), none.err
    assert cli(*args, "no_such_name", cwd=known[1].path).code == ExitCode.NO_RESULTS


@pytest.mark.parametrize("command", [["usages", "sign"], ["map"], ["map", "signing:src"], ["impact"]])
def test_a_running_server_gives_the_same_answer(
    cli: Cli, known: list[Repo], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    args = (*command, "--repo", "web", "--repo", "signing")
    known[1].write({"web/other.py": "def quiet(signer, value):\n    return signer.dump(value)\n\n\nquiet(1, 2)\n"})
    expected = cli(*args, cwd=known[1].path)
    monkeypatch.chdir(known[1].path)
    with serving(known[1].path):
        served = ask(*args)
    assert served is not None
    assert without_times(served) == without_times(expected)


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--repo", "wep", "x"], ExitCode.USAGE, "unknown repository `wep`"),
        (["--repo", "org:web", "x"], ExitCode.USAGE, "`org:web` is on the server of an organisation"),
        (["--repo", "web", "--changed", "HEAD~1..HEAD", "x"], ExitCode.USAGE, "`--changed` applies to one repository"),
        (["--repo", "unrelated", "x"], ExitCode.NO_INDEX, "none of these repositories can be searched"),
        (["--all", "web:nothing.py"], ExitCode.USAGE, "no definition of `nothing.py` in web"),
        (["--all", "unrelated:sign.py#sign"], ExitCode.USAGE, "`unrelated` cannot be searched: this repository has no"),
        (["--all", "web:dump"], ExitCode.USAGE, "no definition of `dump` in web"),
        (["--all", "-r", "callers", "web:web/app.py"], ExitCode.USAGE, "`web/app.py` is a whole file"),
        (["--all", "app.py:1"], ExitCode.USAGE, "no such file in these repositories: `app.py:1`"),
        (["--all", "web/app.py#respond"], ExitCode.USAGE, "begin it with the repository: web:web/app.py#respond"),
        (["--all", "Nobody.dump"], ExitCode.USAGE, "no definition of `Nobody.dump` in these repositories"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    cli: Cli, known: list[Repo], tmp_path: Path, args: list[str], code: ExitCode, message: str
) -> None:
    assert_error(cli("usages", *args, cwd=tmp_path), code, message)


def test_map_outlines_several_repositories(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    outcome = cli("map", "--repo", "signing", "--repo", "web", cwd=tmp_path)
    lines = outcome.out.splitlines()
    assert lines[:2] == ["signing:src/signing/core.py", "    1 class Signer:"]
    assert lines[-1].startswith("4 of 6 files, ")
    assert "2 repositories, " in lines[-1]
    value = json.loads(cli("map", "--all", "--json", "web:web/app.py", cwd=tmp_path).out)
    assert [(file["repository"], file["path"]) for file in value["files"]] == [("web", "web/app.py")]
    assert (value["path"], value["files_total"]) == ("web:web/app.py", 1)
    assert [one["name"] for one in value["repositories_skipped"]] == ["unrelated"]


def test_impact_finds_callers_in_repositories_that_import_the_changed_one(cli: Cli, known: list[Repo]) -> None:
    signing = known[0]
    signing.write({"src/signing/core.py": SIGNING["src/signing/core.py"].replace("return value", "return [value]")})
    outcome = cli("impact", "--repo", "web", "--repo", "unrelated", cwd=signing.path)
    assert outcome.code == ExitCode.OK, outcome.err
    heading, *callers, end = outcome.out.splitlines()
    assert heading == "src/signing/core.py:6-7  sign  changed  body  4 callers"
    assert [line.split()[0] for line in callers] == [
        "signing:src/signing/core.py:3", "web:web/app.py:11", "web:web/app.py:12", "web:web/app.py:13",
    ]  # fmt: skip
    assert "2 repositories, 1 skipped" in end
    assert cli("impact", cwd=signing.path).out.splitlines()[0].endswith("  1 caller")
    without = cli("impact", "--repo", "web", cwd=known[2].path)
    assert_error(without, ExitCode.NO_INDEX, "`unrelated` cannot be searched: this repository has no index yet")


def test_impact_finds_what_a_removal_breaks_in_other_repositories(cli: Cli, known: list[Repo]) -> None:
    signing = known[0]
    core = SIGNING["src/signing/core.py"].partition("\n\n\ndef sign")[0].replace("sign(value)", "value")
    signing.write({"src/signing/core.py": core + "\n", "src/signing/__init__.py": "from .core import Signer\n"})
    signing.git("add", ".")
    signing.git("commit", "-qm", "remove")
    value = json.loads(cli("impact", "--json", "--all", "HEAD~1..HEAD", cwd=signing.path).out)
    removed = next(each for each in value["definitions"] if each["symbol"] == "sign")
    places = {caller["id"] for caller in removed["callers"]}
    assert {"web:web/app.py:1", "web:web/app.py:12", "web:web/app.py:13"} <= places
    assert all(place.startswith("web:web/app.py") for place in places)


def test_impact_takes_a_file_of_another_repository_for_none_of_the_own_one(cli: Cli, known: list[Repo]) -> None:
    signing, web = known[:2]
    signing.commit({"lib/sum.c": "int compute_sum(int first) { return first; }\n"})
    web.commit({
        # Files at the paths of the changed ones, and one in a language whose names need no import.
        "lib/sum.c": "int main(void) { return compute_sum(1); }\n",
        "tests/helpers.py": "from signing import sign\n\nsign(prepare())\n",
    })  # fmt: skip
    index(web)
    signing.git("rm", "-q", "lib/sum.c", "tests/helpers.py")
    signing.write({
        "src/signing/core.py": SIGNING["src/signing/core.py"].replace("return value", "return [value]"),
        "web/app.py": "def local():\n" + "    step()\n" * 20,
    })  # fmt: skip
    outcome = cli("impact", "--repo", "web", cwd=signing.path)
    assert "web:web/app.py:13" in outcome.out
    assert "also changed" not in outcome.out
    assert "compute_sum" not in outcome.out
    assert "prepare" not in outcome.out.replace("sign(prepare())", "")


def test_an_open_tree_keeps_the_packages_that_its_manifests_name(members: list[Member]) -> None:
    def refuse(number: int) -> AbstractContextManager[ObjectReader]:
        raise AssertionError(f"the manifests of {members[number].name} are read again")

    expected = joined(members).names.definitions("sign")
    assert JoinedTrees(members, refuse).names.definitions("sign") == expected


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["map", "--repo", "wep"], ExitCode.USAGE, "unknown repository `wep`"),
        (["map", "--repo", "org:web"], ExitCode.USAGE, "which answers only searches and `get`"),
        (["map", "--all", "org:web:web/app.py"], ExitCode.USAGE, "`org:web` is on the server of an organisation"),
        (["usages", "--all", "org:web:sign"], ExitCode.USAGE, "`org:web` is on the server of an organisation"),
        (["map", "--all", "web:nowhere/"], ExitCode.USAGE, "no such file or folder in this tree: `nowhere/`"),
        (["map", "--all", "unrelated:sign.py"], ExitCode.USAGE, "`unrelated` cannot be searched"),
        (["map", "--all", "web/app.py"], ExitCode.USAGE, "`web/app.py` is a path in one repository"),
        (["impact", "--all"], ExitCode.USAGE, "is not inside a git repository"),
    ],
)
def test_bad_input_of_outlines_and_impacts_is_refused(
    cli: Cli, known: list[Repo], tmp_path: Path, args: list[str], code: ExitCode, message: str
) -> None:
    assert_error(cli(*args, cwd=tmp_path), code, message)

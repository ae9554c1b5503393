"""Words and paths of a query, help without a subcommand, and messages for wrong names, options and values."""

import pytest

from gitmem import __version__
from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import SIGN, Cli, assert_error

GROUPS = ("memory", "doc", "conversation", "repos")


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_without_a_subcommand_prints_its_help(cli: Cli, group: str) -> None:
    outcome = cli(group)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == cli(group, "--help").out


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (("memory", "rm"), "memory delete"),
        (("memory", "ls"), "memory list"),
        (("memory", "serach"), "memory search"),
        (("doc", "show"), "doc get"),
        (("conversation", "add"), "conversation append"),
        (("repos", "rm"), "repos remove"),
        (("qeury",), "query"),
        (("grep",), "search"),
        (("update",), "index"),
    ],
)
def test_an_unknown_command_suggests_one(cli: Cli, wrong: tuple[str, ...], right: str) -> None:
    name = " ".join(wrong)
    assert_error(cli(*wrong, "x"), ExitCode.USAGE, f"no such command: `{name}`, did you mean `{right}`?")


def test_a_name_like_no_command_gets_no_suggestion(cli: Cli) -> None:
    outcome = cli("memory", "zzzz")
    assert_error(outcome, ExitCode.USAGE, "no such command: `memory zzzz`\n")
    assert "did you mean" not in outcome.err


def test_the_short_option_of_the_version(cli: Cli) -> None:
    assert cli("-V").out == f"gitmem {__version__}\n"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--lang", "nosuch"), ("unknown language `nosuch`", "hint: `gitmem status` lists the languages")),
        (("--lang", "pyton"), ("unknown language `pyton`", "hint: did you mean `python`?\n")),
        (("--type", "nosuch"), ("unknown chunk type `nosuch`", "hint: chunk types: text, ")),
        (("--type", "clas"), ("unknown chunk type `clas`", "hint: did you mean `class`?; chunk types: ")),
        (("--type", "email"), ("`email` is the type of a record", "hint: --record-type email --kind all\n")),
        (("--kind", "nots"), ("`--kind` is `nots`, expected one of: code, ", "hint: did you mean `notes`?")),
        (("--foo", "bar"), ("no such option: `--foo`\n", "that begins with a dash: gitmem query -e --foo\n")),
        (("--patth", "src"), ("no such option: `--patth`\n", "hint: did you mean `--path`?\n")),
        (("--log-level",), ("`--log-level`\n", "comes before the command: gitmem --log-level query ...\n")),
        (("-n", "100"), ("between 1 and 50", "to raise it: git config gitmem.searchMaxLimit 100\n")),
        (("-n", "9999"), ("between 1 and 50", "to raise it: git config gitmem.searchMaxLimit 1000\n")),
        (("--", "src"), ("the query is missing", "hint: words come before `--`, paths behind it\n")),
        (("--kind", "notes", "--", "src"), ("paths apply only to code", "leave out `--kind`")),
        (("--", "../../x"), ("the path `../../x` is outside of the repository", "hint: ")),
    ],
)  # fmt: skip
def test_a_wrong_argument_of_a_query(cli: Cli, indexed: Repo, args: tuple[str, ...], expected: tuple[str, ...]) -> None:
    words = () if args == ("--", "src") else ("sign",)
    assert_error(cli("query", *words, *args, cwd=indexed.path), ExitCode.USAGE, *expected)


def test_a_wrong_choice_lists_the_valid_ones(cli: Cli, indexed: Repo) -> None:
    outcome = cli("memory", "list", "--type", "nosuch", cwd=indexed.path)
    expected = "`--type` is `nosuch`, expected one of: preference, fact, project, decision\n"
    assert_error(outcome, ExitCode.USAGE, expected, "hint: gitmem memory list --help\n")


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_a_global_flag_may_follow_the_command(cli: Cli, own: Repo, flag: str) -> None:
    assert cli("index", "--full", cwd=own.path).out
    quiet = cli("index", "--full", flag, cwd=own.path)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_a_global_flag_may_follow_a_command_of_a_group(cli: Cli, own: Repo) -> None:
    found = cli("memory", "list", "--no-pager", "--no-server", cwd=own.path)
    assert found == cli("--no-pager", "--no-server", "memory", "list", cwd=own.path)
    assert found.code == 0


def test_the_value_of_an_option_is_no_global_flag(cli: Cli, own: Repo) -> None:
    own.commit({"src/flags.py": "QUIET_FLAG = '--quiet'\n\ndef be_quiet(): return QUIET_FLAG\n"}, "add a flag")
    assert "src/flags.py" in cli("query", "-l", "-e", "--quiet", cwd=own.path).out


def test_several_words_are_one_query(cli: Cli, indexed: Repo) -> None:
    several = cli("query", "--jsonl", *SIGN.split(), cwd=indexed.path)
    assert several.out == cli("query", "--jsonl", SIGN, cwd=indexed.path).out
    assert several.out
    assert several.err == ""


def test_a_text_that_begins_with_a_dash(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", "--jsonl", "-e", "--sign", "cookie", cwd=indexed.path)
    assert outcome.out == cli("query", "--jsonl", "-", cwd=indexed.path, stdin=b"--sign cookie").out
    assert outcome.code == 0


@pytest.mark.parametrize(
    ("folder", "args", "expected"),
    [
        (".", ["--", "src"], {"src/cookies.py", "src/routing.ts"}),
        (".", ["--", "docs", "src/*.ts"], {"docs/guide.md", "src/routing.ts"}),
        (".", ["--", ":!src", ":!*.md"], {"notes.txt"}),
        (".", ["--path", "*.py", "--", "docs"], set()),
        (".", ["--path", "*.py", "--", "src"], {"src/cookies.py"}),
        (".", ["--exclude", "*.py", "--", "src"], {"src/routing.ts"}),
        ("src", ["--", "."], {"src/cookies.py", "src/routing.ts"}),
        ("src", ["--", "../docs"], {"docs/guide.md"}),
    ],
)
def test_paths_behind_dashes_limit_a_query(
    cli: Cli, indexed: Repo, folder: str, args: list[str], expected: set[str]
) -> None:
    args = ["query", "-l", "-n", "50", *"sign the path of the service".split(), *args]
    found = cli(*args, cwd=indexed.path / folder)
    assert set(found.out.split()) == expected
    other = cli("-C", str(indexed.path / folder), *args)
    assert other.out == found.out


def test_a_word_that_is_a_path_gets_a_hint(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", "sign", "cookie", "src", cwd=indexed.path)
    assert outcome.err == "hint: `src` is a path; to search only there: gitmem query sign cookie -- src\n"
    assert outcome.code == 0
    for args in (["-q", "query", "sign", "src"], ["query", "sign src"], ["query", "sign", "--", "src"]):
        assert cli(*args, cwd=indexed.path).err == ""

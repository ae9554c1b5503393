"""`gitmem query` and `related` as users and programs see them."""

import json
import os
import re

import pytest

from gitmem.errors import ExitCode
from gitmem.freshness.background import mark_dirty
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.hooks.worlds import settle
from tests.sample import HOSTILE, LATIN, SIGN, Cli, Json, assert_error


def answer(cli: Cli, repo: Repo, *args: str) -> Json:
    outcome = cli("query", "--json", *args, cwd=repo.path)
    assert outcome.code == 0, outcome.err
    parsed: Json = json.loads(outcome.out)
    return parsed


def test_a_query_finds_the_matching_method(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", SIGN, cwd=indexed.path)
    first, *rest = outcome.out.splitlines()
    assert outcome.code == 0
    assert outcome.err == ""
    assert first.startswith(("src/cookies.py:", "src/copy_of_cookies.py:"))
    assert "  CookieSession.sign_cookie  " in first
    assert any("def sign_cookie" in line for line in rest)


def test_the_last_line_shows_the_tree_and_the_time(cli: Cli, indexed: Repo) -> None:
    last = cli("query", SIGN, cwd=indexed.path).out.splitlines()[-1]
    assert last.startswith(f"main {indexed.oid('HEAD')[:7]}, fresh, ")
    assert last.endswith(" ms")
    assert not cli("-q", "query", SIGN, cwd=indexed.path).out.splitlines()[-1].endswith(" ms")


def test_search_is_another_name_for_query(cli: Cli, indexed: Repo) -> None:
    one = cli("search", "-l", SIGN, cwd=indexed.path)
    assert one == cli("query", "-l", SIGN, cwd=indexed.path)


def test_json_has_the_documented_fields(cli: Cli, indexed: Repo) -> None:
    result = answer(cli, indexed, SIGN)
    assert list(result) == ["query", "session", "results", "view", "stats"]
    assert result["query"] == SIGN
    assert result["view"] == {"rev": "HEAD", "commit": indexed.oid("HEAD"), "dirty": False, "stale": False,
                            "source": "worktree", "uncommitted": 0}  # fmt: skip
    first = result["results"][0]
    assert list(first) == ["id", "kind", "path", "start_line", "end_line", "chunk_type", "symbol", "copies", "language",
                           "score", "cosine", "distance", "scores", "content", "content_hash", "blob", "file_uri",
                           "chunk_index", "total_chunks", "file_size_bytes", "indexed_at", "uncommitted", "record",
                           "notes"]  # fmt: skip
    assert (first["kind"], first["chunk_type"], first["language"]) == ("code", "method", "python")
    scores = [hit["score"] for hit in result["results"]]
    assert scores == sorted(scores, reverse=True)


def test_json_content_is_the_text_of_its_lines(cli: Cli, indexed: Repo) -> None:
    for hit in answer(cli, indexed, SIGN)["results"]:
        lines = indexed.git("show", hit["blob"]).splitlines()
        assert hit["content"].splitlines() == lines[hit["start_line"] - 1 : hit["end_line"]]


def test_json_lines_hold_the_same_results(cli: Cli, indexed: Repo) -> None:
    lines = cli("query", "--jsonl", SIGN, cwd=indexed.path).out.splitlines()
    assert [json.loads(line) for line in lines] == answer(cli, indexed, SIGN)["results"]


def test_paths_are_listed_once_each(cli: Cli, indexed: Repo) -> None:
    lines = cli("query", "-l", "cookie", cwd=indexed.path).out.splitlines()
    assert "src/cookies.py" in lines
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("args", "path"),
    [
        (["--lang", "typescript", "request"], "src/routing.ts"),
        (["--lang", "ts", "request"], "src/routing.ts"),
        (["--path", "docs/", "copy"], "docs/guide.md"),
        (["--path", "*.txt", "key"], "notes.txt"),
        (["--exclude", "src/", "--exclude", "docs/", "key"], "notes.txt"),
        (["--type", "section", "database"], "docs/guide.md"),
    ],
)
def test_filters_restrict_the_results(cli: Cli, indexed: Repo, args: list[str], path: str) -> None:
    assert {hit["path"] for hit in answer(cli, indexed, *args)["results"]} == {path}


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_every_mode_finds_an_exact_match(cli: Cli, indexed: Repo, mode: str) -> None:
    results = answer(cli, indexed, "--mode", mode, SIGN)["results"]
    assert any(hit["symbol"] == "CookieSession.sign_cookie" for hit in results)


def test_a_query_of_another_revision_returns_its_files(cli: Cli, own: Repo) -> None:
    result = answer(cli, own, "--rev", "v1", SIGN)
    assert {hit["path"] for hit in result["results"]} == {"old/session.py"}
    assert result["view"]["rev"] == "v1"
    assert result["view"]["commit"] == own.oid("v1^{commit}")


def test_limit_restricts_the_number_of_results(cli: Cli, indexed: Repo) -> None:
    assert len(answer(cli, indexed, "-n", "1", "cookie")["results"]) == 1


def test_context_shows_lines_before_and_after(cli: Cli, indexed: Repo) -> None:
    plain = cli("query", "-n", "1", "matchRoute", cwd=indexed.path).out
    wide = cli("query", "-n", "1", "-C", "2", "matchRoute", cwd=indexed.path).out
    assert "export class Router" not in plain
    assert "export class Router" in wide


def test_full_shows_every_line(cli: Cli, own: Repo) -> None:
    body = "\n".join(f"    step_{number}()" for number in range(20))
    own.commit({"long.py": f"def long_procedure():\n{body}\n"})
    short = cli("query", "-n", "1", "long_procedure", cwd=own.path).out
    full = cli("query", "-n", "1", "--full", "long_procedure", cwd=own.path).out
    assert "\n...\n" in short
    assert all(f"step_{number}()" in full for number in range(20))
    assert "\n...\n" not in full


@pytest.mark.parametrize("at", [0, 400, 798])
def test_a_long_line_is_cut_around_the_match(cli: Cli, own: Repo, at: int) -> None:
    words = ["filler"] * 800
    words[at] = "xylophone"
    own.commit({"long.py": f"text = '{' '.join(words)}'\n"})
    output = cli("query", "--mode", "lexical", "-n", "1", "xylophone", cwd=own.path).out
    line = output.splitlines()[1]
    assert "xylophone" in line
    assert len(line) <= 3 + 200
    assert ("…" in line[:5], line.endswith("…")) == (at > 0, at < 798)


def test_colour_is_used_only_on_request_or_on_a_terminal(
    cli: Cli, indexed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in cli("query", SIGN, cwd=indexed.path).out
    assert "\x1b[1;31mcookie\x1b[0m" in cli("query", "--color", "always", SIGN, cwd=indexed.path).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in cli("query", SIGN, cwd=indexed.path).out


def test_no_results_is_exit_code_one_and_one_line(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", "--mode", "lexical", "xylophone", cwd=indexed.path)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("no results (main ")
    filtered = cli("query", "--path", "nowhere/", SIGN, cwd=indexed.path)
    assert filtered.code == ExitCode.NO_RESULTS
    assert "filters" in filtered.err


def test_no_results_as_json_is_an_empty_list(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", "--json", "--path", "nowhere/", SIGN, cwd=indexed.path)
    assert outcome.code == ExitCode.NO_RESULTS
    assert json.loads(outcome.out)["results"] == []


def test_a_query_can_come_from_standard_input(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", "-l", "-", cwd=indexed.path, stdin=SIGN.encode() + b"\n")
    assert outcome == cli("query", "-l", SIGN, cwd=indexed.path)


def test_a_new_commit_is_found_at_once(cli: Cli, own: Repo) -> None:
    own.commit({"src/queue.py": "def drain_queue(items):\n    return [item.pop() for item in items]\n"})
    assert answer(cli, own, "drain_queue")["results"][0]["path"] == "src/queue.py"


def test_after_a_large_change_the_answer_is_marked_stale(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    background_runs: list[Workspace] = []
    monkeypatch.setattr("gitmem.freshness.background.start_background_refresh", background_runs.append)
    own.git("config", "gitmem.healBudget", "0")
    own.commit({f"src/part{number}.py": f"def part_{number}():\n    pass\n" for number in range(3)})
    outcome = cli("query", SIGN, cwd=own.path)
    assert outcome.out.splitlines()[-1].startswith(
        f"main {own.oid('HEAD')[:7]}, stale: 3 files not indexed yet (gitmem index)"
    )
    assert json.loads(cli("query", "--json", SIGN, cwd=own.path).out)["view"]["stale"] is True
    assert len(background_runs) == 2, "a background process indexes the rest"


def test_a_stale_answer_names_the_command_that_indexes_uncommitted_files(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.freshness.background.start_background_refresh", lambda _: None)
    own.git("config", "gitmem.healBudget", "0")
    own.write({f"src/part{number}.py": f"def part_{number}():\n    pass\n" for number in range(3)})
    expected = "stale: 3 files not indexed yet (gitmem index --uncommitted)"
    assert expected in cli("query", SIGN, cwd=own.path).out.splitlines()[-1]
    assert cli("index", "--uncommitted", cwd=own.path).code == 0
    assert ", fresh, " in cli("query", SIGN, cwd=own.path).out.splitlines()[-1]


def test_a_stale_answer_names_the_command_that_indexes_its_revision(cli: Cli, own: Repo) -> None:
    own.commit({"src/part.py": "def part():\n    pass\n"})
    own.commit({"src/part.py": "def other():\n    pass\n"})
    commit = own.oid("HEAD~1")[:10]
    outcome = cli("query", "--rev", "HEAD~1", "--no-refresh", SIGN, cwd=own.path)
    assert f"stale: 1 file not indexed yet (gitmem index --rev {commit})" in outcome.out.splitlines()[-1]
    several = cli("usages", "--repo", ".", "--rev", "HEAD~1", "--no-refresh", "part", cwd=own.path)
    assert f"note: own: 1 file not indexed yet (gitmem -C {own.path} index --rev {commit})" in several.err


def test_uncommitted_changes_are_found_and_marked(cli: Cli, own: Repo) -> None:
    own.write({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    lines = cli("query", "-n", "1", "drain_queue", cwd=own.path).out.splitlines()
    assert lines[0].startswith("src/queue.py:1-2  untracked  drain_queue  ")
    assert lines[-1].startswith(f"main {own.oid('HEAD')[:7]} + 1 uncommitted file, fresh, ")
    own.git("add", "src/queue.py")
    own.write({"src/cookies.py": "def sign_cookie_anew(value):\n    return value\n"})
    assert answer(cli, own, "drain_queue")["results"][0]["uncommitted"] == "staged"
    result = answer(cli, own, "sign_cookie_anew")
    assert result["results"][0]["uncommitted"] == "modified"
    assert {
        hit["uncommitted"] for hit in result["results"] if hit["path"] not in ("src/cookies.py", "src/queue.py")
    } == {None}
    assert result["view"]["dirty"] is True
    assert (result["view"]["source"], result["view"]["uncommitted"]) == ("worktree", 2)
    wide = cli("query", "-n", "1", "-C", "1", "sign_cookie_anew", cwd=own.path).out
    assert "def sign_cookie_anew" in wide


def test_the_committed_and_the_staged_tree_can_be_searched(cli: Cli, own: Repo) -> None:
    own.write({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    assert "src/queue.py" not in cli("query", "-l", "--rev", "HEAD", "drain_queue", cwd=own.path).out
    assert "src/queue.py" not in cli("query", "-l", "--staged", "drain_queue", cwd=own.path).out
    own.git("add", "--all")
    lines = cli("query", "-n", "1", "--staged", "drain_queue", cwd=own.path).out.splitlines()
    assert lines[0].startswith("src/queue.py:1-2  staged  drain_queue  ")
    assert lines[-1].startswith(f"main {own.oid('HEAD')[:7]} + 1 staged file, fresh, ")


def test_changes_between_two_revisions_can_be_searched(cli: Cli, own: Repo) -> None:
    lines = cli("query", "--changed", "v1..HEAD", SIGN, cwd=own.path).out.splitlines()
    assert lines[-1].startswith(f"v1..HEAD {own.oid('HEAD')[:7]}, fresh, ")
    assert cli("query", "--changed", "HEAD..HEAD", SIGN, cwd=own.path).code == ExitCode.NO_RESULTS
    assert "docs/guide.md" in cli("query", "-l", "--changed", "v1..", "copy the database", cwd=own.path).out


def test_changes_over_the_budget_of_a_query_are_indexed_in_the_background(cli: Cli, own: Repo) -> None:
    own.git("config", "gitmem.healBudget", "0")
    own.write({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    assert "stale: 1 file not indexed yet" in cli("query", SIGN, cwd=own.path).out
    assert settle(own.path)
    output = cli("query", "-n", "1", "--no-refresh", "drain_queue", cwd=own.path).out
    assert output.startswith("src/queue.py:1-2  untracked")
    assert ", fresh, " in output


def test_index_indexes_the_changes_over_the_budget_of_a_query(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.freshness.background.start_background_refresh", mark_dirty)
    own.git("config", "gitmem.healBudget", "0")
    own.write({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    assert "stale" in cli("query", SIGN, cwd=own.path).out
    refused = cli("related", "src/queue.py:1", cwd=own.path).err
    assert refused == "error: `src/queue.py` is not indexed yet\nhint: run `gitmem index --uncommitted`\n"
    assert "1 blob embedded" in cli("index", "--uncommitted", cwd=own.path).out
    assert cli("related", "src/queue.py:1", cwd=own.path).code == ExitCode.OK
    assert ", fresh, " in cli("query", SIGN, cwd=own.path).out


def test_no_refresh_indexes_nothing(cli: Cli, own: Repo) -> None:
    own.commit({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    before = (own.path / ".gitmem" / "manifest").read_bytes()
    outcome = cli("query", "--no-refresh", SIGN, cwd=own.path)
    assert "stale: 1 file not" in outcome.out
    assert (own.path / ".gitmem" / "manifest").read_bytes() == before


def test_copies_of_a_file_are_one_result(cli: Cli, indexed: Repo) -> None:
    output = cli("query", "-n", "1", "sign_cookie", cwd=indexed.path).out
    assert "the same in src/copy_of_cookies.py" in output


def test_hostile_names_cannot_move_the_cursor(cli: Cli, own: Repo) -> None:
    own.commit_entries({HOSTILE: b"def trap_door():\n    return '\x1b]0;owned\x07 \xe2\x80\xae'\n"})
    output = cli("query", "--rev", "HEAD", "--color", "always", "-n", "1", "trap_door", cwd=own.path).out
    assert "evil\\n\\e[31mred\\u202e.py" in output
    assert "\\e]0;owned\\x07 \\u202e" in output.replace("\x1b[1;31m", "").replace("\x1b[0m", "")
    assert "\u202e" not in output
    assert "\x07" not in output


def test_json_preserves_names_that_are_not_utf8(cli: Cli, own: Repo) -> None:
    own.commit_entries({LATIN: b"def coffee_machine():\n    return 1\n"})
    outcome = cli("query", "--rev", "HEAD", "--json", "coffee_machine", cwd=own.path)
    path = json.loads(outcome.out)["results"][0]["path"]
    assert outcome.out.isascii()
    assert path == '"caf\\351.py"'
    assert "caf\\xe9.py:" in cli("query", "--rev", "HEAD", "-n", "1", "coffee_machine", cwd=own.path).out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([""], "the query is empty"),
        (["  \n "], "the query is empty"),
        (["a" * 32_001], "Query exceeds maximum length of 32000 characters"),
        (["a" * 100_000], "Query exceeds maximum length of 32000 characters"),
        ([os.fsdecode(b"\xff\xfe")], "binary"),
        (["-n", "0", "x"], "at least 1"),
        (["-n", "-3", "x"], "at least 1"),
        (["-n", "51", "x"], "between 1 and 50"),
        (["-n", "many", "x"], "not a valid integer"),
        (["--lang", "pyhton", "x"], "did you mean `python`?"),
        (["--type", "functoin", "x"], "did you mean `function`?"),
        (["--mode", "fuzzy", "x"], "fuzzy"),
        (["--rev", "nowhere", "x"], "unknown commit, tag or branch: `nowhere`"),
        (["--rev", "v2", "x"], "did you mean `v1`?"),
        (["--rev", "--help", "x"], "--help"),
        (["--rev", "HEAD:notes.txt", "x"], "not a commit or a folder"),
        (["-l", "--json", "x"], "exclude each other"),
        (["--staged", "--rev", "HEAD", "x"], "`--rev` and `--staged` exclude each other"),
        (["--changed", "v1..", "--staged", "x"], "`--staged` and `--changed` exclude each other"),
        (["--changed", "v1", "x"], "not a range of revisions: `v1`"),
        (["--changed", "v2..HEAD", "x"], "did you mean `v1`?"),
        (["--bogus", "x"], "--bogus"),
        ([], "the query is missing"),
    ],
)
def test_bad_arguments_are_two_lines_and_code_two(cli: Cli, indexed: Repo, args: list[str], message: str) -> None:
    assert_error(cli("query", *args, cwd=indexed.path), ExitCode.USAGE, message)


@pytest.mark.parametrize(
    ("stdin", "message"),
    [(None, "standard input is closed"), (b"", "empty"), (b"\0\1\2", "binary"), (b"\xff" * 9000, "binary"),
     (b"a" * 200_000, "32000 characters"), ("é".encode() * 70_000, "32000 characters")],
)  # fmt: skip
def test_bad_standard_input_is_rejected(cli: Cli, indexed: Repo, stdin: bytes | None, message: str) -> None:
    assert_error(cli("query", "-", cwd=indexed.path, stdin=stdin), ExitCode.USAGE, message)


def test_a_query_of_a_thousand_characters_is_valid(cli: Cli, indexed: Repo) -> None:
    assert cli("query", ("cookie " * 200)[:1000], cwd=indexed.path).code == 0


def test_related_finds_other_code_but_not_the_chunk_itself(cli: Cli, indexed: Repo) -> None:
    line = (
        indexed.git("show", "HEAD:src/cookies.py")
        .splitlines()
        .index("def make_signature(value: str, secret: str) -> str:")
        + 2
    )
    result = json.loads(cli("related", "--json", f"src/cookies.py:{line}", cwd=indexed.path).out)
    assert result["results"][0]["symbol"] == "CookieSession.sign_cookie"
    assert all(hit["symbol"] != "make_signature" for hit in result["results"])


def test_related_accepts_locations_of_results_and_paths_relative_to_a_folder(cli: Cli, indexed: Repo) -> None:
    one = cli("related", "-l", "src/routing.ts:2", cwd=indexed.path)
    assert one.code == 0
    assert one == cli("related", "-l", "src/routing.ts:2-4", cwd=indexed.path)
    assert one == cli("related", "-l", "routing.ts:2", cwd=indexed.path / "src")
    assert one == cli("related", "-l", f"{indexed.path}/src/routing.ts:2", cwd=indexed.path)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("src/cookies.py", "is a whole file"),
        ("src/cookies.py:0", "line number out of range"),
        ("src/cookies.py:x", "no such file in this tree"),
        (":7", "no such file in this tree"),
        ("src/cookeis.py:1", "did you mean `src/cookies.py`?"),
        ("guide.md:1", "did you mean `docs/guide.md`?"),
        ("src/cookies.py:999", "lines, line 999 does not exist"),
        ("logo.png:1", "not indexed: binary"),
        ("package-lock.json:1", "not indexed: generated"),
        ("empty.py:1", "not indexed: empty"),
    ],
)
def test_related_explains_a_wrong_location(cli: Cli, indexed: Repo, location: str, message: str) -> None:
    assert_error(cli("related", location, cwd=indexed.path), ExitCode.USAGE, message)


def test_a_minimum_score_leaves_out_results_and_names_the_best_of_them(cli: Cli, indexed: Repo) -> None:
    scores = [hit["score"] for hit in answer(cli, indexed, SIGN, "--min-score", "0")["results"]]
    middle = (scores[0] + scores[1]) / 2
    kept = answer(cli, indexed, SIGN, "--min-score", str(middle))
    assert [hit["score"] for hit in kept["results"]] == [score for score in scores if score >= middle]
    assert kept["stats"]["below_min_score"] == sum(score < middle for score in scores) > 0
    assert kept["stats"]["best_below_min_score"] == max(score for score in scores if score < middle)
    assert answer(cli, indexed, SIGN, "--min-score", "0")["stats"]["best_below_min_score"] is None
    nothing = cli("query", SIGN, "--min-score", "1", cwd=indexed.path)
    assert (nothing.code, nothing.out) == (ExitCode.NO_RESULTS, "")
    below = re.match(r"(\d+) results below (1\.0+), best (0\.\d+) \(main ", nothing.err)
    assert below, nothing.err
    assert int(below[1]) == len(scores)
    assert scores[0] - 0.01 <= float(below[3]) < 1
    assert nothing.err.endswith("hint: to see them: --min-score 0\n")


def test_a_minimum_score_is_named_with_the_digits_that_it_has(cli: Cli, indexed: Repo) -> None:
    nothing = cli("query", SIGN, "--min-score", "0.999", cwd=indexed.path)
    assert " results below 0.999, best 0." in nothing.err


@pytest.mark.parametrize("value", ["-0.1", "1.5", "nan"])
def test_a_minimum_score_outside_of_0_to_1_is_refused(cli: Cli, indexed: Repo, value: str) -> None:
    outcome = cli("query", SIGN, "--min-score", value, cwd=indexed.path)
    assert_error(outcome, ExitCode.USAGE, f"the minimum score is {value}, it must be between 0 and 1")


@pytest.mark.parametrize("text", ["react component for login form", "chocolate cake recipe", "asdfgh qwerty zxcvb"])
def test_a_query_that_makes_no_sense_here_has_no_results(cli: Cli, indexed: Repo, text: str) -> None:
    outcome = cli("query", text, cwd=indexed.path)
    assert (outcome.code, outcome.out) == (ExitCode.NO_RESULTS, "")
    assert " below 0.07, best <0.01" in outcome.err
    assert cli("query", text, "--min-score", "0", cwd=indexed.path).code == ExitCode.OK


def test_a_narrow_filter_shows_the_nearest_chunks(cli: Cli, indexed: Repo) -> None:
    unlike = answer(cli, indexed, SIGN, "--path", "docs/")["results"]
    assert {hit["path"] for hit in unlike} == {"docs/guide.md"}


def test_cosine_and_distance_are_null_if_no_vectors_are_compared(cli: Cli, indexed: Repo) -> None:
    for mode in ("hybrid", "semantic"):
        for hit in answer(cli, indexed, SIGN, "--mode", mode)["results"]:
            assert hit["cosine"] + hit["distance"] == pytest.approx(1)
    assert {hit["cosine"] for hit in answer(cli, indexed, SIGN, "--mode", "lexical")["results"]} == {None}

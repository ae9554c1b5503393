"""Events: metrics over processes, and the log with its levels and without secrets."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.actions.metrics import RepositoryMetrics, prometheus_text
from gitmem.errors import ExitCode
from gitmem.events import LOG, OLD_LOGS, Measured, distrust_index, emit, measured, select_level, trust_index
from gitmem.fsio import append_file
from gitmem.locks import writer_lock
from gitmem.metrics import BUCKETS, Series, fold_journals, read_metrics
from gitmem.paths import IndexPaths
from gitmem.settings import LOG_OFF, parse_settings
from tests.embedding.provider_server import error, provider_server
from tests.gitrepo import Repo
from tests.indexes import workspace_of
from tests.sample import SIGN, Cli, Outcome, assert_error

KEY = "unlikely-looking-key"


@pytest.fixture
def paths(tmp_path: Path) -> IndexPaths:
    return make_index(tmp_path)


@pytest.fixture(autouse=True)
def _log_nothing_afterwards() -> Iterator[None]:
    yield
    select_level(LOG_OFF)


def make_index(folder: Path) -> IndexPaths:
    index = IndexPaths(folder)
    index.state.mkdir()
    trust_index(folder)
    return index


def count(paths: IndexPaths, seconds: float = 0.02, **amounts: int) -> None:
    operation = Measured("search.query", paths)
    operation.amounts |= amounts
    emit(operation, seconds)


def close_journals(paths: IndexPaths) -> None:
    """Give each closed journal a name of some minutes ago."""
    for file in paths.state.glob("measured-*"):
        file.rename(file.with_name(f"measured-{int(file.name[9:]) - 10**12}"))


def grow_journal(paths: IndexPaths) -> None:
    append_file(paths.journal, b"#" * (1 << 16) + b"\n")


def test_events_of_several_threads_are_all_counted(paths: IndexPaths) -> None:
    def count_often() -> None:
        for _ in range(50):
            count(paths, results=3)

    threads = [threading.Thread(target=count_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [(name, series)] = read_metrics(paths).items()
    assert (name, series.count, series.amounts) == (("search.query", "ok"), 200, {"results": 600})
    assert series.buckets[BUCKETS.index(0.025)] == 200
    assert series.quantile(0.5) == 0.025


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(st.sampled_from(["count", "grow", "age", "fold"]), max_size=12))
def test_no_event_is_lost_or_counted_twice(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    paths = make_index(tmp_path_factory.mktemp("index"))
    actions = {"count": count, "grow": grow_journal, "age": close_journals, "fold": fold_journals}
    for step in steps:
        actions[step](paths)
    counted = sum(series.count for series in read_metrics(paths).values())
    assert counted == steps.count("count")


def test_a_fold_that_was_killed_before_it_removed_a_journal_counts_it_once(paths: IndexPaths) -> None:
    count(paths)
    grow_journal(paths)
    fold_journals(paths)
    close_journals(paths)
    [journal] = paths.state.glob("measured-*")
    content = journal.read_bytes()
    fold_journals(paths)
    journal.write_bytes(content)
    assert read_metrics(paths)[("search.query", "ok")].count == 1
    fold_journals(paths)
    assert read_metrics(paths)[("search.query", "ok")].count == 1
    assert not journal.exists()


def test_a_damaged_journal_or_sum_costs_its_events_alone(paths: IndexPaths) -> None:
    paths.journal.write_bytes(b"search.query ok 0.1\nsearch.que\n\xff\nsearch.query ok nan\nsearch.query ok 1 a=b\n\n")
    assert read_metrics(paths)[("search.query", "ok")].count == 1
    paths.metrics.write_bytes(b'{"version": 1, "contained": [], "series": [["search.query"]]}')
    assert read_metrics(paths)[("search.query", "ok")].count == 1


def test_a_failure_is_an_outcome_and_goes_on(paths: IndexPaths) -> None:
    with pytest.raises(ValueError, match="no"), measured("search.query", paths):
        raise ValueError("no")
    assert list(read_metrics(paths)) == [("search.query", "ValueError")]


def test_a_repository_that_cannot_be_written_is_searched_without_metrics(tmp_path: Path) -> None:
    trust_index(tmp_path / "missing")
    emit(Measured("search.query", IndexPaths(tmp_path / "missing")), 1.0)
    assert not (tmp_path / "missing").exists()


def test_nothing_is_written_into_a_folder_that_is_not_known_to_be_an_index(paths: IndexPaths) -> None:
    select_level("debug")
    distrust_index(paths.root)
    count(paths)
    assert list(paths.state.iterdir()) == []
    assert not paths.logs.exists()


def test_a_log_that_is_a_link_is_not_followed(paths: IndexPaths, tmp_path: Path) -> None:
    select_level("info")
    outside = tmp_path / "outside"
    outside.mkdir()
    paths.logs.symlink_to(outside)
    paths.journal.symlink_to(outside / "journal")
    count(paths)
    assert list(outside.iterdir()) == []


def test_an_operation_counts_where_the_one_around_it_does(paths: IndexPaths) -> None:
    with measured("search.query", paths), measured("embedding.query"):
        pass
    with measured("embedding.query"):
        pass
    counts = {name: series.count for name, series in read_metrics(paths).items()}
    assert counts == {("search.query", "ok"): 1, ("embedding.query", "ok"): 1}


def test_the_log_is_rotated(paths: IndexPaths, capsys: pytest.CaptureFixture[str]) -> None:
    select_level("info")
    for _ in range(OLD_LOGS + 2):
        count(paths)
        append_file(paths.logs / LOG, b" " * (4 << 20) + b"\n")
        count(paths)
    assert sorted(file.name for file in paths.logs.iterdir()) == [f"{LOG}.{number}" for number in (1, 2, 3)]
    assert capsys.readouterr().err.count('"operation": "query"') == 2 * (OLD_LOGS + 2)


def test_queries_to_a_provider_are_counted(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider_server() as server:
        for name, value in {"PROVIDER": "openai-compatible", "PROVIDER_URL": server.url, "MODEL": "counted",
                            "USE_SERVER": "false"}.items():  # fmt: skip
            monkeypatch.setenv(f"GITMEM_{name}", value)
        assert cli("index", cwd=own.path).code == 0
        assert cli("query", SIGN, cwd=own.path).code == 0
        server.always = error(400, "no")
        cli("query", "another thing", cwd=own.path)
        counted = json.loads(cli("metrics", "--json", cwd=own.path).out)["operations"]
    rows = {(one["operation"], one["outcome"]): (one["count"], one["amounts"]) for one in counted}
    assert rows[("embedding.query", "ok")] == (1, {"texts": 1})
    assert [outcome for operation, outcome in rows if operation == "embedding.query"] == ["TextsRefused", "ok"]
    assert rows[("embedding.request", "ok")][0] >= 1


def test_a_name_is_escaped_for_prometheus() -> None:
    series = Series()
    series.add(0.5, {})
    text = prometheus_text([RepositoryMetrics('a"b\\c\nd', {("search.query", "ok"): series}, {"chunks": 1})])
    assert 'repository="a\\"b\\\\c' in text
    assert all(line.startswith(("# ", "gitmem_")) for line in text.splitlines())


def test_commands_are_counted_and_shown(cli: Cli, own: Repo) -> None:
    for _ in range(2):
        assert cli("query", SIGN, cwd=own.path).code == 0
    assert cli("query", "--mode", "lexical", "qqqzzz", cwd=own.path).code == 1
    shown = json.loads(cli("metrics", "--json", cwd=own.path).out)
    counts = {(one["operation"], one["outcome"]): one["count"] for one in shown["operations"]}
    assert counts[("search.query", "ok")] == 3
    assert counts[("cli.query", "ok")] == 2
    assert counts[("cli.query", "exit_1")] == 1
    assert shown["store"]["chunks"] > 0
    text = cli("metrics", "--prometheus", cwd=own.path).out
    labels = 'repository="own",component="search",operation="query",outcome="ok"'
    assert f'gitmem_operation_seconds_bucket{{{labels},le="+Inf"}} 3\n' in text
    assert f"gitmem_operation_seconds_count{{{labels}}} 3\n" in text
    assert f'gitmem_amount_total{{{labels},amount="results"}} ' in text
    assert cli("metrics", cwd=own.path).out.startswith("cli.")
    assert SIGN not in (own.path / ".gitmem" / "state" / "measured").read_text()
    assert_error(cli("metrics", "--json", "--prometheus", cwd=own.path), 2)


@pytest.mark.parametrize(("level", "operations"), [("off", []), ("error", []), ("info", ["query", "query"])])
def test_queries_are_logged_at_level_debug_alone(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch, level: str, operations: list[str]
) -> None:
    monkeypatch.setenv("GITMEM_LOG", "off")
    outcome = cli("--log-level", level, "query", SIGN, cwd=own.path)
    lines = [json.loads(line) for line in outcome.err.splitlines() if line.startswith("{")]
    assert [line["operation"] for line in lines] == operations
    assert all({"time", "level", "component", "outcome", "duration_ms", "pid"} <= line.keys() for line in lines)
    assert SIGN not in outcome.err
    file = own.path / ".gitmem" / "logs" / LOG
    assert (file.read_text().splitlines() if file.exists() else []) == [json.dumps(line) for line in lines]
    assert SIGN in cli("--log-level", "debug", "query", SIGN, cwd=own.path).err
    assert SIGN in file.read_text()


@pytest.mark.parametrize(
    ("value", "level"),
    [("INFO", "info"), ("Warning", "error"), ("trace", "debug"), ("critical", "error"), ("5", "off"), ("", "off")],
)
def test_the_level_of_other_programs_is_read_at_lower_priority(value: str, level: str) -> None:
    other = {"LOG_LEVEL": value}
    assert parse_settings([], other).log == level
    assert parse_settings([("gitmem.log", "off", "global")], other).log == LOG_OFF
    assert parse_settings([], {**other, "GITMEM_LOG": "error"}).log == "error"


def test_an_unknown_level_is_refused(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_LOG", "off")
    refused = cli("--log-level", "loud", "query", SIGN, cwd=own.path)
    assert refused.code == 2
    assert "`--log-level` is `loud`, expected one of: debug, info, error, off" in refused.err
    monkeypatch.setenv("GITMEM_LOG", "loud")
    refused = cli("query", SIGN, cwd=own.path)
    assert "`gitmem.log` is `loud` (environment, GITMEM_LOG), expected one of debug, info, error, off" in refused.err


def test_reset_begins_to_count_anew(cli: Cli, own: Repo) -> None:
    state = own.path / ".gitmem" / "state"
    cli("query", SIGN, cwd=own.path)
    # A journal that was closed, and the sums of an earlier one.
    (state / "measured-1").write_bytes(b"search.query ok 0.1\n")
    with writer_lock(own.path / ".gitmem" / "lock", wait=False):
        fold_journals(workspace_of(own).paths)
        assert_error(cli("metrics", "--reset", cwd=own.path), ExitCode.BUSY)
    (state / "measured-2").write_bytes(b"search.query ok 0.1\n")
    assert "search.query ok: " in cli("metrics", cwd=own.path).out
    assert cli("metrics", "--reset", cwd=own.path) == Outcome(0, "", "")
    operations = json.loads(cli("metrics", "--json", cwd=own.path).out)["operations"]
    assert [one["operation"] for one in operations] == ["cli.metrics"]
    assert_error(cli("metrics", "--reset", "--json", cwd=own.path), ExitCode.USAGE, "`--reset` prints nothing")


def test_no_artefact_has_the_key_or_a_secret_of_a_query(
    cli: Cli, own: Repo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
    with provider_server() as server:
        for name, value in {"LOG": "debug", "PROVIDER": "openai-compatible", "PROVIDER_URL": server.url,
                            "PROVIDER_KEY": KEY, "MODEL": "small", "USE_SERVER": "false"}.items():  # fmt: skip
            monkeypatch.setenv(f"GITMEM_{name}", value)
        outputs = [cli("index", cwd=own.path), cli("query", f"{SIGN} {KEY} {token}", cwd=own.path)]
        server.always = error(400, f"bad {KEY}")
        outputs += [
            cli("query", "another thing", cwd=own.path),
            cli("health", cwd=own.path),
            cli("metrics", cwd=own.path),
        ]
    assert '"query": "' in outputs[1].err
    assert '"component": "embedding"' in outputs[0].err
    shown = "".join(outcome.out + outcome.err for outcome in outputs)
    # The repository's own content may be quoted in results; these two are in no file of it.
    assert KEY not in shown
    assert token not in shown
    files = [file for folder in (own.path, home) for file in folder.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if KEY.encode() in file.read_bytes() or token.encode() in file.read_bytes()]
    assert os.environ["GITMEM_LOG"] == "debug"

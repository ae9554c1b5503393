"""Reports: templates, sessions, files that are never replaced, and what is kept out of the index."""

import json
import os
import re
from pathlib import Path

import pytest

from gitmem.actions.report_creation import ReportRequest, create_report
from gitmem.actions.report_process import render_in_process
from gitmem.actions.report_template import MAX_TEMPLATE
from gitmem.errors import UnknownRecord, UsageError
from tests.gitrepo import Repo
from tests.sample import SIGN, Cli, assert_error, open_sample

TIME = 1_790_000_000.0
"""2026-09-21 14:13:20 UTC."""

VARIABLES = {
    "query": "How are cookies signed?",
    "overall_summary": "With HMAC. {{query}}",
    "sections": [
        {
            "file_name": "cookies.py",
            "file_name_with_line": "cookies.py:7-9",
            "file_uri": "file:///x/cookies.py",
            "section_summary": "The session signs.",
            "section_quote": "1\n\n2\n```\n4\n5\n6",
        }
    ],
}

BASIC = """\
# How are cookies signed?

Generated: 2026-09-21T14:13:20Z

## Summary

With HMAC. {{query}}

## [cookies.py:7-9](file:///x/cookies.py)

The session signs.

````
1
2
```
4
5
````
"""


def create(repo: Repo, variables: object = VARIABLES, **request: object) -> Path:
    return create_report(open_sample(repo), ReportRequest(variables, **request), lambda: TIME).path  # type: ignore[arg-type]


def test_a_report_is_a_file_named_by_time_and_query(own: Repo) -> None:
    path = create(own)
    assert path == own.path / "rag-reports" / "20260921_141320_How_are_cookies_signed.md"
    assert path.read_text() == BASIC


@pytest.mark.parametrize(
    ("template", "lines"),
    [
        ("paper", ["## Findings", "The session signs. [1]", r"\[1\] [cookies.py:7-9](file:///x/cookies.py)"]),
        ("bullet_points", ["- With HMAC. {{query}}", "- [cookies.py:7-9](file:///x/cookies.py): The session signs."]),
        ("default", ["# How are cookies signed?", "## Summary"]),
    ],
)
def test_the_other_templates(own: Repo, template: str, lines: list[str]) -> None:
    text = create(own, template=template).read_text().splitlines()
    assert [line for line in text if line in lines] == lines


def test_no_report_replaces_a_file(own: Repo) -> None:
    first = create(own)
    first.write_text("edited by the user")
    (first.parent / f"{first.stem}_2.md").symlink_to(own.path / "nothing")
    third = create(own)
    assert third.name == f"{first.stem}_3.md"
    assert first.read_text() == "edited by the user"
    assert not (own.path / "nothing").exists()


def test_names_are_made_safe(own: Repo) -> None:
    assert create(own, file_name="../a b/ä?.md").name == "20260921_141320_a_b_ä.md"
    assert create(own, ascii_name="Session cookies").name == "20260921_141320_Session_cookies.md"
    assert create(own, {**VARIABLES, "query": "???"}).name == "20260921_141320_report.md"
    with pytest.raises(UsageError, match="outside of ASCII"):
        create(own, ascii_name="ä")


def test_reports_are_not_indexed_and_their_neighbours_are(own: Repo, cli: Cli) -> None:
    own.write({"docs/notes/plan.md": "# Plan\n\nThe zanzibar plan.\n"})
    variables = {**VARIABLES, "overall_summary": "All about the zanzibar plan."}
    for folder in ("", "docs/notes"):
        create(own, variables, folder=folder)
        create(own, variables, folder=folder)
        ignored = own.path / (folder or "rag-reports") / ".gitmemignore"
        assert ignored.read_text().count("_*.md") == 1
    assert cli("query", "-l", "zanzibar plan", cwd=own.path).out.splitlines()[0] == "docs/notes/plan.md"
    assert "rag-reports" not in cli("query", "-l", "-n", "50", "zanzibar plan", cwd=own.path).out
    own.commit()
    assert "2026" not in cli("query", "-l", "-n", "50", "--rev", "HEAD", "zanzibar plan", cwd=own.path).out


def test_an_ignore_file_of_the_user_keeps_its_lines(own: Repo) -> None:
    own.write({"rag-reports/.gitmemignore": "drafts/"})
    create(own)
    lines = (own.path / "rag-reports" / ".gitmemignore").read_text().splitlines()
    assert lines[0] == "drafts/"
    assert lines[-1].endswith("_*.md")


@pytest.mark.parametrize("folder", ["..", "/tmp", ".git", ".git/x", ".gitmem/state", "link/x", "sub/.git"])
def test_a_folder_outside_of_the_repository_is_refused(own: Repo, folder: str, tmp_path: Path) -> None:
    (own.path / "link").symlink_to(tmp_path)
    before = sorted(map(str, tmp_path.rglob("*.md")))
    with pytest.raises(UsageError, match=r"outside of the repository|belongs to git"):
        create(own, folder=folder)
    assert sorted(map(str, tmp_path.rglob("*.md"))) == before


def test_an_allowed_folder_may_lie_outside(
    own: Repo, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_REPORT_ALLOWED", str(tmp_path / "allowed"))
    outcome = cli("report", "create", "--vars", "-", "--out", str(tmp_path / "allowed/deep"), cwd=own.path,
                  stdin=json.dumps(VARIABLES).encode())  # fmt: skip
    assert Path(outcome.out.strip()).parent == tmp_path / "allowed/deep"
    assert not (tmp_path / "allowed/deep/.gitmemignore").exists()


def test_missing_variables_are_named_and_nothing_is_written(own: Repo) -> None:
    with pytest.raises(UsageError, match=re.escape("template `basic` needs `overall_summary`, `sections`")):
        create(own, {"query": "x"})
    for wrong in ({"sections": [{"a": {"b": "c"}}]}, {"sections": {"a": "b"}}, {"query": "a\0"}, {"query": "\udc80"}):
        with pytest.raises(UsageError):
            create(own, {**VARIABLES, **wrong})
    assert not (own.path / "rag-reports").exists()


def test_a_template_of_the_user_is_read_anew_each_time(own: Repo, cli: Cli) -> None:
    own.write({"report-templates/short.md": "{{query}}: {{mood}}{{#sections}}[{{file_name}}]{{/sections}}\n"})
    assert create(own, template="short").read_text() == "How are cookies signed?: [cookies.py]\n"
    described = {"description": "A short one.", "variables": {"mood": {"type": "string", "required": True}}}
    own.write({"report-templates/short.md.json": json.dumps(described)})
    with pytest.raises(UsageError, match="needs `mood`"):
        create(own, template="short")
    assert (
        create(own, {**VARIABLES, "mood": "good"}, template="short")
        .read_text()
        .startswith("How are cookies signed?: good")
    )
    assert json.loads(cli("report", "schema", "short", cwd=own.path).out) == {**described, "name": "short"}
    assert cli("report", "templates", cwd=own.path).out.splitlines()[-1].split() == ["short", "A", "short", "one."]
    own.git("config", "gitmem.reportTemplate", "short")
    assert cli("report", "schema", cwd=own.path).out == cli("report", "schema", "short", cwd=own.path).out


def test_templates_are_not_read_outside_of_the_repository(own: Repo, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.md").write_text("secret")
    (own.path / "report-templates").symlink_to(tmp_path / "elsewhere")
    assert_error(cli("report", "schema", "secret", cwd=own.path), 2, "outside of the repository")
    own.git("config", "gitmem.reportTemplates", str(tmp_path / "elsewhere"))
    assert cli("report", "schema", "secret", cwd=own.path).code == 0
    (tmp_path / "elsewhere/long.md").write_text("x" * (MAX_TEMPLATE + 1))
    assert_error(cli("report", "create", "--template", "long", cwd=own.path), 2, "longer than 64 KiB")


@pytest.mark.parametrize(
    "template",
    ["{{#sections}}" * 9 + "x" * 99 + "{{/sections}}" * 9, "{{{query}}}" * 5000],
    ids=["loops in loops", "a large report"],
)
def test_a_hostile_template_costs_one_error(template: str) -> None:
    values = {"query": "q" * 60_000, "sections": [{"number": str(number)} for number in range(400)]}
    with pytest.raises(UsageError, match=r"too much time or memory|more than"):
        render_in_process("hostile", template, values, keep_blank=True, seconds=1)


def test_a_search_supplies_query_and_sections(own: Repo, cli: Cli) -> None:
    search = json.loads(cli("query", "--json", SIGN, cwd=own.path).out)
    found = search["results"][0]
    outcome = cli("report", "create", "--json", "--session", search["session"], "--set", "overall_summary=Signed.",
                  cwd=own.path)  # fmt: skip
    report = json.loads(outcome.out)
    text = Path(report["path"]).read_text()
    assert text == report["preview"] or text.startswith(report["preview"][:-1])
    assert os.stat(report["path"]).st_size == report["bytes"]  # noqa: PTH116
    lines = text.splitlines()
    assert lines[0] == f"# {SIGN}"
    assert f"## [{found['id']}]((file://{own.path}/{found['path']})".replace("((", "(") in lines
    assert len([line for line in lines if line.startswith("## [")]) == min(5, len(search["results"]))
    assert found["content"].splitlines()[0] in lines
    with pytest.raises(UnknownRecord, match="no such session"):
        create(own, sessions=("search_00000000",))
    with pytest.raises(UsageError, match="not the id of a session"):
        create(own, sessions=("mem_00000000",))


@pytest.mark.parametrize(
    ("args", "stdin", "message"),
    [
        (("--vars", "-"), b"[1]", "is not a JSON object"),
        (("--vars", "-"), b"{", "is not valid JSON"),
        (("--vars", "nosuch.json"), b"", "nosuch.json"),
        (("--set", "query"), b"", "is not of the form NAME=TEXT"),
        (("--template", "../x"), b"", "no such template"),
    ],
)
def test_wrong_arguments_give_one_line(own: Repo, cli: Cli, args: tuple[str, ...], stdin: bytes, message: str) -> None:
    assert_error(cli("report", "create", *args, cwd=own.path, stdin=stdin), 2, message)

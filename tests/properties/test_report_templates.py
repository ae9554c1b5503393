"""Reports from any variables, templates and folders."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.actions.report_file import find_folder, report_name
from gitmem.actions.report_template import BUILT_IN, read_template
from gitmem.actions.report_text import check_variables, complete_sections, render_text
from gitmem.errors import GitmemError, UsageError
from tests.gitrepo import Repo
from tests.sample import open_sample

many = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

NAMES = ("query", "generated_at", "overall_summary", "sections", "file_name", "file_uri", "section_quote", "number")
OTHER_TAGS = ("{{#sections}}", "{{/sections}}", "{{{query}}}", "{{=<% %>=}}")
TAGS = st.sampled_from([*(f"{{{{{name}}}}}" for name in NAMES), *OTHER_TAGS])
USER_TEXT = st.lists(st.one_of(TAGS, st.text("ab{}<&>`# \n", max_size=6)), max_size=6).map("".join)
SECTION = st.fixed_dictionaries(
    {"section_summary": USER_TEXT}, optional=dict.fromkeys(("file_name", "file_uri", "section_quote"), USER_TEXT)
)
MARK = "MARK"


@many
@given(
    name=st.sampled_from(BUILT_IN),
    texts=st.fixed_dictionaries(dict.fromkeys(("query", "generated_at", "overall_summary"), USER_TEXT)),
    sections=st.lists(SECTION, max_size=4),
)
def test_texts_of_a_user_are_inserted_once(
    indexed: Repo, name: str, texts: dict[str, str], sections: list[dict[str, str]]
) -> None:
    """Property 47: Templates."""
    template = read_template(open_sample(indexed), name).text
    values = complete_sections(check_variables({**texts, "sections": sections}), 5, keep_blank=True)
    expected = render_text(template, values, keep_blank=True)
    # With harmless texts in their place nothing of the template remains, and putting them back gives the report.
    inserted: list[str] = []

    def masked(value: object) -> object:
        if isinstance(value, str):
            inserted.append(value)
            return f"{MARK}{len(inserted) - 1};"
        if isinstance(value, dict):
            return {key: masked(item) for key, item in value.items()}
        return [masked(item) for item in value] if isinstance(value, list) else value

    report = render_text(template, {key: masked(value) for key, value in values.items()}, keep_blank=True)
    assert "{{" not in report
    restored = re.sub(f"{MARK}(\\d+);", lambda match: inserted[int(match[1])], report)
    assert restored.strip("\n") == expected.strip("\n")


FOLDERS = ("..", ".", "", "rag-reports", "docs", "link", "inner", ".git", ".gitmem", "~", "C:", "a\0b", "é", "\udc80")


@many
@given(
    parts=st.lists(st.sampled_from(FOLDERS), max_size=6),
    root=st.sampled_from(["", "/", "/etc/", "//", "{repo}/", "{repo}/../"]),
    name=st.text(max_size=300),
)
def test_no_folder_leads_out_of_the_repository(own: Repo, parts: list[str], root: str, name: str) -> None:
    """Property 50: Paths."""
    workspace = open_sample(own)
    for link, target in (("link", own.path.parent), ("inner", own.path / "src")):
        if not (own.path / link).is_symlink():
            (own.path / link).symlink_to(target)
    given_path = root.format(repo=own.path) + "/".join(parts)
    try:
        folder = find_folder(workspace, given_path)
    except UsageError:
        return
    real = Path(os.path.realpath(folder))
    assert real == folder
    assert real.is_relative_to(os.path.realpath(own.path))
    assert not {".git", ".gitmem"}.intersection(real.relative_to(os.path.realpath(own.path)).parts)
    file = report_name("20260131_120000", name, "", "query")
    assert Path(file).name == file
    assert "\0" not in file
    assert len(f".{file}_999.md.0123456789ab.tmp".encode()) <= 255


@many
@given(parts=st.lists(st.sampled_from(["..", "/", "basic", ".md", "\0", "a", "%2e", "\\", "secret"]), max_size=5))
def test_no_name_of_a_template_reads_another_file(own: Repo, parts: list[str]) -> None:
    """Property 50: Paths."""
    folder = own.path / "report-templates"
    folder.mkdir(exist_ok=True)
    (own.path / "secret.md").write_text("outside")
    if not (folder / "a.md").is_symlink():
        (folder / "a.md").symlink_to(own.path / "secret.md")
    try:
        template = read_template(open_sample(own), "".join(parts))
    except GitmemError:
        return
    assert template.name in BUILT_IN
    assert "outside" not in template.text


FAULTY = ("{{#a}}", "{{/a}}", "{{#a}}{{/b}}", "{{=|=}}")
STRANGE = ("{{>partial}}", "{{", "}}", "{{=", "{{}}", "{{a.b.c}}", "{{^a}}x{{/a}}", "{{! {{a}} }}")


@pytest.mark.parametrize("template", FAULTY)
def test_a_faulty_template_gives_an_error(template: str) -> None:
    with pytest.raises(UsageError, match="the template is not valid"):
        render_text(template, {"a": "x"}, keep_blank=True)


@pytest.mark.parametrize("template", STRANGE)
def test_a_strange_template_gives_a_text(template: str) -> None:
    assert render_text(template, {"a": "x"}, keep_blank=True).endswith("\n")

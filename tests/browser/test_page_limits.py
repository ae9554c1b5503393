"""The page at its limits: accessibility, phones, dark screens, hostile names, a hundred repositories, no script."""

import shutil
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from gitmem.registry import add_repository
from tests.browser.chromium import PATIENCE, PHONE, accessibility_problems, save_screenshot, sideways_scroll
from tests.browser.test_repository_pages import functions
from tests.gitrepo import Repo

SCRIPT: Final = "<script>document.title = 1</script>"
PAGES: Final = (
    "?query=sign+the+cookie",
    "file?repository=sample&path=src/cookies.py&first=4",
    "similar?repository=sample&location=src/cookies.py:7",
    "repositories",
    "repository?name=sample",
    "configuration?name=sample",
    "memory?repository=sample",
    "memory?repository=sample&kind=history",
    "file?repository=sample&path=missing",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_fits_a_phone(page: Page, scheme: str) -> None:
    start = page.url
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    problems = {}
    for number, path in enumerate(PAGES):
        page.goto(start + path)
        problems[path] = accessibility_problems(page)
        save_screenshot(page, f"{scheme}-{number}")
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    for number, path in enumerate(PAGES):
        page.goto(start + path)
        save_screenshot(page, f"{scheme}-phone-{number}")
        problems[path] += [f"{sideways_scroll(page)} pixels too wide"] if sideways_scroll(page) else []
    assert {path: found for path, found in problems.items() if found} == {}


def test_markup_in_names_and_notes_is_shown_and_not_run(page: Page, user: dict[str, str], repo: Repo) -> None:
    start, name = page.url, '<img src=x onerror="document.title=1">.py'
    repo.commit({name: f'def sign_cookie(value):\n    """{SCRIPT} signs."""\n    return value\n'})
    add_repository(user, repo.path, "hostile")
    page.goto(f"{start}repository?name=hostile")
    page.get_by_role("button", name="Update").click()
    expect(page.locator("#state")).to_have_text("Up to Date", timeout=PATIENCE)
    page.goto(f"{start}?query=sign+cookie&repository=hostile")
    expect(page.locator("#results .hit").first).to_contain_text("<script>")
    page.locator("#results a.place").first.click()
    expect(page.locator("h1 code")).to_contain_text("<img src=x")
    assert page.locator("main img").count() == 0
    assert page.title() != "1"


def test_a_hundred_repositories_stay_usable(page: Page, user: dict[str, str], tmp_path: Path) -> None:
    start, empty = page.url, Repo.init(tmp_path / "empty")
    for number in range(99):
        shutil.copytree(empty.path, tmp_path / f"empty{number}")
        add_repository(user, tmp_path / f"empty{number}", f"empty{number:02}")
    page.goto(f"{start}repositories")
    assert page.locator("main a", has_text="empty").count() >= 99
    page.goto(f"{start}?query=sign+the+cookie&repository=sample")
    expect(page.locator("#results .hit").first).to_contain_text("sign_cookie")
    assert sideways_scroll(page) == 0
    assert accessibility_problems(page) == []


def test_the_page_works_without_its_script(page: Page, visit: BrowserContext, browser: Browser) -> None:
    plain = browser.new_context(java_script_enabled=False)
    try:
        plain.add_cookies(
            [{"name": str(one["name"]), "value": str(one["value"]), "url": page.url} for one in visit.cookies()]
        )
        bare = plain.new_page()
        bare.goto(page.url)
        bare.get_by_role("searchbox").fill("sign the cookie")
        bare.get_by_role("searchbox").press("Enter")
        expect(bare.locator("#results .hit").first).to_contain_text("sign_cookie")
    finally:
        plain.close()


def test_hundreds_of_results_are_shown(page: Page, sample: Repo) -> None:
    sample.commit(functions(300))
    page.goto(f"{page.url}?query=area+of+a+side&repository=sample&limit=300&min_score=0")
    expect(page.locator("#results .hit").nth(200)).to_be_attached(timeout=PATIENCE)
    assert sideways_scroll(page) == 0

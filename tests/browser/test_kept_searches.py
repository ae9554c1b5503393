"""Searches that are kept and reports, in the browser, with the accessibility rules."""

import re

from playwright.sync_api import Page, expect

from tests.browser.chromium import PHONE, accessibility_problems, save_screenshot, sideways_scroll
from tests.gitrepo import Repo
from tests.web.server_process import run


def test_a_search_is_kept_and_becomes_a_report(page: Page) -> None:
    start = page.url
    page.goto(f"{start}?query=sign+the+cookie&repository=sample")
    page.get_by_role("button", name="Keep for a report").click()
    expect(page.get_by_role("heading", name="sign the cookie")).to_be_visible()
    expect(page.locator(".hit").first).to_contain_text("sign_cookie")
    assert not accessibility_problems(page)
    save_screenshot(page, "session")
    page.get_by_label("Template").select_option("paper")
    page.get_by_role("button", name="Use").click()
    page.get_by_label("Overall summary").fill("Cookies are signed with HMAC.")
    page.get_by_role("button", name="Write the report").click()
    expect(page.get_by_role("region", name="Text of the report")).to_contain_text("Cookies are signed with HMAC.")
    assert not accessibility_problems(page)
    save_screenshot(page, "report")
    page.get_by_role("link", name="Reports of sample").click()
    expect(page.get_by_role("link", name=re.compile("sign_the_cookie.md"))).to_be_visible()
    page.get_by_role("link", name="Searches", exact=True).click()
    expect(page.get_by_role("link", name="sign the cookie")).to_be_visible()
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    assert sideways_scroll(page) <= 0
    assert not accessibility_problems(page)


def test_a_stale_note_is_reviewed(page: Page, user: dict[str, str], sample: Repo) -> None:
    added = run(user, "memory", "add", "Keys are rotated.", "--path", "src/cookies.py", folder=sample.path)
    assert added.returncode == 0, added.stderr
    sample.commit({"src/cookies.py": (sample.path / "src" / "cookies.py").read_text() + "\nROTATES = True\n"})
    page.goto(f"{page.url}memory?repository=sample&kind=review")
    expect(page.locator(".card")).to_contain_text("changed since: 1 commit")
    assert not accessibility_problems(page)
    page.get_by_role("button", name=re.compile("Confirm")).click()
    expect(page.locator("main")).to_contain_text("No note is about a file that has changed since.")

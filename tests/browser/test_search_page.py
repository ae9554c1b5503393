"""Search in the browser: as you type, by keys, with filters, at a revision, and by its address."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import address_of, logged_in
from tests.gitrepo import Repo
from tests.web.server_process import run, server_environment, serving

QUERY = "sign the cookie"
FIRST = "#results .hit:first-child"


def type_query(page: Page, text: str = QUERY) -> None:
    """Type a query, and wait for its results."""
    page.get_by_role("searchbox").press_sequentially(text)
    expect(page.locator(FIRST)).to_be_visible()
    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")


def test_results_appear_as_you_type_and_the_address_reproduces_them(page: Page) -> None:
    type_query(page)
    expect(page.locator(FIRST)).to_contain_text("sign_cookie")
    # The lines are highlighted, and the words of the query are marked.
    expect(page.locator(f"{FIRST} .code mark").first).to_be_visible()
    page.wait_for_url(re.compile(r"query=sign\+the\+cookie"))
    places = page.locator("#results a.place").all_inner_texts()
    page.goto(page.url)
    assert page.locator("#results a.place").all_inner_texts() == places
    expect(page.get_by_role("searchbox")).to_have_value(QUERY)


def test_keys_move_through_the_results_and_open_one(page: Page) -> None:
    type_query(page)
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"{FIRST} a.place")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#results .hit:nth-child(2) a.place")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("tr.wanted").first).to_be_in_viewport()
    expect(page.locator("h1 code")).to_have_text("cookies.py")


def test_filters_restrict_the_results_at_once(page: Page) -> None:
    type_query(page)
    page.get_by_text("Filters").click()
    page.get_by_label("Path matches").fill("docs/**")
    page.get_by_label("Path matches").press("Tab")
    expect(page.locator("#results")).not_to_contain_text("cookies.py")
    page.get_by_label("Path matches").fill("")
    page.get_by_label("Language").fill("typescript")
    page.get_by_label("Language").press("Tab")
    expect(page.locator("#results")).not_to_contain_text("cookies.py")
    expect(page).to_have_url(re.compile("language=typescript"))


def test_a_result_of_a_tag_opens_at_that_tag(page: Page) -> None:
    page.get_by_text("Filters").click()
    assert "v1" in page.locator("#revisions option").evaluate_all("all => all.map(one => one.value)")
    page.get_by_label("Revision").fill("v1")
    type_query(page)
    expect(page.locator(FIRST)).to_contain_text("old/session.py")
    page.locator(f"{FIRST} a.place").click()
    expect(page.locator(".facts").first).to_contain_text("v1")
    expect(page.locator("tr.wanted").first).to_be_in_viewport()


def test_notes_are_beside_the_code_and_similar_code_is_a_click_away(page: Page) -> None:
    page.goto(f"{page.url}memory?repository=sample&add=1&path=src/cookies.py")
    page.get_by_role("textbox", name="Note").fill("The secret rotates every quarter.")
    page.get_by_role("button", name="Store").click()
    expect(page.locator("main")).to_contain_text("The secret rotates every quarter.")
    page.goto(re.sub(r"memory.*", "", page.url))
    type_query(page)
    page.locator(f"{FIRST} a.place").click()
    expect(page.get_by_role("complementary", name="Notes")).to_contain_text("The secret rotates every quarter.")
    page.get_by_role("link", name="Code like this").click()
    expect(page.locator(FIRST)).to_contain_text("cookies.py")


def test_uncommitted_lines_are_found(page: Page, sample: Repo) -> None:
    (sample.path / "fresh.py").write_text('def measure_tide(port):\n    """Height of the tide in a port."""\n')
    type_query(page, "height of the tide")
    expect(page.locator(FIRST)).to_contain_text("fresh.py")


def test_a_server_that_ends_is_reported(browser: Browser, tmp_path: Path) -> None:
    user = server_environment(tmp_path)
    with serving(user, "--port", "0"), logged_in(browser, user) as context:
        page = context.new_page()
        page.goto(address_of(user))
        assert run(user, "serve", "stop").returncode == 0
        page.get_by_role("searchbox").press_sequentially("cookie")
        expect(page.get_by_role("alert")).to_contain_text("gitmem open")

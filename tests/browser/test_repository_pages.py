"""Repositories and memory in the browser: runs with progress, names, removal, and the life of a note."""

import re

from playwright.sync_api import Page, expect

from gitmem.registry import add_repository
from tests.browser.chromium import PATIENCE
from tests.gitrepo import Repo


def functions(count: int) -> dict[str, str]:
    """Return files with a function each."""
    return {f"area/{number}.py": f"def area_{number}(side):\n    return side * {number}\n" for number in range(count)}


def test_update_rebuild_and_the_run_log(page: Page, sample: Repo) -> None:
    sample.commit(functions(40))
    page.get_by_role("link", name="Repositories").click()
    expect(page.locator("main")).to_contain_text("Needs Update")
    page.get_by_role("link", name="sample", exact=True).click()
    page.get_by_role("button", name="Update").click()
    expect(page.locator("#state")).to_have_text("Up to Date", timeout=PATIENCE)
    expect(page.get_by_role("region", name="Runs")).to_contain_text("success")
    page.get_by_role("button", name="Rebuild").click()
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#state")).to_have_text("Up to Date", timeout=PATIENCE)
    expect(page.locator("main")).to_contain_text("python")


def test_rename_and_remove(page: Page, user: dict[str, str], own: Repo) -> None:
    add_repository(user, own.path, "spare")
    page.goto(f"{page.url}repository?name=spare")
    page.get_by_label("New name").fill("renamed")
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("link", name="renamed", exact=True).click()
    page.get_by_text("Remove renamed").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Repositories")).to_be_visible()
    expect(page.get_by_role("link", name="renamed", exact=True)).to_have_count(0)
    assert not (own.path / ".gitmem" / "segments").exists()


def test_configuration_names_origins(page: Page, sample: Repo) -> None:
    sample.git("config", "gitmem.searchDefaultLimit", "7")
    page.goto(f"{page.url}configuration?name=sample")
    row = page.get_by_role("row", name=re.compile("searchDefaultLimit"))
    expect(row).to_contain_text("7")
    expect(row.locator(".tag")).not_to_have_text("default")


def test_a_note_is_added_edited_deleted_and_restored(page: Page) -> None:
    page.get_by_role("link", name="Memory").click()
    page.get_by_text("Add a note").click()
    page.get_by_role("textbox", name="Note").fill("Deploys freeze on Fridays.")
    page.get_by_role("button", name="Store").click()
    page.get_by_role("link", name="Deploys freeze on Fridays.").click()
    page.get_by_text("Edit the note").click()
    page.get_by_role("textbox", name="Note").fill("Deploys freeze on Thursdays.")
    page.get_by_role("button", name="Store").click()
    expect(page.locator("article p.text")).to_have_text("Deploys freeze on Thursdays.")
    # The history shows the difference, and the former text can be restored.
    expect(page.locator(".timeline .minus").first).to_contain_text("Fridays")
    page.get_by_role("button", name=re.compile("Restore this one")).last.click()
    expect(page.locator("article p.text")).to_have_text("Deploys freeze on Fridays.")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Deleted")).to_be_visible()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.locator("article p.text")).to_have_text("Deploys freeze on Fridays.")


def test_a_slow_run_shows_its_progress_and_is_cancelled(page: Page, user: dict[str, str], own: Repo) -> None:
    add_repository(user, own.path, "slow")
    # Each file has much to parse, so that the run lasts far longer than the steps of this test.
    body = "".join(f"def step_{number}(value):\n    return value * {number}\n\n\n" for number in range(400))
    own.commit({f"slow/part_{number}.py": body.replace("step", f"step_{number}") for number in range(300)})
    page.goto(f"{page.url}repository?name=slow")
    page.get_by_role("button", name="Rebuild").click()
    progress = page.locator("#progress-text")
    expect(progress).to_have_text(
        re.compile(r"Indexing: \d+ of \d+ files, [\d,]+ chunks, \d+ %; slow/part_\d+\.py"), timeout=PATIENCE
    )
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.locator("main")).to_contain_text("cancelled", timeout=PATIENCE)
    expect(page.locator("#state")).to_have_text("Needs Update", timeout=PATIENCE)


def test_a_document_and_a_conversation_are_added_and_edited(page: Page) -> None:
    page.get_by_role("link", name="Memory", exact=True).click()
    page.get_by_role("link", name="Documents", exact=True).click()
    page.get_by_text("Add a document").click()
    page.get_by_role("textbox", name="Title").fill("Freeze")
    page.get_by_role("textbox", name="Text").fill("Deploys freeze on Fridays.")
    page.get_by_role("textbox", name="Id in the source").fill("freeze")
    page.get_by_role("button", name="Store").click()
    page.get_by_role("link", name="Freeze", exact=True).click()
    page.get_by_text("Edit the document").click()
    page.get_by_role("textbox", name="Text").fill("Deploys freeze on Thursdays.")
    page.get_by_role("button", name="Store").click()
    expect(page.locator("article")).to_contain_text("Thursdays")
    expect(page.locator(".timeline .minus").first).to_contain_text("Fridays")
    page.get_by_role("link", name="Memory", exact=True).click()
    page.get_by_role("link", name="Conversations", exact=True).click()
    page.get_by_text("Add a turn").click()
    page.get_by_role("textbox", name="Conversation").fill("release")
    page.get_by_role("textbox", name="Turn").fill("When is the freeze?")
    page.get_by_role("button", name="Store").click()
    expect(page.get_by_role("link", name="release", exact=True)).to_be_visible()

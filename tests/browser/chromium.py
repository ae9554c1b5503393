"""Chromium on this machine, and the accessibility rules that every page must keep."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, sync_playwright

WANTED: Final = os.environ.get("TEST_GITMEM_BROWSER", "")
"""Browser that must be used: without it the tests fail. If none is named and none is found, they are skipped."""

SCREENSHOTS: Final = os.environ.get("TEST_GITMEM_SCREENSHOTS", "")
"""Folder for a screenshot of every page, if one is wanted."""

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
RULES: Final = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
PATIENCE: Final = 60_000
"""Milliseconds for an index run on a busy machine."""

PHONE: Final = {"width": 360, "height": 740}
DESK: Final = {"width": 1280, "height": 900}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a headless browser. Skips the test if this machine has none that starts."""
    found = next(filter(None, map(shutil.which, (WANTED,) if WANTED else PROGRAMS)), None)
    if found is None:
        _give_up(f"this machine has no {WANTED or PROGRAMS[0]}")
    with sync_playwright() as driver:
        try:
            # A container has no name spaces for a sandbox; the pages are our own.
            browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"])
        except Error as error:
            _give_up(f"{found} does not start: {error.message.splitlines()[0]}")
        try:
            yield browser
        finally:
            browser.close()


def _give_up(reason: str) -> None:
    (pytest.fail if WANTED else pytest.skip)(reason)


def accessibility_problems(page: Page) -> list[str]:
    """Return the faults that axe finds with the page as it is shown: rule, element and remedy."""
    found: dict[str, Any] = Axe().run(page, options=RULES).response
    return [
        f"{rule['id']}: {node['html'][:120]} ({node['failureSummary'].splitlines()[-1].strip()})"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def save_screenshot(page: Page, name: str) -> None:
    """Save the page as it is shown, if a folder for screenshots is named."""
    if SCREENSHOTS:
        page.screenshot(path=f"{SCREENSHOTS}/{name}.png", full_page=True)


def sideways_scroll(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

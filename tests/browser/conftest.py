"""A browser that is logged in to a server with registered repositories."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from gitmem.registry import add_repository
from gitmem.web.control import ask_server, find_server
from tests.browser.chromium import DESK, chromium
from tests.gitrepo import ISOLATION, Repo
from tests.web.server_process import server_environment, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run one browser for the tests of a module; its event loop must not outlive them."""
    with chromium() as running:
        yield running


@contextmanager
def logged_in(browser: Browser, environment: Mapping[str, str]) -> Iterator[BrowserContext]:
    """Open the link of `gitmem open` in a fresh profile. Fails if a page reports an error or a refused script."""
    answer = ask_server(environment, b"link", "")
    assert answer is not None, "the server does not answer"
    context = browser.new_context(viewport=ViewportSize(width=DESK["width"], height=DESK["height"]))
    problems: list[str] = []
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on("console", lambda line: problems.append(line.text) if "Content Security" in line.text else None)
    page = context.new_page()
    page.goto(answer["link"])
    page.close()
    try:
        yield context
    finally:
        context.close()
    assert not problems


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A user of this module: home, registry, and folder for sockets."""
    folder = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ISOLATION, "HOME": str(folder)}.items():
            patch.setenv(name, value)
        yield {**server_environment(folder), "GITMEM_SEARCH_MAX_LIMIT": "300"}


@pytest.fixture(scope="module")
def sample(_indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Copy the indexed sample repository for the tests of a module, which may add to it."""
    path = tmp_path_factory.mktemp("browser") / "sample"
    shutil.copytree(_indexed.with_name("untouched"), path, symlinks=True)
    return Repo(path)


@pytest.fixture(scope="module")
def visit(browser: Browser, user: dict[str, str], sample: Repo) -> Iterator[BrowserContext]:
    """Log in to a server of `sample`; the tests of a module share it."""
    add_repository(user, sample.path, "sample")
    with serving(user, "--port", "0"), logged_in(browser, user) as context:
        yield context


@pytest.fixture
def page(visit: BrowserContext, user: dict[str, str]) -> Iterator[Page]:
    """Open the first page of the server."""
    shown = visit.new_page()
    shown.goto(address_of(user))
    yield shown
    shown.close()


def address_of(environment: Mapping[str, str]) -> str:
    """Return the address of the user's server."""
    running = find_server(environment)
    assert running is not None
    return running.url

"""Who may use the server, and what a stranger learns."""

import pytest

from gitmem.web import access as access_module
from gitmem.web.access import Access, OneTimeLinks
from tests.web.served import BEARER, ORIGIN, TOKEN, Served

API = "/api/v1/repositories"
PAGES = ["/", "/repositories", "/memory", "/static/style.css", "/do/addNote", "/nothing", "/mcp/", API, "/metrics"]


@pytest.fixture
def cookie(reading: Served) -> dict[str, str]:
    """The header of a browser that has opened a link."""
    answer = reading.client.get("/login", params={"code": reading.access.links.create("/")})
    assert answer.status_code == 200
    reading.client.cookies.clear()
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer x"}, {"Cookie": "gitmem-8008=x"}])
def test_nothing_is_served_without_the_token(reading: Served, path: str, headers: dict[str, str]) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = reading.client.request(method, path, headers=headers)
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "invalid_token"
        assert "sample" not in answer.text
        assert reading.environment["HOME"] not in answer.text


def test_health_needs_no_token(reading: Served) -> None:
    assert reading.client.get("/health").json()["status"] == "ok"


def test_a_browser_without_the_cookie_learns_how_to_open_the_page(reading: Served) -> None:
    answer = reading.client.get("/", headers={"Accept": "text/html"})
    assert answer.status_code == 401
    assert "gitmem open" in answer.text


def test_a_link_opens_the_page_once_and_gives_a_cookie_that_no_script_reads(reading: Served) -> None:
    link = {"code": reading.access.links.create("/memory?repository=sample")}
    answer = reading.client.get("/login", params=link)
    given = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in given.split(";")}
    assert TOKEN not in given
    assert "/memory?repository=sample" in answer.text
    assert reading.client.get("/memory").status_code == 200
    reading.client.cookies.clear()
    again = reading.client.get("/login", params=link)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers


def test_a_link_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "LINK_SECONDS", -1.0)
    links = OneTimeLinks()
    assert links.redeem(links.create("/")) is None


def test_of_many_links_the_oldest_is_forgotten() -> None:
    links = OneTimeLinks()
    codes = [links.create(f"/{number}") for number in range(40)]
    assert links.redeem(codes[0]) is None
    assert links.redeem(codes[-1]) == "/39"
    assert links.redeem("") is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
    ],
)
def test_another_page_cannot_read_with_the_cookie(
    reading: Served, cookie: dict[str, str], headers: dict[str, str], expected: int
) -> None:
    assert reading.client.get(API, headers={**cookie, **headers}).status_code == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}, 404),
        ({"Origin": ORIGIN}, 404),
        ({}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": ORIGIN, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}, 403),
    ],
)
def test_another_page_cannot_change_anything_with_the_cookie(
    reading: Served, cookie: dict[str, str], headers: dict[str, str], expected: int
) -> None:
    for path, method in ((f"{API}/unknown", "DELETE"), ("/do/unknown", "POST"), (f"{API}/unknown/cancel", "POST")):
        assert reading.client.request(method, path, headers={**cookie, **headers}).status_code == expected


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8008", "localhost", "127.0.0.1:8009", ""])
@pytest.mark.parametrize("path", ["/health", "/login", "/", API])
def test_another_name_of_this_host_is_refused(reading: Served, host: str, path: str) -> None:
    assert reading.client.get(path, headers={**BEARER, "Host": host}).status_code == 421


@pytest.mark.parametrize("path", ["/health", "/", API, "/static/script.js", "/nothing"])
def test_every_response_has_the_headers_that_protect_a_page(reading: Served, path: str) -> None:
    for headers in ({}, BEARER):
        answer = reading.client.get(path, headers=headers)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"


def test_the_servers_of_two_ports_have_cookies_of_their_own() -> None:
    one, other = Access((), "x", 8008), Access((), "x", 8009)
    assert one.cookie_name != other.cookie_name
    assert one.cookie != other.cookie


@pytest.mark.parametrize(
    "path",
    ["/static/../routes.py", "/static/%2e%2e/routes.py", "/static/..%2froutes.py", "/static/%2Fetc%2Fpasswd",
     "/static/style.css/", "/api/v1/../../etc/passwd", "/static/"],
)  # fmt: skip
def test_no_path_leads_to_another_file(reading: Served, path: str) -> None:
    answer = reading.client.get(path, headers=BEARER, follow_redirects=False)
    assert answer.status_code in (307, 404)
    assert "root:" not in answer.text
    assert "import" not in answer.text

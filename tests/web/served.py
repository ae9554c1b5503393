"""The application of `gitmem serve`, asked within this process, with registered repositories."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from starlette.testclient import TestClient

from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets
from gitmem.mcp.transport.http import LOOPBACK, hosts_of
from gitmem.registry import add_repository
from gitmem.web.access import Access
from gitmem.web.activity import Activity
from gitmem.web.application import make_application
from gitmem.web.service import Service

PORT: Final = 8008
ORIGIN: Final = f"http://127.0.0.1:{PORT}"
TOKEN: Final = "a token of enough characters"
BEARER: Final = {"Authorization": f"Bearer {TOKEN}"}

Make = Callable[..., "Served"]


class Served:
    """Client with the token, and the parts of the server behind it."""

    def __init__(self, client: TestClient, access: Access, service: Service, environment: Mapping[str, str]) -> None:
        self.client = client
        self.access = access
        self.service = service
        self.environment = environment

    def get(self, path: str, /, **query: Any) -> Any:
        """Return the JSON of an operation that must succeed."""
        answer = self.client.get(f"/api/v1{path}", params=query, headers=BEARER)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, method: str, path: str, status: int = 200, /, query: Any = None, **body: Any) -> Any:
        """Send a body and return the JSON of the answer, which must have this status."""
        answer = self.client.request(method, f"/api/v1{path}", params=query, json=body or None, headers=BEARER)
        assert answer.status_code == status, answer.text
        return answer.json()

    def page(self, path: str, status: int = 200, /, **query: Any) -> str:
        """Return a page, which must have this status."""
        answer = self.client.get(path, params=query or None, headers=BEARER)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"].startswith("text/html")
        return answer.text


def registry_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a user whose registry is in a folder."""
    # Settings of whoever runs the tests would be settings of the server, and those of the tests unknown ones.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GITMEM_")}
    return {**inherited, "XDG_DATA_HOME": str(folder / "data")}


@contextmanager
def serving(folder: Path, repositories: Mapping[str, Path], **settings: str) -> Iterator[Served]:
    """Serve some repositories under their names, with settings of the server: variables of its environment."""
    environment = {**registry_environment(folder), **settings}
    for name, path in repositories.items():
        add_repository(environment, path, name)
    handlers = ToolHandlers(folder, environment)
    service, access = Service(handlers.repositories), Access(hosts_of(LOOPBACK, PORT), TOKEN, PORT)
    application = make_application(service, handlers, parse_toolsets(DEFAULT), access, Activity())
    try:
        with TestClient(application, base_url=ORIGIN, raise_server_exceptions=False) as client:
            yield Served(client, access, service, environment)
    finally:
        handlers.close(5)

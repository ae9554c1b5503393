"""A forge on the loopback: git's own HTTP server behind TLS and a password, with the faults that tests ask for."""

import base64
import os
import shutil
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

from tests.gitrepo import Repo, isolated_environment

PASSWORD: Final = "tok-5f2c9e01b7d4"
PRIVATE: Final = "/private"
"""Repositories below this path need the password."""

HAS_OPENSSL: Final = shutil.which("openssl") is not None


class Forge:
    """Running server. `fault` is "", `redirect` (to `target`), `cut` (in the middle of a pack) or `hang`."""

    def __init__(self, folder: Path, port: int, certificate: Path) -> None:
        self.folder = folder
        self.host = f"127.0.0.1:{port}"
        self.certificate = certificate
        self.fault = ""
        self.target = ""
        self.requests: list[str] = []

    def url(self, name: str) -> str:
        """Return the URL of a repository."""
        return f"https://{self.host}/{name}"

    def publish(self, repo: Repo, name: str) -> None:
        """Make the repository available, or its new commits."""
        place = self.folder / f"{name}.git"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            Repo.init(place, "--bare")
            Repo(place).git("config", "uploadpack.allowAnySHA1InWant", "true")
        repo.git("push", "--quiet", "--force", "--all", str(place))
        repo.git("push", "--quiet", "--force", "--tags", str(place))


class _Handler(BaseHTTPRequestHandler):
    """Passes requests to `git http-backend`, as a web server does by CGI."""

    server: "_Server"
    timeout = 20

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        forge = self.server.forge
        path, _, query = self.path.partition("?")
        forge.requests.append(path)
        if forge.fault == "hang":
            self.server.released.wait(20)
            return
        if forge.fault == "redirect":
            self._answer(302, [("Location", forge.target + self.path)])
            return
        expected = "Basic " + base64.b64encode(f"x-access-token:{PASSWORD}".encode()).decode()
        if path.startswith(PRIVATE) and self.headers.get("Authorization") != expected:
            self._answer(401, [("WWW-Authenticate", 'Basic realm="forge"')])
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        environment = isolated_environment() | {
            "GIT_PROJECT_ROOT": str(forge.folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "tester",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        answer = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=False)
        head, _, content = answer.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, _, value in lines if name == "Status"), 200)
        if forge.fault == "cut" and b"PACK" in content:
            content = content[: content.index(b"PACK") + 40]
        self._answer(status, [(name, value) for name, _, value in lines if name not in ("", "Status")], content)

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes = b"") -> None:
        self.send_response(status)
        for name, value in [*headers, ("Content-Length", str(len(content)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    forge: Forge
    released: threading.Event

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that go away: some tests end them."""


@contextmanager
def open_forge(folder: Path) -> Iterator[Forge]:
    """Run a server until the end of the block. git trusts it through `GIT_SSL_CAINFO`, set to `certificate`."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key),
         "-out", str(certificate)],
        check=True, capture_output=True, env=dict(os.environ),
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.released = threading.Event()
        # The handshake takes place in the thread of the client: one that never ends it keeps no other waiting.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.forge = Forge(folder / "served", int(server.server_address[1]), certificate)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.forge
        finally:
            server.released.set()
            server.shutdown()
            thread.join()

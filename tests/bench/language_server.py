"""Client of a language server: start it, wait for its index, ask for definitions and symbols.

The protocol is JSON-RPC with headers, over the pipes of a child process (microsoft.github.io/language-server-protocol).
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlparse

from tests.bench.subjects import SubjectError

_CAPABILITIES: Final = {
    "window": {"workDoneProgress": True},
    "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}},
}


class Symbol(NamedTuple):
    """Symbol of a file: its name, its kind in the protocol, the line of the name from 1, and the symbols around it."""

    name: str
    kind: int
    line: int
    around: "tuple[Symbol, ...]"


class LanguageServer:
    """Running server of a repository."""

    def __init__(self, process: "subprocess.Popen[bytes]", root: Path) -> None:
        self._process = process
        self._root = root
        self._number = 0
        self._opened: set[str] = set()
        self._symbols: dict[str, list[Symbol]] = {}

    def initialize(self, options: Any) -> None:
        """Open the repository."""
        uri = self._root.as_uri()
        self.request(
            "initialize",
            processId=None, rootUri=uri, workspaceFolders=[{"uri": uri, "name": self._root.name}],
            capabilities=_CAPABILITIES, initializationOptions=options,
        )  # fmt: skip
        self.notify("initialized")

    def wait(self) -> None:
        """Read messages until the index is complete: both servers report it as the only work with progress."""
        while not _is_end(self._receive()):
            pass

    def request(self, method: str, **params: Any) -> Any:
        """Return the result of a request. Raises: SubjectError."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._number and "method" not in message:
                return message.get("result")

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def open(self, path: str, language: str) -> None:
        """Open a file of the repository, once."""
        if path not in self._opened:
            self._opened.add(path)
            whole = self._root / path
            text = whole.read_text(encoding="utf-8", errors="replace")
            self.notify(
                "textDocument/didOpen",
                textDocument={"uri": whole.as_uri(), "languageId": language, "version": 1, "text": text},
            )

    def places(self, what: str, path: str, line: int, column: int, **others: Any) -> list[tuple[Path, int]]:
        """Return files and lines of the `definition`, `declaration` or `references` of a name; columns count from 0."""
        uri, position = (self._root / path).as_uri(), {"line": line - 1, "character": column}
        result = self.request(f"textDocument/{what}", textDocument={"uri": uri}, position=position, **others) or []
        places = [result] if isinstance(result, dict) else result
        return [(path_of(each["uri"]), each["range"]["start"]["line"] + 1) for each in places]

    def symbols(self, path: str, language: str) -> list[Symbol]:
        """Return the symbols of a file of the repository, those inside of others too."""
        if path not in self._symbols:
            self.open(path, language)
            uri = (self._root / path).as_uri()
            result = self.request("textDocument/documentSymbol", textDocument={"uri": uri}) or []
            self._symbols[path] = list(_walk(result, ()))
        return self._symbols[path]

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self._process.stdin.flush()

    def _receive(self) -> Any:
        """Return the next message; a request of the server is answered with nothing. Raises: SubjectError."""
        assert self._process.stdout is not None
        size = 0
        while header := self._process.stdout.readline().strip():
            name, _, value = header.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        if not size:
            raise SubjectError("the language server ended")
        message = json.loads(self._process.stdout.read(size))
        if "method" in message and "id" in message:
            nothing = [None for _ in message["params"].get("items", ())] if "items" in message["params"] else None
            self._send({"id": message["id"], "result": nothing})
        return message


@contextmanager
def language_server(command: Sequence[str], root: Path, options: Any = None) -> Iterator[LanguageServer]:
    """Yield a server that has opened a repository, and end it afterwards. Raises: SubjectError."""
    try:
        process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except FileNotFoundError as error:
        raise SubjectError(f"the oracle needs `{command[0]}`, which is not installed") from error
    try:
        server = LanguageServer(process, root)
        server.initialize(options)
        yield server
    finally:
        process.kill()
        process.communicate()


def _is_end(message: Any) -> bool:
    value = message.get("params", {}).get("value", {}) if message.get("method") == "$/progress" else {}
    return isinstance(value, dict) and value.get("kind") == "end"


def path_of(uri: str) -> Path:
    """Return the path of a file that a URI names."""
    return Path(unquote(urlparse(uri).path))


def _walk(symbols: Sequence[Any], around: tuple[Symbol, ...]) -> Iterator[Symbol]:
    for each in symbols:
        spans = each["selectionRange"] if "selectionRange" in each else each["location"]["range"]
        symbol = Symbol(each["name"], each["kind"], spans["start"]["line"] + 1, around)
        yield symbol
        yield from _walk(each.get("children") or (), (*around, symbol))

"""Artefact store in a bucket: S3 and servers that speak its protocol, Google Cloud Storage, or Azure.

The library obstore has one wheel for each system and one small dependency. It takes address, region and credentials
from the environment, as the tools of these clouds do (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, ...).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from gitmem.actions.index_objects import PREFIX, StoredObject
from gitmem.display import first_line
from gitmem.errors import GitmemError, UsageError

_VARIABLES: Final = {"s3://": "AWS", "gs://": "GOOGLE", "az://": "AZURE"}
"""Kinds of stores, and the beginning of the environment variables of each."""

SCHEMES: Final = tuple(_VARIABLES)
_RETRIES: Final = {"max_retries": 3}


class ObjectBucket:
    """Store below a URL such as `s3://bucket/folder`."""

    def __init__(self, url: str) -> None:
        self.place = url
        try:
            from obstore.exceptions import BaseError
            from obstore.store import from_url
        except ImportError as problem:
            raise UsageError(
                f"the store `{url}` needs the extra `store`", hint='pip install "gitmem-cli[store]"'
            ) from problem
        self._error: type[Exception] = BaseError
        with self._naming("opened"):
            open_url: Callable[..., Any] = from_url  # its overloads differ between versions of the library
            self._store = open_url(url.rstrip("/"), retry_config=_RETRIES)

    def list(self) -> Iterator[StoredObject]:
        """Yield all files below the prefix."""
        with self._naming("read"):
            for page in self._store.list(prefix=PREFIX):
                for item in page:
                    yield StoredObject(item["path"].removeprefix(f"{PREFIX}/"), item["size"])

    def read(self, name: str, size: int) -> bytes | None:
        """Return at most `size` bytes of a file, None if it is gone."""
        with self._naming("read"):
            try:
                result = self._store.get(f"{PREFIX}/{name}")
            except FileNotFoundError:
                return None
            return bytes(result.bytes()) if result.meta["size"] <= size else None

    def write(self, name: str, data: bytes) -> None:
        """Write a file. A bucket shows an object only once all of it has arrived."""
        with self._naming("written to"):
            self._store.put(f"{PREFIX}/{name}", data)

    def remove(self, name: str) -> None:
        """Remove a file."""
        with self._naming("written to"):
            self._store.delete(f"{PREFIX}/{name}")

    @contextmanager
    def _naming(self, action: str) -> Iterator[None]:
        """Name the store in errors of the library, which are pages long."""
        try:
            yield
        except (self._error, OSError, ValueError) as problem:
            variables = _VARIABLES[self.place[: self.place.index("://") + 3]]
            raise GitmemError(
                f"the store `{self.place}` cannot be {action}: {first_line(str(problem))[:200]}",
                hint=f"check the URL, and address and credentials in the environment ({variables}_...)",
            ) from problem

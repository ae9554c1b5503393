"""Azurite, Microsoft's emulator of Azure's blob storage (`npm install -g azurite`), with one container."""

import base64
import hashlib
import hmac
import os
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

PROGRAM: Final = "azurite-blob"
_ACCOUNT: Final = "devstoreaccount1"
_KEY: Final = base64.b64encode(hashlib.sha512(b"azurite").digest()).decode()
_VERSION: Final = "2021-08-06"
_LISTENS: Final = re.compile(r"successfully listens on (http://\S+)")


@contextmanager
def azurite(container: str) -> Iterator[dict[str, str]]:
    """Start the server in memory; yield the environment variables by which the container is found."""
    command = [PROGRAM, "--silent", "--blobPort", "0", "--inMemoryPersistence", "--skipApiVersionCheck",
               "--disableTelemetry"]  # fmt: skip
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"AZURITE_ACCOUNTS": f"{_ACCOUNT}:{_KEY}", "PATH": os.environ["PATH"]},
    ) as process:
        try:
            url = f"{_read_address(process)}/{_ACCOUNT}"
            _create_container(url, container)
            yield {
                "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": _KEY,
                "AZURE_STORAGE_ENDPOINT": url, "AZURE_ALLOW_HTTP": "true",
            }  # fmt: skip
        finally:
            process.kill()


def _read_address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := _LISTENS.search(line):
            return found[1]
    raise AssertionError(f"{PROGRAM} ended with exit code {process.wait()}")


def _create_container(url: str, container: str) -> None:
    """Create a container by a signed request: obstore creates objects alone."""
    now = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = {"x-ms-date": now, "x-ms-version": _VERSION}
    # Shared Key authorisation: twelve empty standard headers, those of Azure, and the resource.
    canonical = "".join(f"{name}:{value}\n" for name, value in headers.items())
    text = "PUT" + "\n" * 12 + f"{canonical}/{_ACCOUNT}/{_ACCOUNT}/{container}\nrestype:container"
    signature = base64.b64encode(hmac.digest(base64.b64decode(_KEY), text.encode(), "sha256")).decode()
    headers["Authorization"] = f"SharedKey {_ACCOUNT}:{signature}"
    request = urllib.request.Request(f"{url}/{container}?restype=container", method="PUT", headers=headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        assert answer.status == 201

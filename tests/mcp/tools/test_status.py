"""`status` over MCP: sections, and trying the model only if the client asks for it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client.client import Client

from tests.embedding.provider_server import ProviderServer, error, provider_server
from tests.gitrepo import Repo
from tests.mcp.clients import ask, refused, talk
from tests.sample import Cli

KEY = "secret-key-0123456789abcdef"


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server() as server:
        for name, value in {"PROVIDER": "openai-compatible", "PROVIDER_URL": server.url, "PROVIDER_KEY": KEY,
                            "MODEL": "small.v2", "USE_SERVER": "false"}.items():  # fmt: skip
            monkeypatch.setenv(f"GITMEM_{name}", value)
        yield server


async def status(client: Client, *sections: str, probe: bool = False) -> dict[str, Any]:
    chosen = {"sections": list(sections)} if sections else {}
    answer: dict[str, Any] = json.loads(await ask(client, "status", format="json", probe=probe, **chosen))
    return answer


def test_each_section_is_there_if_it_is_asked_for(indexed: Repo) -> None:
    async def action(client: Client) -> None:
        index = await status(client)
        assert (index["state"], "health" in index) == ("Up to Date", False)
        assert (await status(client, "index")).keys() == index.keys()
        health = await status(client, "health")
        assert list(health) == ["health"]
        assert list(health["health"]["components"]) == ["index", "store", "embedding"]
        assert list((await status(client, "embedding"))["health"]["components"]) == ["embedding"]
        both = await status(client, "index", "health")
        assert both["chunks"] == index["chunks"]
        assert both["health"]["status"] == "healthy"
        text = await ask(client, "status", sections=["health"])
        assert text.startswith("healthy: gitmem ")
        assert "Up to Date" not in text
        unknown = await refused(client, "status", sections=["index", "everything"])
        assert "`sections`" in unknown
        assert "a list of `index`, `health`, `embedding`" in unknown

    talk(indexed.path, action)


def test_a_provider_gets_a_text_only_by_a_probe(own: Repo, cli: Cli, remote: ProviderServer) -> None:
    assert cli("index", cwd=own.path).code == 0
    sent = len(remote.texts)

    async def action(client: Client) -> None:
        for sections in ((), ("health",), ("index", "embedding")):
            await status(client, *sections)
        untried = (await status(client, "embedding"))["health"]["components"]["embedding"]
        assert len(remote.texts) == sent
        assert (untried["status"], untried["latency_ms"], untried["dimensions"]) == ("healthy", None, 48)
        assert untried["message"].endswith("; not tried")
        assert untried["key_configured"] is True
        tried = (await status(client, "embedding", probe=True))["health"]["components"]["embedding"]
        assert len(remote.texts) == sent + 1
        assert (tried["status"], tried["provider"], tried["model"]) == ("healthy", "openai-compatible", "small.v2")
        assert tried["latency_ms"] > 0
        await status(client, "index", probe=True)
        assert len(remote.texts) == sent + 1, "the index needs no provider"

    talk(own.path, action)


def test_a_provider_that_fails_is_unhealthy_and_its_key_is_not_shown(
    own: Repo, cli: Cli, remote: ProviderServer
) -> None:
    assert cli("index", cwd=own.path).code == 0
    remote.always = error(401, f"bad key {KEY}")

    async def action(client: Client) -> None:
        health = (await status(client, "health", probe=True))["health"]
        assert (health["status"], health["components"]["index"]["status"]) == ("unhealthy", "healthy")
        assert "refuses the key (HTTP 401)" in health["components"]["embedding"]["message"]
        text = await ask(client, "status", sections=["health"], probe=True)
        assert text.startswith("unhealthy: ")
        assert KEY not in text + json.dumps(health)

    talk(own.path, action)

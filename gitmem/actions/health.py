"""`gitmem health`: whether a repository can be searched now, by component, with the time that each took to answer."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitmem import __version__
from gitmem.answering.query_encoder import query_encoder
from gitmem.display import count
from gitmem.embedding.provider import Provider, selected_provider
from gitmem.embedding.text_encoder import TextEncoder
from gitmem.errors import GitmemError
from gitmem.indexing.fingerprint import dimensions_of, is_made_with, model_of
from gitmem.locks import is_locked
from gitmem.named_tuple import NamedTuple
from gitmem.store.manifest import Manifest
from gitmem.words import count_identifiers
from gitmem.workspace import Workspace, find_index, is_writable

HEALTHY: Final = "healthy"
DEGRADED: Final = "degraded"
UNHEALTHY: Final = "unhealthy"

_ORDER: Final = (HEALTHY, DEGRADED, UNHEALTHY)
_PROBE: Final = "health"
"""Text that is embedded to try a provider."""

EMBEDDING: Final = "embedding"


class Component(NamedTuple):
    """Part of what a search needs: its status, a message, the milliseconds until it answered, and further facts."""

    name: str
    status: str
    message: str
    latency_ms: float | None = None
    facts: Mapping[str, Any] = {}


def examine_health(workspace: Workspace, *, probe: bool, embedding_only: bool = False) -> list[Component]:
    """Return the status of each component. With `probe` a text is embedded; a remote provider gets it."""
    manifest, index = _examine_index(workspace)
    others = [] if embedding_only else [index, _examine_store(workspace)]
    return [*others, _examine_embedding(workspace, manifest, probe=probe)]


def overall(components: list[Component]) -> str:
    """Return the worst status."""
    return max((component.status for component in components), key=_ORDER.index)


def health_json(components: list[Component]) -> dict[str, Any]:
    """Return the health as JSON values."""
    return {
        "status": overall(components),
        "version": __version__,
        "components": {
            component.name: {
                "status": component.status,
                "message": component.message,
                "latency_ms": component.latency_ms,
                **component.facts,
            }
            for component in components
        },
    }


def health_lines(components: list[Component]) -> list[str]:
    """Return the health as lines of text."""
    lines = [f"{overall(components)}: gitmem {__version__}"]
    for component in components:
        latency = "" if component.latency_ms is None else f"  {component.latency_ms:.0f} ms"
        lines.append(f"  {component.name:<10} {component.status:<9}  {component.message}{latency}")
    return lines


def _examine_index(workspace: Workspace) -> tuple[Manifest | None, Component]:
    started = time.perf_counter()
    try:
        manifest = find_index(workspace)
    except GitmemError as problem:
        return None, Component("index", UNHEALTHY, problem.message)
    if manifest is None:
        return None, Component("index", DEGRADED, "no index yet; run `gitmem init`")
    latency = _milliseconds_since(started)
    if not is_made_with(manifest.fingerprint, workspace.settings):
        message = f"made with {model_of(manifest.fingerprint)} or other settings; run `gitmem index`"
        return manifest, Component("index", DEGRADED, message, latency)
    state = HEALTHY if manifest.complete else DEGRADED
    unfinished = "the first run is not complete; run `gitmem index`"
    message = count(manifest.rows, "chunk") if manifest.complete else unfinished
    return manifest, Component("index", state, message, latency)


def _examine_store(workspace: Workspace) -> Component:
    if not is_writable(workspace.paths.root):
        return Component("store", DEGRADED, f"`{workspace.paths.root}` cannot be written; searches still work")
    if workspace.paths.lock.exists() and is_locked(workspace.paths.lock):
        return Component("store", HEALTHY, "another process is writing the index")
    return Component("store", HEALTHY, "can be written")


def _examine_embedding(workspace: Workspace, manifest: Manifest | None, *, probe: bool) -> Component:
    provider = selected_provider(workspace.settings)
    is_own = manifest is not None and is_made_with(manifest.fingerprint, workspace.settings)
    known = dimensions_of(manifest.fingerprint) if manifest is not None and is_own else 0
    facts: dict[str, Any] = {
        "provider": provider.name,
        "model": provider.model,
        "dimensions": known or provider.dimensions or None,
        "key_configured": bool(provider.key) if provider.is_remote else None,
        "data": provider.data_notice,
    }
    # Without a probe nothing is sent, so nothing is known beyond the settings.
    if not probe:
        return Component(EMBEDDING, HEALTHY, f"{_describe(provider, facts)}; not tried", None, facts)
    fingerprint = manifest.fingerprint if manifest is not None and is_own else ""
    try:
        latency, facts["dimensions"] = _measure(lambda: _embed(workspace, fingerprint))
    except GitmemError as problem:
        hint = f"; {problem.hint}" if problem.hint else ""
        return Component(EMBEDDING, UNHEALTHY, f"{problem.message}{hint}", None, {**facts, "error": problem.message})
    return Component(EMBEDDING, HEALTHY, _describe(provider, facts), latency, facts)


def _embed(workspace: Workspace, fingerprint: str) -> int:
    """Embed a text as a query does; return the length of its vector."""
    encoder = query_encoder(workspace.settings, fingerprint)
    if isinstance(encoder, TextEncoder):
        return encoder.probe()
    return len(encoder.encode_query(count_identifiers(_PROBE)))


def _measure(run: Callable[[], int]) -> tuple[float, int]:
    started = time.perf_counter()
    result = run()
    return _milliseconds_since(started), result


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)


def _describe(provider: Provider, facts: Mapping[str, Any]) -> str:
    parts = [f"{provider.name}, {provider.model}"]
    if facts["dimensions"]:
        parts.append(f"{facts['dimensions']} dimensions")
    if facts["key_configured"] is not None:
        parts.append("key configured" if facts["key_configured"] else "no key")
    return ", ".join(parts)

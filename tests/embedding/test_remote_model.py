"""Remote providers over real HTTP: wire formats, repetition of what fails in passing, and what is never repeated."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from gitmem.embedding.provider import OLLAMA, OPENAI, Provider
from gitmem.embedding.remote_model import RemoteModel
from gitmem.embedding.text_encoder import QUERY_PATIENCE, RUN_PATIENCE, Patience, TextEncoder, ignore
from gitmem.errors import Cancelled, ProviderFailed, ProviderSlow, TextsRefused
from gitmem.words import count_identifiers
from tests.embedding.provider_server import (
    ProviderServer,
    Reply,
    cut,
    dripping_server,
    error,
    provider_server,
    raw,
    vector_of,
)

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server() as server:
        yield server


class Clock:
    """Clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)

    def __call__(self) -> float:
        return self.now


def model_of(server: ProviderServer, name: str = OPENAI, clock: Clock | None = None, **fields: object) -> RemoteModel:
    clock = clock or Clock()
    provider = Provider(name, "small", server.url, KEY)._replace(**fields)  # type: ignore[arg-type]
    return RemoteModel(provider, clock.sleep, clock)


def embed(model: RemoteModel, *texts: str, patience: Patience = RUN_PATIENCE) -> np.ndarray:
    return model.embed(list(texts), patience, ignore)


@pytest.mark.parametrize(("name", "path"), [(OPENAI, "/embeddings"), ("openai-compatible", "/embeddings"),
                                            (OLLAMA, "/api/embed")])  # fmt: skip
def test_each_format_returns_the_vectors_in_the_order_of_the_texts(
    server: ProviderServer, name: str, path: str
) -> None:
    vectors = embed(model_of(server, name), "read the file", "sign the cookie", "")
    assert np.allclose(vectors, [vector_of(text, 48) for text in ("read the file", "sign the cookie", "")], atol=1e-4)
    request = server.received[0]
    assert (request.path, request.body["model"]) == (path, "small")
    assert request.headers["Authorization"] == f"Bearer {KEY}"


def test_only_openai_is_asked_for_dimensions_and_other_vectors_are_cut(server: ProviderServer) -> None:
    for name, sent in ((OPENAI, 16), ("openai-compatible", None)):
        provider = Provider(name, "small", server.url, dimensions=16)
        encoder = TextEncoder(provider, RemoteModel(provider))
        vector = encoder.encode_query(count_identifiers("read"))
        assert (len(vector), server.received[-1].body.get("dimensions")) == (16, sent)
        assert float(vector @ vector) == pytest.approx(1.0)


@pytest.mark.parametrize("failure", [
    error(500), error(502), error(503), error(429), error(408), cut, raw(b"<html>"), raw(b"[]"), raw(b'{"data": []}'),
    raw(b'{"data": [{"index": 1, "embedding": [1]}]}'), raw(b'{"data": [{"index": 0, "embedding": ["a"]}]}'),
    raw(b'{"data": [{"index": 0, "embedding": [NaN]}]}'), raw(b'{"data": [{"index": 0, "embedding": []}]}'),
])  # fmt: skip
def test_passing_failures_are_repeated_after_1_2_and_4_seconds(server: ProviderServer, failure: object) -> None:
    clock = Clock()
    server.script = [failure, failure, failure]  # type: ignore[list-item]
    assert embed(model_of(server, clock=clock), "read").shape == (1, 48)
    assert (len(server.received), round(clock.now, 3)) == (4, 7.0)
    server.script = [failure] * 4  # type: ignore[list-item]
    with pytest.raises(ProviderFailed) as caught:
        embed(model_of(server, clock=clock), "read")
    assert caught.value.is_passing
    assert server.url in caught.value.message


@pytest.mark.parametrize(("status", "message", "kind"), [
    (401, "refuses the key", ProviderFailed), (403, "refuses the key", ProviderFailed),
    (404, "answers HTTP 404", ProviderFailed), (301, "redirects elsewhere", ProviderFailed),
    (400, "refuses the text", TextsRefused), (413, "refuses the text", TextsRefused),
])  # fmt: skip
def test_other_failures_are_not_repeated(
    server: ProviderServer, status: int, message: str, kind: type[ProviderFailed]
) -> None:
    server.script = [error(status, f"wrong key {KEY}", ("Location", "http://127.0.0.1:9/"))]
    with pytest.raises(kind, match=message) as caught:
        embed(model_of(server), "read")
    assert type(caught.value) is kind
    assert not caught.value.is_passing
    assert KEY not in caught.value.message + caught.value.hint
    assert len(server.received) == 1


def test_an_account_without_credit_is_not_asked_again(server: ProviderServer) -> None:
    server.script = [error(429, "You exceeded your quota", code="insufficient_quota")]
    with pytest.raises(ProviderFailed, match="no credit left"):
        embed(model_of(server), "read")
    assert len(server.received) == 1


def test_the_time_of_retry_after_is_waited_and_shown(server: ProviderServer) -> None:
    clock, shown = Clock(), list[str]()

    def show(reason: str = "") -> None:
        shown.append(reason)

    server.script = [error(429, "slow down", ("Retry-After", "20"))]
    model_of(server, clock=clock).embed(["read"], RUN_PATIENCE, show)
    assert round(clock.now, 3) == 20.0
    assert shown[0] == "openai: rate limit, waiting 20 s"
    assert shown[-1] == "openai: rate limit, waiting 1 s"


def test_a_date_in_retry_after_is_understood_and_a_long_wait_refused(server: ProviderServer) -> None:
    clock = Clock()
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server.script = [error(503, "busy", ("Retry-After", soon))]
    embed(model_of(server, clock=clock), "read")
    assert 25 < clock.now < 31
    server.script = [error(429, "tomorrow", ("Retry-After", "86400"))]
    with pytest.raises(ProviderFailed, match="try again in 86400 s"):
        embed(model_of(server), "read")
    server.script = [error(429, "busy", ("Retry-After", "5"))]
    with pytest.raises(ProviderFailed, match="try again in 5 s"):
        embed(model_of(server), "read", patience=QUERY_PATIENCE)


def test_a_run_that_is_stopped_does_not_wait_to_the_end(server: ProviderServer) -> None:
    clock = Clock()

    def stop_after_a_second(_reason: str = "") -> None:
        if clock.now > 1:
            raise Cancelled("stopped")

    server.script = [error(429, "slow down", ("Retry-After", "60"))]
    with pytest.raises(Cancelled):
        model_of(server, clock=clock).embed(["read"], RUN_PATIENCE, stop_after_a_second)
    assert clock.now < 2


def test_a_provider_that_is_slow_or_gone_fails_in_time(server: ProviderServer) -> None:
    def slow(_request: object, _server: object) -> Reply:
        time.sleep(0.3)
        return Reply()

    server.script = [slow]
    with pytest.raises(ProviderFailed, match="did not answer in time"):
        embed(model_of(server), "read", patience=Patience(0, 0.05, 0))
    with provider_server() as gone:
        pass
    with pytest.raises(ProviderFailed, match="cannot be reached: Connection refused"):
        embed(model_of(gone), "read")


def test_several_texts_that_take_too_long_are_not_sent_again_together(server: ProviderServer) -> None:
    released = threading.Event()

    def hanging(_request: object, _server: object) -> Reply:
        released.wait(10)
        return Reply()

    server.always = hanging
    patience = RUN_PATIENCE._replace(timeout=0.05)
    with pytest.raises(ProviderSlow, match="did not answer in time"):
        embed(model_of(server), "read", "write", patience=patience)
    with pytest.raises(ProviderFailed, match="did not answer in time"):
        embed(model_of(server), "read", patience=patience)
    released.set()


@pytest.mark.parametrize("part", ["header", "body"])
def test_a_provider_that_drips_bytes_fails_in_time(part: str) -> None:
    with dripping_server(part) as url:
        model = RemoteModel(Provider(OPENAI, "small", url), Clock().sleep)
        with pytest.raises(ProviderFailed, match="did not answer in time"):
            embed(model, "read", patience=Patience(0, 0.2, 0))


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "soon", "\xb2", "1e400", "9" * 400, "Fri, 31 Dec 9999 23:59:59"])
def test_a_strange_retry_after_does_not_stop_the_repetition(server: ProviderServer, value: str) -> None:
    server.script = [error(503, "busy", ("Retry-After", value))]
    with suppress(ProviderFailed):  # the year 9999 is a valid time, and too late
        assert embed(model_of(server), "read").shape == (1, 48)
        assert len(server.received) == 2


def test_a_message_that_quotes_a_text_is_not_shown(server: ProviderServer) -> None:
    text = "def launch_codes():\n    return 'the weather is fine today'\n"
    for quoted in (text, text[20:40], repr(text)):
        server.script = [error(400, f"cannot embed: {quoted}", code="bad_input")]
        with pytest.raises(TextsRefused) as caught:
            embed(model_of(server), "another text", text)
        assert caught.value.message.endswith("refuses the text (HTTP 400): bad_input")
    server.script = [error(400, "the text has too many tokens")]
    with pytest.raises(TextsRefused, match="too many tokens"):
        embed(model_of(server), "another text", text)


def encoder_of(server: ProviderServer, **fields: object) -> TextEncoder:
    provider = Provider(OPENAI, "small", server.url)._replace(**fields)  # type: ignore[arg-type]
    return TextEncoder(provider, RemoteModel(provider))


def test_vectors_that_are_too_long_are_refused_and_can_be_cut(server: ProviderServer) -> None:
    answer = json.dumps({"data": [{"index": 0, "embedding": [1.0] * 5000}]}).encode()
    server.always = raw(answer)
    with pytest.raises(ProviderFailed, match="vectors of 5,000 dimensions, at most 4,096"):
        encoder_of(server).encode_passages(["read"])
    assert encoder_of(server, dimensions=4096).encode_passages(["read"]).shape == (1, 4096)


def test_huge_numbers_do_not_vanish(server: ProviderServer) -> None:
    server.always = raw(b'{"data": [{"index": 0, "embedding": [3e38, 0, -3e38]}]}')
    vector = encoder_of(server).encode_passages(["read"])[0]
    assert vector.tolist() == pytest.approx([0.5**0.5, 0, -(0.5**0.5)])


def test_a_long_query_is_sent_in_parts(server: ProviderServer) -> None:
    vectors = encoder_of(server).encode_names([count_identifiers(f"read file{at}") for at in range(150)])
    assert vectors.shape == (150, 48)
    assert [len(request.body["input"]) for request in server.received] == [100, 50]


def test_a_provider_does_not_show_its_key() -> None:
    provider = Provider(OPENAI, "small", "https://example.invalid/v1", KEY)
    assert KEY not in repr(provider) + str(provider) + provider.fingerprint + provider.data_notice
    assert provider.fingerprint == provider._replace(key="another").fingerprint

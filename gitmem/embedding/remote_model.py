"""A model that another program serves over HTTP, in the formats of OpenAI and Ollama.

A request that fails in passing (a timeout, 429, 5xx, an answer that is cut or wrong) is repeated after 1, 2 and 4
seconds, or when the provider says. Wrong keys and names are not. Redirects are not followed: they would carry the key
and the texts to a machine that the user did not name.
"""

import http.client
import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, Final

import numpy as np

from gitmem import __version__
from gitmem.embedding.provider import OLLAMA, OPENAI, Provider
from gitmem.embedding.text_encoder import Patience, Vectors, Watch, describe
from gitmem.embedding.timed_http import build_opener
from gitmem.errors import ProviderFailed, ProviderSlow, TextsRefused
from gitmem.named_tuple import NamedTuple

FIRST_DELAY: Final = 1.0
"""Seconds before the first repetition; doubled for each further one, up to MAX_DELAY."""

MAX_DELAY: Final = 60.0
_STEP_SECONDS: Final = 0.25
"""Interval at which a waiting run looks whether it was stopped."""

_MAX_ANSWER: Final = 64 << 20
_READ_BYTES: Final = 1 << 16
_SHOWN_REASON: Final = 200
_QUOTED: Final = 16
"""Characters in a row that a message shares with a text only if it quotes the text."""

_REFUSED_KEY: Final = (401, 403)
_REFUSED_TEXTS: Final = (400, 413, 422)
_NO_QUOTA: Final = "insufficient_quota"
"""Code of OpenAI's 429 for an account without credit, which no waiting repairs."""


class _Passing(Exception):
    """Failure after which the request may be repeated, `after` so many seconds if the provider said so."""

    def __init__(self, reason: str, after: float = 0.0, *, is_limit: bool = False, is_slow: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.after, self.is_limit, self.is_slow = reason, after, is_limit, is_slow


class RemoteModel:
    """Model of a remote provider. `sleep` and `clock` are those of the system."""

    def __init__(
        self,
        provider: Provider,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._provider = provider
        self._format = _OLLAMA if provider.name == OLLAMA else _OPENAI
        self._sleep, self._clock = sleep, clock
        self._opener = build_opener(uses_proxy=not provider.is_on_this_machine)

    def embed(self, texts: Sequence[str], patience: Patience, watch: Watch) -> Vectors:
        """Return the vectors of texts.

        Raises: ProviderFailed, TextsRefused, ProviderSlow, and Cancelled from `watch`.
        """
        delay = FIRST_DELAY
        for attempt in range(patience.retries + 1):
            try:
                return self._parse(self._ask(texts, patience.timeout), len(texts))
            except _Passing as problem:
                if problem.is_slow and patience.divides and len(texts) > 1:
                    message = f"{describe(self._provider)} at {self._provider.url} {problem.reason}"
                    raise ProviderSlow(message, is_passing=True) from problem
                # Asking before the time of `Retry-After` would prolong the limit with some providers.
                wait = max(problem.after, delay)
                if attempt == patience.retries or wait > patience.max_wait:
                    raise self._failed(_with_time(problem), is_passing=True) from problem
                cause = "rate limit" if problem.is_limit else problem.reason
                self._wait(wait, f"{self._provider.name}: {cause}", watch)
                delay = min(2 * delay, MAX_DELAY)
        raise AssertionError("the last attempt returns or raises")

    def _wait(self, seconds: float, cause: str, watch: Watch) -> None:
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0:
            watch(f"{cause}, waiting {math.ceil(left)} s")
            self._sleep(min(left, _STEP_SECONDS))

    def _ask(self, texts: Sequence[str], timeout: float) -> bytes:
        """Send one request and return the body of the answer."""
        provider = self._provider
        body = json.dumps(self._format.body(provider, texts)).encode()
        headers = {"Content-Type": "application/json", "User-Agent": f"gitmem/{__version__}"}
        if provider.key:
            headers["Authorization"] = f"Bearer {provider.key}"
        # `provider` has refused every scheme but http and https.
        request = urllib.request.Request(provider.url + self._format.path, body, headers, method="POST")  # noqa: S310
        try:
            with self._opener.open(request, timeout=timeout) as answer:
                return self._read(answer)
        except urllib.error.HTTPError as problem:
            # The body of an error says why, and must be read before the connection is closed.
            with problem:
                raise self._refusal(problem, texts) from problem
        except urllib.error.URLError as problem:
            raise _Passing(f"cannot be reached: {_reason_of(problem.reason)}") from problem
        except OSError as problem:
            # A timeout before the request was sent is a URLError: then the number of texts is not the reason.
            raise _Passing(_reason_of(problem), is_slow=isinstance(problem, TimeoutError)) from problem
        except (http.client.HTTPException, ValueError) as problem:
            raise _Passing("gives an answer that is cut or not HTTP") from problem

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        parts, size = [], 0
        while part := answer.read(_READ_BYTES):
            parts.append(part)
            size += len(part)
            if size > _MAX_ANSWER:
                raise self._failed("gives an answer of more than 64 MiB")
        # With a length but without all its bytes, reading in parts ends without an error.
        if answer.length:
            raise _Passing("gives an answer that is cut")
        return b"".join(parts)

    def _refusal(self, problem: urllib.error.HTTPError, texts: Sequence[str]) -> Exception:
        """Return the error for a status other than success."""
        status, reason = problem.code, self._reason_in(problem, texts)
        if status in _REFUSED_KEY:
            setting = "openaiKey" if self._provider.name == OPENAI else "providerKey"
            state = "refuses the key" if self._provider.key else "needs a key"
            return self._failed(f"{state} (HTTP {status})", f"git config --global gitmem.{setting} KEY")
        if status in _REFUSED_TEXTS:
            return TextsRefused(f"{describe(self._provider)} refuses the text (HTTP {status}){reason}")
        if status == 429 and _NO_QUOTA in reason:
            return self._failed("has no credit left (HTTP 429)", "look at the account with the provider")
        if status in (408, 429) or status >= 500:
            after = _seconds_until(problem.headers)
            return _Passing(f"answers HTTP {status}{reason}", after, is_limit=status == 429)
        if 300 <= status < 400:
            return self._failed(f"redirects elsewhere (HTTP {status})", "set gitmem.providerUrl to the final address")
        return self._failed(f"answers HTTP {status}{reason}", "set gitmem.model and gitmem.providerUrl")

    def _reason_in(self, problem: urllib.error.HTTPError, texts: Sequence[str]) -> str:
        """Return the message in the body of an error as a suffix, without the key, and "" if it quotes a text."""
        try:
            error = json.loads(problem.read(_READ_BYTES)).get("error")
            fields = error if isinstance(error, dict) else {"message": error}
            text = " ".join(str(fields[name]) for name in ("code", "message") if fields.get(name))
            # Messages get into logs, where no text of the repository belongs.
            if _quotes(text[: 2 * _SHOWN_REASON], texts):
                text = str(fields.get("code") or "")
        except (ValueError, AttributeError, OSError, http.client.HTTPException):
            return ""
        # Some servers repeat a wrong key in their message.
        if self._provider.key:
            text = text.replace(self._provider.key, "(key)")
        return f": {' '.join(text.split())[:_SHOWN_REASON]}" if text else ""

    def _parse(self, data: bytes, count: int) -> Vectors:
        """Return the vectors of an answer. Another number of vectors, or other values, count as a passing failure."""
        try:
            vectors = np.array(self._format.vectors(json.loads(data), count), np.float32)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as problem:
            raise _Passing("gives an answer that is not one of its format") from problem
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise _Passing("gives other than one vector for each text")
        return vectors

    def _failed(self, problem: str, hint: str = "", *, is_passing: bool = False) -> ProviderFailed:
        hint = hint or "try again later, or GITMEM_PROVIDER=bundled for this command"
        return ProviderFailed(
            f"{describe(self._provider)} at {self._provider.url} {problem}", hint=hint, is_passing=is_passing
        )


class _Format(NamedTuple):
    """Wire format: the path of the request, its body, and the vectors in an answer to so many texts."""

    path: str
    body: Callable[[Provider, Sequence[str]], Mapping[str, Any]]
    vectors: Callable[[Any, int], Sequence[Any]]


def _openai_body(provider: Provider, texts: Sequence[str]) -> Mapping[str, Any]:
    body: dict[str, Any] = {"model": provider.model, "input": list(texts), "encoding_format": "float"}
    # Other servers of this format often refuse a field that they do not know; their vectors are cut here.
    if provider.name == OPENAI and provider.dimensions:
        body["dimensions"] = provider.dimensions
    return body


def _openai_vectors(answer: Any, count: int) -> Sequence[Any]:
    """Return the vectors by the index that each one carries: the order of the list is not promised."""
    vectors: list[Any] = [None] * count
    # A text without a vector stays None, which no array of numbers accepts.
    for item in answer["data"]:
        place = item["index"]
        if not 0 <= place < count or vectors[place] is not None:
            raise ValueError("an index occurs twice or is out of range")
        vectors[place] = item["embedding"]
    return vectors


def _ollama_body(provider: Provider, texts: Sequence[str]) -> Mapping[str, Any]:
    return {"model": provider.model, "input": list(texts)}


def _ollama_vectors(answer: Any, _count: int) -> Sequence[Any]:
    vectors: Sequence[Any] = answer["embeddings"]
    return vectors


_OPENAI: Final = _Format("/embeddings", _openai_body, _openai_vectors)
_OLLAMA: Final = _Format("/api/embed", _ollama_body, _ollama_vectors)


def _quotes(message: str, texts: Sequence[str]) -> bool:
    """Return whether a message has a whole text or a longer piece of one."""
    own = " ".join(message.split())
    known = "\n".join(" ".join(text.split()) for text in texts)
    if any(text in own for text in known.split("\n") if text):
        return True
    return any(own[at : at + _QUOTED] in known for at in range(len(own) - _QUOTED + 1))


def _with_time(problem: _Passing) -> str:
    return f"{problem.reason} (try again in {math.ceil(problem.after)} s)" if problem.after else problem.reason


def _reason_of(problem: object) -> str:
    if isinstance(problem, TimeoutError):
        return "did not answer in time"
    text = getattr(problem, "strerror", None) or str(problem)
    return str(text)[:_SHOWN_REASON]


def _seconds_until(headers: Message) -> float:
    """Return the value of `Retry-After` in seconds: a number or a date; 0 without one."""
    value = (headers.get("Retry-After") or "").strip()
    try:
        seconds = float(value) if value[:1].isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0

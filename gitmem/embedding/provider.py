"""The selected provider of embeddings: its model, its identity and where texts go. Cheap: loads no model.

`encoders.load` returns its encoder. `bundled` needs nothing, and `onnx` runs a model in this process. The others are
remote: programs that get the texts over HTTP.
"""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gitmem.embedding.card import Card
from gitmem.errors import ConfigError
from gitmem.named_tuple import NamedTuple
from gitmem.paths import bundled
from gitmem.settings import BUNDLED, Settings

PREPARATION_VERSION: Final = 1
"""Version of the text of a chunk as a provider gets it. Part of the fingerprint."""

OPENAI: Final = "openai"
OLLAMA: Final = "ollama"
ONNX: Final = "onnx"

_DEFAULT_URLS: Final = {OPENAI: "https://api.openai.com/v1", OLLAMA: "http://127.0.0.1:11434"}
_DEFAULT_MODELS: Final = {OPENAI: "text-embedding-3-small", OLLAMA: "nomic-embed-text"}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

_SAMPLES: Final = 64
_SAMPLE_BYTES: Final = 4096
_WHOLE_BYTES: Final = 1 << 20
"""Files up to this size are hashed as a whole, of larger ones so many samples: a query has no time for 100 MB."""


class Provider(NamedTuple):
    """Provider with everything on which its vectors depend, and its key, "" without one."""

    name: str
    model: str
    url: str = ""
    key: str = ""
    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "mean"

    def __repr__(self) -> str:
        """Leave the key out, so that no log or traceback can show it."""
        return f"Provider({self.name!r}, {self.model!r}, {self.url!r})"

    @property
    def is_bundled(self) -> bool:
        return self.name == BUNDLED

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this process, for another program or machine."""
        return bool(self.url)

    @property
    def host(self) -> str:
        """Name of the machine that a remote provider runs on."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_on_this_machine(self) -> bool:
        return not self.is_remote or self.host in _LOOPBACK

    @property
    def fingerprint(self) -> str:
        """Name for the model and the preparation of texts for it, without the dimensions."""
        if self.is_bundled:
            return Card(bundled("models")).fingerprint
        facts = [str(PREPARATION_VERSION), *map(str, self._replace(key="", model=""))]
        facts.append(_sample_folder(Path(self.model)) if self.name == ONNX else self.model)
        digest = hashlib.sha256("\0".join(facts).encode("utf-8", "surrogateescape")).hexdigest()
        return f"{self.name}:{Path(self.model).name if self.name == ONNX else self.model}:{digest[:16]}"

    @property
    def data_notice(self) -> str:
        """Sentence about the data that leaves this machine, or this process."""
        if not self.is_remote:
            return "nothing leaves this machine"
        where = "on this machine" if self.is_on_this_machine else "off this machine"
        return (
            f"the text of every indexed chunk and record, keys and tokens masked, and every query go to `{self.name}` "
            f"at {self.url} ({where})"
        )


def selected_provider(settings: Settings) -> Provider:
    """Return the provider that the settings select. Raises ConfigError if one of its settings is missing or wrong."""
    name = settings.provider
    if name == BUNDLED:
        return Provider(name, Card(bundled("models")).name)
    common = settings.dimensions, settings.query_prefix, settings.passage_prefix
    if name == ONNX:
        return Provider(name, _require_folder(settings), "", "", *common, settings.pooling)
    model = settings.model or _DEFAULT_MODELS.get(name, "")
    if not model:
        raise _missing("model", name, "NAME")
    url = (settings.provider_url or _DEFAULT_URLS.get(name, "")).rstrip("/")
    if not url:
        raise _missing("providerUrl", name, "https://HOST/v1")
    provider = Provider(name, model, url, settings.openai_key if name == OPENAI else settings.provider_key, *common)
    _check_url(provider)
    _check_key(provider)
    return provider


def model_fingerprint(settings: Settings) -> str:
    """Return a name for the model in use: its weights and the preparation of texts for it, without dimensions."""
    return selected_provider(settings).fingerprint


def _check_url(provider: Provider) -> None:
    # Before anything else, and whatever the rest looks like: the message below shows the address.
    if any(mark in provider.url for mark in "@?#"):
        raise ConfigError(
            "`gitmem.providerUrl` contains a user name, a password or a query",
            hint="put the key into gitmem.providerKey or GITMEM_PROVIDER_KEY",
        )
    try:
        parts = urlsplit(provider.url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and provider.url.isprintable()
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"`gitmem.providerUrl` is `{provider.url}`, expected an address that begins with http:// or https://",
            hint="git config --global gitmem.providerUrl https://HOST/v1",
        )
    if provider.key and parts.scheme == "http" and not provider.is_on_this_machine:
        raise ConfigError(
            f"`gitmem.providerUrl` would send the key to `{provider.host}` unencrypted",
            hint=f"git config --global gitmem.providerUrl https://{parts.netloc}{parts.path}",
        )


def _check_key(provider: Provider) -> None:
    # A header cannot hold other characters, and the error of the library would show the key.
    if not (provider.key.isascii() and provider.key.isprintable()) or " " in provider.key:
        setting = "openaiKey" if provider.name == OPENAI else "providerKey"
        raise ConfigError(
            f"`gitmem.{setting}` has a character that no key has: a space, a line end, or one that is not ASCII",
            hint=f"git config --global gitmem.{setting} KEY",
        )


def _require_folder(settings: Settings) -> str:
    folder = Path(settings.model).expanduser()
    if not settings.model:
        raise _missing("model", ONNX, "FOLDER")
    if not folder.is_absolute():
        # A relative path would depend on the repository, which could then supply the model.
        raise ConfigError(
            f"`gitmem.model` is `{settings.model}`, expected an absolute path for `onnx`",
            hint=f"git config --global gitmem.model {Path.home() / folder}",
        )
    for file in (model_file(folder), folder / "tokenizer.json"):
        if not file.is_file():
            raise ConfigError(
                f"`{file}` is missing (gitmem.model)",
                hint="name a folder with model.onnx or onnx/model.onnx, and tokenizer.json",
            )
    return str(folder)


def model_file(folder: Path) -> Path:
    """Return the file of the graph in a folder: `model.onnx`, or `onnx/model.onnx` as many models have it."""
    nested = folder / "onnx" / "model.onnx"
    return nested if nested.is_file() and not (folder / "model.onnx").is_file() else folder / "model.onnx"


def _missing(setting: str, provider: str, example: str) -> ConfigError:
    return ConfigError(
        f"the provider `{provider}` needs `gitmem.{setting}`", hint=f"git config --global gitmem.{setting} {example}"
    )


def _sample_folder(folder: Path) -> str:
    """Return a hash of a model's files."""
    digest = hashlib.blake2b(digest_size=16)
    graph = model_file(folder)
    for file in sorted({graph, *graph.parent.glob(f"{graph.name}*data*"), folder / "tokenizer.json"}):
        try:
            stat = file.stat()
            digest.update(_sample_file(file, stat.st_size, stat.st_mtime_ns))
        except OSError as problem:
            raise ConfigError(f"cannot read `{file}`: {problem.strerror} (gitmem.model)") from problem
    return digest.hexdigest()


@lru_cache(maxsize=32)
def _sample_file(file: Path, size: int, _modified: int) -> bytes:
    """Return a hash of the whole of a small file, or of samples of a large one. The time is for the cache alone.

    A trained model differs from another one in nearly every block, so samples suffice.
    """
    digest = hashlib.blake2b(f"{file.name}:{size}\0".encode("utf-8", "surrogateescape"), digest_size=16)
    with file.open("rb") as stream:
        if size <= _WHOLE_BYTES:
            digest.update(stream.read())
        else:
            for sample in range(_SAMPLES):
                stream.seek((size - _SAMPLE_BYTES) * sample // (_SAMPLES - 1))
                digest.update(stream.read(_SAMPLE_BYTES))
    return digest.digest()

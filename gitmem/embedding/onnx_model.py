"""A transformer in a local folder, run by onnxruntime: `model.onnx`, `tokenizer.json` and, if present, `config.json`.

Texts of similar length are embedded together. The vectors of a text's tokens are averaged, or that of its first token
is taken (`gitmem.pooling`). A graph that pools by itself is used as it is.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.provider import Provider, model_file
from gitmem.embedding.text_encoder import Patience, Vectors, Watch
from gitmem.errors import GitmemError, ProviderFailed
from gitmem.fsio import read_file

_MAX_TOKENS: Final = 512
"""Tokens of a text that are read if the model does not say how many it can."""

_BATCH: Final = 16
"""Texts that are embedded at once. More save nothing on a processor, and need more memory."""

_SILENT: Final = 4
"""Level at which the library prints nothing: every failure is raised as well."""

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")


class OnnxModel:
    """Model that is loaded when it first embeds. Raises ProviderFailed if a file is missing or has another format."""

    def __init__(self, provider: Provider) -> None:
        self._folder = Path(provider.model)
        self._pooling = provider.pooling
        self._tokenizer = self._load_tokenizer()
        self._session = self._load_session()
        names = [entry.name for entry in self._session.get_inputs()]
        unknown = [name for name in names if name not in _INPUTS]
        if unknown:
            raise self._failed(f"has the input `{unknown[0]}`, expected {', '.join(_INPUTS)}")
        self._inputs = names
        self._output = self._choose_output()

    def embed(self, texts: Sequence[str], _patience: Patience, watch: Watch) -> Vectors:
        """Return the vectors of texts; nothing here can be waited for. Raises: ProviderFailed, Cancelled."""
        encodings = self._tokenizer.encode_batch(list(texts))
        # By length: in a batch every text is padded to the longest one, which costs as much as real tokens.
        order = sorted(range(len(texts)), key=lambda place: len(encodings[place].ids))
        vectors: list[Any] = [None] * len(texts)
        for start in range(0, len(order), _BATCH):
            watch()
            places = order[start : start + _BATCH]
            for place, vector in zip(places, self._run([encodings[place] for place in places]), strict=True):
                vectors[place] = vector
        result = np.array(vectors, np.float32)
        if not np.isfinite(result).all():
            raise self._failed("gives vectors that are not finite")
        return result

    def _run(self, encodings: Sequence[Any]) -> NDArray[np.float32]:
        """Embed one batch, padded to its longest text."""
        width = max(1, *(len(encoding.ids) for encoding in encodings))
        feed = {name: np.zeros((len(encodings), width), np.int64) for name in _INPUTS}
        for row, encoding in enumerate(encodings):
            feed["input_ids"][row, : len(encoding.ids)] = encoding.ids
            feed["attention_mask"][row, : len(encoding.ids)] = encoding.attention_mask
            feed["token_type_ids"][row, : len(encoding.ids)] = encoding.type_ids
        try:
            output = self._session.run([self._output], {name: feed[name] for name in self._inputs})[0]
        except Exception as problem:  # onnxruntime has no common class for its errors
            raise self._failed(f"cannot be run: {_first_line(problem)}") from problem
        output = np.asarray(output, np.float32)
        if output.ndim == 2:
            return output
        if self._pooling == "cls":
            return np.ascontiguousarray(output[:, 0])
        mask = feed["attention_mask"].astype(np.float32)
        totals = np.einsum("btd,bt->bd", output, mask)
        mean: NDArray[np.float32] = totals / np.maximum(mask.sum(axis=1), 1.0)[:, None]
        return mean

    def _choose_output(self) -> str:
        """Return the name of the output with the vectors of the tokens, else of the text."""
        outputs = [(len(entry.shape), entry.name) for entry in self._session.get_outputs()]
        for rank in (3, 2):
            for own, name in outputs:
                if own == rank:
                    return str(name)
        raise self._failed("has no output with a vector for each token or text")

    def _load_session(self) -> Any:
        # The requirements exclude releases of onnxruntime that can send usage events to its makers. If one is installed
        # nonetheless, this stops it from starting its uploader and from writing an identifier into the home directory.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime  # lazily: a process that takes all vectors from the index needs no session

        options = onnxruntime.SessionOptions()
        options.log_severity_level = _SILENT
        try:
            return onnxruntime.InferenceSession(model_file(self._folder), options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # as above
            raise self._failed(f"cannot be loaded: {_first_line(problem)}") from problem

    def _load_tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_str((read_file(self._folder / "tokenizer.json") or b"").decode("utf-8"))
        except Exception as problem:  # the library raises Exception itself
            raise self._failed(f"has a `tokenizer.json` that cannot be read: {_first_line(problem)}") from problem
        own = (tokenizer.truncation or {}).get("max_length", _MAX_TOKENS)
        tokenizer.enable_truncation(min(own, self._max_positions()))
        tokenizer.no_padding()
        return tokenizer

    def _max_positions(self) -> int:
        """Return how many tokens the model can read, by its `config.json`."""
        try:
            config = json.loads(read_file(self._folder / "config.json", 1 << 20) or b"{}")
            positions = int(config.get("max_position_embeddings", _MAX_TOKENS))
            # Models of the RoBERTa family number the first token by the padding plus one.
            offset = int(config.get("pad_token_id") or 0) + 1 if "roberta" in config.get("model_type", "") else 0
        except (ValueError, TypeError, AttributeError, GitmemError):
            return _MAX_TOKENS
        return max(8, positions - offset)

    def _failed(self, problem: str) -> ProviderFailed:
        return ProviderFailed(
            f"the model in `{self._folder}` {problem}", hint="git config --global gitmem.model FOLDER"
        )


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0][:200]

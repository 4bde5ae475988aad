"""One model, two engines that share no code: transformers in float32, and llama.cpp."""

from __future__ import annotations

import numpy as np
import pytest

from probatum.models import load_model
from probatum.models.threads import sleeping_threads
from tests.models.llamacpp.tiny import RANDOM_WIDTH, VOCABULARY, random_model, random_tensors

with sleeping_threads():
    torch = pytest.importorskip("torch", reason="needs the extra: pip install 'probatum[hf]'")
transformers = pytest.importorskip("transformers", reason="needs the extra: pip install 'probatum[hf]'")
pytest.importorskip("xllamacpp", reason="needs the extra: pip install 'probatum[local]'")
pytestmark = pytest.mark.local_model

HEADS = 2


def halves(matrix: np.ndarray, heads: int) -> np.ndarray:
    """Rows as transformers lays them: llama.cpp rotates neighbours, transformers the two halves of a head."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def same_model():
    """The weights of `random_model`, in transformers."""
    tensors = random_tensors(0)
    names = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    names |= {f"ffn_{part}": f"mlp.{part}_proj" for part in ("gate", "up", "down")}
    names |= {f"attn_{part}": f"self_attn.{part}_proj" for part in ("q", "k", "v")}
    names["attn_output"] = "self_attn.o_proj"
    state = {
        "model.embed_tokens.weight": tensors["token_embd.weight"],
        "model.norm.weight": tensors["output_norm.weight"],
        "lm_head.weight": tensors["output.weight"],
    }
    for layer in range(2):
        for name, other in names.items():
            value = tensors[f"blk.{layer}.{name}.weight"]
            if name in {"attn_q", "attn_k"}:
                value = halves(value, HEADS if name == "attn_q" else 1)
            state[f"model.layers.{layer}.{other}.weight"] = value
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=RANDOM_WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=1,
        rms_norm_eps=1e-6,
        max_position_embeddings=512,
        tie_word_embeddings=False,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=True)
    return model


def test_both_give_the_same_log_probabilities(tmp_path):
    from probatum.models.hf.network import Network
    from probatum.models.hf.tree import Query

    draw = np.random.default_rng(3)
    shared = draw.integers(4, VOCABULARY, 90)
    rows = [np.concatenate([shared, draw.integers(4, VOCABULARY, count)]) for count in (7, 30, 60)]
    queries = [Query(row[:-1], row[-6:]) for row in rows]
    network = Network(same_model(), budget=64, attention="packed", context_tokens=256)
    packed = {answered.query: answered.logprobs.numpy() for answered in network.score(queries)}
    model = load_model(f"llamacpp/{random_model(tmp_path / 'm.gguf')}", {"threads": 1})
    differences = []
    for number, query in enumerate(queries):
        tokens = query.tokens.tolist()
        places = range(len(tokens) - len(query.targets), len(tokens))
        for (_, logits), target, value in zip(
            model._batching.logits(tokens, places), query.targets, packed[number], strict=True
        ):
            exact = logits.astype(np.float64)
            own = exact[target] - exact.max() - np.log(np.exp(exact - exact.max()).sum())
            differences.append(abs(own - value))
    model.close()
    assert np.mean(differences) < 0.01  # llama.cpp keeps keys and values in 16 bits
    assert np.max(differences) < 0.06

"""Model directories as they are found: in parts, as pickles, with code of their own, or broken."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from probatum.core.errors import ModelError
from probatum.core.records import Finish, Message, Request, Sampling
from probatum.models import load_model

CODE = """from transformers import LlamaConfig, LlamaForCausalLM

class MyConfig(LlamaConfig):
    model_type = "mine"

class MyModel(LlamaForCausalLM):
    config_class = MyConfig
"""

SAYS = """{% if messages[0].role != 'system' %}<s>system
You are a careful assistant.
{% endif %}{% for m in messages %}<s>{{ m.role }}: {{ m.content }}
{% endfor %}Answer:"""


@pytest.fixture
def copied(tiny, tmp_path) -> Path:
    return shutil.copytree(tiny(), tmp_path / "model")


def edited(path: Path, **fields: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def scored(directory: Path, **settings: object) -> tuple[float, ...]:
    model = load_model(f"hf/{directory}", {"threads": 1, **settings})
    [response] = model.answer([Request(item_id="1", prompt="the sky is", continuation=" blue and green")])
    model.close()
    return response.logprobs


def as_pickle(directory: Path) -> None:
    weights = AutoModelForCausalLM.from_pretrained(directory).state_dict()
    (directory / "model.safetensors").unlink()
    torch.save(weights, directory / "pytorch_model.bin")


def in_parts(directory: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(directory)
    (directory / "model.safetensors").unlink()
    model.save_pretrained(directory, max_shard_size="100KB")
    assert len(list(directory.glob("model-*.safetensors"))) > 2


def beside_another_form(directory: Path) -> None:
    (directory / "consolidated.safetensors").write_bytes(b"not read")


@pytest.mark.parametrize("change", [as_pickle, in_parts, beside_another_form])
def test_the_form_of_the_weights_changes_no_number(change, copied, tiny):
    change(copied)
    assert scored(copied) == scored(tiny())


def test_only_weights_that_are_loaded_are_in_the_digest(copied, tiny):
    beside_another_form(copied)
    model, plain = load_model(f"hf/{copied}"), load_model(f"hf/{tiny()}")
    assert model.identity.weights == plain.identity.weights
    model.close()
    plain.close()


def with_code(directory: Path) -> None:
    (directory / "mine.py").write_text(CODE)
    edited(
        directory / "config.json",
        model_type="mine",
        auto_map={"AutoConfig": "mine.MyConfig", "AutoModelForCausalLM": "mine.MyModel"},
    )


def test_code_of_a_model_runs_where_it_is_allowed_and_is_part_of_its_identity(
    copied, tiny, tmp_path, monkeypatch
):
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    with_code(copied)
    with pytest.raises(ModelError, match="-M trust_remote_code=true"):
        load_model(f"hf/{copied}")
    assert scored(copied, trust_remote_code="true") == scored(tiny())
    model = load_model(f"hf/{copied}", {"trust_remote_code": "true"})
    assert len(str(model.identity.settings["code"])) == 64
    model.close()


def without_a_layer(directory: Path) -> None:
    edited(directory / "config.json", num_hidden_layers=3)


def with_fewer_layers(directory: Path) -> None:
    edited(directory / "config.json", num_hidden_layers=1)


def with_weights(directory: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    weights = load_file(directory / "model.safetensors")
    change(weights)
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})


def with_a_number_that_is_none(directory: Path) -> None:
    def change(weights: dict[str, torch.Tensor]) -> None:
        weights["model.layers.0.mlp.up_proj.weight"][0, 0] = float("nan")

    with_weights(directory, change)


def of_another_shape(directory: Path) -> None:
    edited(directory / "config.json", intermediate_size=32)


def cut_short(directory: Path) -> None:
    weights = directory / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])


def a_pointer(directory: Path) -> None:
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n"
    (directory / "model.safetensors").write_text(text)


def no_pickle(directory: Path) -> None:
    (directory / "model.safetensors").unlink()
    (directory / "pytorch_model.bin").write_bytes(b"\x00" * 100)


def lacking_a_part(directory: Path) -> None:
    in_parts(directory)
    next(directory.glob("model-00002*")).unlink()


def a_broken_index(directory: Path) -> None:
    in_parts(directory)
    (directory / "model.safetensors.index.json").write_text("[]")


def without_a_tokenizer(directory: Path) -> None:
    (directory / "tokenizer.json").unlink()


def with_a_broken_tokenizer(directory: Path) -> None:
    (directory / "tokenizer.json").write_text("{bad")


def of_an_unknown_kind(directory: Path) -> None:
    edited(directory / "config.json", model_type="nosuch")


def an_adapter(directory: Path) -> None:
    (directory / "adapter_config.json").write_text("{}")


def quantised_elsewhere(directory: Path) -> None:
    edited(directory / "config.json", quantization_config={"quant_method": "gptq", "bits": 4})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_a_layer, "'model.layers.2.input_layernorm.weight' is missing, 9 in all"),
        (with_fewer_layers, "'model.layers.1.input_layernorm.weight' is one of 9; take both from one place"),
        (with_a_number_that_is_none, "are NaN; its weights are damaged"),
        (of_another_shape, "is (48, 64) rather than (48, 32), 6 in all"),
        (cut_short, "cannot load"),
        (a_pointer, "cannot load"),
        (no_pickle, "cannot load"),
        (lacking_a_part, "model-00002-of-"),
        (a_broken_index, "no index of weights"),
        (without_a_tokenizer, "no tokenizer"),
        (with_a_broken_tokenizer, "cannot load"),
        (with_code, "Python code of its own"),
        (of_an_unknown_kind, "nosuch"),
        (an_adapter, "holds an adapter"),
        (quantised_elsewhere, "cannot load"),
    ],
)
def test_a_directory_that_is_no_model_is_refused_in_a_line(
    change: Callable[[Path], None], words, copied, capfd
):
    change(copied)
    capfd.readouterr()
    with pytest.raises(ModelError) as raised:
        load_model(f"hf/{copied}", {"threads": 1})
    assert words in str(raised.value)
    assert str(copied) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert capfd.readouterr().err == ""


def with_a_value_head(directory: Path) -> None:
    with_weights(directory, lambda weights: weights.update({"v_head.summary.weight": torch.ones(1, 48)}))


def zero_from_the_middle_on(directory: Path) -> None:
    """What a full disk, or a machine that lost its power, leaves: the right length, and no error."""
    weights = directory / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2].ljust(len(whole), b"\0"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_a_value_head, "are no part of the language model, such as 'v_head.summary.weight'"),
        (zero_from_the_middle_on, "weight matrices of"),
    ],
)
def test_weights_that_may_be_meant_so_are_told_of(change, words, copied, caplog):
    assert scored(copied)
    assert words not in caplog.text
    change(copied)
    scored(copied)
    assert words in caplog.text


def test_a_model_of_encoder_and_decoder_is_refused(copied):
    config = transformers.T5Config(vocab_size=922, d_model=48, d_ff=64, num_layers=1, num_heads=4, d_kv=12)
    transformers.T5ForConditionalGeneration(config).save_pretrained(copied)
    with pytest.raises(ModelError, match="as a causal language model"):
        load_model(f"hf/{copied}")


def test_tokens_that_the_network_does_not_know_are_told(copied):
    model = AutoModelForCausalLM.from_pretrained(copied)
    model.resize_token_embeddings(300)
    model.save_pretrained(copied)
    loaded = load_model(f"hf/{copied}", {"threads": 1})
    requests = [
        Request(item_id="1", prompt="the", continuation=" sky"),
        Request(item_id="1", prompt="the sky", sampling=Sampling(max_tokens=3)),
        Request(item_id="1", prompt="龘", continuation="龘"),  # bytes: the first tokens of all
    ]
    found = {response.request: response for response in loaded.answer(requests)}
    unknown, prompt, known = (found[request.key] for request in requests)
    assert unknown.finish is prompt.finish is Finish.MODEL_ERROR
    assert "the model knows 300" in unknown.reason
    assert "the model knows 300" in prompt.reason
    assert known.finish is Finish.STOP
    loaded.close()


def test_a_system_prompt_that_a_template_adds_is_part_of_the_identity(tiny):
    says, silent = (load_model(f"hf/{tiny(template=one)}") for one in (SAYS, "{{ messages[0].content }}"))
    assert says.identity.settings["template_says"] == "You are a careful assistant."
    assert "template_says" not in silent.identity.settings
    [response] = says.answer(
        [Request(item_id="1", prompt=(Message("user", "the sky"),), continuation=" blue")]
    )
    assert response.finish is Finish.STOP
    says.close()
    silent.close()

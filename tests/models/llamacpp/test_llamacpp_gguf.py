"""Model files: what they say of themselves, and files that are damaged, cut short or none."""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from probatum.core.errors import ModelError, UsageError
from probatum.models import load_model
from probatum.models.llamacpp.gguf import read_header, read_model
from tests.models.llamacpp.tiny import RANDOM_WIDTH, Array, metadata, random_model, split_model, write_gguf


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return random_model(tmp_path_factory.mktemp("gguf") / "whole.gguf")


def test_a_header_says_what_the_model_is(whole):
    model = read_model(whole)
    assert model.weights == hashlib.sha256(whole.read_bytes()).hexdigest()
    assert model.header.metadata["general.name"] == "tiny"
    assert model.header.metadata["llama.context_length"] == 512
    assert model.header.metadata["tokenizer.ggml.add_bos_token"] is True
    assert model.header.metadata["tokenizer.ggml.tokens"] == model.header.metadata["tokenizer.ggml.scores"]
    assert model.header.precision == "F32"
    assert (model.template, model.experts) == (None, False)


VARIANTS = {
    "same": ({}, {}),
    "another name": ({"general.name": "other"}, {}),
    "another template": ({"tokenizer.chat_template": "{{ x }}"}, {}),
    "another token": ({}, {"tokenizer.ggml.tokens": "zzz"}),
    "another score": ({}, {"tokenizer.ggml.scores": -5.0}),
    "another begin": ({"tokenizer.ggml.bos_token_id": 2}, {}),
}


def variant(path, name):
    entries = metadata(width=RANDOM_WIDTH, layers=2, context=512)
    plain, last = VARIANTS[name]
    entries |= plain
    for key, value in last.items():
        array = entries[key]
        entries[key] = Array(array.kind, [*array.values[:-1], value])
    return read_header(write_gguf(path, entries, {"t": np.ones(4, np.float32)}))


@pytest.mark.parametrize(
    ("name", "same"), [(name, name in {"same", "another name", "another template"}) for name in VARIANTS]
)
def test_the_tokenizer_digest_covers_the_tokenizer_and_nothing_else(tmp_path, name, same):
    one, other = variant(tmp_path / "a.gguf", "same"), variant(tmp_path / "b.gguf", name)
    assert (one.tokenizer == other.tokenizer) is same


@pytest.mark.parametrize(
    ("entries", "precision"),
    [({"general.file_type": 15}, "Q4_K_M"), ({"general.file_type": 12345}, "F16"), ({}, "F16")],
)
def test_precision_is_the_file_type_or_else_that_of_most_weights(tmp_path, entries, precision):
    tensors = {"a": np.ones((8, 8), np.float32), "b": np.ones(8, np.float32)}
    path = write_gguf(tmp_path / "m.gguf", {"general.architecture": "x", **entries}, tensors, "F16")
    assert read_header(path).precision == precision


def test_experts_are_seen(tmp_path):
    entries = {"general.architecture": "moe", "moe.expert_count": 8}
    assert read_model(write_gguf(tmp_path / "m.gguf", entries, {})).experts


def test_a_model_in_parts_is_all_of_them(tmp_path):
    parts = split_model(tmp_path / "m", 3)
    digests = "\n".join(hashlib.sha256(part.read_bytes()).hexdigest() for part in parts)
    for part in parts:
        model = read_model(part)
        assert model.path == parts[0]
        assert model.weights == hashlib.sha256(digests.encode()).hexdigest()
    parts[1].unlink()
    with pytest.raises(ModelError, match=r"m-00002-of-00003\.gguf' cannot be read: No such file"):
        read_model(parts[0])


def test_a_part_that_is_not_named_like_one_is_refused(tmp_path):
    parts = split_model(tmp_path / "m", 2)
    with pytest.raises(ModelError, match="one of 2 parts"):
        read_model(parts[0].rename(tmp_path / "renamed.gguf"))


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.001, 0.01, 0.05, 0.3, 0.7, 0.99, 0.9999])
def test_a_file_cut_short_anywhere_is_one_line(whole, tmp_path, share):
    content = whole.read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelError, match=r"cut\.gguf' (is damaged|is not a GGUF)") as raised:
        read_model(path)
    assert "\n" not in str(raised.value)


HEADER = b"GGUF" + struct.pack("<I", 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a GGUF"),
        (b"GG", "not a GGUF"),
        (b"PK\x03\x04 a zip", "not a GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version"),
        (HEADER + struct.pack("<QQ", 0, 2**60), "ends in the middle"),
        (HEADER + struct.pack("<QQ", 2**60, 0), "ends in the middle"),
        (HEADER + struct.pack("<QQQ", 0, 1, 2**63), "ends in the middle of a text"),
        (HEADER + struct.pack("<QQQ", 0, 1, 1) + b"k" + struct.pack("<I", 77), "unknown type 77"),
        (
            HEADER + struct.pack("<QQQ", 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 9, 1),
            "list of unknown type 9",
        ),
        (
            HEADER + struct.pack("<QQQ", 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 4, 2**62),
            "in the middle of a list",
        ),
        (
            HEADER + struct.pack("<QQQ", 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 8, 2**62),
            "in the middle of a list",
        ),
        (HEADER + struct.pack("<QQQ", 1, 0, 1) + b"t" + struct.pack("<I", 99), "99 dimensions"),
        (
            HEADER + struct.pack("<QQQ", 1, 0, 1) + b"t" + struct.pack("<IQIQ", 1, 2**40, 0, 0),
            "tensor 't' ends at byte",
        ),
    ],
)
def test_a_header_that_is_nonsense_is_one_line(tmp_path, content, words):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=words) as raised:
        read_header(path)
    assert "\n" not in str(raised.value)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    changes=some.lists(some.tuples(some.integers(0, 30_000), some.integers(0, 255)), min_size=1, max_size=8)
)
def test_whatever_bytes_change_reading_ends_in_a_header_or_a_model_error(whole, tmp_path, changes):
    content = bytearray(whole.read_bytes()[:60_000])
    for place, value in changes:
        content[place] = value
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError):  # it is cut short besides, so that it is never whole
        read_header(path)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("nowhere/none.gguf", ModelError, "cannot be read: No such file"),
        ("gemma-3-27b", UsageError, "did you mean 'gemma-3-270m'"),
        (".", ModelError, "cannot be read: Is a directory"),
    ],
)
def test_a_name_that_is_no_model_is_one_line(name, kind, words):
    pytest.importorskip("xllamacpp", reason="needs the extra: pip install 'probatum[local]'")
    with pytest.raises(kind, match=words):
        load_model(f"llamacpp/{name}")


@pytest.mark.local_model
def test_a_damaged_model_ends_a_process_in_one_line_without_noise(whole, tmp_path):
    pytest.importorskip("xllamacpp", reason="needs the extra: pip install 'probatum[local]'")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole.read_bytes()[:-100])
    unknown = write_gguf(tmp_path / "unknown.gguf", {"general.architecture": "nonesuch"}, {})
    tensorless = write_gguf(tmp_path / "tensorless.gguf", metadata(width=128, layers=2, context=64), {})
    code = (
        "import sys\nfrom probatum.models import load_model\nfrom probatum.core.errors import ProbatumError\n"
        "for name in sys.argv[1:]:\n"
        "    try: load_model('llamacpp/' + name)\n"
        "    except ProbatumError as error: print(error)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(cut), str(unknown), str(tensorless)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert ended.stderr == ""
    damaged, foreign, empty = ended.stdout.splitlines()
    assert "is damaged or cut short (tensor" in damaged
    assert "nonesuch" in foreign
    assert "cannot load" in empty

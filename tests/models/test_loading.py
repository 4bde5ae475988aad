"""A model is found by its name; whatever is wrong with name or settings is told in one line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from msgspec import Meta

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Request
from probatum.models import PROVIDERS, load_model
from probatum.models.hf import HFSettings
from probatum.models.loading import provider_names
from probatum.models.settings import read_settings


@dataclass(frozen=True, kw_only=True)
class Example:
    url: str
    count: Annotated[int, Meta(ge=1, le=8)] = 4
    share: float = 0.5
    loud: bool = False
    names: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"url": "x"}, Example(url="x")),
        ({"url": "x", "count": "8", "share": "1e-3"}, Example(url="x", count=8, share=0.001)),
        ({"url": "x", "count": 2, "share": 1, "loud": True}, Example(url="x", count=2, share=1.0, loud=True)),
        ({"url": "x", "loud": "true"}, Example(url="x", loud=True)),
        ({"url": "x", "loud": "0"}, Example(url="x", loud=False)),
        ({"url": "123"}, Example(url="123")),
        ({"url": "x", "names": ["a", "b"]}, Example(url="x", names=("a", "b"))),
    ],
)
def test_settings_are_read_from_strings_and_from_typed_values(given, expected):
    assert read_settings("example", given, Example) == expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"url": "x", "coutn": "3"}, ["'coutn'", "did you mean 'count'", "count, loud, names, share, url"]),
        ({"url": "x", "zzz": "3"}, ["'zzz'", "settings: count"]),
        ({"url": "x", "count": "0"}, ["count='0'", "int >= 1"]),
        ({"url": "x", "count": "9"}, ["count='9'", "int <= 8"]),
        ({"url": "x", "count": "many"}, ["count='many'", "int"]),
        ({"url": "x", "count": "2.5"}, ["count='2.5'", "int"]),
        ({"url": "x", "loud": "yes"}, ["loud='yes'", "expected true or false"]),
        ({"url": 5}, ["url=5", "str"]),
        ({}, ["needs the setting 'url'", "-M url=VALUE"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_value_and_what_is_possible(given, words):
    with pytest.raises(UsageError) as raised:
        read_settings("example", given, Example)
    message = str(raised.value)
    assert "'example'" in message
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("dtype", "int8", "one of auto, float32, bfloat16, float16"),
        ("today", "yesterday", "a day, such as 2025-01-31"),
        ("trust_remote_code", "sure", "true or false"),
    ],
)
def test_a_setting_says_in_words_what_it_may_be(key, value, words):
    with pytest.raises(UsageError, match=f"{key}='{value}' .*: expected {words}$"):
        read_settings("hf", {key: value}, HFSettings)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("gemma", ["'gemma'", "PROVIDER/NAME", "llamacpp"]),
        ("llamacpp", ["'llamacpp/NAME'"]),
        ("/gemma", ["PROVIDER/NAME"]),
        ("", ["''", "PROVIDER/NAME"]),
        ("llamacp/gemma", ["'llamacp'", "did you mean 'llamacpp'"]),
        ("OpenAI/x", ["'OpenAI'", "did you mean 'openai'"]),
        ("nonsense/x", ["'nonsense'", "constant, hf, llamacpp, openai, random, replay"]),
        ("constant/", ["no name after the slash", "constant/NAME"]),
        ("replay/  ", ["no name after the slash"]),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest_and_with_what_exists(model, words):
    with pytest.raises(UsageError) as raised:
        load_model(model)
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_a_provider_without_a_name_is_not_told_that_it_is_like_itself(provider):
    with pytest.raises(UsageError, match=f"'{provider}/NAME'") as raised:
        load_model(provider)
    assert "did you mean" not in str(raised.value)


@pytest.mark.parametrize("provider", ["constant", "random", "replay"])
def test_a_provider_without_settings_says_so(provider):
    with pytest.raises(UsageError, match="has no setting 'thread'"):
        load_model(f"{provider}/1", {"thread": "2"})


def test_the_name_may_hold_slashes_and_spaces():
    assert load_model("constant/a/b c").identity.name == "a/b c"


def test_every_provider_listed_has_its_module():
    assert set(PROVIDERS) <= set(provider_names())
    for module in PROVIDERS.values():
        path = Path(*module.split("."))
        root = Path(__file__).parents[2] / "src"
        assert (root / path).with_suffix(".py").is_file() or (root / path / "__init__.py").is_file()


PLUGIN = """
from probatum.models import Capabilities
from probatum.core.records import Identity, Response

class Echo:
    identity = Identity(provider="echo", name="echo")
    capabilities = Capabilities(completion=True)
    def __init__(self, name, settings): self.settings = settings
    def answer(self, requests):
        for request in requests:
            yield Response(request=request.key, text=request.prompt + self.settings["tail"])
    def count_tokens(self, prompt): return None
    def close(self): pass

load = Echo
"""


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    def install(name: str, entries: str) -> None:
        information = tmp_path / f"{name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[probatum.models]\n{entries}\n")

    (tmp_path / "echo_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield install
    sys.modules.pop("echo_plugin", None)


def test_a_package_adds_a_provider_by_entry_point(plugins):
    plugins("echoes", "echo = echo_plugin:load")
    assert "echo" in provider_names()
    assert "echo_plugin" not in sys.modules
    model = load_model("echo/x", {"tail": "!"})
    assert [one.text for one in model.answer([Request(item_id="1", prompt="hi")])] == ["hi!"]
    with pytest.raises(UsageError, match="did you mean 'echo'"):
        load_model("ecko/x")


def test_a_package_cannot_replace_a_provider_of_ours(plugins):
    plugins("thief", "constant = echo_plugin:load")
    assert load_model("constant/B").identity.provider == "constant"


def test_two_packages_with_one_provider_are_refused_by_name(plugins):
    plugins("first", "echo = echo_plugin:load")
    plugins("second", "echo = echo_plugin:Echo")
    with pytest.raises(UsageError, match=r"first \(echo_plugin:load\), second \(echo_plugin:Echo\)"):
        load_model("echo/x")


def test_a_broken_plugin_is_one_line(plugins):
    plugins("broken", "broken = no_such_module:load")
    with pytest.raises(ModelError, match=r"'broken' .*no_such_module.* cannot be imported"):
        load_model("broken/x")


@pytest.mark.parametrize("statement", ["import probatum.models", "import probatum.models.loading"])
def test_importing_the_models_loads_no_backend(statement):
    heavy = "('xllamacpp', 'aiohttp', 'numpy', 'jinja2', 'importlib.metadata')"
    code = f"{statement}; import sys; sys.exit(str([name for name in {heavy} if name in sys.modules]))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr.strip() == "[]"

"""The embedded model itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from probatum.core.records import Finish, Request, Sampling
from probatum.models import load_model
from probatum.models.llamacpp import embedded
from tests.models.servers import needs_local_model

pytestmark = [pytest.mark.local_model, needs_local_model]

PROMPTS = [
    "The capital of France is",
    'def add(a: int, b: int) -> int:\n    """Adds two numbers."""\n',
    "水在标准大气压下的沸点是",
    "Water boils at a temperature of",
    "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, " * 3,
    "Q: What is the opposite of hot?\nA:",
]


@pytest.fixture(scope="module")
def gemma():
    model = load_model("llamacpp/gemma-3-270m", {"context_tokens": 512})
    yield model
    model.close()


def requests(temperature):
    return [
        Request(
            item_id=str(number),
            prompt=prompt,
            sampling=Sampling(
                max_tokens=10, temperature=temperature, top_p=0.95, seed=number if temperature else None
            ),
        )
        for number, prompt in enumerate(PROMPTS)
    ]


def test_its_identity(gemma):
    identity = gemma.identity
    assert identity.name == "gemma-3-270m"
    assert identity.weights == embedded.SHA256
    assert identity.precision == "Q4_K_M"
    assert identity.template is None
    assert identity.tokenizer == "a685878d5d4401ebdd2f08cf97a5e065917989f2e15eef6bf46464c17523e5b9"
    assert not gemma.capabilities.chat
    assert gemma.capabilities.reproducible


def test_tokens_are_those_of_its_tokenizer(gemma):
    assert gemma._tokens("The capital of France is") == [2, 818, 5279, 529, 7001, 563]
    assert gemma._tokens("<bos>The capital of France is") == [2, 818, 5279, 529, 7001, 563]


def test_it_knows_a_few_things(gemma):
    texts = {response.request: response for response in gemma.answer(requests(0.0))}
    answers = [texts[one.key] for one in requests(0.0)]
    assert "100" in answers[3].text
    assert answers[4].text.lstrip().startswith("1, 2, 3")
    assert all(answer.finish in {Finish.LENGTH, Finish.STOP} for answer in answers)
    assert all(0 < answer.completion_tokens <= 10 for answer in answers)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_answers_alone_and_in_company_are_the_same(gemma, temperature):
    asked = requests(temperature)
    company = {response.request: response.text for response in gemma.answer(asked[::-1])}
    alone = {}
    for one in asked[:3]:
        gemma._batching.reset()
        alone |= {response.request: response.text for response in gemma.answer([one])}
    assert alone == {key: company[key] for key in alone}


def test_nothing_is_written_by_loading_and_answering_it():
    code = (
        "from probatum.models import load_model\nfrom probatum.core.records import Request, Sampling\n"
        "model = load_model('llamacpp/gemma-3-270m', {'context_tokens': '256'})\n"
        "list(model.answer([Request(item_id='1', prompt='a', sampling=Sampling(max_tokens=2))]))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=240, check=True, env=dict(os.environ)
    )
    assert (ended.stdout, ended.stderr) == (b"", b"")

from dataclasses import replace

import pytest

from probatum.core.canonical import canonical
from probatum.core.comparability import Comparability, comparability, compare_identities, compare_recipes
from probatum.core.protocol import Protocol
from probatum.core.records import Identity, Sampling
from tests.fakes import Echo, sums_task

MODEL = Identity(provider="llamacpp", name="m", weights="w1", template="t1", backend="x 1")
PROTOCOL = Protocol(task=sums_task(), form="chat", shots=0, samples=1, sampling=Sampling())


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, Comparability.SAME),
        ({"name": "n", "weights": "w2", "tokenizer": "k", "revision": "r"}, Comparability.SAME),
        ({"backend": "x 2"}, Comparability.NOTED),
        ({"precision": "bf16"}, Comparability.NOTED),
        ({"settings": {"context": 1}}, Comparability.NOTED),
        ({"template": None}, Comparability.REFUSED),
        ({"template": "t2"}, Comparability.REFUSED),
        ({"template": "t2", "weights": "w2"}, Comparability.NOTED),
    ],
)
def test_what_differs_beside_the_model_itself_is_classed(changes, kind):
    found = compare_identities(MODEL, replace(MODEL, **changes))
    assert comparability(found) is kind
    assert comparability(compare_identities(replace(MODEL, **changes), MODEL)) is kind


@pytest.mark.parametrize(
    ("changes", "kind", "meaning"),
    [
        ({}, Comparability.SAME, None),
        ({"task": sums_task(citation="another")}, Comparability.SAME, None),
        ({"seed": 7}, Comparability.NOTED, "seeds differ"),
        ({"shots": 5}, Comparability.REFUSED, "prompts differ"),
        ({"form": "completion"}, Comparability.REFUSED, "prompts differ"),
        ({"system": "Be brief."}, Comparability.REFUSED, "prompts differ"),
        ({"samples": 10}, Comparability.REFUSED, "the sample budgets differ"),
        ({"sampling": Sampling(temperature=0.8)}, Comparability.REFUSED, "decoding differs"),
        ({"task": sums_task(scorer=Echo())}, Comparability.REFUSED, "grading differs"),
        ({"task": sums_task(version=2)}, Comparability.REFUSED, "recipes differ"),
    ],
)
def test_recipes_are_compared_field_by_field(changes, kind, meaning):
    found = compare_recipes(canonical(PROTOCOL), canonical(replace(PROTOCOL, **changes)))
    assert comparability(found) is kind
    if meaning is not None:
        assert meaning in {each.meaning for each in found}
        assert all(str(each).startswith(each.meaning) for each in found)

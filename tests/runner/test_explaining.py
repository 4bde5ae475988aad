"""Why two scores differ: the first difference, and parts that add up."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.core.errors import UsageError
from probatum.core.records import Identity, Sampling
from probatum.core.status import Status
from probatum.core.strictjson import strict_text
from probatum.runner import evaluate
from probatum.runner.comparing import Parting, explain
from probatum.store import open_store
from tests.fakes import FakeModel, answer_sums, sums_task
from tests.runner.stored import PROTOCOL, stored_run


def asked(store, data, name="m", *, reply=answer_sums, task=None, **options):
    """A real run of additions."""
    model = FakeModel(reply=reply, identity=Identity(provider="fake", name=name))
    return evaluate(task or sums_task(), model=model, store=store, data_directory=data, **options)


def half_wrong(request):
    right = answer_sums(request)
    return right if int(right) % 2 else "0"


def step(explanation, name):
    return next(one for one in explanation.steps if one.name == name)


def test_other_answers_to_the_same_requests_explain_all(store, data):
    (found,) = explain(asked(store, data, "a"), asked(store, data, "b", reply=half_wrong))
    assert found.first.name == "model"
    assert step(found, "prompts").same
    answers = step(found, "answers")
    assert not answers.same
    assert (answers.a, answers.b) != ("", "")
    shares = {share.of: share for share in found.shares}
    assert shares[Parting.ANSWER].value == pytest.approx(found.difference)
    assert shares[Parting.ANSWER].low < found.difference < shares[Parting.ANSWER].high
    assert shares[Parting.NOWHERE].value == 0


def test_another_system_prompt_is_named_at_its_first_character(store, data):
    one = asked(store, data, system="Add well.", form="chat")
    other = asked(store, data, "b", system="Add badly.", form="chat", reply=half_wrong)
    (found,) = explain(one, other)
    assert found.first.name == "prompts"
    assert "100 items, first 'sum-0' at character 12" in found.first.detail
    assert ("Add well." in found.first.a, "Add badly." in found.first.b) == (True, True)
    assert "system" in {each.field for each in found.recipe}
    shares = {share.of: share for share in found.shares}
    assert shares[Parting.PROMPT].value == pytest.approx(found.difference)


def test_another_temperature_is_sampling_and_not_prompts(store, data):
    one = asked(store, data, temperature=0.0)
    other = asked(store, data, "b", temperature=0.7)
    (found,) = explain(one, other)
    assert step(found, "prompts").same
    sampling = step(found, "sampling")
    assert sampling.detail.startswith("temperature")
    assert (sampling.a["temperature"], sampling.b["temperature"]) == (0, 0.7)
    assert Parting.SAMPLING in {share.of for share in found.shares}


def test_items_of_one_run_alone_and_changed_items_are_the_first_difference(store):
    a = stored_run(store, "a", {"x": 1.0, "y": 0.0, "z": 1.0})
    b = stored_run(store, "b", {"x": 1.0, "y": 0.0, "v": 0.0}, contents={"y": "another"})
    (found,) = explain(a, b)
    assert found.first.name == "data"
    assert "1 only in A; 1 only in B; 1 of one id and two contents, first 'y' in fields" in found.first.detail
    assert math.fsum(share.value for share in found.shares) == pytest.approx(found.difference)


def test_grading_alone_is_told_from_answers(store):
    a, b = stored_run(store, "a", {"x": 1.0, "y": 1.0}), stored_run(store, "b", {"x": 1.0, "y": 0.0})
    (found,) = explain(a, b)
    grading = step(found, "grading")
    assert (grading.a, grading.b) == ("scored {'correct': 1.0}", "scored {'correct': 0.0}")
    assert {share.of: share.value for share in found.shares}[Parting.GRADING] == -0.5


def test_runs_that_are_the_same_but_for_their_versions_differ_there(store):
    a = stored_run(store, "a", {"x": 1.0}, environment={"dependencies": {"numpy": "2.0"}})
    b = stored_run(store, "b", {"x": 1.0}, environment={"dependencies": {"numpy": "2.1"}})
    b = replace(b, record=replace(b.record, model=a.record.model))
    (found,) = explain(a, b)
    assert found.first.name == "versions"
    assert (found.first.a, found.first.b) == ({"numpy": "2.0"}, {"numpy": "2.1"})


def test_what_is_not_counted_in_both_runs_is_said(store):
    a = stored_run(store, "a", {"x": 1.0, "y": Status.INFRA_ERROR})
    b = stored_run(store, "b", {"x": Status.INFRA_ERROR, "y": 1.0})
    (found,) = explain(a, b)
    assert found.shares == ()
    assert found.notes == ("no item is counted in both runs: nothing can be explained",)


def test_the_plain_form_is_strict_json_and_misuse_is_refused(store):
    a = stored_run(store, "a", {"x": 1.0})
    b = stored_run(store, "b", {"x": 0.0}, protocol=replace(PROTOCOL, sampling=Sampling(temperature=1.0)))
    (found,) = explain(a, b)
    plain = json.loads(strict_text(found.plain()))
    assert plain["first"] == "sampling"
    assert {"steps", "shares", "recipe", "difference"} <= set(plain)
    with pytest.raises(UsageError, match="given twice"):
        explain(a, a)
    with pytest.raises(UsageError, match="not in both runs"):
        explain(a, b, task="chess")


kinds = st.sampled_from([0.0, 1.0, 0.5, Status.NO_ANSWER, Status.INFRA_ERROR, Status.INVALID_ITEM])
runs = st.dictionaries(st.sampled_from("abcdefgh"), kinds, min_size=1)


@settings(max_examples=30, deadline=None)
@given(runs, runs, st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("12")))
def test_the_parts_add_up_to_the_difference_whatever_the_runs(tmp_path_factory, one, other, contents):
    path = tmp_path_factory.mktemp("parts") / "s.db"
    with open_store(f"sqlite:///{path}") as store:
        a, b = stored_run(store, "a", one), stored_run(store, "b", other, contents=contents)
        (found,) = explain(a, b)
    if found.shares:
        assert math.fsum(share.value for share in found.shares) == pytest.approx(found.difference, abs=1e-12)
        counted = [share.items for share in found.shares[1:]]
        assert 0 < sum(counted) <= len(one.keys() & other.keys())

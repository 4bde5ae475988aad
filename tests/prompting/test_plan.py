from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from probatum.core.errors import UsageError
from probatum.core.protocol import Protocol
from probatum.core.records import Item, Message, Sampling
from probatum.prompting import Plan, ShotPool, plan_item
from tests.fakes import sums_task

TASK = sums_task()


def item(number: int) -> Item:
    return Item(id=f"sum-{number}", fields={"a": number, "b": number}, targets=(str(2 * number),))


POOL = ShotPool(TASK.completion, drawn=tuple(item(number) for number in range(100, 130)))


def protocol(**changes: object) -> Protocol:
    base = Protocol(task=TASK, form="completion", shots=0, samples=1, sampling=Sampling(stop=("\n",)))
    return replace(base, **changes)


def plan(given: Protocol, number: int = 1, fits=lambda _prompt, _continuation: True) -> Plan:
    return plan_item(given, item(number), POOL if given.shots else None, fits)


def test_every_sample_is_one_request_that_names_its_item():
    made = plan(protocol(samples=3, sampling=Sampling(temperature=1.0)))
    assert [[(one.item_id, one.sample, one.part) for one in sample] for sample in made.samples] == [
        [("sum-1", 0, 0)],
        [("sum-1", 1, 0)],
        [("sum-1", 2, 0)],
    ]
    assert {one.prompt for (one,) in made.samples} == {"1+1="}


def test_seeds_are_given_only_where_something_is_random():
    assert plan(protocol()).samples[0][0].sampling.seed is None
    assert plan(protocol(sampling=Sampling(temperature=0.01))).samples[0][0].sampling.seed is not None


def test_greedy_requests_do_not_depend_on_the_run_seed():
    """So that another seed finds every greedy answer in the store."""
    assert plan(protocol(seed=1)).samples == plan(protocol(seed=2)).samples


@given(st.integers(0, 5), st.integers(0, 50), st.integers(2, 6))
def test_samples_have_seeds_of_their_own_that_more_samples_do_not_change(seed, number, samples):
    given_ = protocol(seed=seed, samples=samples, sampling=Sampling(temperature=0.8))
    seeds = [one.sampling.seed for (one,) in plan(given_, number).samples]
    assert len(set(seeds)) == samples
    assert plan(replace(given_, samples=1), number).samples[0][0].sampling.seed == seeds[0]
    assert plan(replace(given_, seed=seed + 1), number).samples[0][0].sampling.seed != seeds[0]


def test_the_sampling_is_the_protocols():
    sampling = Sampling(max_tokens=3, top_p=0.5, top_k=7, temperature=0.2, stop=("x",))
    asked = plan(protocol(sampling=sampling)).samples[0][0].sampling
    assert replace(asked, seed=None) == sampling


def test_a_chat_plan_asks_messages_with_the_system_prompt():
    made = plan(protocol(form="chat", system="Add."))
    assert made.samples[0][0].prompt == (Message("system", "Add."), Message("user", "1+1="))


@pytest.mark.parametrize(("form", "other"), [("chat", "completion"), ("completion", "chat")])
def test_a_task_without_the_form_says_which_one_it_has(form, other):
    task = replace(TASK, **{form: None})
    with pytest.raises(UsageError, match=f"'sums' has no {form} form; use --form {other}"):
        plan(protocol(task=task, form=form))


def test_shots_are_shown_before_the_question_and_named():
    made = plan(protocol(shots=3))
    lines = made.samples[0][0].prompt.split("\n")
    numbers = [int(name.removeprefix("sum-")) for name in made.shots]
    assert lines == [*(f"{number}+{number}={2 * number}" for number in numbers), "1+1="]
    assert made.dropped == 0


@pytest.mark.parametrize("room", range(5))
def test_whole_shots_are_dropped_from_the_end_until_the_rest_fits(room):
    full = plan(protocol(shots=4))
    fitted = plan(protocol(shots=4), fits=lambda prompt, _: prompt.count("\n") <= room)
    assert fitted.shots == full.shots[:room]
    assert fitted.dropped == 4 - room
    assert fitted.samples[0][0].prompt.count("\n") == room


def test_a_question_that_does_not_fit_alone_is_asked_as_it_is():
    """The model then says that it does not fit: the sample stays in the count."""
    made = plan(protocol(shots=4), fits=lambda _prompt, _continuation: False)
    assert made.shots == ()
    assert made.dropped == 4
    assert made.samples[0][0].prompt == "1+1="


def test_a_prompt_is_measured_once_for_all_samples():
    measured = []
    plan(
        protocol(samples=50, shots=2, sampling=Sampling(temperature=1.0)),
        fits=lambda prompt, _: bool(measured.append(prompt)) or True,
    )
    assert len(measured) == 1

"""A share of the samples asked twice: really asked, in no score, and told beside the standard error."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import evaluate, stats
from probatum.core.errors import Interrupted, StoreError, UsageError
from probatum.core.records import Finish, Identity, Item, Outcome, Request, Response
from probatum.core.run import Sample
from probatum.core.status import Status
from probatum.core.strictjson import strict_text
from probatum.models import Capabilities
from probatum.report import make_card, make_report
from probatum.runner import Options, Progress, load_run, rescore
from probatum.runner.comparing import compare
from probatum.runner.noise import noise_floor_of, told_noise
from probatum.runner.repeating import choose, second_answers, second_task
from tests.fakes import Echo, FakeModel, answer_sums, failure, sums_task
from tests.runner.runs import FakeSandbox, carry_out, outcomes, statuses
from tests.runner.test_likelihood_runs import choice_task, likes, write

TASK = sums_task()


@dataclass
class Changing(FakeModel):
    """Answers as `reply` does at first, and as `later` does whatever it has been asked before."""

    later: object = answer_sums
    seen: Counter = field(default_factory=Counter)

    def answer(self, requests):
        first = self.reply

        def reply(request):
            self.seen[request.key] += 1
            return first(request) if self.seen[request.key] == 1 else self.later(request)

        self.reply = reply
        try:
            yield from super().answer(requests)
        finally:
            self.reply = first


def some_wrong(request):
    """A wrong sum for about a third of what is asked a second time."""
    return "0" if int(request.digest[:8], 16) % 3 == 0 else answer_sums(request)


def noise_of(run, task="sums"):
    return run.noise_floors[task]


def test_a_share_is_really_asked_twice_and_is_in_no_score(store, data):
    plain, model, progress = FakeModel(), Changing(later=some_wrong), Progress()
    (alone,) = carry_out(TASK, plain, store, data, limit=60).record.tasks
    other = replace(model, identity=Identity(provider="fake", name="changing"))
    run = carry_out(TASK, other, store, data, limit=60, repeat_share=0.25, progress=progress)
    twice = {key for key, count in other.seen.items() if count == 2}
    assert (len(other.seen), len(twice)) == (60, 15)
    assert progress.plain()["model_calls"] == 75
    assert progress.plain()["model_calls_asked_again"] == 15
    assert statuses(run) == {"scored": 60}
    assert run.record.tasks[0].summary["estimates"] == alone.summary["estimates"]
    noise = noise_of(run)
    assert (noise.samples, noise.of, noise.answered, noise.requests, noise.completion_tokens) == (
        15,
        60,
        15,
        15,
        15,
    )


def test_the_noise_floor_is_computed_from_what_changed(store, data):
    model = Changing(later=some_wrong)
    noise = noise_of(carry_out(TASK, model, store, data, repeat_share=1.0))
    changed = [request for request in model.asked[100:] if some_wrong(request) == "0"]
    flips = len(changed)
    assert 0 < flips < 100
    wilson = stats.proportion_interval(100 - flips, 100)
    for same in (noise.text, noise.answer, noise.score):
        assert (same.value, same.low, same.high, same.n) == (wilson.value, wilson.low, wilson.high, 100)
    assert noise.change.value == pytest.approx(-flips / 100)
    assert noise.noise == pytest.approx(math.sqrt(flips / 100 / 2 / 100))
    upper = stats.proportion_interval(flips, 100).high
    assert noise.noise_high == pytest.approx(math.sqrt(upper / 2 / 100))
    assert set(noise.changed) <= {request.item_id for request in changed}
    assert len(noise.changed) == min(20, flips)
    assert any("something changed between the two" in line for line in told_noise(noise))


def test_a_model_that_agrees_with_itself_has_no_noise_and_an_upper_limit_of_it(store, data):
    noise = noise_of(carry_out(TASK, FakeModel(), store, data, repeat_share=0.1))
    assert (noise.text.value, noise.noise, noise.change.value, noise.changed) == (1.0, 0.0, 0.0, ())
    assert 0 < noise.noise_high < 0.05
    assert "greedy; the backend does not claim to answer the same" in told_noise(noise)[0]


def test_a_run_that_is_started_again_asks_nothing_and_a_larger_share_asks_the_rest_alone(store, data):
    small = noise_of(carry_out(TASK, FakeModel(), store, data, repeat_share=0.1))
    silent, larger = FakeModel(), FakeModel()
    again = carry_out(TASK, silent, store, data, repeat_share=0.1)
    assert (silent.asked, noise_of(again)) == ([], small)
    noise = noise_of(carry_out(TASK, larger, store, data, repeat_share=0.3))
    assert (len(larger.asked), noise.samples) == (20, 30)
    none = carry_out(TASK, larger, store, data)
    assert (len(larger.asked), none.noise_floors) == (20, {})


@pytest.mark.parametrize("stopped_at", [101, 105, 109])
def test_an_interrupted_second_asking_goes_on_where_it_stood(store, data, stopped_at):
    stop = threading.Event()

    def reply(request):
        if len(model.asked) == stopped_at:
            stop.set()
        return answer_sums(request)

    model = FakeModel(reply=reply)
    with pytest.raises(Interrupted, match=r"sums \(asked again\) are kept"):
        carry_out(TASK, model, store, data, repeat_share=0.1, stop=stop)
    second = FakeModel()
    noise = noise_of(carry_out(TASK, second, store, data, repeat_share=0.1))
    assert len(model.asked) + len(second.asked) == 110
    assert (noise.samples, noise.answered) == (10, 10)


def test_second_answers_that_fail_are_told_and_change_no_status(store, data):
    model = Changing(later=lambda _: failure(Finish.TIMEOUT))
    run = carry_out(TASK, model, store, data, repeat_share=0.1)
    noise = noise_of(run)
    assert (statuses(run), run.complete) == ({"scored": 100}, True)
    assert (noise.samples, noise.answered, noise.text, noise.noise) == (10, 0, None, None)
    assert "10 of them were not answered the second time" in told_noise(noise)


def test_what_was_not_answered_the_first_time_is_not_chosen(store, data):
    def reply(request):
        return failure(Finish.MODEL_ERROR) if request.item_id == "sum-7" else answer_sums(request)

    run = carry_out(TASK, FakeModel(reply=reply), store, data, repeat_share=1.0, minimum_answered=0.5)
    assert (noise_of(run).samples, noise_of(run).of) == (99, 99)


def test_samples_of_one_item_are_chosen_singly_asked_with_their_seeds_and_clustered(store, data):
    model = Changing(later=some_wrong, capabilities=Capabilities(completion=True, reproducible=True))
    run = carry_out(TASK, model, store, data, samples=3, temperature=0.7, repeat_share=0.5)
    noise, again = noise_of(run), model.asked[300:]
    assert (noise.samples, noise.of, len(again)) == (150, 300, 150)
    assert {request.key for request in again} <= {request.key for request in model.asked[:300]}
    assert {1, 2, 3} == set(Counter(request.item_id for request in again).values())
    assert noise.text.clusters == len({request.item_id for request in again}) < 150
    assert noise.text.n == 150
    assert "same seeds; the backend claims that a seed gives one text" in noise.conditions
    flips = sum(some_wrong(request) == "0" for request in again)
    assert noise.noise == pytest.approx(math.sqrt(flips / 150 / 2 / 300))


def test_a_sampling_backend_that_promises_nothing_is_said_to_draw_anew(store, data):
    noise = noise_of(carry_out(TASK, FakeModel(), store, data, temperature=0.7, repeat_share=0.1))
    assert "may be another draw" in noise.conditions


def test_programs_of_equal_texts_are_not_run_again_and_those_of_others_are(store, data):
    task = sums_task(scorer=Echo(), metrics=(TASK.metrics[0].__class__(score="passed"),))
    model, sandbox = Changing(later=some_wrong), FakeSandbox()
    run = carry_out(task, model, store, data, sandbox=sandbox, allow_code_execution=True, repeat_share=1.0)
    noise = noise_of(run)
    changed = sum(some_wrong(request) == "0" for request in model.asked[100:])
    assert len(sandbox.executed) == 100 + changed  # "0" under each item's own tests
    assert noise.score.value == pytest.approx(1 - changed / 100)
    assert (noise.score_name, noise.answer) == ("passed", None)


def jittered(request):
    response = likes(request)
    by = 0.001 if request.part == 1 else 0.003
    return replace(response, logprobs=tuple(one - by for one in response.logprobs))


def test_likelihoods_are_compared_number_by_number_and_by_the_likeliest(store, tmp_path):
    model = Changing(reply=likes, later=jittered, capabilities=Capabilities(chat=True, score=True))
    run = evaluate(choice_task(), model=model, store=store, data_directory=write(tmp_path), repeat_share=1.0)
    noise = noise_of(run, "choices")
    likely = noise.log_probabilities
    assert (noise.text, noise.samples, noise.requests, likely.requests) == (None, 3, 7, 7)
    assert likely.max_difference == pytest.approx(0.003)
    assert likely.median_difference == pytest.approx(0.003)
    assert likely.top.value == 1.0
    assert noise.conditions == "nothing is sampled"
    assert any(
        line.startswith("log-probabilities of 7 continuations differ by 0.003") for line in told_noise(noise)
    )


def test_another_likeliest_option_is_seen(store, tmp_path):
    def turned(request):
        return Response(request="", logprobs=(-1.0 - request.part,), greedy=False, scored_bytes=2)

    model = Changing(reply=likes, later=turned, capabilities=Capabilities(chat=True, score=True))
    run = evaluate(choice_task(), model=model, store=store, data_directory=write(tmp_path), repeat_share=1.0)
    likely = noise_of(run, "choices").log_probabilities
    assert likely.top.value == pytest.approx(2 / 3)  # of the item whose answer is C
    assert noise_of(run, "choices").changed == ("2",)


def test_grading_again_keeps_the_noise_floor_without_a_model(store):
    model = Changing(reply=lambda _: "Answer: A", later=lambda _: "Answer: B")
    first = evaluate("mini", model=model, store=store, repeat_share=0.2)
    before = noise_of(first, "mini")
    assert before.text.value == 0
    progress = Progress()
    again = rescore(first.id, store=store, progress=progress)
    assert noise_of(again, "mini") == before
    assert progress.completion_tokens == 0


def test_it_is_read_back_and_stands_in_json_and_card(store, data):
    run = carry_out(TASK, Changing(later=some_wrong), store, data, repeat_share=0.5)
    loaded = load_run(store, run.id)
    assert noise_of(loaded) == noise_of(run)
    plain = json.loads(strict_text(loaded.plain()))
    assert plain["tasks"][0]["noise_floor"]["text"]["value"] == noise_of(run).text.value
    assert "asked again: 50 of 100 samples" in loaded._repr_html_()
    card = make_card(loaded.record).markdown()
    assert "noise floor" in card
    assert second_task("sums") not in {task.task for task in loaded.record.tasks}


def test_a_noise_floor_of_another_form_is_told_in_one_line(store, data):
    run = carry_out(TASK, FakeModel(), store, data, repeat_share=0.1)
    (task,) = run.record.tasks
    with pytest.raises(StoreError, match="the noise floor of task 'sums' cannot be read"):
        noise_floor_of(replace(task, summary={**task.summary, "noise_floor": {"share": 0.1}}))
    assert noise_floor_of(replace(task, summary={})) is None


def test_second_answers_have_a_key_of_their_own(store, data):
    model = Changing(later=lambda _: "0")
    run = carry_out(TASK, model, store, data, repeat_share=0.1)
    keys = [request.key for request in model.asked[100:]]
    assert {one.text for one in store.responses(second_answers(model.identity), keys).values()} == {"0"}
    assert "0" not in {one.text for one in store.responses(model.identity.digest, keys).values()}
    assert {row[5] for row in outcomes(store, run.id)}.isdisjoint({"0"})


def test_a_file_of_answers_cannot_be_asked_twice(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"item_id": "option-en-01", "completion": "Answer: A"}\n')
    store = f"sqlite:///{tmp_path}/s.db"
    with pytest.raises(UsageError, match=r"asks a model twice, and 'answers.jsonl' is a file of answers"):
        evaluate("mini", model=f"replay/{path}", store=store, repeat_share=0.1)


def test_a_comparison_tells_the_noise_floors_of_both(store, data):
    runs = [
        carry_out(
            TASK, Changing(later=some_wrong, identity=Identity(provider="f", name=name)), store, data,
            repeat_share=0.5,
        )
        for name in "ab"
    ]  # fmt: skip
    (pair,) = compare(*runs).pairs
    noise = noise_of(runs[0])
    assert f"asking A again moves its correct by {noise.noise:.4f}, at most" in pair.notes[0]
    assert pair.notes[1].startswith("asking B again")


@pytest.mark.parametrize("share", [-0.1, 1.5, "some", None, True])
def test_a_share_is_a_number_from_0_to_1(share):
    with pytest.raises(UsageError, match=r"repeat_share .* cannot be used: give a number from 0 to 1"):
        Options(repeat_share=share)


def made(number):
    asked = Request(item_id=f"i{number}", prompt=f"{number}?")
    return Sample(
        task="t",
        position=number,
        item=Item(id=f"i{number}", fields={}),
        requests=(asked,),
        responses=(Response(request=asked.key, text="x"),),
        outcome=Outcome(item_id=f"i{number}", sample=0, status=Status.SCORED),
    )


@given(st.integers(1, 80), st.permutations(range(80)), st.floats(0, 1), st.floats(0, 1), st.integers())
def test_the_choice_hangs_on_content_and_seed_alone(count, order, share, other, seed):
    samples = [made(number) for number in range(count)]
    shuffled = [samples[number] for number in order if number < count]
    small, large = sorted((share, other))
    chosen = choose(samples, small, seed).samples
    assert chosen == choose(shuffled, small, seed).samples
    assert chosen <= choose(samples, large, seed).samples
    assert len(chosen) == math.ceil(small * count - 1e-9)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("reproducible", "temperature"), [(True, 0.0), (False, 0.0), (True, 0.7), (False, 0.7)]
)
def test_the_report_tells_it_in_both_languages(store, data, language, reproducible, temperature):
    model = Changing(
        later=lambda _: "0", capabilities=Capabilities(completion=True, reproducible=reproducible)
    )
    run = carry_out(TASK, model, store, data, temperature=temperature, repeat_share=0.5)
    page = make_report(run, language=language).markdown()
    words = {"en": ("Asked twice", "50 of 100 samples were asked again"), "zh": ("重复提问", "再次提问")}
    for text in (*words[language], "text the same", f"{noise_of(run).noise:.4f}"):
        assert text in page
    assert noise_of(run).something_changed

"""Choices and texts by likelihood through the whole flow: asked, kept, graded, validated, graded again."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace

import pytest

import probatum as pb
from probatum.cli.samples import sample_file
from probatum.core.errors import UsageError
from probatum.core.protocol import Source
from probatum.core.records import Finish, Identity, Item, Response
from probatum.models import Capabilities
from probatum.prompting import OptionsPrompt, TextPrompt
from probatum.runner.validation import validate
from probatum.scoring import (
    ByForm,
    ChoiceMatch,
    MacroRate,
    OptionLikelihood,
    Perplexity,
    Rate,
    TextLikelihood,
)
from probatum.store import open_store
from tests.fakes import FakeModel, sums_task, write_sums

LISTED = "{{ q }}{% for one in choices %}\n{{ labels[loop.index0] }}. {{ one }}{% endfor %}\nAnswer:"


@dataclass(frozen=True)
class Row:
    id: str
    q: str
    options: tuple[str, ...]
    gold: str
    subject: str = "sums"


def to_item(row):
    return Item(id=row.id, fields={"q": row.q}, choices=row.options, targets=(row.gold,), stratum=row.subject)


def gold(item):
    return f"Answer: {item.targets[0]}"


def wrong(item):
    return f"Answer: {'B' if item.targets[0] == 'A' else 'A'}"


def choice_task(**changes):
    return sums_task(
        "choices",
        source=Source(local=("choices.jsonl",)),
        row=Row,
        to_item=to_item,
        completion=None,
        chat=sums_task().chat.__class__(template=LISTED),
        letters=OptionsPrompt(template=LISTED, continuation=" {{ label }}"),
        continuations=OptionsPrompt(template="{{ q }}", continuation=" {{ choice }}", unconditional="Say:"),
        scorer=ByForm(
            scorers={
                "chat": ChoiceMatch(),
                "letters": OptionLikelihood(of="labels"),
                "continuations": OptionLikelihood(unconditional=True),
            }
        ),
        metrics=(Rate(chance_score="chance"), Rate(score="pmi", optional=True), MacroRate()),
        gold=gold,
        wrong=wrong,
        **changes,
    )


def write(directory):
    rows = [
        {"id": "1", "q": "1+1=", "options": ["2", "3"], "gold": "A"},
        {"id": "2", "q": "2+2=", "options": ["5", "3", "4"], "gold": "C"},
        {"id": "3", "q": "3+3=", "options": ["6", "7"], "gold": "A", "subject": "more"},
    ]
    (directory / "choices.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return directory


def likes(request):
    """Finds the right sum likelier, and the labels A and C likelier than B."""
    good = request.continuation.strip() in ("2", "4", "A", "C")
    return Response(request="", logprobs=(-1.0 if good else -2.0,), greedy=good, scored_bytes=2)


def model(**changes):
    return FakeModel(reply=likes, capabilities=Capabilities(chat=True, score=True, **changes))


@pytest.fixture
def store(tmp_path):
    with contextlib.closing(open_store(f"sqlite:///{tmp_path}/store.db")) as opened:
        yield opened


def estimates(run):
    return run.record.tasks[0].summary["estimates"]


def test_labels_come_first_where_a_model_can_score(tmp_path, store):
    asking = model()
    run = pb.evaluate(choice_task(), model=asking, store=store, data_directory=write(tmp_path))
    assert [(one.continuation, one.part) for one in asking.asked] == [
        (" A", 0), (" B", 1), (" A", 0), (" B", 1), (" C", 2), (" A", 0), (" B", 1),
    ]  # fmt: skip
    found = {one["name"]: one for one in estimates(run)}
    assert found["correct"]["value"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert found["correct"]["chance"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)
    assert found["correct (mean of 2 strata)"]["value"] == pytest.approx((0.75 + 1) / 2)
    assert "pmi" not in found


def test_texts_are_asked_for_by_name_with_and_without_the_question(tmp_path, store):
    asking = model()
    run = pb.evaluate(
        choice_task(), model=asking, store=store, data_directory=write(tmp_path), form="continuations"
    )
    first = [(one.prompt, one.continuation) for one in asking.asked if one.item_id == "1"]
    assert first == [("1+1=", " 2"), ("1+1=", " 3"), ("Say:", " 2"), ("Say:", " 3")]
    found = {one["name"]: one for one in estimates(run)}
    assert found["correct"]["value"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert found["pmi"]["value"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)


def test_started_again_nothing_is_asked(tmp_path, store):
    data = write(tmp_path)
    pb.evaluate(choice_task(), model=model(), store=store, data_directory=data)
    again = model()
    pb.evaluate(choice_task(), model=again, store=store, data_directory=data)
    assert again.asked == []


def test_compat_is_part_of_the_recipe_and_of_every_request(tmp_path, store):
    plain, compat = model(), model()
    data = write(tmp_path)
    one = pb.evaluate(choice_task(), model=plain, store=store, data_directory=data)
    two = pb.evaluate(choice_task(), model=compat, store=store, data_directory=data, compat="lm_eval")
    assert one.id != two.id
    assert {each.scoring.boundary for each in plain.asked} == {"common"}
    assert {(each.scoring.boundary, each.scoring.overflow) for each in compat.asked} == {
        ("count", "left_bare")
    }


def test_under_compat_its_figures_stand_beside_ours_with_its_rules_named(tmp_path, store):
    """An item with an option twice is asked there, and the first of two that tie wins; here it is broken."""
    data = write(tmp_path)
    twice = {"id": "4", "q": "4+4=", "options": ["9", "9", "7"], "gold": "B"}
    with (data / "choices.jsonl").open("a") as stream:
        stream.write("\n" + json.dumps(twice))
    options = {"model": model(), "store": store, "data_directory": data, "form": "continuations"}
    ours = pb.evaluate(choice_task(), **options)
    theirs = pb.evaluate(choice_task(), **options, compat="lm_eval")
    found = {one["name"]: one for one in estimates(theirs)}
    assert {one["name"] for one in estimates(ours)}.isdisjoint({"acc", "acc_norm"})
    assert ours.record.tasks[0].summary["statuses"]["invalid_item"] == 1
    assert set(theirs.record.tasks[0].summary["statuses"]) == {"scored"}
    # right, right, and of "6" and "7" the first; of the option twice the first, which is not the gold
    assert (found["acc"]["value"], found["acc"]["n"]) == (0.75, 4)
    assert found["acc"]["se"] is None  # a group with a part of one item has none there, either
    assert any("first of tied options" in note for note in found["acc"]["warnings"])
    unconditional = [one.prompt for one in options["model"].asked if one.item_id == "1"]
    assert unconditional[2:4] == ["Say:", "Say:"]
    assert unconditional[-2:] == ["", ""]


def test_a_limit_says_how_many_strata_it_reaches(tmp_path, store):
    run = pb.evaluate(choice_task(), model=model(), store=store, data_directory=write(tmp_path), limit=2)
    notes = run.record.tasks[0].summary["notes"]
    assert "the first 2 of 3 items (of 1 of its 2 strata): not a random sample of the benchmark" in notes


def shown_choice_task():
    letters = OptionsPrompt(
        template=LISTED, continuation=" {{ label }}", shot_template=LISTED + " {{ target }}"
    )
    return replace(choice_task(), letters=letters, shot_source=Source(local=("choices.jsonl",)))


@pytest.mark.parametrize(("compat", "shots", "cut"), [(None, 1, 0), ("lm_eval", 2, 5)])
def test_a_prompt_that_is_too_long_loses_shots_or_under_compat_its_beginning(
    tmp_path, store, compat, shots, cut
):
    """lm-eval drops no shot: it cuts tokens from the left, and says nothing; here both are said."""

    def cutting(request):
        lost = 5 if request.scoring.overflow == "left_bare" and request.prompt.count("Answer:") == 3 else 0
        return replace(likes(request), cut_tokens=lost)

    asking = FakeModel(
        reply=cutting,
        capabilities=Capabilities(score=True, context_tokens=30),
        tokens=lambda prompt: 12 * prompt.count("Answer:"),
    )
    options = {"store": store, "data_directory": write(tmp_path), "shots": 2, "compat": compat}
    run = pb.evaluate(shown_choice_task(), model=asking, **options)
    assert {request.prompt.count("Answer:") for request in asking.asked} == {shots + 1}
    told = [note for note in run.record.tasks[0].summary["notes"] if "the context is too small" in note]
    if cut:
        note = "3 samples were asked with a prompt that was cut from the left, by up to 5 tokens, because"
        assert told == [f"{note} the context is too small"]
    else:
        assert told == ["3 items were asked with fewer than 2 shots, because the context is too small"]


def test_what_each_option_came_to_is_written_beside_its_sample(tmp_path, store):
    run = pb.evaluate(
        choice_task(),
        model=model(),
        store=store,
        data_directory=write(tmp_path),
        form="continuations",
        limit=1,
    )
    with sample_file(tmp_path / "samples.jsonl") as write_samples:
        write_samples(run)
    [line] = map(json.loads, (tmp_path / "samples.jsonl").read_text().splitlines())
    found = [(one["log_likelihood"], one["tokens"], one["bytes"]) for one in line["likelihoods"]]
    assert found == [(-1.0, 1, 2), (-2.0, 1, 2), (-1.0, 1, 2), (-2.0, 1, 2)]  # then without the question
    assert len(line["request"]) == len(line["likelihoods"])
    asking = FakeModel(reply=lambda _: "Answer: A", capabilities=Capabilities(chat=True))
    run = pb.evaluate(choice_task(), model=asking, store=store, data_directory=tmp_path, limit=1)
    with sample_file(tmp_path / "samples.jsonl") as write_samples:
        write_samples(run)
    assert json.loads((tmp_path / "samples.jsonl").read_text())["likelihoods"] is None


def test_why_likelihoods_are_missing_stands_beside_the_score(tmp_path, store):
    """Reasons that differ in a number alone are one; each status has its own line."""
    reasons = {
        "1": (Finish.MODEL_ERROR, "token 912 is unknown"),
        "2": (Finish.MODEL_ERROR, "token 913 is unknown"),
        "3": (Finish.CONTEXT_OVERFLOW, "40 tokens do not fit in 16"),
    }

    def failing(request):
        finish, reason = reasons[request.item_id]
        return Response(request="", finish=finish, reason=reason)

    asking = FakeModel(reply=failing, capabilities=Capabilities(score=True))
    run = pb.evaluate(choice_task(), model=asking, store=store, data_directory=write(tmp_path))
    told = [note for note in run.record.tasks[0].summary["notes"] if "such as" in note]
    assert told == [
        "model_error 2, such as: token 912 is unknown",
        "context_overflow 1, such as: 40 tokens do not fit in 16",
    ]
    reasons["2"] = (Finish.MODEL_ERROR, "a logit is NaN")
    other = FakeModel(
        reply=failing, capabilities=asking.capabilities, identity=Identity(provider="fake", name="other")
    )
    run = pb.evaluate(choice_task(), model=other, store=store, data_directory=tmp_path)
    note = "model_error 2, such as: token 912 is unknown (1 of them; others have other reasons)"
    assert note in run.record.tasks[0].summary["notes"]


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"temperature": 0.5}, "means nothing where letters are scored"),
        ({"max_tokens": 5}, "means nothing where letters are scored"),
        ({"samples": 2}, "2 samples of a likelihood are all the same"),
        ({"system": "Be brief."}, "is asked as letters here"),
        ({"form": "text"}, "has no form 'text': it can be asked as letters and continuations and chat;"),
        ({"form": "chat", "compat": "lm_eval"}, "is of likelihoods"),
        ({"rotate": True, "compat": "lm_eval"}, "asks each question once"),
    ],
)
def test_what_means_nothing_for_a_likelihood_is_refused(tmp_path, store, choices, words):
    with pytest.raises(UsageError, match=words):
        pb.evaluate(choice_task(), model=model(), store=store, data_directory=write(tmp_path), **choices)


def test_a_model_without_likelihoods_is_asked_in_words(tmp_path, store):
    asking = FakeModel(reply=lambda _: "Answer: A", capabilities=Capabilities(chat=True))
    run = pb.evaluate(choice_task(), model=asking, store=store, data_directory=write(tmp_path))
    assert all(one.continuation is None for one in asking.asked)
    assert estimates(run)[0]["value"] == pytest.approx(2 / 3)
    with pytest.raises(UsageError, match="no log-probabilities of a given text; use --form chat"):
        pb.evaluate(choice_task(), model=asking, store=store, data_directory=tmp_path, form="letters")


def test_a_model_without_a_template_is_sent_to_a_form_that_the_task_has(tmp_path, store):
    asking = FakeModel(reply=likes, capabilities=Capabilities(completion=True, score=True))
    with pytest.raises(UsageError, match="a base model continues texts; use --form letters"):
        pb.evaluate(choice_task(), model=asking, store=store, data_directory=write(tmp_path), form="chat")


def test_the_preferred_form_comes_first(tmp_path, store):
    asking = model()
    task = choice_task(preferred="continuations")
    pb.evaluate(task, model=asking, store=store, data_directory=write(tmp_path))
    assert asking.asked[0].continuation == " 2"


def test_every_form_is_validated(tmp_path):
    found = validate(choice_task(), data_directory=write(tmp_path))
    assert found.passed
    assert found.gold_right == found.wrong_right == 3


def test_a_scorer_that_prefers_the_wrong_option_does_not_pass(tmp_path):
    task = choice_task()
    scorers = {**task.scorer.scorers, "letters": OptionLikelihood(of="labels", labels=("B", "A", "C"))}
    found = validate(replace(task, scorer=ByForm(scorers=scorers)), data_directory=write(tmp_path))
    assert not found.passed
    assert {fault.item_id for fault in found.faults} == {"1", "3"}


def test_a_text_is_measured_in_bits_per_byte(tmp_path, store):
    @dataclass(frozen=True)
    class Page:
        id: str
        text: str

    (tmp_path / "pages.jsonl").write_text(
        "\n".join(json.dumps({"id": str(n), "text": "word " * n}) for n in range(1, 5))
    )
    task = sums_task(
        "pages", source=Source(local=("pages.jsonl",)), row=Page, to_item=page_item, completion=None,
        chat=None, text=TextPrompt(), scorer=TextLikelihood(), metrics=(Perplexity(),),
    )  # fmt: skip

    def reply(request):
        size = len(request.continuation)
        return Response(request="", logprobs=(-0.5,) * (size // 5), scored_bytes=size, greedy=False)

    asking = FakeModel(reply=reply, capabilities=Capabilities(score=True))
    run = pb.evaluate(task, model=asking, store=store, data_directory=tmp_path)
    found = {one["name"]: one["value"] for one in estimates(run)}
    assert found["bits per byte"] == pytest.approx(0.5 / 5 / 0.6931471805599453)
    assert found["perplexity per token"] == pytest.approx(2.718281828459045**0.5)


def page_item(row):
    return Item(id=row.id, fields={"text": row.text})


def test_every_rotation_is_asked_and_the_worst_is_reported_beside_the_mean(tmp_path, store):
    """The model likes A wherever it stands: half of the orders of two options, a third of three."""
    asking = FakeModel(
        reply=lambda request: Response(
            request="", logprobs=(-1.0 if request.continuation == " A" else -2.0,), scored_bytes=2
        ),
        capabilities=Capabilities(score=True),
    )
    run = pb.evaluate(choice_task(), model=asking, store=store, data_directory=write(tmp_path), rotate=True)
    assert {one.item_id for one in asking.asked} == {
        "1~0", "1~1", "2~0", "2~1", "2~2", "3~0", "3~1",
    }  # fmt: skip
    found = {one["name"]: one for one in estimates(run)}
    assert found["correct"]["value"] == pytest.approx(3 / 7)
    assert found["correct"]["clusters"] == 3
    assert found["correct (every rotation)"]["value"] == 0
    assert found["correct (every rotation)"]["n"] == 3
    assert run.record.tasks[0].summary["positions"] == [
        {"label": "A", "chosen": 7, "right": 3, "found": 1.0},
        {"label": "B", "chosen": 0, "right": 3, "found": 0.0},
        {"label": "C", "chosen": 0, "right": 1, "found": 0.0},
    ]


def test_there_must_be_options_to_rotate(tmp_path, store):
    with pytest.raises(UsageError, match="no options to rotate"):
        pb.evaluate(
            sums_task(), model=FakeModel(), store=store, data_directory=write_sums(tmp_path, 3), rotate=True
        )

"""Options and texts that are scored rather than generated: what is asked, in which order."""

from __future__ import annotations

import pytest

from probatum.core.errors import ProtocolError, UsageError
from probatum.core.protocol import ScoredPrompt
from probatum.core.records import Item, Rolling
from probatum.prompting import OptionsPrompt, ShotPool, TextPrompt

ITEM = Item(id="q", fields={"question": "2+2?"}, choices=("3", "4"), targets=("B",), stratum="sums")
SHOT = Item(id="s", fields={"question": "1+1?"}, choices=("2", "5"), targets=("A",), stratum="sums")
LISTED = "{{ question }}{% for one in choices %}\n{{ labels[loop.index0] }}. {{ one }}{% endfor %}\nAnswer:"


def asked(prompt, item=ITEM, shots=()):
    return [(part.prompt, part.continuation) for part in prompt.parts(item, shots, None)]


def test_labels_follow_a_question_that_lists_the_options():
    prompt = OptionsPrompt(
        template=LISTED, continuation=" {{ label }}", shot_template=LISTED + " {{ label }}"
    )
    question = "2+2?\nA. 3\nB. 4\nAnswer:"
    assert asked(prompt) == [(question, " A"), (question, " B")]
    shown = "1+1?\nA. 2\nB. 5\nAnswer: A\n\n" + question
    assert asked(prompt, shots=[SHOT]) == [(shown, " A"), (shown, " B")]
    assert prompt.render(ITEM, [SHOT], None) == shown
    assert isinstance(prompt, ScoredPrompt)


def test_texts_follow_the_question_alone_and_without_it_for_pmi():
    prompt = OptionsPrompt(
        template="Q: {{ question }}\nA:", continuation=" {{ choice }}", unconditional="A:",
        shot_template="Q: {{ question }}\nA: {{ answer }}", preamble="About {{ question }}\n",
    )  # fmt: skip
    assert asked(prompt) == [
        ("About 2+2?\nQ: 2+2?\nA:", " 3"),
        ("About 2+2?\nQ: 2+2?\nA:", " 4"),
        ("A:", " 3"),
        ("A:", " 4"),
    ]
    assert asked(prompt, shots=[SHOT])[0][0] == "About 2+2?\nQ: 1+1?\nA: 2\n\nQ: 2+2?\nA:"


def test_an_option_may_fill_a_gap_and_what_follows_is_scored():
    item = Item(
        id="w",
        fields={"before": "The bag was", "after": " so it fell."},
        choices=("up", "full"),
        targets=("B",),
    )
    prompt = OptionsPrompt(template="{{ before }} {{ choice }}", continuation="{{ after }}")
    assert asked(prompt, item) == [
        ("The bag was up", " so it fell."),
        ("The bag was full", " so it fell."),
    ]


def test_a_text_that_must_follow_is_the_only_option():
    item = Item(id="l", fields={"context": "He saw the"}, targets=("dog",))
    assert asked(OptionsPrompt(template="{{ context }}", continuation=" {{ choice }}"), item) == [
        ("He saw the", " dog")
    ]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (Item(id="x", fields={"question": "?"}), "neither options nor a target"),
        (
            Item(id="x", fields={"question": "?"}, choices=("a",) * 27, targets=("A",)),
            "27 options and only 26",
        ),
    ],
)
def test_an_item_without_options_that_can_be_named_is_refused(item, words):
    with pytest.raises(ProtocolError, match=words):
        OptionsPrompt(template="{{ question }}", continuation=" {{ choice }}").parts(item, (), None)


def test_a_shot_whose_answer_is_none_of_its_options_is_refused():
    prompt = OptionsPrompt(template=LISTED, continuation=" {{ label }}", shot_template="{{ answer }}")
    with pytest.raises(ProtocolError, match="shot 's' cannot be shown: its target"):
        prompt.parts(ITEM, [Item(id="s", fields={}, choices=("a", "b"), targets=("C",))], None)


def test_a_system_prompt_has_no_place_in_a_text():
    with pytest.raises(UsageError, match="needs a conversation"):
        OptionsPrompt(template=LISTED, continuation="x").parts(ITEM, (), "Be brief.")


def test_a_text_is_scored_after_nothing_in_windows():
    (part,) = TextPrompt().parts(Item(id="d", fields={"text": "Once."}), (), None)
    assert (part.prompt, part.continuation, part.scoring.rolling) == ("", "Once.", Rolling())
    with pytest.raises(ProtocolError, match="no text in its field 'page'"):
        TextPrompt(field="page").parts(Item(id="d", fields={"text": "Once."}), (), None)
    with pytest.raises(UsageError, match="leave --shots"):
        TextPrompt().parts(Item(id="d", fields={"text": "Once."}), [SHOT], None)


def test_shots_of_the_items_own_stratum_alone_are_shown():
    prompt = OptionsPrompt(template=LISTED, continuation=" {{ label }}", shot_template=LISTED)
    others = [
        Item(id=f"o{n}", fields={"question": f"{n}?"}, choices=("2", "5"), targets=("A",), stratum="other")
        for n in range(9)
    ]
    for pool in (
        ShotPool(prompt, (*others, SHOT), by_stratum=True),
        ShotPool(prompt, (), (*others, SHOT), True),
    ):
        assert pool.choose(ITEM, 1, seed=0, version=1) == (SHOT,)
        with pytest.raises(UsageError, match="only 1 can be shown"):
            pool.check([ITEM], 2, seed=0, version=1)

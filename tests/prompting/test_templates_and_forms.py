from __future__ import annotations

import pytest

from probatum.core.errors import ProtocolError, UsageError
from probatum.core.records import Item, Message
from probatum.prompting import ChatPrompt, CompletionPrompt, check_template, render

ITEM = Item(id="q", fields={"question": "2+2?"}, targets=("4", "four"))
SHOTS = [
    Item(id="s1", fields={"question": "1+1?"}, targets=("2",)),
    Item(id="s2", fields={"question": "3+3?"}, targets=("6",)),
]


def test_fields_fill_a_template():
    assert render("Q: {{ a }}\nA:", {"a": "x"}) == "Q: x\nA:"


@pytest.mark.parametrize(
    "text",
    ["{{ b }}", "<b>&'\"", "a\r\nb", "a\u2028b", "\ud800", "題目", "{% raw %}", "\t end \n"],
)
def test_a_field_is_put_in_as_it_stands(text):
    assert render("[{{ a }}]", {"a": text}) == f"[{text}]"


def test_a_final_newline_and_blanks_of_a_template_stay():
    assert render("{{ a }} \n\n", {"a": "x"}) == "x \n\n"


@pytest.mark.parametrize(
    "template",
    ["{{ missing }}", "{{ missing.part }}", "{{ missing['x'] }}", "{% for x in missing %}{% endfor %}",
     "{% if missing %}x{% endif %}", "{{ a.part }}", "{{ 'AB'[9] }}", "{{ missing|upper }}"],
)  # fmt: skip
def test_an_unknown_name_is_an_error_and_never_an_empty_text(template):
    with pytest.raises(ProtocolError) as caught:
        render(template, {"a": "x"})
    assert "the item has 'a'" in str(caught.value)
    assert repr(template[:60]) in str(caught.value)


def test_a_name_may_be_asked_for_where_the_template_says_so():
    assert render("{% if missing is defined %}x{% else %}y{% endif %}", {}) == "y"


@pytest.mark.parametrize("template", ["{{ a", "{% for x in a %}", "{{ a|nosuchfilter }}", "{% nosuch %}"])
def test_a_template_that_does_not_parse_is_refused_when_it_is_made(template):
    with pytest.raises(ProtocolError, match="template"):
        check_template(template)
    with pytest.raises(ProtocolError, match="template"):
        CompletionPrompt(template=template)
    with pytest.raises(ProtocolError, match="template"):
        ChatPrompt(template="x", shot_answer=template)


@pytest.mark.parametrize("template", ["{{ a + 1 }}", "{{ 1 // 0 }}", "{% include 'file' %}", "{{ a() }}"])
def test_a_template_that_fails_on_an_item_says_which(template):
    with pytest.raises(ProtocolError) as caught:
        render(template, {"a": "x"})
    assert repr(template) in str(caught.value)
    assert "mend the template" in str(caught.value)


COMPLETION = CompletionPrompt(
    template="Q: {{ question }}\nA:",
    shot_template="Q: {{ question }}\nA: {{ target }}",
    preamble="Sums.\n\n",
    separator="\n--\n",
    stop=("\n--",),
)
CHAT = ChatPrompt(template="{{ question }}", shot_answer="{{ targets|join(' or ') }}", system="Add.")


def test_a_completion_is_preamble_shots_and_question_as_one_text():
    assert COMPLETION.render(ITEM, SHOTS, None) == (
        "Sums.\n\nQ: 1+1?\nA: 2\n--\nQ: 3+3?\nA: 6\n--\nQ: 2+2?\nA:"
    )
    assert COMPLETION.render(ITEM, (), None) == "Sums.\n\nQ: 2+2?\nA:"


def test_a_completion_has_no_place_for_a_system_prompt():
    with pytest.raises(UsageError, match=r"'Be short\.'.*--form chat"):
        COMPLETION.render(ITEM, (), "Be short.")


def test_a_conversation_has_shots_as_earlier_turns_and_the_question_last():
    assert CHAT.render(ITEM, SHOTS, None) == (
        Message("system", "Add."),
        Message("user", "1+1?"),
        Message("assistant", "2"),
        Message("user", "3+3?"),
        Message("assistant", "6"),
        Message("user", "2+2?"),
    )


@pytest.mark.parametrize(("given", "shown"), [(None, "Add."), ("Be short.", "Be short."), ("", "")])
def test_the_users_system_prompt_stands_before_the_tasks(given, shown):
    assert CHAT.render(ITEM, (), given)[0] == Message("system", shown)


def test_a_conversation_without_a_system_prompt_has_no_system_turn():
    assert ChatPrompt(template="{{ question }}").render(ITEM, (), None) == (Message("user", "2+2?"),)


def test_a_shots_question_may_be_put_otherwise():
    prompt = ChatPrompt(
        template="{{ question }}!", shot_question="{{ question }}", shot_answer="{{ target }}"
    )
    assert [turn.content for turn in prompt.render(ITEM, SHOTS[:1], None)] == ["1+1?", "2", "2+2?!"]


@pytest.mark.parametrize("prompt", [CompletionPrompt(template="x"), ChatPrompt(template="x")])
def test_shots_are_refused_where_the_prompt_cannot_show_them(prompt):
    with pytest.raises(ProtocolError, match="--shots 0"):
        prompt.render(ITEM, SHOTS, None)
    assert prompt.render(ITEM, (), None) in ("x", (Message("user", "x"),))


def test_an_item_without_an_answer_is_no_shot():
    """An empty answer would teach the model to say nothing."""
    with pytest.raises(ProtocolError, match="'target' is undefined"):
        COMPLETION.render(ITEM, [Item(id="s", fields={"question": "?"})], None)


def test_a_field_of_the_item_stands_before_the_names_that_we_add():
    item = Item(id="q", fields={"target": "own"}, targets=("4",))
    assert CompletionPrompt(template="{{ target }}").render(item, (), None) == "own"

"""Conversations rendered by the model's own template."""

from __future__ import annotations

from datetime import date

import pytest

from probatum.core.errors import ModelError
from probatum.core.records import Message
from probatum.models.chat import ChatTemplate, RenderingError

CHATML = """{%- for message in messages %}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{%- endfor %}
{%- if add_generation_prompt %}

<|im_start|>assistant
{% endif %}"""


def render(source, *messages, today=None):
    template = ChatTemplate(source, bos="<s>", eos="</s>", today=today)
    return template.render([Message(role, content) for role, content in messages])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ bos_token }}{{ messages[0]['content'] }}{{ eos_token }}", "<s>hi & <b></s>"),
        ("{% for m in messages %}\n  {% if true %}\n{{ m.role }}\n  {% endif %}\n{% endfor %}", "user\n"),
        ("{% for m in messages %}{% break %}{% endfor %}x", "x"),
        ("{{ messages[0] | tojson }}", '{"role": "user", "content": "hi & <b>"}'),
        ("{{ {'k': '你'} | tojson }}", '{"k": "你"}'),
        ("{{ 'date' if strftime_now is defined else 'none' }}", "none"),
        ("{{ add_generation_prompt }}", "True"),
    ],
)
def test_templates_see_what_they_see_in_transformers(source, expected):
    assert render(source, ("user", "hi & <b>")) == expected


def test_a_whole_conversation():
    text = render(CHATML, ("system", "Be brief."), ("user", "2+2?"))
    assert text == (
        "<|im_start|>system\nBe brief.<|im_end|><|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_day_is_told_only_if_the_user_gives_one():
    source = "{{ strftime_now('%d %b %Y') }}"
    assert render(source, ("user", "x"), today=date(2025, 1, 31)) == "31 Jan 2025"
    with pytest.raises(RenderingError, match="strftime_now"):
        render(source, ("user", "x"))


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('System role not supported') }}",
        "{{ messages[5].content }}",
        "{{ 'x' + 5 }}",
        "{{ messages.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ 1 / 0 }}",
    ],
)
def test_a_template_that_refuses_is_one_line_not_a_crash(source):
    with pytest.raises(RenderingError, match="chat template refuses"):
        render(source, ("system", "x"))


def test_a_template_that_is_none_is_an_error_of_the_model():
    with pytest.raises(ModelError, match="cannot be compiled"):
        ChatTemplate("{% for %}", bos="", eos="", today=None)

import pytest

from probatum.models.chat import ChatTemplate
from probatum.models.template_text import text_of_its_own

CHATML = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nThink step by step.<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (CHATML, "Think step by step."),
        ("{{ bos_token }}{% for m in messages %}[INST] {{ m.content }} [/INST]{% endfor %}", None),
        (
            "{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content }}<end_of_turn>\n{% endfor %}",
            None,
        ),
        (
            "Below is an instruction.\n\n### Instruction:\n{{ messages[0].content }}\n\n### Response:\n",
            "Below is an instruction.",
        ),
        ("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}", None),
        ("{{ raise_exception('no user may speak') }}", None),
        ("<|system|>\nnothing of the user", None),
    ],
)
def test_a_template_that_speaks_for_itself_is_found(source, said):
    assert text_of_its_own(ChatTemplate(source, bos="<s>", eos="</s>", today=None)) == said

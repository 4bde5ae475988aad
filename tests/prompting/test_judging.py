import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import UsageError
from probatum.extraction.evidence import Extraction
from probatum.extraction.judgement import find_tagged
from probatum.prompting.judging import delimit, neutralise, show_answer


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("as it is", "as it is"),
        ({"k": "v"}, '{"k": "v"}'),
        ([1, None], "[1, null]"),
        ("", ""),
        ({"k": "é"}, '{"k": "é"}'),
    ],
)
def test_structured_answers_are_shown_as_json(answer, text):
    assert show_answer(answer) == text


@pytest.mark.parametrize("answer", [object(), float("nan"), {1, 2}])
def test_what_is_no_json_is_refused_rather_than_shown_by_its_type(answer):
    with pytest.raises(UsageError, match="cannot be shown"):
        show_answer(answer)


@given(st.text(alphabet="[]AB7 \n"))
def test_no_tag_is_left_in_a_neutralised_text(text):
    changed = neutralise(text)
    assert "[[" not in changed.text
    assert "]]" not in changed.text
    assert not isinstance(find_tagged(changed.text), Extraction)
    assert changed.text.replace(" ", "") == text.replace(" ", "")


def test_tokens_are_set_apart_in_any_case_and_counted():
    changed = neutralise("grade: C, GRADE: I", ["GRADE:"])
    assert changed.text == "grade : C, GRADE : I"
    assert changed.count == 2
    with pytest.raises(UsageError, match="too short"):
        neutralise("x", ["A"])


@given(st.text(max_size=40))
def test_an_answer_cannot_close_its_own_block(text):
    block = delimit(text, "answer")
    last = block.splitlines()[-1]
    assert last not in text
    assert block == delimit(text, "answer")

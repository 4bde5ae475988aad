import doctest
import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.report import escaping
from probatum.report.escaping import escape_html, escape_markdown


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a|b\nc", "a\\|b c"),
        ("<b>", "&lt;b&gt;"),
        ("[x](http://y)", "\\[x\\](http://y)"),
        ("`x` *y* _z_", "\\`x\\` \\*y\\* \\_z\\_"),
        ("\u202eevil", "\\\\u202eevil"),
        ("\ud83d", "\\\\ud83d"),
        ("\x1b[31m", "\\\\u001b\\[31m"),
        ("4\u200b2\ufeff", "4\\\\u200b2\\\\ufeff"),
        ("\U000e0041", "\\\\U000e0041"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_a_cell_stays_a_cell(text, cell):
    assert escape_markdown(text) == cell


@given(st.text(st.characters(), max_size=60))
def test_no_text_ends_a_line_or_opens_markup(text):
    cell = escape_markdown(text)
    assert "\n" not in cell
    assert "<" not in cell
    assert "|" not in cell.replace("\\|", "")
    shown = escape_html(text)
    assert "<" not in shown
    assert '"' not in shown
    assert "'" not in shown


@given(st.text(alphabet="abc<>&\"' \n"))
def test_html_shows_the_text_itself(text):
    assert html.unescape(escape_html(text)) == text


def test_examples_are_true():
    assert doctest.testmod(escaping).failed == 0

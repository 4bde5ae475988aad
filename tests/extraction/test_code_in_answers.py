"""Code out of answers, and whole programs out of code."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from probatum.core.records import Item
from probatum.extraction import (
    Extraction,
    Missing,
    PythonCode,
    assemble_answer,
    assemble_completion,
    assemble_method,
    extract_code,
)
from probatum.extraction import code as code_module
from probatum.extraction import statements as statements_module
from probatum.extraction.code import find_code
from probatum.extraction.python_source import Source, parse
from tests.extraction.reported import DATA, rows

PROMPT = '''from typing import List


def clean(values: List[float]) -> List[float]:
    """Drops what is negative."""
    return [value for value in values if value >= 0]


def mean(values: List[float]) -> float:
    """The mean of the values that are not negative.
    >>> mean([1.0, 3.0, -1.0])
    2.0
    """
'''
BODY = "    kept = clean(values)\n    return sum(kept) / len(kept)\n"
ONLY = "def mean(values: List[float]) -> float:\n" + BODY


def forms(prompt: str, body: str, name: str) -> Iterator[tuple[str, str]]:
    """Ways in which models give the body of the prompt's last function."""
    full = prompt + body
    start = [match.start() for match in re.finditer(r"^def ", prompt, re.MULTILINE)][-1]
    only = prompt[start:] + body
    yield "whole", f"Here it is:\n\n```python\n{full}```\n\nIt works because of (see above):\n\n- it's simple"
    yield "function", f"Sure!\n```python\n{only}\n```"
    yield "untagged", f"```\n{only}```"
    yield "tag py", f"```py\n{only}```"
    yield "tag with blank", f"``` Python\n{only}```"
    yield "tildes", f"~~~python\n{only}~~~"
    yield "four ticks", f"````python\n{only}````"
    yield "body", f"```python\n{body}```\n"
    yield "body at the margin", f"```\n{textwrap.dedent(body)}```\n"
    yield "body with its first line at the margin", f"```\n{body.lstrip()}```\n"
    yield "unclosed", f"Solution:\n```python\n{only}"
    yield "bare", only
    yield "bare body", body
    yield "prose around", f"Note that I've kept it simple:\n\n{full}\n\nThis function works (I hope)."
    yield "in a list", "1. First:\n\n" + textwrap.indent(f"```python\n{only}\n```", "   ") + "\n2. done"
    yield "in a quotation", "> ```python\n" + only + "> ```"
    yield (
        "usage after",
        f"```python\n{only}\n```\nUsage:\n```python\nprint({name}([1]))\n```\nGives:\n```\n3\n```",
    )
    yield "tests before", f"Tests:\n```python\nassert {name}\n```\nCode:\n```python\n{only}\n```"
    yield "shell after", f"```python\n{only}\n```\n```bash\npython solution.py\n```"
    yield "main guard", f"```python\n{full}\n\nif __name__ == '__main__':\n    {name}(input())\n```"
    yield "opening fence in the prompt", f"{only}\n```\nThis works."
    yield "Markdown in Markdown", f"````markdown\n# Solution\n```python\n{only}```\n````"
    yield "reasoning", f"<think>```python\ndef {name}(): pass\n```</think>\n```python\n{only}\n```"
    yield (
        "draft first",
        f"```python\ndef {name}(*a):\n    return 0\n```\nWrong. Fixed:\n```python\n{only}\n```",
    )
    yield "carriage returns", f"Sure:\n```python\n{full}\n```\n".replace("\n", "\r\n")
    yield "cut in a test", f"```python\n{full}\n\n\ndef test_more(x):\n    assert foo("
    yield "prose in the fence", f"```python\n{only}\n\nThis function isn't long.\n```"
    yield "tabs", f"```python\n{only.replace('    ', chr(9))}\n```"


FORMS = list(forms(PROMPT, BODY, "mean"))


@pytest.mark.parametrize(("form", "text"), FORMS, ids=[form for form, _ in FORMS])
def test_a_solution_runs_in_whatever_form_it_is_given(form: str, text: str) -> None:
    found = find_code(text, "mean")
    assert isinstance(found, Extraction), found
    names: dict[str, Any] = {"__name__": "candidate"}
    exec(assemble_answer(PROMPT, found.answer, "mean"), names)
    assert names["mean"]([1.0, 3.0, -1.0]) == 2.0


@pytest.mark.skipif(not (DATA / "humaneval").exists(), reason="needs humaneval in the data directory")
def test_the_reference_solutions_of_humaneval_run_in_every_form() -> None:
    """Each problem in four forms, by turns, so that each form meets more than twenty problems."""
    failed = []
    for place, row in enumerate(rows(DATA / "humaneval" / "HumanEval.jsonl.gz")):
        given = list(forms(row["prompt"], row["canonical_solution"], row["entry_point"]))
        for form, text in (given[(4 * place + turn) % len(given)] for turn in range(4)):
            if form == "tabs":  # strings of the problems hold blanks that matter
                continue
            found = extract_code(text, row["entry_point"])
            names: dict[str, Any] = {"__name__": "candidate"}
            try:
                exec(assemble_answer(row["prompt"], found.answer, row["entry_point"]), names)
                exec(row["test"], names)
                names["check"](names[row["entry_point"]])
            except Exception as error:  # noqa: BLE001 - whatever goes wrong is listed
                failed.append((row["task_id"], form, repr(error)[:80]))
    assert failed == []


def test_helpers_and_imports_of_earlier_blocks_come_along() -> None:
    text = (
        "First:\n```python\nimport math\nLIMIT = 3\n\ndef helper(x):\n    return math.sqrt(x) + LIMIT\n```\n"
        "Then:\n```python\ndef f(x):\n    return helper(x)\n```\n"
    )
    names: dict[str, Any] = {}
    exec(extract_code(text, "f").answer, names)
    assert names["f"](4) == 5


def test_future_imports_stay_first() -> None:
    code = "from __future__ import annotations\n\ndef mean(values: Unknown) -> float:\n    return 1.0"
    program = assemble_answer(PROMPT, code, "mean")
    assert program.startswith("from __future__")
    names: dict[str, Any] = {}
    exec(program, names)
    assert names["mean"]([]) == 1.0
    assert names["clean"]([-1]) == []


def test_words_give_nothing_to_a_program() -> None:
    assert assemble_answer("Write a function that adds.", "def add(a, b):\n    return a + b", "add") == (
        "def add(a, b):\n    return a + b"
    )


def test_a_completion_stands_as_it_is() -> None:
    assert (
        assemble_completion("def f():\n", "    return 1\n\n\ndef g", ("\ndef",))
        == "def f():\n    return 1\n\n"
    )
    assert assemble_completion("def f():\n", "") == "def f():\n"
    assert assemble_completion("def f():\n", "```\nno") == "def f():\n```\nno"


@pytest.mark.parametrize(
    ("text", "entry_point", "rule"),
    [
        ("```python\ndef f(): pass\n```", "f", "fence:block"),
        ("```python\ndef f(): pass", "f", "fence:unclosed"),
        ("```python\ndef f(): pass\n\nIt's good.\n```", "f", "fence:part"),
        ("```python\ndef g(): pass\n```", "f", "fence:no_entry_point"),
        ("```python\ndef f(:\n```", "f", "fence:does_not_parse"),
        ("def f(): pass", "f", "bare:whole"),
        ("Here:\n\ndef f(): pass\n\nDone, isn't it?", "f", "bare:region"),
        ("def f(): pass\n```\nDone.", "f", "bare:before_fence"),
        ("```python\nclass Solution:\n    def f(self): pass\n```", "f", "fence:block"),
        ("```python\nf = lambda: 1\n```", "f", "fence:block"),
        ("```python\nasync def f(): pass\n```", "f", "fence:block"),
        ("```python\ntry:\n    import x\nexcept ImportError:\n    def f(): pass\n```", "f", "fence:block"),
    ],
)
def test_the_rule_says_where_the_code_stood(text: str, entry_point: str, rule: str) -> None:
    assert extract_code(text, entry_point).rule == rule


@pytest.mark.parametrize(
    "text", ["", "No.", "I cannot help with that.", "Note: it works", "<think>def f(): pass", "x", "a b c"]
)
def test_prose_is_no_code(text: str) -> None:
    assert extract_code(text, "f") is None
    assert extract_code(text) is None


def test_a_docstring_may_hold_a_fence() -> None:
    code = 'def f():\n    """Use it so:\n\n```\nf()\n```\n    """\n    return 1'
    assert extract_code(f"```python\n{code}\n```\nDone.", "f").answer == code


def test_reasoning_without_end_is_truncated() -> None:
    found = find_code("<think>```python\ndef f(): pass\n```", "f")
    assert isinstance(found, Missing)
    assert found.truncated


def test_an_answer_is_complete_when_its_function_is_over() -> None:
    assert extract_code("```python\ndef f():\n    return 1\n```", "f").complete
    assert not extract_code("```python\ndef f():\n    return 1", "f").complete
    assert extract_code("```python\ndef f():\n    return 1\n\nprint(f())", "f").complete
    assert not extract_code("def f():\n    return 1\n", "f").complete
    assert extract_code("def f():\n    return 1\n\nIt is done.", "f").complete


def test_the_span_covers_the_block() -> None:
    text = "Sure:\n```python\n\n  def f():\n      return 1\n\n```"
    assert text[slice(*extract_code(text, "f").span)] == "  def f():\n      return 1"


def test_other_languages_are_taken_from_their_fences() -> None:
    text = "```python\nx\n```\n```js\nlet a = 1\n```\n```\nb\n```"
    assert extract_code(text, language="javascript").answer == "let a = 1"
    assert extract_code(text, language="rust").answer == "b"
    assert extract_code("no fence", language="rust") is None


def test_the_component_reads_the_name_from_the_item() -> None:
    item = Item(id="i", fields={"entry_point": "f"})
    text = "```python\ndef f(): return 1\n```\n```python\ndef g(): return 2\n```"
    assert PythonCode().extract(text, item).answer == "def f(): return 1"
    assert PythonCode(entry_point=None).extract(text, item).answer == "def g(): return 2"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of all texts that the parser is given."""
    lengths: list[int] = []

    def counted(text: str) -> Source | None:
        lengths.append(len(text))
        return parse(text)

    monkeypatch.setattr(code_module, "parse", counted)
    monkeypatch.setattr(statements_module, "parse", counted)
    return lengths


MIXED: dict[str, Callable[[int], str]] = {
    "prose and code by turns": lambda n: "This isn't code (yet.\ndef g(x):\n    return [x\n\nx = 1\n" * n,
    "functions and one line of prose": lambda n: "def g(x):\n    return x\n\n" * n + "It is done (so.\n",
    "open brackets": lambda n: "x = (\n" * n,
    "open strings": lambda n: 'x = """\n' * n,
    "decorators": lambda n: "@a\n" * n,
    "fences": lambda n: "```python\ndef g(:\n```\n" * n,
    "fences in strings": lambda n: '```python\nx = """\n```\n' * n,
    "four hundred lines of an answer": lambda n: (
        ("Let's see, step by step.\n" * 4 + "y = f(3)\n" + "    z\n") * n
    ),
}


@pytest.mark.parametrize("kind", MIXED)
def test_the_work_grows_with_the_text_and_no_faster(kind: str, parsed: list[int]) -> None:
    for lines in (50, 500):
        parsed.clear()
        text = MIXED[kind](lines)
        find_code(text, "f")
        assert sum(parsed) <= 12 * len(text) + 200
        assert len(parsed) <= 3 * text.count("\n") + 10


@pytest.mark.parametrize(
    "code",
    [
        "-" * 100_000 + "1",
        "a" + ".b" * 100_000,
        "(" * 100_000,
        "a+" * 100_000 + "a",
        "lambda:" * 50_000 + "1",
        "x = '\ud800'",
        "x = '\0'",
        "1" * 10_000,
        "if a:\n b\n" + "elif a:\n b\n" * 20_000,
    ],
)
def test_what_breaks_the_parser_is_no_code(code: str) -> None:
    assert parse(code) is None
    find_code(f"```python\n{code}\n```", "f")


def test_warnings_of_the_parser_are_silent() -> None:
    assert parse('x = "\\d"') is not None


SOLUTION = "class Solution:\n    def __init__(self):\n        self.seen = []\n    def f(self, x):\n        self.seen.append(x)\n        return len(self.seen) + x\n"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (SOLUTION, [2, 2]),  # no state is left from call to call
        (SOLUTION + "\ndef f(x):\n    return x\n", [1, 1]),  # a function of that name is what it says
        ("class A:\n    def f(self, x):\n        return 7\n\nclass B(A):\n    @staticmethod\n    def f(x):\n        return 8", [8, 8]),
        ("def f(x):\n    return 3", [3, 3]),
    ],
)  # fmt: skip
def test_a_method_is_called_on_a_fresh_instance(code: str, value: list[int]) -> None:
    names: dict[str, Any] = {}
    exec(assemble_method(code, "f"), names)
    assert [names["f"](1), names["f"](1)] == value


@pytest.mark.parametrize("code", ["class A:\n    def g(self):\n        return 1\n", "class A(:", ""])
def test_a_program_without_the_method_stays_as_it_is(code: str) -> None:
    assert assemble_method(code, "f") == code


F = "def f(x):\n    return x+1"

DRESSED_CODE = [
    ("> ```python\n> def f(x):\n>     return x+1\n> ```", F),
    ("```python\r\ndef f(x):\r\n    return x+1\r\n```", F),
    ("The function is:\n\n    def f(x):\n        return x+1\n\nDone.", F),
    ("```{.python}\n" + F + "\n```", F),
    ("1. Do:\n   ```python\n   def f(x):\n       return x+1\n   ```", F),
    ('<pre><code class="language-python">\n' + F + "\n</code></pre>", F),
    ("[PYTHON]\n" + F + "\n[/PYTHON]", F),
    ("```python\n" + F + "\n```\nOutput:\n```\n2\n```", F),
    ("```bash\npip install x\n```\n```python\n" + F + "\n```", F),
    ("```python\ndef f(x):\n    s = '```'\n    return x+1\n```", "def f(x):\n    s = '```'\n    return x+1"),
    ("```python\ndef f(x) {\n    return x+1\n```", "def f(x) {\n    return x+1"),
    ("Use the built-in `f`.", None),
    ("```\n```", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code"), DRESSED_CODE)
def test_dress_does_not_change_the_code(text: str, code: str | None) -> None:
    found = extract_code(text, "f")
    assert (found.answer if found else None) == code


def test_the_span_of_code_with_carriage_returns_is_a_place_in_the_text() -> None:
    text = "So:\r\n\r\n```python\r\ndef f(x):\r\n    return 1\r\n```\r\nBye."
    found = extract_code(text, "f")
    assert text[slice(*found.span)] == "def f(x):\r\n    return 1"


@pytest.mark.parametrize(
    ("tag", "language"),
    [("js", "javascript"), ("node", "javascript"), ("C++", "cpp"), ("cpp", "c++"), ("cs", "csharp"), ("ts", "typescript"),
     ("golang", "go"), ("rs", "rust"), ("sh", "bash"), ("lean4", "lean"), ("", "cpp"), ("sqlite", "sql"), ("R", "r")],
)  # fmt: skip
def test_languages_go_by_several_names(tag: str, language: str) -> None:
    found = extract_code(f"```{tag}\nx;\n```\n```text\nout\n```", language=language)
    assert found.answer == "x;"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Try `def f(x): return x + 1`.", "bare:inline"),
        ("```python def f(x): return x + 1```", "bare:inline"),
        ("```python\n>>> def f(x):\n...     return x + 1\n>>> f(1)\n2\n```", "fence:block"),
        (
            (
                "```python\nfrom __future__ import annotations\ndef g(x): return x\n```\n"
                "```python\nfrom __future__ import annotations\ndef f(x): return g(x) + 1\n```"
            ),
            "fence:block",
        ),
    ],
)
def test_code_in_mid_sentence_in_a_session_and_behind_a_future_import(text: str, rule: str) -> None:
    found = extract_code(text, "f")
    assert found is not None
    assert found.rule == rule
    names: dict[str, Any] = {}
    exec(found.answer, names)
    assert names["f"](1) == 2


ADDS = "def add(a, b):\n    return a + b"


@pytest.mark.parametrize(
    "text",
    [
        "```python def add(a, b):\n    return a + b\n```",
        "```def add(a, b):\n    return a + b\n```",
        f"[BEGIN]\n{ADDS}\n[DONE]\n\nAnother task follows.",
        f"{ADDS}\n[DONE]\n",
        f"{ADDS}<|endoftext|>",
        f"{ADDS}\n<|eot_id|><|start_header_id|>",
        f"\ufeff{ADDS}",
        ADDS.replace("    ", "\u00a0" * 4),
        f"```python\n{ADDS.replace(' + ', chr(0xA0) + '+ ')}\n```",
        f"```python\n{ADDS}\n```\nTests:\n```python\nfrom solution import add\nassert add(1, 2) == 3\n```",
    ],
)
def test_what_surrounds_code_is_no_part_of_it(text):
    found = extract_code(text, "add")
    assert found is not None
    assert found.answer == ADDS


def test_a_block_that_only_tests_is_not_the_program():
    text = f"```python\n{ADDS}\n```\n```python\nassert add(1, 2) == 4\n```"
    assert extract_code(text).answer == ADDS


def test_an_import_is_the_definition_where_there_is_no_other():
    found = extract_code("```python\nfrom operator import add\n```", "add")
    assert found is not None
    assert found.rule == "fence:block"


ASKED = 'def add(a, b):\n    """The sum."""\n'
GOES_ON = "    return a + b\n\n\ndef other():\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        (GOES_ON, ASKED + GOES_ON),
        ("    return a + b\n<|endoftext|>def x", ASKED + "    return a + b\n"),
        (ADDS, None),
        (f"```python\n{ADDS}\n```", None),
        ("    It is easy:\n", None),
    ],
)
def test_a_continuation_is_the_prompt_and_what_follows(text, program):
    assert code_module.continues(ASKED, text) == program


@pytest.mark.parametrize(
    "code", [GOES_ON, "total = a + b\n    return total", "     total = a + b\n     return total"]
)
def test_the_body_of_the_prompt_is_put_under_it(code):
    source = parse(assemble_answer(ASKED, code))
    assert source is not None
    assert "add" in source.defined
    assert not source.returns

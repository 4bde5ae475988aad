import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import DataError
from probatum.core.status import FAULTS, Status
from probatum.scoring import episodes, patches
from probatum.scoring.episodes import (
    ToolCall,
    ToolFault,
    end_of_episode,
    lint_oracle,
    read_tool_call,
    read_user_turn,
)
from probatum.scoring.patches import apply_patch, grade_patch, normalise_patch, read_patch

ONE = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ('{"city": "Oslo"}', {"city": "Oslo"}),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        ("", {}),
        (None, {}),
    ],
)
def test_arguments_that_can_be_read_are(arguments, found):
    assert read_tool_call("weather", arguments) == ToolCall(name="weather", arguments=found)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"city": "Oslo"', "no valid JSON"),
        ("[1]", "must be an object"),
        ("null", "must be an object"),
        ('{"a":1}', "lack 'city'"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_call_that_cannot_be_read_is_told_to_the_model(arguments, says):
    found = read_tool_call("weather", arguments, {"weather": ["city"]})
    assert isinstance(found, ToolFault)
    assert says in found.message


def test_an_unknown_tool_is_told_with_those_that_there_are():
    assert "weather" in read_tool_call("rain", "{}", {"weather": []}).message


@given(st.text())
def test_no_arguments_raise(text):
    assert isinstance(read_tool_call("t", text), ToolCall | ToolFault)


@pytest.mark.parametrize(
    ("text", "pending", "turn", "rest"),
    [
        ("Yes, please cancel it. ###STOP###", True, "agent", "Yes, please cancel it."),
        ("Yes, please cancel it. ###STOP###", False, "agent", "Yes, please cancel it."),
        ("###STOP###", False, "end", ""),
        ("###STOP###", True, "agent", ""),
        ("Go on.", False, "agent", "Go on."),
    ],
)
def test_the_agent_answers_what_came_with_the_stop(text, pending, turn, rest):
    found = read_user_turn(text, pending=pending)
    assert (found.next, found.text, found.stops) == (turn, rest, "STOP" in text)


@pytest.mark.parametrize(
    ("given", "status", "success"),
    [
        ({"reported": "success", "tokens": 12}, Status.SCORED, True),
        ({"reported": False, "tokens": 12}, Status.SCORED, False),
        ({"reported": "success", "tokens": 0}, Status.MODEL_ERROR, None),
        ({"reported": "success", "tokens": 0, "timed_out": True}, Status.TIMEOUT, None),
        ({"reported": "success", "error": "the container died"}, Status.INFRA_ERROR, None),
        ({"reported": None, "turns": 30, "turn_limit": 30}, Status.TRUNCATED, None),
        ({"reported": "success", "turns": 30, "turn_limit": 30}, Status.SCORED, True),
        ({"reported": "success", "turns": 31, "turn_limit": 30}, Status.TRUNCATED, None),
        ({"reported": "maybe"}, Status.GRADER_ERROR, None),
        ({"reported": None}, Status.GRADER_ERROR, None),
    ],
)
def test_an_episode_is_believed_where_it_can_have_been(given, status, success):
    found = end_of_episode(**given)
    assert (found.status, found.success) == (status, success)
    assert (found.success is None) or found.status not in FAULTS


def test_an_oracle_without_the_change_that_is_demanded_is_noted():
    actions = ["get_order", "get_order", "transfer"]
    assert "no gold action" in lint_oracle("return both orders", actions)[0]
    assert lint_oracle("return both orders", [*actions, "return_order"]) == ()
    assert lint_oracle("which orders are open?", actions) == ()
    assert lint_oracle("the user asks to cancel; it must not be done", actions) == ()
    assert lint_oracle("return it", ["submit"], writing=["submit"]) == ()
    assert "no gold actions" in lint_oracle("say hello", [])[0]


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        ONE + "\n",
        ONE + "\n\n\n",
        ONE.replace("\n", "\r\n"),
        f"```diff\n{ONE}\n```",
        f"\n```\n{ONE}\n```\n",
    ],
)
def test_a_patch_ends_with_one_newline_and_applies(text):
    assert normalise_patch(text).endswith("+b\n")
    assert not normalise_patch(text).endswith("\n\n")
    assert apply_patch(text, {"x": "a\n"}) == {"x": "b\n"}


def test_files_are_made_changed_renamed_and_deleted():
    new = "--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+1\n+2\n"
    gone = "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    renamed = "--- a/one\n+++ b/two\n@@ -1,2 +1,2 @@\n k\n-a\n+b\n"
    files = {"old": "x\n", "one": "k\na\n", "other": "o"}
    assert apply_patch(new + gone + renamed, files) == {"new": "1\n2\n", "two": "k\nb\n", "other": "o"}
    assert [file.new for file in read_patch(new + gone)] == ["new", None]


def test_blank_context_that_lost_its_blank_is_restored():
    text = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-c\n+d\n"
    assert apply_patch(text, {"x": "a\n\nc\n"}) == {"x": "a\n\nd\n"}


def test_a_moved_hunk_applies_where_its_place_is_unique():
    text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n p\n-a\n+b\n"
    assert apply_patch(text, {"x": "0\n1\np\na\n"}) == {"x": "0\n1\np\nb\n"}
    with pytest.raises(DataError, match="2 times"):
        apply_patch(text, {"x": "0\np\na\np\na\n"})
    with pytest.raises(DataError, match="nowhere"):
        apply_patch(text, {"x": "0\n"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no file"),
        ("I changed x.", "no file"),
        (ONE.replace("@@ -1 ", "@@ -1,3 "), "counts other lines"),
        ("@@ -1 +1 @@\n-a\n+b", "without a file"),
    ],
)
def test_what_is_no_patch_is_told(text, says):
    with pytest.raises(DataError, match=says):
        apply_patch(text, {"x": "a\n"})


@given(
    st.lists(st.sampled_from(["a", "b", "", " c"]), max_size=6),
    st.lists(st.sampled_from(["a", "d", ""]), max_size=6),
)
def test_the_diff_of_two_texts_makes_one_of_the_other(before, after):
    import difflib

    lines = difflib.unified_diff(before, after, "a/x", "b/x", lineterm="")
    patch = "\n".join(lines)
    if patch:
        old = "".join(f"{line}\n" for line in before)
        assert apply_patch(patch, {"x": old}) == {"x": "".join(f"{line}\n" for line in after)}


@pytest.mark.parametrize(
    ("patch", "before", "after", "resolved", "submitted", "lints"),
    [
        ("", "pass", "pass", False, False, 1),
        ("  \n", "fail", "fail", False, False, 0),
        (ONE, "fail", "pass", True, True, 0),
        (ONE, "fail", "fail", False, True, 0),
        (ONE, "fail", "error", False, True, 0),
        (ONE, "fail", None, False, True, 0),
        (ONE, "pass", "pass", True, True, 1),
    ],
)
def test_an_empty_patch_resolves_nothing(patch, before, after, resolved, submitted, lints):
    found = grade_patch(patch, tests_before=before, tests_after=after)
    assert (found.resolved, found.submitted, len(found.lint)) == (resolved, submitted, lints)


@pytest.mark.parametrize("module", [episodes, patches])
def test_examples_are_true(module):
    assert doctest.testmod(module).failed == 0

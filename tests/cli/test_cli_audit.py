"""`probatum audit-extraction`, and the card's section: over runs of the real command."""

from __future__ import annotations

import json

import pytest

from probatum import evaluate
from probatum.benchmarks import mini
from probatum.datasets import load_items
from probatum.report import make_card
from probatum.runner.audit import audit_run
from probatum.runner.result import load_run
from probatum.scoring import NumberMatch
from tests.fakes import FakeModel, sums_task, write_sums


def strict(text: str) -> dict:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    assert text.count("\n") == 1
    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def items():
    return list(load_items(mini.TASK.source, mini.TASK.row, mini.TASK.to_item))


def recorded(work, items, answer) -> str:
    """A model that answers the items of `mini` so."""
    rows = [{"item_id": item.id, "text": answer(item)} for item in items]
    (work / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "replay/answers.jsonl"


def unread(item) -> str:
    """Right answers to options and numbers that the task's rules do not find, and others that they find."""
    if item.choices and item.id.endswith(("1", "3", "5")):
        return f"Perhaps A. Perhaps B. I mean: {item.targets[0]} or so, not C."
    return f"Answer: {item.targets[0]}"


def test_a_run_of_right_answers_has_nothing_at_stake(probatum_here, work, items):
    model = recorded(work, items, lambda item: f"Answer: {item.targets[0]}")
    assert probatum_here("run", "mini", "--model", model).returncode == 0
    (task,) = strict(probatum_here("audit-extraction", "latest", "--json").stdout)["tasks"]
    assert (task["value"], task["failures"], task["at_stake"]) == (1.0, 0, 0.0)
    assert task["disagreements"] == 0
    assert task["left_out"] is None
    assert task["statuses"] == {"scored": 60}
    assert {rule["rule"] for rule in task["rules"]} == {"declared:line"}
    assert task["examples"] == []


def test_what_was_not_read_is_told_with_what_it_may_have_cost(probatum_here, work, items):
    model = recorded(work, items, unread)
    assert probatum_here("run", "mini", "--model", model).returncode == 0
    done = probatum_here("audit-extraction", "latest", "--json")
    (task,) = strict(done.stdout)["tasks"]
    failed = task["failures"]
    assert failed > 0
    assert task["value"] == pytest.approx(1 - failed / 60)
    assert task["bounds"]["no_answer_right"] == pytest.approx(1.0)
    assert task["at_stake"] == pytest.approx(failed / 60)
    assert {each["kind"] for each in task["examples"]} == {"failure"}
    shown = probatum_here("audit-extraction", "latest", "--examples", "1")
    assert shown.returncode == 0
    for words in ("no answer was read in", "rule that decided", "declared:line", "other reading",
                  "if every no_answer were right", "failure: item"):  # fmt: skip
        assert words in shown.stdout
    assert shown.stdout.count("failure: item") == 1


@pytest.mark.parametrize("model", ["constant/A", "random/1"])
def test_baselines_are_audited_like_models(probatum_here, model):
    assert probatum_here("run", "mini", "--model", model).returncode == 0
    (task,) = strict(probatum_here("audit-extraction", "latest", "--json").stdout)["tasks"]
    assert task["samples"] == 60
    bounds = task["bounds"]
    assert bounds["low"] <= task["value"] <= bounds["failures_reread"] <= bounds["failures_right"] <= 1
    assert bounds["disagreements_low"] <= task["value"] <= bounds["disagreements_high"] <= bounds["high"]
    assert sum(task["statuses"].values()) == 60


def test_the_card_has_the_audit_unless_it_is_left_out(probatum_here):
    assert probatum_here("run", "mini", "--model", "constant/A").returncode == 0
    whole = strict(probatum_here("card", "latest", "--json").stdout)["sections"]
    section = whole["mini: extraction"]
    assert "samples" in section["answers not read"]
    assert "score if every no_answer were right" in section
    assert whole["Validity"]["extraction audit"] == "made"
    less = strict(probatum_here("card", "latest", "--json", "--no-extraction-audit").stdout)["sections"]
    assert "mini: extraction" not in less
    assert less["Validity"]["extraction audit"].startswith("unknown")


def test_an_unknown_run_is_told_in_one_line(probatum_here):
    assert probatum_here("run", "mini", "--model", "constant/A").returncode == 0
    done = probatum_here("audit-extraction", "nothing")
    assert done.returncode == 1
    assert done.stderr.startswith("probatum: ")
    assert done.stderr.count("\n") == 1


def test_a_task_of_ones_own_is_audited_where_it_is_given(tmp_path):
    task = sums_task(name="mine", scorer=NumberMatch())
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    data = write_sums(tmp_path / "data", 4)
    evaluate(task, model=FakeModel(), store=store, data_directory=data)
    run = load_run(store)
    try:
        (without,) = audit_run(run.record, run.store)
        (known,) = audit_run(run.record, run.store, {"mine": task})
    finally:
        run.store.close()
    assert "not at hand" in (without.audit.left_out or "")
    assert without.audit.value == known.audit.value == 1.0
    assert {each.name for each in known.audit.readings} >= {"last number", "declared line"}
    card = make_card(run.record, audits={"mine": without.audit})
    assert "not at hand" in card.plain()["sections"]["mine: extraction"]["other readings"]

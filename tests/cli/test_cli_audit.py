"""`probatum audit` against the benchmark that ships with the package."""

from __future__ import annotations

import gzip
import json

import pytest

from probatum.benchmarks import find_task
from probatum.datasets import load_items


@pytest.fixture(scope="module")
def questions():
    task = find_task("mini")
    return {item.id: str(item.fields["question"]) for item in load_items(task.source, task.row, task.to_item)}


def test_items_that_stand_in_a_corpus_are_named(probatum_here, tmp_path, questions):
    name, question = max(questions.items(), key=lambda pair: len(pair[1].split()))
    rows = [
        {"text": "nothing of it"},
        {"messages": [{"role": "user", "content": f"Please: {question} Thanks."}]},
    ]
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "b.txt.gz").write_bytes(gzip.compress(b"other words"))
    done = probatum_here("audit", str(folder), "--task", "mini", "-n", "6", "--json")
    assert done.returncode == 0, done.stderr
    (task,) = json.loads(done.stdout)["tasks"]
    assert task["documents"] == 3
    assert sum(task["counts"].values()) == len(questions) == len(task["items"])
    found = [one for one in task["items"] if one["overlap"].startswith("input")]
    assert name in [one["item_id"] for one in found]
    assert found[0]["document"].endswith("a.jsonl line 2")
    shown = probatum_here("audit", str(folder), "-t", "mini", "-n", "6").stdout
    assert repr(name) in shown
    assert "3 documents" in shown


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "does not exist"),
        ("", "has no rows"),
        ("?!\n", "nothing can be called clean"),
        ("{", "not JSON"),
    ],
)
def test_a_corpus_that_cannot_be_read_is_no_clean_bill(probatum_here, tmp_path, content, says):
    path = tmp_path / ("corpus.jsonl" if content == "{" else "corpus.txt")
    if content is not None:
        path.write_text(content)
    done = probatum_here("audit", str(path), "--task", "mini")
    assert done.returncode == 1
    assert says in done.stderr
    assert not done.stdout

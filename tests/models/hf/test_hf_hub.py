"""A model of the hub over real HTTP: a name that moves is resolved to a commit, asked for and recorded."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

FIRST, SECOND = "1" * 40, "2" * 40


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class ModelHub:
    """One repository with its branches; answers the listing of a revision, and each file at a commit."""

    def __init__(self) -> None:
        self.branches: dict[str, str] = {}
        self.commits: dict[str, dict[str, bytes]] = {}
        self.asked: list[str] = []
        self.url = ""

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        parts = [unquote(part) for part in urlsplit(path).path.strip("/").split("/")]
        if parts[:4] == ["api", "models", "owner", "tiny"]:
            commit = self.resolved(parts[5] if len(parts) > 5 else "main")
            if commit is None:
                return 404, {"X-Error-Code": "RevisionNotFound"}, b""
            files = self.commits[commit]
            told: object = {
                "id": "owner/tiny",
                "sha": commit,
                "siblings": [{"rfilename": name} for name in files],
            }
            if parts[4:5] == ["tree"]:
                told = [
                    {"type": "file", "path": name, "oid": git_blob(content), "size": len(content)}
                    for name, content in files.items()
                ]
            return 200, {"Content-Type": "application/json"}, json.dumps(told).encode()
        if parts[:3] == ["owner", "tiny", "resolve"]:
            commit = self.resolved(parts[3])
            content = None if commit is None else self.commits[commit].get("/".join(parts[4:]))
            if content is None or commit is None:
                return 404, {"X-Error-Code": "EntryNotFound"}, b""
            return 200, {"X-Repo-Commit": commit, "ETag": f'"{git_blob(content)}"'}, content
        return 404, {"X-Error-Code": "RepoNotFound"}, b""

    def resolved(self, revision: str) -> str | None:
        commit = self.branches.get(revision, revision)
        return commit if commit in self.commits else None


@contextmanager
def serving(hub: ModelHub) -> Iterator[ModelHub]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            hub.asked.append(self.path)
            status, headers, content = hub.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


SCRIPT = """
import json, sys
from probatum.core.errors import ModelError
from probatum.models.hf.files import find_model
for name in sys.argv[1:]:
    try:
        found = find_model(name)
        print(json.dumps([found.name, found.revision, found.weights]))
    except ModelError as error:
        print(json.dumps(str(error)))
"""


def resolved(hub: ModelHub, home: Path, *names: str) -> list[object]:
    """What a fresh process makes of the names: the client reads its environment once, when it is imported."""
    places = {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    cleared = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, *names],
        env={**cleared, "PYTHONPATH": os.pathsep.join(sys.path), **places, "HF_HUB_DISABLE_XET": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in told.stdout.splitlines()]


def test_a_name_that_moves_is_resolved_to_its_commit_and_a_commit_stays(tiny, tmp_path):
    """`main` moves between the two runs: the second says so by its commit and by the digest of its weights."""
    hub = ModelHub()
    for commit, seed in ((FIRST, 0), (SECOND, 1)):
        files = [path for path in tiny(seed=seed).iterdir() if path.is_file()]
        hub.commits[commit] = {path.name: path.read_bytes() for path in files}
    digests = {
        commit: hashlib.sha256(files["model.safetensors"]).hexdigest()
        for commit, files in hub.commits.items()
    }
    assert digests[FIRST] != digests[SECOND]
    with serving(hub):
        hub.branches["main"] = FIRST
        [first] = resolved(hub, tmp_path, "owner/tiny")
        assert first == ["owner/tiny", FIRST, digests[FIRST]]
        fetched = [path for path in hub.asked if "/resolve/" in path]
        assert fetched
        assert all(path.startswith(f"/owner/tiny/resolve/{FIRST}/") for path in fetched)
        assert any(path.startswith("/api/models/owner/tiny") for path in hub.asked)

        hub.branches["main"] = SECOND
        hub.asked.clear()
        moved, pinned, unknown = resolved(
            hub, tmp_path, "owner/tiny@main", f"owner/tiny@{FIRST}", "owner/tiny@gone"
        )
        assert moved == ["owner/tiny", SECOND, digests[SECOND]]
        assert pinned == first
        assert "revision gone" in str(unknown)
        fetched = [path for path in hub.asked if "/resolve/" in path]
        assert {path.split("/")[4] for path in fetched} == {SECOND}  # the first commit lies in the cache

"""A small Hugging Face hub on loopback: the endpoints that `huggingface_hub` asks for a file of a data set.

    HEAD, GET  /datasets/{owner}/{name}/resolve/{commit}/{path}
    GET        /storage/{sha256}              where large files are redirected to, as a CDN is

It answers as the real one does: `X-Repo-Commit` and an `ETag` that is the SHA-1 of the git blob; for
large files a redirect with `X-Linked-Etag` (SHA-256) and `X-Linked-Size`; errors by `X-Error-Code`.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

COMMIT = "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544"


@dataclass
class Hub:
    """What the server has, how it fails, and what it was asked."""

    repositories: dict[str, dict[str, dict[str, bytes]]] = field(default_factory=dict)
    """Repository → commit → path → content."""
    large_from: int = 1 << 20
    """Bytes from which a file is stored elsewhere."""
    gated: set[str] = field(default_factory=set)
    failures: list[int] = field(default_factory=list)
    """Statuses that the next requests are answered with; 0 is an answer as usual."""
    claimed_commit: str | None = None
    """Commit that answers name instead of the right one; empty for none."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request."""
    url: str = ""
    storage_url: str = ""

    def add(self, repository: str, path: str, content: bytes, commit: str = COMMIT) -> None:
        self.repositories.setdefault(repository, {}).setdefault(commit, {})[path] = content

    def stored(self, digest: str) -> bytes | None:
        contents = (
            content
            for commits in self.repositories.values()
            for files in commits.values()
            for content in files.values()
        )
        return next((content for content in contents if sha256(content) == digest), None)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass

    def _answer(self) -> None:
        self.hub.requests.append((self.command, self.path))
        if self.hub.failures and (status := self.hub.failures.pop(0)):
            self._send(status, {})
            return
        parts = [unquote(part) for part in self.path.split("/")]
        if parts[1] == "storage":
            content = self.hub.stored(parts[2])
            self._send(200 if content is not None else 404, {}, content or b"")
            return
        repository, commit, path = "/".join(parts[2:4]), parts[5], "/".join(parts[6:])
        if repository in self.hub.gated:
            self._send(401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."})
        elif repository not in self.hub.repositories:
            # So does the real one to strangers, who must not learn which private repositories there are.
            self._send(401, {"X-Error-Message": "Invalid username or password."})
        elif commit not in self.hub.repositories[repository]:
            self._send(404, {"X-Error-Code": "RevisionNotFound"})
        elif path not in self.hub.repositories[repository][commit]:
            self._send(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        else:
            self._deliver(commit, self.hub.repositories[repository][commit][path])

    def _deliver(self, commit: str, content: bytes) -> None:
        claimed = self.hub.claimed_commit
        named = {"X-Repo-Commit": commit if claimed is None else claimed} if claimed != "" else {}
        if len(content) < self.hub.large_from:
            self._send(200, {**named, "ETag": f'"{git_blob(content)}"'}, content)
            return
        digest = sha256(content)
        linked = {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(content))}
        self._send(302, {**named, **linked, "Location": f"{self.hub.storage_url}/storage/{digest}"})

    def _send(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@contextmanager
def _listening(handler: type[Handler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Runs the hub on free ports until the block ends; then connections to it are refused."""
    handler = type("HubHandler", (Handler,), {"hub": hub})
    # The client follows a redirect only within one origin: the storage must be another one, as the CDN is.
    with _listening(handler) as hub.url, _listening(handler) as hub.storage_url:
        yield hub

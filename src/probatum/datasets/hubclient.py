"""Fetches files of the hub. The only module that imports huggingface_hub; imported when first needed.

A file that is in the cache is used without a request, since a commit cannot change. Else the server is
asked once whether it has the file, so that a machine without a network hears so at once rather than
after the retries of a download.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from huggingface_hub import (
    constants,
    get_hf_file_metadata,
    hf_hub_download,
    hf_hub_url,
    try_to_load_from_cache,
)
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from probatum.core.protocol import Hub
from probatum.datasets.faults import one_line
from probatum.datasets.files import DataFile
from probatum.datasets.hub import HubAccess

__all__ = ["explain", "fetch"]

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_STATUSES = {
    401: "no such data set, or a private one: check the name, or set HF_TOKEN",
    403: "HF_TOKEN does not give access to it",
    407: "a proxy wants a password: check HTTPS_PROXY",
}
"""What a status code means that the client has no exception for."""
_SHA1_DIGITS = 40
_SHA256_DIGITS = 64
_SERVER_SECONDS = 10.0
"""How long the server may take to say whether it has a file."""
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (HFValidationError, "its name is not that of a repository (owner/name)"),
    (GatedRepoError, "access is gated: accept its terms at {page}, and set HF_TOKEN"),
    (DisabledRepoError, "the hub has disabled it"),
    (RepositoryNotFoundError, "no such data set, or a private one: check the name, or set HF_TOKEN"),
    (RevisionNotFoundError, "it has no commit {revision}"),
    (OfflineModeIsEnabled, "{file!r} is not in the cache, and HF_HUB_OFFLINE forbids to fetch it"),
    (LocalEntryNotFoundError, "{file!r} is not in the cache, and {endpoint} does not deliver it"),
    (EntryNotFoundError, "it has no file {file!r} at commit {revision}"),
    (FileMetadataError, "{endpoint} does not answer as a hub does: check HF_ENDPOINT and proxies"),
)
"""What the client raises → what it means; the first that fits. A status code is told otherwise."""


def fetch(hub: Hub, access: HubAccess) -> tuple[DataFile, ...] | str:
    """The files of `hub` in the cache, in order; or why they cannot be had, in one line."""
    files = []
    for file in hub.files:
        try:
            path = _cached(hub, file, access) or _downloaded(hub, file, access)
        except Exception as error:  # noqa: BLE001 - the transport of the client differs between its versions
            return f"{hub.repository}: {explain(error, hub, file, access)}"
        if problem := _damage(path):
            return f"{hub.repository}: {problem}"
        files.append(DataFile(name=file, content=path))
    return tuple(files)


def explain(error: Exception, hub: Hub, file: str, access: HubAccess) -> str:
    """What an exception of the client means for the user, in one line."""
    endpoint = access.endpoint or constants.ENDPOINT
    for kind, text in _REASONS:
        if isinstance(error, kind):
            page = f"{endpoint}/datasets/{hub.repository}"
            return text.format(page=page, revision=hub.revision, file=file, endpoint=endpoint)
    if isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        meaning = _STATUSES.get(status, "try again later")
        return f"{endpoint} answers {status} for {file!r}: {meaning}"
    reason = one_line(str(error).strip().partition("\n")[0])
    return f"{file!r} cannot be fetched from {endpoint} ({type(error).__name__}: {reason})"


def _cached(hub: Hub, file: str, access: HubAccess) -> Path | None:
    found = try_to_load_from_cache(
        hub.repository,
        file,
        cache_dir=access.cache_directory,
        revision=hub.revision,
        repo_type="dataset",
    )
    return Path(found) if isinstance(found, str) else None


def _downloaded(hub: Hub, file: str, access: HubAccess) -> Path:
    url = hf_hub_url(
        hub.repository, file, repo_type="dataset", revision=hub.revision, endpoint=access.endpoint
    )
    commit = _commit_of(url, access.waits)
    if commit != hub.revision:
        raise FileMetadataError(f"the server answers with commit {commit!r}")
    path = hf_hub_download(
        hub.repository,
        file,
        repo_type="dataset",
        revision=hub.revision,
        cache_dir=access.cache_directory,
        endpoint=access.endpoint,
        library_name="probatum",
    )
    return Path(path)


def _commit_of(url: str, waits: tuple[float, ...]) -> str | None:
    """The commit at which the server has the file; `None` if it does not say."""
    for wait in waits:
        try:
            return get_hf_file_metadata(url, timeout=_SERVER_SECONDS).commit_hash
        except HfHubHTTPError as error:
            if error.response.status_code not in _TRANSIENT:
                raise
            time.sleep(wait)
    return get_hf_file_metadata(url, timeout=_SERVER_SECONDS).commit_hash


def _damage(path: Path) -> str | None:
    """Whether a cached file is not what its name says: the cache names its content by digest.

    SHA-256 for large files, and for small ones the SHA-1 of a git blob (mirrors: of the file alone).
    """
    if not path.is_symlink():
        return None
    blob = path.readlink().name
    with path.open("rb") as stream:
        if len(blob) == _SHA256_DIGITS:
            digests = {hashlib.file_digest(stream, "sha256").hexdigest()}
        elif len(blob) == _SHA1_DIGITS:
            content = stream.read()
            forms = (content, b"blob %d\0" % len(content) + content)
            digests = {hashlib.sha1(form, usedforsecurity=False).hexdigest() for form in forms}
        else:
            return None
    if blob in digests:
        return None
    return f"cached file {str(path)!r} is damaged (its digest is not {blob}): delete {path.resolve()}"

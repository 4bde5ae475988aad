"""Whether a bundle is what was written: every file, and every byte between them. Needs no store."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from probatum.core.errors import UsageError
from probatum.report.archive import CHUNK, archive
from probatum.report.bundle import FORMAT, VERSION, manifest_text

__all__ = ["BundleCheck", "verify_bundle"]

MANIFEST: Final = "manifest.json"
MOST_MANIFEST: Final = 1 << 20
"""Bytes; one of ours has some thousand."""
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)
"""What `zipfile` raises at archives that are none, or that use what ours do not."""


@dataclass(frozen=True, kw_only=True)
class BundleCheck:
    """What was found; no problem means that nothing was changed, lost or added."""

    file: str
    digest: str | None
    """SHA-256 of the manifest, by which the bundle is known."""
    run: str | None
    model: str | None
    redacted: bool | None
    files: int
    problems: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {"whole": self.whole, **{name: getattr(self, name) for name in self.__dataclass_fields__}}


def verify_bundle(path: Path, digest: str | None = None) -> BundleCheck:
    """Checks a bundle.

    Whoever can write the file can also write another bundle, whole in itself: hold `digest` against one that
    you have from elsewhere.

    Args:
        path: of the archive.
        digest: the manifest's SHA-256 as it was published, with or without `sha256:`.

    Raises:
        UsageError: the file cannot be read at all.
    """
    try:
        with path.open("rb") as stream:
            return _check(path, stream, None if digest is None else digest.removeprefix("sha256:").lower())
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror}; give a bundle") from None


def _check(path: Path, stream: IO[bytes], expected: str | None) -> BundleCheck:
    try:
        opened = zipfile.ZipFile(stream)
    except _BROKEN as error:
        return _found(path, [f"{path.name}: changed or cut off, it is no ZIP archive ({_line(error)})"])
    with opened:
        names = Counter(info.filename for info in opened.infolist())
        problems = [f"{name}: stands {count} times" for name, count in names.items() if count > 1]
        problems += [
            f"{info.filename}: changed, it is not stored as it was written"
            for info in opened.infolist()
            if info.compress_type != zipfile.ZIP_STORED or info.flag_bits
        ]
        if problems:
            return _found(path, problems)
        manifest, text, wrong = _manifest(opened)
        if wrong is not None:
            return _found(path, [wrong])
        found = hashlib.sha256(text).hexdigest()
        problems = _files(opened, manifest["files"], names)
        if opened.comment != f"sha256:{found}".encode("ascii"):
            problems.append(
                f"{MANIFEST}: changed, its digest is not the one that the archive's comment names"
            )
        if expected is not None and found != expected:
            problems.append(f"{MANIFEST}: another bundle, its digest is {found} and not {expected}")
        problems = problems or _between(stream, opened, list(manifest["files"]))
        return _found(path, problems, manifest, found)


def _found(
    path: Path, problems: list[str], manifest: Mapping[str, Any] | None = None, digest: str | None = None
) -> BundleCheck:
    known = manifest or {}
    return BundleCheck(
        file=str(path),
        digest=digest,
        run=known.get("run"),
        model=known.get("model"),
        redacted=known.get("redacted"),
        files=len(known.get("files", ())),
        problems=tuple(problems),
    )


def _manifest(opened: zipfile.ZipFile) -> tuple[dict[str, Any], bytes, str | None]:
    """The manifest, its bytes, and what is wrong with it."""
    try:
        info = opened.getinfo(MANIFEST)
        if info.file_size > MOST_MANIFEST:
            return {}, b"", f"{MANIFEST}: changed, it has {info.file_size} bytes"
        text = opened.read(MANIFEST)
        manifest = json.loads(text)
        if manifest_text(manifest).encode("ascii") != text:
            return {}, text, f"{MANIFEST}: changed, it is not written as it was"
        if (manifest["format"], manifest["version"]) != (FORMAT, VERSION):
            named = f"{manifest['format']!r} {manifest['version']!r}"
            return {}, text, f"{MANIFEST}: of format {named}, and this reads {FORMAT!r} {VERSION}"
        for entry in manifest["files"].values():
            _ = bytes.fromhex(entry["sha256"]), int(entry["bytes"])
    except KeyError as error:
        missing = "missing" if MANIFEST not in opened.namelist() else f"changed, it has no {_line(error)}"
        return {}, b"", f"{MANIFEST}: {missing}"
    except (*_BROKEN, TypeError, AttributeError, RecursionError) as error:
        return {}, b"", f"{MANIFEST}: changed, it cannot be read ({_line(error)})"
    return manifest, text, None


def _files(opened: zipfile.ZipFile, listed: Mapping[str, Any], names: Mapping[str, int]) -> list[str]:
    problems = [f"{name}: missing" for name in listed if name not in names]
    problems += [f"{name}: added" for name in names if name != MANIFEST and name not in listed]
    for name, entry in listed.items():
        if name not in names:
            continue
        try:
            with opened.open(name) as stream:
                digest = hashlib.sha256()
                while piece := stream.read(CHUNK):
                    digest.update(piece)
        except _BROKEN as error:
            problems.append(f"{name}: changed, it cannot be read ({_line(error)})")
            continue
        if digest.hexdigest() != entry["sha256"] or opened.getinfo(name).file_size != entry["bytes"]:
            problems.append(f"{name}: changed, its SHA-256 is {digest.hexdigest()}")
    return problems


def _between(stream: IO[bytes], opened: zipfile.ZipFile, listed: list[str]) -> list[str]:
    """Bytes that belong to no file: the archive is built again from its files, and must be the same."""
    parts = [(name, lambda name=name: opened.open(name)) for name in [MANIFEST, *listed]]
    place = 0
    for piece in archive(parts, opened.comment):  # type: ignore[arg-type]  # streams of zipfile read likewise
        stream.seek(place)
        held = stream.read(len(piece))
        if held != piece:
            first = next(
                (n for n, pair in enumerate(zip(held, piece, strict=False)) if pair[0] != pair[1]), len(held)
            )
            return [f"archive: changed between the files, first at byte {place + first}"]
        place += len(piece)
    stream.seek(place)
    return ["archive: bytes were added at its end"] if stream.read(1) else []


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__

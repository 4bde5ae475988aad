"""A run as one file that others can check offline: record, samples, card, and a digest of each.

    manifest.json        format, run, and the SHA-256 and size of every other file
    run.json             the run as the store has it: recipes, digests, options, environment, estimates
    samples.jsonl.gz     one sample a line, whole: item, requests, responses, outcome
    samples.parquet      one sample a row, as `EvaluatedRun.samples()` has them
    card.md, card.json   the evaluation card

The digest of the manifest names the bundle; it is the comment of the archive, too.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from probatum.core.errors import UsageError
from probatum.core.run import Run, Sample
from probatum.core.strictjson import strict_json, strict_text
from probatum.report.archive import CHUNK, archive
from probatum.report.card import make_card
from probatum.report.redaction import redacted_run, redacted_sample
from probatum.runner.result import EvaluatedRun

__all__ = ["FORMAT", "VERSION", "Bundle", "file_digest", "manifest_text", "write_bundle", "write_samples"]

FORMAT: Final = "probatum bundle"
VERSION: Final = 1
SAMPLES_AT_ONCE: Final = 2_000
"""Samples that are held in memory."""


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A bundle that was written."""

    file: str
    digest: str
    """SHA-256 of the manifest, which covers every other file."""
    run: str
    files: Mapping[str, Mapping[str, Any]]
    """Name → `sha256` and `bytes`."""


def write_bundle(path: Path, run: EvaluatedRun, *, redact: bool = False) -> Bundle:
    """Writes a run as a bundle; the same run gives the same bytes.

    Args:
        path: of the archive; an old one stays whole until the new one is.
        run: with its store.
        redact: writes digests in place of texts.

    Raises:
        UsageError: the file cannot be written, or would be larger than 4 GiB.
    """
    with tempfile.TemporaryDirectory(prefix="probatum-") as name:
        directory = Path(name)
        record = redacted_run(run.record) if redact else run.record
        _write_texts(directory, record, run.faults)
        _write_all_samples(directory, run.each_sample(), redact=redact)
        files = {
            one.name: {"sha256": file_digest(one), "bytes": one.stat().st_size}
            for one in sorted(directory.iterdir())
        }
        manifest = manifest_text(
            {
                "format": FORMAT,
                "version": VERSION,
                "run": record.id,
                "model": f"{record.model.provider}/{record.model.name}",
                "tasks": [task.task for task in record.tasks],
                "state": record.state.value,
                "redacted": redact,
                "files": files,
            }
        ).encode("ascii")
        digest = hashlib.sha256(manifest).hexdigest()
        parts = [("manifest.json", lambda: io.BytesIO(manifest))]
        parts += [(one, _opener(directory / one)) for one in files]
        with _written_whole(path) as stream:
            for piece in archive(parts, f"sha256:{digest}".encode("ascii")):
                stream.write(piece)
    return Bundle(file=str(path), digest=digest, run=record.id, files=files)


def write_samples(path: Path, samples: Iterable[Sample], *, redact: bool = False) -> int:
    """Writes samples alone; the name says how: `.jsonl`, `.jsonl.gz` or `.parquet`. Returns how many.

    Raises:
        UsageError: another name, or the file cannot be written.
    """
    count = 0
    with _written_whole(path) as stream:
        if path.name.endswith(".parquet"):
            sink: Any = _ParquetFile(stream)
        elif path.name.endswith(".jsonl"):
            sink = _LinesFile(stream)
        elif path.name.endswith(".jsonl.gz"):
            sink = _LinesFile(_gzipped(stream), closing=True)
        else:
            raise UsageError(
                f"{str(path)!r} does not say what to write; name it .zip, .jsonl, .jsonl.gz or .parquet"
            )
        # closed also where a sample cannot be read: pyarrow's writer would write to the closed file later
        with contextlib.closing(sink):
            for batch in _batches(samples):
                sink.write([(sample, redacted_sample(sample) if redact else sample) for sample in batch])
                count += len(batch)
    return count


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """The one way in which a manifest is written."""
    return json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_texts(directory: Path, record: Run, faults: Sequence[str]) -> None:
    card = make_card(record, faults=faults)
    texts = {
        "run.json": strict_text(record, indent=2) + "\n",
        "card.json": strict_text(card.plain(), indent=2) + "\n",
        "card.md": card.markdown(),
    }
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def _write_all_samples(directory: Path, samples: Iterable[Sample], *, redact: bool) -> None:
    with (
        (directory / "samples.jsonl.gz").open("wb") as lines,
        (directory / "samples.parquet").open("wb") as table,
        contextlib.closing(_LinesFile(_gzipped(lines), closing=True)) as first,
        contextlib.closing(_ParquetFile(table)) as second,
    ):
        for batch in _batches(samples):
            pairs = [(sample, redacted_sample(sample) if redact else sample) for sample in batch]
            first.write(pairs)
            second.write(pairs)


def _batches(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    stream = iter(samples)
    while batch := list(islice(stream, SAMPLES_AT_ONCE)):
        yield batch


def _gzipped(stream: IO[bytes]) -> gzip.GzipFile:
    return gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)


class _LinesFile:
    """JSON lines."""

    def __init__(self, stream: Any, *, closing: bool = False) -> None:
        self._stream, self._closing = stream, closing

    def write(self, samples: list[tuple[Sample, Sample]]) -> None:
        """Original and shown samples; digests are of the originals."""
        for original, shown in samples:
            self._stream.write((strict_text(_line(original, shown)) + "\n").encode("ascii"))

    def close(self) -> None:
        """The end of what is compressed; the file below stays open."""
        if self._closing:
            self._stream.close()


class _ParquetFile:
    """A Parquet file, of the columns of `EvaluatedRun.samples()`."""

    def __init__(self, stream: IO[bytes]) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415 - pyarrow takes 0.2 s to import

        from probatum.runner.tables import SCHEMA  # noqa: PLC0415 - imports pyarrow

        self._writer = pq.ParquetWriter(stream, SCHEMA, compression="zstd")

    def write(self, samples: list[tuple[Sample, Sample]]) -> None:
        """A row group."""
        from probatum.runner.tables import sample_table  # noqa: PLC0415 - imports pyarrow

        self._writer.write_table(sample_table(shown for _, shown in samples))

    def close(self) -> None:
        """Writes the footer."""
        self._writer.close()


def _line(original: Sample, shown: Sample) -> dict[str, Any]:
    requests = [
        {**strict_json(request), "digest": before.digest}
        for before, request in zip(original.requests, shown.requests, strict=True)
    ]
    return {
        "task": shown.task,
        "position": shown.position,
        "item": {**strict_json(shown.item), "digest": original.item.digest},
        "requests": requests,
        "responses": list(shown.responses),
        "outcome": shown.outcome,
    }


def _opener(path: Path) -> Any:
    def opened() -> BinaryIO:
        return path.open("rb")

    return opened


@contextlib.contextmanager
def _written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file that is written beside and renamed, so that nobody finds half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with beside.open("wb", buffering=CHUNK) as stream:
            yield stream
        beside.replace(path)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}; choose another file") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)

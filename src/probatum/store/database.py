"""The database behind a store: its address, its engine, and its errors in one line."""

from __future__ import annotations

import os
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from probatum.core.errors import StoreError, UsageError
from probatum.store.schema import schema_version

__all__ = ["Address", "connect", "one_line", "parse_address", "translated"]

FORMS: Final = (
    "use a path, 'sqlite:///relative.db', 'sqlite:////absolute.db' or 'postgresql://user@host/database'"
)

OTHER: Final = "give the path of a store, or of a file that does not exist yet"

BUSY_SECONDS: Final = 30.0
"""How long a SQLite file that another process is writing to is waited for."""

CHECKPOINT_PAGES: Final = 4000
"""Pages of 4 KiB in the write-ahead log before they are moved into the file."""

CACHE_KIB: Final = 8192
"""Page cache of each connection."""

READING: Final = "probatum_reading"
"""Execution option of a connection that only reads."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a store is."""

    url: URL
    name: str
    """As messages name it: the path, or the URL without its password."""
    path: Path | None = None
    """The SQLite file."""
    busy_seconds: float = BUSY_SECONDS

    @property
    def writable(self) -> bool:
        """Whether this process may write there; SQLite needs files beside its own for that."""
        if self.path is None:
            return True
        return os.access(self.path.parent, os.W_OK) and (
            not self.path.exists() or os.access(self.path, os.W_OK)
        )


def parse_address(text: str) -> Address:
    """Reads a path or a URL.

    Raises:
        UsageError: neither.
    """
    if not text or "\0" in text:
        raise UsageError(f"{text!r} names no store: {FORMS}")
    if ":" not in text.partition("/")[0]:
        return _sqlite_address(text, URL.create("sqlite"), BUSY_SECONDS)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        shown = re.sub(r"(://[^/@]*:)[^/]*@", r"\1***@", text)
        raise UsageError(f"{shown!r} is not the URL of a store: {FORMS}") from None
    backend = url.get_backend_name()
    if backend == "sqlite":
        query = dict(url.query)
        seconds = _seconds(text, query.pop("timeout", BUSY_SECONDS))
        if query:
            raise UsageError(f"{text!r}: a SQLite store takes no setting {min(query)!r}, only 'timeout'")
        if url.host or not url.database or url.database == ":memory:":
            raise UsageError(f"{text!r} names no file, and a store must outlive the process: {FORMS}")
        return _sqlite_address(url.database, url, seconds)
    if backend in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
        return Address(url=url, name=url.render_as_string(hide_password=True))
    raise UsageError(f"{url.drivername!r} is no database that a store can be in: {FORMS}")


def _seconds(text: str, value: object) -> float:
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:  # noqa: PLR2004 - SQLite counts milliseconds in 32 bits
        raise UsageError(f"{text!r}: timeout must be a number of seconds, not {value!r}")
    return seconds


def _sqlite_address(path: str, url: URL, seconds: float) -> Address:
    url = url.set(drivername="sqlite", database=path, query={})
    return Address(url=url, name=path, path=Path(path), busy_seconds=seconds)


def connect(address: Address) -> Engine:
    """An engine for that address; nothing is opened yet.

    Raises:
        StoreError: the driver is not installed.
    """
    if address.path is None:
        try:
            return create_engine(address.url, pool_pre_ping=True)
        except (ImportError, NoSuchModuleError):
            raise StoreError(
                f"{address.name}: the driver for PostgreSQL is missing; pip install 'probatum[postgres]'"
            ) from None
    engine = create_engine("sqlite://", creator=lambda: _open_file(address), poolclass=QueuePool)
    event.listen(engine, "begin", _begin)
    return engine


def _open_file(address: Address) -> sqlite3.Connection:
    path = address.path
    assert path is not None  # noqa: S101 - for the type checker: only SQLite comes here
    _check_place(address, path)
    location, uri = str(path), False
    if not address.writable:
        # Without a log there is nobody to share with, and a read-only place has no room for lock files.
        log = path.with_name(path.name + "-wal")
        alone = not log.exists() or not log.stat().st_size
        location, uri = f"{path.absolute().as_uri()}?mode=ro" + ("&immutable=1" if alone else ""), True
    connection = sqlite3.connect(
        location, timeout=address.busy_seconds, isolation_level=None, check_same_thread=False, uri=uri
    )
    try:
        if address.writable:
            _refuse_others(address, connection)
            _set_up(connection)
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_others(address: Address, connection: sqlite3.Connection) -> None:
    """Before anything is changed: setting the journal mode already writes to the file."""
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if names and schema_version.name not in names:
        raise StoreError(f"{address.name!r} is a database of something else (table {min(names)!r}): {OTHER}")


def _set_up(connection: sqlite3.Connection) -> None:
    [(mode,)] = connection.execute("PRAGMA journal_mode=WAL").fetchall()
    # With a write-ahead log, NORMAL means that only checkpoints wait for the disk; `sync` does the
    # rest. A file system without shared memory refuses the log: then every commit waits.
    connection.execute(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
    connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")


def _check_place(address: Address, path: Path) -> None:
    """SQLite says "unable to open database file" to all of these."""
    if path.is_dir():
        raise StoreError(f"{address.name!r} is a directory: give the path of a file in it")
    if not path.parent.is_dir():
        raise StoreError(
            f"{address.name!r}: the directory {str(path.parent)!r} does not exist; make it first"
        )
    if path.exists():
        if not os.access(path, os.R_OK):
            raise StoreError(f"{address.name!r} cannot be read: ask its owner for permission")
    elif not os.access(path.parent, os.W_OK):
        raise StoreError(
            f"{address.name!r} cannot be made: no permission to write in {str(path.parent)!r}; "
            "give a store elsewhere"
        )


def _begin(connection: Connection) -> None:
    """A writer takes the lock at once: one that reads first could find the file changed, and fail."""
    reading = connection.get_execution_options().get(READING, False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Turns whatever the database raises inside into a `StoreError` of one line."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(_explain(address, error.orig or error)) from error
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise StoreError(_explain(address, error)) from error
    except (zlib.error, msgspec.DecodeError) as error:  # a validation error is one of them
        raise StoreError(
            f"store {address.name!r} is damaged ({one_line(error)}): copy it, and try `sqlite3 FILE .recover`"
        ) from error


EXPLANATIONS: Final = (
    ("SQLITE_NOTADB", f"is not a SQLite database: {OTHER}"),
    ("SQLITE_READONLY", "is read-only: copy it to where you may write, or give another store"),
    ("SQLITE_FULL", "cannot grow, the disk is full: make room and start again; what was kept stands"),
    ("SQLITE_CORRUPT", "is damaged: copy it, and try `sqlite3 FILE .recover`"),
    ("SQLITE_CANTOPEN", "cannot be opened: check that you may read it, and write in its directory"),
    ("SQLITE_PERM", "cannot be opened: check its permissions"),
    ("SQLITE_TOOBIG", "takes no value of that size (1 GB)"),
    (
        "SQLITE_IOERR",
        "cannot be read or written ({reason}): check disk, quota and file size limit; what was kept stands",
    ),
)
"""Primary code of SQLite → what to say; extended codes begin with the primary one."""


def _explain(address: Address, error: BaseException) -> str:
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return (
            f"store {address.name!r} stayed locked by another process for {address.busy_seconds:g} s: "
            "wait for it to end and start again, or give another store"
        )
    for known, text in EXPLANATIONS:
        if code.startswith(known):
            return f"store {address.name!r} {text.format(reason=one_line(error))}"
    return f"store {address.name!r} failed: {one_line(error)}; check that it can be reached, and start again"


def one_line(error: BaseException) -> str:
    """What an exception says, without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__

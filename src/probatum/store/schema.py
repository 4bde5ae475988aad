"""The tables: one schema for SQLite and PostgreSQL.

Digests are 32 raw bytes, bodies are those of `encoding`; what one wants to ask for in SQL is a column.
Rows refer to what they share (texts, requests, items) by digest, so that writing needs no look-up.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

__all__ = ["SCHEMA_VERSION", "metadata"]

SCHEMA_VERSION: Final = 1
"""Raised whenever older code could misread a newer store."""

ESCAPE: Final = "\x1b"
"""Begins a text that no database takes as it is; a text that begins so itself is escaped too."""


class SafeText(TypeDecorator[str]):
    """Text of any kind in a text column.

    PostgreSQL takes no NUL, and neither database takes lone surrogates; such texts are escaped.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:  # noqa: ARG002 - theirs
        """The text as the column holds it."""
        if value is None or (value.isprintable() and value.isascii()):
            return value
        if "\0" in value or value.startswith(ESCAPE) or any("\ud800" <= sign <= "\udfff" for sign in value):
            return ESCAPE + value.encode("unicode_escape").decode("ascii")
        return value

    def process_result_value(self, value: str | None, dialect: Any) -> str | None:  # noqa: ARG002 - theirs
        """The text as it was given."""
        if value is None or not value.startswith(ESCAPE):
            return value
        return value[1:].encode("ascii").decode("unicode_escape")


metadata = MetaData()

_Id = BigInteger().with_variant(Integer(), "sqlite")  # only INTEGER is SQLite's own row number


def _table(name: str, *parts: Any) -> Table:
    return Table(name, metadata, Column("id", _Id, primary_key=True), *parts)


def _required(name: str, kind: Any) -> Column[Any]:
    return Column(name, kind, nullable=False)


def _by_digest(name: str, *parts: Any) -> Table:
    """What is kept once under its own digest."""
    return _table(
        name,
        Column("digest", LargeBinary, nullable=False, unique=True),
        *parts,
        _required("body", LargeBinary),
    )


schema_version = Table("probatum_schema", metadata, Column("version", Integer, primary_key=True))

identities = _table("identities", Column("digest", SafeText, nullable=False, unique=True))
"""Digests of models and of environments, so that rows name them by number."""

texts = _by_digest("texts")
"""Long texts of prompts and programs; most are shared."""
requests = _by_digest("requests")
programs = _by_digest("programs")
items = _by_digest("items", Column("cluster", SafeText), Column("stratum", SafeText))

responses = _table(
    "responses",
    _required("model", _Id),
    _required("key", LargeBinary),  # digest of the request, and the sample index as 4 bytes
    _required("body", LargeBinary),
    UniqueConstraint("model", "key"),
)
executions = _table(
    "executions",
    _required("environment", _Id),
    _required("program", LargeBinary),
    _required("status", Text),
    _required("body", LargeBinary),
    UniqueConstraint("environment", "program"),
)
runs = Table(
    "runs",
    metadata,
    Column("id", SafeText, primary_key=True),
    _required("model", SafeText),
    _required("state", Text),
    _required("created", Text),
    _required("updated", Text),
    _required("body", LargeBinary),
)
tasks = _table(
    "tasks", _required("run", SafeText), _required("task", SafeText), UniqueConstraint("run", "task")
)
"""A task of a run, so that its outcomes name both by one number."""

outcomes = _table(
    "outcomes",
    _required("task", _Id),
    _required("position", BigInteger),
    _required("sample", BigInteger),
    _required("item_id", SafeText),
    _required("status", Text),
    _required("item", LargeBinary),  # digest
    _required("requests", LargeBinary),  # which requests, by key
    _required("scores", LargeBinary),  # apart from the body: summarising needs no more
    _required("body", LargeBinary),
    UniqueConstraint("task", "item_id", "sample"),
)
Index("outcomes_in_order", outcomes.c.task, outcomes.c.position, outcomes.c.sample, outcomes.c.id)

"""One transaction that writes, and what this process knows to be written already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Table, select
from sqlalchemy.dialects import postgresql, sqlite

from probatum.core.records import Item, Program, Request
from probatum.store.encoding import pack, pack_text
from probatum.store.prompts import StoredProgram, StoredRequest, Texts
from probatum.store.schema import items, programs, requests, texts

__all__ = ["Memory", "Transaction"]

REMEMBERED: Final = 20_000
"""Digests; of what was written longer ago, the database finds out itself that it has it."""

Row = dict[str, Any]


class Memory:
    """Which shared rows are in the store, and the numbers of models, environments and tasks.

    Nothing is ever deleted, so what was once committed stays true.
    """

    def __init__(self) -> None:
        self._young: set[tuple[str, bytes]] = set()
        self._old: set[tuple[str, bytes]] = set()
        self.numbers: dict[tuple[str, ...], int] = {}

    def __contains__(self, row: tuple[str, bytes]) -> bool:
        return row in self._young or row in self._old

    def learn(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Takes in what was committed; memory is bounded."""
        self._young.update(rows)
        if len(self._young) >= REMEMBERED:
            self._old, self._young = self._young, set()


class Transaction:
    """Writes on one connection; `commit` it through the connection, then call `committed`."""

    def __init__(self, connection: Connection, memory: Memory) -> None:
        self.connection = connection
        self._memory = memory
        self._written: set[tuple[str, bytes]] = set()
        self._numbers: dict[tuple[str, ...], int] = {}

    def committed(self) -> None:
        """What was written is known from now on."""
        self._memory.learn(self._written)
        self._memory.numbers.update(self._numbers)

    def add(self, table: Table, rows: Sequence[Row], order: str) -> int:
        """Writes those rows that are not there yet; returns how many were not.

        In the order of that column: two processes that lock rows in the same order cannot block
        each other, and neighbours in an index are written together.
        """
        rows = sorted(rows, key=lambda row: row[order])
        if not rows:
            return 0
        return self.connection.execute(self._insert(table).on_conflict_do_nothing(), rows).rowcount

    def put(self, table: Table, rows: Sequence[Row], key: Sequence[str]) -> None:
        """Writes rows, in place of those with the same key."""
        statement = self._insert(table)
        changed = {name: statement.excluded[name] for name in rows[0] if name not in key}
        statement = statement.on_conflict_do_update(index_elements=list(key), set_=changed)
        self.connection.execute(statement, list(rows))

    def number(self, table: Table, **names: str) -> int:
        """The number of a model, an environment or a task; a new one where there is none."""
        known = self._memory.numbers.get((table.name, *names.values()))
        if known is not None:
            return known
        self.connection.execute(self._insert(table).on_conflict_do_nothing(), [names])
        number: int = self.connection.execute(select(table.c.id).filter_by(**names)).scalar_one()
        self._numbers[table.name, *names.values()] = number
        return number

    def requests(self, asked: Iterable[Request]) -> None:
        """Keeps requests, and the long texts in them."""
        long: Texts = {}
        rows = {}
        for request in asked:
            digest = bytes.fromhex(request.digest)
            if self._new(requests, digest):
                rows[digest] = {"digest": digest, "body": pack(StoredRequest.of(request, long))}
        self._texts(long)
        self.add(requests, list(rows.values()), "digest")

    def programs(self, executed: Iterable[Program]) -> None:
        """Keeps programs, and the long tests in them."""
        long: Texts = {}
        rows = {}
        for program in executed:
            digest = bytes.fromhex(program.digest)
            if self._new(programs, digest):
                rows[digest] = {"digest": digest, "body": pack(StoredProgram.of(program, long))}
        self._texts(long)
        self.add(programs, list(rows.values()), "digest")

    def items(self, asked: Iterable[Item]) -> None:
        """Keeps items."""
        rows = []
        for item in asked:
            digest = bytes.fromhex(item.digest)
            if self._new(items, digest):
                row = {"digest": digest, "cluster": item.cluster, "stratum": item.stratum, "body": pack(item)}
                rows.append(row)
        self.add(items, rows, "digest")

    def _texts(self, long: Mapping[bytes, str]) -> None:
        rows = [
            {"digest": digest, "body": pack_text(text)}
            for digest, text in long.items()
            if self._new(texts, digest)
        ]
        self.add(texts, rows, "digest")

    def _new(self, table: Table, digest: bytes) -> bool:
        """Whether that row is to be written; asked once, it is from then on taken as written."""
        row = (table.name, digest)
        if row in self._memory or row in self._written:
            return False
        self._written.add(row)
        return True

    def _insert(self, table: Table) -> Any:
        insert = sqlite.insert if self.connection.dialect.name == "sqlite" else postgresql.insert
        return insert(table)

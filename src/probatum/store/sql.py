"""The store on SQLAlchemy Core: SQLite in one file, or PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple, Self, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, func, inspect, select, tuple_

from probatum.core.errors import StoreError, UsageError
from probatum.core.records import Execution, ExecutionStatus, Item, Mark, Outcome, Program, Request, Response
from probatum.core.run import Run, RunState, Sample, TaskRun
from probatum.core.status import Status
from probatum.store.database import READING, Address, connect, parse_address, translated
from probatum.store.encoding import pack, unpack, unpack_text
from probatum.store.prompts import StoredProgram, StoredRequest
from probatum.store.schema import (
    SCHEMA_VERSION,
    executions,
    identities,
    items,
    metadata,
    outcomes,
    programs,
    requests,
    responses,
    runs,
    schema_version,
    tasks,
    texts,
)
from probatum.store.syncing import Syncer
from probatum.store.transaction import Memory, Transaction

__all__ = ["SQLStore"]

T = TypeVar("T")

Graded = tuple[int, Item, tuple[Request, ...], Outcome]
"""Position of the item, the item, what was asked, and the verdict."""

NO_STORE: Final = "`probatum run` makes one, or name another"

KEYS_PER_QUERY: Final = 500
"""Values in one IN (…)."""

LISTED: Final = 10
"""Runs that an error message names."""

MARKS_PER_PAGE: Final = 2000
SAMPLES_PER_PAGE: Final = 100
STATUSES: Final[Mapping[str, Status]] = {status.value: status for status in Status}
DIGESTS_PER_PAGE: Final = 20_000
"""Rows fetched at a time: what streaming keeps in memory."""


ADVISORY_LOCK: Final = 0x70726F62
"""Any number of our own: PostgreSQL locks it while the tables are made."""


class Asked(NamedTuple):
    """How an outcome refers to a request."""

    digest: bytes
    sample: int
    part: int
    item_id: str | None
    """Where it is not the outcome's own."""


class SQLStore:
    """A `Store` in a database; `probatum.store.open_store` makes it.

    Safe to use from several threads: one transaction is written at a time, and reading goes on beside
    it. Several processes may use the same store.
    """

    def __init__(self, address: Address, engine: Engine) -> None:
        self._address = address
        self._writer = engine
        self._reader = engine.execution_options(**{READING: True})
        self._lock = threading.RLock()
        self._memory = Memory()
        self._syncer = Syncer(address.path.with_name(address.path.name + "-wal")) if address.path else None
        self._closed = False

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> SQLStore:
        """See `probatum.store.open_store`."""
        address = parse_address(url)
        if not create and address.path is not None and not address.path.exists():
            raise StoreError(f"there is no store {address.name!r} yet: {NO_STORE}")
        engine = connect(address)
        store = cls(address, engine)
        try:
            with translated(address):
                store._prepare(create=create)
        except BaseException:
            engine.dispose()
            raise
        return store

    @property
    def name(self) -> str:
        """Path or URL, without a password."""
        return self._address.name

    # Responses and executions

    def responses(self, model: str, keys: Sequence[str]) -> dict[str, Response]:
        """Those of `keys` (`Request.key`) that this model (identity digest) has answered."""
        wanted = {_key_bytes(key): key for key in keys}
        with self._reading() as connection:
            found = self._responses(connection, model, wanted)
        return {wanted[key]: response for key, response in found.items()}

    def keep_responses(self, model: str, answered: Sequence[tuple[Request, Response]]) -> dict[str, Response]:
        """Keeps answers; a response that is not `answered` is left out.

        Returns:
            By key, what another process had kept before under the same key, where it differs: that
            stands, and what is given here is not kept.

        Raises:
            ValueError: a response does not name its request.
            StoreError: the database cannot be written; nothing of this call is kept.
        """
        fresh: dict[str, Response] = {}
        asked = []
        for request, response in answered:
            if response.request != request.key:
                raise ValueError(f"a response to {response.request!r} was given as one to {request.key!r}")
            if response.answered:
                asked.append(request)
                fresh[request.key] = response
        if not fresh:
            return {}
        with self._writing() as transaction:
            transaction.requests(asked)
            number = transaction.number(identities, digest=model)
            rows = [
                {"model": number, "key": _key_bytes(key), "body": pack(response, request="")}
                for key, response in fresh.items()
            ]
            written = transaction.add(responses, rows, "key")
        if written == len(rows):
            return {}
        kept = self.responses(model, list(fresh))
        return {key: response for key, response in kept.items() if response != fresh[key]}

    def executions(self, environment: str, programs: Sequence[str]) -> dict[str, Execution]:
        """Those of `programs` (`Program.digest`) that ran in this environment (digest)."""
        wanted = {bytes.fromhex(digest): digest for digest in programs}
        query = select(executions.c.program, executions.c.body)
        with self._reading() as connection:
            query = query.where(executions.c.environment == _number_of(environment))
            found = _fetch(connection, query, executions.c.program, wanted)
        return {
            wanted[digest]: replace(unpack(Execution, body), program=wanted[digest]) for digest, body in found
        }

    def keep_executions(self, environment: str, executed: Sequence[tuple[Program, Execution]]) -> None:
        """Keeps executions with their programs; a `sandbox_error` is left out.

        Raises:
            ValueError: an execution does not name its program.
            StoreError: the database cannot be written; nothing of this call is kept.
        """
        fresh: dict[str, tuple[Program, Execution]] = {}
        for program, execution in executed:
            if execution.program != program.digest:
                raise ValueError(f"an execution of {execution.program!r} was given as of {program.digest!r}")
            if execution.status is not ExecutionStatus.SANDBOX_ERROR:
                fresh[program.digest] = (program, execution)
        if not fresh:
            return
        with self._writing() as transaction:
            transaction.programs(program for program, _ in fresh.values())
            number = transaction.number(identities, digest=environment)
            rows = [
                {
                    "environment": number,
                    "program": bytes.fromhex(digest),
                    "status": execution.status,
                    "body": pack(execution, program=""),
                }
                for digest, (_, execution) in fresh.items()
            ]
            transaction.add(executions, rows, "program")

    def programs(self, digests: Sequence[str]) -> dict[str, Program]:
        """Those of `digests` (`Program.digest`) that were executed, whole."""
        wanted = {bytes.fromhex(digest): digest for digest in digests}
        with self._reading() as connection:
            stored = _by_digest(connection, programs, StoredProgram, wanted)
            long = _texts(connection, (part for program in stored.values() for part in program.long_texts()))
        return {wanted[digest]: program.program(long) for digest, program in stored.items()}

    # Runs

    def open_run(self, run: Run) -> Run:
        """Writes the run down, or returns the one of that id, set to running again.

        Of a run that was there before, `created`, the tasks that are not asked for now, and what is
        known of the others (digest of the requests, summary) stay; options and environment are merged,
        the new ones first.
        """
        with self._writing() as transaction:
            body = transaction.connection.execute(select(runs.c.body).where(runs.c.id == run.id)).scalar()
            opened = replace(run, state=RunState.RUNNING)
            if body is not None:
                opened = _merge(unpack(Run, body), opened)
            _put_run(transaction, opened)
        return opened

    def close_run(self, run: Run) -> None:
        """Writes state, summaries and digests of a run that ended, however it ended."""
        with self._writing() as transaction:
            _put_run(transaction, run)

    def runs(self) -> list[Run]:
        """All runs, newest first."""
        query = select(runs.c.body).order_by(runs.c.created.desc(), runs.c.id)
        with self._reading() as connection:
            return [unpack(Run, body) for (body,) in connection.execute(query)]

    def run(self, prefix: str) -> Run:
        """The run whose id begins so; `latest` is the one last updated.

        Raises:
            UsageError: none, or several.
        """
        query = select(runs.c.id, runs.c.updated).order_by(runs.c.created.desc(), runs.c.id)
        with self._reading() as connection:
            rows = connection.execute(query).all()
            if prefix == "latest":
                found = [row.id for row in sorted(rows, key=lambda row: row.updated)[-1:]]
            else:
                ids = [row.id for row in rows]
                found = [id_ for id_ in ids if id_ == prefix]
                found = found or [id_ for id_ in ids if prefix and id_.startswith(prefix)]
            shown = found or [row.id for row in rows]
            bodies = connection.execute(select(runs.c.body).where(runs.c.id.in_(shown[:LISTED])))
            several = sorted((unpack(Run, body) for (body,) in bodies), key=lambda run: shown.index(run.id))
        if len(found) == 1:
            return several[0]
        if not rows:
            raise UsageError(
                f"no run {prefix!r}: {self.name!r} holds no run yet; start one with `probatum run`"
            )
        if found:
            raise UsageError(
                f"{prefix!r} is the beginning of several runs: {_listed(several, len(found))}; "
                "give more of the id"
            )
        raise UsageError(f"no run {prefix!r} in {self.name!r}; there is: {_listed(several, len(rows))}")

    # Outcomes

    def keep_outcomes(self, run: str, task: str, graded: Sequence[Graded]) -> None:
        """Keeps outcomes with the item, its position and the requests asked; replaces earlier ones.

        Raises:
            StoreError: the database cannot be written; nothing of this call is kept.
        """
        if not graded:
            return
        with self._writing() as transaction:
            transaction.requests(request for _, _, asked, _ in graded for request in asked)
            transaction.items(item for _, item, _, _ in graded)
            number = transaction.number(tasks, run=run, task=task)
            rows = {
                (outcome.item_id, outcome.sample): {
                    "task": number,
                    "position": position,
                    "sample": outcome.sample,
                    "item_id": outcome.item_id,
                    "status": outcome.status,
                    "item": bytes.fromhex(item.digest),
                    "requests": pack([_asked(request, outcome) for request in asked]),
                    "scores": pack(outcome.scores),
                    "body": pack(outcome, item_id="", sample=0, scores={}),
                }
                for position, item, asked, outcome in graded
            }
            in_order = [row for _, row in sorted(rows.items())]
            transaction.put(outcomes, in_order, ("task", "item_id", "sample"))

    def statuses(self, run: str, task: str) -> dict[str, int]:
        """Status → count."""
        query = select(outcomes.c.status, func.count().label("number")).where(
            outcomes.c.task == _task(run, task)
        )
        with self._reading() as connection:
            found = connection.execute(query.group_by(outcomes.c.status).order_by(outcomes.c.status))
            return {row.status: row.number for row in found}

    def marks(self, run: str, task: str) -> Iterator[Mark]:
        """Outcomes as summarising needs them, by position and sample, a page at a time."""
        columns = (outcomes.c.item_id, outcomes.c.status, outcomes.c.scores, items.c.cluster, items.c.stratum)
        query = select(*PLACE, *columns).join(items, items.c.digest == outcomes.c.item)
        for rows in self._pages(query.where(outcomes.c.task == _task(run, task)), MARKS_PER_PAGE):
            read: dict[bytes, dict[str, float]] = {}  # most samples have one of a few scores
            with self._decoding():
                for _, sample, _, item_id, status, scores, cluster, stratum in rows:
                    if (known := read.get(scores)) is None:
                        known = read[scores] = unpack(dict[str, float], scores)
                    yield Mark(item_id, sample, STATUSES[status], known, cluster, stratum)

    def unanswered(self, run: str, task: str) -> list[tuple[str, int]]:
        """Item id and sample of each scored sample of which a response is not kept."""
        query = select(*PLACE, outcomes.c.item_id, outcomes.c.requests, runs.c.model)
        query = query.join(runs, runs.c.id == run).where(outcomes.c.task == _task(run, task))
        query = query.where(outcomes.c.status == Status.SCORED.value)
        lost = []
        for rows in self._pages(query, MARKS_PER_PAGE):
            with self._decoding():
                asked = [[_key(one) for one in unpack(list[Asked], row.requests)] for row in rows]
            with self._reading() as connection:
                kept = select(responses.c.key).where(responses.c.model == _number_of(rows[0].model))
                wanted = {key for keys in asked for key in keys}
                found = {row.key for row in _fetch(connection, kept, responses.c.key, wanted)}
            lost += [
                (row.item_id, row.sample)
                for row, keys in zip(rows, asked, strict=True)
                if not found.issuperset(keys)
            ]
        return lost

    def misnamed(self, run: str, task: str) -> list[tuple[str, str]]:
        """Item id of a sample and that of the item kept with it, of each sample where they differ."""
        query = select(*PLACE, outcomes.c.item_id, items.c.body).join(
            items, items.c.digest == outcomes.c.item
        )
        found = []
        for rows in self._pages(query.where(outcomes.c.task == _task(run, task)), MARKS_PER_PAGE):
            with self._decoding():
                names = [(row.item_id, unpack(Item, row.body).id) for row in rows]
            found += [(one, other) for one, other in names if one != other]
        return found

    def item_digests(self, run: str, task: str) -> dict[str, str]:
        """Item id → digest of the item, in the order of the items."""
        query = select(*PLACE, outcomes.c.item_id, outcomes.c.item)
        pages = self._pages(query.where(outcomes.c.task == _task(run, task)), DIGESTS_PER_PAGE)
        return {row.item_id: row.item.hex() for rows in pages for row in rows}

    def samples(self, run: str, task: str, *, answers: str | None = None) -> Iterator[Sample]:
        """Samples whole, by position and sample, a page at a time.

        `answers` is the digest under which their responses are kept; `None`: that of the run's model.

        Raises:
            UsageError: the store has no such run.
        """
        with self._reading() as connection:
            model = connection.execute(select(runs.c.model).where(runs.c.id == run)).scalar()
        if model is None:
            raise UsageError(f"no run {run!r} in {self.name!r}; `probatum results` lists what there is")
        query = select(outcomes).where(outcomes.c.task == _task(run, task))
        for rows in self._pages(query, SAMPLES_PER_PAGE):
            with self._decoding():
                yield from self._samples(answers or model, task, rows)

    # Underneath

    def close(self) -> None:
        """Brings everything to the disk."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                if self._syncer is not None:
                    with translated(self._address):
                        self._syncer.close()
            finally:
                self._writer.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self, *, create: bool) -> None:
        """Makes the tables, or refuses what is not a store of this schema."""
        version = self._version(self._reader)
        if version is None:
            if not create:
                raise StoreError(f"{self.name!r} holds no store yet: {NO_STORE}")
            if not self._address.writable:
                raise StoreError(f"{self.name!r} is no store yet, and cannot be written; give another store")
            with self._writer.begin() as connection:
                # Two processes may be here at once; the second waits, and finds what the first has made.
                if self._address.path is None:
                    connection.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK)))
                metadata.create_all(connection)
                Transaction(connection, self._memory).add(
                    schema_version, [{"version": SCHEMA_VERSION}], "version"
                )
            return
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"store {self.name!r} has schema {version!r}, and this probatum reads {SCHEMA_VERSION!r}: "
                "upgrade probatum, or give another store"
            )

    def _version(self, engine: Engine) -> int | None:
        with engine.connect() as connection:
            present = set(inspect(connection).get_table_names())
            if schema_version.name in present:
                return connection.execute(select(func.max(schema_version.c.version))).scalar()
        taken = present & set(metadata.tables)
        if taken:
            raise StoreError(
                f"{self.name!r} holds a table {min(taken)!r} of something else: give an empty database"
            )
        return None

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        self._check_open()
        with translated(self._address), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        """A row that somebody changed, or that refers to one that is gone, is told as damage."""
        with translated(self._address):
            try:
                yield
            except (KeyError, IndexError, UnicodeDecodeError) as error:
                raise StoreError(
                    f"store {self.name!r} is damaged: a row cannot be read, or what it refers to is gone "
                    f"({type(error).__name__}); use a copy of it from before"
                ) from error

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        self._check_open()
        with self._lock, translated(self._address):
            with self._writer.begin() as connection:
                transaction = Transaction(connection, self._memory)
                yield transaction
            transaction.committed()
            if self._syncer is not None:
                self._syncer.written()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"store {self.name!r} was closed: open it again")

    def _pages(self, query: Select[Any], size: int) -> Iterator[Sequence[Any]]:
        """Rows in order, `size` at a time.

        Each page is a transaction of its own: memory stays flat, and a slow consumer holds nothing open.
        """
        query = query.order_by(*PLACE).limit(size)
        page = query
        while True:
            with self._reading() as connection:
                rows = connection.execute(page).all()
            if rows:
                yield rows
            if len(rows) < size:
                return
            last = rows[-1]
            page = query.where(tuple_(*PLACE) > tuple_(last.position, last.sample, last.id))

    def _samples(self, model: str, task: str, rows: Sequence[Any]) -> Iterator[Sample]:
        asked = {row.id: unpack(list[Asked], row.requests) for row in rows}
        everything = [one for several in asked.values() for one in several]
        with self._reading() as connection:
            item = _by_digest(connection, items, Item, {row.item for row in rows})
            stored = _by_digest(connection, requests, StoredRequest, {one.digest for one in everything})
            long = _texts(connection, (part for one in stored.values() for part in one.long_texts()))
            keys = {_key(one): f"{one.digest.hex()}:{one.sample}" for one in everything}
            response = self._responses(connection, model, keys)
        for row in rows:
            yield Sample(
                task=task,
                position=row.position,
                item=item[row.item],
                requests=tuple(
                    stored[one.digest].request(long, _item_id(one, row.item_id), one.sample, one.part)
                    for one in asked[row.id]
                ),
                responses=tuple(response.get(_key(one)) for one in asked[row.id]),
                outcome=replace(
                    unpack(Outcome, row.body),
                    item_id=row.item_id,
                    sample=row.sample,
                    scores=unpack(dict[str, float], row.scores),
                ),
            )

    def _responses(
        self, connection: Connection, model: str, wanted: Mapping[bytes, str]
    ) -> dict[bytes, Response]:
        query = select(responses.c.key, responses.c.body).where(responses.c.model == _number_of(model))
        found = _fetch(connection, query, responses.c.key, wanted)
        return {key: replace(unpack(Response, body), request=wanted[key]) for key, body in found}


PLACE: Final = (outcomes.c.position, outcomes.c.sample, outcomes.c.id)
"""The order of outcomes; the number makes it total."""


def _number_of(digest: str) -> Any:
    return select(identities.c.id).where(identities.c.digest == digest).scalar_subquery()


def _task(run: str, task: str) -> Any:
    return select(tasks.c.id).where(tasks.c.run == run, tasks.c.task == task).scalar_subquery()


def _fetch(
    connection: Connection, query: Select[Any], column: ColumnElement[bytes], keys: Iterable[bytes]
) -> list[Any]:
    """Rows of `query` whose column is one of `keys`."""
    wanted = list(keys)
    found: list[Any] = []
    for start in range(0, len(wanted), KEYS_PER_QUERY):
        found += connection.execute(query.where(column.in_(wanted[start : start + KEYS_PER_QUERY]))).all()
    return found


def _by_digest(
    connection: Connection, table: Table, kind: type[T], digests: Iterable[bytes]
) -> dict[bytes, T]:
    found = _fetch(connection, select(table.c.digest, table.c.body), table.c.digest, digests)
    return {digest: unpack(kind, body) for digest, body in found}


def _texts(connection: Connection, digests: Iterable[bytes]) -> dict[bytes, str]:
    found = _fetch(connection, select(texts.c.digest, texts.c.body), texts.c.digest, set(digests))
    return {digest: unpack_text(body) for digest, body in found}


def _key_bytes(key: str) -> bytes:
    """Digest of the request and index of the sample, as `Request.key` has them."""
    digest, _, sample = key.partition(":")
    try:
        return bytes.fromhex(digest) + int(sample).to_bytes(4, "big")
    except (ValueError, OverflowError):
        raise ValueError(f"{key!r} is not the key of a request: give `Request.key`") from None


def _key(asked: Asked) -> bytes:
    return asked.digest + asked.sample.to_bytes(4, "big")


def _asked(request: Request, outcome: Outcome) -> Asked:
    other = None if request.item_id == outcome.item_id else request.item_id
    return Asked(bytes.fromhex(request.digest), request.sample, request.part, other)


def _item_id(asked: Asked, outcome: str) -> str:
    return outcome if asked.item_id is None else asked.item_id


def _put_run(transaction: Transaction, run: Run) -> None:
    row = {
        "id": run.id,
        "model": run.model.digest,
        "state": run.state,
        "created": run.created,
        "updated": run.updated,
        "body": pack(run),
    }
    transaction.put(runs, [row], ("id",))


def _merge(kept: Run, opened: Run) -> Run:
    before = {task.task: task for task in kept.tasks}
    now = tuple(_merge_task(before.pop(task.task, None), task) for task in opened.tasks)
    return replace(
        opened,
        created=kept.created,
        tasks=now + tuple(before.values()),
        options={**kept.options, **opened.options},
        environment={**kept.environment, **opened.environment},
    )


def _merge_task(kept: TaskRun | None, task: TaskRun) -> TaskRun:
    if kept is None or (kept.protocol, kept.items) != (task.protocol, task.items):
        return task
    return replace(
        task,
        requests=task.requests or kept.requests,
        planned=task.planned or kept.planned,
        origin=task.origin or kept.origin,
        summary=task.summary or kept.summary,
    )


def _listed(shown: Sequence[Run], number: int) -> str:
    named = [f"{run.id} ({run.model.name}, {', '.join(task.task for task in run.tasks)})" for run in shown]
    return "; ".join(named) + (f"; and {number - len(shown)} more" if number > len(shown) else "")

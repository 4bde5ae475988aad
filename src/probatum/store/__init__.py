"""The store: responses and executions under their digests, runs and their outcomes.

`open_store` loads the database library when it is called, so that importing this package stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probatum.store.seam import Store

if TYPE_CHECKING:
    from probatum.store.sql import SQLStore

__all__ = ["Store", "open_store"]


def open_store(url: str, *, create: bool = True) -> SQLStore:
    """Opens the store at `url`, and creates it where there is none yet.

    Args:
        url: a path (`results.db`), `sqlite:///relative.db`, `sqlite:////absolute.db`, or
            `postgresql://user@host/database`. `?timeout=SECONDS` says how long to wait for a SQLite
            file that another process is writing to (30 if not said).
        create: whether to make a store where there is none; whoever only reads says `False`.

    Raises:
        UsageError: not such a URL.
        StoreError: there is no such file (`create=False`), or the database cannot be opened, is not a
            store, or is of a newer schema.
    """
    from probatum.store.sql import SQLStore  # noqa: PLC0415 - `import probatum` loads no SQLAlchemy

    return SQLStore.open(url, create=create)

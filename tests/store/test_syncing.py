"""The thread that syncs a store's log: it ends whenever it is told to."""

from __future__ import annotations

import threading

from probatum.store.syncing import Syncer


class Late(threading.Event):
    """Holds its waiter up after a wait that found nothing, until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.go_on = threading.Event(), threading.Event()

    def wait(self, timeout=None):
        found = super().wait(timeout)
        if not found:
            self.reached.set()
            self.go_on.wait(10)
        return found


def test_a_close_between_the_wait_and_the_clearing_is_not_lost(tmp_path):
    syncer = Syncer(tmp_path / "log", interval=0.01)
    closed = Late()
    syncer._closed = closed
    syncer.written()
    assert closed.reached.wait(10)
    closer = threading.Thread(target=syncer.close, daemon=True)
    closer.start()
    while not (closed.is_set() and syncer._dirty.is_set()):
        pass
    closed.go_on.set()
    closer.join(10)
    assert not closer.is_alive()

"""Starts one candidate per execution, as the first process of a pid namespace of its own.

The zygote is a clean, warm interpreter that never sees tests or a program. It clones itself when the keeper
says so, and does nothing else: whatever a process writes between two clones, it has to copy again after
each. `CLONE_PARENT` makes its candidates children of the keeper, which watches and reaps them.
"""

from __future__ import annotations

import _socket
import errno
import gc
import os
import sys
from typing import Any, NoReturn

from probatum.sandbox.inside import OPEN_FILES, candidate, ending, heap, hot, pages, seccomp, syscalls
from probatum.sandbox.inside.output import Outputs

READY = b"ready"
FREE = 3  # the first descriptor after the standard ones: here comes the connection of a candidate
OWN_KERNEL = "gvisor"
OWN = 100  # the zygote's own descriptors begin here
PINNING = 110  # the descriptor that keeps pages pinned; candidates close it


class Zygote:
    """What a process needs to clone itself into candidates, made while there is nothing to hide."""

    def __init__(self, settings: dict[str, Any]) -> None:
        isolation = settings["isolation"]
        flags = 0 if isolation == "unsafe-subprocess" else syscalls.CLONE_NEWPID
        if isolation != OWN_KERNEL:
            flags |= syscalls.CLONE_PARENT
        self.call, self.clone = syscalls.cloning(flags)
        self._drop = syscalls.dropping_capabilities()
        self._work = settings["work"]
        self._wire, self.connection = candidate.coming_wire()
        candidate.rehearse()
        if isolation != OWN_KERNEL:  # it has none to give
            pages.use_huge_pages()
        gc.collect()
        self._filling = heap.fill_holes() if isolation != OWN_KERNEL else []
        gc.freeze()
        gc.disable()
        if isolation != OWN_KERNEL:  # last: it is what all this has become that is moved
            pages.move_data()

    def become(self, out: int, err: int) -> NoReturn:
        """In the clone: waits for a program, whose connection is in place, and runs it."""
        try:
            if self._prepare(out, err):
                candidate.run(self._wire, self._work)
        finally:
            os._exit(125)

    def _prepare(self, out: int, err: int) -> bool:
        """Whether the clone keeps nothing of the zygote: no capability, and its own descriptors alone."""
        if self.call(*self._drop) != 0:
            return False
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(FREE, self.connection)
        os.closerange(self.connection + 1, OPEN_FILES)
        return True

    def pin(self, out: int, err: int) -> int:
        """Pins the pages that two programs write which have little in common; returns how many.

        To be called before there is a filter of system calls.
        """
        try:
            some = self._written(candidate.REHEARSED, out, err)
            both = some & self._written(candidate.PLAIN, out, err)
            call, arguments = syscalls.cloning(0)
            hot.part(lambda: call(*arguments), both)
            return hot.pin(both, PINNING)
        except OSError:  # then each is copied when it is written
            return 0

    def _written(self, source: str, out: int, err: int) -> set[int]:
        """The pages that a candidate with this program writes."""
        call, arguments = syscalls.cloning(0)
        judge, theirs = candidate.rehearsal(source)
        if theirs.fileno() != self.connection:
            raise OSError(errno.EBADF, "the descriptor of candidates is taken")

        def live() -> None:
            if self._prepare(out, err):
                candidate.live(self._wire, self._work)

        try:
            return hot.written(lambda: call(*arguments), live)
        finally:
            judge.close()
            theirs.close()


def start(keeper: _socket.socket, outputs: tuple[Outputs, Outputs], settings: dict[str, Any]) -> None:
    """Becomes the zygote, until the keeper is gone.

    Args:
        keeper: a SEQPACKET socket; each message (one byte, 0 or 1: which outputs) brings one end of a
            candidate's connection, and is answered by the candidate's process id, or by `-errno`.
        outputs: two sets; the waiting candidate has the one that the running does not.
        settings: the worker's.
    """
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, syscalls.SIGKILL)
    keeper, files = _moved(keeper, outputs)
    zygote = Zygote(settings)
    zygote.pin(*files[0])
    seccomp.install()
    keeper.send(READY)
    call, clone, connection = zygote.call, zygote.clone, zygote.connection
    space, flags = _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC
    receive, send, close = keeper.recvmsg, keeper.send, os.close
    while True:
        message = receive(1, space, flags)[0]
        if not message:
            return
        pid = call(*clone)
        if pid == 0:
            zygote.become(*files[message[0]])
        close(connection)
        send(b"%d" % (pid if pid > 0 else -syscalls.error_number()))


class Asked:
    """The zygote as the keeper asks it: a process of its own at the other end of a socket."""

    def __init__(self, channel: _socket.socket) -> None:
        self._channel = channel

    def wait(self) -> None:
        """Until it takes orders."""
        if self._channel.recv(16) != READY:
            os._exit(1)

    def start(self, turn: int, connection: _socket.socket) -> int:
        """The process id of a new candidate, or `-errno`."""
        right = connection.fileno().to_bytes(4, sys.byteorder)
        self._channel.sendmsg([b"%c" % turn], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, right)])
        answer = self._channel.recv(16)
        if not answer:
            os._exit(1)
        return int(answer)


class Within:
    """The zygote in the keeper's own process, where the kernel knows no `CLONE_PARENT` (gVisor)."""

    def __init__(self, outputs: tuple[Outputs, Outputs], settings: dict[str, Any]) -> None:
        self._files = [tuple(stream.file for stream in one.streams) for one in outputs]
        self._zygote = Zygote(settings)

    def start(self, turn: int, connection: _socket.socket) -> int:
        """The process id of a new candidate, or `-errno`."""
        zygote, descriptor = self._zygote, connection.fileno()
        pid = zygote.call(*zygote.clone)
        if pid == 0:
            ending.forget()
            if descriptor != zygote.connection:
                os.dup2(descriptor, zygote.connection, inheritable=False)
            zygote.become(*self._files[turn])
        return pid if pid > 0 else -syscalls.error_number()


def _moved(
    keeper: _socket.socket, outputs: tuple[Outputs, Outputs]
) -> tuple[_socket.socket, tuple[tuple[int, int], ...]]:
    """The keeper's socket, stdout and stderr of both outputs, with the descriptors from `FREE` on free."""
    files = [stream.file for one in outputs for stream in one.streams]
    for place, descriptor in enumerate([keeper.detach(), *files]):
        os.dup2(descriptor, OWN + place, inheritable=False)
    os.closerange(FREE, OWN)
    os.closerange(OWN + 1 + len(files), 1 << 20)
    return _socket.socket(fileno=OWN), ((OWN + 1, OWN + 2), (OWN + 3, OWN + 4))

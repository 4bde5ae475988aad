"""Starts one candidate per execution, as the first process of a pid namespace of its own.

The zygote is a clean, warm interpreter that never sees tests or a program. It clones itself when the keeper
says so, and does nothing else: whatever a process writes between two clones, it has to copy again after
each. `CLONE_PARENT` makes its candidates children of the keeper, which watches and reaps them.
"""

from __future__ import annotations

import _socket
import gc
import os
from typing import Any

from probatum.sandbox.inside import candidate, pages, syscalls
from probatum.sandbox.inside.output import Outputs

FREE = 3  # the first descriptor after the standard ones: here comes the connection of a candidate
OWN = 100  # the zygote's own descriptors begin here


def start(keeper: _socket.socket, outputs: tuple[Outputs, Outputs], settings: dict[str, Any]) -> None:
    """Becomes the zygote, until the keeper is gone.

    Args:
        keeper: a SEQPACKET socket; each message (one byte, 0 or 1: which outputs) brings one end of a
            candidate's connection, and is answered by the candidate's process id, or by `-errno`.
        outputs: two sets; the waiting candidate has the one that the running does not.
        settings: the worker's.
    """
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, syscalls.SIGKILL)
    contained = settings["isolation"] != "unsafe-subprocess"
    call, clone = syscalls.cloning(syscalls.CLONE_PARENT | (syscalls.CLONE_NEWPID if contained else 0))
    drop = syscalls.dropping_capabilities()
    work = settings["work"]
    keeper, files = _moved(keeper, outputs)
    wire, connection = candidate.coming_wire()
    candidate.rehearse()
    pages.use_huge_pages()
    gc.collect()
    syscalls.trim_memory()
    gc.freeze()
    gc.disable()
    space, flags = _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC
    receive, send, close, dup2, close_range = keeper.recvmsg, keeper.send, os.close, os.dup2, os.closerange
    while True:
        message = receive(1, space, flags)[0]
        if not message:
            return
        pid = call(*clone)
        if pid == 0:
            try:
                if call(*drop) == 0:
                    out, err = files[message[0]]
                    dup2(out, 1)
                    dup2(err, 2)
                    close_range(connection + 1, 1 << 20)
                    candidate.run(wire, work)
            finally:
                os._exit(125)
        close(connection)
        send(b"%d" % (pid if pid > 0 else -syscalls.error_number()))


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

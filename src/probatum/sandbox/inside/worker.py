"""The supervisor: first process of a worker's container, which starts the judge and the zygote.

Started by `launch.BOOTSTRAP`; its one argument is a JSON object, its one connection descriptor `fd`.
"""

# pathlib would cost memory in every candidate:
# ruff: noqa: PTH112

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any

from probatum.sandbox.inside import container, execution, judge, limits, seccomp, syscalls, zygote
from probatum.sandbox.inside.frames import GoneError, Wire
from probatum.sandbox.inside.output import Outputs

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/w",
    "TMPDIR": "/w",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
}
JUDGE_MEMORY = 4 << 30  # address space of the judge: hostile results must not take more


def report(host: socket.socket, **message: Any) -> None:
    """Tells the host what happened before there is a judge."""
    with contextlib.suppress(GoneError):
        Wire(host).send(message)


def preload(modules: list[str]) -> None:
    """Imports what many programs import, once."""
    for name in modules:
        with contextlib.suppress(ImportError):
            __import__(name)


def clean_interpreter() -> None:
    """Nothing of the surroundings is left for a candidate to find."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    sys.dont_write_bytecode = True
    sys.argv = [""]
    for name in [name for name in sys.modules if name.partition(".")[0] == "probatum"]:
        del sys.modules[name]
    sys.path[:] = [path for path in sys.path if os.path.isdir(path)]


def serve(host: socket.socket, zygote_channel: socket.socket, outputs: tuple[Outputs, Outputs]) -> None:
    """Becomes the judge, until the host or the zygote is gone."""
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    syscalls.drop_capabilities()
    seccomp.install()
    limits.restrict_judge(JUDGE_MEMORY)
    wire = Wire(host, limit=1 << 28)
    bench = judge.Bench()
    source = execution.Source(zygote_channel, outputs)
    try:
        source.fill()
        wire.send({"ready": True})
        while True:
            wire.send(execution.execute(bench, source, wire.receive()))
    except GoneError:
        return
    except Exception:  # noqa: BLE001 - told to the host, which starts another worker
        report(host, crashed=traceback.format_exc()[-4000:])


def supervise(host: socket.socket, zygote_channel: socket.socket, children: list[int], files: int) -> None:
    """Replaces the work directory when asked; ends when anyone is gone, and everything ends with it."""
    poll = select.poll()
    poll.register(host.fileno(), select.POLLRDHUP | select.POLLHUP)
    poll.register(zygote_channel.fileno(), select.POLLIN)
    for child in children:
        poll.register(os.pidfd_open(child), select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != zygote_channel.fileno() or not zygote_channel.recv(16):
                os._exit(0)
            container.replace_work(files)
            zygote_channel.send(b"done")


def main(settings: dict[str, Any]) -> None:
    """Runs until the host is gone."""
    host = socket.socket(fileno=settings["fd"])
    preload(settings["preload"])
    try:
        if settings["isolation"] == "namespaces":
            container.enter(container.interpreter_paths() + settings["paths"])
        container.mount_work(settings["file_bytes"])
    except OSError as error:
        report(host, failed=str(error), errno=error.errno)
        os._exit(3)
    clean_interpreter()
    syscalls.drop_bounding_set()
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    size = settings["output_bytes"]
    outputs = (Outputs(size), Outputs(size))
    for_judge, of_zygote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for_zygote, of_supervisor = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    judge_pid = os.fork()
    if judge_pid == 0:
        for one in (of_zygote, for_zygote, of_supervisor):
            one.close()
        serve(host, for_judge, outputs)
        os._exit(0)
    zygote_pid = os.fork()
    if zygote_pid == 0:
        host.close()
        for_judge.close()
        of_supervisor.close()
        zygote.start(of_zygote, for_zygote, judge_pid, outputs)
        os._exit(0)
    for one in (for_judge, of_zygote, for_zygote):
        one.close()
    supervise(host, of_supervisor, [judge_pid, zygote_pid], settings["file_bytes"])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

"""The supervisor: first process of a worker's container, which starts the judge and the zygote.

Started by `launch.BOOTSTRAP`; its one argument is a JSON object, its one connection descriptor `fd`.
"""

# pathlib would cost memory in every candidate:
# ruff: noqa: PTH100, PTH112, PTH120, PTH123, PTH208

from __future__ import annotations

import _socket
import contextlib
import gc
import json
import os
import sys
import types
from typing import Any

from probatum.sandbox.inside import JUDGE_DIGITS, JUDGE_MEMORY, container, pages, seccomp, syscalls, zygote
from probatum.sandbox.inside.ending import Ending
from probatum.sandbox.inside.frames import GoneError, Wire
from probatum.sandbox.inside.output import Outputs

PACKAGE = "probatum.sandbox.inside"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONINTMAXSTRDIGITS": "0",  # programs print long integers; their CPU limit holds
}
ROOMS = ("namespaces", "podman", "docker")  # where the worker builds its own
STANDARD = 3  # descriptors below it will be those of /dev/null


def report(host: _socket.socket, **message: Any) -> None:
    """Tells the host what happened before there is a judge."""
    with contextlib.suppress(GoneError):
        Wire(host).send(message)


def preload(modules: list[str]) -> None:
    """Imports what many programs import, once."""
    for name in modules:
        with contextlib.suppress(ImportError):
            __import__(name)


def forget_modules() -> None:
    """Programs find none of our modules."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "probatum"]:
        del sys.modules[name]


def clean_interpreter(work: str) -> None:
    """Nothing of the surroundings is left for a candidate to find."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    os.environ.update({"HOME": work, "TMPDIR": work})
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    sys.dont_write_bytecode = True
    sys.argv = [""]
    sys.path[:] = [path for path in sys.path if os.path.isdir(path)]


def read(*names: str) -> dict[str, str]:
    """Modules as text: those of the judge and the keeper are loaded after the zygote has gone its own way."""
    folder = os.path.dirname(os.path.abspath(__file__))
    found = {}
    for name in names:
        with open(f"{folder}/{name}.py", encoding="utf-8") as file:
            found[name] = file.read()
    return found


def load(sources: dict[str, str]) -> dict[str, types.ModuleType]:
    """Modules from their text, by name; each needs only those before it."""
    loaded = {}
    for name, source in sources.items():
        module = types.ModuleType(f"{PACKAGE}.{name}")
        module.__package__ = PACKAGE
        sys.modules[module.__name__] = module
        setattr(sys.modules[PACKAGE], name, module)
        loaded[name] = module
        exec(compile(source, f"<{name}>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    return loaded


def serve(
    host: _socket.socket,
    zygote_channel: _socket.socket,
    outputs: tuple[Outputs, Outputs],
    sources: dict[str, str],
) -> None:
    """Becomes the judge, until the host or the zygote is gone."""
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, syscalls.SIGKILL)
    syscalls.drop_capabilities()
    seccomp.install()
    sys.set_int_max_str_digits(JUDGE_DIGITS)
    wire = Wire(host, limit=1 << 28)
    try:
        loaded = load(sources)
        loaded["limits"].restrict_judge(JUDGE_MEMORY)
        execution = loaded["execution"]
        bench = execution.Bench()
        source = execution.Source(zygote_channel, outputs)
        source.fill()
        gc.freeze()  # what is here for good need not be looked through again and again
        wire.send({"ready": True})
        while True:
            wire.send(execution.execute(bench, source, wire.receive()))
    except GoneError:
        return
    except Exception:  # noqa: BLE001 - told to the host, which starts another worker
        import traceback  # noqa: PLC0415 - it would cost memory in every candidate

        report(host, crashed=traceback.format_exc()[-4000:])


def keep(
    channels: tuple[_socket.socket, _socket.socket],
    judge_pid: int,
    outputs: tuple[Outputs, Outputs],
    settings: dict[str, Any],
    sources: dict[str, str],
) -> None:
    """Becomes the keeper (`channels`: to judge and supervisor) until the judge is gone; starts the zygote."""
    judge, supervisor = channels
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, syscalls.SIGKILL)
    for entrance in settings["group"]:
        os.write(entrance, b"0")
        os.close(entrance)
    if settings["isolation"] == "unsafe-subprocess":  # in a pid namespace orphans are its first process's
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()}
    if settings["isolation"] == zygote.OWN_KERNEL:
        seccomp.install()
        source: zygote.Asked | zygote.Within = zygote.Within(outputs, settings)
        zygote_pid = os.getpid()
    else:
        for_zygote, of_keeper = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        zygote_pid = os.fork()
        if zygote_pid == 0:
            sources.clear()
            forget_modules()
            for one in (judge, supervisor, of_keeper):
                one.close()
            zygote.start(for_zygote, outputs, settings)
            os._exit(0)
        for_zygote.close()
        syscalls.drop_capabilities()
        seccomp.install()
        source = zygote.Asked(of_keeper)
    try:
        loaded = load(sources)
        if isinstance(source, zygote.Asked):
            source.wait()
        linux = settings["isolation"] != zygote.OWN_KERNEL
        loaded["limits"].restrict_zygote(zygote_pid, linux=linux)
        keeper = loaded["keeper"]
        channels = keeper.Channels(judge, supervisor, source)
        keeper.Keeper(channels, judge_pid, settings, frozenset({*others, zygote_pid})).serve()
    except Exception:  # noqa: BLE001 - told to the judge, who tells the host
        import traceback  # noqa: PLC0415 - it would cost memory in every candidate

        judge.send(b"crashed " + traceback.format_exc()[-4000:].encode("utf-8", "replace"))


def supervise(
    host: _socket.socket, zygote_channel: _socket.socket, children: list[int], settings: dict[str, Any]
) -> None:
    """Replaces the work directory when asked; ends when anyone is gone, and everything ends with it."""
    wanted = {host.fileno(): syscalls.POLLRDHUP | syscalls.POLLHUP, zygote_channel.fileno(): syscalls.POLLIN}
    endings = [Ending(child) for child in children]
    wanted |= {ending.descriptor: syscalls.POLLIN for ending in endings}
    poll = syscalls.Poll(wanted)
    while not any(ending.came() for ending in endings):
        for descriptor in poll(-1):
            if descriptor in {ending.descriptor for ending in endings}:
                continue
            if descriptor != zygote_channel.fileno() or not zygote_channel.recv(16):
                os._exit(0)
            if settings["isolation"] == "unsafe-subprocess":
                container.empty(settings["work"])
            else:
                container.replace_work(settings["file_bytes"])
            zygote_channel.send(b"done")
    os._exit(0)


def show_paths(modules: list[str]) -> None:
    """Prints what an interpreter with these modules needs to see, as JSON."""
    preload(modules)
    sys.stdout.write(json.dumps(container.interpreter_paths()))


def isolate(host: _socket.socket, settings: dict[str, Any]) -> None:
    """Moves into a container, or tells the host why that cannot be, and ends."""
    try:
        if settings["isolation"] in ROOMS:
            container.enter([*container.interpreter_paths(), *settings["paths"]])
        if settings["isolation"] != "unsafe-subprocess":
            container.mount_work(settings["file_bytes"])
        if settings["isolation"] == zygote.OWN_KERNEL:  # some mounts come unasked
            container.cover_foreign_mounts()
    except OSError as error:
        report(host, failed=str(error), errno=error.errno)
        os._exit(3)


def meet(settings: dict[str, Any]) -> _socket.socket:
    """The connection to the host: inherited, or made where nothing can be."""
    if settings["address"] is None:
        return _socket.socket(fileno=os.dup(settings["fd"]) if settings["fd"] < STANDARD else settings["fd"])
    host = _socket.socket(_socket.AF_UNIX)
    host.connect(settings["address"])
    host.sendall(settings.pop("password").encode("ascii"))
    return host


def main(settings: dict[str, Any]) -> None:
    """Runs until the host is gone."""
    host = meet(settings)
    if settings["processor"] is not None:
        with contextlib.suppress(OSError):  # it may have been taken from us meanwhile
            os.sched_setaffinity(0, {settings["processor"]})
    preload(settings["preload"])
    if settings["isolation"] != zygote.OWN_KERNEL:  # its mappings are another matter
        pages.join_mappings()
    of_judge, of_keeper = read("limits", "judge", "execution"), read("limits", "watch", "keeper")
    isolate(host, settings)
    clean_interpreter(settings["work"])
    syscalls.drop_bounding_set()
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    size = settings["output_bytes"]
    outputs = (Outputs(size), Outputs(size))
    for_judge, to_judge = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    to_supervisor, of_supervisor = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    judge_pid = os.fork()
    if judge_pid == 0:
        for entrance in settings["group"]:
            os.close(entrance)
        for one in (to_judge, to_supervisor, of_supervisor):
            one.close()
        serve(host, for_judge, outputs, of_judge)
        os._exit(0)
    del of_judge
    keeper_pid = os.fork()
    if keeper_pid == 0:
        host.close()
        for_judge.close()
        of_supervisor.close()
        keep((to_judge, to_supervisor), judge_pid, outputs, settings, of_keeper)
        os._exit(0)
    for one in (for_judge, to_judge, to_supervisor):
        one.close()
    for entrance in settings["group"]:
        os.close(entrance)
    supervise(host, of_supervisor, [judge_pid, keeper_pid], settings)

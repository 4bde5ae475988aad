"""One program's process: limits itself while there is nothing to hide, says that it is ready, and waits."""

from __future__ import annotations

import _socket
import contextlib
import math
import os
import resource
import sys
import time
from typing import Any, Final

from probatum.sandbox.inside import OPEN_FILES, candidate
from probatum.sandbox.inside.frames import Wire

SAME_FOR_ALL: Final = {"RLIMIT_NOFILE": OPEN_FILES, "RLIMIT_CORE": 0, "RLIMIT_MEMLOCK": 0}
CONNECTION: Final = 3  # the first after the standard descriptors, as on Linux
NOT_OURS: Final = "RLIMIT_NPROC"  # it would count all processes of the user


def restrict(wanted: dict[str, int]) -> None:
    """Sets limits for good. Those that a system does not know or refuses are left out: macOS refuses some.

    Args:
        wanted: name of a limit in the module `resource`, and its value; CPU time counts from now.
    """
    spent = math.ceil(time.process_time())
    for name, value in (SAME_FOR_ALL | wanted).items():
        kind = getattr(resource, name, None)
        if kind is None or name == NOT_OURS:
            continue
        soft = value + spent if name == "RLIMIT_CPU" else value
        hard = soft + 1 if name == "RLIMIT_CPU" else soft
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (soft, hard))


def start(preload: list[str]) -> None:
    """What judge and candidate do first: import what many need, close stdin, search directories only."""
    for name in preload:
        with contextlib.suppress(ImportError):
            __import__(name)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    sys.argv = [""]
    sys.path[:] = [path for path in sys.path if os.path.isdir(path)]  # noqa: PTH112 - pathlib is not loaded


def main(settings: dict[str, Any]) -> None:
    """Runs one program and ends; what it used until it was ready, in seconds, is what it says first."""
    start(settings["preload"])
    ready: int = settings["ready"]
    if ready == CONNECTION:
        ready = os.dup(ready)
    if settings["wire"] != CONNECTION:
        os.dup2(settings["wire"], CONNECTION, inheritable=False)
        os.close(settings["wire"])
    wire = Wire(_socket.socket(fileno=CONNECTION))
    restrict(settings["limits"])
    for name in [name for name in sys.modules if name.partition(".")[0] == "probatum"]:
        del sys.modules[name]
    os.write(ready, repr(time.process_time()).encode())
    os.close(ready)
    try:
        candidate.run(wire, settings["work"])
    finally:
        os._exit(125)

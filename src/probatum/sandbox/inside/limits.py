"""Resource limits: what the kernel holds each process of an execution to. `watch` adds those of all together.

Set from outside, before a program is there: the kernel lets nobody raise them again.
"""

from __future__ import annotations

import math
import resource
from typing import Any, Final

from probatum.sandbox.inside import OPEN_FILES

OWN_PROCESSES: Final = 9  # supervisor, judge, keeper, zygote, candidates: they count against the same user
STACK: Final = 8 << 20

Values = dict[str, int]
"""Name of a limit in the module `resource`, and its value."""


def values(limits: dict[str, Any]) -> Values:
    """The limits of one process under a program's limits; its children have the same, each for itself."""
    return {
        "RLIMIT_AS": limits["memory_bytes"],
        "RLIMIT_FSIZE": limits["file_bytes"],
        "RLIMIT_NPROC": limits["processes"] + OWN_PROCESSES,
        "RLIMIT_CPU": math.ceil(limits["cpu_seconds"]) + 1,
    }


def restrict(pid: int, wanted: Values, *, contained: bool) -> None:
    """Sets limits of process `pid`; at that of CPU time it is told, and a second later killed."""
    for name, value in wanted.items():
        if name != "RLIMIT_NPROC" or contained:  # else it would count all processes of the user
            hard = value + 1 if name == "RLIMIT_CPU" else value
            resource.prlimit(pid, getattr(resource, name), (value, hard))


def restrict_judge(memory: int) -> None:
    """The judge reads what hostile code sends: it may not take the machine's memory for that."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def restrict_zygote(pid: int, *, linux: bool) -> None:
    """Limits that are the same for all executions: every candidate has them from the zygote.

    `linux` is false in gVisor's kernel, which knows some of them only.
    """
    for kind, value in (
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_RTPRIO, 0),
        (resource.RLIMIT_SIGPENDING, 256),
    ):
        try:
            resource.prlimit(pid, kind, (value, value))
        except PermissionError:
            if linux:
                raise
    hard = resource.prlimit(pid, resource.RLIMIT_STACK)[1]
    stack = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    resource.prlimit(pid, resource.RLIMIT_STACK, (stack, hard))

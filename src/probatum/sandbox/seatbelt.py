"""macOS: judge and candidates under Seatbelt, which `sandbox-exec` loads. A weak rung, and told as such.

The profile denies all that it does not name: a candidate reads the interpreter's files and the system's
libraries, writes below its work directory, executes nothing but the interpreter, starts no process, signals
none, asks for nothing of other processes, and has no network. What Seatbelt cannot do is in `NOT_ENFORCED`.

**Never run on a macOS machine by us.** The worker behind it is run on Linux (with a `sandbox-exec` that
holds nothing), the profile is checked as text, and the self-test (`weak`) decides on the user's machine:
where a check that must hold does not, the rung is refused.

The language has no published reference. What is used here is in profiles that others have published
(Chromium's and Firefox's renderers, Nix's and Bazel's builds): the last rule that fits decides; operations
with `*` stand for a family; paths are matched after symbolic links are resolved; some operations
(`process-info*`, `sysctl-read`, `file-map-executable`) are not covered by `(deny default)` everywhere, and
are denied by name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = [
    "NOT_ENFORCED",
    "PROGRAM",
    "SEATBELT",
    "Interpreter",
    "ProfileError",
    "commands",
    "profile",
    "quoted",
]

SEATBELT: Final = "seatbelt"
PROGRAM: Final = "sandbox-exec"
NOT_ENFORCED: Final = (
    "memory is limited by looking at it: a process that has more than it may is killed a little later",
    "idleness is time without work: macOS does not tell how long a process waited for a processor",
    "files are limited one by one, and all together by looking at them",
    "the system's own files can be read, and names of directories above what may be read can be seen",
    "a process that left its process group would be ended by nobody: Seatbelt lets no program start one",
)
"""What macOS does not hold, as `probatum doctor` tells it beside the checks that failed."""

_LINKER_RULES: Final = Path("/System/Library/Sandbox/Profiles/dyld-support.sb")
"""Apple's own rules for starting a program, where this version of macOS has them as a file of their own."""
_SYSTEM_CODE: Final = (
    "/usr/lib",
    "/System/Library",
    "/System/Cryptexes/OS",
    "/System/Volumes/Preboot/Cryptexes/OS",
    "/private/var/db/dyld",
)
_SYSTEM_DATA: Final = (
    "/usr/share/zoneinfo",
    "/usr/share/zoneinfo.default",
    "/private/var/db/timezone",
    "/usr/share/locale",
    "/usr/share/icu",
)
_LINKS: Final = ("/etc", "/tmp", "/var", "/private/etc", "/private/etc/localtime")  # noqa: S108 - to be followed
_DEVICES: Final = ("/dev/null", "/dev/random", "/dev/urandom", "/dev/zero")
_FACTS: Final = (
    "hw.activecpu", "hw.byteorder", "hw.cachelinesize", "hw.cputype", "hw.logicalcpu", "hw.logicalcpu_max",
    "hw.machine", "hw.memsize", "hw.ncpu", "hw.pagesize", "hw.pagesize_compat", "hw.physicalcpu",
    "hw.physicalcpu_max", "kern.argmax", "kern.bootargs", "kern.hostname", "kern.iossupportversion",
    "kern.maxfilesperproc", "kern.osproductversion", "kern.osrelease", "kern.ostype", "kern.osvariant_status",
    "kern.osversion", "kern.secure_kernel", "kern.usrstack64", "kern.version", "sysctl.proc_cputype",
)  # fmt: skip
"""What a program may ask of the kernel, by name: among the others are the arguments and the environment of
every process of the user (`kern.procargs2`)."""
_WRITES: Final = (
    "file-write-create", "file-write-data", "file-write-unlink", "file-write-mode", "file-write-times",
)  # fmt: skip
"""Not `file-write*`: flags would make files that nobody can remove, and links may lead out."""


_MOST_STEPS: Final = 400  # directories and links on the way to one path; links may lead in a circle


class ProfileError(Exception):
    """No profile can be written; says why in one line."""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """What one interpreter needs."""

    programs: tuple[str, ...]
    """It starts as the first; some start as a small program which becomes another."""
    folders: tuple[str, ...]
    """Directories of modules."""
    files: tuple[str, ...]
    """Files of code: shared libraries."""

    @classmethod
    def of(cls, python: str, seen: Mapping[str, object]) -> Interpreter:
        """From what one tells about itself (`inside.portable.seen`).

        Args:
            python: its path.
            seen: `folders`, `files`, and `program`, which it says that it is.
        """
        programs = [python, str(seen["program"]), *_framework(python)]
        folders, files = seen["folders"], seen["files"]
        if not (isinstance(folders, list) and isinstance(files, list)):
            raise ProfileError(f"an interpreter that tells {folders!r} and {files!r}")
        return cls(
            programs=tuple(dict.fromkeys(programs)),
            folders=tuple(map(str, folders)),
            files=tuple(map(str, files)),
        )


def _framework(python: str) -> list[str]:
    """In a framework, `bin/python3` starts the program of an application bundle in its own place."""
    inside = Path(os.path.realpath(python)).parent.parent / "Resources/Python.app/Contents/MacOS/Python"
    return [str(inside)] if inside.exists() else []


def quoted(path: str) -> str:
    """A path as a string of the profile's language.

    Raises:
        ProfileError: it has characters that the language's strings cannot hold for certain.
    """
    if not path.isprintable():
        raise ProfileError(
            f"the path {path!r} cannot stand in a Seatbelt profile: use one of printable characters"
        )
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _with_links(paths: Iterable[str]) -> list[str]:
    """Paths as they are written, and as they are when symbolic links are resolved."""
    return sorted({one for path in paths for one in (path, os.path.realpath(path))})


def passed_on_the_way(path: str) -> list[str]:
    """Directories and symbolic links that the kernel goes through to reach a path, itself included."""
    found: list[str] = []
    waiting = [path]
    while waiting and len(found) < _MOST_STEPS:
        whole = Path(waiting.pop())
        for step in (*reversed(whole.parents), whole):
            found.append(str(step))
            if step.is_symlink():
                target = os.path.normpath(step.parent / step.readlink())
                waiting.append(str(Path(target) / whole.relative_to(step)))
                break
    return found


def _rule(what: str, kind: str, paths: Iterable[str]) -> str:
    places = "".join(f"\n  ({kind} {quoted(path)})" for path in paths)
    return f"(allow {what}{places})" if places else ""


def _beside(programs: Sequence[str]) -> list[str]:
    """Files that an interpreter looks for near its program when it starts."""
    found = []
    for program in programs:
        folder = Path(program).parent
        found += [
            str(folder / "pyvenv.cfg"),
            str(folder.parent / "pyvenv.cfg"),
            str(folder / "pybuilddir.txt"),
        ]
    return found


def profile(interpreter: Interpreter, package: str, work: str | None) -> str:
    """The rules for one process.

    Args:
        interpreter: what runs.
        package: directory of our own modules that run inside.
        work: the one directory below which may be written, as its real path; `None`: nowhere.

    Raises:
        ProfileError: a path cannot be written down.
    """
    programs = _with_links(interpreter.programs)
    code = _with_links((*_SYSTEM_CODE, *interpreter.folders))
    files = _with_links(interpreter.files)
    data = _with_links((*_SYSTEM_DATA, package))
    # what looks for our modules lists the directory above theirs
    literals = _with_links((*_beside(programs), *_DEVICES, *_LINKS, str(Path(package).parent)))
    reached = (*programs, *code, *files, *data, *literals, *([] if work is None else [work]))
    above = sorted({step for path in reached for step in passed_on_the_way(os.path.normpath(path))})
    rules = [
        "(version 1)",
        "(deny default)",
        "(deny network*)",
        "(deny process-fork)",
        "(deny process-exec*)",
        "(deny process-info*)",
        "(deny sysctl-read)",
        "(deny signal)",
        "(deny mach-lookup)",
        "(deny file-write*)",
        f'(import "{_LINKER_RULES.name}")' if _LINKER_RULES.exists() else "",
        "(allow process-info* (target self))",
        "(allow signal (target self))",
        "(allow sysctl-read" + "".join(f"\n  (sysctl-name {quoted(name)})" for name in _FACTS) + ")",
        _rule("process-exec", "literal", programs),
        _rule("file-read* file-map-executable", "literal", (*programs, *files)),
        _rule("file-read* file-map-executable", "subpath", code),
        _rule("file-read*", "subpath", data),
        _rule("file-read*", "literal", ("/", *literals)),
        _rule("file-read-metadata", "literal", above),
        _rule("file-write-data", "literal", ("/dev/null",)),
    ]
    if work is not None:
        inside = f"(require-all (subpath {quoted(work)}) (require-not (literal {quoted(work)})))"
        rules += [_rule("file-read*", "subpath", (work,)), f"(allow {' '.join(_WRITES)}\n  {inside})"]
    return "\n".join(rule for rule in rules if rule) + "\n"


def commands(interpreter: Interpreter, package: str, work: str, start: Sequence[str]) -> dict[str, list[str]]:
    """What starts a judge, which writes nowhere, and a candidate.

    Args:
        interpreter: what runs.
        package: directory of our own modules that run inside.
        work: directory below which a candidate may write.
        start: command line of the interpreter.

    Raises:
        ProfileError: there is no `sandbox-exec`, or a path cannot be written down.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise ProfileError(f"no program {PROGRAM!r}")
    return {
        role: [program, "-p", profile(interpreter, package, place), *start]
        for role, place in (("judge", None), ("candidate", work))
    }

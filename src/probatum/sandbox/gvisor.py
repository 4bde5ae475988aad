"""gVisor: the same worker inside a kernel of its own, which `runsc` runs as an ordinary program.

A program that exploits a flaw of Linux meets another kernel first. It costs speed: a start takes half a
second, and system calls are slow. The bundle is a directory as the OCI runtime specification describes it:
`config.json`, and a root directory of empty places to mount over.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["COMMAND", "Bundle", "configuration"]

USER: Final = 1000  # inside; limits of processes do not hold for 0
CAPABILITIES: Final = ("CAP_SYS_ADMIN", "CAP_SETPCAP")
"""To start each program in a pid namespace, to mount its work directory, and to give up both for good; no
program has any."""
COMMAND: Final = """import os
length, text = int.from_bytes(os.read(0, 4), "little"), b""
while len(text) < length: text += os.read(0, length - len(text))
exec(text)"""
"""What the worker's interpreter does first: stdin is its connection, and brings its program in one frame."""
_PLACES: Final = ("dev", "proc", "w")


def configuration(
    paths: Iterable[str], interpreter: Sequence[str], environment: Mapping[str, str]
) -> dict[str, Any]:
    """`config.json` of a bundle: no network, a read-only root, two capabilities.

    Args:
        paths: files and directories of this machine to show at the same place, read-only.
        interpreter: command line of the worker.
        environment: of the worker.
    """
    shown = [
        {"destination": path, "type": "bind", "source": path, "options": ["bind", "ro", "nosuid", "nodev"]}
        for path in sorted(set(paths))
    ]
    return {
        "ociVersion": "1.0.2",
        "hostname": "sandbox",
        "process": {
            "terminal": False,
            "user": {"uid": USER, "gid": USER},
            "args": list(interpreter),
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": "/",
            "capabilities": {
                kind: list(CAPABILITIES) for kind in ("bounding", "effective", "inheritable", "permitted")
            },
        },
        "root": {"path": "root", "readonly": True},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            *shown,
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }


@dataclass(frozen=True)
class Bundle:
    """One worker's bundle on the disk, with the state that `runsc` keeps of it."""

    folder: Path

    @classmethod
    def write(
        cls,
        paths: Iterable[str],
        links: Mapping[str, str],
        interpreter: Sequence[str],
        environment: Mapping[str, str],
    ) -> Bundle:
        """Makes it in a temporary directory. `links` are symbolic links of the root directory."""
        bundle = cls(Path(tempfile.mkdtemp(prefix="probatum-gvisor-")))
        root = bundle.folder / "root"
        for name in _PLACES:
            (root / name).mkdir(parents=True)
        for name, target in {**links, "/tmp": "/w"}.items():  # noqa: S108 - a link into the work directory
            if not any(path.startswith(f"{name}/") for path in paths):
                (root / name.lstrip("/")).symlink_to(target)
        for path in paths:
            place = root / path.lstrip("/")
            if Path(path).is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        text = json.dumps(configuration(paths, interpreter, environment))
        (bundle.folder / "config.json").write_text(text, encoding="utf-8")
        return bundle

    def _runsc(self) -> list[str]:
        start = [shutil.which("runsc") or "runsc", f"--root={self.folder / 'state'}"]
        return [*start, "--network=none", "--ignore-cgroups", *([] if os.geteuid() == 0 else ["--rootless"])]

    def command(self) -> list[str]:
        """What starts the worker."""
        return [*self._runsc(), "run", f"--bundle={self.folder}", self.folder.name]

    def remove(self) -> None:
        """Ends the worker, if it runs, and removes all that is left of it."""
        if (self.folder / "state").exists():
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(  # noqa: S603 - the program that was found
                    [*self._runsc(), "delete", "--force", self.folder.name],
                    capture_output=True,
                    check=False,
                    timeout=30,
                )
        shutil.rmtree(self.folder, ignore_errors=True)

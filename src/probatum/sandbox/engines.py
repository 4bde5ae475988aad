"""Container engines: the same worker, started by podman or docker.

For machines where an ordinary process may make no namespaces and an engine may. The container shows what the
worker's own room would show, read-only, and has no network; inside it the worker goes into namespaces as it
does without an engine, so that each program is held by the same means.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import os
import secrets
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["ENGINES", "EngineError", "Meeting", "command", "end", "prepare"]

ENGINES: Final = ("podman", "docker")
IMAGE: Final = "probatum-sandbox:1"
"""Empty directories to mount over, and the links of the system's libraries: the number rises with them."""
MEETING: Final = "/probatum"
"""Where the container sees the directory of the socket."""
DIRECTORIES: Final = ("dev", "etc", "mnt", "probatum", "proc", "root", "sys", "tmp", "usr", "var")
CAPABILITIES: Final = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "SYS_CHROOT", "DAC_OVERRIDE", "SYS_PTRACE")
"""Of the container's root, to build the room; no program has any."""
PREPARE_SECONDS: Final = 120.0
_LINKS: Final = ("lib", "lib64", "lib32")


class EngineError(Exception):
    """The engine cannot be used; says why in one line."""


def command(engine: str, paths: Iterable[str], meeting: Path, interpreter: Sequence[str]) -> list[str]:
    """What starts a worker in a container.

    Args:
        engine: `podman` or `docker`.
        paths: files and directories of this machine to show at the same place, read-only.
        meeting: directory of the socket that the worker connects to.
        interpreter: command line of the worker; its program comes by stdin.
    """
    confinement = "unmask=ALL" if engine == "podman" else "systempaths=unconfined"
    arguments = [
        shutil.which(engine) or engine, "run", "--rm", "--interactive", "--pull", "never",
        "--network", "none", "--read-only", "--hostname", "sandbox", "--workdir", "/",
        "--name", meeting.name,
        "--ulimit", _ulimit("nofile", 1024), "--ulimit", _ulimit("nproc", 4096), "--cap-drop", "ALL",
        # the worker sets a filter of its own; these would forbid the namespaces that it makes
        "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
        "--security-opt", "label=disable", "--security-opt", confinement,
    ]  # fmt: skip
    for capability in CAPABILITIES:
        arguments += ["--cap-add", capability]
    for path in sorted(set(paths)):
        arguments += ["--volume", f"{path}:{path}:ro"]
    arguments += ["--volume", f"{meeting}:{MEETING}:ro"]
    return [*arguments, IMAGE if engine == "docker" else f"localhost/{IMAGE}", *interpreter]


def _ulimit(name: str, value: int) -> str:
    """A limit that this process may give: engines otherwise ask for their own, and may be refused."""
    import resource  # noqa: PLC0415 - not on Windows, where this module can be imported all the same

    hard = resource.getrlimit(resource.RLIMIT_NPROC if name == "nproc" else resource.RLIMIT_NOFILE)[1]
    least = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return f"{name}={least}:{least}"


def image() -> bytes:
    """The image as a tar archive: no file in it, since all that a worker needs is mounted."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in DIRECTORIES:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name in _LINKS:
            if (Path("/") / name).is_symlink():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, str((Path("/") / name).readlink())
                archive.addfile(entry)
    return buffer.getvalue()


def prepare(engine: str) -> None:
    """Makes the image where the engine has it not; a few kilobytes, without a network.

    Raises:
        EngineError: there is no such engine, or it refuses.
    """
    program = shutil.which(engine)
    if program is None:
        raise EngineError(f"no program {engine!r}")
    known = _run([program, "image", "inspect", IMAGE if engine == "docker" else f"localhost/{IMAGE}"])
    if known.returncode == 0:
        return
    made = _run([program, "import", "-", IMAGE], image())
    if made.returncode:
        words = made.stderr.decode("utf-8", "replace").strip().splitlines()
        raise EngineError(words[-1][:300] if words else f"{engine} ended with {made.returncode}")


def end(engine: str, meeting: Path) -> None:
    """Ends a container whose worker does not end by itself."""
    with contextlib.suppress(EngineError):
        _run([shutil.which(engine) or engine, "rm", "--force", meeting.name])


def _run(arguments: list[str], given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - the engine that was found
            arguments,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            check=False,
            timeout=PREPARE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{arguments[0]}: {error}") from None


@dataclass
class Meeting:
    """A socket in a directory of its own, where a worker that inherits no descriptor connects.

    Who does not know the password, which the worker gets by its stdin, is not heard.
    """

    folder: Path
    listener: socket.socket
    password: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)

    @classmethod
    def open(cls) -> Meeting:
        """Waits for nobody yet."""
        folder = Path(tempfile.mkdtemp(prefix="probatum-meeting-"))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(folder / "socket"))
        os.chmod(folder, 0o711)  # noqa: S103, PTH101 - the container's root may be nobody outside
        os.chmod(folder / "socket", 0o666)  # noqa: S103, PTH101 - as above
        listener.listen(8)
        return cls(folder, listener)

    @property
    def address(self) -> str:
        """The socket, as the container sees it."""
        return f"{MEETING}/socket"

    def accept(self, process: subprocess.Popen[bytes], seconds: float) -> socket.socket:
        """The worker's connection.

        Raises:
            EngineError: the process ended, or nobody came in time.
        """
        self.listener.settimeout(0.2)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                connection, _ = self.listener.accept()
            except TimeoutError:
                if process.poll() is not None:
                    raise EngineError(_last_line(process)) from None
                continue
            if self._is_known(connection):
                return connection
            connection.close()
        raise EngineError(f"no worker came within {seconds:.0f} seconds")

    def _is_known(self, connection: socket.socket) -> bool:
        """Whether the other side says the password, at once."""
        connection.settimeout(1.0)
        said = b""
        with contextlib.suppress(OSError):
            while len(said) < len(self.password) and (
                more := connection.recv(len(self.password) - len(said))
            ):
                said += more
        connection.settimeout(None)
        return hmac.compare_digest(said, self.password.encode())

    def close(self) -> None:
        """Nobody can connect any more."""
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _last_line(process: subprocess.Popen[bytes]) -> str:
    text = b"" if process.stderr is None else process.stderr.read(1 << 16)
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else f"the engine ended with status {process.returncode}"

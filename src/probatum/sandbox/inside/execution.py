"""One execution as the judge's process sees it: a waiting candidate, a verdict, and what was used."""

from __future__ import annotations

import _socket
import json
import os
import signal
import sys
from typing import Any, Final, Protocol

from probatum.sandbox.inside.frames import GoneError, ProtocolViolationError, TooLargeError, Wire
from probatum.sandbox.inside.judge import Bench, ProgramRun, Session, Verdict, failure, judged
from probatum.sandbox.inside.limits import Values, values

MAX_MESSAGE: Final = 1 << 16
LEAVES_BY_ITSELF: Final = frozenset(
    {"passed", "no_calls", "assertion_failed", "exception", "syntax_error", "gone"}
)
"""After these the candidate is not killed: it finds its connection closed, writes out what it printed, and
ends. If it does not, its limits end it."""

FLOODS: Final = frozenset({"passed", "no_calls", "assertion_failed", "exit_called"})
"""These become `output_limit` where more was written than may be; what tells more of the end stays: a write
that fails because the limit is reached is an exception of the program's, unless it is caught."""


class CrashedError(Exception):
    """The zygote failed; says how."""


class Outputs(Protocol):
    """stdout and stderr of one candidate: `output.Outputs`, or files (`portable.spool`)."""

    def take(self) -> tuple[bytes, bytes]:
        """What was written to each, which leaves them empty."""
        ...


class Channel(Protocol):
    """Messages to and from the keeper: a SEQPACKET socket, or what stands in for one (`portable.channel`)."""

    def recvmsg(self, size: int, ancillary: int, /) -> tuple[bytes, list[tuple[int, int, bytes]], int, Any]:
        """One message, and the descriptors that came with it."""
        ...

    def send(self, message: bytes, /) -> int:
        """One message."""
        ...


class Source:
    """The judge's end of the zygote: gives candidates that wait, and tells how they ended."""

    def __init__(self, channel: Channel, outputs: tuple[Outputs, Outputs]) -> None:
        self._channel, self._outputs = channel, outputs
        self._waiting: tuple[Wire, Outputs] | None = None
        self._limits: Values | None = None

    def fill(self) -> dict[str, Any] | None:
        """Takes one message: a candidate that waits, or (returned) how the running one ended.

        Raises:
            GoneError: the zygote is gone.
        """
        message, rights, _, _ = self._channel.recvmsg(MAX_MESSAGE, _socket.CMSG_SPACE(4))
        if not message:
            raise GoneError
        if message[:1] != b"w":
            return _parsed(message)
        if self._waiting is not None:
            self._waiting[0].close()
        wire = Wire(_socket.socket(fileno=int.from_bytes(rights[0][2], sys.byteorder)))
        self._waiting = (wire, self._outputs[int(message[1:])])
        return None

    def begin(self, limits: dict[str, Any]) -> tuple[Wire, Outputs]:
        """Starts the waiting candidate's clock; it still waits for its program."""
        wanted = values(limits)
        if wanted != self._limits:  # the one that waits has those of the program before
            self._limits = wanted
            self._channel.send(b"limits " + json.dumps(wanted).encode())
            self.fill()
        if self._waiting is None:
            raise GoneError
        chosen = self._waiting
        self._waiting = None
        words = limits["cpu_seconds"], limits["wall_seconds"], limits["memory_bytes"]
        self._channel.send(" ".join(map(repr, words)).encode())
        return chosen

    def kill(self) -> None:
        """Has the running candidate killed."""
        self._channel.send(b"kill")

    def ended(self) -> dict[str, Any]:
        """Waits until the running candidate is dead and its traces are gone."""
        while True:
            found = self.fill()
            if found is not None:
                return found


def _parsed(message: bytes) -> dict[str, Any]:
    """The zygote's words on how an execution ended (see `Zygote._report`)."""
    if message.startswith(b"crashed"):
        raise CrashedError(message.decode("utf-8", "replace"))
    status, killed, cpu, wall, resident = message.decode("ascii").split()
    return {
        "status": int(status),
        "killed": killed,
        "cpu_seconds": float(cpu),
        "wall_seconds": float(wall),
        "peak_rss_bytes": int(resident),
    }


class Spent:
    """What the processes of one execution used, all together."""

    def __init__(self) -> None:
        self.cpu_seconds = self.wall_seconds = 0.0
        self.peak_rss_bytes = 0
        self.stdout = self.stderr = b""
        self.last = (b"", b"")
        """What the last process wrote to stdout and stderr, whole."""

    def add(self, ended: dict[str, Any], out: bytes, err: bytes, limit: int) -> None:
        """Counts one process; keeps the first `limit` bytes of all that was written."""
        self.cpu_seconds += ended["cpu_seconds"]
        self.wall_seconds += ended["wall_seconds"]
        self.peak_rss_bytes = max(self.peak_rss_bytes, ended["peak_rss_bytes"])
        self.last = (out, err)
        self.stdout = (self.stdout + out)[:limit]
        self.stderr = (self.stderr + err)[:limit]

    def answer(self, nonce: str, verdict: Verdict) -> dict[str, Any]:
        """What the host is told."""
        return {
            "nonce": nonce,
            "verdict": verdict,
            "cpu_seconds": self.cpu_seconds,
            "wall_seconds": self.wall_seconds,
            "peak_rss_bytes": self.peak_rss_bytes,
            "stdout": _text(self.stdout),
            "stderr": _text(self.stderr),
        }


def execute(bench: Bench, source: Source, order: dict[str, Any]) -> dict[str, Any]:
    """Runs one program; the answer goes to the host as it is."""
    spent = Spent()
    if order["mode"] == "split" and not order["entry_points"]:
        verdict = _whole(bench, source, order, spent)
    else:
        verdict = _functions(bench, source, order, spent)
    return spent.answer(order["nonce"], verdict)


def _functions(bench: Bench, source: Source, order: dict[str, Any], spent: Spent) -> Verdict:
    """One process, whose functions the tests call (or which runs the tests itself: joint mode)."""
    wire, outputs = source.begin(order["limits"])
    verdict = judged(bench, wire, order)
    if verdict["status"] == "passed" and wire.pending():
        verdict = {"status": "protocol_violation", "message": "more was sent than was asked"}
    wire.close()
    if verdict["status"] not in LEAVES_BY_ITSELF:
        source.kill()
    return _reaped(source, outputs, verdict, order["limits"], spent)


def _reaped(
    source: Source, outputs: Outputs, verdict: Verdict, limits: dict[str, Any], spent: Spent
) -> Verdict:
    """Waits for the end of the process; the verdict, corrected by what the zygote saw."""
    ended = source.ended()
    out, err = outputs.take()
    limit = limits["output_bytes"]
    spent.add(ended, out, err, limit)
    verdict = _final(verdict, ended)
    if verdict["status"] in FLOODS and len(out) + len(err) >= limit:
        verdict.update(status="output_limit", detail=None)
    return verdict


def _whole(bench: Bench, source: Source, order: dict[str, Any], spent: Spent) -> Verdict:
    """A process for each run of the program that the tests ask for; they read what it wrote."""
    session = Session(None)

    def run(text: str, arguments: list[str]) -> ProgramRun:
        wire, outputs = source.begin(order["limits"])
        verdict = _one_run(wire, order, text, arguments)
        wire.close()
        verdict = _reaped(source, outputs, verdict, order["limits"], spent)
        if verdict["status"] != "exit_called":
            session.end(verdict)
        stdout, stderr = map(_text, spent.last)
        return ProgramRun(stdout, stderr, int(verdict["detail"]))

    try:
        verdict = bench.whole(order, run, session)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = f"the tests cannot be used: {type(error).__name__}: {error}"
        return {"status": "sandbox_error", "detail": "tests", "message": message[:2000]}
    verdict["calls"] = session.calls
    return verdict


def _one_run(wire: Wire, order: dict[str, Any], text: str, arguments: list[str]) -> Verdict:
    """One run of a whole program: `gone` when its process ended by itself, as it should."""
    try:
        wire.send(
            {
                "code": order["code"],
                "mode": "program",
                "input": text,
                "arguments": arguments,
            }
        )
        said = wire.receive()
        described = said.get("syntax", said.get("e")) if type(said) is dict else None
        verdict = failure(described)
        if verdict["status"] == "exception" and type(said) is dict and "syntax" in said:
            verdict["status"] = "syntax_error"
    except GoneError:
        return {"status": "gone"}
    except TooLargeError as error:
        return {"status": "sandbox_error", "detail": "size", "message": f"an input of {error}"}
    except ProtocolViolationError as error:
        return {"status": "protocol_violation", "message": str(error)[:2000]}
    return verdict


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _final(verdict: Verdict, ended: dict[str, Any]) -> Verdict:
    """What the judge saw, corrected by what the zygote saw."""
    killed = ended["killed"]
    if killed in {"cpu", "idle", "wall"}:
        return {"status": "timeout", "detail": killed}
    if killed == "memory" and verdict["status"] != "memory_limit":
        return {"status": "memory_limit"}
    if verdict["status"] != "gone":
        return verdict
    code = os.waitstatus_to_exitcode(ended["status"])
    if code == -signal.SIGXCPU:
        return {"status": "timeout", "detail": "cpu"}
    if code < 0:
        return {"status": "killed_by_signal", "detail": str(-code)}
    return {"status": "exit_called", "detail": str(code)}

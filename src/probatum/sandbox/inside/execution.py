"""One execution as the judge's process sees it: a waiting candidate, a verdict, and what was used."""

from __future__ import annotations

import _socket
import json
import os
import signal
import sys
from typing import Any, Final

from probatum.sandbox.inside.frames import GoneError, Wire
from probatum.sandbox.inside.judge import Bench, Verdict, judged
from probatum.sandbox.inside.output import Outputs

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


class Source:
    """The judge's end of the zygote: gives candidates that wait, and tells how they ended."""

    def __init__(self, channel: _socket.socket, outputs: tuple[Outputs, Outputs]) -> None:
        self._channel, self._outputs = channel, outputs
        self._waiting: tuple[Wire, Outputs] | None = None

    def fill(self) -> dict[str, Any] | None:
        """Takes one message: a candidate that waits, or (returned) how the running one ended.

        Raises:
            GoneError: the zygote is gone.
        """
        message, rights, _, _ = self._channel.recvmsg(MAX_MESSAGE, _socket.CMSG_SPACE(4))
        if not message:
            raise GoneError
        if message[:1] != b"w":
            return dict(json.loads(message))
        if self._waiting is not None:
            self._waiting[0].close()
        wire = Wire(_socket.socket(fileno=int.from_bytes(rights[0][2], sys.byteorder)))
        self._waiting = (wire, self._outputs[int(message[1:])])
        return None

    def begin(self, limits: dict[str, Any]) -> tuple[Wire, Outputs]:
        """Starts the waiting candidate's clock; it still waits for its program."""
        if self._waiting is None:
            raise GoneError
        chosen = self._waiting
        self._waiting = None
        self._channel.send(json.dumps(limits).encode())
        return chosen

    def kill(self) -> None:
        """Has the running candidate killed."""
        self._channel.send(b"kill")

    def ended(self) -> dict[str, Any]:
        """Waits until the running candidate is dead and its traces are gone."""
        while True:
            found = self.fill()
            if found is not None:
                if "crashed" in found:
                    raise CrashedError(found["crashed"])
                return found


def execute(bench: Bench, source: Source, order: dict[str, Any]) -> dict[str, Any]:
    """Runs one program; the answer goes to the host as it is."""
    limits = order["limits"]
    wire, outputs = source.begin(limits)
    verdict = judged(bench, wire, order)
    if verdict["status"] != "gone" and wire.pending() and verdict["status"] == "passed":
        verdict = {"status": "protocol_violation", "message": "more was sent than was asked"}
    wire.close()
    if verdict["status"] not in LEAVES_BY_ITSELF:
        source.kill()
    ended = source.ended()
    out, err = outputs.take()
    verdict = _final(verdict, ended)
    if verdict["status"] in FLOODS and len(out) + len(err) >= limits["output_bytes"]:
        verdict.update(status="output_limit", detail=None)
    return {
        "nonce": order["nonce"],
        "verdict": verdict,
        "cpu_seconds": ended["cpu_seconds"],
        "wall_seconds": ended["wall_seconds"],
        "peak_rss_bytes": ended["peak_rss_bytes"],
        "stdout": _text(out, limits["output_bytes"]),
        "stderr": _text(err, limits["output_bytes"]),
    }


def _text(raw: bytes, limit: int) -> str:
    return raw[:limit].decode("utf-8", "backslashreplace")


def _final(verdict: Verdict, ended: dict[str, Any]) -> Verdict:
    """What the judge saw, corrected by what the zygote saw."""
    killed = ended["killed"]
    if killed in {"cpu", "idle", "wall"}:
        return {"status": "timeout", "detail": killed}
    if killed == "memory" or (ended["memory"] and verdict["status"] == "gone"):
        return {"status": "memory_limit"}
    if verdict["status"] != "gone":
        return verdict
    code = os.waitstatus_to_exitcode(ended["status"])
    if code == -signal.SIGXCPU:
        return {"status": "timeout", "detail": "cpu"}
    if code < 0:
        return {"status": "killed_by_signal", "detail": str(-code)}
    return {"status": "exit_called", "detail": str(code)}

"""The judge's process: that of Linux, started by the keeper."""

from __future__ import annotations

import _socket
import contextlib
import gc
import resource
import signal
import sys
import traceback
from typing import Any

from probatum.sandbox.inside import JUDGE_DIGITS, JUDGE_MEMORY
from probatum.sandbox.inside.execution import CrashedError, Source, execute
from probatum.sandbox.inside.frames import GoneError, Wire
from probatum.sandbox.inside.judge import Bench
from probatum.sandbox.inside.portable.candidate import start
from probatum.sandbox.inside.portable.channel import Channel
from probatum.sandbox.inside.portable.spool import Spools


def main(settings: dict[str, Any]) -> None:
    """Judges until the host or the keeper is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for the host, whose terminal sends it to all
    wire = Wire(_socket.socket(fileno=settings["host"]), limit=1 << 28)
    try:
        start(settings["preload"])
        sys.set_int_max_str_digits(JUDGE_DIGITS)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):  # macOS refuses it
            resource.setrlimit(resource.RLIMIT_AS, (JUDGE_MEMORY, JUDGE_MEMORY))
        first, second = (Spools((out, err), settings["output_bytes"]) for out, err in settings["spools"])
        bench = Bench()
        source = Source(Channel(_socket.socket(fileno=settings["keeper"])), (first, second))
        try:
            source.fill()
        except CrashedError as error:
            wire.send({"failed": str(error).removeprefix("crashed ")})
            return
        gc.freeze()
        wire.send({"ready": True})
        while True:
            wire.send(execute(bench, source, wire.receive()))
    except GoneError:
        return
    except Exception:  # noqa: BLE001 - told to the host, which starts another worker
        with contextlib.suppress(GoneError):
            wire.send({"crashed": traceback.format_exc()[-4000:]})

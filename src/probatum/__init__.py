"""probatum evaluates language models so that every number can be defended.

    import probatum as pb
    run = pb.evaluate("mini", model="llamacpp/gemma-3-270m")
    run.estimates            # tuple[Estimate, ...]
    run.samples()            # pyarrow.Table, one row a sample

Names are imported when they are first used: `import probatum` loads neither numpy nor a backend.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from probatum.core.errors import ProbatumError

if TYPE_CHECKING:
    from probatum.core.protocol import Protocol, Source, Task
    from probatum.core.records import Estimate, Item, Outcome, Request, Response
    from probatum.core.status import Status
    from probatum.runner import EvaluatedRun, evaluate, load_run
    from probatum.runner.comparing import Comparison, Gate, compare, gate

__all__ = [
    "Comparison",
    "Estimate",
    "EvaluatedRun",
    "Gate",
    "Item",
    "Outcome",
    "ProbatumError",
    "Protocol",
    "Request",
    "Response",
    "Source",
    "Status",
    "Task",
    "compare",
    "evaluate",
    "gate",
    "load_run",
]

_HOMES: Final = {
    "Comparison": "runner.comparing",
    "Estimate": "core.records",
    "EvaluatedRun": "runner",
    "Gate": "runner.comparing",
    "Item": "core.records",
    "Outcome": "core.records",
    "Protocol": "core.protocol",
    "Request": "core.records",
    "Response": "core.records",
    "Source": "core.protocol",
    "Status": "core.status",
    "Task": "core.protocol",
    "compare": "runner.comparing",
    "evaluate": "runner",
    "gate": "runner.comparing",
    "load_run": "runner",
}
_PACKAGES: Final = ("benchmarks", "extraction", "models", "prompting", "sandbox", "scoring", "stats", "store")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"probatum.{_HOMES[name]}"), name)
    if name in _PACKAGES:
        return importlib.import_module(f"probatum.{name}")
    raise AttributeError(f"module 'probatum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})

"""Outputs of programs, compared."""

from __future__ import annotations

from probatum.scoring.stdio import OutputRules, compare_output
from tests.cases.frame import Given, NotMappedError, operation


@operation("compare_stdout")
def compare_stdout(given: Given) -> bool:
    kind, _, tolerance = given.get("mode", "").partition(" ")
    if kind == "":
        rules = OutputRules()
    elif kind in ("unordered", "multiset", "any"):
        rules = OutputRules(order="any")
    elif kind in ("tokens", "token"):
        rules = OutputRules(layout="words")
    elif kind == "float":
        rules = OutputRules(
            layout="words", numbers="value", absolute=tolerance or "0", relative=tolerance or "0"
        )
    elif kind in ("lines", "words", "stream", "exact"):
        rules = OutputRules(layout=kind)
    else:
        raise NotMappedError(f"mode {given['mode']!r}")
    return compare_output(given["pred"], given["gold"], rules).equal

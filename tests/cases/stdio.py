"""Outputs of programs, compared."""

from __future__ import annotations

from probatum.scoring.stdio import OutputRules, compare_output
from tests.cases.frame import Given, NotMappedError, operation


@operation("compare_stdout")
def compare_stdout(given: Given) -> bool:
    kind, _, detail = str(given.get("mode") or "").partition(" ")
    absolute = str(given.get("atol", given.get("abs_tol", given.get("tolerance", ""))))
    relative = str(given.get("rtol", given.get("rel_tol", given.get("tolerance", ""))))
    if detail or absolute or relative:
        number, _, side = detail.partition(" ")
        absolute = absolute or (number if side.strip("()") not in ("rel", "relative") else "0")
        relative = relative or (number if side.strip("()") not in ("abs", "absolute") else "0")
        kind = kind or "float"
    if kind in ("", "strict", "default"):
        rules = OutputRules()
    elif kind in ("integer", "integers", "int"):
        rules = OutputRules(layout="words")
    elif kind in ("unordered", "multiset", "any", "any_order"):
        rules = OutputRules(order="any")
    elif kind in ("tokens", "token"):
        rules = OutputRules(layout="words")
    elif kind in ("float", "floats", "tolerance"):
        rules = OutputRules(
            layout="words", numbers="value", absolute=absolute or "0", relative=relative or "0"
        )
    elif kind in ("lines", "words", "stream", "exact"):
        rules = OutputRules(layout=kind)
    else:
        raise NotMappedError(f"mode {given['mode']!r}")
    return compare_output(given["pred"], given["gold"], rules).equal

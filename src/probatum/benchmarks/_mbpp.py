"""What MBPP's editions have in common: from a problem to an item."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from probatum.core.records import Item
from probatum.extraction.python_source import parse


def problem(number: int, text: str, code: str, assertions: Sequence[str], setup: str) -> Item:
    """The item of a problem, in either edition. Lines of the set end in CRLF here and there."""
    solution, setup = code.replace("\r\n", "\n"), setup.replace("\r\n", "\n").strip()
    test = "\n".join((*([setup] if setup else []), *assertions))
    _, classes = defined(solution)
    return Item(
        id=f"Mbpp/{number}",
        fields={
            "text": text.strip(),
            "assertions": "\n".join(assertions),
            "test": test,
            "entry_point": tested(solution, test),
            "canonical_solution": solution,
            # an object of a class that the candidate defines cannot be taken out of its process
            "mode": "joint" if classes.intersection(names(test)) else "split",
        },
    )


def tree(code: str) -> ast.Module:
    """The program, parsed.

    Raises:
        ValueError: it is no Python.
    """
    source = parse(code)  # without the warnings of `"\w"`, which several references have
    if source is None:
        raise ValueError(f"{code[:80]!r} does not parse")
    return source.tree


def defined(code: str) -> tuple[set[str], set[str]]:
    """Functions and classes that a program defines at its top."""
    body = tree(code).body
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    return functions, {node.name for node in body if isinstance(node, ast.ClassDef)}


def names(code: str) -> Iterator[str]:
    """Names that a program uses, in the order of its lines."""
    found = (node for node in ast.walk(tree(code)) if isinstance(node, ast.Name))
    yield from (node.id for node in sorted(found, key=lambda node: (node.lineno, node.col_offset)))


def tested(code: str, test: str) -> str:
    """The function of a program that tests call first: the set does not name it."""
    functions, _ = defined(code)
    return next((name for name in names(test) if name in functions), "")

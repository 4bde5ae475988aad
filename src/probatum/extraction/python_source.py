"""Python source as text: does it parse, what does it define, which names does it need."""

from __future__ import annotations

import ast
import builtins
import threading
import warnings
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Source", "parse"]

_LOCK = threading.Lock()
"""Warnings of the parser (`"\\d"` in a candidate) are not ours to show; silencing is process-wide."""

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


@dataclass(frozen=True)
class Source:
    """Source that parses."""

    text: str
    tree: ast.Module

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names that the module binds at its top, those behind `if` and `try` included."""
        return frozenset(name for node in _top(self.tree.body) for name in _bound(node))

    def statement(self, number: int) -> str:
        """Source lines of one statement at the top, its decorators included."""
        node = self.tree.body[number]
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        return "\n".join(self.lines[first - 1 : node.end_lineno])

    def names(self, number: int) -> list[str]:
        """Names that one statement at the top binds."""
        return _bound(self.tree.body[number])

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the source."""
        return self.text.split("\n")

    @cached_property
    def owners(self) -> dict[str, str]:
        """Method → class at the top that has it; the last one, where several have."""
        return {
            inner.name: node.name
            for node in self.tree.body
            if isinstance(node, ast.ClassDef)
            for inner in node.body
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
        }

    @cached_property
    def needed(self) -> frozenset[str]:
        """Names that are read somewhere and bound nowhere: they must come from elsewhere."""
        read: set[str] = set()
        bound: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name):
                (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            else:
                bound.update(_bound(node))
        return frozenset(read - bound - _BUILTINS)

    @property
    def returns(self) -> bool:
        """Whether a `return` or `yield` stands outside of every function: the body of one."""
        return any(_leaves(node) for node in self.tree.body)

    @property
    def substantial(self) -> bool:
        """Whether it is code rather than prose that happens to parse (`Done`, `Note: it works`)."""
        return any(_is_code(node) for node in self.tree.body)

    @property
    def only_tests(self) -> bool:
        """Whether there is nothing but assertions, and what is imported for them."""
        kinds = {type(node) for node in self.tree.body}
        return ast.Assert in kinds and kinds <= {ast.Assert, ast.Import, ast.ImportFrom}

    def writes(self, name: str) -> bool:
        """Whether it defines the name other than by importing it (`from solution import f` in a test)."""
        imports = (ast.Import, ast.ImportFrom)
        written = (node for node in _top(self.tree.body) if not isinstance(node, imports))
        return name in self.owners or any(name in _bound(node) for node in written)

    def defines(self, name: str) -> bool:
        """Whether `name` is bound at the top, or is a method of a class there (`Solution`)."""
        return name in self.defined or name in self.owners


def parse(text: str) -> Source | None:
    """The text as a module; `None` where it is none, however it fails."""
    try:
        with _LOCK, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # UnicodeEncodeError of a lone surrogate is a ValueError
    return Source(text, tree)


def _top(body: list[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    stack = list(reversed(body))
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            inner = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
            for handler in getattr(node, "handlers", []):
                inner += handler.body
            stack += reversed(inner)
    return found


def _bound(node: ast.AST) -> list[str]:
    """Names that one statement binds where it stands."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    return []


def _leaves(node: ast.AST) -> bool:
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack += ast.iter_child_nodes(each)
    return False


def _is_code(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Await, ast.Yield))
    return not (isinstance(node, ast.AnnAssign) and node.value is None)

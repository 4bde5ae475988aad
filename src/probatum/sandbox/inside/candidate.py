"""What runs in the candidate's process: loads the program and answers calls.

Everything here shares its memory with hostile code, so that nothing it says is believed: the judge takes
from it failures, and plain data to compare. It only has to work for honest programs, also for those that
replace built-in functions: this module was compiled against a copy of `builtins` (see `worker.load`).
"""

from __future__ import annotations

import _socket
import os
import sys
import types
from _sitebuiltins import Quitter
from collections.abc import Callable
from typing import Any, Final, NoReturn

from probatum.sandbox.inside import frames
from probatum.sandbox.inside.frames import GoneError, Peer, TooLargeError, Wire

MESSAGE: Final = 2000  # characters kept of an exception's text
DEEP: Final = 6000  # recursion limit while values are written, whatever the program has set
NAME: Final = "candidate"  # not "__main__": guarded blocks do not run where functions are tested

_ENDS: Final = {name: Quitter(name, "Ctrl-D (i.e. EOF)") for name in ("exit", "quit")}
"""`site`, which is not loaded, gives them to every ordinary program."""
vars(sys.modules["builtins"]).update(_ENDS)
globals()["__builtins__"].update(_ENDS)  # those that programs are executed with
_BUILTINS: Final = dict(vars(sys.modules["builtins"]))
_exit: Callable[[int], NoReturn] = os._exit
_set_limit, _get_limit = sys.setrecursionlimit, sys.getrecursionlimit
_stdout, _stderr = sys.stdout, sys.stderr
_MUTABLE: Final = (list, dict, set, bytearray)


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as data: names, built-in bases and bounded text. May never return: `str` is theirs."""
    kind = type(error)
    bases = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"]
    if isinstance(error, SystemExit):
        code = error.code
        return {"exit": code if type(code) is int else 0 if code is None else 1}
    try:
        text = "".join(str.__iter__(str(error)[:MESSAGE]))
    except Exception:  # noqa: BLE001 - an exception whose text cannot be had is still that exception
        text = "<its text cannot be told>"
    return {"type": str(kind.__name__)[:100], "bases": bases[:20], "text": text}


class _Remote:
    """A callable of the tests."""

    def __init__(self, side: Candidate, number: int) -> None:
        self._side, self._number = side, number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._side.ask({"k": self._number}, args, kwargs)


class _RemoteIterator:
    """An iterator of the tests."""

    def __init__(self, side: Candidate, number: int) -> None:
        self._side, self._number = side, number

    def __iter__(self) -> _RemoteIterator:
        return self

    def __next__(self) -> Any:
        found = self._side.ask({"g": self._number}, (), {})
        if not found:
            raise StopIteration
        return found[0]


class Candidate(Peer):
    """The program's side of the wire."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._kept: list[Any] = []
        self._names: dict[str, Any] = {}

    # what crosses

    def remember(self, kind: str, value: Any) -> int | None:  # noqa: ARG002 - same number space
        """Keeps a callable or an iterator that the tests may use."""
        self._kept.append(value)
        return len(self._kept) - 1

    def reach(self, kind: str, number: int) -> Any:
        """Stands for a callable or an iterator of the tests."""
        return _Remote(self, number) if kind == "call" else _RemoteIterator(self, number)

    def find(self, module: str, name: str) -> Any:
        """A function of the standard library that the tests passed."""
        __import__(module)
        found = sys.modules[module]
        for part in name.split("."):
            found = getattr(found, part)
        return found

    # the conversation

    def ask(self, head: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls back into the tests."""
        head["a"] = [frames.encode(arg, self) for arg in args]
        head["w"] = {key: frames.encode(value, self) for key, value in kwargs.items()}
        self._send(head)
        answer = self._serve_until_answer()
        if "e" in answer:
            raise frames.exception(answer["e"])
        return frames.decode(answer["r"], self)

    def _serve_until_answer(self) -> dict[str, Any]:
        while True:
            frame = self._wire.receive()
            if "r" in frame or "e" in frame:
                return dict(frame)
            self._handle(frame)

    def _send(self, frame: Any) -> None:
        limit = _get_limit()
        _set_limit(DEEP)
        try:
            self._wire.send(frame)
        except TooLargeError:
            self._wire.send({"large": True})
        finally:
            _set_limit(limit)

    def _handle(self, frame: dict[str, Any]) -> None:
        try:
            answer = self._answer(frame)
        except GoneError:
            raise
        except TooLargeError:
            answer = {"large": True}
        except BaseException as error:  # noqa: BLE001 - data, for the judge
            answer = {"e": describe(error)}
        self._send(answer)

    def _answer(self, frame: dict[str, Any]) -> dict[str, Any]:
        if "g" in frame:
            return self._next(self._kept[frame["g"]], frame["n"])
        target = frame["f"]
        function = self._kept[target] if type(target) is int else self._names[target]
        args = [frames.decode(value, self) for value in frame["a"]]
        named = frame["w"]
        if named:
            named = {key: frames.decode(value, self) for key, value in named.items()}
        result = function(*args, **named)
        limit = _get_limit()
        _set_limit(DEEP)
        try:
            answer = {"r": frames.encode(result, self)}
            changed = []
            for place, before in enumerate(frame["a"]):
                value = args[place]
                if type(value) in _MUTABLE and (now := frames.encode(value, self)) != before:
                    changed.append([place, now])
        finally:
            _set_limit(limit)
        if changed:
            answer["m"] = changed
        return answer

    def _next(self, iterator: Any, count: int) -> dict[str, Any]:
        found: list[Any] = []
        for _ in range(count):
            try:
                found.append(frames.encode(next(iterator), self))
            except StopIteration:
                return {"r": found, "end": True}
        return {"r": found}

    def serve(self, namespace: dict[str, Any], wanted: list[str], optional: list[str]) -> None:
        """Says which names there are, then answers calls until the judge has no more."""
        kinds: dict[str, Any] = {}
        for name in [*wanted, *optional]:
            if name in namespace:
                value = namespace[name]
                self._names[name] = value
                if isinstance(value, types.ModuleType):
                    kinds[name] = {"module": str(value.__name__)}
                elif callable(value):
                    kinds[name] = {"call": True}
                else:
                    kinds[name] = {"value": frames.encode(value, self)}
        self._send({"ready": kinds})
        while True:
            try:
                frame = self._wire.receive()
            except GoneError:
                return
            self._handle(frame)


def compiled(source: str) -> types.CodeType:
    """The program's code.

    Raises:
        SyntaxError: or one of its kin, `ValueError` (null bytes), `RecursionError`, `OverflowError`.
    """
    return compile(source, "<candidate>", "exec", dont_inherit=True)


def fresh_module(name: str) -> dict[str, Any]:
    """The namespace of a new module that can be imported by its name."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module.__dict__


def coming_wire() -> tuple[Wire, int]:
    """The wire of candidates that are yet to come, and its descriptor: the lowest free one, closed till then.

    Made before any of them, so that none has to make it.
    """
    ours, other = _socket.socketpair()
    other.close()
    os.close(ours.fileno())
    return Wire(ours), ours.fileno()


def run(wire: Wire, work: str) -> NoReturn:
    """One program, from its arrival to the end of its process."""
    live(wire, work)
    _exit(0)


def live(wire: Wire, work: str) -> None:
    """One program, from its arrival to the last of what it printed."""
    try:
        order = wire.receive()
    except GoneError:
        return
    os.chdir(work)
    attempt(wire, order)
    flush()


def attempt(wire: Wire, order: dict[str, Any]) -> None:
    """Loads one program, and lets it be called or tested."""
    mode = order["mode"]
    try:
        code = compiled(order.pop("code"))  # popped: the program finds no text of itself in memory
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        wire.send({"syntax": describe(error)})
        return
    namespace = fresh_module("__main__" if mode == "program" else NAME)
    if mode == "program":
        give_input(order.pop("input"), order["arguments"])
    try:
        exec(code, namespace)  # noqa: S102 - what this process is for
    except BaseException as error:  # noqa: BLE001 - data, for the judge
        wire.send({"e": describe(error)})
        return
    if mode == "joint":
        run_tests(wire, namespace)
    elif mode == "split":
        Candidate(wire).serve(namespace, order["wanted"], order["optional"])


REHEARSALS: Final = 24  # enough for the interpreter to have specialised its bytecode
REHEARSED: Final = """
from typing import List, Tuple, Optional


def f(a: List[int], b: str) -> Optional[Tuple[int, str]]:
    \"\"\" A program like many. \"\"\"
    total = 0
    for i, x in enumerate(a):
        if x % 2 == 0 and len(b) > 0:
            total += x * i
    return [total, b.lower(), {"a": (1, 2)}]
"""
PLAIN: Final = """
def f(a, b):
    return [x for x in a if x] + [b]
"""


def rehearsal(source: str) -> tuple[Wire, _socket.socket]:
    """The judge's end of a wire on which all that it says of a program was said, and the program's end."""
    theirs, ours = _socket.socketpair()  # in this order: `theirs` gets the lowest free descriptor
    judge = Wire(ours)
    judge.send({"code": source, "mode": "split", "wanted": ["f"], "optional": []})
    for arguments in ([[1, 2], "A"], [[3], "B"]):
        judge.send({"f": "f", "a": arguments, "w": {}})
    ours.shutdown(_socket.SHUT_WR)
    return judge, theirs


ANNOTATIONS: Final = """
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union

for one in (int, float, str, bool, Any):
    List[one], Optional[one], Set[one], List[List[one]], Optional[List[one]], Tuple[one, one], Dict[str, one]
    Dict[int, one], Tuple[one, ...], List[Tuple[one, one]], Iterable[one], Sequence[one], Dict[str, List[one]]
Union[int, float], Union[int, str], List[Union[int, str]], Dict[Any, Any], Tuple[str, int], Tuple[int, str]
Tuple[List[int], List[int]], List[Tuple[str, int]], Optional[Tuple[int, int]], Callable[[int], int]
Optional[Dict[str, Any]], List[Dict[str, Any]], List[Optional[int]], Tuple[int, int, int]
"""
"""What stands in signatures: `typing` makes each once and keeps it, at 40 us and 40 pages."""


def rehearse() -> None:
    """Goes through an execution in the zygote, before there is anything to hide.

    What an interpreter writes when it does a thing for the first time (caches of lookups, specialised
    bytecode, interned names) is then written once, rather than copied and written in every candidate.
    """
    exec(compiled(ANNOTATIONS), {})  # noqa: S102 - ours
    for _ in range(REHEARSALS):
        judge, theirs = rehearsal(REHEARSED)
        wire = Wire(theirs)
        attempt(wire, wire.receive())
        judge.close()
        theirs.close()
    del sys.modules[NAME]


def nameless_file() -> int:
    """A new file in the work directory that nobody finds there."""
    try:
        return os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    except (AttributeError, OSError):  # Linux alone has it, and there not every file system
        file = os.open(".input", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        os.unlink(".input")  # noqa: PTH108 - pathlib would cost memory in every candidate
        return file


def give_input(text: str, arguments: list[str]) -> None:
    """What the program reads from stdin, as a file without a name, and its arguments."""
    file = nameless_file()
    raw = memoryview(text.encode("utf-8", "surrogatepass"))
    while raw:
        raw = raw[os.write(file, raw) :]
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, 0)
    os.close(file)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.argv = ["program.py", *arguments]


def run_tests(wire: Wire, namespace: dict[str, Any]) -> None:
    """Joint mode: the tests run here, in the program's own namespace, and are believed.

    What a program may have changed without meaning harm is set right first. Nothing here stops one that
    does mean harm: `docs/sandbox.md` lists how it can forge its success.
    """
    wire.send({"ready": {}})
    order = wire.receive()
    sys.settrace(None)
    sys.setprofile(None)
    vars(sys.modules["builtins"]).update(_BUILTINS)
    counter = [0]
    try:
        code = counting(order["tests"])
        namespace["__asserted__"] = counter
        exec(code, namespace)  # noqa: S102 - what joint mode is
    except BaseException as error:  # noqa: BLE001 - data, for the judge
        wire.send({"e": describe(error), "asserts": counter[0]})
        return
    wire.send({"passed": order["nonce"], "asserts": counter[0]})


def counting(source: str) -> types.CodeType:
    """The tests' code, with every assertion counted: `assert`, and calls of functions named `assert…`."""
    import ast  # noqa: PLC0415 - for joint mode alone; it would cost memory in every candidate

    def asserts(call: ast.expr) -> bool:
        if not isinstance(call, ast.Call):
            return False
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return str(name).startswith("assert")

    class Counting(ast.NodeTransformer):
        def counted(self, node: ast.stmt) -> list[ast.stmt]:
            self.generic_visit(node)
            count = ast.parse("__asserted__[0] += 1").body[0]
            return [ast.copy_location(count, node), node]

        def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
            return self.counted(node)

        def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
            return self.counted(node) if asserts(node.value) else node

        def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
            if any(asserts(item.context_expr) for item in node.items):
                return self.counted(node)
            return self.generic_visit(node)

    tree = ast.fix_missing_locations(Counting().visit(ast.parse(source, "<tests>")))
    return compile(tree, "<tests>", "exec", dont_inherit=True)


def flush() -> None:
    """Writes out what was printed."""
    streams = [sys.stdout, sys.stderr]
    if sys.stdout is not _stdout or sys.stderr is not _stderr:  # the program has others, and may use ours
        streams += [_stdout, _stderr]
    for stream in streams:
        try:  # noqa: SIM105 - `contextlib` would be touched, and copied, for this alone
            stream.flush()
        except BaseException:  # noqa: BLE001, S110 - a full output is seen from outside
            pass

"""Runs the benchmark's tests against stand-ins for the candidate's functions; never runs candidate code.

All that comes from the candidate is plain data or a failure. Values compare here, so that an object that
claims to equal everything equals nothing; the candidate's memory holds neither tests nor expected values.
"""

from __future__ import annotations

import builtins
import hmac
import importlib
import itertools
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from opcode import opmap
from types import CodeType, FrameType
from typing import Any, Final, NoReturn

from probatum.sandbox.inside import frames
from probatum.sandbox.inside.frames import GoneError, Peer, ProtocolViolationError, TooLargeError, Wire

KEPT_TESTS: Final = 256  # compiled tests that are kept
AHEAD: Final = 64  # items of an iterator that are asked for at once, once the first few were
MESSAGE: Final = 2000  # characters kept of an exception's text
MODULES: Final = frozenset(
    {
        "bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools", "hashlib",
        "heapq", "itertools", "json", "math", "numbers", "operator", "random", "re", "statistics", "string",
        "time", "typing",
    }
)  # fmt: skip
"""Modules that the tests may have from an import of the candidate's, as HumanEval's tests do: the judge
imports its own, and nothing else because a candidate says so."""
_BUILTINS: Final = frozenset(vars(builtins))
_EXTENDED: Final = opmap["EXTENDED_ARG"]
_LOAD_GLOBAL: Final = opmap["LOAD_GLOBAL"]
_READING: Final = frozenset({opmap["LOAD_NAME"], opmap.get("LOAD_FROM_DICT_OR_GLOBALS", -1)})
_NAMED: Final = frozenset({opmap["LOAD_NAME"], opmap["STORE_NAME"]})
_GLOBAL: Final = frozenset({opmap["STORE_GLOBAL"], opmap.get("LOAD_FROM_DICT_OR_GLOBALS", -1)})

Verdict = dict[str, Any]


class StopTestsError(BaseException):
    """The verdict is known: the tests cannot go on. Not an `Exception`, so that tests let it pass."""


class Tests:
    """A benchmark's test code, compiled once."""

    def __init__(self, source: str) -> None:
        self.code: CodeType = compile(source, "<tests>", "exec", dont_inherit=True)
        self.free = sorted(_free_names(self.code))
        """Names that the tests read and nobody gives them: looked up in the candidate."""


def _free_names(code: CodeType) -> set[str]:
    """Global names that are read and never bound, in the code and in the functions within it."""
    read: set[str] = set()
    bound: set[str] = set()
    stack = [(code, True)]
    while stack:
        one, outermost = stack.pop()
        _collect(one, outermost=outermost, read=read, bound=bound)
        stack.extend((constant, False) for constant in one.co_consts if isinstance(constant, CodeType))
    return read - bound - _BUILTINS - {"__name__", "__file__", "__builtins__"}


def _collect(code: CodeType, *, outermost: bool, read: set[str], bound: set[str]) -> None:
    """Reads the bytecode itself: `dis` says the same, and takes longer than all else that a test costs."""
    raw, names, high = code.co_code, code.co_names, 0
    for place in range(0, len(raw), 2):
        step = raw[place]
        if step == _EXTENDED:
            high = (high | raw[place + 1]) << 8
            continue
        if step == _LOAD_GLOBAL:  # the lowest bit says whether a null is pushed, too
            read.add(names[(high | raw[place + 1]) >> 1])
        elif step in _GLOBAL or (outermost and step in _NAMED):
            (read if step in _READING else bound).add(names[high | raw[place + 1]])
        high = 0


class _Stub:
    """A callable of the candidate's, as the tests see it."""

    def __init__(self, side: Session, target: str | int) -> None:
        self._side, self._target = side, target
        if isinstance(target, str):
            self.__name__ = self.__qualname__ = target

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._side.call(self._target, args, kwargs)


class Session(Peer):
    """One execution, seen from the tests."""

    def __init__(self, wire: Wire | None) -> None:
        self._connection = wire
        self._kept: list[Any] = []
        self.calls = 0
        self.ended: Verdict | None = None
        """Set when the candidate can answer no more; then no other verdict counts."""

    # what crosses

    def remember(self, kind: str, value: Any) -> int | None:  # noqa: ARG002 - same number space
        """Keeps a callable or an iterator of the tests that the candidate may use."""
        self._kept.append(value)
        return len(self._kept) - 1

    def name(self, value: Any) -> list[str] | None:
        """Functions and types of the standard library go by name: the candidate has its own."""
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if not (isinstance(module, str) and isinstance(name, str)):
            return None
        if module.partition(".")[0] not in sys.stdlib_module_names:
            return None
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        return [module, name] if found is value else None

    def reach(self, kind: str, number: int) -> Any:
        """Stands for a callable or an iterator of the candidate's."""
        return _Stub(self, number) if kind == "call" else self._iterate(number)

    def _iterate(self, number: int) -> Iterator[Any]:
        for turn in itertools.count():
            answer = self._ask({"g": number, "n": 1 if turn < AHEAD // 8 else AHEAD})
            items = answer.get("r")
            if type(items) is not list:
                self.end({"status": "protocol_violation", "message": "items that are no list"})
            for item in items:
                yield self._decoded(item)
            if answer.get("end"):
                return

    # the conversation

    @property
    def _wire(self) -> Wire:
        if self._connection is None:
            raise GoneError
        return self._connection

    def end(self, verdict: Verdict) -> NoReturn:
        """Stops the tests.

        Raises:
            StopTestsError: always.
        """
        if self.ended is None:
            self.ended = verdict
        raise StopTestsError

    def call(self, target: str | int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a function of the candidate's and applies what it did to mutable arguments."""
        self.calls += 1
        frame = {
            "f": target,
            "a": [frames.encode(value, self) for value in args],
            "w": {key: frames.encode(value, self) for key, value in kwargs.items()} if kwargs else {},
        }
        answer = self._ask(frame)
        if "m" in answer:
            for place, now in self._changes(answer["m"], len(args)):
                _become(args[place], self._decoded(now))
        return self._decoded(answer["r"])

    def _changes(self, changes: Any, count: int) -> list[tuple[int, Any]]:
        try:
            found = [(int(place), now) for place, now in changes]
        except (TypeError, ValueError):
            found = [(-1, None)]
        if not all(0 <= place < count for place, _ in found):
            self.end({"status": "protocol_violation", "message": "changes of arguments that are none"})
        return found

    def _decoded(self, data: Any) -> Any:
        try:
            return frames.decode(data, self)
        except ProtocolViolationError as error:
            self.end({"status": "protocol_violation", "message": str(error)[:MESSAGE]})
        except MemoryError:
            self.end({"status": "memory_limit", "message": "a result too large to compare"})

    def _ask(self, frame: Any) -> dict[str, Any]:
        """Sends a call and serves callbacks until its answer comes."""
        if self.ended is not None:
            raise StopTestsError
        try:
            self._wire.send(frame)
            while (answer := self._answered(self._wire.receive())) is None:
                pass
        except GoneError:
            self.end({"status": "gone"})
        except ProtocolViolationError as error:
            self.end({"status": "protocol_violation", "message": str(error)[:MESSAGE]})
        except TooLargeError:
            self.end(
                {"status": "sandbox_error", "detail": "size", "message": "arguments larger than a frame"}
            )
        return answer

    def _answered(self, answer: Any) -> dict[str, Any] | None:
        """The result that a frame carries; `None` where it was a callback, which is served."""
        if type(answer) is not dict:
            raise ProtocolViolationError("a frame that is no object")
        if "r" in answer:
            return answer
        if "e" in answer:
            self._raise(answer["e"])
        if "large" in answer:
            self.end({"status": "memory_limit", "message": "a result too large to compare"})
        self._wire.send(self._served(answer))
        return None

    def _served(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs a callable of the tests on plain data, for the candidate."""
        number = request.get("k", request.get("g"))
        if type(number) is not int or not 0 <= number < len(self._kept):
            raise ProtocolViolationError("a frame of no known kind")
        target: Any = self._kept[number]
        if "g" in request:
            item = list(itertools.islice(target, 1))
            return {"r": frames.encode(item, self)}
        args = [self._decoded(value) for value in request.get("a", ())]
        kwargs = {str(key): self._decoded(value) for key, value in dict(request.get("w", {})).items()}
        try:
            return {"r": frames.encode(target(*args, **kwargs), self)}
        except Exception as error:  # noqa: BLE001 - the candidate gets it, as it would in one process
            bases = [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"]
            return {"e": {"bases": bases, "text": str(error)[:MESSAGE]}}

    def _raise(self, described: Any) -> NoReturn:
        verdict = failure(described)
        if verdict["status"] in {"exit_called", "memory_limit", "protocol_violation"}:
            self.end(verdict)
        error = frames.exception(described if type(described.get("bases")) is list else {})
        error.__dict__["__probatum_verdict__"] = verdict
        raise error


def _become(old: Any, new: Any) -> None:
    """Gives a mutable argument the value it had when the candidate was done, keeping its identity."""
    if type(old) is not type(new):
        return
    if isinstance(old, list):
        for place, (one, other) in enumerate(zip(old, new, strict=False)):
            if isinstance(one, list | dict | set | bytearray) and type(one) is type(other):
                _become(one, other)
                new[place] = one
        old[:] = new
    elif isinstance(old, dict):
        for key, other in list(new.items()):
            one = old.get(key)
            if isinstance(one, list | dict | set | bytearray) and type(one) is type(other):
                _become(one, other)
                new[key] = one
        old.clear()
        old.update(new)
    elif isinstance(old, set):
        old.clear()
        old.update(new)
    elif isinstance(old, bytearray):
        old[:] = new


def failure(described: Any) -> Verdict:
    """The verdict on an exception that the candidate described: failures only, strings only, bounded."""
    if type(described) is not dict:
        return {"status": "protocol_violation", "message": "an exception that is no object"}
    if "exit" in described:
        code = described["exit"]
        return {"status": "exit_called", "detail": str(code if type(code) is int else 1)[:20]}
    kind, text = str(described.get("type", ""))[:100], str(described.get("text", ""))[:MESSAGE]
    bases = described.get("bases", ())
    bases = bases if type(bases) is list else []
    if "MemoryError" in bases:
        return {"status": "memory_limit", "detail": kind, "message": text}
    if "AssertionError" in bases:
        return {"status": "assertion_failed", "detail": kind, "message": text}
    return {"status": "exception", "detail": kind, "message": text}


def _of_tests(error: BaseException) -> Verdict:
    """The verdict on an exception that left the tests."""
    known = getattr(error, "__probatum_verdict__", None)
    if known is not None:
        return dict(known)
    kind = type(error).__name__
    text = str(error)[:MESSAGE]
    if getattr(type(error), "fault_of_tests", False):  # no class of the candidate's ever comes here
        return {"status": "sandbox_error", "detail": "tests", "message": text}
    if isinstance(error, AssertionError):
        return {"status": "assertion_failed", "detail": kind, "message": text}
    if isinstance(error, MemoryError):
        return {"status": "memory_limit", "detail": "tests", "message": text}
    if isinstance(error, SystemExit):
        return {"status": "exit_called", "detail": str(error.code)[:20], "message": "by the tests"}
    return {"status": "exception", "detail": kind, "message": text}


class ProgramRun:
    """How one run of a whole program ended, as tests of stdin and stdout see it."""

    def __init__(self, stdout: str, stderr: str, exit_code: int) -> None:
        self.stdout, self.stderr, self.exit_code = stdout, stderr, exit_code

    def __repr__(self) -> str:
        return f"ProgramRun(stdout={self.stdout[:80]!r}, exit_code={self.exit_code})"


RunProgram = Callable[[str, list[str]], ProgramRun]


class TestsTooLongError(BaseException):
    """The tests used more CPU time than they may, on what the candidate gave them."""


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TestsTooLongError


class Bench:
    """The judge's memory between executions: compiled tests, by source."""

    def __init__(self) -> None:
        self._tests: OrderedDict[str, Tests] = OrderedDict()
        signal.signal(signal.SIGPROF, _too_long)

    def tests(self, source: str) -> Tests:
        """The tests, compiled.

        Raises:
            SyntaxError: or its kin: the benchmark's fault, not the candidate's.
        """
        found = self._tests.get(source)
        if found is None:
            found = self._tests[source] = Tests(source)
            if len(self._tests) > KEPT_TESTS:
                self._tests.popitem(last=False)
        else:
            self._tests.move_to_end(source)
        return found

    def split(self, wire: Wire, order: dict[str, Any]) -> Verdict:
        """Runs the tests here, against stand-ins."""
        tests = self.tests(order["tests"])
        wanted = order["entry_points"]
        optional = [name for name in tests.free if name not in wanted]
        session = Session(wire)
        wire.send(
            {
                "code": order["code"],
                "mode": "split",
                "wanted": wanted,
                "optional": optional,
            }
        )
        ready = wire.receive()
        if (verdict := _not_ready(ready)) is not None:
            return verdict
        signal.setitimer(signal.ITIMER_PROF, 2 * order["limits"]["cpu_seconds"] + 1)
        try:
            verdict = self._run(session, tests, ready["ready"], wanted)
        except TestsTooLongError:
            verdict = {"status": "timeout", "detail": "cpu", "message": "in the tests"}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        verdict["calls"] = session.calls
        return verdict

    def _run(self, session: Session, tests: Tests, kinds: Any, wanted: list[str]) -> Verdict:
        namespace: dict[str, Any] = {"__name__": "tests"}
        try:
            for name, kind in dict(kinds).items():
                if name in tests.free or name in wanted:
                    namespace[name] = _given(session, name, kind)
            missing = [name for name in wanted if name not in namespace]
            if missing:
                return {
                    "status": "exception",
                    "detail": "NameError",
                    "message": f"the program does not define {missing[0]!r}",
                }
            exec(tests.code, namespace)  # noqa: S102 - the benchmark's own code
        except StopTestsError:
            pass
        except TestsTooLongError:
            raise
        except BaseException as error:  # noqa: BLE001 - any end of the tests is a verdict
            return session.ended or _of_tests(error)
        if session.ended is not None:
            return session.ended
        return {"status": "passed"} if session.calls else {"status": "no_calls"}

    def whole(self, order: dict[str, Any], run: RunProgram, session: Session) -> Verdict:
        """Runs tests that start the whole program as often as they like, by `run_program`."""
        tests = self.tests(order["tests"])

        def run_program(stdin: str = "", arguments: Iterable[str] = ()) -> ProgramRun:
            if session.ended is not None:
                raise StopTestsError
            session.calls += 1
            return run(str(stdin), [str(argument) for argument in arguments])

        signal.setitimer(signal.ITIMER_PROF, 2 * order["limits"]["cpu_seconds"] + 1)
        try:
            exec(tests.code, {"__name__": "tests", "run_program": run_program})  # noqa: S102 - the benchmark's
        except StopTestsError:
            pass
        except TestsTooLongError:
            return {"status": "timeout", "detail": "cpu", "message": "in the tests"}
        except BaseException as error:  # noqa: BLE001 - any end of the tests is a verdict
            return session.ended or _of_tests(error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if session.ended is not None:
            return session.ended
        return {"status": "passed"} if session.calls else {"status": "no_calls"}

    def joint(self, wire: Wire, order: dict[str, Any], nonce: str) -> Verdict:
        """Has the candidate's process run the tests, and believes it if it knows the nonce."""
        wire.send({"code": order["code"], "mode": "joint"})
        ready = wire.receive()
        if (verdict := _not_ready(ready)) is not None:
            return verdict
        wire.send({"tests": order["tests"], "nonce": nonce})
        answer = wire.receive()
        if type(answer) is not dict:
            return {"status": "protocol_violation", "message": "a frame that is no object"}
        if "e" in answer:
            return failure(answer["e"])
        passed = answer.get("passed")
        if type(passed) is not str or not hmac.compare_digest(passed.encode(), nonce.encode()):
            return {"status": "protocol_violation", "message": "success without its proof"}
        asserts = answer.get("asserts")
        asserts = asserts if type(asserts) is int else 0
        return {"status": "passed" if asserts else "no_calls", "calls": asserts}


def _not_ready(frame: Any) -> Verdict | None:
    if type(frame) is not dict:
        return {"status": "protocol_violation", "message": "a frame that is no object"}
    if "syntax" in frame:
        verdict = failure(frame["syntax"])
        return {**verdict, "status": "syntax_error"} if verdict["status"] == "exception" else verdict
    if "e" in frame:
        return failure(frame["e"])
    if type(frame.get("ready")) is not dict:
        return {"status": "protocol_violation", "message": "not ready"}
    return None


def _given(session: Session, name: str, kind: Any) -> Any:
    """What the tests get under a name that they take from the candidate."""
    if type(kind) is not dict:
        session.end({"status": "protocol_violation", "message": "a name of no known kind"})
    if "module" in kind:  # the tests get the judge's own module of that name, never the candidate's
        module = str(kind["module"])[:40]
        if module not in MODULES:
            return frames.Opaque(f"module {module}", truth=True)
        return importlib.import_module(module)
    if "call" in kind:
        return _Stub(session, name)
    return session._decoded(kind.get("value"))  # noqa: SLF001 - of this module


def judged(bench: Bench, wire: Wire, order: dict[str, Any]) -> Verdict:  # noqa: PLR0911 - one for each end
    """The verdict on one program, so far as the judge can tell; `gone` where its process has ended."""
    try:
        bench.tests(order["tests"])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _failed("sandbox_error", "tests", f"the tests cannot be used: {_shown(error)}")
    try:
        if order["mode"] == "split":
            return bench.split(wire, order)
        return bench.joint(wire, order, order["nonce"])
    except GoneError:
        return {"status": "gone"}
    except TooLargeError as error:
        return _failed("sandbox_error", "size", f"program or tests of {error} do not fit into a frame")
    except MemoryError:
        return _failed("memory_limit", "judge", "a result too large to compare")
    except Exception as error:  # noqa: BLE001 - only what the candidate sends can bring the judge here
        return _failed("protocol_violation", None, _shown(error))


def _failed(status: str, detail: str | None, message: str) -> Verdict:
    return {"status": status, "detail": detail, "message": message[:MESSAGE]}


def _shown(error: Exception) -> str:
    return str(error) if isinstance(error, ProtocolViolationError) else f"{type(error).__name__}: {error}"

"""Tasks of one's own: a Python file that defines `Task` objects, or a TOML file that declares one.

`path/to/sums.py` is every task that the file defines, `path/to/sums.py:NAME` one of them. Running such a file
is running its code: it is the user's own, and is executed in this process, not in the sandbox.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import itertools
import os
import re
import sys
import tomllib
import traceback
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from probatum.benchmarks import declared_task, task_names
from probatum.core.canonical import OWN_MODULE, canonical
from probatum.core.errors import ProbatumError, ProtocolError, UsageError
from probatum.core.protocol import Source, Task, TaskFile
from probatum.runner.task_checks import check_task

__all__ = ["is_task_file", "load_task_file", "trusted"]

_REFERENCE: Final = re.compile(r"(?P<path>.*?\.(?P<kind>py|toml))(?::(?P<name>.*))?", re.DOTALL)
_NUMBERS: Final = itertools.count(1)
"""Modules of task files have names of this process's own: no two of them meet (`canonical.OWN_MODULE`)."""


def is_task_file(reference: str) -> bool:
    """Whether a name is that of a file, and not of a benchmark.

    >>> is_task_file("sums.py"), is_task_file("a/sums.py:EASY"), is_task_file("my.toml"), is_task_file("mini")
    (True, True, True, False)
    """
    return _REFERENCE.fullmatch(reference) is not None or "/" in reference


def load_task_file(reference: str | Path) -> tuple[Task, ...]:
    """The tasks of a file, in the order in which it defines them.

    Args:
        reference: `path.py`, `path.py:NAME` (a variable of the file, or a task's name) or `path.toml`.

    Raises:
        UsageError: the file is not there, fails (told with its line), defines no task, none of that name, two
            of one name, or one that has the name of a benchmark.
        ProtocolError: a task of it has no canonical form.
    """
    matched = _REFERENCE.fullmatch(str(reference))
    if matched is None:
        raise UsageError(
            f"task {str(reference)!r} is neither a benchmark nor a file in .py or .toml; name one"
        )
    path = _absolute(matched["path"])
    content = _bytes_of(path)
    wanted = matched["name"]
    if matched["kind"] == "toml":
        if wanted is not None:
            raise UsageError(f"task {str(reference)!r}: a TOML file declares one task; leave :{wanted} out")
        file = TaskFile(sha256=hashlib.sha256(content).hexdigest(), path=path)
        found = {"it": declared_task(_decoded(path, content), str(path))}
    else:
        tree = _parsed(path, content)
        file = TaskFile(
            sha256=hashlib.sha256(content).hexdigest(), imports=_imports(tree, path.parent), path=path
        )
        found = _chosen(_executed(path, tree), tree, path, wanted)
    tasks = tuple(_own(task, file) for task in found.values())
    _names_apart(dict(zip(found, tasks, strict=True)), path)
    return tasks


def _absolute(path: str) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(f"task file {path!r}: {error}; write its path in full") from None


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"task file {str(path)!r} cannot be read: {why}; name a .py or .toml file") from None


def _own(task: Task, file: TaskFile) -> Task:
    """The task with its file, and with its rows looked for beside that."""
    where = f"task file {str(file.path)!r}"
    check_task(task, where)
    if task.name in task_names():
        raise UsageError(
            f"{where}: {task.name!r} is the name of a benchmark, and would be taken for it; "
            "give the task another name"
        )
    own = replace(
        task,
        source=_beside(task.source, file.path.parent),
        shot_source=None if task.shot_source is None else _beside(task.shot_source, file.path.parent),
        file=file,
    )
    try:
        canonical(own)
    except ProtocolError as error:
        raise ProtocolError(f"{where}: task {task.name!r}: {error}") from error
    return own


def _beside(source: Source, directory: Path) -> Source:
    return replace(source, beside=directory)


def _names_apart(tasks: dict[str, Task], path: Path) -> None:
    seen: dict[str, str] = {}
    for variable, task in tasks.items():
        if (first := seen.setdefault(task.name, variable)) != variable:
            raise UsageError(
                f"task file {str(path)!r}: {first} and {variable} are both called {task.name!r}; "
                "give each task a name of its own"
            )


# ── TOML ────────────────────────────────────────────────────────────────────────────────────────────


def _decoded(path: Path, content: bytes) -> dict[str, object]:
    where = f"task file {str(path)!r}"
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{where} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{where} is no valid TOML: {error}; mend it") from None


# ── Python ──────────────────────────────────────────────────────────────────────────────────────────


def _parsed(path: Path, content: bytes) -> ast.Module:
    try:
        return ast.parse(content, str(path))
    except SyntaxError as error:
        line = "" if error.lineno is None else f", line {error.lineno}"
        raise UsageError(f"task file {str(path)!r}{line}: {error.msg}; mend it") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"task file {str(path)!r} is no Python: {error}; mend it") from error


def _executed(path: Path, tree: ast.Module) -> types.ModuleType:
    """The file as a module. What it prints goes to stderr: stdout may be JSON."""
    module = types.ModuleType(f"{OWN_MODULE}_{next(_NUMBERS)}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        with _importing_beside(path.parent), contextlib.redirect_stdout(sys.stderr):
            exec(compile(tree, str(path), "exec"), module.__dict__)  # noqa: S102 - the file is the user's own
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        said = error if isinstance(error, ProbatumError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"task file {_line_of(error, path)}: {said}; mend it") from error
    return module


@contextlib.contextmanager
def _importing_beside(directory: Path) -> Iterator[None]:
    """Lets a file import what lies beside it, as `python sums.py` would."""
    before = list(sys.path)
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.path[:] = before


def _line_of(error: BaseException, path: Path) -> str:
    """File and line in which it failed, and the one beside it that it came from."""
    if isinstance(error, SyntaxError) and error.filename is not None:  # of a module that it imports
        return f"{str(path)!r} ({Path(error.filename).name}, line {error.lineno})"
    place = repr(str(path))
    beside = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == str(path):
            place = f"{str(path)!r}, line {frame.lineno}"
        elif Path(frame.filename).parent == path.parent:
            beside = f" ({Path(frame.filename).name}, line {frame.lineno})"
    return place + beside


def _chosen(module: types.ModuleType, tree: ast.Module, path: Path, wanted: str | None) -> dict[str, Task]:
    """Variable → task: all that the file defines, or the one that is named."""
    found = _defined(module, tree)
    where = f"task file {str(path)!r}"
    if wanted is None:
        if not found:
            raise UsageError(f"{where} defines no Task at its top level; assign one, TASK = Task(name=…)")
        return found
    if wanted in vars(module):
        value = vars(module)[wanted]
        named = dict(_tasks_in(wanted, value))
        if not named:
            raise UsageError(
                f"{where}: {wanted} is a {type(value).__name__}, not a Task; it has {_listed(found)}"
            )
        return named
    by_name = {variable: task for variable, task in found.items() if task.name == wanted}
    if not by_name:
        raise UsageError(f"{where} has no task {wanted!r}; it has {_listed(found)}")
    return by_name


def _defined(module: types.ModuleType, tree: ast.Module) -> dict[str, Task]:
    """Tasks bound to public names at the top level, each once; those that are only imported are others'."""
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
    starred = [
        vars(sys.modules[node.module])
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module in sys.modules and node.names[0].name == "*"
    ]
    found: dict[str, Task] = {}
    for variable, value in vars(module).items():
        others = variable in imported or any(each.get(variable) is value for each in starred)
        if not variable.startswith("_") and not others:
            known = {id(task) for task in found.values()}
            found.update((name, task) for name, task in _tasks_in(variable, value) if id(task) not in known)
    return found


def _tasks_in(variable: str, value: object) -> Iterator[tuple[str, Task]]:
    if isinstance(value, Task):
        yield variable, value
    elif isinstance(value, (list, tuple)) and all(isinstance(one, Task) for one in value):
        yield from ((f"{variable}[{place}]", one) for place, one in enumerate(value))


def _listed(found: dict[str, Task]) -> str:
    return ", ".join(f"{name} ({task.name!r})" for name, task in found.items()) or "none"


def _imports(tree: ast.Module, directory: Path) -> tuple[tuple[str, str], ...]:
    """Python files beside the task's that it imports, also through one another: path and SHA-256.

    By what stands written: what a file imports by computed names is not seen.

    Raises:
        UsageError: a module of that name is loaded already, and is another one.
    """
    found: dict[Path, str] = {}
    waiting = [tree]
    while waiting:
        for name in sorted(_imported(waiting.pop())):
            for path in _files_of(directory / name):
                if path in found:
                    continue
                _check_loaded(name, directory)
                content = _bytes_of(path)
                found[path] = hashlib.sha256(content).hexdigest()
                with contextlib.suppress(SyntaxError, ValueError):  # told with its line when it is imported
                    waiting.append(ast.parse(content))
    return tuple(sorted((path.relative_to(directory).as_posix(), digest) for path, digest in found.items()))


def _imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _files_of(module: Path) -> list[Path]:
    if (module / "__init__.py").is_file():
        return sorted(module.rglob("*.py"))
    file = module.with_name(f"{module.name}.py")
    return [file] if file.is_file() else []


def _check_loaded(name: str, directory: Path) -> None:
    loaded = sys.modules.get(name)
    if loaded is None and name not in sys.stdlib_module_names:
        return
    place = getattr(loaded, "__file__", None)
    if place is None or not Path(place).absolute().is_relative_to(directory):
        raise UsageError(
            f"module {name!r} beside the task's file ({str(directory)!r}) is not the one that is imported "
            f"({place or 'of the standard library'}); rename it"
        )


def trusted(path: Path) -> bool:
    """Whether a file that a store names, and not the user, may be run: it is the user's or root's own.

    A store may come from elsewhere, and a file that others can write to is theirs.
    """
    status = path.stat()
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o002

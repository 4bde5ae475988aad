"""Finds the files of a source: data directory, then Python package, then hub."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import importlib.util
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.resources.abc import Traversable
from pathlib import Path

from probatum.core.errors import DataError
from probatum.core.protocol import Hub, Source
from probatum.datasets.faults import one_line
from probatum.datasets.files import DataFile, UnreadableError
from probatum.datasets.hub import HubAccess, check_pinned

__all__ = ["Located", "data_directory_of", "locate"]

_VARIABLE = "PROBATUM_DATA"


@dataclass(frozen=True, kw_only=True)
class Located:
    """Where the rows of a source are."""

    kind: str
    """`local`, `package`, `hub` or `file`."""
    location: str
    """Directory, package, repository or path."""
    revision: str | None
    """Version of the package or commit of the repository; a directory has none."""
    files: tuple[DataFile, ...]

    def origin(self) -> Mapping[str, object]:
        """All of it as plain JSON data, with SHA-256 and size of each file.

        Raises:
            DataError: a file cannot be read.
        """
        files = []
        for file in self.files:
            try:
                files.append(file.fingerprint())
            except UnreadableError as error:
                raise DataError(one_line(f"{file.name} {error.problem}")) from error
        return {"kind": self.kind, "location": self.location, "revision": self.revision, "files": files}


def locate(source: Source, data_directory: Path | None = None, hub: HubAccess | None = None) -> Located:
    """The files of `source`, from the first place that has them.

    Args:
        source: where the rows may be.
        data_directory: looked in first; `None` takes the one in `PROBATUM_DATA`.
        hub: how to reach the hub; `None` reads the environment as `huggingface_hub` does.

    Raises:
        DataError: no place has them (told with what to do), a directory has only a part of them, or
            the revision is not pinned.
    """
    if source.hub is not None:
        check_pinned(source.hub)
    if data_directory is not None:
        data_directory_of(
            data_directory
        )  # a slip in its name is told, also where the rows come from elsewhere
    missed: list[str] = []
    mend: list[str] = []
    if source.local:
        found = _local(source, data_directory, missed)
        if found is not None:
            return found
        named = f"into a directory and name it by --data-dir or {_VARIABLE}"
        mend.append(f"put {', '.join(source.local)} {'beside it, or ' if source.beside else ''}{named}")
    if source.package is not None:
        packaged = _in_package(source.package)
        if isinstance(packaged, Located):
            return packaged
        missed.append(f"package: {packaged}")
        mend.append(_installation(source.package))
    if source.hub is not None:
        fetched = _on_hub(source.hub, hub or HubAccess())
        if not isinstance(fetched, str):
            return Located(
                kind="hub", location=source.hub.repository, revision=source.hub.revision, files=fetched
            )
        missed.append(f"hub: {fetched}")
    if not missed:
        raise DataError("the source names no data directory, no package and no hub; give it one of them")
    raise DataError(f"no rows found; {'; '.join(missed)}. {_sentence(mend)}")


def _local(source: Source, given: Path | None, missed: list[str]) -> Located | None:
    """The files of `source.local`: where it is told, beside the task's file, where the variable says.

    What is named for this run comes first; what lies beside the file belongs to it more than what the
    environment names for every task.
    """
    if given is not None or source.beside is None:
        directory = data_directory_of(given)
        found = None if directory is None else _in_directory(directory, source.local)
        if found is not None:
            return found
        where = "none is given" if directory is None else f"{str(directory)!r} has no {source.local[0]!r}"
        missed.append(f"data directory: {where}")
    if source.beside is None:
        return None
    found = _in_directory(source.beside, source.local)
    if found is None:
        missed.append(f"beside the task's file: {str(source.beside)!r} has no {source.local[0]!r}")
        if given is None and (directory := data_directory_of(None)) is not None:
            found = _in_directory(directory, source.local)
            missed.append(f"data directory: {str(directory)!r} has no {source.local[0]!r}")
    return found


def _sentence(mend: list[str]) -> str:
    text = ", or ".join(mend) or "mend that, and start again"
    return f"{text[:1].upper()}{text[1:]}"


def data_directory_of(given: Path | None) -> Path | None:
    """The directory `given`, or the one in the environment, or none.

    Raises:
        DataError: it is named, and is no directory.
    """
    named = os.environ.get(_VARIABLE) or None
    if given is None and named is None:
        return None
    by = "--data-dir" if given is not None else _VARIABLE
    directory = Path(given if given is not None else str(named))
    try:
        directory = directory.expanduser()
        if directory.is_dir():
            return directory
        problem = "is not a directory" if directory.exists() else "does not exist"
    except (OSError, RuntimeError) as error:  # no permission, a name too long, no home of that user
        problem = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    raise DataError(f"data directory {str(directory)!r} (from {by}) {problem}; name another one")


def _on_hub(hub: Hub, access: HubAccess) -> tuple[DataFile, ...] | str:
    # huggingface_hub takes 0.13 CPU-seconds to import, and most runs find their rows nearer.
    from probatum.datasets.hubclient import fetch  # noqa: PLC0415 - see above

    return fetch(hub, access)


def _in_directory(directory: Path, patterns: tuple[str, ...]) -> Located | None:
    """All files of the patterns, each pattern's sorted by name; `None` where not one of them is there."""
    files: list[DataFile] = []
    empty: list[str] = []
    for pattern in patterns:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise DataError(
                f"path {pattern!r} of a source leaves the data directory; put the rows into that or "
                "a folder in it, and write the path from there"
            )
        matched = _matches(directory, pattern)
        files += matched
        if not matched:
            empty.append(pattern)
    if not files:
        return None
    if empty:
        raise DataError(
            f"data directory {str(directory)!r} has {files[0].name!r} but not {', '.join(map(repr, empty))}; "
            "add what is missing, or take the set out to use another source"
        )
    names = [file.name for file in files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"file {twice!r} is matched by several patterns of {patterns!r}; let one match it")
    return Located(kind="local", location=str(directory.absolute()), revision=None, files=tuple(files))


def _matches(directory: Path, pattern: str) -> list[DataFile]:
    # A name that has the signs of a pattern in it, such as "a[1].csv", is first taken as it stands.
    exact = directory / pattern
    try:
        paths = (
            [exact] if exact.is_file() else sorted(one for one in directory.glob(pattern) if one.is_file())
        )
    except OSError as error:
        raise DataError(f"{str(exact)!r} cannot be read ({error.strerror or error}); mend that") from error
    return [DataFile(name=path.relative_to(directory).as_posix(), content=path) for path in paths]


def _in_package(resource: str) -> Located | str:
    """The file of `module:path`, or why it is not there. Does not run the module's code."""
    module, colon, path = resource.partition(":")
    if not (module and colon and path):
        raise DataError(f"package source {resource!r} is not of the form 'module:path/in/package'")
    spec = _find_without_importing(module)
    if spec is None:
        return f"{module!r} is not installed"
    root = _resources(spec)
    if root is None:
        return f"{module!r} is not a package of files"
    content = root.joinpath(*path.split("/"))
    if not content.is_file():
        return f"{module!r} is installed and has no file {path!r}"
    file = DataFile(name=path, content=content)
    return Located(kind="package", location=module, revision=_version(module), files=(file,))


def _find_without_importing(module: str) -> ModuleSpec | None:
    """As `importlib.util.find_spec`, which would import the parents of a submodule."""
    first, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except ValueError:  # a module without a spec, such as __main__
        return None
    name = first
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return spec


def _resources(spec: ModuleSpec) -> Traversable | None:
    if spec.submodule_search_locations is None or spec.loader is None:
        return None
    reader = getattr(spec.loader, "get_resource_reader", lambda _: None)(spec.name)
    files = getattr(reader, "files", None)
    root: Traversable | None = files() if files is not None else None
    return root


def _version(module: str) -> str | None:
    """Version of the distribution that ships the module; `None` where it cannot be told."""
    top = module.partition(".")[0]
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(top, [])
        return importlib.metadata.version(names[0]) if names else None


def _installation(resource: str) -> str:
    """How to install the package: by our own extra where there is one."""
    module = resource.partition(":")[0].partition(".")[0]
    try:
        requirements = importlib.metadata.requires("probatum") or []
    except importlib.metadata.PackageNotFoundError:
        requirements = []
    for requirement in requirements:
        name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", requirement)
        if extra and name.lower().replace("-", "_").replace(".", "_") == module.lower():
            return f"pip install 'probatum[{extra[1]}]'"
    return f"install the Python package that has the module {module!r}"

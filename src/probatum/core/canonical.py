"""The canonical form of a value, and its digest.

A component becomes its dotted name, the digest of its source and *all* its fields, defaults
included, so that nothing that changes a score can stay out of the digest. What has no canonical
form is refused, with what to do instead.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import re
import sys
import textwrap
import types
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache

from probatum.core.errors import ProtocolError

__all__ = ["canonical", "digest", "digest_json"]


def digest_json(value: object) -> str:
    """SHA-256 (hex) of plain JSON data, independent of key order.

    The fast path for records whose fields are plain already. Every string has a digest, and another
    one than every other string: JSON's escapes would join two lone surrogates into one character.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(value: object) -> str:
    """SHA-256 (hex) of the canonical form of `value`.

    Raises:
        ProtocolError: a part of it has no canonical form.
    """
    return digest_json(canonical(value))


def canonical(value: object) -> object:  # noqa: C901, PLR0911 - one line a type, read as a table
    """`value` as plain JSON data; a component becomes its name, its source and all its fields.

    Raises:
        ProtocolError: `value` or a part of it has no canonical form.
    """
    if value is None or (isinstance(value, (str, bool, int)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return f"{_dotted(type(value))}.{value.name}"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ProtocolError(f"{value!r} cannot be part of a protocol: use a finite number or None")
        return value
    if isinstance(value, re.Pattern):
        return {"pattern": value.pattern, "flags": int(value.flags)}
    if isinstance(value, type):
        return {"type": _dotted(value), "source": _class_source(value)}
    if is_dataclass(value):
        named = {field.name: canonical(getattr(value, field.name)) for field in fields(value)}
        kind = type(value)
        return {"is": _dotted(kind), "source": _class_source(kind), "fields": named}
    if isinstance(value, Mapping):
        return _canonical_mapping(value)
    if isinstance(value, (list, tuple)):
        return [canonical(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return {"set": sorted(json.dumps(canonical(part), sort_keys=True) for part in value)}
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)):
        return _canonical_function(value)
    raise ProtocolError(
        f"{value!r} ({type(value).__name__}) cannot be part of a protocol: it has no canonical form; "
        "use plain data, a frozen dataclass or a function defined at the top of a module"
    )


def _canonical_mapping(value: Mapping[object, object]) -> dict[str, object]:
    for key in value:
        if not isinstance(key, str):
            raise ProtocolError(f"key {key!r} cannot be part of a protocol: keys must be strings")
    return {str(key): canonical(part) for key, part in value.items()}


def _canonical_function(
    value: types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType,
) -> dict[str, object]:
    if not isinstance(value, types.FunctionType):
        return {"function": _dotted(value)}
    name = f"{value.__module__}.{value.__qualname__}"
    if value.__name__ == "<lambda>":
        raise ProtocolError(
            f"the lambda in {value.__module__} cannot be part of a protocol: "
            "give it a name with `def` at the top of a module"
        )
    if "<locals>" in value.__qualname__ or value.__closure__ is not None:
        raise ProtocolError(
            f"{name} cannot be part of a protocol: it depends on values of the function around it; "
            "move it to the top of a module, and make what it needs a field of a frozen dataclass"
        )
    return {"function": name, "source": _function_source(value)}


def _dotted(value: type | types.BuiltinFunctionType | types.MethodDescriptorType) -> str:
    owner = getattr(value, "__module__", None)
    if owner is None:  # methods of built-in types carry their class only
        owner = getattr(getattr(value, "__objclass__", None), "__module__", "builtins")
    return f"{owner}.{value.__qualname__}"


@lru_cache(maxsize=4096)
def _function_source(function: types.FunctionType) -> str:
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        raise ProtocolError(
            f"{function.__module__}.{function.__qualname__} cannot be part of a protocol: "
            "its source is not at hand; define it in a file"
        ) from None
    return _source_digest(source)


@lru_cache(maxsize=4096)
def _class_source(kind: Hashable) -> str | None:
    """Digest of the methods that a class and its bases define themselves; `None` if there are none.

    `inspect.getsource` of a class parses its whole module each time; its methods are found by line.
    Methods that `dataclass` makes have no source, and follow from the fields.
    """
    sources = []
    for base in kind.__mro__:
        if base.__module__ in sys.stdlib_module_names or base is object:
            continue
        for name, member in sorted(vars(base).items()):
            for function in _functions(member):
                if inspect.unwrap(function).__code__.co_filename.startswith("<"):
                    continue  # made by `dataclass`; its __repr__ is wrapped in a function of the library
                sources.append(f"{base.__qualname__}.{name}\n{_function_source(function)}")
    return _source_digest("\n".join(sources)) if sources else None


def _functions(member: object) -> tuple[types.FunctionType, ...]:
    if isinstance(member, (staticmethod, classmethod)):
        member = member.__func__
    if isinstance(member, property):
        parts = (member.fget, member.fset, member.fdel)
        return tuple(part for part in parts if isinstance(part, types.FunctionType))
    wrapped = getattr(member, "func", None)  # functools.cached_property
    if isinstance(wrapped, types.FunctionType):
        return (wrapped,)
    return (member,) if isinstance(member, types.FunctionType) else ()


def _source_digest(source: str) -> str:
    lines = textwrap.dedent(source).splitlines()
    return hashlib.sha256("\n".join(line.rstrip() for line in lines).encode()).hexdigest()[:16]

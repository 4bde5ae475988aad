"""The canonical form of a value, and its digest.

A component becomes its dotted name, the digest of its source (methods and class constants) and *all*
its fields, defaults included, so that what a component says of itself cannot stay out of the digest.
What has no canonical form is refused, with what to do instead. Equal values have equal forms.

It does not follow calls: a function that a method calls elsewhere is covered by the version and the
commit that a run records, by the task's `version`, and in a file of one's own by the file's digest.

A field may say by its metadata that it counts only where it is set (`WHERE_SET`), or never (`PLACE`): where
something lies is no part of what it is.
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
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final, cast

from probatum.core.errors import ProtocolError

__all__ = ["OWN_MODULE", "PLACE", "WHERE_SET", "canonical", "digest", "digest_json"]

WHERE_SET: Final[Mapping[str, str]] = types.MappingProxyType({"canonical": "where set"})
"""Metadata of a field that is left out of the canonical form where it is `None`."""
PLACE: Final[Mapping[str, str]] = types.MappingProxyType({"canonical": "never"})
"""Metadata of a field that is left out of the canonical form: a place on this machine."""
OWN_MODULE: Final = "task_file"
"""What the module of a task file is called in a recipe. In this process it has a number, too
(`task_file_3`), so that no two files meet; neither that number nor the file's name is part of the recipe."""
_NUMBERED = re.compile(rf"\b{OWN_MODULE}_\d+(?=\.|$)")

_CONSTANTS = (str, int, float, list, tuple, set, frozenset, dict, re.Pattern, Enum, types.NoneType)
_MACHINERY = frozenset({"_is_protocol", "_is_runtime_protocol"})


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
        return int(value) if value.is_integer() else value  # 0 and 0.0 are equal, and so are -0.0 and 0
    if isinstance(value, re.Pattern):
        return {"pattern": value.pattern, "flags": int(value.flags)}
    if isinstance(value, type):
        return {"type": _dotted(value), "source": _class_source(value), "fields": _declared_fields(value)}
    if is_dataclass(value):
        return _canonical_component(value)
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


def _canonical_component(value: Any) -> dict[str, object]:
    kind = type(value)
    if not kind.__dataclass_params__.frozen:
        raise ProtocolError(
            f"{kind.__qualname__} cannot be part of a protocol: it can change after its digest is taken; "
            "declare it with @dataclass(frozen=True)"
        )
    named = {
        field.name: canonical(getattr(value, field.name))
        for field in fields(value)
        if _counts(field.metadata.get("canonical"), getattr(value, field.name))
    }
    return {"is": _dotted(kind), "source": _class_source(kind), "fields": named}


def _counts(rule: object, value: object) -> bool:
    return rule is None or (rule == "where set" and value is not None)


def _declared_fields(kind: type) -> dict[str, object] | None:
    """Name → annotation and default: what a row type takes from a row. `None` for built-in types."""
    if issubclass(kind, Enum):
        return {name: canonical(member.value) for name, member in kind.__members__.items()}
    if not is_dataclass(kind):
        return {name: _annotation(what) for name, what in inspect.get_annotations(kind).items()} or None
    declared: dict[str, object] = {}
    for field in fields(kind):
        default = [] if field.default is MISSING else [canonical(field.default)]
        made = [] if field.default_factory is MISSING else [canonical(field.default_factory)]
        declared[field.name] = [_annotation(field.type), default, made, canonical(dict(field.metadata))]
    return declared


def _annotation(declared: object) -> str:
    return declared if isinstance(declared, str) else _NUMBERED.sub(OWN_MODULE, repr(declared))


def _canonical_mapping(value: Mapping[object, object]) -> dict[str, object]:
    for key in value:
        if not isinstance(key, str):
            raise ProtocolError(f"key {key!r} cannot be part of a protocol: keys must be strings")
    return {str(key): canonical(part) for key, part in value.items()}


def _canonical_function(
    value: types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType,
) -> dict[str, object]:
    if not isinstance(value, types.FunctionType):
        owner = getattr(value, "__self__", None)
        if not isinstance(owner, (types.NoneType, types.ModuleType, type)):
            raise ProtocolError(
                f"{value.__qualname__} of {owner!r} cannot be part of a protocol: it depends on that object; "
                "make the object a field of a frozen dataclass"
            )
        return {"function": _dotted(value)}
    name = _NUMBERED.sub(OWN_MODULE, f"{value.__module__}.{value.__qualname__}")
    if value.__name__ == "<lambda>":
        raise ProtocolError(
            f"the lambda in {_NUMBERED.sub(OWN_MODULE, value.__module__)}, line "
            f"{value.__code__.co_firstlineno}, cannot be part of a protocol: "
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
    return _NUMBERED.sub(OWN_MODULE, f"{owner}.{value.__qualname__}")


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


def _class_source(kind: type) -> str | None:
    return _digest_of_class(cast("Hashable", kind))


@lru_cache(maxsize=4096)
def _digest_of_class(kind: Any) -> str | None:
    """Digest of the methods and constants of a class and its bases; `None` if there are none.

    `inspect.getsource` of a class parses its whole module each time; its methods are found by line.
    Methods that `dataclass` makes have no source, and follow from the fields.
    """
    sources = []
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] in sys.stdlib_module_names:
            continue
        for name, member in sorted(vars(base).items()):
            functions = _functions(member)
            sources += [_method_source(base, name, function) for function in functions]
            if not functions and _is_constant(kind, name, member):
                sources.append(
                    f"{base.__qualname__}.{name} = {json.dumps(canonical(member), sort_keys=True)}"
                )
    found = [source for source in sources if source is not None]
    return _source_digest("\n".join(found)) if found else None


def _method_source(base: type, name: str, function: types.FunctionType) -> str | None:
    inner = inspect.unwrap(function)
    if inner.__code__.co_filename.startswith("<"):
        return None  # made by `dataclass`; its __repr__ is wrapped in a function of the library
    captured = set(inner.__code__.co_freevars) - {"__class__"}  # that one is how `super()` works
    if captured:
        raise ProtocolError(
            f"{base.__module__}.{base.__qualname__}.{name} cannot be part of a protocol: it depends on "
            f"{', '.join(sorted(captured))} of the function around its class; move the class to the top of a "
            "module, and make what it needs a field"
        )
    return f"{base.__qualname__}.{name}\n{_function_source(function)}"


def _is_constant(kind: type, name: str, member: object) -> bool:
    """Whether a class attribute is plain data that methods may read: neither machinery nor a default."""
    if issubclass(kind, Enum) or name in _MACHINERY or (name.startswith("__") and name.endswith("__")):
        return False
    if is_dataclass(kind) and name in {field.name for field in fields(kind)}:
        return False
    if isinstance(member, type):  # a class that is defined in the class, not one that is named there
        return member.__qualname__.startswith(f"{kind.__qualname__}.")
    return isinstance(member, _CONSTANTS)


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

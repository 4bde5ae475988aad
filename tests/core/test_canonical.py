from __future__ import annotations

import dataclasses
import enum
import functools
import importlib.util
import inspect
import math
import operator
import re
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType

import hypothesis.strategies as st
import pytest
from hypothesis import given

from probatum.core import protocol, records, run
from probatum.core.canonical import OWN_MODULE, PLACE, canonical, digest, digest_json
from probatum.core.errors import ProtocolError
from probatum.core.protocol import Hub, Policy, Protocol, Source, Task, TaskFile
from probatum.core.records import Identity, Item, Limits, Program, Request, Rolling, Sampling, Scoring
from probatum.core.status import Status
from tests import fakes

# ── every field moves the digest, found by introspection ────────────────────────────────────────────

COMPLETE = {
    Hub: Hub(repository="o/n", revision="0" * 40, files=("a",)),
    Task: fakes.sums_task(),
    TaskFile: TaskFile(sha256="0" * 64, path=Path("a.py")),
    Protocol: Protocol(task=fakes.sums_task(), form="completion", shots=0, samples=1, sampling=Sampling()),
}
"""Instances of records that `build` cannot make from their annotations."""


def record_types() -> list[type]:
    """Every dataclass that `core` exports."""
    return [
        one
        for module in (records, protocol, run)
        for name in module.__all__
        if is_dataclass(one := getattr(module, name)) and isinstance(one, type)
    ]


def other_sum(row):
    return fakes.to_item(row)


@dataclass(frozen=True)
class OtherRow:
    text: str


def another(value: object) -> object:
    """A value of the same kind as `value`, and not equal to it."""
    changes: dict[type, object] = {
        bool: lambda: not value,
        int: lambda: value + 1,
        float: lambda: value + 0.5,
        str: lambda: value + "x",
        tuple: lambda: (*value, "added"),
        frozenset: lambda: value - {Status.REFUSED} if value else frozenset({"added"}),
        dict: lambda: {**value, "added": 1},
        types.NoneType: lambda: "something",
        type: lambda: OtherRow,
        types.FunctionType: lambda: other_sum,
        MappingProxyType: lambda: {**value, "added": 1},
    }
    if isinstance(value, enum.Enum):
        return next(member for member in type(value) if member is not value)
    if is_dataclass(value) and not isinstance(value, type):
        first = fields(value)[0].name
        if isinstance(getattr(value, first), tuple) and not fields(value)[0].init:
            return fakes.Echo()
        return replace(value, **{first: another(getattr(value, first))})
    return changes[type(value)]()


def example(annotation: object) -> object:
    """Some value of a field without a default, from its annotation."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return example(typing.get_args(annotation)[0])
    kind = origin or annotation
    if kind is tuple or kind is Mapping:
        return () if kind is tuple else {}
    if issubclass(kind, enum.Enum):
        return next(iter(kind))
    return build(kind) if is_dataclass(kind) else {str: "text", int: 1, float: 0.25}[kind]


def build(kind: type) -> object:
    """An instance of a record, with its defaults."""
    if kind in COMPLETE:
        return COMPLETE[kind]
    hints = typing.get_type_hints(kind)
    needed = {
        one.name: example(hints[one.name])
        for one in fields(kind)
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    }
    return kind(**needed)


def field_cases(*, places: bool = False) -> list:
    return [
        pytest.param(kind, one.name, id=f"{kind.__name__}.{one.name}")
        for kind in record_types()
        for one in fields(kind)
        if (one.metadata == PLACE) == places
    ]


def changed(record: object, name: str) -> object:
    value = getattr(record, name)
    if isinstance(record, Scoring) and name == "rolling":
        return replace(record, rolling=Rolling())
    other = COMPLETE.get(type(value)) if value is None else None
    return replace(record, **{name: another(value) if other is None else other})


def test_records_are_found():
    names = {kind.__name__ for kind in record_types()}
    assert {"Item", "Request", "Response", "Outcome", "Task", "Protocol", "Source", "Run"} <= names


@pytest.mark.parametrize(("kind", "name"), field_cases())
def test_every_field_of_every_record_moves_its_digest(kind, name):
    record = build(kind)
    if isinstance(getattr(record, name), Policy):  # its first field is a name: both are tried on their own
        assert digest(replace(record, policy=Policy(name="other"))) != digest(record)
    assert digest(changed(record, name)) != digest(record)


@pytest.mark.parametrize(("kind", "name"), field_cases(places=True))
def test_where_something_lies_moves_no_digest(kind, name):
    record = build(kind)
    assert digest(replace(record, **{name: Path("elsewhere")})) == digest(record)


def test_a_field_that_counts_where_it_is_set_leaves_older_digests_as_they_were():
    task = build(Task)
    assert "file" not in canonical(task)["fields"]
    declared = replace(task, file=TaskFile(sha256="0" * 64, path=Path("a.py")))
    assert canonical(declared)["fields"]["file"]["fields"] == {"sha256": "0" * 64, "imports": []}


def test_the_number_of_a_task_file_is_no_part_of_a_recipe():
    forms = []
    for number in (3, 14):
        name = f"{OWN_MODULE}_{number}"
        module = types.ModuleType(name)
        exec("class Row:\n    turns: list\n", module.__dict__)
        module.Row.__annotations__ = {"turns": list[module.Row]}
        forms.append(canonical(module.Row))
    assert forms[0] == forms[1]
    assert forms[0]["type"] == "task_file.Row"


@pytest.mark.parametrize("kind", record_types(), ids=lambda kind: kind.__name__)
def test_equal_records_have_equal_digests(kind):
    first, second = build(kind), build(kind)
    assert first == second
    assert digest(first) == digest(second)


OWN_DIGEST = {Item: set(), Identity: set(), Program: set(), Request: {"item_id", "sample", "part"}}
"""Records with a fast digest of their own → fields that it leaves out, as its docstring says."""


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, one.name, id=f"{kind.__name__}.{one.name}")
        for kind in OWN_DIGEST
        for one in fields(kind)
    ],
)
def test_a_records_own_digest_covers_what_it_says(kind, name):
    record = build(kind)
    moved = changed(record, name).digest != record.digest
    assert moved is (name not in OWN_DIGEST[kind])


@pytest.mark.parametrize(
    ("owner", "attribute", "part"),
    [(Request, "sampling", Sampling), (Request, "scoring", Scoring), (Program, "limits", Limits)],
)
def test_an_own_digest_covers_every_field_of_its_parts(owner, attribute, part):
    record = build(owner)
    for one in fields(part):
        other = replace(record, **{attribute: changed(part(), one.name)})
        assert other.digest != record.digest, one.name


@pytest.mark.parametrize("changed_windows", [{"window": 8}, {"stride": 8}, {"begin_each": True}])
def test_a_requests_digest_covers_its_windows(changed_windows):
    plain = Request(item_id="1", prompt="", continuation="a", scoring=Scoring(rolling=Rolling()))
    other = replace(plain, scoring=Scoring(rolling=Rolling(**changed_windows)))
    assert other.digest != plain.digest


def test_requests_that_generate_keep_the_digests_they_had_before_texts_were_scored():
    request = Request(item_id="1", prompt="a")
    assert request.digest == "264737b6e6484ec429076e1390529d244ff9f65c753121991421502cbb385a0c"
    assert replace(request, continuation="b").digest != request.digest


def test_the_protocol_covers_the_fields_of_all_its_parts():
    whole = COMPLETE[Protocol]
    assert replace(whole, task=replace(whole.task, version=2)).digest != whole.digest
    assert replace(whole, sampling=Sampling(top_k=1)).digest != whole.digest
    policy = Policy(counted=frozenset({Status.SCORED}))
    assert replace(whole, task=replace(whole.task, policy=policy)).digest != whole.digest
    source = Source(local=(fakes.FILE,), columns=("a",))
    assert replace(whole, task=replace(whole.task, source=source)).digest != whole.digest


def test_a_request_key_names_its_sample():
    request = Request(item_id="a", prompt="x")
    assert replace(request, item_id="b").key == request.key
    assert replace(request, sample=1).key != request.key


# ── equal values, equal digests ─────────────────────────────────────────────────────────────────────

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def reordered(value: object) -> object:
    """The same value with every dictionary written in the other order, and lists as tuples."""
    if isinstance(value, dict):
        return {key: reordered(part) for key, part in reversed(value.items())}
    if isinstance(value, list):
        return tuple(reordered(part) for part in value)
    return value


@given(json_values)
def test_the_order_of_keys_does_not_count(value):
    assert digest(value) == digest(reordered(value))
    assert digest_json(value) == digest_json(reordered(value))


@given(json_values)
def test_a_canonical_form_is_its_own_canonical_form(value):
    form = canonical(value)
    assert canonical(form) == form
    assert digest_json(form) == digest(value)


def same_shape(first: object, second: object) -> bool:
    """Equality of JSON data in which true is not 1, and a list is a tuple."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same_shape(first[key], second[key]) for key in first)
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(same_shape, first, second))
    return first == second


small_values = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 0.5, "", "0", "null", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)


@given(small_values, small_values)
def test_data_have_one_digest_exactly_if_they_are_equal(first, second):
    assert (digest(first) == digest(second)) is same_shape(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (0, 0.0),
        (0.0, -0.0),
        (3.0, 3),
        (1e22, 10**22),
        ((1, 2), [1, 2]),
        ({"a": 1.0}, MappingProxyType({"a": 1})),
    ],
)
def test_values_that_are_equal_have_one_digest(first, second):
    assert digest(first) == digest(second)


def test_sets_have_one_digest_whatever_the_order_of_their_making():
    names = [f"status-{number}" for number in range(50)]
    assert digest(frozenset(names)) == digest({*names[25:], *names[:25]})
    assert digest(frozenset(names)) != digest(frozenset(names[1:]))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1", 1),
        (True, 1),
        (None, "null"),
        ("", None),
        ([], {}),
        ([[]], []),
        ("a\ud83d\ude00", "a😀"),
        ("é", "e\u0301"),
        (0.1, 0.1 + 2**-55),
        ({"a": None}, {}),
        (Status.SCORED, "scored"),
        (Status.SCORED, Status.REFUSED),
        (re.compile("a"), re.compile("a", re.IGNORECASE)),
        (re.compile("a"), re.compile("b")),
        (str.strip, str.lstrip),
        (len, repr),
        (OtherRow, fakes.Row),
    ],
)
def test_values_that_differ_have_different_digests(first, second):
    assert digest(first) != digest(second)


def test_digests_stay_what_they_were():
    assert digest_json({"b": [1, None, "é"], "a": 0.5}) == digest_json({"a": 0.5, "b": (1, None, "é")})
    # printf '{"a":0.5,"b":[1,null,"é"]}' | sha256sum
    assert digest({"b": [1, None, "é"], "a": 0.5}) == GOLDEN


GOLDEN = "25456aab1763dbb95f9f197f1973e9af1fce0cf170bd5f13107fb5f83fc8d803"


# ── what is refused, and what the refusal says ──────────────────────────────────────────────────────


def make_closure(times: int):
    def multiply(value: int) -> int:
        return value * times

    return multiply


def make_local():
    def plain(value: int) -> int:
        return value

    return plain


def make_component(times: int):
    @dataclass(frozen=True)
    class Multiply:
        def __call__(self, value: int) -> int:
            return value * times

    return Multiply()


def decorated(function):
    @functools.wraps(function)
    def inside(value):
        return function(value)

    return inside


@decorated
def wrapped(value):
    return value


@dataclass
class Open:
    number: int = 0


class Plain:
    def method(self) -> None: ...


REFUSED = [
    pytest.param(lambda text: text, "`def` at the top of a module", id="lambda"),
    pytest.param(make_closure(2), "top of a module", id="closure"),
    pytest.param(make_local(), "top of a module", id="local function"),
    pytest.param(wrapped, "top of a module", id="function in a decorator's closure"),
    pytest.param(make_component(2), "top of a module", id="component that captures"),
    pytest.param(
        functools.partial(make_closure, 2), "plain data, a frozen dataclass or a function", id="partial"
    ),
    pytest.param(
        functools.lru_cache(make_local), "plain data, a frozen dataclass or a function", id="cached"
    ),
    pytest.param(Plain(), "plain data, a frozen dataclass or a function", id="object"),
    pytest.param(Plain().method, "plain data, a frozen dataclass or a function", id="bound method"),
    pytest.param({"a": 1}.get, "make the object a field", id="bound built-in"),
    pytest.param("-".join, "make the object a field", id="bound method of a text"),
    pytest.param(operator.itemgetter("a"), "plain data, a frozen dataclass or a function", id="itemgetter"),
    pytest.param(Open(), "@dataclass(frozen=True)", id="open dataclass"),
    pytest.param(b"bytes", "plain data, a frozen dataclass or a function", id="bytes"),
    pytest.param(Path("a"), "plain data, a frozen dataclass or a function", id="path"),
    pytest.param(1j, "plain data, a frozen dataclass or a function", id="complex"),
    pytest.param(iter(()), "plain data, a frozen dataclass or a function", id="iterator"),
    pytest.param(math.nan, "finite number or None", id="nan"),
    pytest.param(math.inf, "finite number or None", id="infinity"),
    pytest.param({1: "a"}, "keys must be strings", id="key that is no string"),
]


@pytest.mark.parametrize(("value", "advice"), REFUSED)
@pytest.mark.parametrize(
    "where", [lambda value: value, lambda value: {"deep": [Holder(value)]}], ids=["alone", "deep"]
)
def test_what_has_no_canonical_form_is_refused_with_what_to_do_instead(value, advice, where):
    with pytest.raises(ProtocolError) as caught:
        digest(where(value))
    message = str(caught.value)
    assert advice in message
    assert "cannot be part of a protocol" in message
    assert "\n" not in message


@dataclass(frozen=True)
class Holder:
    inside: object


def test_a_function_at_the_top_of_a_module_is_accepted():
    assert digest(make_local) == digest(make_local)
    assert canonical(make_local)["function"] == f"{__name__}.make_local"


def test_a_function_without_source_is_refused():
    space: dict = {"__name__": "typed_in"}
    exec("def typed(text):\n    return text", space)
    with pytest.raises(ProtocolError, match="define it in a file"):
        digest(space["typed"])


# ── source counts ───────────────────────────────────────────────────────────────────────────────────

COMPONENT = '''
"""A component."""
import dataclasses
import functools
from collections.abc import Sized
from typing import ClassVar


class Base:
    def inherited(self):
        return "inherited"


@dataclasses.dataclass(frozen=True)
class Component(Base, Sized):
    number: int = 1
    SEPARATOR: ClassVar[str] = "constant"
    table = {"key": "constant-table"}

    @property
    def visible(self):
        return "property"

    @functools.cached_property
    def kept(self):
        return "cached"

    @staticmethod
    def alone():
        return "static"

    @classmethod
    def of(cls):
        return "class"

    def __len__(self):
        return len("length")

    def method(self):
        return super().inherited() + "method"


def function(value):
    return "function"
'''


def module(directory: Path, source: str, name: str = "component_under_test") -> types.ModuleType:
    """The source as a module; another one of the same name may have been loaded before."""
    directory.mkdir()
    path = directory / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    try:
        spec.loader.exec_module(loaded)
    finally:
        del sys.modules[name]
    return loaded


@pytest.mark.parametrize(
    "word",
    ["inherited", "constant", "constant-table", "property", "cached", "static", "class", "length", "method"],
)
def test_a_changed_body_or_constant_of_a_component_changes_its_digest(tmp_path, word):
    before = module(tmp_path / "a", COMPONENT).Component()
    changed_source = COMPONENT.replace(f'"{word}"', f'"{word} changed"')
    assert changed_source != COMPONENT
    after = module(tmp_path / "b", changed_source).Component()
    assert digest(before) != digest(after)


def test_a_changed_body_of_a_function_changes_its_digest(tmp_path):
    before = module(tmp_path / "a", COMPONENT).function
    after = module(tmp_path / "b", COMPONENT.replace('"function"', '"other"')).function
    assert digest(before) != digest(after)


def test_what_stands_beside_a_component_does_not_count(tmp_path):
    before = module(tmp_path / "a", COMPONENT)
    beside = COMPONENT.replace('"""A component."""', '"""Moved down."""\n\n\nOTHER = 1\n')
    after = module(tmp_path / "b", beside.replace('"function"', '"other"'))
    assert digest(before.Component()) == digest(after.Component())


def test_indentation_line_ends_and_trailing_blanks_do_not_count(tmp_path):
    before = module(tmp_path / "a", COMPONENT)
    after = module(tmp_path / "b", COMPONENT.replace('"method"\n', '"method"  \n'))
    assert digest(before.Component()) == digest(after.Component())


def test_a_default_that_an_instance_does_not_use_does_not_count(tmp_path):
    before = module(tmp_path / "a", COMPONENT).Component(number=5)
    after = module(tmp_path / "b", COMPONENT.replace("number: int = 1", "number: int = 2"))
    assert digest(before) == digest(after.Component(number=5))
    assert digest(before) != digest(after.Component())


@pytest.mark.parametrize(
    ("old", "new"),
    [("number: int", "number: str"), ("number: int = 1", "number: int = 2"), ("number: int", "other: int")],
)
def test_a_row_type_counts_with_its_fields_annotations_and_defaults(tmp_path, old, new):
    before = module(tmp_path / "a", COMPONENT).Component
    after = module(tmp_path / "b", COMPONENT.replace(old, new)).Component
    assert digest(before) != digest(after)


def test_the_same_source_has_the_same_digest_in_another_process_and_place(tmp_path):
    first = module(tmp_path / "a", COMPONENT)
    second = module(tmp_path / "b", COMPONENT)
    assert digest(first.Component()) == digest(second.Component())
    assert digest(first.function) == digest(second.function)


@dataclass(frozen=True)
class Quiet:
    inner: str = field(default="x", repr=False, compare=False)


def test_fields_that_do_not_compare_count_all_the_same():
    assert Quiet() == Quiet(inner="y")
    assert digest(Quiet()) != digest(Quiet(inner="y"))


def test_the_core_imports_the_standard_library_only():
    for name, loaded in list(sys.modules.items()):
        if name.startswith("probatum.core.") and loaded is not None:
            source = inspect.getsource(loaded)
            found = set(re.findall(r"^(?:from|import) ([a-z_]+)", source, re.MULTILINE))
            assert found <= set(sys.stdlib_module_names) | {"probatum", "__future__"}, name

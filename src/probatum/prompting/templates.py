"""Jinja2 templates over an item's fields; an unknown name is an error, never an empty string."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import jinja2
import jinja2.meta

from probatum.core.errors import ProtocolError

__all__ = ["check_template", "names_read", "render"]

_ENVIRONMENT = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,  # a final newline is part of the prompt: it changes the tokens
    autoescape=False,  # noqa: S701 - prompts are text, not HTML
)


@lru_cache(maxsize=1024)
def _compiled(template: str) -> jinja2.Template:
    try:
        return _ENVIRONMENT.from_string(template)
    except jinja2.TemplateSyntaxError as error:
        raise ProtocolError(f"template {template[:60]!r}, line {error.lineno}: {error.message}") from None


def check_template(template: str) -> None:
    """Raises `ProtocolError` if the template cannot be parsed."""
    _compiled(template)


def names_read(template: str) -> frozenset[str]:
    """The names that a template takes from its item.

    Raises:
        ProtocolError: the template does not parse.

    >>> sorted(names_read("{{ question }}{% for one in choices %}{{ one }}{% endfor %}"))
    ['choices', 'question']
    """
    check_template(template)
    return frozenset(jinja2.meta.find_undeclared_variables(_ENVIRONMENT.parse(template)))


def render(template: str, fields: Mapping[str, object]) -> str:
    """The template filled with `fields`.

    Raises:
        ProtocolError: the template does not parse, or asks for a field that is not there.
    """
    try:
        return _compiled(template).render(fields)
    except jinja2.UndefinedError as error:
        raise ProtocolError(
            f"template {template[:60]!r}: {error.message}; the item has {', '.join(map(repr, fields))}"
        ) from None
    except Exception as error:
        raise ProtocolError(
            f"template {template[:60]!r} fails on an item: {type(error).__name__}: {error}; "
            "mend the template, or the field that it reads"
        ) from error

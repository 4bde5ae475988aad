"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

__all__ = [
    "DEFAULT_STORE",
    "data_option",
    "json_option",
    "quiet_option",
    "settings_option",
    "store_option",
    "tasks_again_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_STORE: Final = "sqlite:///probatum.db"


def settings_option(command: Command) -> Command:
    """`-M key=value`, repeatable; a dictionary."""

    def pairs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
        found: dict[str, str] = {}
        for one in given:
            key, sign, content = one.partition("=")
            if not sign or not key.strip():
                raise click.BadParameter(f"{one!r} is no setting; write key=value", ctx=ctx, param=param)
            if key.strip() in found:
                raise click.BadParameter(f"{key.strip()!r} is set twice; set it once", ctx=ctx, param=param)
            found[key.strip()] = content
        return found

    return click.option(
        "-M", "settings", multiple=True, callback=pairs, help="Setting of the model, key=value; repeatable."
    )(command)


def given_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuses an empty value: a variable that a script forgot to set is no wish for the default."""
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty; give a value, or leave the option out", ctx=ctx, param=param)
    return value


def given_path(ctx: click.Context, param: click.Parameter, value: str | None) -> Path | None:
    """The path; an empty one would be the working directory."""
    text = given_text(ctx, param, value)
    return None if text is None else Path(text)


def store_option(command: Command) -> Command:
    """`--store`; `None` where neither it nor `PROBATUM_STORE` is given."""
    return click.option(
        "--store",
        envvar="PROBATUM_STORE",
        callback=given_text,
        help=f"URL or file of the store.  [default: PROBATUM_STORE, then {DEFAULT_STORE}]",
    )(command)


def data_option(command: Command) -> Command:
    """`--data-dir`."""
    return click.option(
        "--data-dir",
        "data_directory",
        type=click.Path(),
        callback=given_path,
        help="Where data sets lie.  [default: PROBATUM_DATA]",
    )(command)


def tasks_again_option(command: Command) -> Command:
    """`--task`, for runs that are in the store."""
    return click.option(
        "--task",
        "tasks",
        multiple=True,
        help="File of a task of your own, where it has moved; repeatable.  [default: where it lay]",
    )(command)


def quiet_option(command: Command) -> Command:
    """`--quiet`."""
    return click.option("--quiet", "-q", is_flag=True, help="No progress.")(command)


def json_option(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else.")(
        command
    )

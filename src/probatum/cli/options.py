"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

__all__ = ["DEFAULT_STORE", "SETTING", "data_option", "json_option", "store_option"]

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_STORE: Final = "sqlite:///probatum.db"


class Setting(click.ParamType):
    """`key=value`."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The pair."""
        if isinstance(value, tuple):
            return value
        key, sign, content = str(value).partition("=")
        if not sign or not key.strip():
            self.fail(f"{value!r} is no setting; write key=value", param, ctx)
        return key.strip(), content


SETTING: Final = Setting()


def store_option(command: Command) -> Command:
    """`--store`; `None` where neither it nor `PROBATUM_STORE` is given."""
    return click.option(
        "--store",
        envvar="PROBATUM_STORE",
        help=f"URL or file of the store.  [default: PROBATUM_STORE, then {DEFAULT_STORE}]",
    )(command)


def data_option(command: Command) -> Command:
    """`--data-dir`."""
    return click.option(
        "--data-dir",
        "data_directory",
        type=click.Path(path_type=Path),
        help="Where data sets lie.  [default: PROBATUM_DATA]",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else.")(
        command
    )

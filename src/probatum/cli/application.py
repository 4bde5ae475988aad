"""The group of commands, and the one place where errors become a line and an exit status."""

from __future__ import annotations

import difflib
import errno
import importlib
import io
import os
import sys
from typing import Final

import click

from probatum.core.errors import ProbatumError

__all__ = ["application", "main"]

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Errors of writing that are no fault of ours: no space, a quota, a limit, a broken device."""

COMMANDS: Final = {
    "run": "Run tasks on a model.",
    "results": "Show the runs of a store, or one of them.",
    "tasks": "List the benchmarks, or describe one.",
    "grade": "Grade answers that were made elsewhere.",
    "compare": "Say whether one run is better than another, and how sure that is.",
    "diff": "Say why two scores differ: what differs first, and how much each part explains.",
    "gate": "Let a run through if it is no worse than a baseline, for continuous integration.",
    "rescore": "Grade a run again, without a model.",
    "audit-extraction": "Say what a run's score owes to how answers were read.",
    "report": "Write the report of runs: one page of HTML, Markdown or JSON.",
    "card": "Write the evaluation card of a run.",
    "audit": "Say which items of a benchmark stand in a corpus.",
    "export": "Write a run as a bundle that others can check, or its samples.",
    "verify": "Check a bundle: name whatever was changed, lost or added.",
    "validate": "Check that gold answers score 1 and wrong ones 0, and lint the items.",
    "plan": "Say how many items a comparison needs, or what it can show.",
    "doctor": "Say what this machine can do.",
}
"""Command → what it does; each is `probatum.cli.<name>:command`, hyphens as underscores."""


class LazyGroup(click.Group):
    """Imports a command when it is called, so that `--help` costs nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Commands in the order of a first visit."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, imported; `None` if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"probatum.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)  # noqa: S101 - for the type checker
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names, with the nearest name offered if there is none."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "see `probatum --help`"
            raise click.UsageError(f"unknown command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table above: none is imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True
)
@click.version_option(package_name="probatum", message="probatum %(version)s")
@click.pass_context
def application(context: click.Context) -> None:
    """Evaluate language models so that every number can be defended."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    """Runs the command line and ends the process.

    Exit status: 0 complete; 1 an error that the user can mend, told in one line on stderr;
    3 incomplete; 130 interrupted, everything so far kept. `PROBATUM_TRACEBACK=1` shows where an
    error arose.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        status = application.main(standalone_mode=False)
    except ProbatumError as error:
        status = _say(error, error.exit_status)
    except click.Abort as error:  # what click makes of a KeyboardInterrupt
        status = _say(error, 130, "interrupted at once; whatever had arrived is kept")
    except click.ClickException as error:
        status = _say(error, 1, error.format_message())
    except BrokenPipeError:  # the reader of a pipe went away
        _discard_output()
        status = 1
    except OSError as error:
        if error.errno not in FULL:
            status = _say(error, 1, _internal(error))
        else:
            _discard_output()
            what = "the output" if error.filename is None else repr(error.filename)
            status = _say(
                error, 1, f"{what} cannot be written: {error.strerror}; make room, or write elsewhere"
            )
    except Exception as error:  # noqa: BLE001 - a fault of ours, still told in one line
        status = _say(error, 1, _internal(error))
    sys.exit(status if isinstance(status, int) else 0)


def _discard_output() -> None:
    """What is left in the buffer goes nowhere: Python would try once more at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _internal(error: Exception) -> str:
    return f"internal error, {type(error).__name__}: {error}; set PROBATUM_TRACEBACK=1"


def _say(error: BaseException, status: int, message: str | None = None) -> int:
    if os.environ.get("PROBATUM_TRACEBACK") == "1":
        raise error
    line = " ".join((message or str(error)).split())
    shown = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in line)
    click.echo(f"probatum: {shown}", err=True)
    return status

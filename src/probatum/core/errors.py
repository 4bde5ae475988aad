"""The error tree.

    ProbatumError              what we raise on purpose; the command line prints it as one line
    ├── UsageError             a name, an option or a value that the user gave
    │   └── ConsentError       code written by a model would run, and nobody allowed it
    ├── ProtocolError          a recipe that has no canonical form
    ├── DataError              rows of a benchmark: says file, line and field
    ├── ModelError             the model cannot be had or used at all: the run stops, what arrived is kept
    ├── SandboxError           no isolation, or a worker that cannot be started
    ├── GraderError            known answers are misgraded: no score of the run would mean anything
    ├── StoreError             the database cannot be read or written
    └── Interrupted            Ctrl-C: what was in flight is kept

A failure of *one* sample is none of these: it is data (`core.status.Status`), and stays in the count.
Every message says what failed, with which value, and what to do next.
"""

from __future__ import annotations

__all__ = [
    "ConsentError",
    "DataError",
    "GraderError",
    "Interrupted",
    "ModelError",
    "ProbatumError",
    "ProtocolError",
    "SandboxError",
    "StoreError",
    "UsageError",
]


class ProbatumError(Exception):
    """What probatum raises on purpose. `exit_status` is what the command line ends with."""

    exit_status = 1


class UsageError(ProbatumError):
    """A name, an option or a value that the user gave cannot be used."""


class ConsentError(UsageError):
    """Code written by a model would be executed, and nobody allowed it."""


class ProtocolError(ProbatumError):
    """A part of a recipe has no canonical form, so that its digest would not cover it."""


class DataError(ProbatumError):
    """Rows that cannot be used: the message names the file, the line and the field."""


class ModelError(ProbatumError):
    """The model cannot be had or used at all (no file, no server, no permission)."""


class SandboxError(ProbatumError):
    """This machine offers no isolation, or a worker of the sandbox cannot be started."""


class GraderError(ProbatumError):
    """Reference solutions fail, or known-bad ones pass: whatever a model's score were, it would be ours."""


class StoreError(ProbatumError):
    """The store cannot be read or written."""


class Interrupted(ProbatumError):  # noqa: N818 - what happened, not an error
    """The user asked to stop; everything that arrived is kept."""

    exit_status = 130
